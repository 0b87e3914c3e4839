//! The adapter tests' common parts: machines, and places where processes leave their results.
#![allow(dead_code, unused_imports)] // each test file uses a part

use elan::{AdapterConfig, Address, BusConfig, Config, Placement, Transaction};
use fabric::FatTree;
use units::{Bytes, Rate, Time};

mod machines;
pub use machines::*;

/// 64 nodes in three levels, and parameters that are no multiples of each other.
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
        ..config.bus
    };
    config
}

/// Stores a word at an address in the process that a packet goes to.
pub fn write(to: Address, word: u64) -> Transaction {
    let to = to.elan;
    Transaction::Write { to, word }
}

/// Adds 1 to a word at an address in the process that a packet goes to.
pub fn add_one(to: Address) -> Transaction {
    let (to, word) = (to.elan, 1);
    Transaction::Add { to, word }
}

/// Sources and destinations in all memory kinds.
pub const PLACEMENTS: [(Placement, Placement); 4] = [
    (Placement::Adapter, Placement::Adapter),
    (Placement::Adapter, Placement::Main),
    (Placement::Main, Placement::Adapter),
    (Placement::Main, Placement::Main),
];

/// A packet's flits: an 8-byte header, 10 for each transaction up to 64, 2 bytes a flit.
pub fn flits(payload: u64) -> u64 {
    (8 + 10 * payload.div_ceil(64).max(1) + payload).div_ceil(2)
}

/// Time on the bus without a turn: each burst costs its overhead, and its bytes at the bus's rate.
pub fn bursts(bus: &BusConfig, bytes: u64) -> Time {
    let mut time = Time::ZERO;
    let mut left = bytes;
    while left > 0 {
        let burst = left.min(bus.burst.as_u64());
        time += bus.burst_overhead + bus.rate.time(Bytes::new(burst));
        left -= burst;
    }
    time
}
