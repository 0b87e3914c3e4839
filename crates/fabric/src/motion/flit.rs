//! # The flit mover: the oracle
//!
//! This mover visits every link that has a flit to send or owes a token, in every cycle, and
//! applies the parent module's rule to the letter. It is slow and obvious; every other mover must
//! agree with it in every cycle.
//!
//! A cycle has three passes: flits that were sent a link delay ago arrive ([`Motion::arrive`]);
//! every link decides on the state at the start of the cycle; the decisions are applied
//! ([`Motion::step`]). Each pass completes before the next, so the order among links is free.
//!
//! A link that is slow decides only in its slots ([`pace`](crate::pace)), which are single cycles
//! on all others.
//!
//! A flit that leaves a buffer sends a credit back, which counts for the channel's sender a credit
//! delay later. The channel keeps the credits in flight, by the cycle from which they count.

use super::{
    Event, FlitCensus, FlitFate, LinkTotals, Motion, MotionReport, Sharing, Wiring, Witness, Worm,
};
use crate::config::MAX_HOP_DELAY;
use crate::pace::Slots;
use crate::records::{Hop, Records, State};
use crate::{ChannelId, Config, Cycle, LinkId, Multiplexing};
use std::collections::VecDeque;
use typed_index_collections::{TiVec, ti_vec};

/// A virtual channel and its present worm.
#[derive(Clone, Default)]
struct Channel {
    /// The worm; `None` if the channel is free.
    worm: Option<Worm>,
    /// `S`: flits sent over the link.
    sent: u32,
    /// `R`: flits arrived at the far end.
    arrived: u32,
    /// The channels by which the worm leaves, once granted.
    downstream: Vec<ChannelId>,
    /// Credits that the sender has back: so many flits have left the buffer, to its knowledge.
    credits: u32,
    /// The credits on their way, each by the cycle from which the sender has it.
    returning: VecDeque<Cycle>,
    /// If arriving flits are discarded, or all have passed on, so that the buffer stays empty: the
    /// cycle from which no buffer limits the channel.
    sunk: Option<Cycle>,
}

impl Channel {
    /// The credits that the sender has back in a cycle.
    fn credits(&self, now: Cycle) -> u32 {
        self.credits + self.returning.partition_point(|&at| at <= now) as u32
    }

    /// So many flits in all have left the buffer; the sender has the new credits in cycle `at`.
    fn leave(&mut self, taken: u32, now: Cycle, at: Cycle) {
        while self.returning.front().is_some_and(|&at| at <= now) {
            self.returning.pop_front();
            self.credits += 1;
        }
        let known = self.credits + self.returning.len() as u32;
        self.returning.extend((known..taken).map(|_| at));
    }

    /// Whether the sender will have more room, though no flit moves.
    fn awaits_credits(&self, now: Cycle) -> bool {
        let waits = self.worm.is_some_and(|worm| self.sent < worm.flits);
        let last = self.returning.back().max(self.sunk.as_ref());
        waits && last.is_some_and(|&at| at > now)
    }
}

/// One directed link.
#[derive(Clone, Copy, Default)]
struct Link {
    /// Channels with flits to send.
    unsent: u32,
    /// Tokens that wait for a slot.
    owed: u32,
    /// The link's next slot.
    slots: Slots,
    /// The channel that moved last, and the cycle in which the link was ready again.
    last: Option<(ChannelId, Cycle)>,
    /// Whether the link is on the busy list.
    listed: bool,
    carried: LinkTotals,
}

/// A link's action in a cycle, if any.
#[derive(Clone, Copy)]
enum Decision {
    Token(LinkId),
    Move(ChannelId),
}

/// Flits on the wires, by arrival cycle modulo this ring's size.
const ARRIVALS: usize = MAX_HOP_DELAY as usize + 1;

/// See the module essay.
pub(crate) struct FlitMover {
    wiring: Wiring,
    channels: TiVec<ChannelId, Channel>,
    links: TiVec<LinkId, Link>,
    /// Links with a flit to send or a debt.
    busy: Vec<LinkId>,
    /// Entry `t % ARRIVALS`: the channels over which a flit arrives in cycle `t`.
    arrivals: Vec<Vec<ChannelId>>,
    on_wires: usize,
    decisions: Vec<Decision>,
    /// Whether anything goes on by itself after the last cycle.
    active: bool,
    delivered: u64,
    discarded: u64,
    copied: u64,
    /// Flits and tokens moved.
    events: u64,
}

impl FlitMover {
    /// A mover for an empty fabric.
    pub fn new(config: &Config) -> Self {
        let wiring = Wiring::new(config);
        let links = wiring.wires.len();
        FlitMover {
            channels: ti_vec![Channel::default(); wiring.lanes.bound(links)],
            links: ti_vec![Link::default(); links],
            wiring,
            busy: Vec::new(),
            arrivals: vec![Vec::new(); ARRIVALS],
            on_wires: 0,
            decisions: Vec::new(),
            active: false,
            delivered: 0,
            discarded: 0,
            copied: 0,
            events: 0,
        }
    }

    fn link_of(&self, channel: ChannelId) -> LinkId {
        self.wiring.lanes.link(channel)
    }

    /// Puts a link on the visiting list.
    fn list(&mut self, link: LinkId) {
        self.active = true;
        if !std::mem::replace(&mut self.links[link].listed, true) {
            self.busy.push(link);
        }
    }

    /// The rule: whether a channel can move in this cycle.
    fn can(&self, channel: ChannelId, ejects: bool, now: Cycle) -> bool {
        let this = &self.channels[channel];
        let Some(worm) = this.worm else { return false };
        let there = |upstream: ChannelId| self.channels[upstream].arrived > this.sent;
        this.sent < worm.flits
            && worm.upstream.is_none_or(there)
            && (ejects
                || this.sunk.is_some_and(|from| from <= now)
                || this.sent - this.credits(now) < self.wiring.buffer)
    }

    /// Flits that have left the buffer behind a channel: those that all its branches have sent.
    fn taken(&self, channel: &Channel) -> u32 {
        let branches = channel.downstream.iter();
        let sent = branches.map(|&branch| self.channels[branch].sent);
        sent.min().unwrap_or(0)
    }

    /// The channel that a link would serve, before tokens and sharing.
    fn candidate(
        &self,
        link: LinkId,
        now: Cycle,
        witness: &impl Witness<Self>,
    ) -> Option<ChannelId> {
        let state = &self.links[link];
        if state.unsent == 0 {
            return None;
        }
        let ejects = self.wiring.wires[link].ejects;
        let able = self
            .wiring
            .lanes
            .of(link)
            .filter(|&channel| self.can(channel, ejects, now));
        match self.wiring.multiplexing {
            Multiplexing::OldestFirst => able.reduce(|best, other| {
                if witness.precedes(other, best) {
                    other
                } else {
                    best
                }
            }),
            Multiplexing::RoundRobin => {
                let lanes = self.wiring.lanes;
                let first = state.last.map_or(0, |(last, _)| lanes.lane(last) + 1);
                able.min_by_key(|&channel| {
                    (lanes.lane(channel) + lanes.count - first) % lanes.count
                })
            }
        }
    }

    /// Second pass: a link's decision, on the state at the start of the cycle.
    fn decide(
        &mut self,
        link: LinkId,
        now: Cycle,
        witness: &impl Witness<Self>,
    ) -> Option<Decision> {
        let mut candidate = self.candidate(link, now, witness);
        if let (Some(_), Some(Sharing { partner, phase, .. })) =
            (candidate, self.wiring.wires[link].shared)
            && self.wiring.pauses(phase, now)
            && self.candidate(partner, now, witness).is_some()
        {
            candidate = None;
            self.active = true;
        }
        let state = &self.links[link];
        if state.slots.ready > now {
            self.active = true;
            return None;
        }
        let goes_on = |channel| state.last.is_some_and(|last| last == (channel, now));
        match candidate {
            Some(channel) if state.owed == 0 || goes_on(channel) => Some(Decision::Move(channel)),
            _ if state.owed > 0 => Some(Decision::Token(link)),
            _ => None,
        }
    }

    /// Third pass: applies a decision.
    fn apply(&mut self, decision: Decision, now: Cycle, witness: &mut impl Witness<Self>) {
        let number = match decision {
            Decision::Token(link) => {
                let pace = self.wiring.wires[link].pace;
                let state = &mut self.links[link];
                state.owed -= 1;
                state.carried.tokens += 1;
                state.slots.take(pace, now);
                return;
            }
            Decision::Move(number) => number,
        };
        self.copied += u64::from(self.copies(number));
        let link = self.link_of(number);
        let wire = &self.wiring.wires[link];
        let state = &mut self.links[link];
        state.slots.take(wire.pace, now);
        state.last = Some((number, state.slots.ready));
        state.carried.flits += 1;
        let arrival = now + Cycle::from(wire.delay);
        let channel = &mut self.channels[number];
        channel.sent += 1;
        if channel.sent == 1 {
            witness.note(MotionReport::Head(number));
        }
        if let Some(worm) = channel.worm
            && worm.flits == channel.sent
        {
            state.unsent -= 1;
            witness.note_tail(number, now, worm.upstream, wire.ejects.then_some(arrival));
        }
        self.arrivals[arrival as usize % ARRIVALS].push(number);
        self.on_wires += 1;
    }

    /// Whether a channel's next flit stays in the buffer from which it is sent, for another branch.
    fn copies(&self, channel: ChannelId) -> bool {
        let this = &self.channels[channel];
        let upstream = this.worm.and_then(|worm| worm.upstream);
        upstream.is_some_and(|upstream| {
            let branches = &self.channels[upstream].downstream;
            let waits =
                |&branch: &ChannelId| branch != channel && self.channels[branch].sent <= this.sent;
            branches.iter().any(waits)
        })
    }

    /// This cycle's flits have moved: the channel before a decision's channel gets its credits.
    fn send_credits(&mut self, decision: Decision, now: Cycle) {
        let Decision::Move(number) = decision else {
            return;
        };
        let worm = self.channels[number].worm;
        if let Some(upstream) = worm.and_then(|worm| worm.upstream) {
            let taken = self.taken(&self.channels[upstream]);
            let delay = self.wiring.wires[self.link_of(upstream)].credit;
            let at = now + Cycle::from(delay);
            self.channels[upstream].leave(taken, now, at);
        }
    }

    /// Whether a link with flits to send gets credits in a later cycle.
    fn awaits_credits(&self, link: LinkId, now: Cycle) -> bool {
        let mut channels = self.wiring.lanes.of(link);
        self.links[link].unsent > 0
            && channels.any(|channel| self.channels[channel].awaits_credits(now))
    }

    /// Removes from the list the links without flits to send and without debt.
    fn forget_idle(&mut self) {
        let links = &mut self.links;
        self.busy.retain(|&link| {
            let state = &mut links[link];
            state.listed = state.unsent > 0 || state.owed > 0;
            state.listed
        });
    }
}

/// The mover keeps its own tables.
impl State for FlitMover {
    type Link = ();
    type Channel = ();

    fn at_rest(&self, _link: LinkId, _hop: &Hop) {}

    fn closed(&self) {}
}

impl Motion for FlitMover {
    fn arrive(&mut self, now: Cycle, witness: &mut impl Witness<Self>) {
        let mut arrivals = std::mem::take(&mut self.arrivals[now as usize % ARRIVALS]);
        self.on_wires -= arrivals.len();
        for channel in arrivals.drain(..) {
            let ejects = self.wiring.wires[self.link_of(channel)].ejects;
            let state = &mut self.channels[channel];
            state.arrived += 1;
            self.discarded += u64::from(state.sunk.is_some());
            if ejects {
                self.delivered += 1;
            } else if state.arrived == 1 {
                witness.note(MotionReport::Header(channel));
            }
        }
        self.arrivals[now as usize % ARRIVALS] = arrivals;
    }

    fn read(&mut self, event: Event, _now: Cycle, _witness: &mut impl Witness<Self>) {
        unreachable!("the flit mover enters no events, and so not {event:?}");
    }

    fn open(
        &mut self,
        channel: ChannelId,
        worm: Worm,
        _now: Cycle,
        _witness: &mut impl Witness<Self>,
    ) {
        assert!(
            self.channels[channel].worm.is_none(),
            "a channel is granted twice"
        );
        self.channels[channel] = Channel {
            worm: Some(worm),
            ..Channel::default()
        };
        if let Some(upstream) = worm.upstream {
            self.channels[upstream].downstream.push(channel);
        }
        let link = self.link_of(channel);
        self.links[link].unsent += 1;
        self.list(link);
    }

    fn close(&mut self, number: ChannelId, _now: Cycle, _witness: &mut impl Witness<Self>) {
        let channel = &mut self.channels[number];
        let worm = channel
            .worm
            .take()
            .expect("only a granted channel is closed");
        assert_eq!(
            channel.arrived, worm.flits,
            "a channel is closed before its worm has passed"
        );
        // The channel upstream may be open still, for other branches.
        if let Some(upstream) = worm.upstream {
            let state = &mut self.channels[upstream];
            let before = state.downstream.len();
            state.downstream.retain(|&branch| branch != number);
            if state.downstream.len() < before && state.downstream.is_empty() {
                // All flits have passed on: only the channel's last credits are on their way.
                state.sunk = Some(0);
            }
        }
    }

    fn charge(&mut self, link: LinkId, _now: Cycle, _witness: &mut impl Witness<Self>) {
        self.links[link].owed += 1;
        self.list(link);
    }

    fn expect(&mut self, _channel: ChannelId, _flits: u32, _records: &mut Records<Self>) {
        unreachable!("the flit mover moves whole networks");
    }

    fn sink(&mut self, channel: ChannelId, now: Cycle, _witness: &mut impl Witness<Self>) {
        let delay = self.wiring.wires[self.link_of(channel)].credit;
        let state = &mut self.channels[channel];
        assert!(
            state.downstream.is_empty() && state.sunk.is_none(),
            "a worm that goes on is sunk"
        );
        state.sunk = Some(now + Cycle::from(delay) - 1);
        self.discarded += u64::from(state.arrived);
    }

    fn detach(&mut self, channel: ChannelId, _witness: &mut impl Witness<Self>) {
        let state = &mut self.channels[channel];
        state.downstream.clear();
        state.sunk = Some(0);
    }

    /// Tails are reported when they are sent.
    fn look(&mut self, _channel: ChannelId, _now: Cycle, _witness: &mut impl Witness<Self>) {}

    fn step(&mut self, now: Cycle, witness: &mut impl Witness<Self>) {
        self.active = false;
        let mut decisions = std::mem::take(&mut self.decisions);
        for index in 0..self.busy.len() {
            decisions.extend(self.decide(self.busy[index], now, witness));
        }
        for &decision in &decisions {
            self.apply(decision, now, witness);
        }
        for &decision in &decisions {
            self.send_credits(decision, now);
        }
        self.events += decisions.len() as u64;
        self.active |= !decisions.is_empty() || self.on_wires > 0;
        let mut busy = self.busy.iter();
        self.active = self.active || busy.any(|&link| self.awaits_credits(link, now));
        decisions.clear();
        self.decisions = decisions;
        self.forget_idle();
    }

    fn next(&self, now: Cycle, due: Option<Cycle>) -> Option<Cycle> {
        if self.active { Some(now + 1) } else { due }
    }

    fn carried(&self, _records: &Records<Self>, link: LinkId, _now: Cycle) -> LinkTotals {
        self.links[link].carried
    }

    fn passed(&self, _records: &Records<Self>, _channel: ChannelId, _now: Cycle) -> FlitFate {
        unreachable!("the flit mover moves whole networks");
    }

    fn census(
        &self,
        _records: &Records<Self>,
        _now: Cycle,
        _behind: &dyn Fn(ChannelId) -> FlitFate,
    ) -> FlitCensus {
        let mut census = FlitCensus {
            delivered: self.delivered,
            discarded: self.discarded,
            copied: self.copied,
            ..FlitCensus::default()
        };
        for (number, channel) in self.channels.iter_enumerated() {
            let wire = self.wiring.wires[self.link_of(number)];
            if channel.worm.is_none() {
                continue;
            }
            let taken = if wire.ejects || channel.sunk.is_some() {
                channel.arrived
            } else {
                self.taken(channel)
            };
            let held = channel.sent - taken;
            assert!(
                wire.ejects || channel.sunk.is_some() || held <= self.wiring.buffer,
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

    fn events(&self) -> u64 {
        self.events
    }

    fn reverse(&mut self) {
        self.busy.reverse();
    }
}
