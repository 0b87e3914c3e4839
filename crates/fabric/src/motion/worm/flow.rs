//! Link evaluation: the channel that moves, and the links that a change concerns. Their records are
//! fetched before they are needed.

use super::Records;
use super::WormMover;
use super::slow;
use super::state::NONE;
use crate::motion::{Event, MotionReport, Witness};
use crate::prefetch::{at_stage, prefetch};
use crate::records::{Count, Moment};
use crate::{ChannelId, Cycle, LinkId, Place};

impl WormMover {
    /// Prefetches the records that the marked links need when they are looked at, in stages: the
    /// record of the link at `place`, and for links before it the records named by those in the
    /// stage before.
    #[inline(never)]
    pub(super) fn look_at_link(&self, place: usize, witness: &impl Witness<Self>) {
        let records = witness.records();
        let marked = |stage| at_stage(&self.marked, place, stage);
        let first = |stage: usize| {
            let link = marked(stage)?;
            let unsent = records.links[link].motion.unsent;
            (unsent != 0).then(|| self.lanes.channel(link, unsent.trailing_zeros()))
        };
        let adapter = |stage: usize| {
            let link = marked(stage)?;
            let shares = records.links[link].motion.shares();
            shares.then(|| self.adapter_of(link).0)
        };
        if let Some(link) = marked(0) {
            records.fetch_link(link);
        }
        if let Some(channel) = first(1) {
            records.fetch_channel(channel);
        }
        if let Some(adapter) = adapter(1) {
            prefetch(self.adapters.get(adapter));
        }
        if let Some(adapter) = adapter(2) {
            let both = &self.adapters[adapter].links;
            for &link in both {
                records.fetch_link(link);
            }
        }
        if let Some(channel) = first(2) {
            let this = &records.channels[channel].motion;
            records.fetch_channel(this.up);
            records.fetch_channel(this.down);
            witness.fetch_packet(channel);
        }
    }

    /// The rule: whether a channel that has flits to send can move in this cycle. To make both
    /// comparisons is faster than a branch that the processor cannot foresee.
    #[inline]
    pub(super) fn can(&self, records: &Records, channel: ChannelId, now: Cycle) -> bool {
        let channels = &records.channels;
        let this = &channels[channel].motion;
        let sent = this.sent.at(now);
        let there = channels[this.up].motion.arrived.at(now) > sent;
        let down = &channels[this.down].motion;
        let room = down.sent.at(now) + self.buffer > sent;
        there & room & (!down.is_complex() || self.all_have_room(records, this.down, sent, now))
    }

    /// Whether branch `first` and all branches behind it in the chain have room for flit number
    /// `sent`, counted from 0.
    #[cold]
    fn all_have_room(&self, records: &Records, first: ChannelId, sent: u32, now: Cycle) -> bool {
        let mut branches = self.branches(first);
        branches.all(|branch| {
            let credits = self.returns.of(branch);
            let line = credits.map_or(records.channels[branch].motion.sent, |credits| credits.line);
            line.at(now) + self.buffer > sent
        })
    }

    /// Channel `first` and the channels behind it in the sibling chain; empty, if `first` is the
    /// sink or nowhere.
    pub(super) fn branches(&self, first: ChannelId) -> impl Iterator<Item = ChannelId> {
        let mut next = first;
        std::iter::from_fn(move || {
            // The special channels and [`NONE`] have the highest numbers.
            let branch = (next < self.specials.source).then_some(next)?;
            next = self.sibling(branch);
            Some(branch)
        })
    }

    /// The next channel with the same channel upstream, or [`NONE`].
    pub(super) fn sibling(&self, channel: ChannelId) -> ChannelId {
        self.siblings.get(&channel).copied().unwrap_or(NONE)
    }

    /// Removes a closed branch from its sibling chain; the siblings may still have flits to send.
    #[cold]
    pub(super) fn unlink(&mut self, records: &mut Records, channel: ChannelId, up: ChannelId) {
        let first = records.channels[up].motion.down;
        let behind = self.siblings.remove(&channel);
        if first == channel && up < self.specials.source {
            // Behind the last branch all has passed on.
            records.channels[up].motion.down = behind.unwrap_or(self.specials.sink);
            return;
        }
        let mut others = self.branches(first);
        let before = others.find(|&other| self.sibling(other) == channel);
        drop(others);
        if let Some(before) = before {
            match behind {
                Some(behind) => self.siblings.insert(before, behind),
                None => self.siblings.remove(&before),
            };
            let is_complex = behind.is_some() || self.returns.of(before).is_some();
            records.channels[before].motion.set_complex(is_complex);
        }
    }

    /// The channel that a link would serve, before tokens and sharing.
    #[inline]
    fn candidate(&self, link: LinkId, now: Cycle, witness: &impl Witness<Self>) -> ChannelId {
        let records = witness.records();
        let unsent = records.links[link].motion.unsent;
        if unsent == 0 {
            return NONE;
        }
        let channel = self.lanes.channel(link, unsent.trailing_zeros());
        let can = self.can(records, channel, now);
        if !unsent.is_power_of_two() {
            return self.best(link, if can { channel } else { NONE }, now, witness);
        }
        // Mostly there is one.
        if can { channel } else { NONE }
    }

    /// [`Self::candidate`] where several channels have flits to send, and the first has been looked
    /// at.
    #[inline(never)]
    fn best(
        &self,
        link: LinkId,
        first: ChannelId,
        now: Cycle,
        witness: &impl Witness<Self>,
    ) -> ChannelId {
        let records = witness.records();
        let unsent = records.links[link].motion.unsent;
        let mut others = unsent & (unsent - 1);
        let mut best = first;
        while others != 0 {
            let channel = self.lanes.channel(link, others.trailing_zeros());
            if self.can(records, channel, now) && (best == NONE || witness.precedes(channel, best))
            {
                best = channel;
            }
            others &= others - 1;
        }
        best
    }

    /// Whether a link would serve a channel, before tokens and sharing.
    pub(super) fn has_candidate(&self, records: &Records, link: LinkId, now: Cycle) -> bool {
        let mut unsent = records.links[link].motion.unsent;
        while unsent != 0 {
            let channel = self.lanes.channel(link, unsent.trailing_zeros());
            if self.can(records, channel, now) {
                return true;
            }
            unsent &= unsent - 1;
        }
        false
    }

    /// Has a channel's link looked at after the channel may have become able, unless the link
    /// continues with one that precedes it.
    pub(super) fn consider(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let number = self.link_of(channel);
        let link = &witness.records().links[number].motion;
        if link.rests()
            || link.next.has_come(now)
            || witness.precedes(channel, self.mover(link, number))
        {
            self.mark(number, witness);
        }
    }

    /// Has a marked link act on the state at the start of the cycle. A second evaluation changes
    /// nothing.
    pub(super) fn evaluate(&mut self, link: LinkId, now: Cycle, witness: &mut impl Witness<Self>) {
        self.look_for_the_end(link, now, witness);
        let mut candidate = self.candidate(link, now, witness);
        if witness.records().links[link].motion.shares() {
            candidate = self.share(link, candidate, now, witness);
        }
        if self.slow.are_there() && self.slow.has(link) {
            return slow::evaluate(self, (link, candidate), now, witness);
        }
        self.serve(link, candidate, now, witness);
    }

    /// An adapter link's candidate after sharing: `NONE` while the link pauses, if its partner
    /// wants to move too. If the partner pauses, this look may concern the partner, which is then
    /// looked at too.
    fn share(
        &mut self,
        link: LinkId,
        candidate: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) -> ChannelId {
        let (number, side) = self.adapter_of(link);
        let adapter = &self.adapters[number];
        let partner = adapter.links[1 - side];
        let records = witness.records();
        if records.links[partner].motion.unsent == 0 {
            return candidate;
        }
        if adapter.turn <= now {
            let rival = self.has_candidate(records, partner, now);
            if candidate == NONE || !rival {
                // At most one link can move, so that no pause holds. The partner may have stood in
                // one till now.
                if rival && records.links[partner].motion.rests() {
                    self.mark(partner, witness);
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
            self.mark(partner, witness);
        }
        if own && self.has_candidate(witness.records(), partner, now) {
            return NONE;
        }
        candidate
    }

    /// Serves a channel, or rests, from this cycle on.
    fn serve(
        &mut self,
        number: LinkId,
        candidate: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let link = &witness.records().links[number].motion;
        let mover = self.mover(link, number);
        if mover == candidate {
            if candidate != NONE && link.next.has_come(now) {
                self.predict(number, candidate, now, witness);
            }
            return;
        }
        if mover != NONE {
            self.stop(number, now, witness);
        }
        if candidate == NONE {
            return;
        }
        let clear = witness.records().links[number].motion.since.by(now);
        if clear <= now {
            self.start(number, candidate, now, witness);
        } else {
            Self::foresee(number, clear, now, witness);
        }
    }

    /// A channel begins to move.
    fn start(
        &mut self,
        number: LinkId,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let records = witness.records_mut();
        let link = &mut records.links[number];
        link.motion.mover = self.lanes.lane(channel) as u8;
        link.motion.since = Moment::new(now);
        let hop = link.hop;
        let this = &mut records.channels[channel].motion;
        let sent = this.sent.at(now);
        this.sent.start(now);
        let (up, complex) = (this.up, this.is_complex());
        if sent == 0 {
            witness.note(MotionReport::Head(channel));
        }
        if !hop.ejects() {
            let (at, event) = (now + hop.delay(), Event::Starts(channel));
            if hop.is_outbound() {
                witness.send_on(number, at, event);
            } else {
                witness.foresee(at, event);
            }
        }
        if complex && self.turn_credits(channel, now, witness) {
            // The channel upstream has the first credit later, or is in another region.
        } else if !hop.injects() {
            // A place falls free in the next cycle. A channel that waits for the place stands.
            let upstream = &witness.records().channels[up].motion;
            let before = upstream.sent.at(now);
            if before == sent + self.buffer && before < upstream.flits() {
                witness.foresee(now + 1, Event::Room(up));
            }
        }
        self.predict(number, channel, now, witness);
    }

    /// The link's channel ceases to move, in mid-worm.
    fn stop(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness<Self>) {
        let records = witness.records_mut();
        let link = &records.links[number];
        let (hop, channel) = (link.hop, self.mover(&link.motion, number));
        let began = self.rest(records, number, now);
        let this = &mut records.channels[channel].motion;
        this.sent.stop(now);
        let (up, sent, complex) = (this.up, this.sent.at(now), this.is_complex());
        if hop.ejects() {
            self.note_run(number, (began, now), hop.delay());
        } else if hop.is_outbound() {
            witness.send_on(number, now + hop.delay(), Event::Stops(channel));
        } else {
            witness.foresee(now + hop.delay(), Event::Stops(channel));
        }
        if complex && self.turn_credits(channel, now, witness) {
            // The buffer behind the channel upstream fills later, as its sender sees it.
        } else if !hop.injects() {
            // From here on the buffer behind the channel upstream fills.
            let records = witness.records();
            let number = self.link_of(up);
            let link = &records.links[number].motion;
            let next = link.next.by(now);
            if link.serves(self.lanes.lane(up)) && next > now {
                let room = sent + self.buffer - records.channels[up].motion.sent.at(now);
                let full = now + u64::from(room);
                if full < next {
                    Self::foresee(number, full, now, witness);
                }
            }
        }
    }

    /// Notes that a link into a node, with this delay, has moved in the cycles from the first to
    /// before the second.
    pub(super) fn note_run(&mut self, link: LinkId, run: (Cycle, Cycle), delay: Cycle) {
        let place = self.place_of(link);
        self.runs[place].note(run, delay);
    }

    /// The place at which a link into a node ends: these links are numbered in place order.
    pub(super) fn place_of(&self, ejection: LinkId) -> Place {
        Place::new(ejection.get() - self.first_ejection.get())
    }

    /// Has a link rest from cycle `end` on. Returns since when it moved flits.
    pub(super) fn rest(&mut self, records: &mut Records, number: LinkId, end: Cycle) -> Cycle {
        let link = &mut records.links[number].motion;
        let began = link.rest(end);
        self.settled = self.settled.max(link.since.by(end));
        records.count(number, Count::Flits, end - began);
        began
    }

    /// Flits begin to arrive behind a channel.
    #[expect(
        clippy::inline_always,
        reason = "2% of the instructions, and a call otherwise"
    )]
    #[inline(always)]
    pub(super) fn arrivals_start(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let this = &mut witness.records_mut().channels[channel].motion;
        let before = this.arrived.at(now - 1);
        this.arrived.start(now - 1);
        let down = this.down;
        self.arrives_behind((channel, down), before, now, witness);
    }

    /// More than `before` flits have arrived behind a channel, which goes on to the channel `down`.
    #[expect(clippy::inline_always, reason = "as of `arrivals_start`")]
    #[inline(always)]
    pub(super) fn arrives_behind(
        &mut self,
        (channel, down): (ChannelId, ChannelId),
        before: u32,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        if before == 0 {
            self.headers.push(channel);
            witness.note(MotionReport::Header(channel));
            return;
        }
        if down >= self.specials.source {
            return;
        }
        self.feed(down, before, now, witness);
        if witness.records().channels[down].motion.is_complex() {
            self.for_each_behind(down, |mover, other| {
                mover.feed(other, before, now, witness);
            });
        }
    }

    /// More than `before` flits arrive in front of a channel.
    #[inline]
    fn feed(
        &mut self,
        channel: ChannelId,
        before: u32,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        if witness.records().channels[channel].motion.sent.at(now) == before {
            self.consider(channel, now, witness);
        }
    }

    /// Calls `act` with each branch behind branch `first` in the chain.
    #[cold]
    fn for_each_behind(&mut self, first: ChannelId, mut act: impl FnMut(&mut Self, ChannelId)) {
        let mut next = self.sibling(first);
        while next != NONE {
            let branch = next;
            next = self.sibling(branch);
            act(self, branch);
        }
    }

    /// Flits cease to arrive behind a channel.
    pub(super) fn arrivals_stop(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let this = &mut witness.records_mut().channels[channel].motion;
        this.arrived.stop(now - 1);
        let (arrived, down) = (this.arrived.at(now), this.down);
        if down >= self.specials.source {
            return;
        }
        self.starve(down, arrived, now, witness);
        if witness.records().channels[down].motion.is_complex() {
            self.for_each_behind(down, |mover, other| {
                mover.starve(other, arrived, now, witness);
            });
        }
    }

    /// No more than `arrived` flits arrive in front of a channel.
    #[inline]
    fn starve(
        &mut self,
        channel: ChannelId,
        arrived: u32,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let number = self.link_of(channel);
        let records = witness.records();
        let link = &records.links[number].motion;
        if link.serves(self.lanes.lane(channel)) {
            let left = arrived - records.channels[channel].motion.sent.at(now);
            let empty = now + u64::from(left);
            if left == 0 {
                self.dry(number, now, witness);
            } else if empty < link.next.by(now) {
                Self::foresee(number, empty, now, witness);
            }
        }
    }

    /// A link's mover has no flit left, and no flit arrives. If the mover is the only channel with
    /// flits to send, and the link shares no port, there is no choice, and the mover stops
    /// immediately: a channel that is granted in this cycle finds the link at rest, as if the link
    /// had been evaluated.
    fn dry(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness<Self>) {
        let link = &witness.records().links[number].motion;
        if !link.shares() && link.unsent.is_power_of_two() {
            self.stop(number, now, witness);
        } else {
            self.mark(number, witness);
        }
    }
}
