//! Evaluation of links: who moves, how long that can last, and whom a change concerns.

use super::WormMover;
use super::event::{Event, HORIZON};
use super::state::NONE;
use crate::motion::{ChannelId, Moved, Witness};
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
        self.keys[channel as usize] < self.keys[other as usize]
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
    pub(super) fn evaluate(&mut self, link: LinkId, now: Cycle, witness: &mut impl Witness) {
        let mut candidate = self.candidate(link, now);
        let adapter = self.links[link as usize].adapter;
        if adapter != NONE {
            candidate = self.share(adapter, link, candidate, now);
        }
        self.serve(link, candidate, now, witness);
    }

    /// What remains of the candidate of an adapter's link: none in a pause, if the partner wants to move too. In a pause
    /// of the partner that one may be concerned, and is looked at too.
    fn share(
        &mut self,
        number: u32,
        link: LinkId,
        candidate: ChannelId,
        now: Cycle,
    ) -> ChannelId {
        let adapter = &mut self.adapters[number as usize];
        let side = usize::from(link == adapter.links[1]);
        let partner = adapter.links[1 - side];
        if self.links[partner as usize].unsent == 0 {
            return candidate;
        }
        if adapter.turn <= now {
            adapter.find_windows(now, self.share_period, self.share_burst);
            self.ring.post(adapter.turn, Event::Turn(number));
        }
        let [own, other] = [adapter.pauses[side], adapter.pauses[1 - side]];
        if other {
            self.mark(partner, now);
        }
        if own && self.candidate(partner, now) != NONE {
            return NONE;
        }
        candidate
    }

    /// Serves a channel, or none, from this cycle on.
    fn serve(
        &mut self,
        number: LinkId,
        candidate: ChannelId,
        now: Cycle,
        witness: &mut impl Witness,
    ) {
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
            self.start(number, candidate, now, witness);
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
        let sent = this.sent.at(now);
        let rest = this.flits - sent;
        let there = self.channels[this.up as usize].arrived.lead(sent, now);
        let behind = sent.wrapping_sub(self.buffer);
        let room = self.channels[this.down as usize].sent.lead(behind, now);
        let lasts = rest.min(there).min(room);
        self.foresee(link, now + u64::from(lasts).min(HORIZON));
    }

    /// A prediction has come: the worm has ended, or the link goes on, or is looked at.
    pub(super) fn due(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness) {
        let link = &mut self.links[number as usize];
        link.next = 0;
        let mover = link.mover;
        if mover == NONE {
            // A debt is paid.
            self.mark(number, now);
            return;
        }
        let channel = &self.channels[mover as usize];
        if channel.sent.at(now) == channel.flits {
            link.unsent &= !(1 << self.lanes.lane(mover));
            let alone = link.unsent == 0 && link.adapter == NONE;
            witness.note(Moved::Tail(mover, now - 1));
            if alone {
                // Nothing to choose from, and nobody else to ask.
                self.stop(number, now);
                return;
            }
        } else if self.can(mover, now) {
            self.predict(number, mover, now);
            return;
        }
        self.mark(number, now);
    }

    /// A channel begins to move.
    fn start(
        &mut self,
        number: LinkId,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness,
    ) {
        let link = &mut self.links[number as usize];
        link.mover = channel;
        link.since = now;
        let (delay, injects, ejects) = (link.delay, link.injects, link.ejects);
        let this = &mut self.channels[channel as usize];
        let sent = this.sent.at(now);
        this.sent.start(now);
        let up = this.up;
        if sent == 0 {
            witness.note(Moved::Head(channel));
        }
        if !ejects {
            self.ring
                .post(now + u64::from(delay), Event::Starts(channel));
        }
        if !injects {
            // A place falls free in the next cycle. Whoever waits for it stands.
            let upstream = &self.channels[up as usize];
            let before = upstream.sent.at(now);
            if before == sent + self.buffer && before < upstream.flits {
                self.ring.post(now + 1, Event::Room(up));
            }
        }
        self.predict(number, channel, now);
    }

    /// The link's channel ceases to move.
    fn stop(&mut self, number: LinkId, now: Cycle) {
        let link = &mut self.links[number as usize];
        let channel = std::mem::replace(&mut link.mover, NONE);
        let began = std::mem::replace(&mut link.since, now);
        link.flits += now - began;
        if link.owed > 0 {
            self.settled = self.settled.max(now + u64::from(link.owed));
        }
        let (delay, injects, ejects) = (link.delay, link.injects, link.ejects);
        let this = &mut self.channels[channel as usize];
        this.sent.stop(now);
        let sent = this.sent.at(now);
        let (up, ends) = (this.up, sent == this.flits);
        if ejects {
            self.note_run(number, began, now);
        } else if !ends {
            self.ring
                .post(now + u64::from(delay), Event::Stops(channel));
        }
        if !injects && !ends {
            // From here on the buffer behind the channel upstream fills.
            let link = self.link_of(up);
            let state = &self.links[link as usize];
            if state.mover == up {
                let room = sent + self.buffer - self.channels[up as usize].sent.at(now);
                let full = now + u64::from(room);
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
        witness: &mut impl Witness,
    ) {
        let this = &mut self.channels[channel as usize];
        let before = this.arrived.at(now - 1);
        this.arrived.start(now - 1);
        let down = this.down;
        if before == 0 {
            // Nobody has granted it a way on yet.
            witness.note(Moved::Header(channel));
        } else if down < self.specials.source
            && self.channels[down as usize].sent.at(now) == before
        {
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
            let left = arrived - self.channels[down as usize].sent.at(now);
            let empty = now + u64::from(left);
            if left == 0 {
                self.mark(link, now);
            } else if empty < state.next {
                self.foresee(link, empty);
            }
        }
    }
}
