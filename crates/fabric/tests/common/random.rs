//! Random machines and random traffic, small enough that every mechanism meets every other.

use super::{Cycle, named};
use fabric::{
    Arbitration, Ascent, Circuit, Config, Engine, FatTree, Multiplexing, PacketSpec, Priority,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Many cases, since few of them have all that makes trouble; `PROPTEST_CASES` scales their number.
pub fn many() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig {
        cases: 8 * usual.cases,
        max_shrink_iters: 2000,
        ..usual
    }
}

/// A machine and what happens on it.
#[derive(Clone, Debug)]
pub struct Case {
    pub config: Config,
    /// Cycles from a delivery to the departure of its acknowledgement.
    pub turnaround: Cycle,
    /// Sorted by cycle; the name of a packet is its place.
    pub traffic: Vec<(Cycle, PacketSpec)>,
}

/// Arities of `1..=4` on 1 to 3 levels, more or fewer links up than down, some positions empty.
pub fn tree() -> impl Strategy<Value = FatTree> {
    (1_usize..=3)
        .prop_flat_map(|levels| {
            (
                prop::collection::vec(1_u32..=4, levels),
                prop::collection::vec(1_u32..=4, levels - 1),
                0.3_f64..=1.0,
            )
        })
        .prop_map(|(down, up, populated)| {
            let positions: u32 = down.iter().product();
            let nodes = (f64::from(positions) * populated).ceil() as u32;
            FatTree::new(&down, &up, nodes).expect("within all bounds")
        })
}

/// Small buffers and long wires make trouble; others are there to be left alone.
fn buffer() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 1_u32..=16, 1 => Just(128_u32)]
}

/// Cycles from end to end of a link: the levels of a machine differ, mostly a little.
fn hop_delay() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1_u32..=12, 1 => 1_u32..=63, 1 => Just(1_u32)]
}

/// Who serves the channels of a link, and how.
fn service() -> impl Strategy<Value = (Multiplexing, Engine)> {
    select(&[
        (Multiplexing::OldestFirst, Engine::Worm),
        (Multiplexing::OldestFirst, Engine::Worm),
        (Multiplexing::OldestFirst, Engine::Flit),
        (Multiplexing::RoundRobin, Engine::Flit),
    ])
}

fn config() -> impl Strategy<Value = Config> {
    let sizes = (1_u32..=4, buffer(), 1_u32..=4, 0_u64..40, 1_u64..6);
    let modes = (
        select(&[
            Circuit::UntilAcknowledged,
            Circuit::UntilDelivered,
            Circuit::Wormhole,
        ]),
        select(&[Ascent::Adaptive, Ascent::Deterministic]),
        select(&[Arbitration::Age, Arbitration::RoundRobin]),
        service(),
    );
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    let sharing = (1_u64..60).prop_flat_map(|period| (Just(period), 0..=period / 2));
    (tree(), sizes, modes, switches, sharing)
        .prop_flat_map(|(tree, sizes, modes, switches, sharing)| {
            let delays = prop::collection::vec(hop_delay(), tree.levels());
            (Just((tree, sizes, modes, switches, sharing)), delays)
        })
        .prop_map(
            |((tree, sizes, modes, switches, sharing), hop_delay)| Config {
                tree,
                hop_delay,
                channels: sizes.0,
                buffer: sizes.1,
                packets_in_flight: sizes.2,
                age_cap: sizes.3 * 10,
                age_step: sizes.4,
                circuit: modes.0,
                ascent: modes.1,
                arbitration: modes.2,
                multiplexing: modes.3.0,
                priorities: switches.0,
                tokens: switches.1,
                share_period: sharing.0,
                share_burst: if switches.2 { sharing.1 } else { 0 },
                engine: modes.3.1,
            },
        )
}

/// Packets at random moments, a part of them for one destination.
fn traffic(nodes: u32, packets: usize) -> impl Strategy<Value = Vec<(Cycle, PacketSpec)>> {
    let packet = (
        0..nodes,
        0..nodes,
        any::<bool>(),
        prop_oneof![20 => 1_u32..=60, 1 => Just(189_u32)],
        any::<bool>(),
        prop_oneof![3 => Just(0_u64), 2 => 0_u64..30, 1 => 0_u64..1500],
    );
    (0..nodes, prop::collection::vec(packet, 1..packets)).prop_map(|(hot, packets)| {
        let mut at = 0;
        let mut traffic = Vec::new();
        for (source, destination, to_hot, flits, high, pause) in packets {
            at += pause;
            let spec = PacketSpec {
                source,
                destination: if to_hot { hot } else { destination },
                flits,
                priority: if high { Priority::High } else { Priority::Low },
                token: 0,
            };
            traffic.push((at, spec));
        }
        named(&traffic)
    })
}

/// Any machine under any traffic of less than so many packets.
pub fn case_of(packets: usize) -> impl Strategy<Value = Case> {
    config()
        .prop_flat_map(move |config| {
            let nodes = config.tree.nodes();
            (Just(config), 0_u64..30, traffic(nodes, packets))
        })
        .prop_map(|(config, turnaround, traffic)| Case {
            config,
            turnaround,
            traffic,
        })
}

/// Any machine under any traffic.
pub fn case() -> impl Strategy<Value = Case> {
    case_of(60)
}
