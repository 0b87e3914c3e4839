//! # The control plane
//!
//! `Control` makes all decisions: which packet enters, which header takes which channel, when
//! circuits open and close, when acknowledgements travel. It drives a mover (trait [`Motion`])
//! through the data phase and reacts to the moments that the mover reports: when a worm's first
//! flit enters a link and leaves it, and when its last flit enters the link.
//!
//! ## A packet's life
//!
//! 1. [`Network::offer`](crate::Network::offer): the packet waits at its adapter, high priority
//!    before low, until fewer than `packets_in_flight` packets are unacknowledged and the injection
//!    link has a free channel. Its *age* starts there.
//! 2. The header advances: `D` cycles after a link has sent the first flit the header is at the
//!    next switch, joins the group that its tag names, and is granted an output channel, in the
//!    same cycle if the header wins and a channel is free.
//! 3. The last flit leaves the last link in cycle `s`; the packet is delivered at `s + D`
//!    ([`Notice::Delivered`]), and the destination sends its acknowledgement when it pleases.
//! 4. The acknowledgement returns along the circuit, one header delay per link, on a separate path:
//!    it never waits for a channel. At the source, cycle `t`, the packet is done
//!    ([`Notice::Acknowledged`]) and the EOP starts: the channel on each link along the path is
//!    free from cycle `t + 1` on, plus the delays on the links before it.
//!
//! A packet may ask that its destination be notified when the EOP arrives ([`Notice::Ended`]), and
//! whether the EOP commits or aborts the packet's request: the network conditional in the hardware
//! barrier (public Elan3 headers). Packets may go to a node range (`control::broadcast`). Link
//! channels may be divided into traffic classes (`control::classes`).
//!
//! With `Circuit::UntilDelivered` all channels are free one cycle after delivery, with
//! `Circuit::Wormhole` and `Circuit::CutThrough` each channel one cycle more than its link's credit
//! delay after the next link (or the node) has taken the tail: two cycles if credits take one. The
//! acknowledgement takes the same time in all cases.

mod ahead;
mod arbitration;
mod border;
mod broadcast;
mod calendar;
mod census;
mod channels;
mod circuit;
mod classes;
mod clock;
mod deadlock;
mod event;
mod faults;
mod grant;
mod packet;
mod queue;
mod recording;
mod ring;
mod tally;

pub(crate) use border::Post;
pub use census::{LinkCounters, PacketCensus};
pub(crate) use deadlock::deadlock;
pub use deadlock::{BlockedPacket, Deadlock, HeldChannel, PacketName, PacketWait, Resource};
pub use faults::NoRoute;
pub(crate) use packet::sort;
pub use packet::{Ack, Notice, PacketRecord, PacketSpec, Priority};
pub use recording::Hold;
pub(crate) use recording::united;
pub use tally::{GroupFn, Share};

use crate::cut::Cut;
use crate::id::{GroupId, PacketId, QueueId};
use crate::motion::{self, Motion, MotionReport, Witness};
use crate::prefetch::FAR;
use crate::records::{Hop, Records, Sender};
use crate::topology::{CompiledRouting, Wiring};
use crate::{ChannelId, Config, Cycle, LinkId, Place, SwitchId};
use ahead::AHEAD;
use arbitration::Crossbar;
use border::Border;
use broadcast::Broadcasts;
use channels::Channels;
use clock::Clock;
use event::Event;
use faults::Faults;
use grant::Arrivals;
use packet::{Fate, Flights};
use queue::{Offer, Queues};
use recording::Recording;
use std::ops::Range;
use std::sync::Arc;
use tally::Tally;
use typed_index_collections::TiVec;

/// The tables that the regions of a network have in common, or take their parts from.
pub(crate) struct Plan<R: ?Sized> {
    config: Config,
    routing: Arc<R>,
    crossbar: Crossbar,
    hops: TiVec<LinkId, Hop>,
    switches: Arc<TiVec<LinkId, SwitchId>>,
}

impl<R: CompiledRouting + ?Sized> Plan<R> {
    /// The plan of a network.
    pub fn new(config: Config, routing: Arc<R>) -> Self {
        let (crossbar, (hops, switches)) = Crossbar::new(&config, &*routing);
        Plan {
            config,
            routing,
            crossbar,
            hops,
            switches: Arc::new(switches),
        }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The control plane for one region of the network's cut, with a mover for the region.
    pub fn region<M: Motion>(&self, motion: &M, cut: Arc<Cut>, region: usize) -> Control<R, M> {
        let wiring = self.routing.wiring();
        let all = LinkId::all(wiring.links());
        let links = all.filter(|&link| cut.ends(link).contains(&region));
        let tables = (&self.hops, Arc::clone(&self.switches));
        let mut channels = Channels::of_some(&self.config, wiring, tables, motion, links.clone());
        let own = links.clone().filter(|&link| cut.ends(link)[0] == region);
        let groups = own.filter_map(|link| match self.hops[link].sender() {
            Sender::Group(group) => Some(group),
            Sender::Adapter(_) => None,
        });
        let crossbar = self.crossbar.of_some(groups);
        let mut mirrors = 0;
        for number in links {
            let hop = &mut channels.records.links[number].hop;
            let [from, to] = cut.ends(number);
            if from != to && from == region {
                hop.end_elsewhere(mirrors);
                mirrors += self.config.channels;
            } else if from != to {
                hop.begin_elsewhere();
            }
        }
        Control {
            config: self.config.clone(),
            routing: Arc::clone(&self.routing),
            clock: Clock::new(),
            queues: Queues::of_region(wiring.places(), self.config.traffic_classes),
            channels,
            crossbar,
            arrivals: Arrivals::default(),
            flights: Flights::new(),
            broadcasts: Broadcasts::default(),
            border: Some(Box::new(Border::new(cut, region))),
            faults: None,
            recording: None,
            tally: None,
            is_far: wiring.links() as usize >= FAR,
            reversed: false,
        }
    }
}

/// A network's control plane, in parts. See the module essay.
pub(crate) struct Control<R: CompiledRouting + ?Sized, M: Motion> {
    config: Config,
    routing: Arc<R>,
    clock: Clock,
    queues: Queues,
    channels: Channels<M>,
    crossbar: Crossbar,
    arrivals: Arrivals,
    flights: Flights<R::Path>,
    broadcasts: Broadcasts,
    /// The region's border, if the network is cut into several.
    border: Option<Box<Border<R::Path>>>,
    /// The failures so far, if faults are possible.
    faults: Option<Box<Faults>>,
    /// The channel holds, or the moments that the mover reports, if they are to be kept.
    recording: Option<Box<Recording>>,
    /// Link traffic by packet group, if it is to be counted.
    tally: Option<Box<Tally>>,
    /// Whether the network has too many records for the processor's nearest memory.
    is_far: bool,
    /// Whether a cycle's events are handled in the opposite order.
    reversed: bool,
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// An empty fabric at cycle 0.
    pub fn new(config: Config, routing: Arc<R>, motion: &M) -> Self {
        let wiring = routing.wiring();
        assert!(
            R::CLASSED || config.traffic_classes == 1,
            "the engine is made for traffic classes"
        );
        let (crossbar, hops) = Crossbar::new(&config, &*routing);
        Control {
            clock: Clock::new(),
            queues: Queues::new(wiring.places(), config.traffic_classes),
            channels: Channels::new(&config, wiring, hops, motion),
            crossbar,
            arrivals: Arrivals::default(),
            flights: Flights::new(),
            broadcasts: Broadcasts::default(),
            border: None,
            faults: Faults::new(&config).map(Box::new),
            recording: None,
            tally: None,
            is_far: wiring.links() as usize >= FAR,
            reversed: false,
            routing,
            config,
        }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    fn wiring(&self) -> &(dyn Wiring + 'static) {
        self.routing.wiring()
    }

    /// The opposite order is a large network's order, backwards: so small networks test the code
    /// for large ones, too.
    pub fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.is_far = true;
    }

    pub fn watch(&mut self) -> Vec<(Cycle, MotionReport)> {
        // Moments without holds: no hold lasts until `Cycle::MAX`.
        let nothing = || Box::new(Recording::new(Cycle::MAX));
        let recording = self.recording.get_or_insert_with(nothing);
        recording.moments.replace(Vec::new()).unwrap_or_default()
    }

    /// Puts a packet into its adapter's queue.
    pub fn offer(&mut self, spec: PacketSpec) {
        let wiring = self.wiring();
        let (first, last) = (spec.destination.first(), spec.destination.last());
        let (low, high) = (first.min(spec.source), last.max(spec.source));
        assert!(
            first <= last
                && wiring.are_attached(low, high)
                && (1..=self.config.longest_packet()).contains(&spec.flits)
                && u32::from(spec.traffic_class) < self.config.traffic_classes,
            "not a packet of this fabric: {spec:?}"
        );
        assert!(
            !spec.destination.is_broadcast() || self.routing.trees().is_some(),
            "hardware broadcasts need a tree: {spec:?}"
        );
        let (queue, is_high) = (self.queue_of(&spec), self.is_high(&spec));
        let offer = Offer {
            spec,
            at: self.clock.now(),
        };
        self.queues.push(queue, is_high, offer);
        self.flag_port(spec.source);
    }

    /// Where a packet waits at its adapter.
    #[inline]
    fn queue_of(&self, spec: &PacketSpec) -> QueueId {
        self.queue(spec.source, spec.traffic_class)
    }

    /// The packets of a traffic class at an adapter.
    #[inline]
    fn queue(&self, node: Place, traffic_class: u8) -> QueueId {
        if !R::CLASSED {
            return QueueId::new(node.get());
        }
        QueueId::new(node.get() * self.config.traffic_classes + u32::from(traffic_class))
    }

    /// All traffic classes.
    #[inline]
    fn traffic_classes(&self) -> Range<u8> {
        if R::CLASSED {
            0..self.config.traffic_classes as u8
        } else {
            0..1
        }
    }

    pub fn arriving(&self, node: Place) -> u32 {
        let link = self.wiring().ejection(node);
        let kept = self.faults.as_ref().map_or(0, |faults| faults.kept(link));
        self.config.channels - (self.channels.free(link) | kept).count_ones()
    }

    /// Whether a packet precedes low-priority packets.
    fn is_high(&self, spec: &PacketSpec) -> bool {
        self.config.priorities && spec.priority == Priority::High
    }

    /// Sends the answer to a delivery on its way back.
    pub fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack) {
        let flight = self.flights.get_mut(packet);
        assert!(
            flight.delivered > 0 && flight.delivered <= at && flight.ack.is_none(),
            "an acknowledgement answers a delivery, once"
        );
        flight.ack = Some(ack);
        if flight.spec.destination.is_broadcast() {
            return self.broadcast_answer(packet, at, ack);
        }
        let back = at + self.travel_back(packet);
        assert!(
            back >= self.clock.now(),
            "an acknowledgement comes too late"
        );
        if self.border.is_some() && self.answer_elsewhere(packet, back) {
            return;
        }
        self.clock.schedule(back, Event::Acknowledged(packet));
    }

    pub fn next_cycle(&self, motion: &M) -> Option<Cycle> {
        if !self.crossbar.flagged().is_empty() || !self.queues.flagged().is_empty() {
            return Some(self.clock.now());
        }
        let due = self.clock.next();
        match self.clock.now().checked_sub(1) {
            Some(last) => motion.next(last, due),
            None => due,
        }
    }

    pub fn advance(
        &mut self,
        motion: &mut M,
        until: Cycle,
        notices: &mut Vec<Notice>,
    ) -> Option<Cycle> {
        loop {
            let cycle = self.next_cycle(motion)?;
            if cycle > until {
                self.clock.skip_to(until.saturating_add(1));
                return None;
            }
            self.execute(motion, cycle, notices);
            if !notices.is_empty() {
                packet::sort(notices);
                return Some(cycle);
            }
        }
    }

    pub fn skip_to(&mut self, cycle: Cycle) {
        self.clock.skip_to(cycle);
        if self.border.is_some() {
            // Credits from other regions count in their own cycle only; the mover's own events do
            // no harm later.
            self.clock.forget_void();
        }
    }

    /// The two phases of a cycle; see the crate essay.
    #[expect(
        clippy::inline_always,
        reason = "5% of the time, and left to chance otherwise"
    )]
    #[inline(always)]
    fn execute(&mut self, motion: &mut M, cycle: Cycle, notices: &mut Vec<Notice>) {
        self.clock.begin(cycle);
        motion.arrive(cycle, self);
        let [mut batch, mut sorted] = self.clock.room();
        // Events may be entered for this cycle meanwhile.
        while self.clock.take(&mut batch) {
            let sorts = self.sorts(&batch);
            if sorts {
                self.sort(&batch, &mut sorted);
            }
            let events = if sorts { &sorted } else { &batch };
            if sorts {
                self.look_at_the_first(motion, events);
            }
            for (place, &event) in events.iter().enumerate() {
                if sorts {
                    self.look_ahead(motion, events, place);
                }
                self.happen(motion, event, notices);
            }
            self.clock.give_back(&mut batch);
        }
        self.clock.keep([batch, sorted]);
        if self.faults.as_ref().is_some_and(|faults| faults.sinks()) {
            self.sink_headers(motion);
        }
        while let Some(switch) = self.broadcasts.flagged.pop() {
            self.begin_set_up(switch);
        }
        if R::CHOOSES {
            self.settle_all();
        }
        if !self.arrivals.is_empty() {
            self.join_all();
        }
        if self.reversed {
            self.crossbar.reverse();
            self.queues.reverse();
        }
        // The lists do not grow during these loops.
        if self.is_far {
            (0..AHEAD).for_each(|place| self.look_at_group(place));
        }
        for place in 0..self.crossbar.flagged().len() {
            if self.is_far {
                self.look_at_group(place + AHEAD);
            }
            self.arbitrate(motion, self.crossbar.flagged()[place]);
        }
        self.crossbar.clear();
        if self.is_far {
            (0..AHEAD).for_each(|place| self.look_at_port(place));
        }
        for place in 0..self.queues.flagged().len() {
            if self.is_far {
                self.look_at_port(place + AHEAD);
            }
            self.inject(motion, self.queues.flagged()[place], notices);
        }
        self.queues.clear();
        motion.step(cycle, self);
        self.clock.end();
    }

    /// Executes an event in this cycle.
    #[inline]
    fn happen(&mut self, motion: &mut M, event: Event, notices: &mut Vec<Notice>) {
        use motion::Event as Foreseen;
        let now = self.clock.now();
        match event {
            Event::Starts(channel) => return motion.read(Foreseen::Starts(channel), now, self),
            Event::Stops(channel) => return motion.read(Foreseen::Stops(channel), now, self),
            Event::Arrives(channel) => return motion.read(Foreseen::Arrives(channel), now, self),
            Event::Room(channel) => return motion.read(Foreseen::Room(channel), now, self),
            Event::Due(link) => return motion.read(Foreseen::Due(link), now, self),
            Event::Turn(adapter) => return motion.read(Foreseen::Turn(adapter), now, self),
            Event::Free(channel) => self.release(motion, channel),
            Event::Delivered(packet) => {
                if self.is_troubled() {
                    notices.extend(self.arrive_at_last(motion, packet));
                } else {
                    notices.push(self.deliver(packet));
                }
            }
            Event::Acknowledged(packet) => {
                if !self.is_troubled() || self.hears(motion, packet) {
                    notices.push(self.complete(packet));
                }
            }
            Event::Sunk(packet) => self.drained(motion, packet),
            Event::Ended(packet) => notices.push(self.ended(packet)),
            Event::SetUp(switch) => self.broadcasts.flag(switch),
            Event::Leaves(channel) => return motion.read(Foreseen::Leaves(channel), now, self),
            Event::Stays(channel) => return motion.read(Foreseen::Stays(channel), now, self),
            Event::ArrivalStarts(_)
            | Event::ArrivalStops(_)
            | Event::FlitArrives(_)
            | Event::Charge(_)
            | Event::Enters(_)
            | Event::Descends(_) => return self.happen_at_border(motion, event),
        }
        self.clock.happened();
    }

    /// Whether anything has failed so far, or may fail at any time.
    #[inline]
    fn is_troubled(&self) -> bool {
        self.faults
            .as_ref()
            .is_some_and(|faults| faults.is_troubled())
    }

    /// Whether a cable is dead, or the sources take one for dead.
    #[inline]
    fn is_cut_somewhere(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.cuts())
    }

    /// Has a group arbitrate in this cycle, if a header waits.
    fn flag_group(&mut self, number: GroupId) {
        if self.crossbar.groups[number].waiting.is_some() {
            self.crossbar.flag(number);
        }
    }

    /// Has an adapter inject in this cycle, if a packet waits.
    fn flag_port(&mut self, node: Place) {
        let mut classes = self.traffic_classes();
        if classes.any(|class| !self.queues.is_empty(self.queue(node, class))) {
            self.queues.flag(node);
        }
    }
}

impl<R: CompiledRouting + ?Sized, M: Motion> Witness<M> for Control<R, M> {
    #[inline]
    fn records(&self) -> &Records<M> {
        &self.channels.records
    }

    #[inline]
    fn records_mut(&mut self) -> &mut Records<M> {
        &mut self.channels.records
    }

    #[expect(
        clippy::inline_always,
        reason = "the moment is known where it is noted"
    )]
    #[inline(always)]
    fn note(&mut self, moment: MotionReport) {
        if let Some(recording) = &mut self.recording {
            recording.moved(moment, self.clock.now());
        }
        match moment {
            MotionReport::Header(channel) => self.header(channel),
            MotionReport::Head(channel) => self.head_sent(channel),
            MotionReport::Tail(..) => unreachable!("tails are noted with the channel upstream"),
        }
    }

    #[expect(clippy::inline_always, reason = "as it is with the other moments")]
    #[inline(always)]
    fn note_tail(
        &mut self,
        channel: ChannelId,
        cycle: Cycle,
        upstream: Option<ChannelId>,
        arrival: Option<Cycle>,
    ) {
        if let Some(recording) = &mut self.recording {
            recording.moved(MotionReport::Tail(channel, cycle), self.clock.now());
        }
        if self.faults.is_some() {
            self.tail_passes(channel, cycle);
        }
        // With circuits, only the tail on the last link has a consequence.
        if arrival.is_some() || self.config.circuit.ends_with_the_tail() {
            self.tail_sent(channel, cycle, upstream, arrival);
        }
    }

    fn precedes(&self, channel: ChannelId, other: ChannelId) -> bool {
        let rank = |channel: ChannelId| {
            let flight = self.flights.get(self.channels.holder(channel));
            (!self.is_high(&flight.spec), flight.rank())
        };
        rank(channel) < rank(other)
    }

    #[inline]
    fn fetch_packet(&self, channel: ChannelId) {
        self.flights.fetch(self.channels.holder(channel));
    }

    fn send_on(&mut self, link: LinkId, at: Cycle, event: motion::Event) {
        let event = match event {
            motion::Event::Starts(channel) => Event::ArrivalStarts(channel),
            motion::Event::Stops(channel) => Event::ArrivalStops(channel),
            motion::Event::Arrives(channel) => Event::FlitArrives(channel),
            _ => unreachable!("arrivals begin and cease over a link"),
        };
        self.send_over(link, at, event);
    }

    fn send_back(&mut self, at: Cycle, event: motion::Event) {
        self.send_behind(at, event.into());
    }

    #[inline]
    fn foresee(&mut self, at: Cycle, event: motion::Event) {
        self.clock.foresee(at, event.into());
    }
}
