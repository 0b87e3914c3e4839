//! Group calls that do not block: the adapters carry them out while the hosts compute.

use crate::common;

use common::{
    alloc, b, job, job_of, load, logs, machine, me, pattern, run, run_on, sixteen_nodes, store,
    with_rails,
};
use elan::{DmaError, ElanAddr};
use fabric::FatTree;
use libelan::Pe;
use libelan::elan::group::Group;
use proptest::prelude::*;
use rails::policies::DYNAMIC;
use std::rc::Rc;
use units::{Bytes, Time};

/// A group call.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// A broadcast, by its root and its bytes; else a barrier.
    broadcast: Option<(u32, u64)>,
    hardware: bool,
    posted: bool,
}

const BARRIER: Call = Call {
    broadcast: None,
    hardware: true,
    posted: true,
};

impl Call {
    /// Makes the call, now; `at` is the buffer. The returned future is ready when the call has
    /// ended.
    fn make(
        self,
        group: &Group,
        at: ElanAddr,
    ) -> impl Future<Output = Result<(), DmaError>> + use<> {
        let posting = self.posted.then(|| group.post_call());
        let group = group.clone();
        Box::pin(async move {
            let Some(posting) = posting else {
                return match (self.broadcast, self.hardware) {
                    (None, true) => group.hgsync().await,
                    (None, false) => group.gsync().await,
                    (Some((root, length)), true) => group.hbcast(at, b(length), root).await,
                    (Some((root, length)), false) => group.bcast(at, b(length), root).await,
                };
            };
            let posted = posting.await;
            match (self.broadcast, self.hardware) {
                (None, true) => posted.hgsync().await,
                (None, false) => posted.gsync().await,
                (Some((root, length)), true) => posted.hbcast(at, b(length), root).await,
                (Some((root, length)), false) => posted.bcast(at, b(length), root).await,
            }
        })
    }
}

/// The mean time of a call over 64 processes, from a moment at which all make it: a call that
/// blocks, or one that is posted before all processes compute for a while.
fn mean(call: Call) -> f64 {
    let config = machine(FatTree::quaternary(3).expect("64 nodes"));
    let nodes: Vec<u32> = (0..64).collect();
    let [ends, told] = logs();
    run_on(&config, &job(&nodes), async move |pe| {
        let (at, told) = (alloc(&pe, false, b(64 << 10)), Rc::new(told.clone()));
        let group = pe.elan().all_group();
        // The first one starts the threads.
        call.make(group, at).await.expect("all come");
        let start = Time::from_ms(5);
        pe.node().sleep_until(start).await;
        let (over, node) = (call.make(group, at), pe.node().clone());
        let end = async move {
            over.await.expect("all come");
            told.note(node.now() - start);
        };
        if call.posted {
            pe.node().serve("call", end);
            pe.compute(Time::from_ms(2)).await;
        } else {
            end.await;
        }
    });
    let ends = ends.borrow();
    assert_eq!(ends.len(), 64);
    let all: Time = ends.iter().copied().sum();
    all.as_ps() as f64 / 64e6
}

/// A posted call ends as soon as one that blocks, while the hosts compute for much longer.
#[test]
fn the_adapters_carry_calls_out_while_the_hosts_compute() {
    let broadcast = Some((5, 64 << 10));
    // A posted broadcast hands its work to a thread before it knows that all are there, and each
    // process is notified of its end once more.
    for (broadcast, hardware, least, most) in [
        (None, true, 0.0, 0.0),
        (None, false, 0.0, 0.0),
        (broadcast, true, -2.0, 2.0),
        (broadcast, false, -4.0, 4.0),
    ] {
        let call = |posted| Call {
            broadcast,
            hardware,
            posted,
        };
        let (blocks, posted) = (mean(call(false)), mean(call(true)));
        let more = posted - blocks;
        let text = format!("{broadcast:?}, hardware {hardware}: {posted} us, {blocks} us");
        assert!((least..=most).contains(&more), "{text}");
    }
}

/// Several calls are under way at a time, and end in the order in which they were made; a call that
/// blocks waits for them.
#[test]
fn calls_of_a_group_follow_each_other() {
    let nodes: Vec<u32> = (0..16).collect();
    let [ends, told] = logs();
    run(&job(&nodes), async move |pe| {
        let told = Rc::new(told.clone());
        let group = pe.elan().all_group().clone();
        for number in 0..8u32 {
            let over = BARRIER.make(&group, ElanAddr::NOWHERE);
            let (told, who, node) = (Rc::clone(&told), me(&pe), pe.node().clone());
            let end = async move {
                over.await.expect("all come");
                told.note((who, number, node.now()));
            };
            pe.node().serve("call", end);
        }
        group.hgsync().await.expect("all come");
        told.note((me(&pe), 8, pe.now()));
    });
    let ends = ends.borrow();
    for who in 0..16 {
        let own = ends.iter().filter(|(other, ..)| *other == who);
        let own: Vec<(u32, Time)> = own.map(|&(_, number, at)| (number, at)).collect();
        let numbers: Vec<u32> = own.iter().map(|&(number, _)| number).collect();
        assert_eq!(numbers, (0..=8).collect::<Vec<_>>(), "process {who}");
        assert!(own.is_sorted_by_key(|&(_, at)| at), "process {who}");
    }
}

#[test]
#[should_panic(expected = "members of one node meet by their hosts")]
fn a_group_with_several_members_on_a_node_posts_nothing() {
    run(&job_of(&[0, 1], 2), async |pe| {
        let posted = pe.elan().all_group().post_call().await;
        let _ = posted.hgsync().await;
    });
}

fn call(nodes: u32) -> impl Strategy<Value = Call> {
    let length = prop_oneof![0..400u64, 0..20_000u64, 100_000..200_000u64];
    let broadcast = proptest::option::weighted(0.7, (0..nodes, length));
    (broadcast, any::<bool>(), proptest::bool::weighted(0.7)).prop_map(
        |(broadcast, hardware, posted)| Call {
            broadcast,
            hardware,
            posted,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Posted calls and calls that block, in any order, by processes that come early and late, on
    /// adjacent nodes and on others, on one rail or several: all bytes arrive.
    #[test]
    fn bytes_arrive(
        adjacent: bool,
        adapter: bool,
        rails in 1u32..=4,
        calls in proptest::collection::vec(call(7), 1..10),
        late in 0u64..60,
    ) {
        let nodes = if adjacent { [4, 5, 6, 7, 8, 9, 10] } else { [0, 1, 3, 4, 9, 12, 15] };
        let config = match rails {
            1 => sixteen_nodes(),
            _ => with_rails(&sixteen_nodes(), rails, DYNAMIC, 1.0),
        };
        run_on(&config, &job(&nodes), async move |pe: Pe| {
            let group = pe.elan().all_group().clone();
            let mut under_way = Vec::new();
            for (round, &call) in (0..).zip(&calls) {
                let length = call.broadcast.map_or(0, |(_, length)| length);
                let at = alloc(&pe, adapter, b(length));
                if call.broadcast.is_some_and(|(root, _)| root == me(&pe)) {
                    store(&pe, at, &pattern(round, length));
                }
                let idle = late * ((u64::from(me(&pe)) * 7 + round) % 3);
                pe.compute(Time::from_us(idle)).await;
                let check = {
                    let (over, pe) = (call.make(&group, at), pe.clone());
                    async move {
                        over.await.expect("all come");
                        let found = load(&pe, at, Bytes::new(length));
                        assert_eq!(found[..], pattern(round, length)[..], "{call:?}");
                    }
                };
                if call.posted {
                    let over = kernel::Signal::new();
                    under_way.push(over.clone());
                    pe.node().serve("call", async move {
                        check.await;
                        over.fire();
                    });
                } else {
                    check.await;
                }
            }
            for over in under_way {
                over.wait().await;
            }
        });
    }
}
