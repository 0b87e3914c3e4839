//! The libraries in a machine with failing parts: calls end, with the right bytes or with an error
//! that names the process out of reach.

mod messages;

use crate::common;

use common::{
    alloc, assert_holds, b, bit_errors, cable_of, compose, down, failing, filled, four_nodes, job,
    job_of, load, log, logs, me, pattern, pid, play, run_on, sixteen_nodes, store,
};
use elan::faults::{Fault, FaultyPart, Links};
use elan::{Config, DmaError, NodeId, Place, Stop};
use libelan::Pe;
use libelan::elan::group::Group;
use libelan::elan::reduce::{Receivers, Reduction};
use libelan::elan::tport::TportError;
use libelan::shmem::ShmemError;
use messages::{MESSAGES, exchange};
use units::Time;

/// The groups' members: on adjacent nodes of two switches.
const MEMBERS: [u32; 8] = [2, 3, 4, 5, 6, 7, 8, 9];

fn between() -> FaultyPart {
    FaultyPart::Links(Links {
        level: Some(1),
        rail: None,
        some: None,
    })
}

fn moments(steps: u64, ns: u64) -> impl Iterator<Item = Time> {
    (0..steps).map(move |step| Time::from_ns(ns * step + 31 * (step % 5)))
}

/// A machine with a part that is down once, for so many microseconds.
fn outage(part: &FaultyPart, at: Time, us: u64) -> Config {
    let lasts = Some(Time::from_us(us));
    failing(sixteen_nodes(), vec![down(part.clone(), at, lasts)])
}

fn adding() -> Reduction<'static> {
    Reduction {
        size: b(8),
        combine: &compose,
    }
}

/// The group calls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Hgsync,
    HgsyncEvent,
    Gsync,
    Hbcast(u64),
    Bcast(u64),
    Reduce,
    MpiBarrier,
    MpiBcast,
    MpiAllreduce,
    ShmemBarrier,
    ShmemCollect,
}

const CALLS: [Call; 13] = [
    Call::Hgsync,
    Call::HgsyncEvent,
    Call::Gsync,
    Call::Hbcast(0),
    Call::Hbcast(900),
    Call::Hbcast(6000),
    Call::Bcast(6000),
    Call::Reduce,
    Call::MpiBarrier,
    Call::MpiBcast,
    Call::MpiAllreduce,
    Call::ShmemBarrier,
    Call::ShmemCollect,
];

fn dma(error: TportError) -> DmaError {
    match error {
        TportError::Dma(error) => error,
        other => panic!("{other}"),
    }
}

fn shmem(error: ShmemError) -> DmaError {
    match error {
        ShmemError::Dma(error) => error,
        other => panic!("{other}"),
    }
}

/// Makes a call in all members, with the round's bytes; checks its result if it succeeds.
async fn call(pe: &Pe, group: &Group, call: Call, round: u64) -> Result<(), DmaError> {
    let (elan, rank, size) = (pe.elan(), group.rank(), group.size());
    let root = (round % u64::from(size)) as u32;
    let [one, other] = [(); 2].map(|()| elan.galloc_main(64, b(8192)).expect("there is room"));
    let before = |rank: u32| pattern(round * 64 + u64::from(rank), 640);
    store(pe, one, &before(rank));
    let [length, words] = [640, 80];
    let bytes = |length: u64| pattern(round + 7, length);
    let outcome = match call {
        Call::Hgsync => group.hgsync().await,
        Call::HgsyncEvent => group.hgsyncevent().await,
        Call::Gsync => group.gsync().await,
        Call::Hbcast(length) | Call::Bcast(length) => {
            if rank == root {
                store(pe, one, &bytes(length));
            }
            let sent = match call {
                Call::Hbcast(_) => group.hbcast(one, b(length), root).await,
                _ => group.bcast(one, b(length), root).await,
            };
            if sent.is_ok() {
                assert_eq!(load(pe, one, b(length))[..], bytes(length), "{call:?}");
            }
            sent
        }
        Call::Reduce => {
            group
                .reduce(one, other, words, &adding(), Receivers::All)
                .await
        }
        Call::MpiBarrier => pe.mpi().barrier().await.map_err(dma),
        Call::MpiBcast => {
            if rank == root {
                store(pe, one, &bytes(2000));
            }
            let sent = pe.mpi().bcast(one, b(2000), root).await.map_err(dma);
            if sent.is_ok() {
                assert_eq!(load(pe, one, b(2000))[..], bytes(2000));
            }
            sent
        }
        Call::MpiAllreduce => {
            let sum = adding();
            let sent = pe.mpi().allreduce(one, other, words, &sum).await;
            sent.map_err(dma)
        }
        Call::ShmemBarrier => pe.shmem().barrier(group).await.map_err(shmem),
        Call::ShmemCollect => {
            let sent = pe.shmem().fcollect(other, one, b(length / 8), group).await;
            sent.map_err(shmem)
        }
    };
    if outcome.is_ok() {
        let vectors = (0..size).map(before);
        let wanted = match call {
            Call::Reduce | Call::MpiAllreduce => vectors.reduce(|one, mut next| {
                compose(&one, &mut next);
                next
            }),
            Call::ShmemCollect => Some(
                vectors
                    .flat_map(|one| one[..length as usize / 8].to_vec())
                    .collect(),
            ),
            _ => None,
        };
        if let Some(wanted) = wanted {
            let found = load(pe, other, b(wanted.len() as u64));
            assert_eq!(found[..], wanted, "{call:?} in round {round}");
        }
    }
    elan.galloc_free(one).expect("it was allocated");
    elan.galloc_free(other).expect("it was allocated");
    outcome
}

/// If any part dies for a while, at any moment in any calls, all calls end, all bytes are right,
/// and no process leaves a barrier early.
#[test]
fn calls_survive_outages() {
    let config = sixteen_nodes();
    let parts = [
        cable_of(&config, MEMBERS[0]),
        cable_of(&config, MEMBERS[3]),
        cable_of(&config, MEMBERS[7]),
        between(),
    ];
    for part in parts {
        for (step, at) in moments(90, 1_300).enumerate() {
            let [left, noted] = logs();
            let program = async move |pe: Pe| {
                let group = pe.elan().all_group().clone();
                for round in 0..3 {
                    let which = (step * 5 + round as usize * 4) % CALLS.len();
                    pe.compute(Time::from_ns(700 * u64::from(me(&pe) % 3)))
                        .await;
                    let came = pe.now();
                    let outcome = call(&pe, &group, CALLS[which], round).await;
                    outcome.unwrap_or_else(|error| panic!("{:?}: {error}", CALLS[which]));
                    noted.note((round, came, pe.now(), CALLS[which]));
                }
            };
            let config = outage(&part, at, 70);
            run_on(&config, &job_of(&MEMBERS, 1 + (step % 2) as u32), program);
            for &(round, came, _, kind) in left.borrow().iter() {
                let reduces = matches!(kind, Call::Reduce | Call::MpiAllreduce);
                let early = |other: &&(u64, Time, Time, Call)| other.0 == round && other.2 < came;
                let early = left.borrow().iter().find(early).copied();
                assert!(
                    reduces || early.is_none(),
                    "{part:?} at {at}, {kind:?}: {early:?}"
                );
            }
        }
    }
}

/// After an outage barriers go by software; then the hardware is used again.
#[test]
fn the_hardware_is_used_again() {
    let [took, noted] = logs();
    let config = outage(&cable_of(&sixteen_nodes(), 9), Time::from_us(20), 60);
    run_on(&config, &job(&MEMBERS), async move |pe| {
        let group = pe.elan().all_group();
        for _ in 0..150 {
            let start = pe.now();
            group.hgsync().await.unwrap();
            if me(&pe) == 0 {
                noted.note(pe.now() - start);
            }
        }
    });
    let took = took.borrow();
    let slowest = (0..took.len()).max_by_key(|&index| took[index]).unwrap();
    assert!(slowest < 8 && took[slowest] > Time::from_us(40), "{took:?}");
    let hardware = took[0];
    let by_hardware = |range: std::ops::Range<usize>| {
        let range = took[range].iter();
        range.filter(|&&time| time < hardware * 11 / 10).count()
    };
    assert_eq!(by_hardware(slowest..slowest + 64), 0, "{took:?}");
    assert!(by_hardware(slowest + 65..150) > 70, "{took:?}");
}

/// When an adapter dies permanently, all members of its groups are notified, in any call; later
/// calls fail immediately.
#[test]
fn a_lost_member_is_known_to_all() {
    let lost = FaultyPart::Adapter(Place::new(5));
    for (number, kind) in CALLS.into_iter().enumerate() {
        for (step, at) in moments(9, 4_900 + 97 * number as u64).enumerate() {
            let [ends, noted] = logs();
            let program = async move |pe: Pe| {
                let group = pe.elan().all_group().clone();
                for round in 0..10_000 {
                    if let Err(error) = call(&pe, &group, kind, round).await {
                        let now = pe.now();
                        let again = call(&pe, &group, kind, 0).await;
                        noted.note((me(&pe), error, again, pe.now() - now));
                        return;
                    }
                }
            };
            let config = failing(sixteen_nodes(), vec![down(lost.clone(), at, None)]);
            let pes = 1 + (step % 2) as u32;
            let (_, end) = play(&config, &job_of(&MEMBERS, pes), program);
            end.unwrap_or_else(|stop| panic!("{kind:?} at {at}: {stop}"));
            let ends = ends.borrow();
            assert_eq!(ends.len(), MEMBERS.len() * pes as usize, "{kind:?} at {at}");
            for &(process, error, again, _) in ends.iter() {
                let known = error.is_rail_down() || error.loss().is_some();
                assert!(
                    known && again.is_err(),
                    "{kind:?} at {at}: {process}: {error}"
                );
                if process / pes != 3 {
                    let text = error.to_string();
                    assert!(
                        text.contains("node 5"),
                        "{kind:?} at {at}: {process}: {text}"
                    );
                }
            }
        }
    }
}

/// A call's message is given up while the routing tables are unaware: once the cable is back, all
/// members are notified.
#[test]
fn what_is_given_up_is_known_to_all() {
    let mut failed = 0;
    for (number, kind) in CALLS.into_iter().enumerate() {
        for at in moments(6, 5_900 + 97 * number as u64) {
            let [ends, noted] = logs();
            let program = async move |pe: Pe| {
                let group = pe.elan().all_group().clone();
                for round in 0..60 {
                    let outcome = call(&pe, &group, kind, round).await;
                    if outcome.is_err() || round == 59 {
                        return noted.note((me(&pe), outcome));
                    }
                    pe.compute(Time::from_us(100)).await;
                }
            };
            let mut config = outage(&cable_of(&sixteen_nodes(), 5), at, 2000);
            if let Some(faults) = &mut config.faults {
                faults.detect = Time::from_ms(20);
            }
            let (_, end) = play(&config, &job(&MEMBERS), program);
            end.unwrap_or_else(|stop| panic!("{kind:?} at {at}: {stop}"));
            let ends = ends.borrow();
            assert_eq!(ends.len(), MEMBERS.len());
            let lost = ends.iter().filter(|(_, end)| end.is_err()).count();
            assert!(
                lost == 0 || lost == MEMBERS.len(),
                "{kind:?} at {at}: {ends:?}"
            );
            failed += lost;
        }
    }
    assert!(failed > 100, "{failed}");
}

/// The routing tables lack a way from 227 to 300 us, when they learn of another cable: too short
/// for a watch. The member that has lost the group meanwhile still notifies the others.
#[test]
fn tables_that_find_a_way_again_hide_no_loss() {
    let outage = |part, at, lasts| down(part, Time::from_us(at), Some(Time::from_us(lasts)));
    let adapter = FaultyPart::Adapter(Place::new(0));
    let cable = cable_of(&four_nodes(), 2);
    for (part, late) in [(adapter, 28), (cable, 230)] {
        let list = vec![
            outage(part.clone(), 27, 240),
            outage(cable_of(&four_nodes(), 3), 100, 10),
        ];
        let mut config = failing(four_nodes(), list);
        if let Some(faults) = &mut config.faults {
            faults.give_up = Time::from_us(2);
        }
        let [ends, noted] = logs();
        let (_, end) = play(&config, &job(&[0, 1, 2]), async move |pe| {
            let group = pe.elan().all_group();
            if me(&pe) == 0 {
                pe.compute(Time::from_us(late)).await;
            }
            // A member may leave the first barrier before another one is lost.
            let first = group.gsync().await;
            noted.note(first.and(group.gsync().await));
        });
        end.unwrap_or_else(|stop| panic!("{part:?}: {stop}"));
        let ends = ends.borrow();
        assert_eq!(ends.len(), 3, "{part:?}");
        assert!(ends.iter().all(Result::is_err), "{part:?}: {ends:?}");
    }
}

/// Groups without the lost member continue.
#[test]
fn other_groups_go_on() {
    let lost = down(cable_of(&sixteen_nodes(), 9), Time::from_us(300), None);
    let config = failing(sixteen_nodes(), vec![lost]);
    run_on(&config, &job(&MEMBERS), async |pe| {
        let elan = pe.elan();
        let half: Vec<_> = (0..8)
            .filter(|one| one / 4 == me(&pe) / 4)
            .map(pid)
            .collect();
        let group = elan.group(elan.all_group(), &half).await.unwrap().unwrap();
        pe.compute(Time::from_ms(3)).await;
        let all = elan.all_group().hgsync().await;
        assert!(all.is_err_and(|error| error.to_string().contains("node 9")));
        for round in 0..20 {
            let kind = CALLS[round % 8];
            let outcome = call(&pe, &group, kind, round as u64).await;
            assert_eq!(outcome.is_ok(), me(&pe) < 4, "{kind:?}");
        }
    });
}

/// A stopped host is silence, which a report names.
#[test]
fn a_stopped_host_is_silence() {
    let stop = down(FaultyPart::Node(NodeId::new(4)), Time::from_us(20), None);
    let config = failing(sixteen_nodes(), vec![stop]);
    let (cluster, end) = play(&config, &job(&MEMBERS), async |pe| {
        pe.compute(Time::from_us(100)).await;
        pe.elan().all_group().hgsync().await.unwrap();
    });
    let Err(Stop::Deadlock { waiting, .. }) = end else {
        panic!("{end:?}");
    };
    assert_eq!(waiting.len(), 7, "{waiting:?}");
    assert!(waiting[0].contains("hgsync of 8 processes"), "{waiting:?}");
    assert!(cluster.now() < Time::from_ms(2));
}

/// One-sided calls survive outages: each word counts once.
#[test]
fn one_sided_calls_survive_outages() {
    let config = sixteen_nodes();
    for part in [cable_of(&config, 1), cable_of(&config, 14), between()] {
        for at in moments(60, 1_700) {
            run_on(&outage(&part, at, 70), &job(&[1, 14]), async |pe| {
                one_sided(&pe).await.unwrap();
            });
        }
    }
}

/// Puts, gets, adds and swaps by both of two processes, checked.
async fn one_sided(pe: &Pe) -> Result<(), ShmemError> {
    let (shmem, elan) = (pe.shmem(), pe.elan());
    let (mine, other) = (u64::from(me(pe)), 1 - me(pe));
    let words = shmem.malloc_elan(b(64)).unwrap();
    let word = |index: u64| words.offset(b(8 * index));
    let [sent, got] = [(); 2].map(|()| shmem.malloc(b(4096)).unwrap());
    store(pe, got, &pattern(mine + 5, 4096));
    let queue = elan.queue_rx(4, b(8)).unwrap();
    for round in 0..4_u64 {
        assert_eq!(shmem.fadd(word(0), 3, other).await?, 3 * round);
        assert_eq!(shmem.swap(word(1), round + 1, other).await?, round);
        assert_eq!(shmem.cswap(word(2), round, round + 1, other).await?, round);
        shmem.p(word(3), round + 9, other);
        let from = filled(pe, mine + round, 700);
        let message = alloc(pe, true, b(8));
        store(pe, message, &round.to_le_bytes());
        let sends = elan.queue_tx(pid(other), queue.at(), message, b(8));
        shmem
            .put(sent.offset(b(700 * round)), from, b(700), other)
            .await?;
        let to = alloc(pe, false, b(4096));
        shmem.get(to, got, b(4096), other).await?;
        assert_holds(pe, to, 6 - mine, 4096);
        shmem.quiet().await?;
        elan.wait(sends).await?;
        assert_eq!(shmem.g(word(3), other).await?, round + 9);
        assert_eq!(queue.wait().await[..], round.to_le_bytes());
    }
    shmem.barrier(elan.all_group()).await?;
    for round in 0..4 {
        assert_holds(pe, sent.offset(b(700 * round)), 1 - mine + round, 700);
    }
    assert_eq!(shmem.word(word(0)).unwrap(), 12);
    Ok(())
}

/// One-sided calls to a process out of reach return an error that names the process.
#[test]
fn one_sided_calls_without_a_way_fail() {
    for at in moments(30, 3_100) {
        let lost = down(cable_of(&sixteen_nodes(), 14), at, None);
        let config = failing(sixteen_nodes(), vec![lost]);
        let texts = log();
        let noted = texts.clone();
        let (_, end) = play(&config, &job(&[1, 14]), async move |pe| {
            let process = format!("process {}", 1 - me(&pe));
            if let Err(error) = one_sided(&pe).await {
                assert!(error.to_string().contains(&process), "{error}");
                noted.note(me(&pe));
            }
        });
        // A process that waits for the other's message in its own queue continues to wait.
        if let Err(stop) = end {
            assert!(stop.to_string().contains("a message in a queue"), "{stop}");
        }
        assert!(!texts.borrow().is_empty(), "at {at}");
    }
}

/// Where bits flip all the time, all calls work.
#[test]
fn calls_survive_bit_errors() {
    for (seed, rate) in [1e-5, 5e-5, 2e-4].into_iter().enumerate() {
        let mut config = failing(sixteen_nodes(), vec![bit_errors(rate)]);
        if let Some(faults) = &mut config.faults {
            (faults.seed, faults.give_up) = (seed as u64, Time::from_ms(20));
        }
        let program = async |pe: Pe| {
            let group = pe.elan().all_group().clone();
            for (round, kind) in (0..).zip(CALLS) {
                call(&pe, &group, kind, round).await.unwrap();
            }
        };
        run_on(&config, &job_of(&MEMBERS, 2), program);
        for message in MESSAGES {
            for (_, end) in exchange(&config, false, message) {
                end.unwrap();
            }
        }
        run_on(&config, &job(&[1, 14]), async |pe| {
            one_sided(&pe).await.unwrap();
        });
    }
}

/// Listed faults that do not occur have no effect.
#[test]
fn faults_that_do_not_occur_change_nothing() {
    let never: Fault = down(cable_of(&four_nodes(), 0), Time::from_secs(9), None);
    let digests = [four_nodes(), failing(four_nodes(), vec![never])].map(|config| {
        let cluster = run_on(&config, &job_of(&[0, 1, 2, 3], 2), async |pe| {
            let group = pe.elan().all_group().clone();
            for (round, kind) in (0..).zip(CALLS) {
                call(&pe, &group, kind, round).await.unwrap();
                let (mpi, size) = (pe.mpi(), b(1 << round));
                let [from, to] = [(); 2].map(|()| alloc(&pe, false, size));
                let (right, left) = ((me(&pe) + 1) % 8, (me(&pe) + 7) % 8);
                let sent = mpi.sendrecv((right, 3, from, size), (Some(left), Some(3), to, size));
                sent.await.unwrap();
            }
        });
        (cluster.digest(), cluster.now())
    });
    assert_eq!(digests[0], digests[1]);
}

/// While a group is made and used, an adapter is dead for a moment: no member waits for ever, or
/// has a group that others lack.
#[test]
fn groups_are_made_while_an_adapter_is_dead() {
    let mut made_by_all = 0;
    for nodes in [&[0, 1, 2][..], &[3, 2, 0, 4, 1]] {
        for (step, at) in moments(300, 230).enumerate() {
            let [ends, noted] = logs();
            let program = async move |pe: Pe| {
                let elan = pe.elan();
                let members: Vec<_> = (0..pe.nvps()).rev().map(pid).collect();
                let end = match elan.group(elan.all_group(), &members).await {
                    Ok(group) => group
                        .unwrap()
                        .gsync()
                        .await
                        .map_err(|error| error.to_string()),
                    Err(error) => Err(error.to_string()),
                };
                noted.note(end);
            };
            let dead = FaultyPart::Adapter(Place::new(step as u32 % nodes.len() as u32));
            let config = outage(&dead, at, [6, 2, 115, 30][step % 4]);
            let (_, end) = play(&config, &job(nodes), program);
            end.unwrap_or_else(|stop| panic!("{dead:?} at {at}: {stop}"));
            let ends = ends.borrow();
            assert_eq!(ends.len(), nodes.len(), "{dead:?} at {at}");
            made_by_all += u32::from(ends.iter().all(Result::is_ok));
        }
    }
    assert!(made_by_all > 100, "{made_by_all}");
}
