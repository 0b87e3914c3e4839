//! A rank in its own process, attached to a simulator in this process, which lets time pass as the
//! rank wants, without any other event. The rank's process is this test program again, with one
//! part to run; there, too, this crate defines the C library's functions.

#![expect(
    clippy::disallowed_methods,
    reason = "sleeps of real processes are timed"
)]
#![allow(unsafe_code)]

mod parts;

use link::{
    Body, Compute, Departure, NEVER, Order, RankPhase, RankWait, Record, Settings, Simulator, calls,
};
use std::process::{Command, Stdio};
use std::time::Duration;

const SETTINGS: Settings = Settings {
    longest_tick: 1_600_000,
    epoch: 2_000_000_000,
    ..Settings::DEFAULT
};

/// The time by which all others have come to where they meet, in picoseconds.
const MEETING: u64 = 5_000_000;

/// The simulated time when a rank comes back, in picoseconds.
const RETURN: u64 = 40_000_000;

/// The host time after which a rank hangs, on a busy host too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a part as a rank and returns its records.
fn rank(part: &str, settings: Settings) -> Vec<Record> {
    watched(part, settings).0
}

/// Runs a part as a rank and returns its records, and how it reported its end.
fn watched(part: &str, settings: Settings) -> (Vec<Record>, Vec<(u32, Departure)>) {
    let mut simulator = Simulator::new(1, settings).expect("memory");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "tests::parts::run", "--ignored"])
        .args(["--nocapture", "--test-threads=1"])
        .env(link::PATH_VARIABLE, simulator.path())
        .env(parts::PART, part)
        .env("PMI_FD", parts::MANAGER.to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("this program");
    let mut records = Vec::new();
    loop {
        if !simulator.wait(0, PATIENCE) {
            let _ = (child.kill(), child.wait());
            panic!(
                "{part}: the rank does not wait; it is in {}",
                calls::name(simulator.call(0))
            );
        }
        let mut batch = Vec::new();
        assert!(
            simulator.take_records(0, &mut batch) == Ok(true),
            "there is room for all"
        );
        records.extend(batch.into_iter().map(|(record, _)| record));
        if simulator.phase(0).is_out() {
            if simulator.wait_for_return(0, PATIENCE) != RankPhase::Returning {
                break;
            }
            simulator.comes_back(0);
            simulator.give_turn(0, Some(RETURN));
            simulator.release();
            continue;
        }
        let last: &Record = records.last().expect("a wait");
        let Body::Wait(wait, false) = last.body else {
            panic!("{part}: {last:?}");
        };
        let now = match wait {
            RankWait::Meeting { .. } => last.time + MEETING,
            RankWait::Sleep { .. } | RankWait::Report(_) => {
                let until = until(wait);
                assert_ne!(until, NEVER, "{part}: nothing will happen");
                until.max(last.time)
            }
            RankWait::File(_) => panic!("{part} waits for no file"),
        };
        simulator.give_turn(0, Some(now));
        simulator.release();
    }
    assert!(child.wait().expect("a child").success(), "{part} failed");
    (records, simulator.leaving())
}

/// The moment at which a wait ends at the latest.
fn until(wait: RankWait) -> u64 {
    match wait {
        RankWait::Sleep { until } => until,
        RankWait::Report(patience) => patience.until,
        RankWait::Meeting { .. } | RankWait::File(_) => NEVER,
    }
}

/// A rank's waits, and when each began.
fn waits(records: &[Record]) -> Vec<(u64, RankWait)> {
    let waits = records.iter().filter_map(|record| match record.body {
        Body::Wait(wait, _) => Some((record.time, wait)),
        _ => None,
    });
    waits.collect()
}

fn sleeps(wait: RankWait) -> bool {
    matches!(wait, RankWait::Sleep { .. })
}

/// By the words in both versions of the protocol, which are passed on unchanged; no other written
/// words count as such a request.
#[test]
fn who_has_all_ended_is_noted() {
    for part in ["abort", "abort in version 2"] {
        assert_eq!(watched(part, SETTINGS).1, [(0, Departure::Error)], "{part}");
    }
    assert_eq!(watched("words", SETTINGS).1, []);
}

/// The request has the number of others that the rank meets: all, or those on a list.
#[test]
fn who_enters_a_barrier_waits_there_in_the_simulation() {
    let orders = waits(&rank("barriers", SETTINGS));
    let met = orders.iter().map(|&(time, wait)| match wait {
        RankWait::Meeting { which, ranks } => (time / MEETING, which, ranks),
        other => panic!("{other:?}"),
    });
    let met: Vec<(u64, u64, u64)> = met.collect();
    let sizes: Vec<u64> = met.iter().map(|&(.., ranks)| ranks).collect();
    assert_eq!(sizes, [1, 1, 1, 3]);
    let times: Vec<u64> = met.iter().map(|&(time, ..)| time).collect();
    assert_eq!(times, [0, 1, 2, 3]);
    let names: Vec<u64> = met.iter().map(|&(_, which, _)| which).collect();
    assert_eq!(names[0], names[1]);
    assert!(names[2] != names[0] && names[3] != names[2]);
}

/// However often Open MPI looks for messages before `MPI_Init` has ended.
#[test]
fn looks_of_a_start_take_no_time() {
    let waits = waits(&rank("start", SETTINGS));
    assert_eq!(waits.len(), 1, "{waits:?}");
}

#[test]
fn ranks_of_open_mpi_meet_before_their_last_fence() {
    let met = waits(&rank("fences", SETTINGS));
    assert!(
        matches!(met[..], [(0, RankWait::Meeting { ranks: 1, .. })]),
        "{met:?}"
    );
}

#[test]
fn without_a_session_clocks_are_the_systems() {
    let began = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .expect("after 1970");
    assert!(began.as_secs() < SETTINGS.epoch, "clocks show real time");
    let began = std::time::Instant::now();
    // SAFETY: without pointers.
    assert_eq!(unsafe { libc::usleep(2000) }, 0);
    assert!(began.elapsed() >= Duration::from_millis(2));
}

#[test]
fn sleep_takes_simulated_time_only() {
    let began = std::time::Instant::now();
    let orders = rank("sleep", SETTINGS);
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "it sleeps a minute"
    );
    assert!(waits(&orders).iter().all(|&(_, wait)| sleeps(wait)));
}

#[test]
fn clocks_show_local_time() {
    rank("clocks", SETTINGS);
}

#[test]
fn a_busy_wait_ends_by_growing_steps() {
    let orders = rank("busy", SETTINGS);
    let steps: Vec<u64> = waits(&orders)
        .iter()
        .map(|&(time, wait)| until(wait) - time)
        .collect();
    let first = [100_000, 200_000, 400_000, 800_000, 1_600_000, 1_600_000];
    assert_eq!(steps[..6], first);
    // The program computes, and MPI does not look meanwhile.
    assert!(waits(&orders).iter().all(|&(_, wait)| sleeps(wait)));
}

#[test]
fn nothing_waits_within_the_provider() {
    assert!(waits(&rank("held", SETTINGS)).is_empty());
}

#[test]
fn children_have_the_systems_clocks() {
    rank("fork", SETTINGS);
}

#[test]
fn other_threads_sleep_in_real_time_unless_the_rank_waits_for_them() {
    let orders = rank("threads", SETTINGS);
    let waits: Vec<RankWait> = waits(&orders).into_iter().map(|(_, wait)| wait).collect();
    let until = 20_000_000_000;
    assert_eq!(waits, [RankWait::Sleep { until }]);
}

#[test]
fn a_timeout_takes_as_much_simulated_time() {
    rank("timeouts", SETTINGS);
}

/// The rank's processor may still be at work for the order. A thread waits while others call MPI.
#[test]
fn only_a_clock_waits_for_the_processor() {
    let until = 1_000_000_000;
    assert_eq!(
        waits(&rank("endless", SETTINGS)),
        [(until, RankWait::Sleep { until })]
    );
}

#[test]
fn after_the_end_time_goes_on_alone() {
    assert!(waits(&rank("end", SETTINGS)).is_empty());
}

#[test]
fn who_comes_back_is_not_behind_the_simulation() {
    let orders = rank("again", SETTINGS);
    let finishes: Vec<bool> = orders.iter().map(|one| one.body == Body::Finish).collect();
    assert_eq!(finishes, [true, false, true, false, true]);
    let times: Vec<u64> = waits(&orders).iter().map(|&(time, _)| time).collect();
    assert_eq!(times, [RETURN, RETURN + 2 * 1_000_000 + 60_000_000]);
}

#[test]
fn calls_are_known_counted_and_recorded() {
    let settings = Settings {
        compute: Compute::PerCall(7000),
        calls: true,
        ..SETTINGS
    };
    let orders = rank("calls", settings);
    let called: Vec<(&str, u64, u64)> = orders
        .iter()
        .filter_map(|record| match record.body {
            Body::Order(_, Order::Called { call, began, .. }) => {
                Some((calls::name(call), began, record.time))
            }
            _ => None,
        })
        .collect();
    // The call within `MPI_Allreduce` is not the program's; each call comes after 7 ns of
    // computing.
    let expected = [
        ("MPI_Recv", 7000, 3_007_000),
        ("MPI_Isend", 3_014_000, 3_014_000),
        ("MPI_Allreduce", 3_021_000, 3_021_000),
        ("MPI_Sendrecv", 3_028_000, 3_028_000),
    ];
    assert_eq!(called, expected);
}

#[test]
fn computing_is_measured_times_a_factor() {
    let settings = Settings {
        compute: Compute::Measured(1000.0),
        ..SETTINGS
    };
    rank("measured", settings);
}

#[test]
fn spawning_fails_by_the_error_handler() {
    rank("spawn", SETTINGS);
}
