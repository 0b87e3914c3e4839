//! Which rails puts, gets, words, atomics and broadcasts take: the payload that arrives is counted
//! at every adapter.

use crate::common::{
    alloc, assert_holds, b, cluster, filled, four_nodes, job, load, me, pid, run_on, run_to, store,
    with_rails,
};
use crate::rails::{generations, policies};
use elan::{Cluster, Config, Node, Rail};
use libelan::Pe;
use libelan::elan::reduce::{Receivers, Reduction, of_words};
use rails::policies::{LOCAL_DYNAMIC, STATIC};
use rails::{Allocation, Kind};
use units::{Bytes, Time};

/// Payload that a node has received on each rail.
fn received(cluster: &Cluster, node: u32) -> Vec<u64> {
    let rails = Rail::all(cluster.rails());
    let stored = rails.map(|rail| Node::stored(&cluster.adapter(rail, node.into())));
    stored.map(Bytes::as_u64).collect()
}

/// The rails by which more than some payload has come to a node.
fn used(cluster: &Cluster, node: u32, more: u64) -> Vec<u32> {
    let received = (0..).zip(received(cluster, node));
    let used = received.filter(|&(_, bytes)| bytes > more);
    used.map(|(rail, _)| rail).collect()
}

fn between(rails: u32, from: u32, to: u32) -> Vec<u32> {
    let allocation = Allocation::with_rails(4, rails).unwrap();
    let between = allocation.rails_between(from.into(), to.into());
    between.map(Rail::get).collect()
}

/// The rails on which a node transmits and the three others receive, or the home rail if there is
/// no such rail.
fn one_way(rails: u32, root: u32) -> Vec<u32> {
    let others = (0..4).filter(|&node| node != root);
    let ways: Vec<Vec<u32>> = others.map(|node| between(rails, root, node)).collect();
    let all = |rail: &u32| ways.iter().all(|way| way.contains(rail));
    let found: Vec<u32> = (0..rails).filter(all).collect();
    if found.is_empty() { vec![0] } else { found }
}

/// How many bytes come by each rail from four 40,000-byte messages, one after the other. Whether
/// these are striped over all rails or take turns, all rails that they may take carry the same.
fn expected(policy: Kind, rails: u32, (from, to): (u32, u32)) -> Vec<u64> {
    let own = match policy {
        STATIC => between(rails, from, to),
        _ => (0..rails).collect(),
    };
    let part = 4 * 40_000 / own.len() as u64;
    let bytes = |rail| if own.contains(&rail) { part } else { 0 };
    (0..rails).map(bytes).collect()
}

/// Plays a program on two of four nodes, and returns the bytes that came to process 1's node and to
/// process 0's.
fn exchange(config: &Config, program: impl AsyncFn(Pe) + 'static) -> [Vec<u64>; 2] {
    let cluster = run_on(config, &job(&[0, 3]), program);
    [received(&cluster, 3), received(&cluster, 0)]
}

/// Puts and gets between main memories take the policy's rails, and all bytes are right.
#[test]
fn puts_and_gets_take_the_rails_of_the_policy() {
    for config in generations() {
        for policy in policies() {
            for rails in [2, 4] {
                for striping in [0.0, 1.0] {
                    if policy == STATIC && rails == 2 {
                        continue; // four nodes need four rails
                    }
                    let config = with_rails(&config, rails, policy, striping);
                    let [there, _] = exchange(&config, async |pe| {
                        let target = pe.elan().galloc_main(64, b(40_000)).unwrap();
                        if me(&pe) == 0 {
                            for seed in 0..4 {
                                let from = filled(&pe, seed, 40_000);
                                let put = pe.elan().put(pid(1), from, target, b(40_000));
                                pe.elan().wait(put).await.unwrap();
                            }
                        } else {
                            pe.compute(units::Time::from_ms(5)).await;
                            assert_holds(&pe, target, 3, 40_000);
                        }
                    });
                    let wanted = expected(policy, rails, (0, 3));
                    assert_eq!(there, wanted, "put, {policy:?}, {striping}");
                    let [_, here] = exchange(&config, async |pe| {
                        let source = pe.elan().galloc_main(64, b(40_000)).unwrap();
                        if me(&pe) == 1 {
                            store(&pe, source, &crate::common::pattern(9, 40_000));
                            return;
                        }
                        pe.compute(units::Time::from_us(10)).await;
                        for _ in 0..4 {
                            let to = alloc(&pe, false, b(40_000));
                            let get = pe.elan().get(pid(1), source, to, b(40_000));
                            pe.elan().wait(get).await.unwrap();
                            assert_holds(&pe, to, 9, 40_000);
                        }
                    });
                    let wanted = expected(policy, rails, (3, 0));
                    assert_eq!(here, wanted, "get, {policy:?}, {striping}");
                }
            }
        }
    }
}

/// A striped put takes about as much less time as there are rails.
#[test]
fn puts_gain_by_striping() {
    let time = |rails, striping| {
        let config = with_rails(&four_nodes(), rails, LOCAL_DYNAMIC, striping);
        let [ends, noted] = crate::common::logs();
        run_on(&config, &job(&[0, 3]), async move |pe| {
            let target = pe.elan().galloc_main(64, b(1_000_000)).unwrap();
            if me(&pe) == 0 {
                let from = filled(&pe, 1, 1_000_000);
                let start = pe.now();
                let put = pe.elan().put(pid(1), from, target, b(1_000_000));
                pe.elan().wait(put).await.unwrap();
                noted.note((pe.now() - start).as_us_f64());
            }
        });
        ends.take()
    };
    let alone = time(4, 0.0);
    for (rails, striping, parts) in [(2, 1.0, 2.0), (4, 1.0, 4.0), (4, 0.5, 2.0)] {
        let part = time(rails, striping) / alone * parts;
        assert!((0.98..1.06).contains(&part), "{rails} rails: {part}");
    }
}

/// Words and other short bytes are never cut, and take the rails in turn; transfers with an end in
/// adapter memory take the home rail, and so do atomics and messages to queues.
#[test]
fn short_bytes_take_one_rail_and_adapter_memory_the_home_rail() {
    for policy in policies() {
        let config = with_rails(&four_nodes(), 4, policy, 1.0);
        let [there, here] = exchange(&config, async |pe| {
            let shmem = pe.shmem();
            let word = shmem.malloc(b(8)).unwrap();
            if me(&pe) == 0 {
                for number in 1..=8 {
                    shmem.p(word, number, 1);
                    shmem.quiet().await.unwrap();
                    assert_eq!(shmem.g(word, 1).await.unwrap(), number);
                }
            }
        });
        let share = |ends: (u32, u32)| {
            let own = match policy {
                STATIC => between(4, ends.0, ends.1),
                _ => vec![0, 1, 2, 3],
            };
            // The process takes turns: where it puts and gets alternately, a put takes every other
            // rail.
            let bytes = |rail: u32| {
                if own.contains(&rail) {
                    64 / own.len() as u64
                } else {
                    0
                }
            };
            (0..4).map(bytes).collect::<Vec<u64>>()
        };
        let sum = |bytes: &[u64]| bytes.iter().sum::<u64>();
        assert_eq!((sum(&there), sum(&here)), (64, 64), "{policy:?}");
        if policy == STATIC {
            assert_eq!((there, here), (share((0, 3)), share((3, 0))));
        } else {
            let all: Vec<u64> = there
                .iter()
                .zip(&here)
                .map(|(one, other)| one + other)
                .collect();
            assert_eq!(all, [32; 4], "{policy:?}");
        }

        let [there, _] = exchange(&config, async |pe| {
            let (shmem, elan) = (pe.shmem(), pe.elan());
            let (word, board) = (
                shmem.malloc_elan(b(8)).unwrap(),
                elan.galloc_elan(64, b(9_000)).unwrap(),
            );
            let queue = elan.queue_rx(4, b(40)).unwrap();
            let message = filled(&pe, 5, 9_000);
            if me(&pe) == 0 {
                let put = elan.put(pid(1), message, board, b(9_000));
                elan.wait(put).await.unwrap();
                for number in 0..5 {
                    assert_eq!(shmem.finc(word, 1).await.unwrap(), number);
                }
                let tx = elan.queue_tx(pid(1), queue.at(), message, b(40));
                elan.wait(tx).await.unwrap();
            } else {
                assert_eq!(queue.wait().await[..], crate::common::pattern(5, 40));
                assert_holds(&pe, board, 5, 9_000);
            }
        });
        assert_eq!(there[1..], [0; 3], "{policy:?}");
        assert_eq!(there[0], 9_040, "{policy:?}");
    }
}

/// A broadcast's bytes between main memories take the policy's rails: by hardware to all nodes, by
/// software from each node to the next in the chain. Those in adapter memory take the home rail.
#[test]
fn broadcasts_take_the_rails_of_the_policy() {
    for config in generations() {
        for policy in policies() {
            for (rails, striping) in [(2, 1.0), (4, 1.0), (4, 0.0)] {
                if policy == STATIC && rails == 2 {
                    continue;
                }
                let config = with_rails(&config, rails, policy, striping);
                for (hardware, adapter) in
                    [(true, false), (true, true), (false, false), (false, true)]
                {
                    for root in [0, 2] {
                        let cluster = run_on(&config, &job(&[0, 1, 2, 3]), async move |pe| {
                            let elan = pe.elan();
                            let at = if adapter {
                                elan.galloc_elan(64, b(40_000))
                            } else {
                                elan.galloc_main(64, b(40_000))
                            };
                            let at = at.unwrap();
                            for seed in 0..4 {
                                if me(&pe) == root {
                                    store(&pe, at, &crate::common::pattern(seed, 40_000));
                                }
                                let group = elan.all_group();
                                let done =
                                    crate::common::broadcast(group, hardware, at, b(40_000), root)
                                        .await;
                                done.unwrap();
                                assert_eq!(
                                    load(&pe, at, b(40_000))[..],
                                    crate::common::pattern(seed, 40_000)
                                );
                                group.gsync().await.unwrap();
                            }
                        });
                        for node in (0..4).filter(|&node| node != root) {
                            let wanted = match policy {
                                _ if adapter => vec![0],
                                STATIC if hardware => one_way(rails, root),
                                STATIC => between(rails, (node + 3) % 4, node),
                                _ => (0..rails).collect(),
                            };
                            let context = format!(
                                "{policy:?}, {striping}, root {root}, to {node}, hardware \
                                {hardware}"
                            );
                            assert_eq!(used(&cluster, node, 1_000), wanted, "{context}");
                            let sum: u64 = received(&cluster, node).iter().sum();
                            assert_eq!(sum, 160_000, "{context}");
                        }
                    }
                }
            }
        }
    }
}

/// A reduction's partial results climb over the policy's rails, from each node in the tree to the
/// place above.
#[test]
fn reductions_take_the_rails_of_the_policy() {
    for policy in policies() {
        for striping in [1.0, 0.0] {
            let config = with_rails(&four_nodes(), 4, policy, striping);
            let cluster = run_on(&config, &job(&[0, 1, 2, 3]), async |pe| {
                let elan = pe.elan();
                let at = elan.galloc_main(64, b(16_000)).unwrap();
                let sum = of_words(|one, other| one + other);
                let operation = Reduction {
                    size: b(8),
                    combine: &sum,
                };
                let own: Vec<u8> = (0..2_000_u64)
                    .flat_map(|word| (word + u64::from(me(&pe))).to_le_bytes())
                    .collect();
                store(&pe, at, &own);
                let group = elan.all_group();
                let to = Receivers::Root(0);
                group.reduce(at, at, 2_000, &operation, to).await.unwrap();
                if me(&pe) == 0 {
                    let sums = (0..2_000_u64).flat_map(|word| (4 * word + 6).to_le_bytes());
                    assert!(load(&pe, at, b(16_000)).iter().copied().eq(sums));
                }
            });
            // The three other nodes are the root's children.
            let mut rails: Vec<u32> = (1..4).flat_map(|node| between(4, node, 0)).collect();
            rails.sort_unstable();
            rails.dedup();
            let wanted = match policy {
                STATIC => rails,
                _ => vec![0, 1, 2, 3],
            };
            assert_eq!(used(&cluster, 0, 100), wanted, "{policy:?}, {striping}");
            let sum: u64 = received(&cluster, 0).iter().sum();
            assert_eq!(sum, 3 * 16_000, "{policy:?}, {striping}");
        }
    }
}

/// An adapter sends from its first message's beginning to the last one's end, and its node's
/// processes know both after the status's lag: the time of `rails.handle` under policies that use
/// the status.
#[test]
fn an_adapter_is_busy_until_its_last_message_has_ended() {
    let mut lags = Vec::new();
    for policy in policies() {
        let config = with_rails(&four_nodes(), 2, policy, 1.0);
        let cycle = config.adapter.thread_cycle;
        let rails = config.rails.expect("it has rails");
        let lag = rails.status_lag(cycle);
        assert!(lag.is_zero() || lag == cycle * u64::from(rails.handle));
        lags.push(lag);
        let mut cluster = cluster(&config);
        let node = cluster.node(0_u32.into());
        let mut step = |act: &dyn Fn(), busy| {
            act();
            assert!(lag.is_zero() || node.was_busy() != busy, "not known yet");
            let known = cluster.now() + lag;
            run_to(&mut cluster, known);
            assert_eq!(node.was_busy(), busy);
        };
        assert!(!node.was_busy());
        step(&|| node.begin_sending(), true);
        node.begin_sending();
        node.end_sending();
        step(&|| node.end_sending(), false);
        step(&|| node.begin_sending(), true);
    }
    assert!(lags.contains(&Time::ZERO) && lags.iter().any(|lag| !lag.is_zero()));
}
