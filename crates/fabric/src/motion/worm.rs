//! # The worm mover: the same motion from events
//!
//! A worm flows at one flit a cycle or stands still, and between two such changes every count is a
//! straight line in time. This mover keeps the lines and computes when the next change can come; it
//! visits a link only then. It reproduces the flit mover's motion (the parent module's rule) in
//! every cycle, at some twenty events a packet on 64 nodes.
//!
//! ## Why that is possible
//!
//! *One mover a link.* The oldest channel that can move takes the whole link. So each channel moves
//! 0 or 1 flits in a cycle, and a link serves one channel, its *mover*, till something happens: one
//! state and one prediction a link. (Where channels are served in turns, rates are fractions: left
//! to the flit mover.)
//!
//! *No cycle without delay.* A flit takes at least a cycle from link to link, and a place in a
//! buffer is seen free at least one cycle after its flit has left. A link's action in cycle `t`
//! depends only on counts up to `t - 1`, so that the links may be evaluated in any order.
//!
//! *Reads do not see the cycle's own changes.* A line that starts or stops in cycle `t` has the
//! same value in `t` before and after the change. Late, early or double evaluations are therefore
//! harmless; only a *missing* one does harm.
//!
//! ## State
//!
//! For each channel this mover keeps the lines `S` (sent before a cycle) and `R` (arrived by a
//! cycle), the worm's length and the neighbours; where credits take longer than a cycle also the
//! line of returned credits (module `credits`, which has their proof; the following is for
//! one-cycle credits). A path's ends are special channels that always have flits, always have room,
//! or never have room. For each link it keeps the link's mover, the cycle of its one valid
//! prediction, its token debt, and its traffic.
//!
//! A channel that can move and does not (it is younger, paused, or waits for tokens) stays able:
//! `R` and the room only grow while the channel stands. So a link's choice changes only if its
//! mover ceases to be able, if another channel becomes able, or if a debt is paid or a pause begins
//! or ends. Each of these changes has its event:
//!
//! | event | entered | in its cycle |
//! |---|---|---|
//! | `Starts(v)` | when `v` starts, for `D` later | `R` grows. The first flit is the header's arrival. If the channel behind had run dry, its link is looked at |
//! | `Stops(v)` | when `v` stops in mid-worm, for `D` later | `R` stands. If the channel behind moves, it can go on for as many cycles as flits are there: its link's prediction is lowered to the end of these cycles; if no flit is there, the link is looked at, or stops immediately where there is no other choice |
//! | `Room(v)` | when the channel behind `v` starts while `v`'s buffer is full, for the next cycle | `v` may be able: its link is looked at |
//! | `Room(v)`, late credits | when the channel behind `v` starts or stops, for `C` later; when `v` is sunk, for `C - 1` later | credits begin or cease to come: `v`'s link is looked at, or its prediction is lowered |
//! | `Due(l)` | with each prediction | void if the prediction has changed. Else one of these holds: the worm has ended ([`MotionReport::Tail`](super::MotionReport::Tail)); the mover can go on and is predicted again; the mover cannot go on and the link is looked at; or a debt is paid and the link is looked at |
//! | `Turn(a)` | while both links of adapter `a` have flits that can move, for the next time a pause begins or ends | the link whose pause begins or ends is looked at |
//!
//! A link is also looked at in the cycle in which a channel on it is granted. To *look at* a link
//! is to mark it in phase 0 and to evaluate it in [`Motion::step`]: find the candidate by the rule,
//! and stop and start channels accordingly. A mover is predicted to stop after the least of three
//! flit counts: the rest of the worm; the flits that are there, if no more arrive; and the room
//! that is left, if no flit leaves. When the channel behind the mover stops, the prediction is
//! lowered. A prediction is a lower bound: if its cycle comes too early, the mover is predicted
//! again. So a prediction that is entered may be made earlier, and is, if it lies beyond the event
//! horizon: a deep buffer feeds its link for longer.
//!
//! The branches of a broadcast's worm at `v`'s end form a chain: the first is `v`'s neighbour, each
//! links to its next *sibling*. `v`'s room is the least that any branch leaves, in predictions too.
//! When flits begin or cease to arrive at `v`'s end, each branch is notified. Each branch notifies
//! `v` when the branch stops, and when it starts while it has left `v`'s buffer full. That is
//! enough: a branch leaves room again, after a cycle without, only because it started in that cycle
//! (had it gone on, `v` could not have filled the buffer). So the last branch that held `v` up
//! enters `Room(v)` one cycle before `v` is able.
//!
//! Two kinds of predictions, which would be the majority, are not entered:
//!
//! * *Ends without waiters.* Where a link serves only one channel and has no waiters (the control
//!   plane or a partner), the end of the worm has no consequence until the link is looked at, the
//!   channel is closed or a token is charged; the end is then found by arithmetic
//!   (`WormMover::look_for_the_end`). The grant of a second channel meanwhile enters the
//!   prediction.
//! * *Room ahead of a header.* For `D` cycles, till the header is at the next switch, a buffer
//!   deeper than `D` flits cannot fill. Whether it will fill is seen when the header arrives, after
//!   the links have been evaluated (`WormMover::limit`).
//!
//! ## Why it is exact
//!
//! By induction over cycles: let all lines be right before cycle `t`. A link's decision in `t`
//! follows from the abilities of its channels, its debt, the pause, and the channel that moved in
//! `t - 1`. If the link is looked at, the rule itself is applied. If not, no change among these has
//! affected the decision since `t - 1`. Its mover is still able: the prediction is later than `t`,
//! and only a neighbour's stop could make the prediction wrong. Such a stop lowers the prediction
//! in time: an upstream stop `D` cycles ahead, a downstream stop while there is room for one more
//! flit. A channel that was not able is not able now, or is younger than the mover (see the
//! events). Debts and pauses change at events. So the link goes on as it did, and so do the lines.
//! The differential test compares both movers in every cycle.
//!
//! ## Tokens and sharing
//!
//! A link that rests pays one token a cycle: only the cycle in which the link will have paid is
//! kept. A link does not pay while its mover continues. A link with debt `n` that turns to another
//! channel rests, and is due `n` cycles later; that cycle's candidate then starts. An adapter's
//! link stands in its pause if its partner has a candidate in that cycle. Whether the partner has a
//! candidate can change only when the partner is looked at, and a look at one link in the other's
//! pause has the other looked at too.
//!
//! Slow links move flits one by one, in their own slots (module `slow`); [`Event::Arrives`] brings
//! each of them to its end.
//!
//! ## Counting
//!
//! A link's flit count is a line. Arithmetic gives all counts at any moment between cycles. For
//! links into nodes the last stretches of motion are noted, to find the flits on the wire (module
//! `account`).

mod account;
mod credits;
mod flow;
mod line;
mod mirrors;
mod predict;
mod slow;
mod state;

use super::{Event, FlitCensus, FlitFate, Lanes, LinkTotals};
use super::{Motion, Sharing, Wiring, Witness, Worm};
use crate::config::MAX_FLITS;
use crate::cut::Cut;
use crate::prefetch::{FAR, STAGE, prefetch};
use crate::records::{self, Count};
use crate::table;
use crate::{ChannelId, Config, Cycle, LinkId, Place};
use account::{Account, Runs};
use bytemuck::Zeroable;
use credits::Returns;
use mirrors::Mirrors;
use slow::SlowLinks;
use state::{Adapter, EndChannels, Link, NONE, RESTS};
use std::collections::BTreeMap;
use typed_index_collections::TiVec;

/// The link and channel records, with this mover's state.
type Records = records::Records<WormMover>;

/// Cycles between two sweeps: with the longest worm, far fewer than a line may grow.
const SWEEP: Cycle = 1 << 30;

/// The first prefetch stage's distance, in links, ahead of the evaluation.
const AHEAD: usize = 3 * STAGE;

/// See the module essay.
pub(crate) struct WormMover {
    adapters: TiVec<Place, Adapter>,
    /// When the link into each place has moved flits lately.
    runs: TiVec<Place, Runs>,
    first_ejection: LinkId,
    /// The next channel with the same channel upstream, if there is one.
    siblings: BTreeMap<ChannelId, ChannelId>,
    /// The credits for channels to which they return late.
    returns: Returns,
    specials: EndChannels,
    lanes: Lanes,
    /// Buffer behind each channel, in flits.
    buffer: u32,
    share_period: u64,
    share_burst: u64,
    /// Whether the network has too many records for the processor's nearest memory.
    is_far: bool,
    /// Links to look at in this cycle.
    marked: Vec<LinkId>,
    /// Channels at the ends of which a first flit has arrived in this cycle.
    headers: Vec<ChannelId>,
    slow: SlowLinks,
    /// The first cycle in which no link that rests has debts.
    settled: Cycle,
    /// The last cycle that was begun, and the last sweep's cycle.
    last: Cycle,
    swept: Cycle,
    /// The traffic that leaves the region, if the network is cut into several.
    mirrors: Mirrors,
    /// Whether the control plane waits for tails: a channel may be closed before all its siblings
    /// are.
    unlinks: bool,
    /// Flits that branches beyond the first have sent or will send.
    copies: u64,
    /// Channels with sunk worms, each with the cycle from which its sender has the credits; and the
    /// flits from such worms that have passed.
    sunk: Vec<(ChannelId, Cycle)>,
    discarded: u64,
    events: u64,
    reversed: bool,
}

impl WormMover {
    /// A mover for an empty fabric.
    pub fn new(config: &Config) -> Self {
        Self::with_cut(config, &Wiring::new(config), None)
    }

    /// A mover for an empty region.
    pub fn of_region(config: &Config, wiring: &Wiring, cut: &Cut, region: usize) -> Self {
        Self::with_cut(config, wiring, Some((cut, region)))
    }

    fn with_cut(config: &Config, wiring: &Wiring, region: Option<(&Cut, usize)>) -> Self {
        let places = config.topology.places() as usize;
        let shares = wiring.share_burst > 0;
        let sharing = wiring.wires.iter().any(|wire| wire.shared.is_some());
        let sharing = if shares && sharing { places } else { 0 };
        let (adapters, runs) = match region {
            None => (
                table::equal(Adapter::zeroed(), sharing),
                table::equal(Runs::zeroed(), places),
            ),
            Some(_) => (table::blank(sharing), table::blank(places)),
        };
        let is_own = |place| region.is_none_or(|(cut, region)| cut.of_place(place) == region);
        let outbound = region.map(|(cut, region)| cut.outbound(region));
        let links = wiring.wires.len();
        let bound = wiring.lanes.bound(links);
        let specials = EndChannels::after(bound as u32);
        let mut mover = WormMover {
            adapters,
            runs,
            first_ejection: config.topology.ejection(Place::new(0)),
            siblings: BTreeMap::new(),
            returns: Returns::new(config, bound),
            specials,
            lanes: wiring.lanes,
            buffer: wiring.buffer.min(MAX_FLITS),
            share_period: wiring.share_period,
            share_burst: wiring.share_burst,
            is_far: links >= FAR,
            marked: Vec::new(),
            headers: Vec::new(),
            slow: SlowLinks::new(wiring),
            settled: 0,
            last: 0,
            swept: 0,
            mirrors: Mirrors::new(config, outbound),
            unlinks: wiring.reports_tails,
            copies: 0,
            sunk: Vec::new(),
            discarded: 0,
            events: 0,
            reversed: false,
        };
        for (number, wire) in wiring.wires.iter_enumerated() {
            if let Some(Sharing {
                adapter,
                partner,
                phase,
            }) = wire.shared
                && mover.share_burst > 0
                && !wire.ejects
                && is_own(adapter)
            {
                let other = wiring.wires[partner].shared;
                let other = other.expect("sharing is mutual").phase;
                mover.adapters[adapter] = Adapter::new([number, partner], [phase, other]);
                assert!(
                    mover.adapter_of(number) == (adapter, 0)
                        && mover.adapter_of(partner) == (adapter, 1),
                    "the links of adapters are in the order of places"
                );
            }
        }
        mover
    }

    /// The adapter at which a link starts or ends, and its side there: sending, receiving.
    fn adapter_of(&self, link: LinkId) -> (Place, usize) {
        if link < self.first_ejection {
            (Place::new(link.get()), 0)
        } else {
            (self.place_of(link), 1)
        }
    }

    /// A link's mover, or [`NONE`].
    #[inline]
    fn mover(&self, link: &Link, number: LinkId) -> ChannelId {
        if link.mover == RESTS {
            return NONE;
        }
        self.lanes.channel(number, link.mover.into())
    }

    fn link_of(&self, channel: ChannelId) -> LinkId {
        self.lanes.link(channel)
    }

    /// Looks for a worm's end on a channel, if its link serves the channel.
    #[inline]
    fn look_at_mover(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>) {
        let number = self.link_of(channel);
        if witness.records().links[number]
            .motion
            .serves(self.lanes.lane(channel))
        {
            self.look_for_the_end(number, now, witness);
        }
    }

    /// A channel is closed: its worm may have been sunk.
    #[cold]
    fn forget_sunk(&mut self, channel: ChannelId, flits: u32) {
        if let Some(place) = self.sunk.iter().position(|&(sunk, _)| sunk == channel) {
            self.sunk.swap_remove(place);
            self.discarded += u64::from(flits);
        }
    }

    /// Has a link looked at in this cycle.
    fn mark(&mut self, link: LinkId, witness: &mut impl Witness<Self>) {
        let state = &mut witness.records_mut().links[link].motion;
        if !std::mem::replace(&mut state.marked, true) {
            self.marked.push(link);
        }
    }

    /// An adapter's pause begins or ends: each affected link is looked at.
    fn turn(&mut self, number: Place, now: Cycle, witness: &mut impl Witness<Self>) {
        let adapter = &mut self.adapters[number];
        if adapter.turn != now {
            return;
        }
        let (links, before) = (adapter.links, adapter.pauses);
        adapter.find_windows(now, self.share_period, self.share_burst);
        let (turn, pauses) = (adapter.turn, adapter.pauses);
        let both = links.iter();
        let mut both = both.map(|&link| self.has_candidate(witness.records(), link, now));
        if both.all(|can| can) {
            witness.foresee(turn, Event::Turn(number));
        } else {
            // The windows are found again when both can move again.
            self.adapters[number].turn = now;
        }
        for side in 0..2 {
            if pauses[side] != before[side] {
                self.mark(links[side], witness);
            }
        }
    }
}

impl Motion for WormMover {
    #[inline]
    fn fetch_adapter(&self, adapter: Place) {
        prefetch(self.adapters.get(adapter));
    }

    #[inline]
    fn fetch_neighbours(&self, records: &Records, event: Event) -> bool {
        match event {
            Event::Starts(channel) | Event::Stops(channel) | Event::Arrives(channel) => {
                let this = &records.channels[channel].motion;
                if this.down < self.specials.source {
                    records.fetch_channel(this.down);
                    records.fetch_link(self.link_of(this.down));
                }
                !this.arrived.grows() && this.down == self.specials.nowhere
            }
            Event::Due(number) => {
                let link = &records.links[number];
                let mover = self.mover(&link.motion, number);
                if mover != NONE {
                    records.fetch_channel(mover);
                }
                if link.hop.ejects() {
                    prefetch(self.runs.get(self.place_of(number)));
                }
                false
            }
            Event::Room(_) | Event::Turn(_) | Event::Leaves(_) | Event::Stays(_) => false,
        }
    }

    fn arrive(&mut self, now: Cycle, witness: &mut impl Witness<Self>) {
        if now - self.swept >= SWEEP {
            self.sweep(now, witness);
        }
        self.last = now;
    }

    #[expect(
        clippy::inline_always,
        reason = "the event is known where it is called"
    )]
    #[inline(always)]
    fn read(&mut self, event: Event, now: Cycle, witness: &mut impl Witness<Self>) {
        self.events += 1;
        match event {
            Event::Starts(channel) => self.arrivals_start(channel, now, witness),
            Event::Stops(channel) => self.arrivals_stop(channel, now, witness),
            Event::Arrives(channel) => slow::arrival(self, channel, now, witness),
            Event::Room(channel) if self.mirrors.turns(channel) => {}
            Event::Room(channel) if self.returns.are_late() => self.hear(channel, now, witness),
            Event::Room(channel) => self.consider(channel, now, witness),
            Event::Leaves(channel) => self.leaves(channel, now, witness),
            Event::Stays(channel) => self.stays(channel, now, witness),
            Event::Turn(adapter) => self.turn(adapter, now, witness),
            Event::Due(link) => {
                if witness.records().links[link].motion.next.is(now) {
                    self.due(link, now, witness);
                }
            }
        }
    }

    fn close(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>) {
        self.look_at_mover(channel, now, witness);
        let specials = self.specials;
        let records = witness.records_mut();
        let state = &mut records.channels[channel].motion;
        assert!(
            state.flits() > 0 && state.sent.at(now) == state.flits() && !state.sent.grows(),
            "a channel is closed before its worm has passed"
        );
        let (up, flits, is_complex) = (state.up, state.flits(), state.is_complex());
        state.close(specials);
        if !self.sunk.is_empty() {
            self.forget_sunk(channel, flits);
        }
        // No worm has siblings before the first one has branched.
        if self.unlinks && (self.copies > 0 || self.returns.overtake) {
            self.unlink(records, channel, up);
        } else if is_complex {
            self.siblings.remove(&channel);
        }
    }

    fn charge(&mut self, link: LinkId, now: Cycle, witness: &mut impl Witness<Self>) {
        self.look_for_the_end(link, now, witness);
        let records = witness.records_mut();
        let state = &mut records.links[link].motion;
        if state.is_slow() {
            return slow::charge(self, link, now, records);
        }
        state.charge(now);
        if state.rests() {
            self.settled = self.settled.max(state.since.by(now));
        }
        records.count(link, Count::Tokens, 1);
    }

    #[inline]
    fn open(
        &mut self,
        channel: ChannelId,
        worm: Worm,
        now: Cycle,
        witness: &mut impl Witness<Self>,
    ) {
        let number = self.link_of(channel);
        let records = witness.records_mut();
        let link = &mut records.links[number];
        let state = &mut records.channels[channel].motion;
        assert!(state.flits() == 0, "a channel is granted twice");
        state.open(&worm, link.hop.ejects(), self.specials);
        let link = &mut link.motion;
        link.unsent |= 1 << self.lanes.lane(channel);
        let end = link.next.by(now);
        let moves = !link.rests();
        if self.mirrors.is_region() {
            self.open_at_border(records, channel, &worm, now);
        }
        if let Some(upstream) = worm.upstream {
            let behind = &mut records.channels[upstream].motion.down;
            let first = std::mem::replace(behind, channel);
            if first < self.specials.source {
                // The worm branches.
                records.channels[channel].motion.set_complex(true);
                self.siblings.insert(channel, first);
                self.copies += u64::from(worm.flits);
                if self.mirrors.is_region()
                    && records.links[self.link_of(upstream)].hop.is_inbound()
                {
                    self.mirrors.follow(upstream);
                }
            }
            if self.returns.are_late() {
                self.open_late(records, channel, upstream, worm.flits);
            }
        }
        if moves && end > now {
            // From here on the granted channel waits for the mover's worm to end.
            Self::foresee(number, end, now, witness);
        }
        self.consider(channel, now, witness);
    }

    #[cold]
    fn expect(&mut self, channel: ChannelId, flits: u32, records: &mut Records) {
        self.mirrors.forget(channel);
        records.channels[channel]
            .motion
            .expect(flits, self.specials);
    }

    /// A channel into a node has the sink behind it, too. The link reports worm ends from here on,
    /// permanently: that does no harm, and sinks are rare.
    #[cold]
    fn sink(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>) {
        self.look_at_mover(channel, now, witness);
        let number = self.link_of(channel);
        let records = witness.records_mut();
        let state = &mut records.channels[channel].motion;
        assert!(
            state.down == self.specials.nowhere,
            "a worm that goes on is sunk"
        );
        state.down = self.specials.sink;
        let delay = self.returns.delay(records, number);
        let from = now + delay - 1;
        self.sunk.push((channel, from));
        let link = &mut records.links[number].motion;
        link.quiet = false;
        let has_more = link.unsent >> self.lanes.lane(channel) & 1 == 1;
        let (moves, due) = (!link.rests(), link.next.by(now));
        if has_more && delay > 1 {
            records.channels[channel].motion.down = self.specials.drain;
            witness.foresee(from, Event::Room(channel));
        }
        if moves && due > now {
            Self::foresee(number, due, now, witness);
        }
        if has_more {
            self.consider(channel, now, witness);
        }
    }

    #[cold]
    fn detach(&mut self, channel: ChannelId, witness: &mut impl Witness<Self>) {
        witness.records_mut().channels[channel].motion.down = self.specials.sink;
    }

    #[cold]
    fn look(&mut self, channel: ChannelId, now: Cycle, witness: &mut impl Witness<Self>) {
        if now - self.swept >= SWEEP {
            self.sweep(now, witness);
        }
        self.look_at_mover(channel, now, witness);
    }

    fn step(&mut self, now: Cycle, witness: &mut impl Witness<Self>) {
        if self.reversed {
            self.marked.reverse();
            self.headers.reverse();
        }
        // A look at one adapter link may add the other.
        let mut place = 0;
        if self.is_far {
            (0..AHEAD).for_each(|place| self.look_at_link(place, witness));
        }
        while let Some(&link) = self.marked.get(place) {
            if self.is_far {
                self.look_at_link(place + AHEAD, witness);
            }
            witness.records_mut().links[link].motion.marked = false;
            self.evaluate(link, now, witness);
            place += 1;
        }
        self.marked.clear();
        for place in 0..self.headers.len() {
            if let Some(&channel) = self.headers.get(place + STAGE)
                && witness.records().channels[channel].motion.down == self.specials.nowhere
            {
                witness.records().fetch_link(self.link_of(channel));
            }
            self.limit(self.headers[place], now, witness);
        }
        self.headers.clear();
        if self.mirrors.have_turned() {
            self.look_at_followed(now, witness);
        }
        slow::count(self, now, witness);
    }

    fn next(&self, now: Cycle, due: Option<Cycle>) -> Option<Cycle> {
        due.or_else(|| (self.settled > now).then_some(self.settled))
    }

    fn carried(&self, records: &Records, link: LinkId, now: Cycle) -> LinkTotals {
        Account(self, records).carries(link, now)
    }

    fn census(
        &self,
        records: &Records,
        now: Cycle,
        behind: &dyn Fn(ChannelId) -> FlitFate,
    ) -> FlitCensus {
        Account(self, records).count(now, behind)
    }

    fn passed(&self, records: &Records, channel: ChannelId, now: Cycle) -> FlitFate {
        Account(self, records).passed(channel, now)
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.is_far = true;
    }
}
