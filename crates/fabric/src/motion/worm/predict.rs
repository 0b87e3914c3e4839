//! Predictions: how long a link can go on as it does, and the ends of worms.

use super::WormMover;
use super::line::Line;
use super::state::{NO_ADAPTER, NONE};
use crate::motion::{Event, HORIZON, Witness};
use crate::{ChannelId, Cycle, LinkId};

impl WormMover {
    /// Makes cycle `at`, or the horizon if that is nearer, the link's prediction, and enters the event that has the prediction
    /// checked then. Whatever is foreseen may lie beyond the horizon: the end of a long worm, and with a deep buffer also the
    /// last of the flits that are there, and the last place that is free.
    pub(super) fn foresee(
        &mut self,
        number: LinkId,
        at: Cycle,
        now: Cycle,
        witness: &mut impl Witness,
    ) {
        let at = at.min(now + HORIZON);
        let link = &mut self.links[number];
        link.next = at;
        if link.entered != at {
            link.entered = at;
            witness.foresee(at, Event::Due(number));
        }
    }

    /// Foresees the earliest cycle in which the moving channel cannot go on, if nothing happens till then.
    pub(super) fn predict(
        &mut self,
        number: LinkId,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness,
    ) {
        let this = &self.channels[channel];
        let sent = this.sent.at(now);
        let rest = this.flits - sent;
        let there = self.channels[this.up].arrived.lead(sent, now);
        let behind = sent.wrapping_sub(self.buffer);
        let room = self.room(this.down, behind, now);
        let link = &mut self.links[number];
        // Whether a header finds a way on is seen when it arrives.
        let ahead = (sent == 0) & (self.buffer > u32::from(link.delay));
        let blocked = there.min(if ahead { u32::MAX } else { room });
        if (rest <= blocked) & link.quiet & link.unsent.is_power_of_two() {
            // The end of the worm concerns nobody.
            link.next = now + u64::from(rest);
            return;
        }
        let lasts = rest.min(blocked);
        self.foresee(number, now + u64::from(lasts), now, witness);
    }

    /// By how much all branches, from `first` on, will stay ahead of a count; no bound if all branches move.
    fn room(&self, first: ChannelId, count: u32, now: Cycle) -> u32 {
        let down = &self.channels[first];
        let room = down.sent.lead(count, now);
        if down.sibling != NONE {
            return room.min(self.room_of_others(down.sibling, count, now));
        }
        room
    }

    /// [`Self::room`] of the second branch, `first`, and of the branches behind it in the chain.
    #[cold]
    fn room_of_others(&self, first: ChannelId, count: u32, now: Cycle) -> u32 {
        let others = self.branches(first);
        let room = others.map(|other| self.channels[other].sent.lead(count, now));
        room.min().unwrap_or(u32::MAX)
    }

    /// The header of a channel's worm has arrived in this cycle: if the header has found no way on, the buffer fills.
    pub(super) fn limit(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness) {
        let this = &self.channels[channel];
        let behind = this.sent.at(now).wrapping_sub(self.buffer);
        let room = self.room(this.down, behind, now);
        if room == u32::MAX {
            // All branches move. The record of the link need not be fetched.
            return;
        }
        let number = self.link_of(channel);
        let (link, full) = (&self.links[number], now + u64::from(room));
        if link.mover == channel && full < link.next {
            self.foresee(number, full, now, witness);
        }
    }

    /// The cycle of a prediction has come: the worm has ended, or the mover goes on, or the link is looked at.
    pub(super) fn due(&mut self, number: LinkId, now: Cycle, witness: &mut impl Witness) {
        let mover = self.links[number].mover;
        if mover == NONE {
            // A debt is paid.
            self.mark(number);
        } else if self.look_for_the_end(number, now, witness) {
            self.left(number, now);
        } else if self.can(mover, now) {
            self.predict(number, mover, now, witness);
        } else {
            self.links[number].next = 0;
            self.mark(number);
        }
    }

    /// A worm has left a link: another channel of the link may go on, or the partner that stood in its pause.
    fn left(&mut self, number: LinkId, now: Cycle) {
        let link = &self.links[number];
        let adapter = link.adapter;
        if link.unsent != 0 {
            self.mark(number);
        } else if adapter != NO_ADAPTER {
            let adapter = &self.adapters[adapter];
            let side = usize::from(number == adapter.links[0]);
            if adapter.turn >= now && adapter.pauses[side] {
                self.mark(adapter.links[side]);
            }
        }
    }

    /// The cycle from which on the worm of a link's mover has ended, if it has.
    pub(super) fn ended(&self, number: LinkId, now: Cycle) -> Option<Cycle> {
        let link = &self.links[number];
        if !link.may_have_ended(now) {
            return None;
        }
        // If nobody has looked since the prediction, the predicted cycle is the end, however long ago.
        let at = if link.next == 0 { now } else { link.next };
        let channel = &self.channels[link.mover];
        let beyond = channel.sent.at(at).checked_sub(channel.flits)?;
        Some(at - u64::from(beyond))
    }

    /// Has a link rest from the end of its mover's worm on, if the end has come. Returns whether the end has come.
    #[expect(
        clippy::inline_always,
        reason = "mostly there is nothing to do, at once"
    )]
    #[inline(always)]
    pub(super) fn look_for_the_end(
        &mut self,
        number: LinkId,
        now: Cycle,
        witness: &mut impl Witness,
    ) -> bool {
        self.links[number].may_have_ended(now) && self.rest_from_the_end(number, now, witness)
    }

    /// [`Self::look_for_the_end`] where the prediction is in the past, or in this cycle.
    #[inline(never)]
    fn rest_from_the_end(
        &mut self,
        number: LinkId,
        now: Cycle,
        witness: &mut impl Witness,
    ) -> bool {
        let Some(end) = self.ended(number, now) else {
            return false;
        };
        let link = &mut self.links[number];
        let channel = link.mover;
        let began = link.rest(end);
        self.settled = self.settled.max(link.since);
        link.unsent &= !(1 << self.lanes.lane(channel));
        let (ejects, delay) = (link.ejects, link.delay);
        let state = &mut self.channels[channel];
        state.sent = Line::standing(state.flits);
        let upstream = (state.up != self.specials.source).then_some(state.up);
        if ejects {
            self.note_run(number, began, end);
        }
        let arrival = ejects.then_some(end - 1 + u64::from(delay));
        witness.note_tail(channel, end - 1, upstream, arrival);
        true
    }
}
