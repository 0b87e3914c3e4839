//! Groups: their members, whether hardware serves them, their calls' costs, and that no process
//! overtakes. The results of broadcasts and reductions are compared with an oracle in `programs`.

use crate::common;

use common::{
    broadcast, cluster, four_nodes, job, load, logs, machine, me, opteron, pattern, pid, play,
    sixteen_nodes, store,
};
use elan::transaction::word_of;
use elan::{Config, DmaError, ElanAddr, ProcessId, Stop};
use fabric::FatTree;
use kernel::random::Stream;
use libelan::Pe;
use libelan::elan::Elan;
use libelan::elan::group::{Group, GroupError};
use libelan::elan::reduce::{Receivers, Reduction, of_words};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// Runs a program on processes at some nodes; returns when it ends.
fn run(config: &Config, places: &[u32], program: impl AsyncFn(Pe) + 'static) -> Result<Time, Stop> {
    let (cluster, end) = play(config, &job(places), program);
    end.map(|()| cluster.now())
}

/// A process's operations, by kind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Barrier {
    Software,
    Hardware,
    HardwareEvent,
}

const BARRIERS: [Barrier; 3] = [Barrier::Software, Barrier::Hardware, Barrier::HardwareEvent];

async fn sync(group: &Group, barrier: Barrier) {
    match barrier {
        Barrier::Software => group.gsync().await.unwrap(),
        Barrier::Hardware => group.hgsync().await.expect("all are there"),
        Barrier::HardwareEvent => group.hgsyncevent().await.expect("all are there"),
    }
}

/// Processes on a machine's nodes: some layouts that differ in kind.
fn layouts() -> impl Strategy<Value = Vec<u32>> {
    let one_each = (1u32..=16, 0u32..16).prop_map(|(count, first)| {
        let first = first.min(16 - count);
        (first..first + count).collect()
    });
    let shuffled = proptest::collection::vec(0u32..16, 1..24).prop_map(|nodes| {
        let mut counts = [0; 16];
        let fits = |&node: &u32| {
            counts[node as usize] += 1;
            counts[node as usize] <= 4
        };
        nodes.into_iter().filter(fits).collect()
    });
    let round_robin = (1u32..=8, 1u32..=4)
        .prop_map(|(nodes, pes)| (0..nodes * pes).map(|vp| vp % nodes).collect());
    let blocks =
        (1u32..=8, 1u32..=4).prop_map(|(nodes, pes)| (0..nodes * pes).map(|vp| vp / pes).collect());
    prop_oneof![one_each, shuffled, round_robin, blocks]
}

/// Barriers in a row, with random kinds, between random delays: no process leaves one before all
/// have come to it.
fn nobody_overtakes(places: &[u32], seed: u64, rounds: usize, longest: u64) {
    let (count, come) = (places.len(), Rc::new(RefCell::new(vec![0; places.len()])));
    let mut kinds = Stream::new(seed, "kinds");
    let kinds = (0..rounds).map(|_| BARRIERS[kinds.uniform_u64(0..3) as usize]);
    let kinds: Vec<Barrier> = kinds.collect();
    let end = run(&sixteen_nodes(), places, async move |pe| {
        let mut delays = Stream::new(seed, &format!("delays {}", me(&pe)));
        let group = pe.elan().all_group();
        assert_eq!((group.size() as usize, group.rank()), (count, me(&pe)));
        for (round, &kind) in (1..).zip(&kinds) {
            let delay = Time::from_ns(delays.uniform_u64(0..longest));
            pe.compute(delay).await;
            come.borrow_mut()[me(&pe) as usize] = round;
            sync(group, kind).await;
            let behind = come.borrow().iter().any(|&other| other < round);
            assert!(!behind, "{kind:?} {round}: {:?}", come.borrow());
        }
    });
    end.unwrap_or_else(|stop| panic!("{stop}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nobody_leaves_a_barrier_before_all_have_come(
        places in layouts(), seed: u64, late: bool,
    ) {
        nobody_overtakes(&places, seed, 8, if late { 300_000 } else { 3_000 });
    }
}

#[test]
fn hardware_serves_nodes_next_to_each_other() {
    for (places, hardware) in [
        (vec![3, 4, 5], true),
        (vec![5, 3, 4], true),
        (vec![3, 5], false),
        (vec![7], true),
        (vec![2, 3, 2, 3], true),
        (vec![2, 2, 4, 4], false),
    ] {
        let ran = run(&sixteen_nodes(), &places, async move |pe| {
            let group = pe.elan().all_group();
            assert_eq!(group.has_hardware(), hardware);
            assert_eq!(group.lookup(group.rank()), Some(pe.vp()));
            assert_eq!(group.lookup(group.size()), None);
            sync(group, Barrier::Hardware).await;
        });
        ran.expect("it is a barrier in any case");
    }
}

/// If hardware cannot serve a group, the hardware calls act as the software calls, in the same
/// time.
#[test]
fn without_hardware_software_does_it() {
    for places in [vec![1, 2, 4, 5], vec![0, 0, 3, 3, 9]] {
        let time = |hardware: bool| {
            let ran = run(&sixteen_nodes(), &places, async move |pe| {
                let (group, size) = (pe.elan().all_group(), Bytes::new(700));
                assert!(!group.has_hardware());
                let buffer = pe.elan().galloc_main(64, size).expect("there is room");
                for root in 0..group.size() {
                    if root == group.rank() {
                        let bytes = pattern(root.into(), 700);
                        store(&pe, buffer, &bytes);
                    }
                    let barrier = BARRIERS[usize::from(hardware)];
                    sync(group, barrier).await;
                    let done = broadcast(group, hardware, buffer, size, root).await;
                    done.expect("all have it");
                    let found = load(&pe, buffer, size);
                    assert_eq!(found[..], pattern(root.into(), 700)[..]);
                }
            });
            ran.expect("nobody is missing")
        };
        assert_eq!(time(true), time(false));
        let blocking = run(&sixteen_nodes(), &places, async move |pe| {
            sync(pe.elan().all_group(), Barrier::HardwareEvent).await;
        });
        blocking.expect("nobody is missing");
    }
}

/// Jobs that share some nodes: hardware serves each, since each one's contexts have one number, and
/// one job's broadcast does not reach another.
#[test]
fn hardware_serves_several_jobs_at_once() {
    let mut cluster = cluster(&sixteen_nodes());
    for (places, seed) in [(0..6, 1), (3..11, 2), (5..16, 3)] {
        let job = job(&places.collect::<Vec<u32>>());
        let program = async move |pe: Pe| {
            let (group, size) = (pe.elan().all_group(), Bytes::new(500));
            assert!(group.has_hardware());
            let buffer = pe.elan().galloc_main(64, size).expect("there is room");
            for root in 0..pe.nvps() {
                if me(&pe) == root {
                    let bytes = pattern(seed, 500);
                    store(&pe, buffer, &bytes);
                }
                group.hbcast(buffer, size, root).await.expect("all have it");
                let found = load(&pe, buffer, size);
                assert_eq!(found[..], pattern(seed, 500)[..]);
                sync(group, Barrier::Hardware).await;
                store(&pe, buffer, &[0; 500]);
            }
        };
        job.launch(&mut cluster, program)
            .expect("the nodes are there");
    }
    cluster.run().unwrap_or_else(|stop| panic!("{stop}"));
}

/// A hardware broadcast from the nodes' middle comes back to its root, and so does its event, the
/// later the longer the cables are. The root does not take this event for the arrival of another
/// process's next broadcast.
#[test]
fn what_comes_back_is_not_the_next_broadcast() {
    let tree = || FatTree::quaternary(2).expect("16 nodes");
    for mut config in [sixteen_nodes(), opteron(tree())] {
        for (delay, length) in [(40, 0), (80, 0), (120, 0), (40, 500), (80, 500), (120, 500)] {
            config.fabric.hop_delay.fill(delay);
            let places: Vec<u32> = (0..16).collect();
            let ran = run(&config, &places, async move |pe| {
                let (group, size) = (pe.elan().all_group(), Bytes::new(500));
                let [one, other] = [0, 1].map(|_| pe.elan().galloc_main(64, size));
                let (one, other) = (one.expect("room"), other.expect("room"));
                for root in 0..group.size() {
                    let next = (root + 5) % group.size();
                    if me(&pe) == next {
                        store(&pe, other, &pattern(root.into(), 500));
                    }
                    let first = group.hbcast(one, Bytes::new(length), root).await;
                    let second = group.hbcast(other, size, next).await;
                    assert_eq!((first, second), (Ok(()), Ok(())));
                    let found = load(&pe, other, size);
                    assert_eq!(found[..], pattern(root.into(), 500)[..], "after {root}");
                }
            });
            ran.expect("all take part");
        }
    }
}

#[test]
fn a_group_of_one_waits_for_nobody() {
    let end = run(&four_nodes(), &[2], async move |pe| {
        let group = pe.elan().all_group();
        for barrier in BARRIERS {
            sync(group, barrier).await;
        }
        let size = Bytes::new(8);
        let buffer = pe.elan().galloc_main(8, size).expect("there is room");
        for hardware in [false, true] {
            let done = broadcast(group, hardware, buffer, size, 0).await;
            done.expect("it is mapped");
        }
        assert_eq!(pe.now(), pe.node().config().host.call * 5);
    });
    end.expect("nobody is missing");
}

/// Groups with any processes from a group, in any order, several at once, and groups of groups.
#[test]
fn groups_of_groups() {
    let [sums, told] = logs();
    let places: Vec<u32> = (0..12).map(|vp| vp % 6).collect();
    let ran = run(&sixteen_nodes(), &places, async move |pe| {
        let elan = pe.elan();
        let all = elan.all_group();
        // A process's own allocations do not disturb others.
        for _ in 0..me(&pe) {
            let shared = elan.galloc_elan(64, Bytes::new(640));
            shared.expect("there is room");
            let own = pe.elan3().alloc_main(64, Bytes::from_kb(300));
            own.expect("there is room");
        }
        let odd: Vec<u32> = (0..12).rev().filter(|vp| vp % 2 == 1).collect();
        let even: Vec<u32> = (0..10).filter(|vp| vp % 2 == 0).collect();
        let mine = if me(&pe) % 2 == 1 { &odd } else { &even };
        let mine: Vec<ProcessId> = mine.iter().copied().map(pid).collect();
        let group = elan.group(all, &mine).await.expect("a proper list");
        let Some(group) = group else {
            assert_eq!(me(&pe), 10, "in no list");
            return;
        };
        assert_eq!(group.lookup(group.rank()), Some(pe.vp()));
        assert_eq!(group.size() as usize, mine.len());
        let half = elan.group(&group, &mine[..3]).await.expect("a proper list");
        assert_eq!(half.is_some(), mine[..3].contains(&pe.vp()));
        for group in [Some(group), half].into_iter().flatten() {
            for barrier in BARRIERS {
                sync(&group, barrier).await;
            }
            told.note((me(&pe), sum(&pe, &group).await));
        }
    });
    ran.unwrap_or_else(|stop| panic!("{stop}"));
    let mut sums = sums.borrow().clone();
    let groups: [&[u64]; 4] = [
        &[1, 3, 5, 7, 9, 11],
        &[7, 9, 11],
        &[0, 2, 4, 6, 8],
        &[0, 2, 4],
    ];
    let of_group = |group: &[u64]| -> Vec<(u32, u64)> {
        let sum = group.iter().sum();
        group.iter().map(|&vp| (vp as u32, sum)).collect()
    };
    let mut expected: Vec<(u32, u64)> = groups.into_iter().flat_map(of_group).collect();
    sums.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sums, expected);
}

/// The sum of a group's process numbers.
async fn sum(pe: &Pe, group: &Group) -> u64 {
    let size = Bytes::new(8);
    let at = common::alloc(pe, false, size);
    store(pe, at, &u64::from(me(pe)).to_le_bytes());
    let operation = Reduction {
        size,
        combine: &of_words(|one, other| one + other),
    };
    let done = group.reduce(at, at, 1, &operation, Receivers::All).await;
    done.expect("it is mapped");
    word_of(&load(pe, at, size))
}

/// The time of a reduction to process 0, which combines its vector with the others', after a
/// barrier.
fn reduction(config: &Config, places: &[u32], length: u64) -> Time {
    let [times, told] = logs();
    let program = async move |pe: Pe| {
        let (group, size) = (pe.elan().all_group().clone(), Bytes::new(length));
        let at = common::alloc(&pe, false, size);
        let operation = Reduction {
            size: Bytes::new(8),
            combine: &of_words(|one, other| one + other),
        };
        for _ in 0..2 {
            group.gsync().await.expect("all come");
            let begin = pe.now();
            let done = group
                .reduce(at, at, length / 8, &operation, Receivers::Root(0))
                .await;
            done.expect("it is mapped");
            if me(&pe) == 0 {
                told.note(pe.now() - begin);
            }
        }
    };
    run(config, places, program).unwrap_or_else(|stop| panic!("{stop}"));
    times.take()
}

/// Combining two vectors takes as long as copying one, and the root copies the result. So a host
/// that copies at half the rate adds a copy's time for each other process that the root combines
/// with, and one for the result.
#[test]
fn combining_takes_as_long_as_copying() {
    let fast = sixteen_nodes();
    let mut slow = fast.clone();
    slow.host.copy = units::Rate::from_bytes_per_second(fast.host.copy.as_bytes_per_second() / 2);
    let length = 2048;
    let copy = fast.host.copy.time(Bytes::new(length)).as_us_f64();
    for (places, copies) in [(&[0, 5][..], 2.0), (&[0; 4], 4.0)] {
        let [fast, slow] = [&fast, &slow].map(|config| reduction(config, places, length));
        let added = (slow - fast).as_us_f64() / copy;
        assert!((added - copies).abs() < 0.01, "{places:?}: {added} copies");
    }
}

#[test]
fn lists_that_are_no_groups() {
    use GroupError::{Empty, NoMember, Twice};
    let ran = run(&four_nodes(), &[0, 1, 2], async move |pe| {
        let (elan, all) = (pe.elan(), pe.elan().all_group());
        let error = async |list: &[u32]| {
            let list: Vec<ProcessId> = list.iter().copied().map(pid).collect();
            elan.group(all, &list).await.err()
        };
        let errors = [
            error(&[]).await,
            error(&[0, 1, 0]).await,
            error(&[0, 3]).await,
        ];
        let expected = matches!(errors, [Some(Empty), Some(Twice(_)), Some(NoMember(_))]);
        assert!(expected, "{errors:?}");
        let nowhere = ElanAddr::NOWHERE;
        let bcast = all.bcast(nowhere, Bytes::ZERO, 3).await;
        assert_eq!(bcast, Err(DmaError::NoProcess { process: pid(3) }));
    });
    ran.expect("errors keep nobody waiting");
}

#[test]
fn a_process_that_never_comes_is_a_deadlock_with_names() {
    for (barrier, name) in [(Barrier::Software, "gsync"), (Barrier::Hardware, "hgsync")] {
        let ran = run(&four_nodes(), &[0, 1, 2, 3], async move |pe| {
            if me(&pe) != 2 {
                sync(pe.elan().all_group(), barrier).await;
            }
        });
        let text = ran.expect_err("process 2 never comes").to_string();
        for vp in [0, 1, 3] {
            let who = format!("test {vp}: {name} of 4 processes");
            assert!(text.contains(&who), "{text}");
        }
        assert!(!text.contains("test 2"), "{text}");
    }
}

/// The others continue soon after a process has come, even a very late one.
#[test]
fn a_late_process_is_noticed() {
    for late in [0, 1, 7, 20, 40, 41, 42, 43, 44, 50, 100, 1000, 100_000] {
        for who in [0, 3, 15] {
            let places: Vec<u32> = (0..16).collect();
            let end = run(&sixteen_nodes(), &places, async move |pe| {
                let group = pe.elan().all_group();
                if me(&pe) == who {
                    pe.compute(Time::from_us(late)).await;
                }
                sync(group, Barrier::Hardware).await;
            });
            let end = end.expect("all come");
            let soon = Time::from_us(late)..Time::from_us(late + 12);
            assert!(soon.contains(&end), "{end} for {late}");
        }
    }
}

#[test]
fn a_buffer_that_one_process_lacks_is_an_error_of_who_sends() {
    for hardware in [false, true] {
        let [errors, told] = logs();
        let ran = run(&four_nodes(), &[0, 1, 2, 3], async move |pe| {
            let (group, size) = (pe.elan().all_group(), Bytes::new(100));
            let buffer = pe.elan().galloc_main(8, size).expect("there is room");
            if me(&pe) == 3 {
                let closed = pe.elan3().setperm(buffer, size, elan::Permissions::NONE);
                closed.expect("it is mapped");
            }
            let done = broadcast(group, hardware, buffer, size, 1).await;
            told.note((me(&pe), done.is_ok()));
        });
        let stop = ran.expect_err("process 3 gets nothing");
        assert!(stop.to_string().contains("test 3"), "{stop}");
        assert!(errors.borrow().contains(&(1, false)), "the root is told");
    }
}

/// A call's time in a row of calls.
fn latency(config: &Config, call: impl AsyncFn(Pe) + 'static) -> Time {
    let nodes = config.fabric.topology.nodes();
    let rounds = 20;
    let [starts, told] = logs();
    let places: Vec<u32> = (0..nodes).collect();
    let end = run(config, &places, async move |pe| {
        call(pe.clone()).await;
        told.note(pe.now());
        for _ in 0..rounds {
            call(pe.clone()).await;
        }
    });
    let start = starts.borrow().iter().copied().max();
    (end.expect("they all call") - start.expect("there are processes")) / rounds
}

fn tree(levels: u32) -> Config {
    machine(FatTree::quaternary(levels as usize).expect("a tree"))
}

#[test]
fn software_barriers_grow_with_the_logarithm_and_hardware_hardly() {
    let soft = |levels| {
        latency(&tree(levels), async |pe| {
            pe.elan().all_group().gsync().await.unwrap();
        })
    };
    let hard = |levels| {
        latency(&tree(levels), async |pe| {
            sync(pe.elan().all_group(), Barrier::Hardware).await;
        })
    };
    let (soft, hard): (Vec<Time>, Vec<Time>) =
        (1..=4).map(|levels| (soft(levels), hard(levels))).unzip();
    for pair in soft.windows(2) {
        let step = pair[1] - pair[0];
        let range = Time::from_us(4)..Time::from_us(6);
        assert!(range.contains(&step), "{soft:?}");
    }
    for pair in hard.windows(2) {
        let step = pair[1].saturating_sub(pair[0]);
        assert!(step < Time::from_us(1), "{hard:?}");
    }
    assert!(hard[3] < soft[1], "{soft:?} {hard:?}");
}

/// Groups that are made from outside the simulation, from all their members at once.
#[test]
fn groups_made_together() {
    let mut cluster = cluster(&four_nodes());
    let job = job(&[0, 1, 3]);
    let processes = job.attach(&cluster).expect("the nodes are there");
    let elans = [2, 0, 1].map(|number: usize| processes[number].elan());
    // Each process's own allocations do not matter.
    for elan in elans {
        let used = Bytes::new(640) * u64::from(elan.vp().get());
        elan.galloc_elan(64, used).expect("there is room");
    }
    let twice = Elan::together(&[elans[0], elans[1], elans[0]]).err();
    assert!(
        matches!(twice, Some(GroupError::Twice(vp)) if vp == pid(2)),
        "{twice:?}"
    );
    let none = Elan::together(&[]).err();
    assert!(matches!(none, Some(GroupError::Empty)), "{none:?}");
    let free = |elan: &Elan| {
        let at = elan.galloc_elan(64, Bytes::new(64)).expect("there is room");
        elan.galloc_free(at).expect("just allocated");
        at
    };
    let before = free(elans[1]);
    let groups = Elan::together(&elans).expect("there is room");
    assert_eq!(
        free(elans[1]),
        before,
        "the group lies where process 2 has room"
    );
    let [sums, told] = logs();
    for (group, number) in groups.into_iter().zip([2, 0, 1]) {
        assert_eq!(group.lookup(0), Some(pid(2)));
        let (pe, told) = (processes[number].clone(), told.clone());
        cluster.spawn(format!("process {number}"), async move {
            sync(&group, Barrier::Software).await;
            told.note(sum(&pe, &group).await);
        });
    }
    cluster.run().expect("all come");
    assert_eq!(sums.borrow()[..], [3, 3, 3]);
}
