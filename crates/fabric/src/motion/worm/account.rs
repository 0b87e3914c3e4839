//! Counting flits without one event per flit.

use super::WormMover;
use super::state::{Link, NONE};
use crate::motion::{ChannelId, FlitCensus};
use crate::{Cycle, LinkId};
use std::collections::VecDeque;

/// Stretches of cycles, from and up to, in which a link has moved, as far back as its flits are still on the wire.
pub(super) type Runs = VecDeque<(Cycle, Cycle)>;

impl WormMover {
    /// Notes that a link into a node has moved in cycles `began..now`.
    pub(super) fn note_run(&mut self, link: LinkId, began: Cycle, now: Cycle) {
        let delay = u64::from(self.links[link as usize].delay);
        let runs = &mut self.runs[link as usize - self.first_ejection as usize];
        while runs.front().is_some_and(|&(_, end)| end + delay < now) {
            runs.pop_front();
        }
        runs.push_back((began, now));
    }

    /// The link as it is in cycle `now`: at rest if its mover's worm has ended.
    pub(super) fn present(&self, link: LinkId, now: Cycle) -> Link {
        let mut state = self.links[link as usize];
        if let Some(end) = self.ended(link, now) {
            state.rest(end);
        }
        state
    }

    /// Flits of a link into a node that are on the wire after cycle `now - 1`.
    fn on_wire(&self, link: LinkId, now: Cycle) -> u64 {
        let from = now.saturating_sub(self.links[link as usize].delay.into());
        let state = &self.links[link as usize];
        let end = self.ended(link, now).unwrap_or(now);
        let present = (state.mover != NONE).then_some((state.since, end));
        let runs = &self.runs[link as usize - self.first_ejection as usize];
        runs.iter()
            .copied()
            .chain(present)
            .map(|(began, end)| end.saturating_sub(began.max(from)))
            .sum()
    }

    pub(super) fn count(&self, now: Cycle) -> FlitCensus {
        let mut census = FlitCensus::default();
        for link in 0..self.links.len() as LinkId {
            let state = self.present(link, now);
            let carried = state.carried(now).flits;
            if state.injects {
                census.injected += carried;
            }
            if state.ejects {
                let on_wire = self.on_wire(link, now);
                census.delivered += carried - on_wire;
                census.in_flight += on_wire;
                continue;
            }
            for channel in self.lanes.of(link) {
                census.in_flight += self.held(channel, now);
            }
        }
        census
    }

    /// Flits of a channel's worm that have been sent over its link before cycle `now`.
    fn sent(&self, channel: ChannelId, now: Cycle) -> u32 {
        let this = &self.channels[channel as usize];
        let end = (channel < self.specials.source)
            .then(|| self.link_of(channel))
            .filter(|&link| self.links[link as usize].mover == channel)
            .and_then(|link| self.ended(link, now));
        end.map_or(this.sent.at(now), |_| this.flits)
    }

    /// Flits on the wire and in the buffer of a channel that does not end in a node.
    fn held(&self, channel: ChannelId, now: Cycle) -> u64 {
        let this = &self.channels[channel as usize];
        if this.flits == 0 {
            return 0;
        }
        let held = self.sent(channel, now) - self.sent(this.down, now).min(this.flits);
        assert!(held <= self.buffer, "a buffer overflows");
        held.into()
    }
}
