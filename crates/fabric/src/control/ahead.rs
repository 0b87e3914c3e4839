//! Fetching ahead: the records that the next events of a cycle need.
//!
//! An event names a record, and the record names others. So each event is seen twice before it happens. First the records that
//! it names are asked for; then, when these have arrived, those that they name. See [`crate::prefetch`].

use super::Control;
use super::arbitration::Sender;
use super::event::{Event, KINDS};
use crate::ChannelId;
use crate::motion::{self, Motion};
use crate::prefetch::{STAGE, prefetch};
use crate::topology::Routing;

/// How many events ahead of the present one an event is seen the first time, and the second time. Measured: a fetch takes as
/// long as several events.
const FIRST: usize = 20;
const SECOND: usize = 8;

impl<R: Routing> Control<R> {
    /// Whether the events of a cycle are sorted by kind, since they are many: the processor foresees what a loop does next while
    /// the kind stays the same. For the opposite order, events are always sorted.
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

    /// Has the processor fetch the records that the events behind the one at `place` need.
    #[inline(never)]
    pub(super) fn look_ahead(&self, motion: &impl Motion, events: &[Event], place: usize) {
        if let Some(&event) = events.get(place + FIRST) {
            self.fetch(motion, event);
        }
        if let Some(&event) = events.get(place + SECOND) {
            self.fetch_neighbours(motion, event);
        }
    }

    /// Asks for the records that an event names.
    #[inline]
    fn fetch(&self, motion: &impl Motion, event: Event) {
        use motion::Event as Foreseen;
        match event {
            Event::Starts(channel) => {
                prefetch(self.holders.get(channel));
                motion.fetch(Foreseen::Starts(channel));
            }
            Event::Stops(channel) => motion.fetch(Foreseen::Stops(channel)),
            Event::Room(channel) => motion.fetch(Foreseen::Room(channel)),
            Event::Due(link) => {
                prefetch(self.links.get(link));
                motion.fetch(Foreseen::Due(link));
            }
            Event::Turn(adapter) => motion.fetch(Foreseen::Turn(adapter)),
            Event::Free(channel) => {
                let link = self.lanes.link(channel);
                prefetch(self.links.get(link));
                prefetch(self.free.get(link));
                motion.fetch_channel(channel);
            }
            Event::Delivered(packet) | Event::Acknowledged(packet) => self.flights.fetch(packet),
            Event::Ended(_) | Event::Sunk(_) | Event::SetUp(_) => {}
        }
    }

    /// Asks for the records that the records of an event name.
    #[inline]
    fn fetch_neighbours(&self, motion: &impl Motion, event: Event) {
        use motion::Event as Foreseen;
        match event {
            Event::Starts(channel) if motion.fetch_neighbours(Foreseen::Starts(channel)) => {
                prefetch(self.links.get(self.lanes.link(channel)));
                self.flights.fetch(self.holders[channel]);
            }
            Event::Stops(channel) => {
                motion.fetch_neighbours(Foreseen::Stops(channel));
            }
            Event::Due(link) => {
                motion.fetch_neighbours(Foreseen::Due(link));
            }
            Event::Free(channel) => {
                let hop = &self.links[self.lanes.link(channel)].hop;
                motion.fetch_link(hop.reverse);
                match hop.sender {
                    Sender::Adapter(place) => prefetch(self.queues.get(self.queue(place, 0))),
                    Sender::Group(group) => prefetch(self.groups.get(group)),
                }
            }
            Event::Acknowledged(packet) => {
                let flight = self.flights.get(packet);
                prefetch(self.queues.get(self.queue_of(&flight.spec)));
                for &channel in flight.path() {
                    prefetch(self.links.get(self.lanes.link(channel)));
                }
            }
            _ => {}
        }
    }

    /// Asks for the records of the groups that are about to arbitrate: what a group names, the links of which it may grant a
    /// channel and the packet that waits, the channels on both sides of the grant.
    #[inline(never)]
    pub(super) fn look_ahead_at_groups(&self, motion: &impl Motion, place: usize) {
        let group = |stages: usize| self.flagged_groups.get(place + stages * STAGE).copied();
        if let Some(number) = group(4) {
            self.crossbar.fetch(number);
            prefetch(self.groups.get(number));
        }
        if let Some(number) = group(3) {
            self.crossbar.fetch_outputs(number);
            if let Some(packet) = self.groups[number].waiting {
                self.flights.fetch(packet);
            }
        }
        if let Some(number) = group(2) {
            for &link in self.crossbar.outputs(number).0 {
                prefetch(self.free.get(link));
            }
        }
        if let Some(number) = group(1) {
            for &link in self.crossbar.outputs(number).0 {
                motion.fetch_channel(self.lanes.channel(link, 0));
                prefetch(self.holders.get(self.lanes.channel(link, 0)));
            }
            let waiting = self.groups[number].waiting;
            let path = waiting.map(|packet| self.flights.get(packet).path());
            if let Some(&channel) = path.and_then(<[ChannelId]>::last) {
                motion.fetch_channel(channel);
            }
        }
    }
}
