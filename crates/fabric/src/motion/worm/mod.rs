//! # The worm mover
//!
//! (essay to come)

mod account;
mod event;
mod flow;
mod line;
mod state;

use super::{Carried, ChannelId, FlitCensus, Lanes, Motion, Moved, Wiring, Worm};
use crate::ring::Ring;
use crate::{Config, Cycle, LinkId};
use account::Runs;
use event::Event;
use state::{Adapter, Channel, Link, NONE, Specials};

/// See the essay of the module.
pub struct WormMover {
    channels: Vec<Channel>,
    links: Vec<Link>,
    adapters: Vec<Adapter>,
    /// By node: what its ejection link has moved lately.
    runs: Vec<Runs>,
    first_ejection: LinkId,
    ring: Ring<Event>,
    specials: Specials,
    lanes: Lanes,
    /// Flits of buffer behind each channel.
    buffer: u64,
    share_period: u64,
    share_burst: u64,
    /// Links to look at in this cycle.
    marked: Vec<LinkId>,
    due: Vec<Event>,
    /// Channels that are granted.
    open: usize,
    /// The first cycle in which no link that rests has debts.
    settled: Cycle,
    reversed: bool,
}

impl WormMover {
    /// A mover for an empty fabric.
    pub fn new(config: &Config) -> Self {
        let wiring = Wiring::new(config);
        let links = wiring.wires.len();
        let bound = wiring.lanes.bound(links);
        let specials = Specials::after(bound as u32);
        let mut channels = vec![Channel::closed(specials); bound];
        channels.extend(Channel::specials());
        let mut mover = WormMover {
            channels,
            links: Vec::with_capacity(links),
            adapters: Vec::new(),
            runs: vec![Runs::new(); config.tree.positions() as usize],
            first_ejection: config.tree.ejection(0),
            ring: Ring::new(),
            specials,
            lanes: wiring.lanes,
            buffer: wiring.buffer.into(),
            share_period: wiring.share_period,
            share_burst: wiring.share_burst,
            marked: Vec::new(),
            due: Vec::new(),
            open: 0,
            settled: 0,
            reversed: false,
        };
        for (link, wire) in (0..).zip(&wiring.wires) {
            let mut adapter = NONE;
            if let Some((partner, phase)) = wire.shared
                && wiring.share_burst > 0
            {
                // Injection links have the numbers of their nodes, and come first.
                adapter = partner.min(link);
                if !wire.ejects {
                    let (_, other) = wiring.wires[partner as usize]
                        .shared
                        .expect("sharing is mutual");
                    mover
                        .adapters
                        .push(Adapter::new([link, partner], [phase, other]));
                }
            }
            let injects = wire.shared.is_some() && !wire.ejects;
            mover
                .links
                .push(Link::new(wire.delay as u8, injects, wire.ejects, adapter));
        }
        mover
    }

    fn link_of(&self, channel: ChannelId) -> LinkId {
        self.lanes.link(channel)
    }

    /// Has a link looked at in this cycle.
    fn mark(&mut self, link: LinkId, now: Cycle) {
        let state = &mut self.links[link as usize];
        if state.marked != now {
            state.marked = now;
            self.marked.push(link);
        }
    }

    fn read(&mut self, event: Event, now: Cycle, moved: &mut Vec<Moved>) {
        match event {
            Event::Starts(channel) => self.arrivals_start(channel, now, moved),
            Event::Stops(channel) => self.arrivals_stop(channel, now),
            Event::Room(channel) => self.consider(channel, now),
            Event::Turn(adapter) => {
                for link in self.adapters[adapter as usize].links {
                    self.mark(link, now);
                }
            }
            Event::Due(link) => {
                let state = &mut self.links[link as usize];
                if state.next != now {
                    return;
                }
                state.next = 0;
                let mover = state.mover;
                if mover != NONE {
                    let channel = &self.channels[mover as usize];
                    if channel.sent.at(now) == u64::from(channel.flits) {
                        state.unsent &= !(1 << self.lanes.lane(mover));
                        moved.push(Moved::Tail(mover, now - 1));
                        if state.unsent == 0 && state.adapter == NONE {
                            // Nothing to choose from, and nobody else to ask.
                            self.stop(link, now);
                            return;
                        }
                    }
                }
                self.mark(link, now);
            }
        }
    }
}

impl Motion for WormMover {
    fn arrive(&mut self, now: Cycle, moved: &mut Vec<Moved>) {
        // Nothing is entered for the present cycle: the list does not grow while it is read.
        self.ring.take(now, &mut self.due);
        if self.reversed {
            self.due.reverse();
        }
        for place in 0..self.due.len() {
            self.read(self.due[place], now, moved);
        }
        self.due.clear();
    }

    fn open(&mut self, channel: ChannelId, worm: Worm, now: Cycle) {
        let link = self.link_of(channel);
        let specials = self.specials;
        let ejects = self.links[link as usize].ejects;
        let state = &mut self.channels[channel as usize];
        assert!(state.flits == 0, "a channel is granted twice");
        state.open(&worm, ejects, specials);
        if let Some(upstream) = worm.upstream {
            self.channels[upstream as usize].down = channel;
        }
        if self.open == 0 && self.ring.clear() {
            for adapter in &mut self.adapters {
                adapter.turn = 0;
            }
        }
        self.open += 1;
        self.links[link as usize].unsent |= 1 << self.lanes.lane(channel);
        self.consider(channel, now);
    }

    fn close(&mut self, channel: ChannelId, now: Cycle) {
        let specials = self.specials;
        let state = &mut self.channels[channel as usize];
        assert!(
            state.flits > 0 && state.sent.at(now) == u64::from(state.flits),
            "a channel is closed before its worm has passed"
        );
        assert!(!state.sent.grows());
        state.close(specials);
        self.open -= 1;
    }

    fn charge(&mut self, link: LinkId, now: Cycle) {
        let state = &mut self.links[link as usize];
        state.settle(now);
        state.owed += 1;
        if state.mover == NONE {
            self.settled = self.settled.max(now + u64::from(state.owed));
        }
    }

    fn step(&mut self, now: Cycle, moved: &mut Vec<Moved>) {
        if self.reversed {
            self.marked.reverse();
        }
        for place in 0..self.marked.len() {
            self.evaluate(self.marked[place], now, moved);
        }
        self.marked.clear();
    }

    fn next(&self, now: Cycle) -> Option<Cycle> {
        // Where no worm is, what was foreseen concerns worms that have passed.
        let foreseen = (self.open > 0).then(|| self.ring.next(now + 1)).flatten();
        foreseen.or_else(|| (self.settled > now).then_some(self.settled))
    }

    fn carried(&self, link: LinkId, now: Cycle) -> Carried {
        let mut state = self.links[link as usize];
        state.settle(now);
        Carried {
            flits: state.flits.at(now),
            tokens: state.tokens,
        }
    }

    fn census(&self, now: Cycle) -> FlitCensus {
        self.count(now)
    }

    fn reverse(&mut self) {
        self.reversed = !self.reversed;
    }
}
