//! Credits that return late: the room behind a channel, as its sender sees it.
//!
//! With a one-cycle credit delay channel `v`'s sender sees the downstream channel's line `S`
//! itself. With a delay of `C` cycles it sees the line as it was `C - 1` cycles earlier: a separate
//! line `Q(w)` for each channel `w` downstream. Line `Q(w)` turns, that is starts or stops, in the
//! same order as `S(w)` and `C - 1` cycles later, as `R` follows the upstream channel's `S`. So
//! whenever `w` starts or stops in a cycle `t`, an event [`Event::Room`] for `v` is entered for
//! `t + C`, the first cycle in which the sender sees a difference, and `v` is looked at then: it
//! may be able, or its prediction is lowered.
//!
//! *Exact.* Line `Q(w)` is never ahead of `S(w)`, so that a buffer that is full for its sender is
//! the only reason to stand; the parent module's proof holds with `Q` for `S` downstream. Two steps
//! change. A channel that the branches hold up is able again only in a cycle in which their least
//! `Q` grows, after a cycle in which it did not; so one such line started, and entered `Room` for
//! this cycle. And a downstream channel's stop is known `C` cycles before its line `Q` stops, so
//! that the prediction is lowered in time, or the link is looked at in the cycle itself if no room
//! is left.
//!
//! *A line's worm.* A channel that is granted again begins with all credits, and its line at zero:
//! the previous worm's turns are forgotten, though their events may come. A worm that fits into the
//! buffer never waits for credits, and has no such line. Therefore cut-through has no overhead
//! here.

use super::line::Line;
use super::{Records, WormMover};
use crate::motion::{Event, HORIZON, Witness, Worm};
use crate::records;
use crate::{ChannelId, Circuit, Config, Cycle, LinkId};
use std::collections::VecDeque;
use typed_index_collections::{TiVec, ti_vec};

/// The flits that a channel has sent, as the upstream channel's sender sees them.
#[derive(Clone)]
pub(super) struct Credits {
    /// `Q`: credits that the sender has back by a cycle.
    pub line: Line,
    /// The cycles in which the line will turn, as far as known.
    turns: VecDeque<Cycle>,
    /// The upstream link's credit delay; 1 if its worm needs no such line.
    delay: u32,
    /// The worm's length.
    flits: u32,
}

impl Credits {
    /// By how much the line will stay ahead of a count that grows: its lead now if the line stands
    /// for longer; no bound if it grows, or will grow before the count comes up to it.
    pub fn lead(&self, count: u32, now: Cycle) -> u32 {
        let lead = self.line.lead(count, now);
        match self.turns.front() {
            Some(&at) if at <= now + Cycle::from(lead) => u32::MAX,
            _ => lead,
        }
    }

    /// Turns the line if it turns in this cycle, in the first call. Returns whether it does.
    fn turn(&mut self, now: Cycle) -> bool {
        let turns = self.turns.front() == Some(&now);
        while self.turns.front() == Some(&now) {
            self.turns.pop_front();
            if self.line.grows() {
                self.line.stop(now - 1);
            } else {
                self.line.start(now - 1);
            }
        }
        turns
    }
}

/// The lines of all channels.
pub(super) struct Returns {
    /// Empty if all credits are back after a cycle, or never matter.
    lines: TiVec<ChannelId, Credits>,
    /// Whether a channel may be closed before the channel upstream, where channels fall free behind
    /// the tail: the tail's credit takes longer than the way of the tail over the next link and the
    /// credit there.
    pub overtake: bool,
}

impl Returns {
    /// Lines at rest, for this many channels.
    pub fn new(config: &Config, channels: usize) -> Self {
        let none = Credits {
            line: Line::standing(0),
            turns: VecDeque::new(),
            delay: 1,
            flits: 0,
        };
        let matter = config.has_late_credits() && config.circuit != Circuit::CutThrough;
        let ends = (config.credit_delays().min()).zip(config.credit_delays().max());
        let hop = config.least_hop_delay();
        Returns {
            lines: ti_vec![none; if matter { channels } else { 0 }],
            overtake: ends.is_some_and(|(quickest, slowest)| slowest > hop + quickest),
        }
    }

    /// Whether any channel may have such a line.
    #[inline]
    pub fn are_late(&self) -> bool {
        !self.lines.is_empty()
    }

    /// A channel's line, if the channel upstream has its credits late.
    pub fn of(&self, channel: ChannelId) -> Option<&Credits> {
        self.lines.get(channel).filter(|credits| credits.delay > 1)
    }

    /// A link's credit delay, as far as it matters.
    pub fn delay(&self, records: &Records, link: LinkId) -> Cycle {
        if self.are_late() {
            records.credit_delay(link)
        } else {
            1
        }
    }

    /// Ends the lines for passed worms: see [`WormMover::sweep`].
    pub fn sweep(&mut self, last: Cycle, idle: Cycle) {
        for credits in &mut self.lines {
            if credits.line.after(last, idle) >= u64::from(credits.flits) {
                credits.line = Line::standing(credits.flits);
                credits.turns.clear();
            }
        }
    }
}

impl WormMover {
    /// A channel is granted to a worm with this many flits: its line begins.
    #[cold]
    pub(super) fn open_late(
        &mut self,
        records: &mut Records,
        channel: ChannelId,
        up: ChannelId,
        flits: u32,
    ) {
        let number = self.link_of(up);
        let delay = records.credit_delay(number) as u32;
        let is_late = flits > self.buffer && delay > 1 && !records.links[number].hop.is_inbound();
        let credits = &mut self.returns.lines[channel];
        credits.line = Line::standing(0);
        credits.turns.clear();
        credits.delay = if is_late { delay } else { 1 };
        credits.flits = flits;
        if is_late {
            records.channels[channel].motion.set_complex(true);
        }
    }

    /// A channel starts or stops in this cycle: its line turns later. Returns whether it has such a
    /// line.
    #[cold]
    pub(super) fn turn_credits(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) -> bool {
        if self.mirrors.is_region() && self.turn_elsewhere(channel, now, witness) {
            return true;
        }
        let late = self.returns.lines.get_mut(channel);
        let Some(credits) = late.filter(|credits| credits.delay > 1) else {
            return false;
        };
        let channels = &witness.records().channels;
        let up = channels[channel].motion.up;
        // A channel that has sent its worm needs no credits.
        if channels[up].motion.sent.at(now) < credits.flits {
            let at = now + Cycle::from(credits.delay);
            credits.turns.push_back(at);
            witness.foresee(at, Event::Room(up));
        }
        true
    }

    /// A slow link's channel moves one flit in this cycle: its line turns later, twice. Returns
    /// whether it has such a line.
    pub(super) fn step_credits(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) -> bool {
        if self.mirrors.is_region() && self.turn_elsewhere(channel, now, witness) {
            return true;
        }
        let late = self.returns.lines.get_mut(channel);
        let Some(credits) = late.filter(|credits| credits.delay > 1) else {
            return false;
        };
        let channels = &witness.records().channels;
        let up = channels[channel].motion.up;
        if channels[up].motion.sent.at(now) < credits.flits {
            let at = now + Cycle::from(credits.delay);
            credits.turns.extend([at, at + 1]);
            // The second turn follows the first one: see `hear`.
            witness.foresee(at, Event::Room(up));
        }
        true
    }

    /// A channel is granted: it may lie on an outbound link, or its worm may have come over an
    /// inbound one.
    #[cold]
    pub(super) fn open_at_border(
        &mut self,
        records: &mut Records,
        channel: ChannelId,
        worm: &Worm,
        now: Cycle,
    ) {
        let link = self.link_of(channel);
        if records.links[link].hop.is_outbound() {
            let place = (link, self.lanes.lane(channel));
            let mirror = self.mirrors.begin(records, self.specials, place, now);
            records.channels[channel].motion.down = mirror;
        }
        if let Some(upstream) = worm.upstream
            && worm.flits > self.buffer
            && records.links[self.link_of(upstream)].hop.is_inbound()
        {
            records.channels[channel].motion.set_complex(true);
            if self.slow.has(link) {
                self.mirrors.follow(upstream);
            }
        }
    }

    /// A channel starts or stops in this cycle: if its worm has come over an inbound link, notifies
    /// the region where the link begins. Returns whether it has.
    fn turn_elsewhere(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) -> bool {
        let records = witness.records();
        let this = &records.channels[channel].motion;
        let link = self.link_of(this.up);
        let is_inbound = |link: &records::Link<_>| link.hop.is_inbound();
        if !records.links.get(link).is_some_and(is_inbound) {
            return false;
        }
        if self.mirrors.turns(this.up) {
            return true;
        }
        let upstream = &records.channels[this.up].motion;
        if upstream.arrived.at(now) < this.flits() {
            let event = if this.sent.grows() {
                Event::Leaves(this.up)
            } else {
                Event::Stays(this.up)
            };
            witness.send_back(now + records.credit_delay(link), event);
        }
        true
    }

    /// An outbound channel's mirror, if credits that come in this cycle belong to its worm.
    fn mirror(&self, records: &Records, channel: ChannelId, now: Cycle) -> Option<ChannelId> {
        if records.channels[channel].motion.flits() == 0 {
            return None;
        }
        let link = self.link_of(channel);
        let place = (link, self.lanes.lane(channel));
        let left = now - records.credit_delay(link);
        self.mirrors.of(records, self.specials, place, left)
    }

    /// An outbound channel's credits begin to come back: if the buffer was full there is room.
    #[cold]
    pub(super) fn leaves(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let Some(mirror) = self.mirror(witness.records(), channel, now) else {
            return;
        };
        let line = &mut witness.records_mut().channels[mirror].motion.sent;
        let back = line.at(now);
        line.start(now - 1);
        let this = &witness.records().channels[channel].motion;
        let sent = this.sent.at(now);
        if sent == back + self.buffer && sent < this.flits() {
            self.consider(channel, now, witness);
        }
    }

    /// They cease to come back: the buffer fills.
    #[cold]
    pub(super) fn stays(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let Some(mirror) = self.mirror(witness.records(), channel, now) else {
            return;
        };
        let line = &mut witness.records_mut().channels[mirror].motion.sent;
        line.stop(now - 1);
        let back = line.at(now);
        let records = witness.records();
        let number = self.link_of(channel);
        let link = &records.links[number].motion;
        let next = link.next.by(now);
        if link.serves(self.lanes.lane(channel)) && next > now {
            let room = back + self.buffer - records.channels[channel].motion.sent.at(now);
            let full = now + u64::from(room);
            if room == 0 {
                self.mark(number, witness);
            } else if full < next {
                Self::foresee(number, full, now, witness);
            }
        }
    }

    /// The room behind a channel may change for its sender: credits begin or cease to come, or its
    /// worm is sunk.
    #[cold]
    pub(super) fn hear(
        &mut self,
        channel: ChannelId,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let down = &mut witness.records_mut().channels[channel].motion.down;
        if *down == self.specials.drain && self.sunk.contains(&(channel, now)) {
            *down = self.specials.sink;
        }
        let mut branch = *down;
        while branch < self.specials.source {
            let line = &mut self.returns.lines[branch];
            // Other events in this cycle find the line turned: they must not multiply in the next
            // one.
            let turns = line.turn(now) && line.turns.front() == Some(&(now + 1));
            if turns && self.slow.has(self.link_of(branch)) {
                witness.foresee(now + 1, Event::Room(channel));
            }
            branch = self.sibling(branch);
        }
        let (number, lane) = (self.link_of(channel), self.lanes.lane(channel));
        let records = witness.records();
        let link = &records.links[number].motion;
        if link.unsent >> lane & 1 == 0 {
            return;
        }
        if !link.serves(lane) {
            return self.consider(channel, now, witness);
        }
        let this = &records.channels[channel].motion;
        let behind = this.sent.at(now).wrapping_sub(self.buffer);
        let room = self.room(records, this.down, behind, now);
        if room == 0 {
            self.mark(number, witness);
        } else if room != u32::MAX && now + u64::from(room) < link.next.by(now) {
            Self::foresee(number, now + u64::from(room), now, witness);
        }
    }

    /// Looks at the followed inbound channels behind which a branch starts or stops in this cycle,
    /// and notifies the sender if the slowest branch does so. All branches have started or stopped;
    /// the flit on a slow link is not counted yet.
    #[cold]
    pub(super) fn look_at_followed(&mut self, now: Cycle, witness: &mut impl Witness<Self>) {
        let mut turned = std::mem::take(&mut self.mirrors.turned);
        turned.sort_unstable();
        turned.dedup();
        self.slow.sort();
        for channel in turned {
            let records = witness.records();
            let this = &records.channels[channel].motion;
            let flits = this.flits();
            let Some(&moved) = self.mirrors.followed.get(&channel) else {
                continue;
            };
            if this.arrived.at(now) >= flits {
                // Its sender needs no credits.
                continue;
            }
            let line = |branch: ChannelId| records.channels[branch].motion.sent;
            let steps = |branch: &ChannelId| self.slow.moves(*branch);
            let sent = |later: u32| {
                let branches = self.branches(this.down);
                let sent = branches.map(|branch| {
                    let steps = u32::from(steps(&branch)) * later;
                    line(branch).at(now + Cycle::from(later)) + steps
                });
                sent.min().unwrap_or(flits).min(flits)
            };
            let least = sent(0);
            let moves = sent(1) > least;
            let again = if self.branches(this.down).any(|branch| steps(&branch)) {
                // One flit is no line: it ends in the next cycle, unless another one follows.
                Some(1)
            } else if moves {
                // The slowest branch comes up to one that stands.
                let standing = self
                    .branches(this.down)
                    .filter(|branch| !line(*branch).grows())
                    .map(|branch| line(branch).at(now));
                standing.min().map(|standing| Cycle::from(standing - least))
            } else {
                None
            };
            let credit = records.credit_delay(self.link_of(channel));
            if let Some(again) = again {
                witness.foresee(now + again.min(HORIZON), Event::Room(channel));
            }
            if moves != moved {
                self.mirrors.followed.insert(channel, moves);
                let event = if moves {
                    Event::Leaves(channel)
                } else {
                    Event::Stays(channel)
                };
                witness.send_back(now + credit, event);
            }
        }
    }
}
