//! Random machines and random traffic, small enough that every mechanism meets every other.

use super::{Cycle, named};
use fabric::{Arbitration, Ascent, Circuit, Config, FatTree, Multiplexing, PacketSpec, Priority};
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

fn config() -> impl Strategy<Value = Config> {
    let sizes = (1_u32..=3, 1_u32..=16, 1_u32..=4, 0_u64..40, 1_u64..6);
    let modes = (
        select(&[
            Circuit::UntilAcknowledged,
            Circuit::UntilDelivered,
            Circuit::Wormhole,
        ]),
        select(&[Ascent::Adaptive, Ascent::Deterministic]),
        select(&[Arbitration::Age, Arbitration::RoundRobin]),
        select(&[Multiplexing::OldestFirst, Multiplexing::RoundRobin]),
    );
    let switches = (any::<bool>(), any::<bool>());
    let sharing = (1_u64..60).prop_flat_map(|period| (Just(period), 0..=period / 2));
    (tree(), sizes, modes, switches, sharing)
        .prop_flat_map(|(tree, sizes, modes, switches, sharing)| {
            let delays = prop::collection::vec(1_u32..=12, tree.levels());
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
                multiplexing: modes.3,
                priorities: switches.0,
                tokens: switches.1,
                share_period: sharing.0,
                share_burst: sharing.1,
            },
        )
}

/// Packets at random moments, a part of them for one destination.
fn traffic(nodes: u32) -> impl Strategy<Value = Vec<(Cycle, PacketSpec)>> {
    let packet = (
        0..nodes,
        0..nodes,
        any::<bool>(),
        1_u32..=40,
        any::<bool>(),
        prop_oneof![3 => Just(0_u64), 2 => 0_u64..30, 1 => 0_u64..1500],
    );
    (0..nodes, prop::collection::vec(packet, 1..60)).prop_map(|(hot, packets)| {
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

/// Any machine under any traffic.
pub fn case() -> impl Strategy<Value = Case> {
    config()
        .prop_flat_map(|config| {
            let nodes = config.tree.nodes();
            (Just(config), 0_u64..30, traffic(nodes))
        })
        .prop_map(|(config, turnaround, traffic)| Case {
            config,
            turnaround,
            traffic,
        })
}
