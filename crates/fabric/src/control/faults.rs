//! # Faults: cables that die, bits that arrive wrong
//!
//! A fault changes what the control plane decides and what adapters hear. The motion of flits stays as it is, with one
//! more operation: a worm may be *sunk* ([`Motion::sink`]), so that its flits are discarded as they come in. A switch that dies is
//! all its cables, an adapter its one cable: the caller cuts them. What the papers and the public headers do not say is assumed;
//! this essay marks it.
//!
//! ## Bit errors
//!
//! A bit that crosses a link with bit error rate `r` arrives wrong with probability `r`, so that of `b` bits at least one is
//! wrong with probability `1 - (1 - r)^b`. Whether it is so is a hash of seed, link, source, number of the packet and part of the
//! packet: no order of events matters, and a packet that is sent again, with a new number, has new luck. The hardware checks a CRC
//! of the route at each switch, and one of each transaction at the destination (hardware.md, C1).
//!
//! * *Header wrong* (`header_bits`, at the header's arrival at a switch): the switch sinks the worm. When the tail is in, the
//!   switch answers [`Ack::Corrupted`] along the path so far (assumed).
//! * *Body wrong* (the other bits, on all links of the path; on the last link all bits): the destination hears
//!   [`Notice::Damaged`] in place of [`Notice::Delivered`], and answers [`Ack::Corrupted`].
//! * *Acknowledgement wrong* (`token_bits`, on all links back): the source hears nothing until the `timeout`, counted from the
//!   injection, and then [`Ack::TimedOut`]. The destination may have accepted the packet.
//! * *EOPs* are taken to be protected by the code of the link (petrini2003 s2.2): simplified.
//!
//! ## Dead cables
//!
//! A cable that dies in cycle `c` is dead before anything happens in `c`: what would come in at an end in `c` or later is lost.
//!
//! *Grants.* A dead cable has no free channels. What falls free meanwhile is kept for the repair. Adaptive ascent therefore avoids
//! the cable at once. A header that has only dead links to go on by, now or since it waits, is *refused*: the switch sinks the
//! worm, and answers [`Ack::Unreachable`] when the tail is in (assumed). An adapter whose own cable is dead refuses the packet
//! itself: the packet never enters, and is answered in the next cycle.
//!
//! *Headers.* A header on its way over the cable is lost. The worm is sunk at the far end when the header would have arrived.
//!
//! *Packets that are crossing* go on as garbage: the far end fills in the flits that do not come. So the motion stays as it is. At
//! the end nobody is told. One cycle later the channels beyond the dead cable are free, by the EOP that reports an error,
//! which the switch behind the break inserts (assumed; public headers know such an EOP). The source hears [`Ack::TimedOut`] at its
//! timeout, or when the worm has ended if that is later; its EOP then frees the channels up to the break.
//!
//! *Packets that have crossed* arrive. An answer is lost if any cable of its way that it has yet to pass is dead between its
//! departure and its passage (simplified: also if the cable is repaired before the answer comes to it). The source
//! hears [`Ack::TimedOut`]; the channels beyond the break are free one cycle after the answer would have been back, and a
//! destination that waits for the EOP is told of a bad one. The answers of switches are lost in the same ways.
//!
//! A timeout strikes only packets that can never end otherwise: a packet that merely waits is not given up, and an answer
//! that comes after the timeout counts (simplified). An EOP that has started has passed, whatever dies (simplified). In the
//! circuit modes without acknowledgement the channels are free as always, a sunk worm's last channel as if the switch were the
//! destination.
//!
//! ## Broadcasts
//!
//! A switch that sinks a part of a broadcast, or has no living link for a branch, answers for all destinations below, in the time
//! that these would need from there. A branch whose cable dies between the claim of its channel and the opening leads into the void.
//! A broadcast is *all or nothing*: if any cable of it is dead at any time from the opening of its channel there until the
//! combined answer is back, or one of the answers comes wrong over a link, the source hears [`Ack::TimedOut`], and the
//! EOP is bad everywhere. All channels stay until then (simplified: also those beyond a dead cable).
//!
//! ## Known tables
//!
//! The sources' routing tables know the cables that were dead at the last [`Fabric::learn`](crate::Fabric::learn). A packet whose
//! ways, by these tables, are all alive is routed as always. For others see `tables`.

mod tables;

pub use tables::NoWay;

use super::packet::{ANY_LINK, Fate};
use super::{Ack, Control, Event, Notice, PacketId};
use crate::id::GroupId;
use crate::motion::{Lanes, Motion};
use crate::topology::Routing;
use crate::{ChannelId, Circuit, Config, Cycle, LinkId, Place, config, table};
use typed_index_collections::TiVec;

/// A cycle that never comes.
const NEVER: Cycle = Cycle::MAX;

/// What has failed on a link.
#[derive(Clone, Debug, Default)]
struct Cable {
    /// Cuts that have not been taken back.
    cuts: u32,
    /// The channels that are free once the cable lives again, as bits; none while it lives.
    kept: u8,
    /// From when to when the cable was dead; the last time may last.
    deaths: Vec<(Cycle, Cycle)>,
    /// Whether the sources know that the cable is dead.
    known: bool,
    /// The probability that a bit arrives wrong.
    rate: f64,
    /// Packets and acknowledgements that have arrived wrong.
    errors: u64,
}

/// What is known of the worm on a channel.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Whether the header has arrived at the end of the link, and whether it is lost on the way.
    header: bool,
    gone: bool,
    /// The cycle in which the tail was sent, as far as reported.
    tail: Cycle,
    /// The cycle in which the worm was sunk.
    sunk: Cycle,
}

const UNSEEN: Seen = Seen {
    header: false,
    gone: false,
    tail: NEVER,
    sunk: NEVER,
};

/// The part of a packet that a bit error strikes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Draw {
    /// The part that switches check.
    Header,
    /// This many bits that the destination checks.
    Body(u64),
    /// The acknowledgement.
    Token,
}

/// All that is kept of faults; see the essay of the module.
pub(super) struct Faults {
    config: config::Faults,
    cables: TiVec<LinkId, Cable>,
    seen: TiVec<ChannelId, Seen>,
    /// Dead links: two for each dead cable.
    dead: u32,
    /// Links that the sources know to be dead, in the order of their numbers.
    known: Vec<LinkId>,
    /// Channels whose worm is to be sunk in this cycle, since its header is wrong or lost.
    sinking: Vec<ChannelId>,
}

impl Faults {
    /// Nothing has failed yet; none if nothing can fail.
    pub fn new(config: &Config) -> Option<Self> {
        let faults = config.faults.clone()?;
        let links = config.topology.links() as usize;
        let mut cables: TiVec<LinkId, Cable> = table::equal(Cable::default(), links);
        for &(link, rate) in &faults.bit_error_rates {
            cables[link].rate = rate;
        }
        Some(Faults {
            config: faults,
            cables,
            seen: table::equal(UNSEEN, Lanes::new(config.channels).bound(links)),
            dead: 0,
            known: Vec::new(),
            sinking: Vec::new(),
        })
    }

    /// The channels of a dead link that will be free.
    pub fn kept(&self, link: LinkId) -> u8 {
        self.cables[link].kept
    }

    pub fn errors(&self, link: LinkId) -> u64 {
        self.cables[link].errors
    }

    /// Cycles before cycle `now` in which a link was dead.
    pub fn down(&self, link: LinkId, now: Cycle) -> u64 {
        let deaths = self.cables[link].deaths.iter();
        deaths.map(|&(from, to)| to.min(now) - from).sum()
    }

    /// Whether a link was dead in any of the cycles from `first` to `last`.
    pub fn was_dead(&self, link: LinkId, first: Cycle, last: Cycle) -> bool {
        let deaths = self.cables[link].deaths.iter().rev();
        deaths
            .take_while(|&&(_, to)| to > first)
            .any(|&(from, _)| from <= last)
    }

    /// Whether a bit error strikes a part of a packet on a link: the same answer however often it is asked.
    pub fn draws(&self, link: LinkId, source: Place, sequence: u32, part: Draw) -> bool {
        let rate = self.cables[link].rate;
        if rate == 0.0 {
            return false;
        }
        let (kind, bits) = match part {
            Draw::Header => (0, u64::from(self.config.header_bits)),
            Draw::Body(bits) => (1, bits),
            Draw::Token => (2, u64::from(self.config.token_bits)),
        };
        let place = u64::from(link.get()) << 2 | kind;
        let packet = u64::from(source.get()) << 32 | u64::from(sequence);
        let drawn = mixed(mixed(mixed(self.config.seed) ^ place) ^ packet);
        // 53 bits: as many as a double holds.
        ((drawn >> 11) as f64) < wrong(rate, bits) * (1_u64 << 53) as f64
    }

    /// Counts that something has arrived wrong over a link.
    fn count_error(&mut self, link: LinkId) {
        self.cables[link].errors += 1;
    }
}

/// The probability that at least one of some bits is wrong. By squaring: the same on every computer, and exact where it is small.
fn wrong(rate: f64, bits: u64) -> f64 {
    let both = |a: f64, b: f64| a + b - a * b;
    let (mut sum, mut power, mut rest) = (0.0, rate, bits);
    while rest > 0 {
        if rest & 1 == 1 {
            sum = both(sum, power);
        }
        power = both(power, power);
        rest >>= 1;
    }
    sum
}

/// The finaliser of `SplitMix64`, behind its step.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Cables.
impl<R: Routing> Control<R> {
    fn failing(&mut self) -> &mut Faults {
        let faults = self.faults.as_mut();
        faults.expect("cables are cut only in a machine that was made with faults")
    }

    fn both_ways(&self, link: LinkId) -> [LinkId; 2] {
        [link, self.links[link].hop.reverse]
    }

    /// The cable of a link is dead from the cycle on that is executed next.
    pub fn cut(&mut self, motion: &mut impl Motion, link: LinkId) {
        let now = self.now;
        for link in self.both_ways(link) {
            let free = self.free[link];
            let faults = self.failing();
            let cable = &mut faults.cables[link];
            cable.cuts += 1;
            if cable.cuts > 1 {
                continue;
            }
            cable.deaths.push((now, NEVER));
            cable.kept = free;
            faults.dead += 1;
            self.free[link] = 0;
            for channel in self.lanes.of(link) {
                if free >> self.lanes.lane(channel) & 1 == 0 {
                    self.lose_what_crosses(motion, channel);
                }
            }
            self.tell(self.links[link].hop.sender);
        }
    }

    /// A cable that was dead may live again.
    pub fn repair(&mut self, link: LinkId) {
        let now = self.now;
        for link in self.both_ways(link) {
            let faults = self.failing();
            let cable = &mut faults.cables[link];
            assert!(cable.cuts > 0, "a cable is repaired that is not cut");
            cable.cuts -= 1;
            if cable.cuts > 0 {
                continue;
            }
            let death = cable.deaths.last_mut().expect("it has died");
            death.1 = now;
            if death.0 == now {
                // Dead for no cycle.
                cable.deaths.pop();
            }
            let free = std::mem::take(&mut cable.kept);
            faults.dead -= 1;
            self.free[link] = free;
            self.tell(self.links[link].hop.sender);
        }
    }

    pub fn is_cut(&self, link: LinkId) -> bool {
        let faults = self.faults.as_ref();
        faults.is_some_and(|faults| faults.cables[link].cuts > 0)
    }

    /// A channel has fallen free: if its cable is dead, the channel is kept for the repair.
    #[cold]
    pub(super) fn keep(&mut self, channel: ChannelId) {
        self.failing().seen[channel] = UNSEEN;
        let link = self.lanes.link(channel);
        if self.is_cut(link) {
            let free = std::mem::take(&mut self.free[link]);
            self.failing().cables[link].kept |= free;
        }
    }

    /// The cable of a channel that is taken dies before this cycle: the packet there is lost, unless it has crossed.
    fn lose_what_crosses(&mut self, motion: &mut impl Motion, channel: ChannelId) {
        let packet = self.holders[channel];
        // A channel that waits only for the EOP has no packet.
        if !self.flights.holds(packet, channel)
            || self.flights.get(packet).ack.is_some()
            || self.is_only_claimed(packet)
        {
            return;
        }
        motion.look(channel, self.now, self);
        let tail = self.failing().seen[channel].tail;
        let delay = self.delay(&[channel]);
        if tail == NEVER || tail + delay >= self.now {
            self.lose_over(packet, channel);
        }
    }

    /// A packet is lost on one of its channels.
    pub(super) fn lose_over(&mut self, packet: PacketId, channel: ChannelId) {
        let flight = self.flights.get_mut(packet);
        flight.fate = Fate::Lost;
        let place = flight.path().iter().position(|&taken| taken == channel);
        let place = place.expect("the packet holds it") as u8;
        flight.broken = flight.broken.min(place);
        let seen = &mut self.failing().seen[channel];
        seen.gone = !seen.header;
    }
}

/// Headers and tails.
impl<R: Routing> Control<R> {
    /// A header comes to the end of a link. Returns whether it is to be routed in the usual way.
    #[cold]
    pub(super) fn header_passes(&mut self, channel: ChannelId, packet: PacketId) -> bool {
        let link = self.lanes.link(channel);
        let flight = self.flights.get(packet);
        let (source, sequence) = (flight.spec.source, flight.sequence);
        let faults = self.failing();
        let seen = &mut faults.seen[channel];
        seen.header = true;
        let gone = seen.gone;
        if gone || faults.draws(link, source, sequence, Draw::Header) {
            faults.sinking.push(channel);
            if !gone {
                faults.count_error(link);
                self.doom(packet, Ack::Corrupted);
            }
            return false;
        }
        // What was fixed for the switch before is over.
        self.flights.get_mut(packet).only = ANY_LINK;
        self.failing().known.is_empty() || self.takes_no_detour(channel, packet)
    }

    /// A packet is refused, unless it is lost anyway.
    pub(super) fn doom(&mut self, packet: PacketId, ack: Ack) {
        let flight = self.flights.get_mut(packet);
        if flight.fate == Fate::Well {
            flight.fate = Fate::Refused(ack);
        }
    }

    /// Sinks the worms whose headers have come in this cycle and go nowhere.
    #[cold]
    pub(super) fn sink_headers(&mut self, motion: &mut impl Motion) {
        let mut sinking = std::mem::take(&mut self.failing().sinking);
        for channel in sinking.drain(..) {
            self.sink(motion, channel);
        }
        self.failing().sinking = sinking;
    }

    /// Refuses the headers of a group that have only dead links to go on by.
    #[cold]
    pub(super) fn refuse_headers(&mut self, motion: &mut impl Motion, number: GroupId) {
        let (outputs, ..) = self.crossbar.outputs(number);
        if self.failing_is_dead() && outputs.iter().any(|&link| self.is_cut(link)) {
            self.refuse_headers_of(motion, number);
        }
    }

    fn failing_is_dead(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.dead > 0)
    }

    #[cold]
    fn refuse_headers_of(&mut self, motion: &mut impl Motion, number: GroupId) {
        let (outputs, ..) = self.crossbar.outputs(number);
        let none_lives = outputs.iter().all(|&link| self.is_cut(link));
        let mut refused = Vec::new();
        let mut next = self.groups[number].waiting;
        while let Some(packet) = next {
            let flight = self.flights.get(packet);
            next = flight.next;
            if none_lives || (flight.only != ANY_LINK && self.is_cut(flight.only)) {
                refused.push(packet);
            }
        }
        for packet in refused {
            self.leave(number, packet);
            match self.flights.get(packet).path().last() {
                None => self.refuse_branch(motion, packet),
                Some(&channel) => {
                    self.doom(packet, Ack::Unreachable);
                    self.sink(motion, channel);
                }
            }
        }
    }

    /// Sinks a worm, behind the events of the cycle.
    pub(super) fn sink(&mut self, motion: &mut impl Motion, channel: ChannelId) {
        let now = self.now;
        let packet = self.holders[channel];
        if self.flights.get(packet).spec.destination.is_broadcast() {
            self.sink_part(packet);
        }
        let tail = self.failing().seen[channel].tail;
        self.failing().seen[channel].sunk = now;
        motion.sink(channel, now, self);
        if tail != NEVER {
            self.sunk_whole(channel, tail);
        }
    }

    /// The mover reports a tail.
    #[cold]
    pub(super) fn note_tail(&mut self, channel: ChannelId, sent: Cycle) {
        let seen = &mut self.failing().seen[channel];
        seen.tail = sent;
        if seen.sunk != NEVER {
            self.sunk_whole(channel, sent);
        }
    }

    /// The tail of a worm that is sunk was sent in a cycle: the worm is drained when the tail is in, and after the cycle in which
    /// it was sunk. Both movers report a tail in time for that, but not in the same cycle.
    #[cold]
    fn sunk_whole(&mut self, channel: ChannelId, sent: Cycle) {
        let packet = self.holders[channel];
        let drained = (sent + self.delay(&[channel])).max(self.failing().seen[channel].sunk + 1);
        self.schedule(drained, Event::Sunk(packet));
        if self.config.circuit == Circuit::Wormhole {
            self.schedule(drained + 2, Event::Free(channel));
        }
    }

    /// The tail of a packet that is sunk is in.
    #[cold]
    pub(super) fn drained(&mut self, motion: &mut impl Motion, packet: PacketId) {
        let flight = self.flights.get(packet);
        if flight.spec.destination.is_broadcast() {
            return self.part_drained(packet);
        }
        self.free_all_at_the_end(packet);
        match self.flights.get(packet).fate {
            Fate::Refused(ack) => {
                let flight = self.flights.get_mut(packet);
                flight.ack = Some(ack);
                let back = self.now + self.delay(self.flights.get(packet).path());
                self.schedule(back, Event::Acknowledged(packet));
            }
            Fate::Lost => self.lose(motion, packet),
            Fate::Well => unreachable!("only what has failed is sunk"),
        }
    }
}

/// Ends and answers.
impl<R: Routing> Control<R> {
    /// The channels of a packet that is at its end fall free, where circuits last until the delivery.
    fn free_all_at_the_end(&mut self, packet: PacketId) {
        if self.config.circuit == Circuit::UntilDelivered {
            for &channel in self.flights.get(packet).path() {
                self.calendar
                    .schedule(self.now + 1, Event::Free(channel), self.now);
            }
        }
    }

    /// The last flit of a packet, or what has become of it, is at its destination. Returns what the destination hears.
    #[cold]
    pub(super) fn arrive_at_last(
        &mut self,
        motion: &mut impl Motion,
        packet: PacketId,
    ) -> Option<Notice> {
        let is_broadcast = self.flights.get(packet).spec.destination.is_broadcast();
        if self.is_garbage(packet) {
            if is_broadcast {
                self.flights.get_mut(packet).fate = Fate::Lost;
                self.garbage_arrives(packet);
            } else {
                self.free_all_at_the_end(packet);
                self.lose(motion, packet);
            }
            return None;
        }
        let damaged = self.is_damaged(packet);
        match self.deliver(packet) {
            Notice::Delivered(packet, node, spec) if damaged => {
                Some(Notice::Damaged(packet, node, spec))
            }
            notice => Some(notice),
        }
    }

    /// Whether the body of a packet is wrong at its destination.
    fn is_damaged(&mut self, packet: PacketId) -> bool {
        let flight = self.flights.get(packet);
        let (spec, sequence) = (flight.spec, flight.sequence);
        let mut damaged = false;
        for channel in self.channels_to(packet) {
            let link = self.lanes.link(channel);
            let ejects = self.links[link].hop.ejects;
            let faults = self.failing();
            let checked = if ejects { 0 } else { faults.config.header_bits };
            let bits = u64::from(spec.flits) * u64::from(faults.config.flit_bits);
            let body = Draw::Body(bits.saturating_sub(checked.into()));
            if faults.draws(link, spec.source, sequence, body) {
                damaged = true;
                if !spec.destination.is_broadcast() || self.is_new_damage(packet, link) {
                    self.failing().count_error(link);
                }
            }
        }
        damaged
    }

    /// A packet to one node has ended, and nobody answers: the source gives up at its timeout.
    fn lose(&mut self, motion: &mut impl Motion, packet: PacketId) {
        let broken = self.flights.get(packet).broken;
        self.break_off(motion, packet, broken.into());
        self.flights.get_mut(packet).ack = Some(Ack::TimedOut);
        self.schedule(self.now, Event::Acknowledged(packet));
    }

    /// The circuit of a packet that has ended is broken at a channel: the channels beyond fall free, and the destination hears of
    /// a bad EOP if it has heard of the packet and waits.
    fn break_off(&mut self, motion: &mut impl Motion, packet: PacketId, place: usize) {
        let flight = self.flights.get_mut(packet);
        flight.fate = Fate::Lost;
        let beyond: Vec<ChannelId> = flight.path().iter().skip(place + 1).copied().collect();
        let mut told = flight.clone();
        if told.spec.awaits_end && told.delivered > 0 {
            told.ack = Some(Ack::TimedOut);
            let arrives = self.now + 1 + self.delay(&beyond);
            let told = self.flights.insert(told);
            self.schedule(arrives, Event::Ended(told));
        }
        if self.config.circuit == Circuit::UntilAcknowledged && !beyond.is_empty() {
            let flight = self.flights.get_mut(packet);
            motion.detach(flight.path()[place]);
            flight.shorten(place + 1);
            for channel in beyond {
                self.schedule(self.now + 1, Event::Free(channel));
            }
        }
    }

    /// An answer would reach the source now. Returns whether it does, or the source gives up in this cycle.
    #[cold]
    pub(super) fn hears(&mut self, motion: &mut impl Motion, packet: PacketId) -> bool {
        if self.flights.get(packet).ack != Some(Ack::TimedOut) && self.answer_fails(motion, packet)
        {
            self.flights.get_mut(packet).ack = Some(Ack::TimedOut);
        }
        let flight = self.flights.get(packet);
        let gives_up = flight.injected + self.failing_timeout();
        if flight.ack != Some(Ack::TimedOut) || gives_up <= self.now {
            return true;
        }
        self.schedule(gives_up, Event::Acknowledged(packet));
        false
    }

    fn failing_timeout(&self) -> Cycle {
        let faults = self.faults.as_ref();
        faults.expect("something may fail").config.timeout
    }

    /// Whether an answer that would be back now is lost on its way.
    fn answer_fails(&mut self, motion: &mut impl Motion, packet: PacketId) -> bool {
        let flight = self.flights.get(packet);
        if flight.path().is_empty() {
            // The adapter itself has answered.
            return false;
        }
        if flight.spec.destination.is_broadcast() {
            return self.combined_answer_fails(packet);
        }
        let faults = self.faults.as_ref().expect("something may fail");
        let left = self.now - self.delay(flight.path());
        let (source, sequence) = (flight.spec.source, flight.sequence);
        // When the answer has passed the link, or would have; the first link is the last that it passes.
        let mut passed = self.now;
        let (mut broken, mut wrong) = (None, None);
        for (place, &channel) in flight.path().iter().enumerate() {
            let link = self.lanes.link(channel);
            let back = self.links[link].hop.reverse;
            if broken.is_none() && faults.was_dead(link, left, passed) {
                broken = Some(place);
            }
            if faults.draws(back, source, sequence, Draw::Token) {
                wrong = Some(back);
            }
            passed -= self.delay(&[channel]);
        }
        if let Some(link) = wrong {
            self.failing().count_error(link);
        }
        if let Some(place) = broken {
            self.break_off(motion, packet, place);
        }
        broken.is_some() || wrong.is_some()
    }
}
