//! Evaluation of links: which channel moves, and which links a change concerns.

use super::WormMover;
use super::state::{NO_ADAPTER, NONE};
use crate::motion::{Event, Moved, Witness};
use crate::{ChannelId, Cycle, LinkId, Place};

impl WormMover {
    /// The rule: whether a channel that has flits to send can move in this cycle. To make both comparisons is faster than a
    /// branch that the processor cannot foresee.
    #[inline]
    pub(super) fn can(&self, channel: ChannelId, now: Cycle) -> bool {
        let this = &self.channels[channel];
        let sent = this.sent.at(now);
        let there = self.channels[this.up].arrived.at(now) > sent;
        let down = &self.channels[this.down];
        let room = down.sent.at(now) + self.buffer > sent;
        there & room & (down.sibling == NONE || self.others_have_room(down.sibling, sent, now))
    }

    /// Whether branch `first` and all branches behind it in the chain have room for flit number `sent`, counted from 0.
    #[cold]
    fn others_have_room(&self, first: ChannelId, sent: u32, now: Cycle) -> bool {
        let mut others = self.branches(first);
        others.all(|other| self.channels[other].sent.at(now) + self.buffer > sent)
    }

    /// Channel `first` and the channels behind it in the chain of siblings; none, if `first` is the sink or nowhere.
    pub(super) fn branches(&self, first: ChannelId) -> impl Iterator<Item = ChannelId> {
        let mut next = first;
        std::iter::from_fn(move || {
            // The special channels and [`NONE`] have the highest numbers.
            let branch = (next < self.specials.source).then_some(next)?;
            next = self.channels[branch].sibling;
            Some(branch)
        })
    }

    /// The channel that a link would serve, before tokens and sharing.
    #[inline]
    fn candidate(&self, link: LinkId, now: Cycle, witness: &impl Witness) -> ChannelId {
        let unsent = self.links[link].unsent;
        if unsent == 0 {
            return NONE;
        }
        let channel = self.lanes.channel(link, unsent.trailing_zeros());
        let can = self.can(channel, now);
        if !unsent.is_power_of_two() {
            return self.best(link, if can { channel } else { NONE }, now, witness);
        }
        // Mostly there is one.
        if can { channel } else { NONE }
    }

    /// [`Self::candidate`] where several channels have flits to send, of which the first has been looked at.
    #[inline(never)]
    fn best(
        &self,
        link: LinkId,
        first: ChannelId,
        now: Cycle,
        witness: &impl Witness,
    ) -> ChannelId {
        let unsent = self.links[link].unsent;
        let mut others = unsent & (unsent - 1);
        let mut best = first;
        while others != 0 {
            let channel = self.lanes.channel(link, others.trailing_zeros());
            if self.can(channel, now) && (best == NONE || witness.precedes(channel, best)) {
                best = channel;
            }
            others &= others - 1;
        }
        best
    }

    /// Whether a link would serve a channel, before tokens and sharing.
    pub(super) fn has_candidate(&self, link: LinkId, now: Cycle) -> bool {
        let mut unsent = self.links[link].unsent;
        while unsent != 0 {
            if self.can(self.lanes.channel(link, unsent.trailing_zeros()), now) {
                return true;
            }
            unsent &= unsent - 1;
        }
        false
    }

    /// Has the link of a channel that may have become able looked at, unless the link goes on with one that precedes it.
    pub(super) fn consider(&mut self, channel: ChannelId, now: Cycle, witness: &impl Witness) {
        let link = self.link_of(channel);
        let state = &self.links[link];
        if state.mover == NONE || state.next <= now || witness.precedes(channel, state.mover) {
            self.mark(link);
        }
    }

    /// Has a marked link do what the state at the start of the cycle demands. A second evaluation changes nothing.
    pub(super) fn evaluate(&mut self, link: LinkId, now: Cycle, witness: &mut impl Witness) {
        self.look_for_the_end(link, now, witness);
        let mut candidate = self.candidate(link, now, witness);
        let adapter = self.links[link].adapter;
        if adapter != NO_ADAPTER {
            candidate = self.share(adapter, link, candidate, now, witness);
        }
        self.serve(link, candidate, now, witness);
    }

    /// The candidate of an adapter's link after sharing: none while the link pauses, if its partner wants to move too. If the
    /// partner pauses, this look may concern the partner, which is then looked at too.
    fn share(
        &mut self,
        number: Place,
        link: LinkId,
        candidate: ChannelId,
        now: Cycle,
        witness: &mut impl Witness,
    ) -> ChannelId {
        let adapter = &self.adapters[number];
        let side = usize::from(link == adapter.links[1]);
        let partner = adapter.links[1 - side];
        if self.links[partner].unsent == 0 {
            return candidate;
        }
        if adapter.turn <= now {
            let rival = self.has_candidate(partner, now);
            if candidate == NONE || !rival {
                // At most one link can move, so that no pause holds. The partner may have stood in one till now.
                if rival && self.links[partner].mover == NONE {
                    self.mark(partner);
                }
                return candidate;
            }
            let adapter = &mut self.adapters[number];
            adapter.find_windows(now, self.share_period, self.share_burst);
            witness.foresee(adapter.turn, Event::Turn(number));
        }
        let adapter = &self.adapters[number];
        let [own, other] = [adapter.pauses[side], adapter.pauses[1 - side]];
        if other {
            self.mark(partner);
        }
        if own && self.has_candidate(partner, now) {
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
        let link = &self.links[number];
        if link.mover == candidate {
            if candidate != NONE && link.next <= now {
                self.predict(number, candidate, now, witness);
            }
            return;
        }
        if link.mover != NONE {
            self.stop(number, now, witness);
        }
        if candidate == NONE {
            return;
        }
        let clear = self.links[number].since;
        if clear <= now {
            self.start(number, candidate, now, witness);
        } else {
            self.foresee(number, clear, now, witness);
        }
    }

    /// A channel begins to move.
    fn start(
        &mut self,
        number: LinkId,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness,
    ) {
        let link = &mut self.links[number];
        link.mover = channel;
        link.since = now;
        let (delay, injects, ejects) = (link.delay, link.injects, link.ejects);
        let this = &mut self.channels[channel];
        let sent = this.sent.at(now);
        this.sent.start(now);
        let up = this.up;
        if sent == 0 {
            witness.note(Moved::Head(channel));
        }
        if !ejects {
            witness.foresee(now + u64::from(delay), Event::Starts(channel));
        }
        if !injects {
            // A place falls free in the next cycle. A channel that waits for the place stands.
            let upstream = &self.channels[up];
            let before = upstream.sent.at(now);
            if before == sent + self.buffer && before < upstream.flits {
                witness.foresee(now + 1, Event::Room(up));
            }
        }
        self.predict(number, channel, now, witness);
    }

    /// The link's channel ceases to move, in mid-worm.
    fn stop(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness) {
        let link = &mut self.links[number];
        let (delay, injects, ejects) = (link.delay, link.injects, link.ejects);
        let channel = link.mover;
        let began = link.rest(now);
        self.settled = self.settled.max(link.since);
        let this = &mut self.channels[channel];
        this.sent.stop(now);
        let (up, sent) = (this.up, this.sent.at(now));
        if ejects {
            self.note_run(number, began, now);
        } else {
            witness.foresee(now + u64::from(delay), Event::Stops(channel));
        }
        if !injects {
            // From here on the buffer behind the channel upstream fills.
            let link = self.link_of(up);
            let state = &self.links[link];
            if state.mover == up && state.next > now {
                let room = sent + self.buffer - self.channels[up].sent.at(now);
                let full = now + u64::from(room);
                if full < state.next {
                    self.foresee(link, full, now, witness);
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
        let this = &mut self.channels[channel];
        let before = this.arrived.at(now - 1);
        this.arrived.start(now - 1);
        let down = this.down;
        if before == 0 {
            self.headers.push(channel);
            witness.note(Moved::Header(channel));
            return;
        }
        if down >= self.specials.source {
            return;
        }
        self.feed(down, before, now, witness);
        let sibling = self.channels[down].sibling;
        if sibling != NONE {
            self.for_each(sibling, |mover, other| {
                mover.feed(other, before, now, witness);
            });
        }
    }

    /// More than `before` flits arrive in front of a channel.
    #[inline]
    fn feed(&mut self, channel: ChannelId, before: u32, now: Cycle, witness: &impl Witness) {
        if self.channels[channel].sent.at(now) == before {
            self.consider(channel, now, witness);
        }
    }

    /// Calls `act` with branch `first` and with each branch behind it in the chain.
    #[cold]
    fn for_each(&mut self, first: ChannelId, mut act: impl FnMut(&mut Self, ChannelId)) {
        let mut next = first;
        while next != NONE {
            let branch = next;
            next = self.channels[branch].sibling;
            act(self, branch);
        }
    }

    /// Flits cease to arrive behind a channel.
    pub(super) fn arrivals_stop(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness,
    ) {
        let this = &mut self.channels[channel];
        this.arrived.stop(now - 1);
        let (arrived, down) = (this.arrived.at(now), this.down);
        if down >= self.specials.source {
            return;
        }
        self.starve(down, arrived, now, witness);
        let sibling = self.channels[down].sibling;
        if sibling != NONE {
            self.for_each(sibling, |mover, other| {
                mover.starve(other, arrived, now, witness);
            });
        }
    }

    /// No more than `arrived` flits arrive in front of a channel.
    #[inline]
    fn starve(&mut self, channel: ChannelId, arrived: u32, now: Cycle, witness: &mut impl Witness) {
        let link = self.link_of(channel);
        let state = &self.links[link];
        if state.mover == channel {
            let left = arrived - self.channels[channel].sent.at(now);
            let empty = now + u64::from(left);
            if left == 0 {
                self.dry(link, now, witness);
            } else if empty < state.next {
                self.foresee(link, empty, now, witness);
            }
        }
    }

    /// No flit is left for the mover of a link, and none arrives. If the mover is the only channel with flits to send, and
    /// the link shares no port, there is nothing to choose, and the mover stops at once: a channel that is granted in this
    /// cycle finds the link at rest, as if the link had been evaluated.
    fn dry(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness) {
        let link = &self.links[number];
        if link.adapter == NO_ADAPTER && link.unsent.is_power_of_two() {
            self.stop(number, now, witness);
        } else {
            self.mark(number);
        }
    }
}
