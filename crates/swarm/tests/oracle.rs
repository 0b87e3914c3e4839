//! The oracle finds false notes.

use elan::{Cluster, NodeId, Watch};
use fabric::Engine;
use kernel::Signal;
use std::collections::BTreeSet;
use swarm::Case;
use swarm::collective::CallOutcome;
use swarm::oracle::{self, PermittedOutcomes};
use swarm::play::{FinalState, Observation, PlayEnd, PlayOutcome, Times, play};
use units::{Bytes, Time};

/// A lie; whether there was anything to change.
type Lie = fn(&mut PlayOutcome) -> bool;

/// Changes the first fitting note's content.
fn change(played: &mut PlayOutcome, lie: impl Fn(&mut Observation) -> bool) -> bool {
    let mut notes = played.notes.iter_mut();
    notes.any(|note| lie(&mut note.found))
}

/// Changes the final state of the first process that fits.
fn leave(played: &mut PlayOutcome, lie: impl Fn(&mut FinalState) -> bool) -> bool {
    played.left.iter_mut().flatten().any(lie)
}

const LIES: [(&str, Lie); 14] = [
    ("a byte of a message", |played| {
        change(played, |found| match found {
            Observation::Message { bytes, .. } if !bytes.is_empty() => {
                bytes[0] ^= 1;
                true
            }
            _ => false,
        })
    }),
    ("a message less", |played| {
        let is = |found: &Observation| matches!(found, Observation::Message { .. });
        let place = played.notes.iter().position(|note| is(&note.found));
        place.map(|place| played.notes.remove(place)).is_some()
    }),
    ("another tag", |played| {
        change(played, |found| match found {
            Observation::Message { tag, .. } => {
                *tag ^= 1;
                true
            }
            _ => false,
        })
    }),
    ("a note twice", |played| {
        let first = played.notes[0].clone();
        played.notes.push(first);
        true
    }),
    ("an error", |played| {
        change(played, |found| {
            *found = Observation::Failed("nothing works".into(), None);
            true
        })
    }),
    ("a byte that was got", |played| {
        change(played, |found| match found {
            Observation::Bytes(bytes) if !bytes.is_empty() => {
                bytes[0] ^= 1;
                true
            }
            _ => false,
        })
    }),
    ("a byte of a board", |played| {
        leave(played, |left| {
            left.boards[1][77] ^= 1;
            true
        })
    }),
    ("an addition twice", |played| {
        leave(played, |left| {
            left.words[0] = left.words[0].wrapping_mul(2).wrapping_add(1);
            true
        })
    }),
    ("another word before an addition", |played| {
        change(played, |found| match found {
            Observation::Word(word) => {
                *word ^= u64::MAX;
                true
            }
            _ => false,
        })
    }),
    ("an event twice", |played| {
        leave(played, |left| match left.events.values_mut().next() {
            Some((_, extra)) => {
                *extra += 1;
                true
            }
            None => false,
        })
    }),
    ("a message in a queue", |played| {
        leave(played, |left| {
            left.queued += 1;
            true
        })
    }),
    ("lost memory", |played| {
        leave(played, |left| {
            left.used.1 += Bytes::new(8);
            true
        })
    }),
    ("another result of a call", |played| {
        change(played, |found| match found {
            Observation::Collective(CallOutcome::Places(_, second)) => {
                let last = second.last_mut().expect("there are bytes behind");
                *last ^= 1;
                true
            }
            _ => false,
        })
    }),
    ("a barrier left early", |played| {
        change(played, |found| match found {
            Observation::Collective(CallOutcome::Barrier(came, left)) if *came > Time::ZERO => {
                *left = Time::ZERO;
                true
            }
            _ => false,
        })
    }),
];

/// Plays a case's program on the worm mover.
fn played(case: &Case) -> PlayOutcome {
    played_on(case, cluster_of(case))
}

/// A case's machine, with the worm mover.
fn cluster_of(case: &Case) -> Cluster {
    let config = case.machine.config(Engine::Worm).expect("it was drawn");
    Cluster::new(config, Watch::default())
}

fn played_on(case: &Case, mut cluster: Cluster) -> PlayOutcome {
    let times = Times {
        longest: Time::from_secs(2),
        rest: Time::from_ms(5),
    };
    let stopped = BTreeSet::new();
    let played = play(
        &mut cluster,
        &case.program,
        case.machine.waits(),
        &stopped,
        times,
    );
    played.expect("the nodes are there")
}

#[test]
fn the_oracle_notices() {
    let mut told = [0; LIES.len()];
    for seed in 0..12 {
        let case = Case::of(seed);
        let honest = played(&case);
        let check = |played: &PlayOutcome| {
            oracle::check(&case.program, played, &PermittedOutcomes::default())
        };
        check(&honest).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        for ((name, lie), told) in LIES.iter().zip(&mut told) {
            let mut played = honest.clone();
            if lie(&mut played) {
                *told += 1;
                let found = check(&played);
                assert!(found.is_err(), "seed {seed}: nobody notices {name}");
            }
        }
    }
    for ((name, _), told) in LIES.iter().zip(told) {
        assert!(told > 1, "{name} was told {told} times");
    }
}

/// A process that runs without end at one moment ends the run, and the report names it.
#[test]
fn a_livelock_is_named() {
    let case = Case::of(0);
    let mut cluster = cluster_of(&case);
    let node = cluster.node(NodeId::new(0));
    cluster.spawn("circle", async move {
        node.sleep(Time::from_us(3)).await;
        let past = Signal::counted(0);
        loop {
            past.wait().await;
        }
    });
    let PlayEnd::Endless(why) = played_on(&case, cluster).end else {
        panic!("the livelock is not noticed");
    };
    assert!(why.starts_with("livelock at 3 us: circle "), "{why}");
}
