//! A process at several rails' adapters: each reaches its main memory, as its ranges permit, and no
//! other memory.

use crate::common;

use common::{four_nodes, run_process};
use elan::{Cluster, Dma, DmaError, Node, NodeId, Permissions, Placement, Rail, Reason, Watch};
use units::Bytes;

const SIZE: Bytes = Bytes::new(5000);
const BESIDE: Rail = Rail::new(1);

/// A job's two processes on two nodes, on the second of two rails as well.
fn two(cluster: &Cluster) -> [(Node, Node); 2] {
    let places = cluster
        .attach(cluster.capability(), [0, 3].map(NodeId::new))
        .expect("there are contexts");
    let beside = |one: &Node| (one.clone(), one.beside(BESIDE).expect("there are contexts"));
    [beside(&places[0]), beside(&places[1])]
}

fn start() -> Cluster {
    let mut config = four_nodes();
    config.fabric.topology = config.fabric.topology.with_rails(2).expect("two rails");
    Cluster::new(config, Watch::default())
}

fn reason(result: Result<(), DmaError>) -> Reason {
    match result {
        Err(DmaError::Fault(fault)) => fault.reason,
        other => panic!("{other:?}"),
    }
}

/// A put or get on rail 1 moves bytes in main memory, at the same addresses; rail 0's links stay
/// idle.
#[test]
fn main_memory_is_that_of_the_process() {
    let mut cluster = start();
    let [(from, from_beside), (to, to_beside)] = two(&cluster);
    assert_eq!(from_beside.rail_and_node(), (BESIDE, NodeId::new(0)));
    let source = from.allocate(Placement::Main, SIZE);
    let target = to.allocate(Placement::Main, SIZE);
    let back = from.allocate(Placement::Main, SIZE);
    let bytes: Vec<u8> = (0..SIZE.as_u64()).map(|byte| byte as u8).collect();
    from.write(source, &bytes);
    run_process(&mut cluster, async move {
        let [source, target, back] = [source, target, back].map(|one| one.start().elan);
        let put = Dma::new(from_beside.at(source), to_beside.at(target), SIZE);
        from_beside.dma(put).await.unwrap();
        let get = Dma::new(to_beside.at(target), from_beside.at(back), SIZE);
        from_beside.dma(get).await.unwrap();
        assert_eq!(from.load(from.at(back), SIZE).unwrap()[..], bytes);
        assert_eq!(to.load(to.at(target), SIZE).unwrap()[..], bytes);
    });
    let tree = cluster.config().fabric.topology;
    let place = |rail: u32, node: u32| tree.place(rail.into(), node.into());
    let packets = |rail, node| cluster.link(tree.injection(place(rail, node))).packets;
    assert_eq!([packets(0, 0), packets(0, 3)], [0, 0]);
    assert!(packets(1, 0) > 0 && packets(1, 3) > 0);
}

#[test]
#[should_panic(expected = "the machine has no rail 2")]
fn a_rail_that_the_machine_lacks_is_refused() {
    let cluster = start();
    let [(process, _), _] = two(&cluster);
    let _ = process.beside(Rail::new(2));
}

/// Only its own adapter reaches adapter memory, permissions count on all rails, and other jobs stay
/// outside.
#[test]
fn what_is_refused() {
    let mut cluster = start();
    let [(from, from_beside), (to, to_beside)] = two(&cluster);
    let [(stranger, _), _] = two(&cluster);
    let source = from.allocate(Placement::Main, SIZE).start().elan;
    let near = from.allocate(Placement::Adapter, SIZE).start().elan;
    let target = to.allocate(Placement::Main, SIZE).start().elan;
    let far = to.allocate(Placement::Adapter, SIZE).start().elan;
    run_process(&mut cluster, async move {
        let put =
            async |from: elan::Address, to| reason(from_beside.dma(Dma::new(from, to, SIZE)).await);
        let at = (from_beside.at(source), to_beside.at(target));
        assert_eq!(put(from_beside.at(near), at.1).await, Reason::Unmapped);
        assert_eq!(put(at.0, to_beside.at(far)).await, Reason::Unmapped);
        to.protect(target, SIZE, Permissions::LOCAL).unwrap();
        assert_eq!(put(at.0, at.1).await, Reason::Forbidden);
        let intruder = stranger.beside(BESIDE).unwrap();
        let memory = stranger.allocate(Placement::Main, SIZE).start().elan;
        let dma = Dma::new(intruder.at(memory), at.1, SIZE);
        assert_eq!(reason(intruder.dma(dma).await), Reason::Stranger);
        // The process is gone, on all rails.
        to.detach();
        assert_eq!(put(at.0, at.1).await, Reason::NoContext);
    });
}
