//! Watched circuits: a packet alone on the network takes its links one hop delay after another.

use crate::common;

use common::{cluster, sixteen_nodes};
use elan::{NodeId, Placement};
use units::{Bytes, Rate, Time};
use workload::{CircuitRow, Distribution, Job, Pattern, Traffic, Window};

const WARM_UP: Time = Time::from_us(100);
const WATCH: Time = Time::from_us(50);

/// Node 0 sends one packet after the other to node 15, so slowly that each is alone.
fn watched(watch: Time) -> Vec<CircuitRow> {
    let job = Job {
        name: "pair".into(),
        nodes: [0, 15].map(NodeId::new).to_vec(),
        pattern: Pattern::Pairs(vec![(NodeId::new(0), NodeId::new(15))]),
        servers: Vec::new(),
        message: Bytes::new(320),
        sizes: Distribution::Fixed,
        arrivals: Distribution::Fixed,
        source: None,
        load: Rate::from_mb_per_second(32),
        writes: 1.0,
        memory: Placement::Adapter,
        processes: 1,
        traffic_class: 0,
    };
    let window = Window {
        warm_up: WARM_UP,
        length: WATCH * 2,
        batches: 1,
        slices: 0,
        watch,
        precision: None,
    };
    let traffic = Traffic {
        jobs: vec![job],
        failure: None,
    };
    let records = traffic.run(cluster(&sixteen_nodes()), window, 1);
    records.expect("it ends").tables.circuits
}

#[test]
fn a_packet_alone_takes_its_links_in_turn() {
    let cluster = cluster(&sixteen_nodes());
    let config = cluster.config();
    let rows = watched(WATCH);
    // A message of 320 bytes in 10 us, and two levels up and down: four links.
    let packets: Vec<u32> = rows.iter().map(|row| row.sequence).collect();
    let first = packets.iter().min().expect("packets in the watched time");
    let last = packets.iter().max().expect("packets in the watched time");
    assert!((4..=6).contains(&(last - first + 1)), "{packets:?}");
    for packet in first + 1..*last {
        let of_packet = rows.iter().filter(|row| row.sequence == packet);
        let mut way: Vec<&CircuitRow> = of_packet.collect();
        way.sort_by_key(|row| row.hop);
        assert_eq!(way.len(), 4, "{way:?}");
        let mut due = None;
        for (hop, row) in (0..).zip(&way) {
            assert_eq!((row.hop, row.source, row.rail), (hop, 0, 0));
            assert_eq!((row.first, row.last), (15, 15));
            let (opened, head) = (row.opened.expect("it"), row.head.expect("it"));
            assert!(WARM_UP <= head && head <= WARM_UP + WATCH, "{row:?}");
            assert!(row.waits <= opened && opened <= head, "{row:?}");
            assert!(Some(head) < row.closed, "{row:?}");
            assert_eq!(due.unwrap_or(head), head, "{way:?}");
            let topology = &config.fabric.topology;
            let level = topology.link_level(fabric::id::LinkId::new(row.link));
            due = Some(head + config.cycle * u64::from(config.fabric.hop_delay[level]));
        }
        let (end, acknowledged) = (way[3].delivered, way[3].acknowledged);
        assert!(end.is_some() && end < acknowledged, "{way:?}");
    }
}

#[test]
fn nothing_is_kept_without_a_watched_time() {
    assert_eq!(watched(Time::ZERO), []);
}
