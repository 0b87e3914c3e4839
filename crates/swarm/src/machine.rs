//! A case's machine: a shipped machine on a given network, with the case's parameters.

use crate::numbers::Draw;
use elan::{Config, Matching, WaitMode};
use fabric::{Arbitration, Ascent, Circuit, Engine, FatTree, Topology, TopologyError, Torus};
use rails::Policy;
use rails::policies::{BASIC, SHIPPED};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use units::{Bytes, Time};

/// Most nodes per machine.
pub const NODES: u32 = 64;

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwarmMachine {
    /// The shipped machine that has all parameters that are not named here.
    pub base: ShippedMachine,
    /// Each rail's wiring.
    pub shape: Shape,
    /// Rails, and how messages are spread over them; `None` for one rail.
    pub rails: Option<RailsBounds>,
    /// Links and switches; `None` for the shipped machine's.
    pub network: Option<NetworkBounds>,
    /// The Tports' bounds; `None` for the shipped machine's.
    pub tport: Option<TportBounds>,
    /// Nanoseconds per time slice in the DMA engines; `None` for the shipped machine's.
    pub slice: Option<u64>,
    /// The processor that matches message tags.
    pub matching: Matching,
    /// How processes wait.
    pub waits: Waits,
    /// A process's most children in the trees of collective calls.
    pub branching: u32,
}

/// A shipped machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShippedMachine {
    /// Elan3 and Elite.
    Es40Qsnet,
    /// Elan4 and Elite4.
    OpteronQsnet2,
}

/// A wiring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// A fat tree; see [`FatTree::with_parallel_links`].
    Tree {
        /// Down-links per switch at each level.
        down: Vec<u32>,
        /// Up-links per switch at each level but the last.
        up: Vec<u32>,
        /// The number of up-links to the same switch.
        parallel: Vec<u32>,
        /// Attached nodes.
        nodes: u32,
    },
    /// A torus with datelines.
    Torus {
        /// Switches per ring in each dimension.
        sizes: Vec<u32>,
        /// Attached nodes.
        nodes: u32,
    },
}

/// Several rails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RailsBounds {
    /// How many.
    pub count: u32,
    /// The policy that picks a message's rails.
    pub policy: Policy,
    /// The fraction of the rails over which a message is striped.
    pub striping: f64,
}

/// Links and switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkBounds {
    /// Link delay in cycles, by level.
    pub hop_delay: Vec<u32>,
    /// A link's credit delay in cycles, by level; empty where credits take a cycle.
    #[serde(default)]
    pub credit_delay: Vec<u32>,
    /// Virtual channels.
    pub channels: u32,
    /// Buffer flits behind each channel.
    pub buffer: u32,
    /// An adapter's unacknowledged packets.
    pub packets: u32,
    /// A circuit's life.
    pub circuit: Circuit,
    /// Routing in the ascending phase.
    pub ascent: Ascent,
    /// Arbitration for channels.
    pub arbitration: Arbitration,
    /// Cycles in which a switch combines the answers to a broadcast.
    pub combine: u64,
    /// Whether tokens take flit slots.
    pub tokens: bool,
    /// Whether there are two priority levels.
    pub priorities: bool,
    /// The adapter memory port's period and burst.
    pub share: (u64, u64),
}

/// The Tports' bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TportBounds {
    /// Messages up to this length travel with their envelope.
    pub small: u64,
    /// Longer messages than this are never buffered.
    pub big: u64,
    /// Slots in the envelope queue.
    pub slots: u32,
    /// Adapter memory for small messages that no receive has taken yet.
    pub buffer: u64,
    /// Main memory for longer messages.
    pub system: u64,
}

/// How processes wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// They poll.
    Poll,
    /// They block.
    Block,
    /// They look this many times, and then block.
    Spin(u32),
}

static ES40: LazyLock<Config> =
    LazyLock::new(|| shipped(include_str!("../../../machines/es40-qsnet.toml")));
static OPTERON: LazyLock<Config> =
    LazyLock::new(|| shipped(include_str!("../../../machines/opteron-qsnet2.toml")));

fn shipped(text: &str) -> Config {
    let machine = ::machine::Machine::parse("machine.toml", text, &[]);
    machine.expect("it is shipped").cluster_config()
}

impl NetworkBounds {
    /// Takes the first level's delays for a number of levels.
    pub fn resize(&mut self, levels: usize) {
        for delays in [&mut self.hop_delay, &mut self.credit_delay] {
            if let Some(&delay) = delays.first() {
                *delays = vec![delay; levels];
            }
        }
    }
}

impl ShippedMachine {
    /// The shipped configuration.
    pub fn config(self) -> &'static Config {
        match self {
            ShippedMachine::Es40Qsnet => &ES40,
            ShippedMachine::OpteronQsnet2 => &OPTERON,
        }
    }
}

impl Shape {
    /// The wiring on a number of rails.
    ///
    /// # Errors
    /// The value that is out of bounds.
    pub fn topology(&self, rails: u32) -> Result<Topology, TopologyError> {
        let one: Topology = match self {
            Shape::Tree {
                down,
                up,
                parallel,
                nodes,
            } => FatTree::with_parallel_links(down, up, parallel, *nodes)?.into(),
            Shape::Torus { sizes, nodes } => Torus::new(sizes, *nodes, true)?.into(),
        };
        one.with_rails(rails)
    }

    /// Attached nodes.
    pub fn nodes(&self) -> u32 {
        match self {
            Shape::Tree { nodes, .. } | Shape::Torus { nodes, .. } => *nodes,
        }
    }

    /// Link levels, or the number of levels with their own delay.
    pub fn levels(&self) -> usize {
        let topology = self.topology(1);
        topology.map_or(1, |topology| topology.levels())
    }

    /// The smallest tree with 4-ary switches for a node count.
    pub fn least(nodes: u32) -> Shape {
        let levels = (1..=3).find(|&levels| 4_u32.pow(levels) >= nodes);
        let levels = levels.expect("a tree is large enough") as usize;
        Shape::Tree {
            down: vec![4; levels],
            up: vec![4; levels - 1],
            parallel: vec![1; levels - 1],
            nodes,
        }
    }
}

impl SwarmMachine {
    /// A plain machine for a node count.
    pub fn plain(nodes: u32) -> SwarmMachine {
        SwarmMachine {
            base: ShippedMachine::Es40Qsnet,
            shape: Shape::least(nodes),
            rails: None,
            network: None,
            tport: None,
            slice: None,
            matching: Matching::Adapter,
            waits: Waits::Poll,
            branching: ShippedMachine::Es40Qsnet.config().group.branching,
        }
    }

    /// Processors per node.
    pub fn cpus(&self) -> u32 {
        self.base.config().host.cpus
    }

    /// How a job's processes wait.
    pub fn waits(&self) -> WaitMode {
        match self.waits {
            Waits::Poll => WaitMode::Poll,
            Waits::Block => WaitMode::Block,
            Waits::Spin(looks) => WaitMode::Spin(looks),
        }
    }

    /// The configuration, with a given mover.
    ///
    /// # Errors
    /// If the wiring is out of bounds, or too few channels are given.
    pub fn config(&self, engine: Engine) -> Result<Config, String> {
        let mut config = self.base.config().clone();
        let rails = self.rails.map_or(1, |rails| rails.count);
        let topology = self.shape.topology(rails);
        let topology = topology.map_err(|error| format!("machine.shape: {error:?}"))?;
        let fabric = &mut config.fabric;
        let levels = topology.levels();
        fabric.hop_delay = vec![fabric.hop_delay[0]; levels];
        fabric.topology = topology;
        fabric.engine = engine;
        if let Some(network) = &self.network {
            fabric.hop_delay.clone_from(&network.hop_delay);
            fabric.credit_delay.clone_from(&network.credit_delay);
            fabric.channels = network.channels;
            fabric.buffer = network.buffer;
            fabric.packets_in_flight = network.packets;
            fabric.circuit = network.circuit;
            fabric.ascent = network.ascent;
            fabric.arbitration = network.arbitration;
            fabric.combine = network.combine;
            fabric.tokens = network.tokens;
            fabric.priorities = network.priorities;
            (fabric.share_period, fabric.share_burst) = network.share;
        }
        let credits = fabric.credit_delay.len();
        let fits = fabric.hop_delay.len() == levels
            && (credits == 0 || credits == levels)
            && fabric.channels >= fabric.topology.classes();
        if !fits {
            return Err(format!(
                "machine.network: a delay for each of {levels} levels and {} channels are needed",
                fabric.topology.classes()
            ));
        }
        if let Some(tport) = self.tport {
            let config = &mut config.tport;
            config.small = Bytes::new(tport.small);
            config.big = Bytes::new(tport.big);
            config.slots = tport.slots;
            config.buffer = Bytes::new(tport.buffer);
            config.system = Bytes::new(tport.system);
        }
        if let Some(slice) = self.slice {
            config.adapter.time_slice = Time::from_ns(slice);
        }
        config.tport.matching = self.matching;
        config.group.branching = self.branching;
        config.rails = self.rails.map(|rails| rails::Config {
            policy: rails.policy.kind,
            status: rails::Status::Exact,
            choice: rails::Choice::Sent,
            striping: rails.striping,
            threshold: Bytes::from_kb(8),
            handle: 200,
            poll: Time::from_us(1),
            avoidance: true,
        });
        Ok(config)
    }

    /// A random machine with room for a number of processes; a small one has few nodes besides
    /// theirs.
    pub fn draw(draw: &mut Draw, processes: u32, small: bool) -> SwarmMachine {
        let mut machine = SwarmMachine::plain(1);
        if draw.chance(40) {
            machine.base = ShippedMachine::OpteronQsnet2;
        }
        let least = if small && draw.chance(70) {
            processes
        } else {
            processes.div_ceil(machine.cpus())
        };
        let most = if small { least + 6 } else { NODES };
        machine.shape = match draw.below(10) {
            0..=1 => Shape::least(least + draw.below(u64::from(most - least) + 1) as u32),
            2..=3 => torus(draw, least..=most),
            _ => tree(draw, least..=most),
        };
        if draw.chance(35) {
            let count = draw.one_of(&[2, 2, 3, 4]);
            // A static allocation with few rails lets few nodes reach each other.
            let few = machine.shape.nodes() <= [1, 1, 2, 3, 6][count as usize];
            machine.rails = Some(RailsBounds {
                count,
                policy: policy(draw, few),
                striping: draw.one_of(&[0.0, 0.5, 1.0]),
            });
        }
        if draw.chance(60) {
            machine.network = Some(network(draw, &machine.shape));
        }
        if draw.chance(70) {
            machine.tport = Some(TportBounds {
                small: draw.one_of(&[0, 40, 288]),
                big: draw.one_of(&[0, 1000, 16_384, 16_384]),
                slots: draw.one_of(&[1, 4, 64]),
                buffer: draw.one_of(&[0, 5000, 524_288]),
                system: if draw.chance(70) {
                    ROOMY
                } else {
                    draw.below(30_000)
                },
            });
        }
        if draw.chance(30) {
            machine.matching = Matching::Host;
        }
        machine.waits = draw.one_of(&[Waits::Poll, Waits::Poll, Waits::Block, Waits::Spin(20)]);
        machine.branching = draw.one_of(&[1, 2, 4, 4, 4, 8]);
        machine
    }

    /// Draws the time slice: as shipped, one or a few packets, or a part of a long DMA.
    pub fn draw_slice(&mut self, seed: u64) {
        let mut draw = Draw::new(seed, "slices");
        self.slice = match draw.below(10) {
            0..=2 => None,
            3..=4 => Some(1),
            5..=6 => Some(1 + draw.below(3_000)),
            _ => Some(1 + draw.below(30_000)),
        };
    }

    /// Draws the credit delays for a drawn network: one cycle, or any other number, mostly less
    /// than 40.
    pub fn draw_credits(&mut self, seed: u64) {
        let mut draw = Draw::new(seed, "credits");
        let levels = self.shape.levels();
        if let Some(network) = &mut self.network
            && draw.chance(60)
        {
            let mut delay = || match draw.below(20) {
                0 => 1 + draw.below(300) as u32,
                1..=5 => 1,
                _ => 1 + draw.below(40) as u32,
            };
            network.credit_delay = (0..levels).map(|_| delay()).collect();
        }
    }

    /// Whether receives into the system's buffers find room.
    pub fn is_roomy(&self) -> bool {
        self.tport.is_some_and(|tport| tport.system >= ROOMY)
    }
}

/// Main memory for the system's messages that is never used up.
const ROOMY: u64 = 32 << 20;

/// Any policy, but a static allocation only among few nodes.
fn policy(draw: &mut Draw, few: bool) -> Policy {
    let basic = SHIPPED.iter().find(|policy| policy.kind == BASIC);
    let policies = SHIPPED.iter().map(|policy| {
        if few || !policy.kind.allocates() {
            policy
        } else {
            basic.expect("it is shipped")
        }
    });
    *draw.one_of(&policies.collect::<Vec<_>>())
}

/// Any tree with room for some nodes: more or fewer up-links than down-links, some of them
/// parallel, some positions empty.
fn tree(draw: &mut Draw, nodes: RangeInclusive<u32>) -> Shape {
    let least = *nodes.start();
    loop {
        let levels = 1 + draw.below(3);
        let down: Vec<u32> = (0..levels).map(|_| 1 + draw.below(6) as u32).collect();
        let positions: u32 = down.iter().product();
        if !nodes.contains(&positions) {
            continue;
        }
        let up: Vec<u32> = (1..levels).map(|_| 1 + draw.below(4) as u32).collect();
        let same = up
            .iter()
            .map(|&up| if up % 2 == 0 { draw.one_of(&[1, 2]) } else { 1 });
        return Shape::Tree {
            parallel: same.collect(),
            nodes: least + draw.below(u64::from(positions - least) + 1) as u32,
            down,
            up,
        };
    }
}

/// Any torus with room for some nodes.
fn torus(draw: &mut Draw, nodes: RangeInclusive<u32>) -> Shape {
    let least = *nodes.start();
    loop {
        let dimensions = 1 + draw.below(3);
        let sizes: Vec<u32> = (0..dimensions).map(|_| 2 + draw.below(7) as u32).collect();
        let positions: u32 = sizes.iter().product();
        if nodes.contains(&positions) {
            let nodes = least + draw.below(u64::from(positions - least) + 1) as u32;
            return Shape::Torus { sizes, nodes };
        }
    }
}

fn network(draw: &mut Draw, shape: &Shape) -> NetworkBounds {
    let delay = |draw: &mut Draw| match draw.below(8) {
        0..=5 => 1 + draw.below(12) as u32,
        6 => 1 + draw.below(63) as u32,
        _ => 1 + draw.below(127) as u32,
    };
    let least = if matches!(shape, Shape::Torus { .. }) {
        2
    } else {
        1
    };
    let period = 1 + draw.one_of(&[60, 184, 400]);
    NetworkBounds {
        hop_delay: (0..shape.levels()).map(|_| delay(draw)).collect(),
        credit_delay: Vec::new(),
        channels: least + draw.below(4) as u32,
        buffer: if draw.chance(70) {
            1 + draw.below(16) as u32
        } else {
            128
        },
        packets: 1 + draw.below(4) as u32,
        circuit: draw.one_of(&[
            Circuit::UntilAcknowledged,
            Circuit::UntilAcknowledged,
            Circuit::UntilDelivered,
            Circuit::Wormhole,
        ]),
        ascent: draw.one_of(&[
            Ascent::Adaptive,
            Ascent::Adaptive,
            Ascent::Deterministic,
            Ascent::SourceFixed,
            Ascent::DestinationModulo,
            Ascent::FlowHash,
        ]),
        arbitration: draw.one_of(&[Arbitration::Age, Arbitration::RoundRobin]),
        combine: draw.below(20),
        tokens: draw.chance(50),
        priorities: draw.chance(50),
        share: (period, draw.below(period / 2 + 1)),
    }
}
