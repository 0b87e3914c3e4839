//! Packets per second of processor time of one mover: 64 nodes of `QsNET`, uniform traffic, packets of 189 flits.
//!
//! `cargo run --release -p elanite-fabric --example speed -- worm|flit [levels] [packets] [load] [plain]`
//!
//! `load` is the part of the link rate that is offered, 1 and more keeps all adapters backlogged; `plain` leaves out
//! tokens and the sharing of adapters.

use fabric::{
    Ack, Arbitration, Ascent, Circuit, Config, Engine, Fabric, FatTree, Multiplexing, Notice,
    PacketSpec, Priority,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

const FLITS: u32 = 189;
const TURNAROUND: u64 = 40;

fn machine(levels: usize, engine: Engine, plain: bool) -> Config {
    Config {
        tree: FatTree::quaternary(levels).expect("1 to 8 levels"),
        hop_delay: vec![11; levels],
        channels: 2,
        buffer: 128,
        packets_in_flight: 2,
        circuit: Circuit::UntilAcknowledged,
        ascent: Ascent::Adaptive,
        arbitration: Arbitration::Age,
        multiplexing: Multiplexing::OldestFirst,
        age_cap: 14_000,
        age_step: 1,
        priorities: false,
        tokens: !plain,
        share_period: 185,
        share_burst: if plain { 0 } else { 32 },
        engine,
    }
}

/// A xorshift generator: enough to spread packets.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn packet(&mut self, source: u32, nodes: u32) -> PacketSpec {
        PacketSpec {
            source,
            destination: self.below(nodes.into()) as u32,
            flits: FLITS,
            priority: Priority::Low,
            token: 0,
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, usual: f64| {
        words
            .get(place)
            .map_or(usual, |word| word.parse().expect("a number"))
    };
    let engine = match words.first().map_or("worm", String::as_str) {
        "flit" => Engine::Flit,
        _ => Engine::Worm,
    };
    let (levels, wanted, load) = (
        number(1, 3.0) as usize,
        number(2, 2e5) as u64,
        number(3, 1.0),
    );
    let plain = words.iter().any(|word| word == "plain");
    let mut fabric = Fabric::new(machine(levels, engine, plain));
    let nodes = fabric.tree().nodes();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut notices = Vec::new();
    // When each adapter offers its next packet.
    let mut offers = BinaryHeap::new();
    let backlogged = load >= 1.0;
    let pause = 2.0 * f64::from(FLITS) / load;
    for node in 0..nodes {
        let at = random.below(pause as u64);
        offers.push(Reverse((at, node)));
    }
    let (mut done, mut last) = (0, 0);
    let begin = Instant::now();
    while done < wanted {
        let bound = offers
            .peek()
            .map_or(u64::MAX, |offer| offer.0.0 - u64::from(offer.0.0 > 0));
        match fabric.advance(bound, &mut notices) {
            None => {
                let Reverse((at, node)) = offers.pop().expect("someone offers");
                fabric.offer(at, random.packet(node, nodes));
                if !backlogged {
                    offers.push(Reverse((at + 1 + random.below(pause as u64), node)));
                }
            }
            Some(now) => {
                last = now;
                for notice in notices.drain(..) {
                    match notice {
                        Notice::Injected(spec) if backlogged => {
                            fabric.offer(now + 1, random.packet(spec.source, nodes));
                        }
                        Notice::Injected(_) => (),
                        Notice::Delivered(packet, _) => {
                            fabric.acknowledge(now + TURNAROUND, packet, Ack::Accepted);
                        }
                        Notice::Acknowledged(..) => done += 1,
                    }
                }
            }
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{engine:?}: {nodes} nodes, {done} packets, {last} cycles, {:.3} flits a cycle and node, {seconds:.2} s, {:.0} packets a second",
        done as f64 * f64::from(FLITS) / last as f64 / f64::from(nodes),
        done as f64 / seconds
    );
}
