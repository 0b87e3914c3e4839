//! Several rails on a machine that lists faults: for a rail as a whole, and for one node's home
//! adapter.

use crate::common::{
    assert_holds, b, bit_errors, cluster, down, failing, filled, four_nodes, job, me, opteron,
    pattern, pid, run_on, sixteen_nodes, store, with_rails,
};
use crate::rails::failures::together;
use elan::faults::FaultyPart;
use elan::{Config, DmaError, NodeId, Place, Rail};
use fabric::FatTree;
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select};
use rails::Kind;
use rails::policies::{BASIC, LOCAL_DYNAMIC, STATIC};
use units::Time;

/// Puts, gets, messages and collective calls, each checked; messages with some lengths.
async fn most_kinds(pe: Pe, lengths: &[u64]) {
    let (elan, me, all) = (pe.elan(), me(&pe), pe.nvps());
    let (right, left) = ((me + 1) % all, (me + all - 1) % all);
    let group = elan.all_group();
    let board = elan.galloc_main(64, b(9_000)).unwrap();
    let close = elan.galloc_elan(64, b(3_000)).unwrap();
    let longest = *lengths.iter().max().unwrap();
    group.gsync().await.unwrap();
    for round in 0..3_u64 {
        let seed = |process: u32| 10 * round + u64::from(process);
        let source = filled(&pe, seed(me), 9_000);
        let puts = [(board, longest), (close, longest.min(3_000))];
        for (at, length) in puts {
            let put = elan.put(pid(right), source, at, b(length));
            elan.wait(put).await.unwrap();
        }
        group.hgsync().await.unwrap();
        for (at, length) in puts {
            assert_holds(&pe, at, seed(left), length);
            let to = filled(&pe, 0, length);
            let get = elan.get(pid(right), at, to, b(length));
            elan.wait(get).await.unwrap();
            assert_holds(&pe, to, seed(me), length);
        }
        let tport = elan.tport();
        let mut sends = Vec::new();
        for (tag, &length) in (0..).zip(lengths) {
            let mode = [Mode::Standard, Mode::Synchronous][tag as usize % 2];
            sends.push(tport.tx_start(mode, pid(right), (me, tag), source, b(length)));
        }
        for (tag, &length) in (0..).zip(lengths) {
            let to = filled(&pe, 0, length.max(1));
            let room = Room::Buffer(to, b(length));
            let received = tport.rx_start(Select::ANY, room);
            let received = tport.rx_wait(received).await.unwrap();
            assert_eq!((received.tag, received.size), (tag, b(length)));
            assert_holds(&pe, to, seed(left), length);
        }
        for tx in sends {
            tport.tx_wait(tx).await.unwrap();
        }
        group.hgsync().await.unwrap();
    }
}

/// The home rail as a whole fails at any moment, for a time or for ever.
#[test]
fn a_listed_rail_fails() {
    for moment in 0..16_u64 {
        let policy = [BASIC, LOCAL_DYNAMIC][moment as usize % 2];
        let machine = with_rails(&four_nodes(), 2, policy, 1.0);
        let at = Time::from_ns(500 + 9_700 * moment);
        let lasts = [None, Some(Time::from_us(3)), Some(Time::from_us(60))];
        let fault = down(
            FaultyPart::Rail(Rail::new(0)),
            at,
            lasts[moment as usize % 3],
        );
        let config = failing(machine, vec![fault]);
        run_on(&config, &job(&[0, 1, 2, 3]), async move |pe| {
            let group = pe.elan().all_group().clone();
            most_kinds(pe.clone(), &[0, 100, 700, 9_000, 200]).await;
            together(&pe, &group, moment).await;
        });
    }
}

/// One node's home adapter dies at any moment, for ever: its process's puts into adapter memory,
/// and its messages to queues, arrive once, by detours, and its calls end.
#[test]
fn a_home_adapter_dies() {
    for moment in 0..24_u64 {
        let machine = with_rails(&four_nodes(), 2, BASIC, 0.0);
        let at = Time::from_ns(1 + 1_370 * moment);
        let dies = down(FaultyPart::Adapter(Place::new(1)), at, None);
        let config = failing(machine, vec![dies]);
        run_on(&config, &job(&[0, 1, 2, 3]), async |pe| {
            let elan = pe.elan();
            let word = elan.galloc_elan(64, b(64)).unwrap();
            let queue = elan.queue_rx(64, b(64)).unwrap();
            if me(&pe) == 1 {
                for seed in 0..20 {
                    let source = filled(&pe, seed, 64);
                    let put = elan.put(pid(2), source, word, b(64));
                    elan.wait(put).await.unwrap();
                    let message = elan.queue_tx(pid(2), queue.at(), source, b(64));
                    elan.wait(message).await.unwrap();
                }
            } else if me(&pe) == 2 {
                for seed in 0..20 {
                    assert_eq!(queue.wait().await[..], pattern(seed, 64));
                }
                assert_holds(&pe, word, 19, 64);
                pe.compute(Time::from_ms(3)).await;
                assert!(queue.is_empty(), "a message has come twice");
            }
        });
    }
}

/// An atomic that takes a detour has its answer also from a node with a stopped host, as over the
/// home rail: adapters work on.
#[test]
fn a_stopped_host_answers_detours() {
    let machine = with_rails(&four_nodes(), 2, BASIC, 0.5);
    let at = Time::from_us(12);
    let stops = down(FaultyPart::Node(NodeId::new(1)), at, None);
    let rail = down(FaultyPart::Rail(Rail::new(0)), at, None);
    for faults in [vec![stops.clone()], vec![stops, rail]] {
        let config = failing(machine.clone(), faults);
        run_on(&config, &job(&[0, 1]), async |pe| {
            let word = pe.elan().galloc_elan(64, b(8)).unwrap();
            pe.compute(Time::from_us(30)).await;
            assert_eq!(me(&pe), 0, "the other has stopped");
            for round in 0..3 {
                assert_eq!(pe.shmem().fadd(word, 5, 1).await, Ok(5 * round));
            }
        });
    }
}

/// Four nodes with four rails; some rails die.
fn without(rails: impl Iterator<Item = u32>, policy: Kind, at: Time) -> Config {
    let dies = rails.map(|rail| down(FaultyPart::Rail(Rail::new(rail)), at, None));
    let machine = with_rails(&four_nodes(), 4, policy, 0.5);
    failing(machine, dies.collect())
}

/// Under static allocation no rail but the home rail may lead from a root to all others. Without it
/// another rail carries the broadcast.
#[test]
fn a_broadcast_needs_no_home_rail() {
    for policy in crate::rails::policies() {
        for at in (0..12).map(|moment| Time::from_ns(100 + 1_900 * moment)) {
            run_on(
                &without(0..1, policy, at),
                &job(&[0, 1, 2, 3]),
                async |pe| {
                    let buffer = pe.elan().galloc_main(64, b(900)).unwrap();
                    for (round, root) in (0..).zip(0..4) {
                        if me(&pe) == root {
                            store(&pe, buffer, &pattern(round, 900));
                        }
                        let group = pe.elan().all_group();
                        group.hbcast(buffer, b(900), root).await.unwrap();
                        assert_holds(&pe, buffer, round, 900);
                        group.hgsync().await.unwrap();
                    }
                },
            );
        }
    }
}

/// Under static allocation two nodes may have a single rail for each direction. If this rail is
/// dead, or the sender's adapter, another rail carries the bytes of software broadcasts and
/// reductions. The call did not take it, and tried the dead rail again and again at the same
/// moment: the run had no end.
#[test]
fn collective_calls_need_no_rail_of_the_allocation() {
    let together = async |pe: Pe| {
        let group = pe.elan().all_group().clone();
        together(&pe, &group, 1).await;
    };
    for (moment, rail) in (0..12).map(|moment| (moment, moment % 4)) {
        let at = Time::from_ns(1 + u64::from(moment) * 3_700);
        let config = without([rail].into_iter(), STATIC, at);
        run_on(&config, &job(&[0, 1, 2, 3]), together);
    }
    for moment in 0..8 {
        let machine = with_rails(&four_nodes(), 4, STATIC, 0.5);
        let place = machine.fabric.topology.place(Rail::new(2), NodeId::new(3));
        let at = Time::from_ns(1 + moment * 5_300);
        let dies = down(FaultyPart::Adapter(place), at, None);
        run_on(&failing(machine, vec![dies]), &job(&[0, 3]), together);
    }
}

/// If no rail works for the detection time, a collective call fails in all members. They waited for
/// ever, without an error.
#[test]
fn collective_calls_fail_without_rails() {
    for moment in 0..8 {
        let at = Time::from_ns(100 + 2_900 * moment);
        let dies = |rail| down(FaultyPart::Rail(Rail::new(rail)), at, None);
        let machine = with_rails(&four_nodes(), 2, BASIC, 0.5);
        let config = failing(machine, vec![dies(0), dies(1)]);
        run_on(&config, &job(&[0, 1, 2, 3]), async |pe| {
            let group = pe.elan().all_group();
            let error = loop {
                if let Err(error) = group.gsync().await {
                    break error;
                }
            };
            assert!(matches!(error, DmaError::NoRail { .. }), "{error}");
        });
    }
}

/// A message that waits for a full queue keeps no put from the only rail that is left, although the
/// put's process empties the queue only after the put.
#[test]
fn a_put_does_not_wait_for_a_full_queue() {
    // Under static allocation, the rail that is left may lead nowhere.
    for policy in crate::rails::policies() {
        if policy.allocates() {
            continue;
        }
        let config = without(1..4, policy, Time::from_us(10));
        run_on(&config, &job(&[0, 1]), async |pe| {
            let elan = pe.elan();
            let board = elan.galloc_main(64, b(300)).unwrap();
            let queue = elan.queue_rx(1, b(8)).unwrap();
            let source = filled(&pe, 5, 300);
            if me(&pe) == 0 {
                let sends = [(); 2].map(|()| elan.queue_tx(pid(1), queue.at(), source, b(8)));
                for send in sends {
                    elan.wait(send).await.unwrap();
                }
            } else {
                pe.compute(Time::from_us(50)).await;
                elan.wait(elan.put(pid(0), source, board, b(300)))
                    .await
                    .unwrap();
                for _ in 0..2 {
                    assert_eq!(queue.wait().await[..], pattern(5, 8));
                }
            }
            elan.all_group().gsync().await.unwrap();
            if me(&pe) == 0 {
                assert_holds(&pe, board, 5, 300);
            }
        });
    }
}

/// Messages to a full queue stay in order while the home rail is down: those that wait on detours,
/// and those that come after its return.
#[test]
fn messages_to_a_queue_are_in_order() {
    for moment in 0..24_u64 {
        let machine = with_rails(&four_nodes(), 2, BASIC, 1.0);
        let at = Time::from_ns(2_000 + 3_100 * moment);
        let lasts = [None, Some(Time::from_us(2)), Some(Time::from_us(40))];
        let fault = down(
            FaultyPart::Rail(Rail::new(0)),
            at,
            lasts[moment as usize % 3],
        );
        run_on(
            &failing(machine, vec![fault]),
            &job(&[0, 1]),
            async move |pe| {
                let elan = pe.elan();
                let queue = elan.queue_rx(1, b(8)).unwrap();
                let messages = 0..12;
                if me(&pe) == 0 {
                    let mut sends = Vec::new();
                    for message in messages {
                        let source = filled(&pe, message, 8);
                        sends.push(elan.queue_tx(pid(1), queue.at(), source, b(8)));
                        pe.compute(Time::from_us(message)).await;
                    }
                    for send in sends {
                        elan.wait(send).await.unwrap();
                    }
                } else {
                    for message in messages {
                        pe.compute(Time::from_us(10)).await;
                        assert_eq!(
                            queue.wait().await[..],
                            pattern(message, 8),
                            "moment {moment}, message {message}"
                        );
                    }
                }
            },
        );
    }
}

/// Bits flip so often that no broadcast gets through its whole tree, and packets to one node do:
/// the root sends to each member.
#[test]
fn a_damaged_broadcast_goes_to_each() {
    let machine = with_rails(&sixteen_nodes(), 2, BASIC, 0.5);
    let mut config = failing(machine, vec![bit_errors(1.4e-4)]);
    if let Some(faults) = &mut config.faults {
        faults.give_up = Time::from_ms(3);
    }
    let nodes: Vec<u32> = (0..16).collect();
    run_on(&config, &job(&nodes), async |pe| {
        let (elan, length) = (pe.elan(), 2_000);
        let at = elan.galloc_main(64, b(length)).unwrap();
        if me(&pe) == 3 {
            store(&pe, at, &pattern(3, length));
        }
        let sent = elan.all_group().hbcast(at, b(length), 3).await;
        sent.unwrap_or_else(|error| panic!("{}: {error}", me(&pe)));
        assert_holds(&pe, at, 3, length);
    });
}

/// A small message that has been sent goes again until it comes. If no rail has a way to its
/// receiver any more, it waits for one, and the run comes to its end.
#[test]
fn a_message_to_a_node_without_rails_waits() {
    let machine = with_rails(&opteron(FatTree::quaternary(1).unwrap()), 2, BASIC, 0.5);
    let other = machine.fabric.topology.place(Rail::new(1), NodeId::new(1));
    let at = Time::from_us(90);
    let faults = vec![
        down(FaultyPart::Adapter(other), at, None),
        down(FaultyPart::Rail(Rail::new(0)), at, None),
    ];
    let config = failing(machine, faults);
    let mut cluster = cluster(&config);
    let launched = job(&[0, 1, 2, 3]).launch(&mut cluster, async |pe| {
        pe.compute(Time::from_us(100)).await;
        if me(&pe) == 0 {
            let (tport, source) = (pe.elan().tport(), filled(&pe, 1, 8));
            let tx = tport.tx_start(Mode::Standard, pid(1), (0, 0), source, b(8));
            tport.tx_wait(tx).await.unwrap();
        }
    });
    launched.unwrap();
    cluster.run_until(Time::from_ms(20)).unwrap();
    assert!(cluster.census().is_empty(), "{:?}", cluster.census());
}
