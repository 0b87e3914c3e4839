//! Large machines: many nodes, many rails and many processes.

use crate::common::multirail::multirail;
use crate::common::{run_process, settle};
use elan::{Cluster, NodeId, Placement, Rail, Watch};
use fabric::FatTree;
use rails::Rails;
use rails::policies::DYNAMIC;
use typed_index_collections::TiVec;
use units::Bytes;

/// 128 nodes on as many rails as there can be, and 4,096 on two: set up, and a message from the
/// first to the last one, over all rails.
#[test]
fn many_nodes_and_many_rails() {
    for (down, up, rails) in [(vec![4, 4, 8], vec![4, 4], 31), (vec![4; 6], vec![4; 5], 2)] {
        let mut config = multirail(2, 2, DYNAMIC);
        let nodes = down.iter().product();
        let tree = FatTree::new(&down, &up, nodes);
        let trees = tree.and_then(|tree| tree.with_rails(rails));
        config.fabric.topology = trees.expect("there are such trees").into();
        config.fabric.hop_delay = vec![config.fabric.hop_delay[0]; down.len()];
        let mut cluster = Cluster::new(config, Watch::default());
        let all = Rails::new(&cluster).expect("there is memory for the threads");
        let capability = cluster.capability();
        let size = Bytes::new(31 * 100);
        let place = |node| {
            let attach = |rail| cluster.adapter(rail, node).attach(capability);
            let adapters = Rail::all(rails).map(|rail| attach(rail).expect("the first program"));
            let adapters: TiVec<_, _> = adapters.collect();
            let buffer = adapters
                .iter()
                .map(|adapter| adapter.reserve(Placement::Main, size));
            let buffers = buffer.collect();
            all.attach(adapters, buffers)
        };
        let (from, to) = (place(NodeId::new(0)), place(NodeId::new(nodes - 1)));
        let mut process = all.process(NodeId::new(0), 0);
        let meter = cluster.meter();
        run_process(&mut cluster, async move {
            let end = process.put(&from, &to, size, Some(meter)).await;
            end.expect("nothing fails");
        });
        // It is acknowledged before all its bytes have crossed the bus.
        settle(&mut cluster);
        assert_eq!(cluster.metered(meter), size);
        assert_eq!(all.reserved(), 0);
    }
}
