//! What the tests of the adapter share: machines, and places where processes leave their results.
#![allow(dead_code)] // each test file uses a part

use elan::{
    AdapterConfig, BusConfig, Cluster, Config, GroupConfig, HostConfig, PacketFormat, TportConfig,
    Watch,
};
use fabric::{Arbitration, Ascent, Broadcast, Circuit, FatTree, Multiplexing};
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use units::{Bytes, Rate, Time};

/// The machine of the `QsNET` paper, on a tree of choice.
pub fn machine(tree: FatTree) -> Config {
    Config {
        fabric: fabric::Config {
            engine: fabric::Engine::Worm,
            hop_delay: vec![11; tree.levels()],
            tree,
            channels: 2,
            buffer: 128,
            packets_in_flight: 2,
            circuit: Circuit::UntilAcknowledged,
            ascent: Ascent::Adaptive,
            arbitration: Arbitration::Age,
            multiplexing: Multiplexing::OldestFirst,
            age_cap: 14_000,
            age_step: 1,
            priorities: true,
            broadcast: Broadcast::Serialised,
            combine: 0,
            tokens: true,
            share_period: 185,
            share_burst: 32,
        },
        cycle: Time::from_ns(5),
        packet: PacketFormat {
            payload: Bytes::new(320),
            transaction: Bytes::new(64),
            header: Bytes::new(8),
            transaction_overhead: Bytes::new(10),
            flit: Bytes::new(2),
        },
        adapter: AdapterConfig {
            turnaround: Time::from_ns(200),
            command: Time::from_ns(200),
            dma_start: Time::from_ns(540),
            input: Time::from_ns(200),
            event: Time::from_ns(200),
            poll: Time::from_ns(200),
            time_slice: Bytes::from_kb(8),
            queue: 1024,
            input_buffers: 2,
            retries: 8,
            retry_delay: Time::from_us(1),
            trap_delay: Time::from_ms(1),
            memory: Bytes::from_mb(64),
            interrupt: Time::from_us(5),
            thread_cycle: Time::from_ns(10),
            thread_switch: 30,
            thread_issue: 10,
        },
        bus: BusConfig {
            rate: Rate::from_mb_per_second(264),
            burst: Bytes::new(64),
            burst_overhead: Time::from_ns(77),
            turnaround: Time::from_ns(80),
        },
        host: HostConfig {
            call: Time::from_ns(250),
            copy: Rate::from_mb_per_second(600),
            shared: Time::from_ns(500),
        },
        tport: TportConfig {
            handle: 168,
            scan: 12,
            small: Bytes::new(288),
            big: Bytes::from_kb(16),
            slots: 64,
            buffer: Bytes::from_kb(512),
            system: Bytes::from_mb(4),
        },
        group: GroupConfig {
            branching: 4,
            broadcast: 203,
        },
    }
}

/// One switch with four nodes.
pub fn four_nodes() -> Config {
    machine(FatTree::quaternary(1).expect("4 nodes"))
}

/// 16 nodes in two levels.
pub fn sixteen_nodes() -> Config {
    machine(FatTree::quaternary(2).expect("16 nodes"))
}

/// 64 nodes in three levels, and parameters of which none is a multiple of another.
pub fn odd_machine() -> Config {
    let mut config = machine(FatTree::quaternary(3).expect("64 nodes"));
    config.fabric.hop_delay = vec![3, 7, 12];
    config.cycle = Time::from_ps(4_999);
    let ps = Time::from_ps;
    config.adapter = AdapterConfig {
        turnaround: ps(61_003),
        command: ps(101_111),
        dma_start: ps(301_017),
        input: ps(70_001),
        event: ps(50_021),
        poll: ps(40_009),
        interrupt: ps(3_100_007),
        thread_cycle: ps(7_013),
        ..config.adapter
    };
    config.bus = BusConfig {
        rate: Rate::from_bytes_per_second(263_999_977),
        burst: Bytes::new(24),
        burst_overhead: ps(60_013),
        turnaround: ps(30_011),
    };
    config
}

/// A cluster without bounds.
pub fn cluster(config: &Config) -> Cluster {
    Cluster::new(config.clone(), Watch::default())
}

/// What processes leave for the test; clones are the same log.
pub struct Log<T>(Rc<RefCell<Vec<T>>>);

pub fn log<T>() -> Log<T> {
    Log(Rc::new(RefCell::new(Vec::new())))
}

impl<T> Log<T> {
    pub fn note(&self, value: T) {
        self.0.borrow_mut().push(value);
    }

    pub fn borrow(&self) -> Ref<'_, Vec<T>> {
        self.0.borrow()
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Log(Rc::clone(&self.0))
    }
}

/// Bytes that tell where they come from.
pub fn pattern(seed: u64, length: u64) -> Vec<u8> {
    (0..length)
        .map(|index| (seed * 151 + index * 31 + index / 256 + 1) as u8)
        .collect()
}
