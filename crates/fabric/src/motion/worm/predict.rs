//! Predictions: how long a link can continue, and the ends of worms.

use super::Records;
use super::WormMover;
use super::line::Line;
use super::state::NONE;
use crate::motion::{Event, HORIZON, Witness};
use crate::records::Moment;
use crate::{ChannelId, Cycle, LinkId};

impl WormMover {
    /// Makes cycle `at`, or the horizon if that is nearer, the link's prediction, and enters the
    /// event that has the prediction checked then. Every foreseen cycle may lie beyond the horizon:
    /// the end of a long worm, and with a deep buffer also the last flit that is there, and the
    /// last free place.
    pub(super) fn foresee(number: LinkId, at: Cycle, now: Cycle, witness: &mut impl Witness<Self>) {
        let at = at.min(now + HORIZON);
        let link = &mut witness.records_mut().links[number].motion;
        link.next = Moment::new(at);
        if link.entered != link.next {
            link.entered = link.next;
            witness.foresee(at, Event::Due(number));
        }
    }

    /// Foresees the earliest cycle in which the moving channel cannot go on, if its neighbours do
    /// not change till then.
    pub(super) fn predict(
        &mut self,
        number: LinkId,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let records = witness.records_mut();
        let this = &records.channels[channel].motion;
        let sent = this.sent.at(now);
        let rest = this.flits() - sent;
        let there = records.channels[this.up].motion.arrived.lead(sent, now);
        let behind = sent.wrapping_sub(self.buffer);
        let room = self.room(records, this.down, behind, now);
        let link = &mut records.links[number];
        // Whether a header finds a way on is seen when it arrives.
        let ahead = (sent == 0) & (u64::from(self.buffer) > link.hop.delay());
        let ahead = ahead & !link.hop.is_outbound();
        let link = &mut link.motion;
        let blocked = there.min(if ahead { u32::MAX } else { room });
        if (rest <= blocked) & link.quiet & link.unsent.is_power_of_two() {
            // The worm's end has no waiters.
            link.next = Moment::new(now + u64::from(rest));
            return;
        }
        let lasts = rest.min(blocked);
        Self::foresee(number, now + u64::from(lasts), now, witness);
    }

    /// By how much all branches, from `first` on, will stay ahead of a count; no bound if all
    /// branches move.
    pub(super) fn room(&self, records: &Records, first: ChannelId, count: u32, now: Cycle) -> u32 {
        let down = &records.channels[first].motion;
        if down.is_complex() {
            return self.room_of_all(records, first, count, now);
        }
        down.sent.lead(count, now)
    }

    /// [`Self::room`] for branch `first` and the branches behind it in the chain.
    #[cold]
    fn room_of_all(&self, records: &Records, first: ChannelId, count: u32, now: Cycle) -> u32 {
        let all = self.branches(first);
        let room = all.map(|branch| match self.returns.of(branch) {
            Some(credits) => credits.lead(count, now),
            None => records.channels[branch].motion.sent.lead(count, now),
        });
        room.min().unwrap_or(u32::MAX)
    }

    /// The header of a channel's worm has arrived in this cycle: if the header has no way on, the
    /// buffer fills.
    pub(super) fn limit(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let records = witness.records();
        let this = &records.channels[channel].motion;
        let behind = this.sent.at(now).wrapping_sub(self.buffer);
        let room = self.room(records, this.down, behind, now);
        if room == u32::MAX {
            // All branches move. The link's record need not be fetched.
            return;
        }
        let number = self.link_of(channel);
        let (link, full) = (&records.links[number].motion, now + u64::from(room));
        if link.serves(self.lanes.lane(channel)) && full < link.next.by(now) {
            Self::foresee(number, full, now, witness);
        }
    }

    /// A predicted cycle has come: the worm has ended, or the mover goes on, or the link is looked
    /// at.
    pub(super) fn due(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness<Self>) {
        let mover = self.mover(&witness.records().links[number].motion, number);
        if mover == NONE {
            // A debt is paid.
            self.mark(number, witness);
        } else if self.look_for_the_end(number, now, witness) {
            self.left(number, now, witness);
        } else if self.can(witness.records(), mover, now) {
            self.predict(number, mover, now, witness);
        } else {
            self.mark(number, witness);
        }
    }

    /// A worm has left a link: another channel on the link may go on, or the partner that stood in
    /// its pause.
    fn left(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness<Self>) {
        let link = &witness.records().links[number].motion;
        if link.unsent != 0 {
            self.mark(number, witness);
        } else if link.shares() {
            let (adapter, side) = self.adapter_of(number);
            let (adapter, other) = (&self.adapters[adapter], 1 - side);
            if adapter.turn >= now && adapter.pauses[other] {
                self.mark(adapter.links[other], witness);
            }
        }
    }

    /// The cycle from which on the mover's worm has ended, if it has by cycle `now`, which may be
    /// later than the last cycle that was executed.
    pub(super) fn ended(&self, records: &Records, number: LinkId, now: Cycle) -> Option<Cycle> {
        let link = &records.links[number].motion;
        // Without a look since the prediction, the predicted cycle is the end, however long ago.
        let at = link.next.by(self.last);
        if link.rests() || at > now {
            return None;
        }
        let channel = &records.channels[self.mover(link, number)].motion;
        let beyond = channel.sent.at(at).checked_sub(channel.flits())?;
        Some(at - u64::from(beyond))
    }

    /// Has a link rest after its mover's worm, if the worm's end has come. Returns whether the end
    /// has come.
    #[expect(
        clippy::inline_always,
        reason = "mostly there is nothing to do, at once"
    )]
    #[inline(always)]
    pub(super) fn look_for_the_end(
        &mut self,
        number: LinkId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) -> bool {
        witness.records().links[number].motion.may_have_ended(now)
            && self.rest_from_the_end(number, now, witness)
    }

    /// [`Self::look_for_the_end`] where the prediction is in the past, or in this cycle.
    #[inline(never)]
    pub(super) fn rest_from_the_end(
        &mut self,
        number: LinkId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) -> bool {
        let Some(end) = self.ended(witness.records(), number, now) else {
            return false;
        };
        let records = witness.records_mut();
        let link = &mut records.links[number];
        let (hop, lane) = (link.hop, link.motion.mover);
        link.motion.unsent &= !(1 << lane);
        let began = self.rest(records, number, end);
        let channel = self.lanes.channel(number, lane.into());
        let state = &mut records.channels[channel].motion;
        state.sent = Line::standing(state.flits());
        let upstream = (state.up != self.specials.source).then_some(state.up);
        if hop.ejects() {
            self.note_run(number, (began, end), hop.delay());
        }
        let arrival = hop.ejects().then_some(end - 1 + hop.delay());
        witness.note_tail(channel, end - 1, upstream, arrival);
        true
    }

    /// Keeps lines and moments from coming round: no line grows to 2^32, and each moment stays less
    /// than 2^31 cycles away from the last executed cycle.
    ///
    /// A channel may be held for any time after its last flit has arrived, while the line `R` grows
    /// on: here it ends. Worms without waiters end here, too. Moments in the past move to the
    /// present. A moving link's moments and those ahead lie within the longest worm, or the debt
    /// that its length allows, from the sweep: at most 2^30 cycles. The next sweep is 2^30 cycles
    /// later.
    #[cold]
    pub(super) fn sweep(&mut self, now: Cycle, witness: &mut impl Witness<Self>) {
        for number in witness.records().links.keys() {
            if witness.records().links[number].hop.is_blank() {
                continue;
            }
            self.rest_from_the_end(number, now, witness);
            let link = &mut witness.records_mut().links[number].motion;
            link.settle(self.last, now);
        }
        // Since the last cycle only this cycle's events have happened.
        let idle = now - 1 - self.last;
        let last = self.last;
        for channel in &mut witness.records_mut().channels[..self.specials.source] {
            let channel = &mut channel.motion;
            if !channel.arrived.grows() {
                continue;
            }
            if channel.arrived.after(last, idle) >= u64::from(channel.flits()) {
                channel.arrived = Line::standing(channel.flits());
            }
        }
        self.returns.sweep(last, idle);
        self.swept = now;
        self.last = now - 1;
    }
}
