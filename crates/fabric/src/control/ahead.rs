//! Fetching ahead: the records that a cycle's next events need.
//!
//! An event names a record, and the record names others. So each event is seen twice before it
//! happens. First the records that it names are requested; then, when these have arrived, those
//! that they name. Where the routing reads long lists, a header's arrival is seen a third time, for
//! the entry of the list. See [`crate::prefetch`].

use super::Control;
use super::event::{Event, KINDS};
use crate::motion::{self, Motion};
use crate::prefetch::{STAGE, at_stage};
use crate::records::Sender;
use crate::topology::{CompiledRouting, Destination};
use crate::{ChannelId, Circuit};

/// An event's distances from the present one, in events, when it is seen the first time and the
/// second time. Measured: a fetch takes as long as several events.
const FIRST: usize = 20;
const SECOND: usize = 8;

/// How many events ahead the entry is fetched that the routing reads when a header arrives, where
/// it reads long lists: the packet names the entry.
const THIRD: usize = 3;

/// The first prefetch stage's distance ahead of the current group or adapter.
pub(super) const AHEAD: usize = 4 * STAGE;

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// Whether a cycle's events are sorted by kind, since they are many: the processor predicts a
    /// loop's branches while the kind stays the same. For the opposite order, events are always
    /// sorted.
    #[inline]
    pub(super) fn sorts(&self, events: &[Event]) -> bool {
        (self.is_far && events.len() > FIRST) || self.reversed
    }

    /// Sorts events by kind.
    #[inline(never)]
    pub(super) fn sort(&self, events: &[Event], sorted: &mut Vec<Event>) {
        let mut ends = [0; KINDS];
        for event in events {
            ends[event.kind()] += 1;
        }
        let mut before = 0;
        for end in &mut ends {
            before += *end;
            *end = before;
        }
        sorted.clear();
        sorted.extend_from_slice(events);
        for &event in events {
            let end = &mut ends[event.kind()];
            *end -= 1;
            sorted[*end] = event;
        }
        if self.reversed {
            sorted.reverse();
        }
    }

    /// Prefetches the records that a cycle's first events need.
    #[inline(never)]
    pub(super) fn look_at_the_first(&self, motion: &M, events: &[Event]) {
        for &event in events.iter().take(FIRST) {
            self.fetch(motion, event);
        }
        for &event in events.iter().take(SECOND) {
            self.fetch_neighbours(motion, event);
        }
        if R::LISTS {
            for &event in events.iter().take(THIRD) {
                self.fetch_entry(motion, event);
            }
        }
    }

    /// Prefetches the records that the events behind the one at `place` need.
    #[inline(never)]
    pub(super) fn look_ahead(&self, motion: &M, events: &[Event], place: usize) {
        if let Some(&event) = events.get(place + FIRST) {
            self.fetch(motion, event);
        }
        if let Some(&event) = events.get(place + SECOND) {
            self.fetch_neighbours(motion, event);
        }
        if R::LISTS
            && let Some(&event) = events.get(place + THIRD)
        {
            self.fetch_entry(motion, event);
        }
    }

    /// Requests the records that an event names.
    #[inline]
    fn fetch(&self, motion: &M, event: Event) {
        match event {
            Event::Starts(channel) | Event::Stops(channel) | Event::Arrives(channel) => {
                self.channels.records.fetch_channel(channel);
            }
            Event::Room(channel) | Event::Free(channel) => {
                self.channels
                    .records
                    .fetch_link(self.channels.link(channel));
                self.channels.records.fetch_channel(channel);
            }
            Event::Due(link) | Event::Charge(link) => self.channels.records.fetch_link(link),
            Event::Turn(adapter) => motion.fetch_adapter(adapter),
            Event::Delivered(packet) | Event::Acknowledged(packet) => self.flights.fetch(packet),
            Event::ArrivalStarts(channel)
            | Event::ArrivalStops(channel)
            | Event::FlitArrives(channel)
            | Event::Leaves(channel)
            | Event::Stays(channel) => self.channels.records.fetch_channel(channel),
            Event::Ended(_)
            | Event::Sunk(_)
            | Event::SetUp(_)
            | Event::Enters(_)
            | Event::Descends(_) => {}
        }
    }

    /// Requests the records that an event's records name.
    #[inline]
    fn fetch_neighbours(&self, motion: &M, event: Event) {
        use motion::Event as Foreseen;
        match event {
            Event::Starts(channel) if self.brings_a_header(motion, channel) => {
                self.channels
                    .records
                    .fetch_link(self.channels.link(channel));
                self.flights.fetch(self.channels.holder(channel));
            }
            Event::Stops(channel) => {
                motion.fetch_neighbours(&self.channels.records, Foreseen::Stops(channel));
            }
            Event::Due(link) => {
                motion.fetch_neighbours(&self.channels.records, Foreseen::Due(link));
            }
            Event::Free(channel) => {
                let hop = self.channels.hop(self.channels.link(channel));
                self.channels.records.fetch_link(hop.reverse);
                match hop.sender() {
                    Sender::Adapter(place) => self.queues.fetch(self.queue(place, 0)),
                    Sender::Group(group) => self.crossbar.fetch(group),
                }
            }
            Event::Delivered(packet) => {
                // The answer, which mostly comes immediately, needs the last link's delay.
                if let Some(&channel) = self.flights.get(packet).path().last() {
                    self.channels
                        .records
                        .fetch_link(self.channels.link(channel));
                }
            }
            Event::Acknowledged(packet) => {
                let flight = self.flights.get(packet);
                self.queues.fetch(self.queue_of(&flight.spec));
                self.queues.fetch_port(flight.spec.source);
                if self.config.circuit == Circuit::UntilAcknowledged {
                    for &channel in flight.path() {
                        self.channels
                            .records
                            .fetch_link(self.channels.link(channel));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a header's arrival begins the arrivals behind a channel. Requests the records behind
    /// it otherwise.
    #[inline]
    fn brings_a_header(&self, motion: &M, channel: ChannelId) -> bool {
        motion.fetch_neighbours(&self.channels.records, motion::Event::Starts(channel))
    }

    /// Requests the entry that the routing will read, if the event is a header's arrival.
    #[inline]
    fn fetch_entry(&self, motion: &M, event: Event) {
        if let Event::Starts(channel) = event
            && self.brings_a_header(motion, channel)
            && let Some(flight) = self.flights.find(self.channels.holder(channel))
            && let Destination::Node(node) = flight.spec.destination
        {
            let switch = self.channels.switch(self.channels.link(channel));
            self.routing.fetch(switch, node);
        }
    }

    /// Requests the groups for a header's choice after it has come over a channel to its first
    /// switch.
    #[inline(never)]
    pub(super) fn look_at_choices(&mut self, channel: ChannelId) {
        let mut groups = std::mem::take(&mut self.arrivals.choices);
        let (header, hop) = self.unsettled_header(channel);
        // As if no link were loaded, so that only the routing's first reads are fetched.
        self.routing.settle(&header, &mut |group| {
            let number = hop.next_group(group);
            self.crossbar.fetch(number);
            groups.push(number);
            0
        });
        self.arrivals.choices = groups;
    }

    /// Requests the records that hold the loads of these groups.
    #[inline(never)]
    pub(super) fn look_at_loads(&mut self) {
        for &number in &self.arrivals.choices {
            self.crossbar.fetch_outputs(number);
        }
        for &number in &self.arrivals.choices {
            for &link in self.crossbar.outputs(number).0 {
                self.channels.records.fetch_link(link);
            }
        }
        self.arrivals.choices.clear();
    }

    /// Requests the records of groups that are about to arbitrate, in stages: for the group at
    /// `place` the records that it names, for groups before it the links on which it may grant a
    /// channel and the packet that waits, and the channels on both sides of the grant.
    #[inline(never)]
    pub(super) fn look_at_group(&self, place: usize) {
        let group = |stage| at_stage(self.crossbar.flagged(), place, stage);
        if let Some(number) = group(0) {
            self.crossbar.fetch(number);
        }
        if let Some(number) = group(1) {
            self.crossbar.fetch_outputs(number);
            if let Some(packet) = self.crossbar.groups[number].waiting {
                self.flights.fetch(packet);
            }
        }
        if let Some(number) = group(2) {
            for &link in self.crossbar.outputs(number).0 {
                self.channels.records.fetch_link(link);
            }
        }
        if let Some(number) = group(3)
            && let Some(packet) = self.crossbar.groups[number].waiting
        {
            let flight = self.flights.get(packet);
            if let Some(&channel) = flight.path().last() {
                // The arrival data there is all that a grant needs.
                self.channels.records.fetch_channel(channel);
            }
            // Mostly one header waits, and takes this link.
            if let Some(link) = self.choice(number, flight) {
                let lanes = if R::CLASSED { flight.lanes } else { u32::MAX };
                let lane = (self.channels.free(link) & lanes).trailing_zeros();
                let channel = self
                    .channels
                    .channel(link, lane.min(self.channels.per_link() - 1));
                self.channels.records.fetch_channel(channel);
            }
        }
    }

    /// Requests the records of adapters that are about to inject, in stages: for the adapter at
    /// `place` its queue and its link, for an adapter before it the packet that waits first.
    #[inline(never)]
    pub(super) fn look_at_port(&self, place: usize) {
        let port = |stage| at_stage(self.queues.flagged(), place, stage);
        if let Some(node) = port(0) {
            let link = self.wiring().injection(node);
            let channel = self.channels.channel(link, 0);
            self.queues.fetch_port(node);
            self.queues.fetch(self.queue(node, 0));
            self.channels.records.fetch_link(link);
            self.channels.records.fetch_channel(channel);
        }
        if let Some(node) = port(2) {
            self.queues.fetch_first(self.queue(node, 0));
        }
    }
}
