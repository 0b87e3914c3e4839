//! Evaluation of links: who moves, how long that can last, and whom a change concerns.

use super::WormMover;
use super::event::{Event, HORIZON};
use super::state::NONE;
use crate::motion::{ChannelId, Moved};
use crate::{Cycle, LinkId};

impl WormMover {
    /// The rule: whether a channel that has flits to send can move in this cycle. Two comparisons that are both made are
    /// faster than a branch that nobody can foresee.
    fn can(&self, channel: ChannelId, now: Cycle) -> bool {
        let this = &self.channels[channel as usize];
        let sent = this.sent.at(now);
        let there = self.channels[this.up as usize].arrived.at(now) > sent;
        let room = self.channels[this.down as usize].sent.at(now) + self.buffer > sent;
        there & room
    }

    /// The channel that a link would serve, before tokens and sharing.
    fn candidate(&self, link: LinkId, now: Cycle) -> ChannelId {
        let mut unsent = self.links[link as usize].unsent;
        let mut best = NONE;
        // Mostly there is one.
        while unsent != 0 {
            let channel = self.lanes.channel(link, unsent.trailing_zeros());
            if self.can(channel, now) && (best == NONE || self.precedes(channel, best)) {
                best = channel;
            }
            unsent &= unsent - 1;
        }
        best
    }

    fn precedes(&self, channel: ChannelId, other: ChannelId) -> bool {
        self.channels[channel as usize].key < self.channels[other as usize].key
    }

    /// Has the link of a channel that may have become able looked at, unless it goes on with an older one.
    pub(super) fn consider(&mut self, channel: ChannelId, now: Cycle) {
        let link = self.link_of(channel);
        let state = &self.links[link as usize];
        if state.mover == NONE || state.next <= now || self.precedes(channel, state.mover) {
            self.mark(link, now);
        }
    }

    /// Has a marked link do what the state at the start of the cycle demands. Doing so twice changes nothing.
    pub(super) fn evaluate(&mut self, link: LinkId, now: Cycle, moved: &mut Vec<Moved>) {
        let adapter = self.links[link as usize].adapter;
        if adapter == NONE {
            let candidate = self.candidate(link, now);
            self.serve(link, candidate, now, moved);
        } else {
            self.evaluate_adapter(adapter, link, now, moved);
        }
    }

    /// Evaluates a link of an adapter that shares its memory port, and its partner if that is marked too, or concerned.
    fn evaluate_adapter(&mut self, number: u32, link: LinkId, now: Cycle, moved: &mut Vec<Moved>) {
        let adapter = &self.adapters[number as usize];
        if adapter.looked == now {
            return;
        }
        let (links, before) = (adapter.links, adapter.wants);
        let side = usize::from(link == links[1]);
        let other = 1 - side;
        let both_marked = self.links[links[other] as usize].marked == now;
        let mut candidates = [NONE; 2];
        let mut wants = before;
        candidates[side] = self.candidate(link, now);
        wants[side] = candidates[side] != NONE;
        if both_marked {
            candidates[other] = self.candidate(links[other], now);
            wants[other] = candidates[other] != NONE;
        }
        let adapter = &mut self.adapters[number as usize];
        adapter.wants = wants;
        if both_marked {
            adapter.looked = now;
        }
        let both_want = wants == [true; 2];
        if both_want && adapter.turn <= now {
            adapter.find_windows(now, self.share_period, self.share_burst);
            self.ring.post(adapter.turn, Event::Turn(number));
        }
        let pauses = adapter.pauses;
        let mut serve = |side: usize, candidate| {
            let held = both_want && pauses[side];
            self.serve(links[side], if held { NONE } else { candidate }, now, moved);
        };
        serve(side, candidates[side]);
        if both_marked {
            serve(other, candidates[other]);
        } else if wants[side] != before[side] && wants[other] && pauses[other] {
            // The pause of the partner begins or ends with this link's wish to move.
            let candidate = self.candidate(links[other], now);
            let served = if both_want { NONE } else { candidate };
            self.serve(links[other], served, now, moved);
        }
    }

    /// Serves a channel, or none, from this cycle on.
    fn serve(&mut self, number: LinkId, candidate: ChannelId, now: Cycle, moved: &mut Vec<Moved>) {
        let link = &mut self.links[number as usize];
        if link.mover == candidate {
            if candidate != NONE && link.next <= now {
                self.predict(number, candidate, now);
            }
            return;
        }
        if link.mover != NONE {
            self.stop(number, now);
        }
        if candidate == NONE {
            return;
        }
        let link = &mut self.links[number as usize];
        link.settle(now);
        if link.owed == 0 {
            self.start(number, candidate, now, moved);
        } else {
            let paid = now + u64::from(link.owed).min(HORIZON);
            self.foresee(number, paid);
        }
    }

    /// Makes a cycle the link's prediction.
    fn foresee(&mut self, link: LinkId, at: Cycle) {
        if std::mem::replace(&mut self.links[link as usize].next, at) != at {
            self.ring.post(at, Event::Due(link));
        }
    }

    /// Foresees the earliest cycle in which a channel that moves cannot go on, if nothing happens till then.
    fn predict(&mut self, link: LinkId, channel: ChannelId, now: Cycle) {
        let this = &self.channels[channel as usize];
        let (up, down) = (
            &self.channels[this.up as usize].arrived,
            &self.channels[this.down as usize].sent,
        );
        let sent = this.sent.at(now);
        let mut lasts = (u64::from(this.flits) - sent).min(HORIZON);
        if !up.grows() {
            lasts = lasts.min(up.at(now) - sent);
        }
        if !down.grows() {
            lasts = lasts.min(down.at(now) + self.buffer - sent);
        }
        self.foresee(link, now + lasts);
    }

    /// A channel begins to move.
    fn start(&mut self, number: LinkId, channel: ChannelId, now: Cycle, moved: &mut Vec<Moved>) {
        let link = &mut self.links[number as usize];
        link.mover = channel;
        link.since = now;
        link.flits.start(now);
        let this = &mut self.channels[channel as usize];
        let sent = this.sent.at(now);
        this.sent.start(now);
        if sent == 0 {
            moved.push(Moved::Head(channel));
        }
        let fixed = self.links[number as usize];
        if !fixed.ejects {
            self.ring
                .post(now + u64::from(fixed.delay), Event::Starts(channel));
        }
        if !fixed.injects {
            // A place falls free in the next cycle. Whoever waits for it stands.
            let number = self.channels[channel as usize].up;
            let up = &self.channels[number as usize];
            let before = up.sent.at(now);
            if before == sent + self.buffer && before < u64::from(up.flits) {
                self.ring.post(now + 1, Event::Room(number));
            }
        }
        self.predict(number, channel, now);
    }

    /// The link's channel ceases to move.
    pub(super) fn stop(&mut self, number: LinkId, now: Cycle) {
        let link = &mut self.links[number as usize];
        let channel = std::mem::replace(&mut link.mover, NONE);
        let began = std::mem::replace(&mut link.since, now);
        link.flits.stop(now);
        if link.owed > 0 {
            self.settled = self.settled.max(now + u64::from(link.owed));
        }
        let this = &mut self.channels[channel as usize];
        this.sent.stop(now);
        let sent = this.sent.at(now);
        let (up, ends) = (this.up, sent == u64::from(this.flits));
        let fixed = self.links[number as usize];
        if fixed.ejects {
            self.note_run(number, began, now);
        } else if !ends {
            self.ring
                .post(now + u64::from(fixed.delay), Event::Stops(channel));
        }
        if !fixed.injects && !ends {
            // From here on the buffer behind the channel upstream fills.
            let link = self.link_of(up);
            let state = &self.links[link as usize];
            if state.mover == up {
                let full = now + sent + self.buffer - self.channels[up as usize].sent.at(now);
                if full < state.next {
                    self.foresee(link, full);
                }
            }
        }
    }

    /// Flits begin to arrive behind a channel.
    pub(super) fn arrivals_start(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        moved: &mut Vec<Moved>,
    ) {
        let this = &mut self.channels[channel as usize];
        let before = this.arrived.at(now - 1);
        this.arrived.start(now - 1);
        if before == 0 {
            moved.push(Moved::Header(channel));
        }
        let down = this.down;
        if down < self.specials.source && self.channels[down as usize].sent.at(now) == before {
            self.consider(down, now);
        }
    }

    /// Flits cease to arrive behind a channel.
    pub(super) fn arrivals_stop(&mut self, channel: ChannelId, now: Cycle) {
        let this = &mut self.channels[channel as usize];
        this.arrived.stop(now - 1);
        let (arrived, down) = (this.arrived.at(now), this.down);
        if down >= self.specials.source {
            return;
        }
        let link = self.link_of(down);
        let state = &self.links[link as usize];
        if state.mover == down {
            let empty = now + arrived - self.channels[down as usize].sent.at(now);
            if empty == now {
                self.mark(link, now);
            } else if empty < state.next {
                self.foresee(link, empty);
            }
        }
    }
}
