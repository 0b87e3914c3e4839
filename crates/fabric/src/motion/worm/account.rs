//! Counts flits without one event per flit.

use super::{Records, WormMover};
use crate::motion::{Carried, FlitCensus};
use crate::records::Count;
use crate::{ChannelId, Cycle, LinkId, Place};
use std::collections::VecDeque;

/// Stretches of cycles, from and up to, in which a link has moved flits, as far back as these are still on the wire.
#[derive(Clone, Default)]
pub(super) struct Runs {
    last: (Cycle, Cycle),
    /// Those before the last one. Mostly there are none, and the list takes no memory of its own.
    earlier: VecDeque<(Cycle, Cycle)>,
}

impl Runs {
    /// Notes one more stretch, which ends now, of a link with such a delay.
    fn note(&mut self, run: (Cycle, Cycle), delay: u64) {
        let is_over = |&(_, end): &(Cycle, Cycle)| end + delay < run.1;
        while self.earlier.front().is_some_and(is_over) {
            self.earlier.pop_front();
        }
        let last = std::mem::replace(&mut self.last, run);
        if !is_over(&last) {
            self.earlier.push_back(last);
        }
    }
}

impl WormMover {
    /// Notes that a link into a node, of some delay, has moved in the cycles from the first to before the second.
    pub(super) fn note_run(&mut self, link: LinkId, run: (Cycle, Cycle), delay: Cycle) {
        let place = self.place_of(link);
        self.runs[place].note(run, delay);
    }

    /// Flits and tokens that a link has carried before cycle `now`.
    pub(super) fn carries(&self, records: &Records, number: LinkId, now: Cycle) -> Carried {
        let [flits, tokens] =
            [Count::Flits, Count::Tokens].map(|count| records.counted(number, count));
        let link = &records.links[number].motion;
        let since = link.since.by(self.last);
        if link.rests() {
            return Carried {
                flits,
                tokens: tokens - since.saturating_sub(now),
            };
        }
        let (end, owed) = (self.ended(records, number, now), u64::from(link.owed));
        Carried {
            flits: flits + (end.unwrap_or(now) - since),
            tokens: tokens - end.map_or(owed, |end| (end + owed).saturating_sub(now)),
        }
    }

    /// The place at which a link into a node ends: these links are numbered in the order of the places.
    pub(super) fn place_of(&self, ejection: LinkId) -> Place {
        Place::new(ejection.get() - self.first_ejection.get())
    }

    /// Flits of a link into a node that are on the wire after cycle `now - 1`.
    fn on_wire(&self, records: &Records, link: LinkId, now: Cycle) -> u64 {
        let from = now.saturating_sub(records.links[link].hop.delay());
        let state = &records.links[link].motion;
        let end = self.ended(records, link, now).unwrap_or(now);
        let present = (!state.rests()).then(|| (state.since.by(self.last), end));
        let runs = &self.runs[self.place_of(link)];
        let runs = runs.earlier.iter().chain([&runs.last]);
        runs.copied()
            .chain(present)
            .map(|(began, end)| end.saturating_sub(began.max(from)))
            .sum()
    }

    pub(super) fn count(&self, records: &Records, now: Cycle) -> FlitCensus {
        let mut census = FlitCensus {
            copied: self.copies,
            discarded: self.discarded,
            ..FlitCensus::default()
        };
        for (link, state) in records.links.iter_enumerated() {
            let carried = self.carries(records, link, now).flits;
            if state.hop.injects() {
                census.injected += carried;
            }
            if state.hop.ejects() {
                let on_wire = self.on_wire(records, link, now);
                census.delivered += carried - on_wire;
                census.in_flight += on_wire;
                continue;
            }
            for channel in self.lanes.of(link) {
                census.in_flight += self.held(records, channel, now);
                census.copied -= self.uncopied(records, channel, now);
            }
        }
        for &(channel, _) in &self.sunk {
            census.discarded += self.arrived(records, channel, now);
        }
        census
    }

    /// Flits that have arrived at the end of a channel before cycle `now`.
    fn arrived(&self, records: &Records, channel: ChannelId, now: Cycle) -> u64 {
        let this = &records.channels[channel].motion;
        let arrived = this.arrived.after(self.last, now - 1 - self.last);
        arrived.min(this.flits().into())
    }

    /// Flits of a channel's worm that have been sent over its link before cycle `now`.
    fn sent(&self, records: &Records, channel: ChannelId, now: Cycle) -> u32 {
        let this = &records.channels[channel].motion;
        let end = (channel < self.specials.source)
            .then(|| self.link_of(channel))
            .filter(|&link| self.mover(&records.links[link].motion, link) == channel)
            .and_then(|link| self.ended(records, link, now));
        end.map_or(this.sent.at(now), |_| this.flits())
    }

    /// Flits on the wire and in the buffer of a channel that does not end in a node.
    fn held(&self, records: &Records, channel: ChannelId, now: Cycle) -> u64 {
        let this = &records.channels[channel].motion;
        if this.flits() == 0 {
            return 0;
        }
        let sent = self.sent(records, channel, now);
        if self.specials.sinks(this.down) {
            // The worm is sunk, or has passed on.
            return u64::from(sent) - self.arrived(records, channel, now);
        }
        let held = sent - self.taken(records, channel, now).0;
        assert!(held <= self.buffer, "a buffer overflows");
        held.into()
    }

    /// Of the branches of a channel: the least number of flits that any branch has sent, the sum over all branches, and the
    /// number of branches. Without branches nothing has been sent.
    fn taken(&self, records: &Records, channel: ChannelId, now: Cycle) -> (u32, u64, u64) {
        let this = &records.channels[channel].motion;
        let branches = self.branches(this.down);
        let sent = branches.map(|branch| self.sent(records, branch, now).min(this.flits()));
        let sum = |(least, all, count): (u32, u64, u64), sent: u32| {
            (least.min(sent), all + u64::from(sent), count + 1)
        };
        match sent.fold((u32::MAX, 0, 0), sum) {
            (_, _, 0) => (0, 0, 0),
            taken => taken,
        }
    }

    /// Copies of the flits of a channel's worm that are still to be made by its branches: each branch that sends a flit makes
    /// a copy, but for the last branch to send it.
    fn uncopied(&self, records: &Records, channel: ChannelId, now: Cycle) -> u64 {
        let this = &records.channels[channel].motion;
        let (least, all, branches) = self.taken(records, channel, now);
        if this.flits() == 0 || branches < 2 {
            return 0;
        }
        (branches - 1) * u64::from(this.flits()) - (all - u64::from(least))
    }
}
