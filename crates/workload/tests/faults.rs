//! What failed, and what the adapters did about it since a run's baseline.

use crate::common;

use common::{cluster, down, failing, node_of, run_process, sixteen_nodes};
use elan::faults::FaultyPart;
use elan::{Dma, Place, Placement};
use units::{Bytes, Time};
use workload::faults::recoveries;
use workload::ping::{Directions, Ping};

/// An adapter dies in the middle of a message, and comes back, before a ping between two others:
/// the fault is listed, and the ping's rows count nothing of it.
#[test]
fn recovery_counts_from_the_baseline_on() {
    let (begin, lasts) = (Time::from_us(5), Time::from_us(600));
    let part = FaultyPart::Adapter(Place::new(7));
    let faults = vec![down(part, begin, Some(lasts))];
    let mut cluster = cluster(&failing(sixteen_nodes(), faults));
    let size = Bytes::from_kb(4);
    let [from, to] = [6, 7].map(|number| node_of(&cluster, number));
    let [source, target] = [&from, &to].map(|node| node.reserve(Placement::Adapter, size).start());
    let sent = run_process(&mut cluster, from.dma(Dma::new(source, target, size)));
    sent.expect("the adapter is repaired before the source gives up");
    let before = recoveries(&cluster);
    assert!(before.timed_out > 0 && before.unreachable > 0 && before.resent > 0);

    let ping = Ping {
        from: 0,
        to: 15,
        directions: Directions::One,
        source: Placement::Adapter,
        destination: Placement::Adapter,
        message: size,
        repeats: 3,
        library: None,
    };
    let records = ping.run(cluster).expect("it ends");
    let [fault] = &records.tables.faults[..] else {
        panic!("{} faults", records.tables.faults.len())
    };
    let times = (fault.down, fault.up);
    assert_eq!(fault.part, "adapter");
    assert_eq!(times, (Some(begin), Some(begin + lasts)));
    let topology = sixteen_nodes().fabric.topology;
    let (node, switch) = topology.ends(topology.injection(Place::new(7)));
    let ends = [node, switch].map(|end| Some(topology.end_name(end)));
    assert_eq!([fault.from.clone(), fault.to.clone()], ends);
    for metric in [
        "packets_corrupted",
        "packets_unreachable",
        "packets_timed_out",
    ] {
        assert_eq!(records.values(metric), [0.0], "{metric}");
    }
    for metric in ["packets_resent", "packets_repeated", "given_up"] {
        assert_eq!(records.values(metric), [0.0], "{metric}");
    }
    assert!(records.tables.links.iter().all(|row| row.down.is_zero()));
}
