//! Tports on machines with several rails: which messages take which rails, under each policy, and
//! the gain.

use crate::common::{
    self, assert_holds, b, cluster, filled, four_nodes, job, logs, me, pid, run_on, run_to, store,
    with_rails,
};
use crate::rails::{generations, policies};
use elan::{AdapterPart, Cluster, Config, Matching, Rail};
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select};
use rails::policies::{BASIC, DYNAMIC, HYBRID, LOCAL_DYNAMIC, STATIC};
use units::Time;

/// Messages of all lengths in both directions at once, expected or not, to and from both memories:
/// the bytes are right.
#[test]
fn all_bytes_arrive() {
    let machines = generations().into_iter().flat_map(|config| {
        let with = move |policy| with_rails(&config, 4, policy, 1.0);
        policies().into_iter().map(with)
    });
    for (number, mut config) in machines.enumerate() {
        if number % 2 == 0 {
            config.tport.matching = Matching::Host;
        }
        let job = job(&[0, 1, 2, 1]);
        run_on(&config, &job, async |pe| {
            let (tport, nvps) = (pe.elan().tport(), pe.nvps());
            assert_eq!((pe.elan3().nrails(), pe.elan3().rails()), (4, 0xf));
            let lengths = [0, 200, 700, 9_000, 9_001, 150_000];
            let (mut sends, mut receives) = (Vec::new(), Vec::new());
            let (to, from) = ((me(&pe) + 1) % nvps, (me(&pe) + nvps - 1) % nvps);
            let place = |length, adapter| common::alloc(&pe, adapter, b(length));
            for (tag, length) in (0..).zip(lengths) {
                for adapter in [false, true] {
                    let tag = 2 * tag + u64::from(adapter);
                    let at = place(length, adapter && me(&pe).is_multiple_of(2));
                    let bytes = common::pattern(u64::from(me(&pe)) + tag, length);
                    store(&pe, at, &bytes);
                    let label = (me(&pe), tag);
                    sends.push(tport.tx_start(Mode::Standard, pid(to), label, at, b(length)));
                    let at = place(length, adapter && me(&pe) % 2 == 1);
                    receives.push((tag, length, at));
                }
            }
            for (tag, length, at) in receives {
                if tag % 3 == 0 {
                    pe.compute(Time::from_us(100)).await;
                }
                let select = Select::exactly(Some(from), Some(tag));
                let rx = tport.rx_start(select, Room::Buffer(at, b(length)));
                tport.rx_wait(rx).await.unwrap();
                assert_holds(&pe, at, u64::from(from) + tag, length);
            }
            for tx in sends {
                tport.tx_wait(tx).await.unwrap();
            }
        });
    }
}

/// Sends so many messages with a length at once to a job's processes, by process 0; returns when
/// all have been received.
fn time(config: &Config, places: &[u32], messages: &[u32], length: u64) -> (Time, Cluster) {
    let job = job(places);
    let messages: std::rc::Rc<[u32]> = messages.into();
    let [ends, noted] = logs();
    let program = async move |pe: Pe| {
        let tport = pe.elan().tport();
        let start = Time::from_us(100);
        if me(&pe) == 0 {
            let from = filled(&pe, 7, length);
            pe.node().sleep_until(start).await;
            let mut sends = Vec::new();
            for &to in &*messages {
                sends.push(tport.tx_start(Mode::Standard, pid(to), (0, 0), from, b(length)));
                pe.node().sleep(Time::from_us(30)).await;
            }
            for tx in sends {
                tport.tx_wait(tx).await.unwrap();
            }
            return;
        }
        let own = messages.iter().filter(|&&to| to == me(&pe));
        let start_receive = |_| {
            let at = filled(&pe, 0, length);
            (at, tport.rx_start(Select::ANY, Room::Buffer(at, b(length))))
        };
        let receives: Vec<_> = own.map(start_receive).collect();
        for (at, rx) in receives {
            tport.rx_wait(rx).await.unwrap();
            assert_holds(&pe, at, 7, length);
            noted.note(pe.now() - start);
        }
    };
    let cluster = run_on(config, &job, program);
    let end = ends.borrow().iter().copied().max();
    (end.unwrap(), cluster)
}

/// Rails on which packets have come in at a node.
fn rails_used(cluster: &Cluster, node: u32) -> Vec<u32> {
    let tree = cluster.config().fabric.topology;
    let link = |rail: u32| tree.ejection(tree.place(rail.into(), node.into()));
    let used = |&rail: &u32| cluster.link(link(rail)).packets > 20;
    (0..tree.rails()).filter(used).collect()
}

/// A message that is striped over all rails takes about as much less time as there are rails.
#[test]
fn striping() {
    for config in generations() {
        let of = |rails, striping| {
            let config = with_rails(&config, rails, LOCAL_DYNAMIC, striping);
            let (time, cluster) = time(&config, &[0, 3], &[1], 1_000_000);
            (time.as_ps() as f64, rails_used(&cluster, 3).len())
        };
        let (alone, one) = of(2, 0.0);
        assert_eq!(one, 1);
        for (rails, striping, used) in [(2, 1.0, 2), (4, 0.5, 2), (4, 1.0, 4)] {
            let (striped, count) = of(rails, striping);
            assert_eq!(count, used);
            let part = striped / alone * used as f64;
            assert!((1.0..1.05).contains(&part), "{used} rails: {part}");
        }
    }
}

/// Two messages at a time between two nodes take two rails, and hardly more time than one: an
/// adapter with one DMA engine may let one message's control packet wait for the other's time
/// slice. Shorter messages have no gain.
#[test]
fn messages_at_a_time() {
    for config in generations() {
        for policy in [BASIC, LOCAL_DYNAMIC, DYNAMIC, HYBRID] {
            let config = with_rails(&config, 2, policy, 0.0);
            let (alone, _) = time(&config, &[0, 3], &[1], 500_000);
            let (both, cluster) = time(&config, &[0, 3], &[1, 1], 500_000);
            assert_eq!(rails_used(&cluster, 3), [0, 1]);
            let several = |part: &AdapterPart| {
                matches!(
                    part, AdapterPart::DmaEngines { count } if *count > 1
                )
            };
            let slice = if config.parts.iter().any(several) {
                Time::ZERO
            } else {
                config.adapter.time_slice
            };
            assert!(
                both < alone + slice + Time::from_us(50),
                "{policy:?}: {alone}, {both}"
            );
            // A third waits for one, or shares it.
            let (three, _) = time(&config, &[0, 3], &[1, 1, 1], 500_000);
            assert!(three > alone + alone / 3, "{policy:?}: {alone}, {three}");
        }
    }
}

/// Node 0 sends to two others. Each would take rail 0 first; but the second notices that node 0
/// sends there.
#[test]
fn what_the_sender_knows() {
    let of = |policy| {
        let config = with_rails(&four_nodes(), 2, policy, 0.0);
        let (time, cluster) = time(&config, &[0, 2, 3], &[1, 2], 500_000);
        (time, [2, 3].map(|node| rails_used(&cluster, node)))
    };
    let (shared, rails) = of(LOCAL_DYNAMIC);
    assert_eq!(rails, [vec![0], vec![0]]);
    let (apart, rails) = of(DYNAMIC);
    assert_eq!(rails, [vec![0], vec![1]]);
    assert!(apart < shared * 2 / 3, "{apart}, {shared}");
}

/// Static allocation takes the rails on which one node transmits and the other receives, and no
/// other.
#[test]
fn static_allocation() {
    let config = with_rails(&four_nodes(), 4, STATIC, 1.0);
    let allocation = rails::Allocation::with_rails(4, 4).unwrap();
    for (from, to) in [(0_u32, 1_u32), (1, 0), (0, 3), (3, 2)] {
        let (_, cluster) = time(&config, &[from, to], &[1, 1, 1, 1], 50_000);
        let expected = allocation.rails_between(from.into(), to.into());
        let expected: Vec<u32> = expected.map(Rail::get).collect();
        let used = rails_used(&cluster, to);
        assert_eq!(used, expected);
    }
}

/// Bytes that a failing rail has not carried go again, over others; the home rail's envelopes take
/// detours.
#[test]
fn a_rail_that_fails() {
    for matching in [Matching::Adapter, Matching::Host] {
        for rail in [0, 1] {
            let mut config = with_rails(&four_nodes(), 2, LOCAL_DYNAMIC, 1.0);
            config.tport.matching = matching;
            let mut cluster = cluster(&config);
            cluster.fail_rail(Rail::new(rail), Time::from_ms(2));
            let job = job(&[0, 3]);
            let [done, noted] = logs();
            let program = async move |pe: Pe| {
                let (tport, length) = (pe.elan().tport(), 1_000_000);
                for _ in 0..3 {
                    if me(&pe) == 0 {
                        let from = filled(&pe, 7, length);
                        let tx = tport.tx_start(Mode::Standard, pid(1), (0, 0), from, b(length));
                        noted.note(tport.tx_wait(tx).await);
                    } else {
                        let at = filled(&pe, 0, length);
                        let room = Room::Buffer(at, b(length));
                        let rx = tport.rx_start(Select::ANY, room);
                        tport.rx_wait(rx).await.unwrap();
                        assert_holds(&pe, at, 7, length);
                    }
                }
            };
            job.launch(&mut cluster, program).unwrap();
            run_to(&mut cluster, Time::from_ms(100));
            assert_eq!(*done.borrow(), [Ok(()); 3]);
        }
    }
}
