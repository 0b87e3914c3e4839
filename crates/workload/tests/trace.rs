//! Replays of generated patterns: their figures are per call, for any call count.

use crate::common;

use common::{cluster, sixteen_nodes};
use elan::NodeId;
use goal::pattern::{Calls, CollectivePattern};
use workload::{Records, Replay};

/// An operation by 8 processes, with 8 KB vectors.
fn run(pattern: CollectivePattern, calls: u32) -> Records {
    let replay = Replay {
        nodes: NodeId::all(8).collect(),
        processes: 1,
        calls: Calls {
            pattern,
            ranks: 8,
            group: 8,
            size: 8 << 10,
            calls,
        },
    };
    replay.run(cluster(&sixteen_nodes())).expect("it ends")
}

/// Several calls take longer than one, and each call among several takes about as long. Bandwidth
/// is a rank's bytes to send per call over the latency: 2 (p - 1) / p of the vector in a ring, and
/// a vector for each other rank in an all-to-all.
#[test]
fn latency_and_bandwidth_are_those_of_a_call() {
    for (pattern, bytes) in [
        (CollectivePattern::AllReduceRing, 2.0 * 7.0 / 8.0 * 8192.0),
        (CollectivePattern::AllToAll, 7.0 * 8192.0),
    ] {
        let [one, five] = [1, 5].map(|calls| run(pattern, calls));
        for records in [&one, &five] {
            let found = records.value("bandwidth") * records.value("latency");
            assert!((found / bytes - 1.0).abs() < 1e-9, "{found} bytes");
        }
        assert!(five.simulated > one.simulated * 4);
        let share = five.value("latency") / one.value("latency");
        assert!((share - 1.0).abs() < 0.1, "{pattern:?}: {share}");
    }
}
