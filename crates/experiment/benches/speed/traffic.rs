//! Random traffic on the fabric alone, drawn before the cycles in which it is offered.

use super::processor_seconds;
use fabric::{Ack, Cycle, Fabric, Network, Nodes, Notice, PacketSpec, Priority, SharedNodes};
use kernel::random::Stream;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Cycles for which packets are drawn at a time.
const AHEAD: Cycle = 8192;

/// The destinations of a node's packets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    Uniform,
    HotSpot,
    Transpose,
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "uniform" => Ok(Pattern::Uniform),
            "hot-spot" => Ok(Pattern::HotSpot),
            "transpose" => Ok(Pattern::Transpose),
            _ => Err(format!(
                "there is no pattern `{text}`; there are: uniform, hot-spot, transpose"
            )),
        }
    }
}

impl Pattern {
    /// The destination of a node's next packet, among `nodes`; a node that is its own destination
    /// is silent.
    fn destination(self, node: u32, nodes: u32, random: &mut Stream) -> u32 {
        match self {
            Pattern::Uniform => {
                let draw = random.uniform_u64(0..u64::from(nodes) - 1) as u32;
                if draw < node { draw } else { draw + 1 }
            }
            Pattern::HotSpot => 0,
            Pattern::Transpose => {
                let half = nodes.trailing_zeros() / 2;
                node >> half | (node << half & (nodes - 1))
            }
        }
    }
}

/// Draws packets.
struct Source {
    pattern: Pattern,
    nodes: u32,
    flits: u32,
    random: Stream,
}

impl Source {
    fn packet(&mut self, source: u32) -> PacketSpec {
        let destination = self
            .pattern
            .destination(source, self.nodes, &mut self.random);
        PacketSpec {
            source: source.into(),
            destination: destination.into(),
            flits: self.flits,
            priority: Priority::Low,
            traffic_class: 0,
            awaits_end: false,
            token: 0,
        }
    }
}

/// The nodes in a network region: they offer packets, and answer them.
struct Part {
    /// Cycles from a delivery to its acknowledgement.
    turnaround: Cycle,
    /// Packets drawn ahead, the latest first.
    drawn: Vec<(Cycle, PacketSpec)>,
    /// Draws a packet when another one is injected, if each adapter always has one waiting.
    source: Option<Source>,
    acknowledged: u64,
    /// Links that the acknowledged packets crossed.
    links: u64,
    /// The sum of their records' hashes.
    digest: u64,
}

impl Nodes for Part {
    fn next(&self) -> Option<Cycle> {
        self.drawn.last().map(|&(at, _)| at)
    }

    fn offer(&mut self, now: Cycle, region: &mut dyn Network) {
        while let Some((at, packet)) = self.drawn.pop_if(|(at, _)| *at == now) {
            region.offer(at, packet);
        }
    }

    fn hear(&mut self, now: Cycle, notices: &mut Vec<Notice>, region: &mut dyn Network) {
        for notice in notices.drain(..) {
            match notice {
                Notice::Injected(packet) => {
                    if let Some(source) = &mut self.source {
                        let packet = source.packet(packet.source.get());
                        region.offer(now + 1, packet);
                    }
                }
                Notice::Delivered(packet, ..) => {
                    let at = now + self.turnaround;
                    region.acknowledge(at, packet, Ack::Accepted);
                }
                Notice::Acknowledged(record, spec) => {
                    self.acknowledged += 1;
                    self.links += u64::from(record.links);
                    let source = u64::from(spec.source.get());
                    let number = source << 32 | u64::from(record.sequence);
                    let times = [record.injected, record.delivered, record.acknowledged];
                    let hash = times.into_iter().fold(number, |hash, time| {
                        (hash ^ time)
                            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                            .rotate_left(29)
                    });
                    self.digest = self.digest.wrapping_add(hash);
                }
                Notice::Ended { .. } => unreachable!("no packet asks for it"),
                Notice::Damaged(..) => unreachable!("no part of this machine fails"),
            }
        }
    }
}

/// Packets that are offered to a fabric and answered.
pub struct Traffic {
    fabric: Fabric,
    /// By region.
    parts: Vec<Arc<Mutex<Part>>>,
    source: Option<Source>,
    /// Mean cycles between a node's packets.
    gap: f64,
    /// When each node offers its next packet.
    next: BinaryHeap<Reverse<(Cycle, u32)>>,
    drawn_until: Cycle,
    /// Seconds that have passed, without drawing packets.
    pub wall_seconds: f64,
}

/// The packets that are done.
#[derive(Default)]
pub struct Sum {
    pub acknowledged: u64,
    pub links: u64,
    pub digest: u64,
}

fn open(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().expect("a part is whole")
}

impl Traffic {
    /// Events in the control plane and in the mover.
    pub fn events(&self) -> u64 {
        self.fabric.events() + self.fabric.motion_events()
    }

    pub fn sum(&self) -> Sum {
        let add = |sum: Sum, part: &Arc<Mutex<Part>>| {
            let part = open(part);
            Sum {
                acknowledged: sum.acknowledged + part.acknowledged,
                links: sum.links + part.links,
                digest: sum.digest.wrapping_add(part.digest),
            }
        };
        self.parts.iter().fold(Sum::default(), add)
    }

    pub fn new(config: &elan::Config, pattern: Pattern, load: Option<f64>) -> Self {
        let format = config.packet;
        let flits = format.flits(format.payload);
        let fabric = Fabric::new(config.fabric.clone());
        let nodes = fabric.topology().nodes();
        let gap = f64::from(flits) / load.unwrap_or(1.0);
        let mut random = Stream::new(1, "bench");
        let mut next = BinaryHeap::new();
        for node in 0..nodes {
            let first = random.uniform_f64() * gap;
            if pattern.destination(node, nodes, &mut random) != node {
                next.push(Reverse((1 + first as Cycle, node)));
            }
        }
        let mut traffic = Traffic {
            parts: Vec::new(),
            source: Some(Source {
                pattern,
                nodes,
                flits,
                random,
            }),
            gap,
            next,
            drawn_until: 0,
            wall_seconds: 0.0,
            fabric,
        };
        let part = || Part {
            turnaround: config.adapter.turnaround.div_ceil(config.cycle),
            drawn: Vec::new(),
            source: None,
            acknowledged: 0,
            links: 0,
            digest: 0,
        };
        let parts = (0..traffic.fabric.regions()).map(|_| Arc::new(Mutex::new(part())));
        traffic.parts = parts.collect();
        if load.is_none() {
            traffic.draw(Cycle::MAX);
            open(&traffic.parts[0]).source = traffic.source.take();
        }
        traffic
    }

    /// Runs to a cycle, that cycle included. Returns the processor seconds, without drawing
    /// packets.
    pub fn run_until(&mut self, end: Cycle) -> f64 {
        let mut seconds = 0.0;
        let parts = self.parts.iter();
        let nodes: Vec<SharedNodes> = parts.map(|part| Arc::clone(part) as _).collect();
        while self.drawn_until < end {
            self.drawn_until = end.min(self.drawn_until + AHEAD);
            self.draw(self.drawn_until);
            let (begin, start) = (processor_seconds(), Instant::now());
            self.fabric.run(self.drawn_until, &nodes);
            seconds += processor_seconds() - begin;
            self.wall_seconds += start.elapsed().as_secs_f64();
        }
        seconds
    }

    /// Draws the packets offered by a cycle; one per node if the cycle is the last possible one.
    fn draw(&mut self, end: Cycle) {
        let Some(source) = &mut self.source else {
            return;
        };
        while let Some(&Reverse((at, node))) = self.next.peek()
            && at <= end
        {
            self.next.pop();
            let packet = source.packet(node);
            let region = self.fabric.region_of(packet.source);
            open(&self.parts[region]).drawn.push((at, packet));
            if end < Cycle::MAX {
                let gap = source.random.exponential(self.gap).round().max(1.0) as Cycle;
                self.next.push(Reverse((at + gap, node)));
            }
        }
        for part in &self.parts {
            open(part).drawn.reverse();
        }
    }
}
