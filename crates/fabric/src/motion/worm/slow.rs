//! Slow links: one flit at a time.
//!
//! At full pace a link's counts are straight lines, on a slow link ([`pace`](crate::pace)) they are
//! stairs. So a slow link has no mover: it decides in its slots, as the flit mover does, and moves
//! one flit by each decision. Line `S` of its channels stands but for a step behind the
//! evaluations, after the last read in this cycle; and line `R` but for a step in the cycle of
//! [`Event::Arrives`], in which a line that starts would grow, too.
//!
//! *Exact.* Links that read a line which stands predict no more than they see: their predictions
//! are lower bounds, as all predictions are, and when one comes too early the mover is predicted
//! again. A step in `R` has the link behind looked at if this link was dry, and a step in `S` the
//! link before if the buffer between the two was full, as the start of a line has. The link itself
//! is looked at when one channel may have become able, and, while any has flits to send, when it is
//! ready again.
//!
//! *Tokens* on a dry link are paid one a slot; by arithmetic, when the link is looked at next.
//!
//! *Borders.* Over a link to another region ([`crate::regions`]) each flit's arrival is a message.
//! The sender of a worm that goes on over a slow link behind the border sees a line that turns
//! ([`mirrors`](super::mirrors)).
//!
//! This costs two events per flit on a slow link, and the same per flit that a fast link has from a
//! slow one or sends to a full buffer before one: a multiple of the cost at full pace, which is
//! some events per packet. Full-pace links with worms that meet no slow link keep their cost.

use super::line::Line;
use super::state::NONE;
use super::{Records, WormMover};
use crate::motion::{Event, MotionReport, Wire, Wiring, Witness};
use crate::pace::Slots;
use crate::records::Count;
use crate::{ChannelId, Cycle, LinkId, Pace};
use typed_index_collections::TiVec;

/// A slow link, as far as it differs from others.
#[derive(Clone, Copy)]
pub(super) struct SlowLink {
    pace: Pace,
    slots: Slots,
    /// Tokens that wait for a slot. The link pays one a slot from its next one on, unless it is
    /// looked at.
    owed: u32,
    /// The channel that moved last, and the cycle in which the link was ready again.
    last: (ChannelId, Cycle),
}

impl SlowLink {
    /// Pays a token in a cycle.
    fn pay(&mut self, now: Cycle) {
        self.owed -= 1;
        self.slots.take(self.pace, now);
    }

    /// Pays the tokens for the slots before a cycle, up to which the link has not moved a flit.
    fn catch_up(&mut self, now: Cycle) {
        while self.owed > 0 && self.slots.ready < now {
            self.pay(self.slots.ready);
        }
    }

    /// Tokens that will wait at the start of a cycle, if the link sends no flit till then.
    pub fn owes(mut self, now: Cycle) -> u32 {
        self.catch_up(now);
        self.owed
    }

    /// The first cycle without debt, if the link sends no flit till then; in the past if the link
    /// is without debt now.
    fn clear(mut self) -> Cycle {
        while self.owed > 1 {
            self.pay(self.slots.ready);
        }
        if self.owed == 0 {
            0
        } else {
            self.slots.ready + 1
        }
    }
}

/// A machine's slow links.
pub(super) struct SlowLinks {
    /// All links, if any is slow.
    links: TiVec<LinkId, SlowLink>,
    /// Channels on slow links that have sent a flit in this cycle.
    steps: Vec<ChannelId>,
}

impl SlowLinks {
    /// The links at rest.
    pub fn new(wiring: &Wiring) -> Self {
        let is_slow = wiring.wires.iter().any(Wire::is_paced);
        let link = |pace| SlowLink {
            pace,
            slots: Slots::default(),
            owed: 0,
            last: (NONE, 0),
        };
        let links = if is_slow { usize::MAX } else { 0 };
        let wires = wiring.wires.iter().take(links);
        SlowLinks {
            links: wires.map(|wire| link(wire.pace)).collect(),
            steps: Vec::new(),
        }
    }

    /// Whether any link is slow.
    #[inline]
    pub fn are_there(&self) -> bool {
        !self.links.is_empty()
    }

    /// Whether a link is slow.
    pub fn has(&self, link: LinkId) -> bool {
        let link = self.links.get(link);
        link.is_some_and(|link| link.pace != Pace::FULL)
    }

    /// Sorts the channels that send a flit in this cycle, for [`Self::moves`].
    pub fn sort(&mut self) {
        self.steps.sort_unstable();
    }

    /// Whether a channel sends a flit in this cycle over a slow link.
    pub fn moves(&self, channel: ChannelId) -> bool {
        self.steps.binary_search(&channel).is_ok()
    }

    /// A slow link.
    pub fn of(&self, link: LinkId) -> &SlowLink {
        &self.links[link]
    }
}

/// Has a slow link act on the state at the start of the cycle; `candidate` is its choice before
/// tokens. A second evaluation changes nothing.
#[cold]
pub(super) fn evaluate(
    mover: &mut WormMover,
    (number, candidate): (LinkId, ChannelId),
    now: Cycle,
    witness: &mut impl Witness<WormMover>,
) {
    let link = &mut mover.slow.links[number];
    link.catch_up(now);
    if candidate == NONE {
        return;
    }
    if link.slots.ready > now {
        return WormMover::foresee(number, link.slots.ready, now, witness);
    }
    if link.owed > 0 && link.last != (candidate, now) {
        link.pay(now);
        return WormMover::foresee(number, link.slots.ready, now, witness);
    }
    link.slots.take(link.pace, now);
    link.last = (candidate, link.slots.ready);
    mover.settled = mover.settled.max(link.clear());
    send_one(mover, (number, candidate), now, witness);
}

/// A slow link moves a flit on a channel.
fn send_one(
    mover: &mut WormMover,
    (number, channel): (LinkId, ChannelId),
    now: Cycle,
    witness: &mut impl Witness<WormMover>,
) {
    let records = witness.records_mut();
    records.count(number, Count::Flits, 1);
    let hop = records.links[number].hop;
    let this = &records.channels[channel].motion;
    let (sent, flits, up) = (this.sent.at(now), this.flits(), this.up);
    let is_complex = this.is_complex();
    if sent == 0 {
        witness.note(MotionReport::Head(channel));
    }
    if hop.ejects() {
        mover.note_run(number, (now, now + 1), hop.delay());
    } else if hop.is_outbound() {
        witness.send_on(number, now + hop.delay(), Event::Arrives(channel));
    } else {
        witness.foresee(now + hop.delay(), Event::Arrives(channel));
    }
    if is_complex && mover.step_credits(channel, now, witness) {
        // The channel upstream has the credit later.
    } else if !hop.injects() {
        let upstream = &witness.records().channels[up].motion;
        let before = upstream.sent.at(now);
        if before == sent + mover.buffer && before < upstream.flits() {
            witness.foresee(now + 1, Event::Room(up));
        }
    }
    if sent + 1 == flits {
        let upstream = (up != mover.specials.source).then_some(up);
        let arrival = hop.ejects().then_some(now + hop.delay());
        witness.note_tail(channel, now, upstream, arrival);
    }
    mover.slow.steps.push(channel);
}

/// The links have been evaluated: channels on slow links that have sent a flit count it.
#[inline]
pub(super) fn count(mover: &mut WormMover, now: Cycle, witness: &mut impl Witness<WormMover>) {
    if !mover.slow.steps.is_empty() {
        count_steps(mover, now, witness);
    }
}

#[cold]
fn count_steps(mover: &mut WormMover, now: Cycle, witness: &mut impl Witness<WormMover>) {
    for channel in std::mem::take(&mut mover.slow.steps) {
        let (number, lane) = (mover.link_of(channel), mover.lanes.lane(channel));
        let records = witness.records_mut();
        let this = &mut records.channels[channel].motion;
        let sent = this.sent.at(now) + 1;
        this.sent = Line::standing(sent);
        let ended = sent == this.flits();
        let link = &mut records.links[number].motion;
        if ended {
            link.unsent &= !(1 << lane);
        }
        // The partner that stood in a pause is concerned in the next cycle.
        if link.shares() {
            WormMover::foresee(number, now + 1, now, witness);
        } else if link.unsent != 0 {
            WormMover::foresee(number, mover.slow.links[number].slots.ready, now, witness);
        }
    }
}

/// A flit arrives behind a slow link's channel.
#[cold]
pub(super) fn arrival(
    mover: &mut WormMover,
    channel: ChannelId,
    now: Cycle,
    witness: &mut impl Witness<WormMover>,
) {
    let this = &mut witness.records_mut().channels[channel].motion;
    let before = this.arrived.at(now);
    this.arrived = Line::standing(before + 1);
    let down = this.down;
    mover.arrives_behind((channel, down), before, now, witness);
}

/// A slow link owes one slot more for a token.
#[cold]
pub(super) fn charge(mover: &mut WormMover, number: LinkId, now: Cycle, records: &mut Records) {
    let link = &mut mover.slow.links[number];
    link.catch_up(now);
    link.slots.rest_until(now);
    link.owed += 1;
    mover.settled = mover.settled.max(link.clear());
    records.count(number, Count::Tokens, 1);
}
