//! Random programs against an oracle: whatever processes send, receive, put and get, the bytes are right.
//!
//! A program, the machine that it runs on and the bounds of the libraries follow from a seed ([`draw`]). It runs in phases:
//! within a phase, processes exchange messages, access each other's boards and make collective calls ([`collective`]), of
//! all processes or of groups of some, while messages are under way; between two phases, all wait for all. [`play`] runs
//! the program on a simulated cluster and notes what each process received and got. [`oracle`] does the same with plain
//! vectors, and checks: every message is received once, in order, by a receive that wants it, with its bytes; every get
//! sees what was there; no process leaves a barrier before all have come; what is broadcast, reduced and collected is
//! right; the boards are right in the end.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_PROGRAM_SEED` | seed of the first program; the next have the next numbers | 0 |
//! | `ELANITE_PROGRAMS` | how many | 200; 10,000 in the long test |

mod collective;
#[path = "../common/mod.rs"]
mod common;
mod draw;
mod oracle;
mod play;

use elan::faults::{Fault, Links, Part, When};
use elan::rails::Kind;
use elan::{Config, Matching};
use std::panic::{AssertUnwindSafe, catch_unwind};
use units::Time;

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let number = value.parse();
    Some(number.unwrap_or_else(|_| panic!("{name}={value} is no number")))
}

/// Runs one program on its machine, with a change; returns what is wrong, if anything.
fn run(seed: u64, change: fn(&mut Config), failing: bool) -> Result<(), String> {
    let mut program = draw::program(seed);
    change(&mut program.config);
    if failing {
        let rails = program.config.fabric.topology.rails();
        program.failures = draw::failures(seed, rails);
    }
    let played = catch_unwind(AssertUnwindSafe(|| play::play(&program)));
    let notes = played.map_err(|_| "it panicked".to_string())??;
    oracle::check(&program, &notes)
}

fn run_many(count: u64, change: fn(&mut Config)) {
    run_all(count, change, false);
}

/// The same where rails fail and return all the time.
fn run_failing(count: u64, change: fn(&mut Config)) {
    run_all(count, change, true);
}

fn run_all(count: u64, change: fn(&mut Config), failing: bool) {
    let first = variable("ELANITE_PROGRAM_SEED").unwrap_or(0);
    let count = variable("ELANITE_PROGRAMS").unwrap_or(count);
    for seed in first..first + count {
        if let Err(difference) = run(seed, change, failing) {
            panic!(
                "program {seed}: {difference}\nto see it again: ELANITE_PROGRAM_SEED={seed} ELANITE_PROGRAMS=1 \
                 cargo test -p elanite-libelan --test programs"
            );
        }
    }
}

#[test]
fn programs_are_right() {
    run_many(200, |_| {});
}

#[test]
#[ignore = "minutes"]
fn ten_thousand_programs_are_right() {
    run_many(10_000, |_| {});
}

/// With adapters of the second generation.
fn elan4(config: &mut Config) {
    config.parts = vec![
        elan::Part::Sten {
            start: Time::from_ns(50),
        },
        elan::Part::DmaEngines { count: 2 },
        elan::Part::SplitReads {
            latency: Time::from_ns(250),
        },
    ];
}

#[test]
fn programs_are_right_on_elan4() {
    run_many(100, elan4);
}

#[test]
fn programs_are_right_where_hosts_match() {
    run_many(60, |config| config.tport.matching = Matching::Host);
    run_many(60, |config| {
        elan4(config);
        config.tport.matching = Matching::Host;
    });
}

/// On several rails, whatever picks them.
#[test]
fn programs_are_right_on_several_rails() {
    let change = |config: &mut Config| {
        *config = common::with_rails(config, 2, Kind::Dynamic, 1.0);
    };
    run_many(60, change);
    run_many(40, |config| {
        elan4(config);
        *config = common::with_rails(config, 3, Kind::LocalDynamic, 0.5);
        config.tport.matching = Matching::Host;
    });
    run_many(30, |config| {
        *config = common::with_rails(config, 2, Kind::Basic, 0.0);
    });
}

/// On rails that fail at any moment, return, and fail again.
#[test]
fn programs_are_right_on_rails_that_fail() {
    run_failing(60, |config| {
        *config = common::with_rails(config, 2, Kind::Dynamic, 1.0);
    });
    run_failing(40, |config| {
        elan4(config);
        *config = common::with_rails(config, 3, Kind::LocalDynamic, 0.5);
    });
    run_failing(40, |config| {
        *config = common::with_rails(config, 2, Kind::Basic, 0.0);
        config.tport.matching = Matching::Host;
    });
    run_failing(30, |config| {
        *config = common::with_rails(config, 4, Kind::Hybrid, 1.0);
    });
}

/// Where the machine lists the home rail among its faults.
#[test]
fn programs_are_right_where_a_rail_is_a_listed_fault() {
    run_many(30, |config| {
        let fault = Fault {
            part: Part::Rail(elan::Rail::new(0)),
            when: When::Random {
                mtbf: Time::from_us(70),
                mttr: Time::from_us(20),
            },
        };
        *config = common::with_rails(config, 2, Kind::LocalDynamic, 1.0);
        *config = common::failing(config.clone(), vec![fault]);
    });
}

#[test]
#[ignore = "minutes"]
fn thousands_of_programs_are_right_on_rails_that_fail() {
    run_failing(4_000, |config| {
        *config = common::with_rails(config, 2, Kind::LocalDynamic, 1.0);
    });
}

/// Bits flip, and cables die and come back, all the time: the programs do not notice.
fn failing(config: &mut Config) {
    let every = Part::Links(Links {
        level: None,
        rail: None,
        some: None,
    });
    let when = When::Random {
        mtbf: Time::from_ms(2),
        mttr: Time::from_us(15),
    };
    let list = vec![Fault { part: every, when }, common::bit_errors(1e-5)];
    *config = common::failing(config.clone(), list);
    let faults = config.faults.as_mut().expect("just listed");
    faults.give_up = Time::from_ms(100);
}

#[test]
fn programs_are_right_where_parts_fail() {
    run_many(60, failing);
    run_many(20, |config| {
        elan4(config);
        failing(config);
    });
    run_many(20, |config| {
        config.tport.matching = Matching::Host;
        failing(config);
    });
}

#[test]
#[ignore = "minutes"]
fn thousands_of_programs_are_right_where_parts_fail() {
    run_many(3000, failing);
}

/// The same program finds the same, in the same packets at the same times.
#[test]
fn programs_are_deterministic() {
    for seed in 0..10 {
        let [first, second] = [(); 2].map(|()| play::play_closely(&draw::program(seed)).unwrap());
        assert!(first == second, "seed {seed}");
    }
}

/// The oracle finds what is wrong: it is told lies.
#[test]
fn the_oracle_notices() {
    let mut told = 0;
    for seed in 0..20 {
        let program = draw::program(seed);
        let notes = play::play(&program).unwrap();
        oracle::check(&program, &notes).unwrap();
        for lie in 0..play::LIES {
            let mut notes = notes.clone();
            if play::lie(&mut notes, lie) {
                told += 1;
                let found = oracle::check(&program, &notes);
                assert!(found.is_err(), "seed {seed}, lie {lie}");
            }
        }
    }
    assert!(told > 40, "only {told} lies were told");
}
