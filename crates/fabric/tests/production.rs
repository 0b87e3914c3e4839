//! The worm mover against the flit mover at work: `QsNET` machines with 64 to 1,024 nodes under
//! experiment loads, compared after every cycle.
//!
//! `ELANITE_PRODUCTION_RUNS` is the run count (3), `ELANITE_FUZZ_SEED` the first seed (0);
//! `make fuzz RUNS=100`.

mod common;

use common::lockstep::{Manner, compare};
use common::random::Case;
use common::search::{Tally, search};
use common::{CIRCUITS, high, named, packet, variable};
use fabric::{Ascent, Config, Cycle, FatTree};
use std::time::Duration;

/// The machine in the `QsNET` paper.
fn machine(levels: usize) -> Config {
    let tree = FatTree::quaternary(levels).expect("1 to 8 levels");
    Config {
        buffer: 128,
        tokens: true,
        share_burst: 32,
        ..common::machine(tree, 11)
    }
}

/// `SplitMix64`: enough to spread packets.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as u64) as usize]
    }
}

/// Where a node's packets go.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Uniform,
    /// To the node with the upper and the lower half of the address exchanged.
    Transpose,
    BitReversal,
    Complement,
    Neighbour,
    /// This part of all packets goes to node 0, in percent.
    HotSpot(u64),
}

impl Pattern {
    fn destination(self, from: u32, nodes: u32, random: &mut Random) -> u32 {
        let bits = nodes.ilog2();
        match self {
            Pattern::HotSpot(percent) if random.below(100) < percent => 0,
            Pattern::Uniform | Pattern::HotSpot(_) => random.below(nodes.into()) as u32,
            Pattern::Transpose => from >> (bits / 2) | from << (bits / 2) & (nodes - 1),
            Pattern::BitReversal => from.reverse_bits() >> (32 - bits),
            Pattern::Complement => nodes - 1 - from,
            Pattern::Neighbour => from ^ 1,
        }
    }
}

/// The paper's machine or one near it, and its work.
struct Run {
    name: String,
    case: Case,
    /// Cycles in which packets are offered.
    window: Cycle,
}

impl Run {
    fn new(number: u64) -> Self {
        let mut random = Random(number);
        // The cycle counts are such that all sizes take a similar time.
        let sizes = [(3, 40_000), (5, 6_000), (4, 16_000), (3, 40_000)];
        let (levels, window) = sizes[number as usize % sizes.len()];
        let config = machine_like(levels, number / sizes.len() as u64, &mut random);
        let pattern = random.pick(&[
            Pattern::Uniform,
            Pattern::Uniform,
            Pattern::Transpose,
            Pattern::BitReversal,
            Pattern::Complement,
            Pattern::Neighbour,
            Pattern::HotSpot(10),
            Pattern::HotSpot(100),
        ]);
        // Flits per packet, from and up to.
        let (least, most) = random.pick(&[(189, 189), (189, 189), (1, 400), (12, 12), (12, 189)]);
        let percent = 10 + random.below(91);
        let mean_gap = 50 * (least + most) / percent;
        let mut traffic = Vec::new();
        for node in 0..config.topology.nodes() {
            let mut at = random.below(2 * mean_gap);
            while at < window {
                let flits = least + random.below(most + 1 - least);
                let to = pattern.destination(node, config.topology.nodes(), &mut random);
                let spec = packet(node, to, flits as u32);
                let urgent = random.below(10) == 0;
                traffic.push((at, if urgent { high(spec) } else { spec }));
                at += 1 + random.below(2 * mean_gap);
            }
        }
        traffic.sort_by_key(|&(at, spec)| (at, spec.source));
        Run {
            name: format!(
                "run {number}: {} nodes, {:?}, {pattern:?} at {percent}% in packets of {least} to \
                {most} flits",
                config.topology.nodes(),
                config.circuit
            ),
            case: Case {
                config,
                turnaround: 40,
                traffic: named(&traffic),
                acts: Vec::new(),
            },
            window,
        }
    }
}

/// In half the runs the paper's machine with any circuit rule; in the others another parameter
/// differs.
fn machine_like(levels: usize, number: u64, random: &mut Random) -> Config {
    let mut config = machine(levels);
    config.circuit = CIRCUITS[number as usize % CIRCUITS.len()];
    match random.below(14) {
        0 => config.ascent = Ascent::Deterministic,
        1 => config.buffer = 48,
        2 => (config.tokens, config.share_burst) = (false, 0),
        3 => config.hop_delay = (0..levels as u32).map(|level| 7 + 4 * level).collect(),
        4 => (config.age_bits, config.age_cap) = (8, 2_000),
        5 => (config.channels, config.packets_in_flight) = (4, 4),
        6 => config.priorities = true,
        _ => (),
    }
    config
}

fn run(number: u64) -> Result<Tally, String> {
    let Run { name, case, window } = Run::new(number);
    let manner = Manner {
        stride: 1,
        reversed: number % 2 == 1,
        patience: window,
    };
    let tally = compare(&case, &manner).map_err(|difference| {
        format!(
            "{name}, {manner}\n{difference}\n\
            to see it again: ELANITE_FUZZ_SEED={number} ELANITE_PRODUCTION_RUNS=1 \
             cargo test --release -p elanite-fabric --test production -- --ignored"
        )
    })?;
    println!("{name}: {} done in {} cycles", tally.packets, tally.cycles);
    Ok(tally)
}

#[test]
#[ignore = "seconds a run"]
fn both_movers_make_the_same_motion_at_work() {
    let first = variable("ELANITE_FUZZ_SEED").unwrap_or(0);
    let runs = variable("ELANITE_PRODUCTION_RUNS").unwrap_or(3);
    // Flit by flit, a hot spot on 1,024 nodes takes more than a quarter of an hour: that is not a
    // hang.
    let longest = Duration::from_secs(3600);
    search(first, runs, Duration::MAX, longest, run);
}
