//! Adapters that die, and hosts that stop.

use super::{Act, FROM, TO, all_ok, check, moments};
use crate::common::{
    PLACEMENTS, cluster, down, failing, four_nodes, logs, pattern, run_to, sixteen_nodes,
};
use elan::faults::FaultyPart;
use elan::{Access, Address, Dma, DmaError, NodeId, Place, Placement, Rail, Reason, Thread};
use units::{Bytes, Time};

/// A dying adapter's DMAs end with an error, new ones are refused, and after the repair all works
/// again.
#[test]
fn a_dead_adapter_ends_its_dmas() {
    let part = FaultyPart::Adapter(Place::new(FROM));
    for at in moments() {
        let lasts = Some(Time::from_us(600));
        let mut cluster = cluster(&failing(
            sixteen_nodes(),
            vec![down(part.clone(), at, lasts)],
        ));
        let (sender, receiver) = (
            cluster.node(NodeId::new(FROM)),
            cluster.node(NodeId::new(TO)),
        );
        let size = Bytes::new(2000);
        let from = sender.allocate(Placement::Main, size);
        sender.write(from, &pattern(9, 2000));
        let to = receiver.allocate(Placement::Main, size);
        let queue = receiver.queue(8, Bytes::new(8), None).unwrap();
        let [ends, noted] = logs();
        cluster.spawn("sends", async move {
            let mut sent: Vec<_> = (0..6)
                .map(|_| sender.dma(Dma::new(from.start(), to.start(), size)))
                .collect();
            let message = Dma::queue(from.start(), queue.start(), Bytes::new(8));
            sent.extend((0..2).map(|_| sender.dma(message)));
            let mut failed = 0;
            for sent in sent {
                failed += u32::from(sent.await.is_err_and(|error| error.is_rail_down()));
            }
            let refused = sender.dma(message).await;
            sender.sleep(Time::from_ms(2)).await;
            let again = sender.dma(Dma::new(from.start(), to.start(), size)).await;
            noted.note((failed, refused, again, sender.dma(message).await));
        });
        cluster.run().unwrap();
        assert!(cluster.census().is_empty(), "{:?}", cluster.census());
        let [episode] = &cluster.faults()[..] else {
            panic!("one fault")
        };
        let times = (episode.down, episode.up);
        assert_eq!(times, (Some(at), lasts.map(|lasts| at + lasts)));
        let (failed, refused, again, message) = ends.take();
        // The first DMAs take less time than the last moments.
        assert!(failed > 0 || at > Time::from_us(15), "at {at}");
        let reason = refused.map_err(|error| match error {
            DmaError::Fault(fault) => (fault.access, fault.reason),
            other => panic!("{other}"),
        });
        assert_eq!(reason, Err((Access::RemoteWrite, Reason::Down)), "at {at}");
        assert_eq!((again, message), (Ok(()), Ok(())), "at {at}");
        let held = receiver.read(to).unwrap();
        assert_eq!(held[..], pattern(9, 2000));
        let count = receiver.queue_len(queue);
        assert!(
            count >= 1 && count <= 3 - failed.min(2) as usize,
            "{count} messages"
        );
    }
}

/// If a DMA's adapter dies at any moment, both ends get the same result: with success its bytes and
/// its event have come, with an error its event never occurs.
#[test]
fn a_dma_of_a_dead_adapter_notifies_if_it_succeeds() {
    let (mut succeeded, mut failed) = (0, 0);
    for placement in [Placement::Main, Placement::Adapter] {
        for at in (0..260).map(|step| Time::from_ns(15 * step)) {
            let dies = FaultyPart::Adapter(Place::new(FROM));
            let dies = down(dies, at, Some(Time::from_us(600)));
            let mut cluster = cluster(&failing(sixteen_nodes(), vec![dies]));
            let [sender, receiver] = [FROM, TO].map(|node| cluster.node(NodeId::new(node)));
            let size = Bytes::new(32);
            let from = sender.allocate(Placement::Adapter, size);
            sender.write(from, &pattern(9, 32));
            let to = receiver.allocate(placement, size);
            let event = receiver.event(1);
            let [ends, noted] = logs();
            let waits = receiver.clone();
            cluster.spawn("sends", async move {
                let sent = sender.dma(Dma::new(from.start(), to.start(), size).notify(event));
                let sent = sent.await;
                waits.sleep(Time::from_ms(1)).await;
                noted.note((sent.is_ok(), waits.is_set(event)));
            });
            cluster.run().unwrap();
            let (sent, notified) = ends.take();
            assert_eq!(sent, notified, "at {at}");
            if sent {
                assert_eq!(receiver.read(to).unwrap()[..], pattern(9, 32), "at {at}");
            }
            (succeeded, failed) = (succeeded + u32::from(sent), failed + u32::from(!sent));
        }
    }
    assert!(succeeded > 50 && failed > 50, "{succeeded} {failed}");
}

/// An adapter and its rail fail and are repaired each by itself: the adapter works while both are
/// up, and the rail's others do not depend on it.
#[test]
fn an_adapter_and_its_rail_fail_each_by_itself() {
    let span = |part: FaultyPart, (from, to)| {
        let lasts = Time::from_us(to) - Time::from_us(from);
        down(part, Time::from_us(from), Some(lasts))
    };
    let adapter = |node, times| span(FaultyPart::Adapter(Place::new(node)), times);
    let rail = |times| span(FaultyPart::Rail(Rail::new(0)), times);
    // When nodes 0 and 1 are down.
    let cases = [
        (
            vec![adapter(0, (10, 40)), rail((20, 60))],
            (10, 60),
            (20, 60),
        ),
        (
            vec![adapter(0, (20, 60)), rail((10, 40))],
            (10, 60),
            (10, 40),
        ),
        (
            vec![adapter(0, (10, 60)), rail((20, 40))],
            (10, 60),
            (20, 40),
        ),
        (
            vec![adapter(0, (20, 40)), rail((10, 60))],
            (10, 60),
            (10, 60),
        ),
        (
            vec![adapter(1, (10, 40)), rail((20, 60))],
            (20, 60),
            (10, 60),
        ),
        (vec![rail((10, 40)), rail((20, 60))], (10, 60), (10, 60)),
    ];
    for (list, one, other) in cases {
        let mut cluster = cluster(&failing(four_nodes(), list.clone()));
        let nodes = [0, 1].map(|node| cluster.node(NodeId::new(node)));
        for at in (5..80).step_by(10) {
            run_to(&mut cluster, Time::from_us(at));
            for (node, (from, to)) in nodes.iter().zip([one, other]) {
                let is_down = (from..to).contains(&at);
                let signals = [node.down(), node.up()].map(|signal| signal.is_set());
                assert_eq!(node.is_down(), is_down, "{list:?} at {at} us");
                assert_eq!(signals, [is_down, !is_down], "{list:?} at {at} us");
            }
        }
        assert_eq!(nodes.map(|node| node.failures()), [1, 1], "{list:?}");
    }
}

/// When the adapter that serves a get dies, the asker gets an error.
#[test]
fn a_get_from_a_dead_adapter_fails() {
    let part = FaultyPart::Adapter(Place::new(TO));
    let mut failed = 0;
    for at in moments() {
        let config = failing(sixteen_nodes(), vec![down(part.clone(), at, None)]);
        let report = check(&config, Act::Get(PLACEMENTS[3], 2100));
        failed += u32::from(!all_ok(&report));
    }
    assert!(failed > 20, "{failed}");
}

/// The processes of a host that has stopped run no more, but its adapter continues: it stores,
/// serves gets, and runs threads.
#[test]
fn a_stopped_host_does_nothing_more() {
    let stop = down(FaultyPart::Node(NodeId::new(TO)), Time::from_us(50), None);
    let mut cluster = cluster(&failing(sixteen_nodes(), vec![stop]));
    let (near, far) = (
        cluster.node(NodeId::new(FROM)),
        cluster.node(NodeId::new(TO)),
    );
    let at = |node: &elan::Node| node.allocate(Placement::Main, Bytes::new(64)).start();
    let (here, there): (Address, Address) = (at(&near), at(&far));
    let word = far.allocate(Placement::Adapter, Bytes::new(8)).start();
    let [ticks, tick] = logs();
    let clock = far.clone();
    far.spawn("ticks", async move {
        loop {
            clock.sleep(Time::from_us(10)).await;
            tick.note(clock.now());
        }
    });
    let [ends, noted] = logs();
    let (process, stopped) = (near.clone(), far.clone());
    near.spawn("goes on", async move {
        process.sleep(Time::from_us(100)).await;
        assert!(stopped.is_stopped() && !process.is_stopped());
        let put = process.dma(Dma::new(here, there, Bytes::new(64))).await;
        let get = process.dma(Dma::new(there, here, Bytes::new(64))).await;
        noted.note((put, get));
    });
    let threads = far.clone();
    threads
        .run("thread", async move |thread: Thread| {
            thread.until(thread.node().sleep(Time::from_us(120))).await;
            let store = thread.store(word, &7_u64.to_le_bytes());
            store.expect("it is the thread's");
        })
        .unwrap();
    // The stopped host's process never ends, and no other waits for it.
    cluster.run().unwrap();
    run_to(&mut cluster, Time::from_us(300));
    assert_eq!(ends.take(), (Ok(()), Ok(())));
    assert_eq!(ticks.borrow().len(), 4);
    assert_eq!(far.load(word, Bytes::new(8)).unwrap()[0], 7);
}
