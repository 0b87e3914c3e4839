//! Measurements made a second time, by a program of the test or on paper: MPI ping, overlap with
//! computation, a saturation point, and the goodput over links with bit errors.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use crate::common;

use common::{cluster, failing, four_nodes, logs, sixteen_nodes};
use elan::faults::{FaultTiming, FaultyPart, Links};
use elan::{Cluster, NodeId, Placement};
use libelan::{Pe, ProcessJob};
use units::{Bytes, Rate, Time};
use workload::goodput::Goodput;
use workload::overlap::Overlap;
use workload::ping::{Directions, Library, Ping};
use workload::saturation::Search;
use workload::{Distribution, Job, Pattern, Records, Traffic, Window};

/// The times of `rounds` rounds of two processes; the first one, which finds the machine in another
/// state, does not count. A round of one direction is timed by the first process, as two messages.
fn rounds(ping: Ping) -> Vec<Time> {
    let [found, noted] = logs();
    let job = ProcessJob::at("by hand", [ping.from, ping.to].map(NodeId::new)).unwrap();
    let mut cluster = cluster(&sixteen_nodes());
    let launched = job.launch(&mut cluster, async move |pe: Pe| {
        let (mpi, size, me) = (pe.mpi(), ping.message, pe.vp().get());
        let map = |placement| match placement {
            Placement::Adapter => pe.elan3().alloc_elan(64, size).unwrap(),
            Placement::Main => pe.elan3().alloc_main(64, size).unwrap(),
        };
        let (from, to) = (map(ping.source), map(ping.destination));
        for round in 0..=ping.repeats {
            let begin = pe.now();
            if ping.directions == Directions::Both {
                let (receive, send) = (
                    mpi.irecv(1 - me, 5, to, size),
                    mpi.isend(1 - me, 5, from, size),
                );
                mpi.wait(send).await.unwrap();
                mpi.wait(receive).await.unwrap();
            } else if me == 0 {
                mpi.send(1, 5, from, size).await.unwrap();
                mpi.recv(1, 5, to, size).await.unwrap();
            } else {
                mpi.recv(0, 5, to, size).await.unwrap();
                mpi.send(0, 5, from, size).await.unwrap();
            }
            let messages = if ping.directions == Directions::Both {
                1
            } else {
                2
            };
            if round > 0 && me < 3 - messages as u32 {
                noted.note((pe.now() - begin) / messages);
            }
        }
    });
    launched.unwrap();
    cluster.run().expect("it ends");
    found.borrow().clone()
}

#[test]
fn mpi_ping() {
    for directions in [Directions::One, Directions::Both] {
        for (source, destination) in [
            (Placement::Main, Placement::Main),
            (Placement::Main, Placement::Adapter),
            (Placement::Adapter, Placement::Main),
        ] {
            for (message, repeats) in [(0, 1), (40, 3), (5000, 2)] {
                let ping = Ping {
                    from: 9,
                    to: 2,
                    directions,
                    source,
                    destination,
                    message: Bytes::new(message),
                    repeats,
                    library: Some(Library::Mpi),
                };
                let times = rounds(ping);
                let all: Time = times.iter().sum();
                let records = ping.run(cluster(&sixteen_nodes())).expect("it ends");
                let latency = all.as_us_f64() / times.len() as f64;
                assert_eq!(records.value("latency"), latency, "{ping:?}");
                let bytes = ping.message * times.len() as u64;
                assert_eq!(records.value("bandwidth"), Rate::of(bytes, all), "{ping:?}");
            }
        }
    }
}

fn overlap(message: u64, compute: Time, repeats: u32) -> Records {
    let overlap = Overlap {
        from: 1,
        to: 7,
        message: Bytes::new(message),
        compute,
        repeats,
    };
    overlap.run(cluster(&sixteen_nodes())).expect("it ends")
}

/// The phases are those that the worker's program has: two calls, the computation, and, if that is
/// longer than the messages, the end of the receive.
#[test]
fn phases_of_overlap() {
    let host = sixteen_nodes().host;
    let calls = (host.call + host.request) * 2;
    for (message, repeats) in [(8, 1), (20_000, 3)] {
        for compute in [Time::from_ms(1), Time::from_ms(3)] {
            let records = overlap(message, compute, repeats);
            let value = |metric| records.value(metric);
            assert_eq!(value("call"), calls.as_us_f64());
            assert_eq!(value("compute_phase"), compute.as_us_f64());
            assert_eq!(value("wait"), host.call.as_us_f64());
            let round = calls + compute + host.call;
            assert_eq!(value("round"), round.as_us_f64());
            assert_eq!(value("over"), 1.0);
            // Both ways, in the measured rounds and in one more.
            let messages = 2 * (u64::from(repeats) + 1);
            let alone = overlap(message, compute, 1).packets / 4;
            assert_eq!(records.packets, messages * alone);
            let share = compute.as_us_f64() / round.as_us_f64();
            assert!((value("availability") / share - 1.0).abs() < 1e-12);
            let bandwidth = 2.0 * message as f64 / round.as_us_f64();
            assert!((value("bandwidth") / bandwidth - 1.0).abs() < 1e-12);
        }
        let none = overlap(message, Time::ZERO, repeats);
        assert_eq!((none.value("over"), none.value("availability")), (0.0, 0.0));
        let round = none.value("call") + none.value("wait");
        assert!((none.value("round") / round - 1.0).abs() < 1e-12);
        assert!(none.value("wait") > host.call.as_us_f64());
    }
}

/// Three nodes that send to the fourth.
fn hot_spot(load: Rate) -> Traffic {
    let node = NodeId::new;
    let job = Job {
        name: "hot".into(),
        nodes: (0..4).map(node).collect(),
        pattern: Pattern::Pairs((1..4).map(|from| (node(from), node(0))).collect()),
        servers: Vec::new(),
        message: Bytes::from_kb(2),
        sizes: Distribution::Fixed,
        arrivals: Distribution::Fixed,
        source: None,
        load,
        writes: 1.0,
        memory: Placement::Adapter,
        processes: 1,
        traffic_class: 0,
    };
    Traffic {
        jobs: vec![job],
        failure: None,
    }
}

/// A hot spot saturates at a third of its link. The result's rows are those of the greatest load
/// that was not saturated, and the load found is the least that was.
#[test]
fn the_saturation_of_a_hot_spot() {
    let mb = Rate::from_mb_per_second;
    let window = Window {
        warm_up: Time::from_us(200),
        length: Time::from_ms(2),
        batches: 1,
        slices: 0,
        watch: Time::ZERO,
        precision: None,
    };
    let made = || cluster(&four_nodes());
    let at = |load: Rate| hot_spot(load).run(made(), window, 1).expect("it ends");
    let search = |lowest, highest, resolution| {
        let search = Search {
            highest,
            resolution,
        };
        let records = search
            .run(&hot_spot(lowest), made, window, 1)
            .expect("it ends");
        let rows = records.tables.rows.len();
        let load = records.value("saturation");
        let others = records.tables.rows[..rows - 1].to_vec();
        (load, others)
    };
    let (load, rows) = search(mb(20), mb(340), 0.05);
    // 20 to 340 MB/s, halved until no longer than 17 MB/s.
    let step = 10.0;
    let below = at(mb((load - step) as u64));
    assert_eq!(rows, below.tables.rows);
    assert_eq!(below.value("saturated"), 0.0);
    assert_eq!(at(mb(load as u64)).value("saturated"), 1.0);
    // A link carries 400 MB/s, of which packets leave 320 bytes in 378.
    let third = 400.0 * 320.0 / 378.0 / 3.0;
    assert!(
        load > third * 0.8 && load < third * 1.1 + step,
        "{load} of {third} MB/s"
    );
    // Ends that do not enclose the point.
    let (load, rows) = search(mb(20), mb(40), 0.5);
    assert_eq!((load, rows), (40.0, at(mb(40)).tables.rows));
    let (load, rows) = search(mb(200), mb(240), 0.5);
    assert_eq!((load, rows), (200.0, at(mb(200)).tables.rows));
}

/// A cluster with bit errors at the levels where a rate is given.
fn damaged(rates: [f64; 2]) -> Cluster {
    let on = |level| {
        FaultyPart::Links(Links {
            level: Some(level),
            rail: None,
            some: None,
        })
    };
    let fault = |level: usize| elan::faults::Fault {
        part: on(level),
        when: FaultTiming::BitErrors(rates[level]),
    };
    let levels = (0..2).filter(|&level| rates[level] > 0.0);
    cluster(&failing(sixteen_nodes(), levels.map(fault).collect()))
}

/// The goodput over links with errors, from the time without and the attempts' ends, one by one.
#[test]
fn goodput_over_links_with_errors() {
    let (near, far) = (vec![0, 0], vec![0, 1, 1, 0]);
    for (to, path, rates) in [
        (3, near, [3e-5, 7e-5]),
        (15, far.clone(), [3e-5, 7e-5]),
        (15, far, [3e-5, 0.0]),
    ] {
        let goodput = Goodput {
            from: 0,
            to,
            message: Bytes::new(64),
        };
        let whole = goodput.run(&cluster(&sixteen_nodes())).expect("it ends");
        let alone = 64.0 / whole.value("accepted");
        let cluster = damaged(rates);
        let config = cluster.config();
        let (adapter, cycle) = (&config.adapter, config.cycle.as_us_f64());
        let network = config.fabric.faults.as_ref().expect("it has faults");
        // A header of 8 bytes, one block of 64 with 10 more, 2 bytes a flit.
        let flits = 41;
        let bits = flits * network.flit_bits;
        let (header, token) = (network.header_bits, network.token_bits);
        let right = |level: usize, bits: u32| f64::powf(1.0 - rates[level], bits.into());
        let faults = config.faults.as_ref().expect("it has faults");
        let lost = (faults.timeout + faults.backoff).as_us_f64();
        let (mut reaches, mut heard, mut delay, mut added) = (1.0, 1.0, 0.0, 0.0);
        for (link, &level) in path.iter().enumerate() {
            heard *= right(level, token);
            delay += f64::from(config.fabric.hop_delay[level]);
            let last = link + 1 == path.len();
            let passes = if last {
                let before = path[..link].iter();
                let body: f64 = before.map(|&level| right(level, bits - header)).product();
                body * right(level, bits)
            } else {
                right(level, header)
            };
            let answers = if last { adapter.turnaround } else { Time::ZERO };
            let again = (adapter.retry_delay + answers).as_us_f64();
            let refused = cycle * (2.0 * delay + f64::from(flits) - 1.0) + again;
            added += reaches * (1.0 - passes) * (heard * refused + (1.0 - heard) * lost);
            reaches *= passes;
        }
        added += reaches * (1.0 - heard) * lost;
        let expected = 64.0 / (alone + added / (reaches * heard));
        let found = goodput.run(&cluster).expect("it ends").value("accepted");
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        assert!(found < 64.0 / alone, "errors take time");
    }
}
