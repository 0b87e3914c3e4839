//! The run loop: how runs end, where they stop, how processes sleep, and that equal runs are equal.

use crate::common;

use common::{cluster, four_nodes, log, node_of, run_process, run_to, sixteen_nodes, start};
use elan::series::{MeterKind, MeterSeries, SeriesRow};
use elan::{Cluster, Dma, Observer, Place, Placement, Stop, Watch};
use fabric::{Engine, LinkCounters, LinkId};
use kernel::random::Stream;
use kernel::{Bound, Limits, Signal};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Time};

/// Every node sends messages to random nodes for ever, with random pauses in between.
fn load(cluster: &mut Cluster, seed: u64) {
    let nodes = cluster.nodes();
    let size = Bytes::from_kb(4);
    let inboxes = (0..nodes).map(|number| {
        let reserve = |place| node_of(cluster, number).reserve(place, size).start();
        [Placement::Adapter, Placement::Main].map(reserve)
    });
    let inboxes: Vec<_> = inboxes.collect();
    for number in 0..nodes {
        let (node, inboxes) = (node_of(cluster, number), inboxes.clone());
        let mut stream = Stream::new(seed, &format!("node {number}"));
        cluster.spawn(format!("node {number}"), async move {
            loop {
                let source = inboxes[number as usize][stream.uniform_u64(0..2) as usize];
                let target = inboxes[stream.uniform_u64(0..u64::from(nodes)) as usize]
                    [stream.uniform_u64(0..2) as usize];
                let length = Bytes::new(stream.uniform_u64(0..4097));
                let sent = node.dma(Dma::new(source, target, length));
                sent.await.expect("it fits");
                let pause = Time::from_ps(stream.uniform_u64(0..5_000_000));
                node.sleep(pause).await;
            }
        });
    }
}

/// Every node posts three messages to others, without a waiter.
fn load_unawaited(cluster: &Cluster) {
    let nodes = cluster.nodes();
    let size = Bytes::from_kb(4);
    let region = |number| node_of(cluster, number).reserve(Placement::Adapter, size);
    let regions = (0..nodes).map(|number| region(number).start());
    let regions: Vec<_> = regions.collect();
    for number in 0..nodes {
        for step in 1..=3 {
            let to = regions[((number + 5 * step) % nodes) as usize];
            let dma = Dma::new(regions[number as usize], to, size);
            drop(node_of(cluster, number).dma(dma));
        }
    }
}

/// A process that never ends and is always about to do something.
fn idle_away(cluster: &mut Cluster) {
    let node = node_of(cluster, 0);
    cluster.spawn("idles", async move {
        loop {
            node.sleep(Time::from_us(1)).await;
        }
    });
}

#[test]
fn a_deadlock_names_who_waits() {
    let mut cluster = cluster(&four_nodes());
    for number in [2, 0] {
        let node = node_of(&cluster, number);
        cluster.spawn(format!("waits on {number}"), async move {
            node.sleep(Time::from_us(3)).await;
            node.wait(node.event(1)).await;
        });
    }
    let node = node_of(&cluster, 1);
    let ends_well = async move { node.sleep(Time::from_us(9)).await };
    cluster.spawn("ends well", ends_well);
    let stop = cluster.run().expect_err("two wait for ever");
    let text = "deadlock at 9 us: nothing is left to happen, and these processes wait: waits on 2, \
        waits on 0";
    assert_eq!(stop.to_string(), text);
}

/// In a run to a moment, waiting for ever is no error; the clock continues, and processes spawned
/// later run.
#[test]
fn a_run_to_a_moment_goes_on_after_a_deadlock() {
    let (mut cluster, [node]) = start(&four_nodes());
    let event = node.event(1);
    cluster.spawn("waits", async move { node.wait(event).await });
    cluster.run_until(Time::from_us(50)).expect("no error");
    assert_eq!(cluster.now(), Time::from_us(50));
    let (a, b) = (node_of(&cluster, 1), node_of(&cluster, 0));
    cluster.spawn("wakes it", async move {
        let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, Bytes::ZERO));
        let dma = Dma::new(from.start(), to.start(), Bytes::ZERO).notify(event);
        a.dma(dma).await.expect("it fits");
    });
    cluster.run().expect("nobody waits any more");
    // A moment that is past does not turn the clock back.
    let now = cluster.now();
    cluster.run_until(Time::from_us(1)).expect("no error");
    assert_eq!(cluster.now(), now);
}

#[test]
fn a_run_without_processes_is_over() {
    let mut cluster = cluster(&four_nodes());
    cluster.run().expect("nothing waits");
    let counts = (cluster.now(), cluster.events(), cluster.packets());
    assert_eq!(counts, (Time::ZERO, 0, 0));
}

/// An idle cluster with bounds.
fn bounded(time: Option<Time>, events: Option<u64>) -> Cluster {
    let limits = Limits {
        time,
        events,
        ..Limits::default()
    };
    let watch = Watch {
        limits,
        ..Watch::default()
    };
    Cluster::new(four_nodes(), watch)
}

fn exceeded(time: Option<Time>, events: Option<u64>) -> Bound {
    let mut cluster = bounded(time, events);
    idle_away(&mut cluster);
    load(&mut cluster, 1);
    match cluster.run() {
        Err(Stop::Exceeded(exceeded)) => exceeded.bound,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bounds_end_a_run() {
    let time = Time::from_ms(1);
    assert_eq!(exceeded(Some(time), None), Bound::Time(time));
    assert_eq!(exceeded(None, Some(5000)), Bound::Events(5000));
}

/// A bound also holds for runs to a moment; a bound that is not reached has no effect.
#[test]
fn bounds_of_a_run_to_a_moment() {
    let mut cluster = bounded(Some(Time::from_ms(1)), None);
    idle_away(&mut cluster);
    run_to(&mut cluster, Time::from_ms(1));
    assert!(matches!(
        cluster.run_until(Time::from_ms(5)),
        Err(Stop::Exceeded(_))
    ));
}

#[test]
fn cancelling_ends_a_run() {
    let flag = Arc::new(AtomicBool::new(false));
    let watch = Watch {
        cancel: Some(Arc::clone(&flag)),
        ..Watch::default()
    };
    let mut cluster = Cluster::new(four_nodes(), watch.clone());
    idle_away(&mut cluster);
    let node = node_of(&cluster, 1);
    cluster.spawn("cancels", async move {
        node.sleep(Time::from_ms(2)).await;
        flag.store(true, Ordering::Relaxed);
    });
    assert!(matches!(cluster.run(), Err(Stop::Cancelled)));
    assert!(cluster.now() >= Time::from_ms(2) && cluster.now() < Time::from_ms(3));

    // Another run that finds the flag set does not begin.
    let mut cluster = Cluster::new(four_nodes(), watch);
    idle_away(&mut cluster);
    assert!(matches!(cluster.run(), Err(Stop::Cancelled)));
    assert_eq!(cluster.now(), Time::ZERO);
}

/// A run's observer sees its time grow, from the start to near the end.
#[test]
fn an_observer_follows_a_run() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let times = Rc::clone(&seen);
    let watch = Watch {
        observer: Some(Observer::new(move |progress| {
            times.borrow_mut().push(progress.time);
        })),
        ..Watch::default()
    };
    let mut cluster = Cluster::new(four_nodes(), watch);
    load(&mut cluster, 1);
    run_to(&mut cluster, Time::from_ms(5));
    let seen = seen.borrow();
    assert!(seen.is_sorted() && seen[0] == Time::ZERO);
    assert!(seen.last().is_some_and(|&last| last > Time::from_ms(1)));
}

/// A process that runs without end at one moment ends the run: no event would ever occur again.
#[test]
fn a_livelock_ends_a_run() {
    let mut cluster = Cluster::new(four_nodes(), Watch::default());
    idle_away(&mut cluster);
    let node = node_of(&cluster, 1);
    cluster.spawn("circle", async move {
        node.sleep(Time::from_us(5)).await;
        let past = Signal::counted(0);
        loop {
            past.wait().await;
        }
    });
    let stop = cluster.run().unwrap_err();
    assert_eq!(
        stop.to_string(),
        "livelock at 5 us: circle runs without end, and simulated time stands still"
    );
}

/// Processes that sleep to the same moment wake in node order, then in the order of falling asleep;
/// a past moment is now.
#[test]
fn sleep() {
    let mut cluster = cluster(&four_nodes());
    let woken = log();
    for (name, number, at) in [
        ("a", 2, 7),
        ("b", 1, 7),
        ("c", 2, 7),
        ("d", 3, 5),
        ("e", 0, 0),
    ] {
        let (node, woken) = (node_of(&cluster, number), woken.clone());
        cluster.spawn(name, async move {
            node.sleep_until(Time::from_ns(at)).await;
            woken.note((name, node.now()));
            node.sleep_until(Time::ZERO).await;
            node.sleep(Time::ZERO).await;
            assert_eq!(node.now(), Time::from_ns(at));
        });
    }
    cluster.run().expect("all wake");
    let ns = Time::from_ns;
    let expected = [("e", 0), ("d", 5), ("b", 7), ("a", 7), ("c", 7)];
    assert_eq!(*woken.borrow(), expected.map(|(name, at)| (name, ns(at))));
}

/// The moment itself belongs to the run: its events, the processes' steps then, and the fabric's
/// cycle.
#[test]
fn a_run_to_a_moment_includes_it() {
    let mut cluster = cluster(&four_nodes());
    let (node, woken) = (node_of(&cluster, 0), log());
    let noted = woken.clone();
    cluster.spawn("sleeps", async move {
        for _ in 0..3 {
            node.sleep(Time::from_ns(10)).await;
            noted.note(node.now());
        }
    });
    cluster.run_until(Time::from_ps(9_999)).expect("no error");
    assert_eq!(woken.borrow().len(), 0);
    cluster.run_until(Time::from_ns(10)).expect("no error");
    assert_eq!(woken.borrow().len(), 1);
    cluster.run_until(Time::from_ns(30)).expect("no error");
    assert_eq!(*woken.borrow(), [10, 20, 30].map(Time::from_ns));

    // 0 bytes to a neighbour, over two links, and the acknowledgement back.
    let (a, b) = (node_of(&cluster, 0), node_of(&cluster, 1));
    let posted = cluster.now();
    cluster.spawn("puts", async move {
        let region = |node: &elan::Node| node.reserve(Placement::Adapter, Bytes::ZERO).start();
        let sent = a.dma(Dma::new(region(&a), region(&b), Bytes::ZERO));
        sent.await.expect("it fits");
    });
    let ready = posted + Time::from_ps(77_000 + 30_304 + 200_000 + 540_000);
    let cycle = Time::from_ns(5);
    let turnaround = four_nodes().adapter.turnaround / cycle;
    let acknowledged = cycle * (ready.div_ceil(cycle) + 22 + 8 + turnaround + 22);
    run_to(&mut cluster, acknowledged - Time::from_ps(1));
    assert_eq!(cluster.packets(), 0);
    cluster.run_until(acknowledged).expect("no error");
    assert_eq!(cluster.packets(), 1);
}

/// All links' counters.
fn counters(cluster: &Cluster) -> Vec<LinkCounters> {
    let links = LinkId::all(cluster.config().fabric.topology.links());
    links.map(|link| cluster.link(link)).collect()
}

/// A cluster's observables, except its event count.
fn observed(cluster: &Cluster) -> (String, u64, Vec<LinkCounters>, Vec<Bytes>) {
    let stored = (0..cluster.nodes()).map(|node| node_of(cluster, node).stored());
    let (digest, packets) = (cluster.digest(), cluster.packets());
    (digest, packets, counters(cluster), stored.collect())
}

/// It makes no difference where a run is interrupted; seeds make one.
#[test]
fn equal_runs_have_equal_digests() {
    let end = Time::from_us(300);
    let run = |seed, step: Time| {
        let mut cluster = cluster(&sixteen_nodes());
        load(&mut cluster, seed);
        while cluster.now() + step < end {
            let next = cluster.now() + step;
            run_to(&mut cluster, next);
        }
        run_to(&mut cluster, end);
        (observed(&cluster), cluster.events())
    };
    let whole = run(7, end);
    for step in [end, Time::from_ps(777_777), Time::from_us(5)] {
        assert_eq!(whole, run(7, step));
    }
    assert_ne!(whole.0.0, run(8, end).0.0);
}

/// All paths of one switch are alike; digests differ by a packet's source and by its destination.
#[test]
fn digests_cover_the_ends_of_packets() {
    let digest = |from: usize, to: usize| {
        let (mut cluster, nodes) = start::<4>(&four_nodes());
        let region = |number: usize| {
            let node: &elan::Node = &nodes[number];
            node.reserve(Placement::Adapter, Bytes::ZERO).start()
        };
        let dma = Dma::new(region(from), region(to), Bytes::ZERO);
        run_process(&mut cluster, nodes[from].dma(dma)).expect("it fits");
        assert_eq!(cluster.packets(), 1);
        cluster.digest()
    };
    let all: Vec<_> = [(0, 1), (0, 2), (1, 0), (1, 2)]
        .map(|(from, to)| digest(from, to))
        .into();
    for (number, one) in all.iter().enumerate() {
        assert!(!all[..number].contains(one), "{number}");
    }
}

/// Periods follow each other. A run of 1.5 ms has more than twice as many microseconds as there
/// may be periods, so that each four have become one.
#[test]
fn periods_have_one_length_and_add_up() {
    let (mut cluster, [a, b]) = start(&four_nodes());
    let size = Bytes::from_kb(64);
    let [from, to] = [&a, &b].map(|node| node.reserve(Placement::Adapter, size).start());
    let mut series = MeterSeries::new(&cluster);
    cluster.spawn("sends", async move {
        while a.now() < Time::from_us(1500) {
            a.dma(Dma::new(from, to, size)).await.expect("it fits");
        }
    });
    cluster.run_in_periods(&mut series).expect("it ends");
    let link = cluster.config().fabric.topology.injection(Place::new(0));
    let rows = series.rows().into_iter();
    let own = |row: &SeriesRow| (row.thing, row.id) == (MeterKind::Link, link.get());
    let rows: Vec<_> = rows.filter(own).collect();
    for pair in rows.windows(2) {
        let length = pair[0].end - pair[0].begin;
        assert!(
            length >= Time::from_us(4) && length < Time::from_us(8),
            "{length}"
        );
        assert_eq!(pair[0].end, pair[1].begin);
    }
    let busy: Time = rows.iter().map(|row| row.busy).sum();
    assert_eq!(busy, cluster.config().cycle * cluster.link(link).busy);
    assert_eq!(rows.last().expect("a row").end, cluster.now());
}

/// Which engine moves the flits makes no difference to adapters and processes.
#[test]
fn engines_agree() {
    let [flit, worm] = [Engine::Flit, Engine::Worm].map(|engine| {
        let mut config = sixteen_nodes();
        config.fabric.engine = engine;
        let mut cluster = cluster(&config);
        load(&mut cluster, 5);
        run_to(&mut cluster, Time::from_us(300));
        observed(&cluster)
    });
    assert_eq!(flit, worm);
}

/// A run that ends with its last process ends in the midst of worms: the counters hold that
/// moment's values, for either engine that moves the flits.
#[test]
fn counters_are_exact_where_a_run_ends() {
    let [flit, worm] = [Engine::Flit, Engine::Worm].map(|engine| {
        let mut config = sixteen_nodes();
        config.fabric.engine = engine;
        let mut cluster = cluster(&config);
        load_unawaited(&cluster);
        let mut moments = Vec::new();
        let mut stream = Stream::new(11, "moments");
        for number in 0..400 {
            let node = node_of(&cluster, number % 16);
            let pause = Time::from_ps(stream.uniform_u64(0..400_000));
            cluster.spawn("ends", async move { node.sleep(pause).await });
            cluster.run().expect("it ends");
            cluster.check_conservation();
            moments.push((cluster.now(), counters(&cluster)));
        }
        moments
    });
    for (flit, worm) in flit.into_iter().zip(worm) {
        assert_eq!(flit, worm);
    }
}

/// Packets and flits are conserved whenever one looks, on a loaded machine and on one with odd
/// times.
#[test]
fn conservation_under_load() {
    for config in [sixteen_nodes(), common::odd_machine()] {
        let mut cluster = cluster(&config);
        load(&mut cluster, 3);
        let mut packets = 0;
        for number in 1..400 {
            run_to(&mut cluster, Time::from_ps(number * 333_331));
            cluster.check_conservation();
            assert!(cluster.packets() >= packets);
            packets = cluster.packets();
        }
        assert!(packets > 500, "{packets} packets are no load");
    }
}
