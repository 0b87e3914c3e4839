//! # The flit mover: the oracle
//!
//! Visits every link that carries a worm or owes a token, in every cycle, and applies the rule of the parent module to
//! the letter. It is slow and obvious; whatever else moves flits must agree with it in every cycle.
//!
//! A cycle is three passes: flits that were sent a link delay ago arrive; every link decides on the state at the start
//! of the cycle; the decisions are applied. Between the passes nothing is half-done, so the order of links is free.

use super::{Carried, ChannelId, FlitCensus, Key, Motion, Moved, Wiring, Worm};
use crate::{Config, Cycle, LinkId, Multiplexing};

/// One virtual channel of one link and its present worm.
#[derive(Clone, Copy, Default)]
struct Channel {
    worm: Option<Worm>,
    /// `S`: flits sent over the link.
    sent: u32,
    /// `R`: flits arrived at the far end.
    arrived: u32,
    /// What is on the wire: bit `k` is set if a flit was sent `k + 1` cycles ago.
    wire: u128,
    /// The channel that the worm leaves by, once granted.
    downstream: Option<ChannelId>,
}

/// One directed link.
#[derive(Clone, Copy, Default)]
struct Link {
    /// Channels that carry a worm.
    open: u32,
    /// Tokens that wait for a slot.
    owed: u32,
    /// The channel that moved in the cycle before.
    mover: Option<ChannelId>,
    /// The channel that moved last, ever: for the round-robin service.
    last: ChannelId,
    /// Whether the link is on the list of busy links.
    listed: bool,
    carried: Carried,
}

/// What a link does in a cycle.
#[derive(Clone, Copy)]
enum Decision {
    Rest,
    Token,
    Move(ChannelId),
}

/// See the essay of the module.
pub struct FlitMover {
    wiring: Wiring,
    channels: Vec<Channel>,
    links: Vec<Link>,
    /// Links with an open channel or a debt.
    busy: Vec<LinkId>,
    decisions: Vec<Decision>,
    /// Whether the last cycle left anything that goes on by itself.
    active: bool,
    delivered: u64,
}

impl FlitMover {
    /// A mover for an empty fabric.
    pub fn new(config: &Config) -> Self {
        let wiring = Wiring::new(config);
        let links = wiring.wires.len();
        FlitMover {
            channels: vec![Channel::default(); links * wiring.channels as usize],
            links: vec![Link::default(); links],
            wiring,
            busy: Vec::new(),
            decisions: Vec::new(),
            active: false,
            delivered: 0,
        }
    }

    fn link_of(&self, channel: ChannelId) -> usize {
        (channel / self.wiring.channels) as usize
    }

    fn channels_of(&self, link: LinkId) -> std::ops::Range<ChannelId> {
        link * self.wiring.channels..(link + 1) * self.wiring.channels
    }

    /// Puts a link on the list of those that are visited.
    fn list(&mut self, link: usize) {
        self.active = true;
        if !std::mem::replace(&mut self.links[link].listed, true) {
            self.busy.push(link as LinkId);
        }
    }

    /// First pass: flits sent a link delay ago reach the far end.
    fn arrivals(&mut self) {
        for &link in &self.busy {
            let wire = self.wiring.wires[link as usize];
            for channel in self.channels_of(link) {
                let channel = &mut self.channels[channel as usize];
                let arrives = (channel.wire >> (wire.delay - 1)) as u32 & 1;
                channel.arrived += arrives;
                channel.wire = channel.wire << 1 & !(u128::MAX << wire.delay);
                if wire.ejects {
                    self.delivered += u64::from(arrives);
                }
            }
        }
    }

    /// The rule: whether a channel can move in this cycle.
    fn can(&self, channel: ChannelId, ejects: bool) -> bool {
        let this = &self.channels[channel as usize];
        let Some(worm) = this.worm else { return false };
        let there = worm
            .upstream
            .is_none_or(|upstream| self.channels[upstream as usize].arrived > this.sent);
        let sent_on = this
            .downstream
            .map_or(0, |downstream| self.channels[downstream as usize].sent);
        this.sent < worm.flits && there && (ejects || this.sent - sent_on < self.wiring.buffer)
    }

    /// The channel that a link would serve, before tokens and sharing.
    fn candidate(&self, link: LinkId) -> Option<ChannelId> {
        let ejects = self.wiring.wires[link as usize].ejects;
        let able = self
            .channels_of(link)
            .filter(|&channel| self.can(channel, ejects));
        match self.wiring.multiplexing {
            Multiplexing::OldestFirst => able.min_by_key(|&channel| self.key(channel)),
            Multiplexing::RoundRobin => {
                let (channels, last) = (self.wiring.channels, self.links[link as usize].last);
                able.min_by_key(|&channel| (channel + channels - last - 1) % channels)
            }
        }
    }

    fn key(&self, channel: ChannelId) -> Key {
        self.channels[channel as usize]
            .worm
            .expect("only an open channel is ranked")
            .key
    }

    /// Second pass: what a link does, on the state at the start of the cycle.
    fn decide(&mut self, link: LinkId, now: Cycle) -> Decision {
        let mut candidate = self.candidate(link);
        if let (Some(_), Some((partner, phase))) =
            (candidate, self.wiring.wires[link as usize].shared)
            && self.wiring.pauses(phase, now)
            && self.candidate(partner).is_some()
        {
            candidate = None;
            self.active = true;
        }
        let state = &self.links[link as usize];
        match candidate {
            Some(channel) if state.owed == 0 || state.mover == Some(channel) => {
                Decision::Move(channel)
            }
            _ if state.owed > 0 => Decision::Token,
            _ => Decision::Rest,
        }
    }

    /// Third pass.
    fn apply(&mut self, link: LinkId, decision: Decision, moved: &mut Vec<Moved>) {
        let state = &mut self.links[link as usize];
        state.mover = None;
        match decision {
            Decision::Rest => {}
            Decision::Token => {
                state.owed -= 1;
                state.carried.tokens += 1;
                self.active = true;
            }
            Decision::Move(number) => {
                state.mover = Some(number);
                state.last = number;
                state.carried.flits += 1;
                let channel = &mut self.channels[number as usize];
                channel.sent += 1;
                channel.wire |= 1;
                if channel.sent == 1 {
                    moved.push(Moved::Head(number));
                }
                if channel.worm.is_some_and(|worm| worm.flits == channel.sent) {
                    moved.push(Moved::Tail(number));
                }
            }
        }
        self.active |= self
            .channels_of(link)
            .any(|channel| self.channels[channel as usize].wire != 0);
    }

    /// Takes links off the list that neither carry nor owe anything.
    fn forget_idle(&mut self) {
        let links = &mut self.links;
        self.busy.retain(|&link| {
            let state = &mut links[link as usize];
            state.listed = state.open > 0 || state.owed > 0;
            state.listed
        });
    }
}

impl Motion for FlitMover {
    fn open(&mut self, channel: ChannelId, worm: Worm) {
        let link = self.link_of(channel);
        assert!(
            self.channels[channel as usize].worm.is_none(),
            "a channel is granted twice"
        );
        self.channels[channel as usize] = Channel {
            worm: Some(worm),
            ..Channel::default()
        };
        if let Some(upstream) = worm.upstream {
            self.channels[upstream as usize].downstream = Some(channel);
        }
        self.links[link].open += 1;
        self.list(link);
    }

    fn close(&mut self, channel: ChannelId) {
        let link = self.link_of(channel);
        let worm = self.channels[channel as usize]
            .worm
            .take()
            .expect("only a granted channel is closed");
        assert_eq!(
            self.channels[channel as usize].arrived, worm.flits,
            "a channel is closed before its worm has passed"
        );
        self.links[link].open -= 1;
        self.active = true;
    }

    fn charge(&mut self, link: LinkId) {
        self.links[link as usize].owed += 1;
        self.list(link as usize);
    }

    fn step(&mut self, now: Cycle, moved: &mut Vec<Moved>) {
        self.active = false;
        self.forget_idle();
        self.arrivals();
        let mut decisions = std::mem::take(&mut self.decisions);
        decisions.clear();
        for index in 0..self.busy.len() {
            decisions.push(self.decide(self.busy[index], now));
        }
        for (index, &decision) in decisions.iter().enumerate() {
            self.apply(self.busy[index], decision, moved);
        }
        self.decisions = decisions;
    }

    fn next(&self, now: Cycle) -> Option<Cycle> {
        self.active.then_some(now + 1)
    }

    fn carried(&self, link: LinkId) -> Carried {
        self.links[link as usize].carried
    }

    fn census(&self) -> FlitCensus {
        let mut census = FlitCensus {
            delivered: self.delivered,
            ..FlitCensus::default()
        };
        for (number, channel) in self.channels.iter().enumerate() {
            let wire = self.wiring.wires[self.link_of(number as ChannelId)];
            if channel.worm.is_none() {
                continue;
            }
            let taken = match channel.downstream {
                _ if wire.ejects => channel.arrived,
                Some(downstream) => self.channels[downstream as usize].sent,
                None => 0,
            };
            let held = channel.sent - taken;
            assert!(
                wire.ejects || held <= self.wiring.buffer,
                "a buffer overflows"
            );
            census.in_flight += u64::from(held);
        }
        let injections = self.wiring.wires.iter().zip(&self.links);
        census.injected = injections
            .filter(|(wire, _)| wire.shared.is_some() && !wire.ejects)
            .map(|(_, link)| link.carried.flits)
            .sum();
        census
    }
}
