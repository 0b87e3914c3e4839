//! Evaluation of links: who moves, how long that can last, and whom a change concerns.

use super::WormMover;
use super::ring::{Event, HORIZON};
use super::state::NONE;
use crate::motion::{ChannelId, Moved};
use crate::{Cycle, LinkId};

impl WormMover {
    /// The rule: whether a channel can move in this cycle. A closed one has no flits.
    fn can(&self, channel: ChannelId, now: Cycle) -> bool {
        let this = &self.channels[channel as usize];
        let sent = this.sent.at(now);
        sent < u64::from(this.flits)
            && self.channels[this.up as usize].arrived.at(now) > sent
            && self.channels[this.down as usize].sent.at(now) + self.buffer > sent
    }

    /// The channel that a link would serve, before tokens and sharing.
    fn candidate(&self, link: LinkId, now: Cycle) -> ChannelId {
        let mut best = NONE;
        for channel in link * self.width..(link + 1) * self.width {
            let first = |best: ChannelId| {
                self.channels[channel as usize].key < self.channels[best as usize].key
            };
            if self.can(channel, now) && (best == NONE || first(best)) {
                best = channel;
            }
        }
        best
    }

    /// Has a marked link do what the state at the start of the cycle demands. Doing so twice changes nothing.
    pub(super) fn evaluate(&mut self, link: LinkId, now: Cycle, moved: &mut Vec<Moved>) {
        let adapter = self.statics[link as usize].adapter;
        if adapter == NONE {
            let candidate = self.candidate(link, now);
            self.serve(link, candidate, now, moved);
        } else {
            self.evaluate_adapter(adapter, now, moved);
        }
    }

    /// Evaluates both links of an adapter that share its memory port.
    fn evaluate_adapter(&mut self, number: u32, now: Cycle, moved: &mut Vec<Moved>) {
        let adapter = &mut self.adapters[number as usize];
        if std::mem::replace(&mut adapter.looked, now) == now {
            return;
        }
        let (links, phases) = (adapter.links, adapter.phases);
        let mut candidates = links.map(|link| self.candidate(link, now));
        if !candidates.contains(&NONE) {
            let mut turn = HORIZON;
            for (candidate, phase) in candidates.iter_mut().zip(phases) {
                let place = (now + phase) % self.share_period;
                turn = turn.min(if place < self.share_burst {
                    *candidate = NONE;
                    self.share_burst - place
                } else {
                    self.share_period - place
                });
            }
            let adapter = &mut self.adapters[number as usize];
            if std::mem::replace(&mut adapter.turn, now + turn) != now + turn {
                self.ring.post(now + turn, Event::Look(links[0]));
            }
        }
        for (link, candidate) in links.into_iter().zip(candidates) {
            self.serve(link, candidate, now, moved);
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
        let fixed = self.statics[number as usize];
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
                self.ring.post(now + 1, Event::Look(self.link_of(number)));
            }
        }
        self.predict(number, channel, now);
    }

    /// The link's channel ceases to move.
    fn stop(&mut self, number: LinkId, now: Cycle) {
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
        let fixed = self.statics[number as usize];
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
            self.mark(self.link_of(down), now);
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
