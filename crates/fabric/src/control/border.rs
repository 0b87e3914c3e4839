//! # A region's border: messages to and from other regions
//!
//! A control plane and its mover may have only one *region* in the network ([`crate::regions`]).
//! This module has the messages between regions, and the packets of other regions that visit this
//! one.
//!
//! *Visitors.* A packet's flight travels with its header. The region where the header comes in
//! keeps the flight as a *visitor*, which holds the channels there, until the EOP comes in; where
//! there are no circuits, until all these channels are free. At the destination it is kept also
//! until the adapter has answered, and the EOP that the adapter awaits has come. The answer takes
//! the flight, with the whole path, back to the source's region, where the packet has its record.
//!
//! *EOPs.* The source's region frees the channels on its part of the path. The first link that
//! leaves the region passes the EOP on ([`Event::Enters`]), with a link delay to spare.
//!
//! *Tokens.* A border cable's two directions have two owners. Each is charged by its own event,
//! which is known a cycle ahead as the release is.

use super::packet::Flight;
mod broadcast;

use super::broadcast::Note;
use super::deadlock::Key;
use super::{Ack, Control, Event};
use crate::cut::Cut;
use crate::id::PacketId;
use crate::motion::Motion;
use crate::topology::{CompiledRouting, Path};
use crate::{ChannelId, Circuit, Cycle, LinkId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Messages from one region to another over some cycles.
pub(crate) struct Post<P> {
    /// Events, each with its cycle, which is at least a window after the cycle that sent it.
    events: Vec<(Cycle, Event)>,
    headers: Vec<Header<P>>,
    answers: Vec<Answer<P>>,
    broadcasts: Vec<BroadcastNotice>,
}

/// A packet that sends its first flit over a channel.
struct Header<P> {
    channel: ChannelId,
    /// The packet in the region of its source.
    home: PacketId,
    flight: Flight<P>,
    /// For a broadcast: the part's data.
    part: Option<Note>,
}

/// A message about a broadcast.
enum BroadcastNotice {
    /// A broadcast has been opened on a link, which is inbound.
    Opened(LinkId, Key),
    /// A broadcast, with this root and destination count, has reached a destination in a cycle.
    Delivered {
        root: PacketId,
        broadcast: Key,
        destinations: u32,
        at: Cycle,
    },
    /// A destination's answer to the broadcast with this root will be back in a cycle.
    Answer(PacketId, Cycle, Ack),
    /// The EOP, which bears the combined answer, enters a channel in a cycle.
    End(Key, ChannelId, Cycle, Option<Ack>),
}

/// An answer on its way to a packet's source.
struct Answer<P> {
    /// The packet in the region of its source.
    home: PacketId,
    /// The cycle in which the answer is back.
    back: Cycle,
    /// The visitor at the destination that awaits the EOP, if it does.
    awaits_end: Option<PacketId>,
    flight: Flight<P>,
}

impl<P> Post<P> {
    /// No message.
    pub fn new() -> Self {
        Post {
            events: Vec::new(),
            headers: Vec::new(),
            answers: Vec::new(),
            broadcasts: Vec::new(),
        }
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        let packets = self.headers.is_empty() && self.answers.is_empty();
        packets && self.events.is_empty() && self.broadcasts.is_empty()
    }

    /// Moves all messages from another post here.
    pub fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        self.events.append(&mut other.events);
        self.headers.append(&mut other.headers);
        self.answers.append(&mut other.answers);
        self.broadcasts.append(&mut other.broadcasts);
    }

    /// Has the messages read from the last to the first, for tests; but broadcasts that are opened
    /// on one link keep their order.
    pub fn reverse(&mut self) {
        self.events.reverse();
        self.headers.reverse();
        self.answers.reverse();
    }
}

/// A visitor's state besides its flight.
#[derive(Clone, Copy)]
struct Visit {
    /// The packet in the region of its source.
    home: PacketId,
    /// Reasons to keep the flight: the EOP has not come in, or else each channel in this region
    /// that the packet holds; and the destination needs it.
    reasons: u16,
}

/// See the module essay.
pub(super) struct Border<P> {
    region: usize,
    cut: Arc<Cut>,
    /// Messages, by region.
    posts: Vec<Post<P>>,
    /// The first cycle for which there is a message.
    earliest: Cycle,
    /// By the flight's place.
    visits: Vec<Option<Visit>>,
    /// Packets that are done except for the EOP that another region's visitor awaits.
    awaited: BTreeMap<PacketId, PacketId>,
    /// Visiting broadcast parts, by broadcast and the channel by which they have come.
    parts: BTreeMap<(Key, ChannelId), PacketId>,
}

impl<P: Path> Border<P> {
    /// A region's border.
    pub fn new(cut: Arc<Cut>, region: usize) -> Self {
        Border {
            posts: (0..cut.regions()).map(|_| Post::new()).collect(),
            earliest: Cycle::MAX,
            region,
            cut,
            visits: Vec::new(),
            awaited: BTreeMap::new(),
            parts: BTreeMap::new(),
        }
    }

    fn visit(&mut self, packet: PacketId) -> Option<&mut Visit> {
        self.visits.get_mut(packet.place())?.as_mut()
    }

    fn admit(&mut self, packet: PacketId, home: PacketId, reasons: u16) {
        let place = packet.place();
        if self.visits.len() <= place {
            self.visits.resize(place + 1, None);
        }
        self.visits[place] = Some(Visit { home, reasons });
    }

    /// Whether a packet has come from another region.
    pub fn is_visitor(&self, packet: PacketId) -> bool {
        matches!(self.visits.get(packet.place()), Some(Some(_)))
    }
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    fn border(&mut self) -> &mut Border<R::Path> {
        let border = self.border.as_deref_mut();
        border.expect("only a region has a border")
    }

    /// Hands out the messages, region by region. Returns the first cycle for which there is a
    /// message, or `Cycle::MAX`.
    pub fn send_all(&mut self, mut take: impl FnMut(usize, &mut Post<R::Path>)) -> Cycle {
        let border = self.border();
        if border.earliest < Cycle::MAX {
            for (region, post) in border.posts.iter_mut().enumerate() {
                if !post.is_empty() {
                    take(region, post);
                }
            }
        }
        std::mem::replace(&mut border.earliest, Cycle::MAX)
    }

    /// Enters another region's event. Credits concern only a channel that is still held, as do all
    /// events that the mover foresees.
    fn enter(&mut self, at: Cycle, event: Event) {
        if let Event::Leaves(_) | Event::Stays(_) = event {
            self.clock.foresee_between(at, event);
        } else {
            self.clock.schedule(at, event);
        }
    }

    /// Receives another region's messages, between two windows.
    pub fn receive(&mut self, motion: &mut M, post: &mut Post<R::Path>) {
        for tiding in post.broadcasts.drain(..) {
            self.hear_of_broadcast(&tiding);
        }
        for header in post.headers.drain(..) {
            let Header {
                channel,
                home,
                flight,
                part,
            } = header;
            let flits = flight.spec.flits;
            let packet = self.flights.insert_flight(flight);
            let lasts = self.config.circuit == Circuit::UntilAcknowledged || part.is_some();
            self.border().admit(packet, home, lasts.into());
            if let Some(part) = part {
                let name = self.key(packet);
                self.border().parts.insert((name, channel), packet);
                self.broadcasts.insert_visitor(packet, home, &part);
            }
            let records = &mut self.channels.records;
            records.channels[channel].holder = Some(packet);
            motion.expect(channel, flits, records);
        }
        for answer in post.answers.drain(..) {
            self.flights.get_mut(answer.home).come_back(&answer.flight);
            self.clock
                .schedule(answer.back, Event::Acknowledged(answer.home));
            if let Some(visitor) = answer.awaits_end {
                self.border().awaited.insert(answer.home, visitor);
            }
        }
        for (at, event) in post.events.drain(..) {
            self.enter(at, event);
        }
    }

    /// Enters an event in a region, this one or another.
    fn send(&mut self, region: usize, at: Cycle, event: Event) {
        let now = self.clock.now();
        let border = self.border();
        if region == border.region {
            return self.clock.schedule(at, event);
        }
        assert!(
            at >= now + border.cut.window(),
            "a message to another region is due in a later window"
        );
        border.earliest = border.earliest.min(at);
        border.posts[region].events.push((at, event));
    }

    /// Enters an event in the region where an outbound link ends.
    #[cold]
    pub(super) fn send_over(&mut self, link: LinkId, at: Cycle, event: Event) {
        let [_, region] = self.border().cut.ends(link);
        self.send(region, at, event);
    }

    /// Enters an event in the region where the inbound link begins; the event names a channel on
    /// the link.
    #[cold]
    pub(super) fn send_behind(&mut self, at: Cycle, event: Event) {
        let (Event::Leaves(channel) | Event::Stays(channel)) = event else {
            unreachable!("credits return over a link");
        };
        let link = self.channels.link(channel);
        let [region, _] = self.border().cut.ends(link);
        self.send(region, at, event);
    }

    /// A channel in any region falls free in a cycle after this one.
    #[inline(never)]
    pub(super) fn free_anywhere(&mut self, at: Cycle, channel: ChannelId) {
        let link = self.channels.link(channel);
        let [from, to] = self.border().cut.ends(link);
        self.send(from, at, Event::Free(channel));
        if from != to && self.config.tokens {
            // Both ends may be in other regions.
            let reverse = self.wiring().reverse(link);
            self.send(to, at, Event::Charge(reverse));
        }
    }

    /// Whether a channel's link, with one end in this region, has its other end in another one.
    pub(super) fn is_on_border(&self, channel: ChannelId) -> bool {
        let hop = self.channels.hop(self.channels.link(channel));
        hop.is_outbound() || hop.is_inbound()
    }

    /// A packet's first flit is sent over a channel: if the link is outbound, the flight goes with
    /// the header.
    #[inline(never)]
    pub(super) fn send_header(&mut self, channel: ChannelId, packet: PacketId) {
        let link = self.channels.link(channel);
        if !self.channels.hop(link).is_outbound() {
            return;
        }
        let flight = self.flights.get(packet).clone();
        let is_broadcast = flight.spec.destination.is_broadcast();
        let (part, home) = if is_broadcast {
            let channels = flight.path().len();
            let note = self.broadcasts.note(packet, channels);
            (Some(note), self.broadcasts.root(packet))
        } else {
            let visit = self.border().visit(packet);
            (None, visit.map_or(packet, |visit| visit.home))
        };
        let border = self.border();
        let [_, region] = border.cut.ends(link);
        border.posts[region].headers.push(Header {
            channel,
            home,
            flight,
            part,
        });
    }

    /// A packet takes a channel in this region.
    #[inline(never)]
    pub(super) fn visit_goes_on(&mut self, packet: PacketId, ejects: bool) {
        let holds = self.config.circuit != Circuit::UntilAcknowledged;
        let reasons = u16::from(holds) + u16::from(ejects);
        if reasons > 0
            && !self.flights.get(packet).spec.destination.is_broadcast()
            && let Some(visit) = self.border().visit(packet)
        {
            visit.reasons += reasons;
        }
    }

    /// A channel falls free, which a packet has held that may have come from another region.
    #[inline(never)]
    pub(super) fn visit_ends_at(&mut self, channel: ChannelId) {
        if self.config.circuit == Circuit::UntilAcknowledged {
            return;
        }
        let packet = self.channels.holder(channel);
        // The packet number may belong to another packet in this region by now.
        if self.flights.holds(packet, channel)
            && !self.flights.get(packet).spec.destination.is_broadcast()
        {
            self.visit_ends(packet);
        }
    }

    /// A visitor has one reason less to be kept.
    fn visit_ends(&mut self, packet: PacketId) {
        let border = self.border();
        let Some(visit) = border.visit(packet) else {
            return;
        };
        visit.reasons -= 1;
        if visit.reasons == 0 {
            border.visits[packet.place()] = None;
            self.flights.remove(packet);
        }
    }

    /// Sends the answer to a delivery, back in some cycle, to the region of the packet's source, if
    /// that is another one. Returns whether it is.
    #[inline(never)]
    pub(super) fn answer_elsewhere(&mut self, packet: PacketId, back: Cycle) -> bool {
        let flight = self.flights.get(packet);
        let (source, awaits_end) = (flight.spec.source, flight.spec.awaits_end);
        let Some(&mut Visit { home, .. }) = self.border().visit(packet) else {
            return false;
        };
        let answer = Answer {
            home,
            back,
            awaits_end: awaits_end.then_some(packet),
            flight: self.flights.get(packet).clone(),
        };
        let now = self.clock.now();
        let border = self.border();
        let region = border.cut.of_place(source);
        assert!(
            back >= now + border.cut.window(),
            "an answer comes from afar"
        );
        border.earliest = border.earliest.min(back);
        border.posts[region].answers.push(answer);
        if !awaits_end {
            self.visit_ends(packet);
        }
        true
    }

    /// Notifies a packet's destination about the EOP in a cycle, if the packet is a visitor there.
    /// Returns whether it is.
    #[inline(never)]
    pub(super) fn tell_elsewhere(&mut self, packet: PacketId, arrives: Cycle) -> bool {
        let destination = self.flights.get(packet).spec.destination.first();
        let border = self.border();
        let Some(visitor) = border.awaited.remove(&packet) else {
            return false;
        };
        let region = border.cut.of_place(destination);
        self.send(region, arrives, Event::Ended(visitor));
        self.flights.remove(packet);
        true
    }

    /// A destination has been notified about the EOP: the flight there is over.
    #[inline(never)]
    pub(super) fn remove_told(&mut self, packet: PacketId) {
        if self
            .border
            .as_ref()
            .is_some_and(|border| border.is_visitor(packet))
        {
            self.visit_ends(packet);
        } else {
            self.flights.remove(packet);
        }
    }

    /// Events that come from other regions.
    #[inline(never)]
    pub(super) fn happen_at_border(&mut self, motion: &mut M, event: Event) {
        use crate::motion::Event as Foreseen;
        let now = self.clock.now();
        match event {
            Event::ArrivalStarts(channel) => motion.read(Foreseen::Starts(channel), now, self),
            Event::ArrivalStops(channel) => motion.read(Foreseen::Stops(channel), now, self),
            Event::FlitArrives(channel) => motion.read(Foreseen::Arrives(channel), now, self),
            Event::Charge(link) => motion.charge(link, now, self),
            Event::Enters(channel) => self.end_enters(channel),
            Event::Descends(part) => self.end_behind(part, now),
            _ => unreachable!("the event concerns one region"),
        }
        // On one engine there is no such event.
        self.clock.let_go();
    }

    /// The EOP passes a packet's channels in this region, from a path position on, the first in
    /// some cycle; and then leaves the region, or is at its end.
    pub(super) fn end_in_region(&mut self, packet: PacketId, place: usize, mut passes: Cycle) {
        for place in place..self.flights.get(packet).taken() {
            let channel = self.flights.get(packet).path()[place];
            self.clock.schedule(passes, Event::Free(channel));
            let link = self.channels.link(channel);
            let hop = *self.channels.hop(link);
            if hop.is_outbound() {
                if self.config.tokens {
                    self.send_over(link, passes, Event::Charge(hop.reverse));
                }
                return self.send_over(link, passes, Event::Enters(channel));
            }
            passes += hop.delay();
        }
    }

    /// The EOP frees an inbound channel now, and goes on behind it.
    fn end_enters(&mut self, channel: ChannelId) {
        let packet = self.channels.holder(channel);
        let mut path = self.flights.get(packet).path().iter();
        let place = path.position(|&taken| taken == channel);
        let place = place.expect("the packet has come over the channel") + 1;
        let delay = self.channels.delay(&[channel]);
        self.end_in_region(packet, place, self.clock.now() + delay);
        self.visit_ends(packet);
    }

    /// Delivered flits of visitors, before the source's region is notified.
    pub fn delivered_visitors(&self) -> u64 {
        let Some(border) = &self.border else {
            return 0;
        };
        let delivered = self.flights.iter().filter(|(packet, flight)| {
            border.is_visitor(*packet) && flight.delivered > 0 && flight.ack.is_none()
        });
        delivered
            .map(|(_, flight)| u64::from(flight.spec.flits))
            .sum()
    }

    /// Whether a flight is a visitor.
    pub(super) fn is_visitor(&self, packet: PacketId) -> bool {
        let border = self.border.as_ref();
        border.is_some_and(|border| border.is_visitor(packet))
    }
}
