//! The library tests' common parts: machines, and places where processes leave their results.
#![allow(dead_code, unused_imports)] // each test file uses a part

use elan::{Cluster, Config, DmaError, ElanAddr, NodeId, ProcessId, Stop};
use fabric::FatTree;
use libelan::elan::group::Group;
use libelan::{Pe, ProcessJob};
use rails::Kind;
use units::{Bytes, Time};

#[path = "../../../elan/tests/common/machines.rs"]
mod machines;
pub use machines::*;

/// The second generation's shipped machine, on the given tree.
pub fn opteron(tree: FatTree) -> Config {
    let file = include_str!("../../../../machines/opteron-qsnet2.toml");
    machine_on(file, tree.into())
}

/// The same machine with several rails, and a policy to pick them.
pub fn with_rails(config: &Config, rails: u32, policy: Kind, striping: f64) -> Config {
    let mut config = config.clone();
    let topology = config.fabric.topology.with_rails(rails);
    config.fabric.topology = topology.expect("a few rails");
    config.rails = Some(rails::Config {
        status: rails::Status::Exact,
        choice: rails::Choice::Sent,
        policy,
        striping,
        threshold: Bytes::from_kb(8),
        handle: 200,
        poll: Time::from_us(1),
        avoidance: true,
    });
    config
}

/// Runs a program on a job's processes on 16 nodes, to the end.
pub fn run(job: &ProcessJob, program: impl AsyncFn(Pe) + 'static) {
    run_on(&sixteen_nodes(), job, program);
}

/// The same on the given machine; returns the cluster after it.
pub fn run_on(config: &Config, job: &ProcessJob, program: impl AsyncFn(Pe) + 'static) -> Cluster {
    let (cluster, end) = play(config, job, program);
    end.unwrap_or_else(|stop| panic!("{stop}"));
    cluster
}

/// The same for a program that may come to no end.
pub fn play(
    config: &Config,
    job: &ProcessJob,
    program: impl AsyncFn(Pe) + 'static,
) -> (Cluster, Result<(), Stop>) {
    let mut cluster = cluster(config);
    let launched = job.launch(&mut cluster, program);
    launched.expect("the nodes are there");
    let end = cluster.run();
    cluster.check_conservation();
    (cluster, end)
}

/// A broadcast, by hardware or software.
pub async fn broadcast(
    group: &Group,
    hardware: bool,
    at: ElanAddr,
    size: Bytes,
    root: u32,
) -> Result<(), DmaError> {
    if hardware {
        group.hbcast(at, size, root).await
    } else {
        group.bcast(at, size, root).await
    }
}

/// A process's memory, allocated by itself.
pub fn alloc(pe: &Pe, adapter: bool, size: Bytes) -> ElanAddr {
    let allocated = if adapter {
        pe.elan3().alloc_elan(64, size)
    } else {
        pe.elan3().alloc_main(64, size)
    };
    allocated.expect("there is room")
}

/// Stores bytes in a process's memory.
pub fn store(pe: &Pe, at: ElanAddr, bytes: &[u8]) {
    pe.elan3().store(at, bytes).expect("it is mapped");
}

/// Bytes in a process's memory.
pub fn load(pe: &Pe, at: ElanAddr, size: Bytes) -> Box<[u8]> {
    pe.elan3().load(at, size).expect("it is mapped")
}

/// Processes at some nodes, by their numbers.
pub fn job(nodes: &[u32]) -> ProcessJob {
    job_of(nodes, 1)
}

/// So many processes at each given node.
pub fn job_of(nodes: &[u32], pes: u32) -> ProcessJob {
    let nodes = nodes.iter().copied().map(NodeId::new);
    ProcessJob::new("test", nodes, pes).expect("there are nodes")
}

/// A process's number.
pub fn me(pe: &Pe) -> u32 {
    pe.vp().get()
}

/// A process, by its number.
pub fn pid(number: u32) -> ProcessId {
    ProcessId::new(number)
}

/// So many bytes.
pub fn b(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

/// Some main memory with bytes that identify its owner.
pub fn filled(pe: &Pe, seed: u64, length: u64) -> ElanAddr {
    let at = pe.elan3().alloc_main(64, b(length)).unwrap();
    store(pe, at, &pattern(seed, length));
    at
}

pub fn assert_holds(pe: &Pe, at: ElanAddr, seed: u64, length: u64) {
    assert_eq!(load(pe, at, b(length))[..], pattern(seed, length));
}

/// Composes vectors of maps `x -> a x + b` on 32-bit numbers: associative, not commutative.
pub fn compose(first: &[u8], then: &mut [u8]) {
    let map = |bytes: &[u8]| {
        let part = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        (part(0), part(4))
    };
    for (first, then) in first.chunks(8).zip(then.chunks_mut(8)) {
        let ((a, b), (c, d)) = (map(first), map(then));
        let (a, b) = (c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(d));
        then[..4].copy_from_slice(&a.to_le_bytes());
        then[4..].copy_from_slice(&b.to_le_bytes());
    }
}
