//! Counts flits without one event per flit.

use super::{Records, WormMover};
use crate::motion::{FlitCensus, FlitFate, LinkTotals};
use crate::records::Count;
use crate::{ChannelId, Cycle, LinkId};
use bytemuck::Zeroable;
use std::collections::VecDeque;

/// Cycle ranges, from and up to, in which a link has moved flits, as far back as these are still on
/// the wire.
#[derive(Clone, Zeroable)]
pub(super) struct Runs {
    last: (Cycle, Cycle),
    /// The ranges before the last one. Mostly there has been none.
    #[expect(
        clippy::box_collection,
        reason = "a null pointer is a blank record, which takes no memory"
    )]
    earlier: Option<Box<VecDeque<(Cycle, Cycle)>>>,
}

impl Runs {
    /// Adds a range, which ends now, for a link with this delay.
    pub fn note(&mut self, run: (Cycle, Cycle), delay: u64) {
        let is_over = |&(_, end): &(Cycle, Cycle)| end + delay < run.1;
        if let Some(earlier) = &mut self.earlier {
            while earlier.front().is_some_and(is_over) {
                earlier.pop_front();
            }
        }
        let last = std::mem::replace(&mut self.last, run);
        if !is_over(&last) {
            self.earlier.get_or_insert_default().push_back(last);
        }
    }
}

/// Link traffic and flit positions, from the mover's lines.
pub(super) struct Account<'a>(pub &'a WormMover, pub &'a Records);

impl Account<'_> {
    /// Flits and tokens that a link has carried before cycle `now`.
    pub fn carries(&self, number: LinkId, now: Cycle) -> LinkTotals {
        let [flits, tokens] =
            [Count::Flits, Count::Tokens].map(|count| self.1.counted(number, count));
        let link = &self.1.links[number].motion;
        if link.is_slow() {
            let owed = self.0.slow.of(number).owes(now);
            return LinkTotals {
                flits,
                tokens: tokens - u64::from(owed),
            };
        }
        let since = link.since.by(self.0.last);
        if link.rests() {
            return LinkTotals {
                flits,
                tokens: tokens - since.saturating_sub(now),
            };
        }
        let end = self.0.ended(self.1, number, now);
        let owed = u64::from(link.owed);
        LinkTotals {
            flits: flits + (end.unwrap_or(now) - since),
            tokens: tokens - end.map_or(owed, |end| (end + owed).saturating_sub(now)),
        }
    }

    /// Flits on the wire into a node after cycle `now - 1`.
    fn on_wire(&self, link: LinkId, now: Cycle) -> u64 {
        let from = now.saturating_sub(self.1.links[link].hop.delay());
        let state = &self.1.links[link].motion;
        let end = self.0.ended(self.1, link, now).unwrap_or(now);
        let present = (!state.rests()).then(|| (state.since.by(self.0.last), end));
        let runs = &self.0.runs[self.0.place_of(link)];
        let runs = runs
            .earlier
            .iter()
            .flat_map(|runs| &**runs)
            .chain([&runs.last]);
        runs.copied()
            .chain(present)
            .map(|(began, end)| end.saturating_sub(began.max(from)))
            .sum()
    }

    pub fn count(&self, now: Cycle, behind: &dyn Fn(ChannelId) -> FlitFate) -> FlitCensus {
        let mut census = FlitCensus {
            copied: self.0.copies,
            discarded: self.0.discarded,
            ..FlitCensus::default()
        };
        for (link, state) in self.1.links.iter_enumerated() {
            if state.hop.is_inbound() || state.hop.is_blank() {
                continue;
            }
            let carried = self.carries(link, now).flits;
            if state.hop.injects() {
                census.injected += carried;
            }
            if state.hop.ejects() {
                let on_wire = self.on_wire(link, now);
                census.delivered += carried - on_wire;
                census.in_flight += on_wire;
                continue;
            }
            for channel in self.0.lanes.of(link) {
                let passed = if !state.hop.is_outbound() {
                    self.passed(channel, now)
                } else if self.sent(channel, now) > 0 {
                    behind(channel)
                } else {
                    FlitFate::default()
                };
                census.in_flight += self.held(channel, passed.taken, now);
                // The copies of a worm that branches behind an outbound link are another region's.
                census.copied = census.copied.wrapping_sub(passed.uncopied);
            }
        }
        for &(channel, _) in &self.0.sunk {
            census.discarded += self.arrived(channel, now);
        }
        census
    }

    /// Flits that have arrived at a channel's end before cycle `now`. The fate of a worm's flits
    /// behind a channel.
    pub fn passed(&self, channel: ChannelId, now: Cycle) -> FlitFate {
        let this = &self.1.channels[channel].motion;
        if this.flits() == 0 {
            return FlitFate::default();
        }
        FlitFate {
            // Behind a worm that has passed on entirely no channel is known.
            taken: if self.0.specials.sinks(this.down) {
                self.arrived(channel, now) as u32
            } else {
                self.taken(channel, now).0
            },
            uncopied: self.uncopied(channel, now),
        }
    }

    /// Flits that have arrived at the end of a channel before cycle `now`.
    fn arrived(&self, channel: ChannelId, now: Cycle) -> u64 {
        let this = &self.1.channels[channel].motion;
        let arrived = this.arrived.after(self.0.last, now - 1 - self.0.last);
        arrived.min(this.flits().into())
    }

    /// Flits that a channel's worm has sent over its link before cycle `now`.
    fn sent(&self, channel: ChannelId, now: Cycle) -> u32 {
        let this = &self.1.channels[channel].motion;
        let end = (channel < self.0.specials.source)
            .then(|| self.0.link_of(channel))
            .filter(|&link| self.0.mover(&self.1.links[link].motion, link) == channel)
            .and_then(|link| self.0.ended(self.1, link, now));
        end.map_or(this.sent.at(now), |_| this.flits())
    }

    /// Flits on the wire and in the buffer, for a channel that does not end in a node; `taken`
    /// flits have left it.
    fn held(&self, channel: ChannelId, taken: u32, now: Cycle) -> u64 {
        let this = &self.1.channels[channel].motion;
        if this.flits() == 0 {
            return 0;
        }
        let sent = self.sent(channel, now);
        if self.0.specials.sinks(this.down) {
            // The worm is sunk, or has passed on.
            return u64::from(sent) - self.arrived(channel, now);
        }
        let held = sent - taken;
        assert!(held <= self.0.buffer, "a buffer overflows");
        held.into()
    }

    /// Over a channel's branches: the smallest sent-flit count, the sum over all branches, and the
    /// branch count. Without branches the counts are 0.
    fn taken(&self, channel: ChannelId, now: Cycle) -> (u32, u64, u64) {
        let this = &self.1.channels[channel].motion;
        let branches = self.0.branches(this.down);
        let sent = branches.map(|branch| self.sent(branch, now).min(this.flits()));
        let sum = |(least, all, count): (u32, u64, u64), sent: u32| {
            (least.min(sent), all + u64::from(sent), count + 1)
        };
        match sent.fold((u32::MAX, 0, 0), sum) {
            (_, _, 0) => (0, 0, 0),
            taken => taken,
        }
    }

    /// Flit copies that a channel's branches are still to make: each branch that sends a flit makes
    /// a copy, except for the last branch to send it.
    fn uncopied(&self, channel: ChannelId, now: Cycle) -> u64 {
        let this = &self.1.channels[channel].motion;
        let (least, all, branches) = self.taken(channel, now);
        if this.flits() == 0 || branches < 2 {
            return 0;
        }
        (branches - 1) * u64::from(this.flits()) - (all - u64::from(least))
    }
}
