//! Times on paper: when a packet's flits cross its links, and when its channels are free, from the
//! rules alone.
//!
//! Link `i` on the way has the delay `D_i`; a header comes to link `i` after
//! `A_i = D_0 + ... + D_{i-1}` cycles if it is not held up.

use super::Bench;
use fabric::motion::{Lanes, MotionReport};
use fabric::topology::{End, Tag};
use fabric::{Ack, Ascent, Circuit, Config, Cycle, LinkId, PacketRecord, PacketSpec, Wiring};

/// The links from source to destination, where the tree or the fixed ascent leaves no choice.
pub fn way(config: &Config, spec: &PacketSpec) -> Vec<LinkId> {
    let tree = config.topology.as_tree().expect("a tree");
    let mut links = vec![tree.injection(spec.source)];
    let route = tree.route(spec.source, spec.destination.first(), Ascent::Deterministic);
    for tag in route.tags() {
        let End::Switch { switch, .. } = tree.ends(links[links.len() - 1]).1 else {
            panic!("a tag is for a switch");
        };
        let level = tree.switch_level(switch);
        assert_eq!(
            tree.parallel_links(level - 1),
            1,
            "parallel links leave a choice"
        );
        let down = tree.down_links(level);
        links.push(match *tag {
            Tag::Down(child) => tree.output(switch, child.into()),
            Tag::Up(port) => tree.output(switch, down + u32::from(port)),
            Tag::Adaptive => panic!("the ascent is fixed"),
        });
    }
    links
}

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Passage {
    pub links: Vec<LinkId>,
    pub delays: Vec<Cycle>,
    /// Entry `[i][k]`: the cycle in which link `i` sends flit `k`.
    pub sent: Vec<Vec<Cycle>>,
}

impl Passage {
    /// A packet that enters in cycle `start` and meets no other packet.
    pub fn alone(config: &Config, start: Cycle, spec: &PacketSpec) -> Self {
        Passage::held_up(config, start, spec, |_, _, earliest| earliest)
    }

    /// Flit `k` crosses link `i` as soon as it is there, `D` cycles after it crossed the link
    /// before; as the flit before it is gone; and as there is room: flit `k - B` has left the
    /// `B`-flit buffer behind the link, a cycle ago. The node takes every flit. So
    /// `s_i(k) = max(s_{i-1}(k) + D_{i-1}, s_i(k-1) + 1, s_{i+1}(k-B) + 1)`; as long as no buffer
    /// fills `s_i(k)` is `start + A_i + k`. `others(i, k, earliest)` gives the cycle when the other
    /// packets on the link let flit `k` pass.
    pub fn held_up(
        config: &Config,
        start: Cycle,
        spec: &PacketSpec,
        others: impl Fn(usize, u32, Cycle) -> Cycle,
    ) -> Self {
        let links = way(config, spec);
        let delay = |&link| Cycle::from(config.hop_delay[config.topology.link_level(link)]);
        let delays: Vec<_> = links.iter().map(delay).collect();
        let mut sent: Vec<Vec<Cycle>> = vec![Vec::new(); links.len()];
        for flit in 0..spec.flits {
            for link in 0..links.len() {
                let place = flit as usize;
                let there = match link {
                    0 => start,
                    _ => sent[link - 1][place] + delays[link - 1],
                };
                let follows = sent[link].last().map_or(0, |last| last + 1);
                let behind = place.checked_sub(config.buffer as usize);
                let room = match (behind, sent.get(link + 1)) {
                    (Some(behind), Some(next)) => next[behind] + 1,
                    _ => 0,
                };
                let earliest = there.max(follows).max(room);
                sent[link].push(others(link, flit, earliest));
            }
        }
        Passage {
            links,
            delays,
            sent,
        }
    }

    /// A link's number on the way.
    pub fn place(&self, link: LinkId) -> Option<usize> {
        self.links.iter().position(|&other| other == link)
    }

    /// When link `i` sends the first flit, and when it sends the last.
    pub fn head(&self, link: usize) -> Cycle {
        self.sent[link][0]
    }

    pub fn tail(&self, link: usize) -> Cycle {
        self.sent[link][self.sent[link].len() - 1]
    }

    /// The cycle in which the last flit reaches the node.
    pub fn delivered(&self) -> Cycle {
        let last = self.links.len() - 1;
        self.tail(last) + self.delays[last]
    }

    /// The cycle in which the acknowledgement, sent `turnaround` cycles after the delivery, has
    /// come back over all links.
    pub fn acknowledged(&self, turnaround: Cycle) -> Cycle {
        self.delivered() + turnaround + self.delays.iter().sum::<Cycle>()
    }

    /// The cycle from which link `i`'s channel is free: when the EOP has passed, which starts one
    /// cycle after the acknowledgement; one cycle after the delivery; or two cycles after the tail
    /// has left the buffer or has come to the node.
    pub fn free(&self, circuit: Circuit, link: usize, turnaround: Cycle) -> Cycle {
        match circuit {
            Circuit::UntilAcknowledged => {
                let passed: Cycle = self.delays[..link].iter().sum();
                self.acknowledged(turnaround) + 1 + passed
            }
            Circuit::UntilDelivered => self.delivered() + 1,
            Circuit::Wormhole | Circuit::CutThrough if link + 1 == self.links.len() => {
                self.delivered() + 2
            }
            Circuit::Wormhole | Circuit::CutThrough => self.tail(link + 1) + 2,
        }
    }

    /// The packet's record, the `sequence`-th from its source.
    pub fn record(
        &self,
        offered: Cycle,
        injected: Cycle,
        sequence: u32,
        turnaround: Cycle,
    ) -> PacketRecord {
        PacketRecord {
            sequence,
            links: self.links.len() as u32,
            offered,
            injected,
            delivered: self.delivered(),
            acknowledged: self.acknowledged(turnaround),
            ack: Ack::Accepted,
        }
    }

    /// Heads, headers and tails.
    pub fn moments(&self) -> Vec<Moment> {
        let mut moments = Vec::new();
        for (place, &link) in self.links.iter().enumerate() {
            moments.push((self.head(place), link, "head"));
            moments.push((self.tail(place), link, "tail"));
            if place + 1 < self.links.len() {
                moments.push((self.head(place) + self.delays[place], link, "header"));
            }
        }
        moments
    }
}

/// A head or tail is sent over a link, or a header arrives at its end.
pub type Moment = (Cycle, LinkId, &'static str);

/// The moments that a mover has reported, by link without the channel.
fn moments(lanes: Lanes, watched: &[(Cycle, MotionReport)]) -> Vec<Moment> {
    let moment = |&(cycle, moved)| match moved {
        MotionReport::Header(channel) => (cycle, lanes.link(channel), "header"),
        MotionReport::Head(channel) => (cycle, lanes.link(channel), "head"),
        MotionReport::Tail(channel, _) => (cycle, lanes.link(channel), "tail"),
    };
    watched.iter().map(moment).collect()
}

/// Runs packets to the end. Returns the moments in order.
pub fn run(
    config: &Config,
    turnaround: Cycle,
    traffic: &[(Cycle, PacketSpec)],
) -> (Bench, Vec<Moment>) {
    let mut bench = Bench::new(config.clone(), turnaround);
    bench.fabric.watch();
    let mut traffic = traffic.to_vec();
    traffic.sort_by_key(|&(at, _)| at);
    bench.offer(&traffic);
    bench.finish();
    let mut moments = moments(Lanes::new(config.channels), &bench.fabric.watch());
    moments.sort_unstable();
    (bench, moments)
}
