//! Broadcasts with parts in several regions.
//!
//! The root of a broadcast is in the source's region, and counts deliveries and answers there. A
//! part that descends over an outbound link goes on behind it as a visitor, from which further
//! parts branch off. The visitor stays until the EOP comes, in all circuit modes. Where circuits
//! last until the delivery, every region counts the deliveries and frees its own channels.

use super::BroadcastNotice;
use crate::control::deadlock::Key;
use crate::control::{Ack, Control, Event};
use crate::id::PacketId;
use crate::motion::Motion;
use crate::topology::CompiledRouting;
use crate::{ChannelId, Circuit, Cycle, LinkId};

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// Sends a message about a broadcast to a region, this one or another, which must not execute a
    /// cycle before it.
    fn tell_region(&mut self, region: usize, before: Cycle, tiding: BroadcastNotice) {
        let border = self.border();
        if region == border.region {
            return self.hear_of_broadcast(&tiding);
        }
        border.earliest = border.earliest.min(before);
        border.posts[region].broadcasts.push(tiding);
    }

    /// The region of a broadcast's source.
    fn home_of(&mut self, broadcast: Key) -> usize {
        self.border().cut.of_place(broadcast.0)
    }

    /// The next window's first cycle, at the latest.
    fn next_window(&mut self) -> Cycle {
        self.clock.now() + self.border().cut.window()
    }

    /// A message about a broadcast is read.
    #[cold]
    pub(super) fn hear_of_broadcast(&mut self, tiding: &BroadcastNotice) {
        match *tiding {
            BroadcastNotice::Opened(link, broadcast) => self.broadcasts.opened(link, broadcast),
            BroadcastNotice::Delivered {
                root,
                broadcast,
                destinations,
                at,
            } => {
                if self.home_of(broadcast) == self.border().region {
                    self.count_delivery(root, at);
                }
                if self.config.circuit == Circuit::UntilDelivered {
                    self.count_reached(broadcast, destinations, at);
                }
            }
            BroadcastNotice::Answer(root, back, ack) => self.count_answers(root, back, ack, 1),
            BroadcastNotice::End(broadcast, channel, at, answer) => {
                let part = self.border().parts.remove(&(broadcast, channel));
                let part = part.expect("a broadcast ends where it has come in");
                self.flights.get_mut(part).ack = answer;
                if self.config.circuit == Circuit::UntilAcknowledged {
                    self.clock.schedule(at, Event::Descends(part));
                } else {
                    // No channel waits for the EOP.
                    self.end_behind(part, at);
                }
            }
        }
    }

    /// A broadcast has been opened on an outbound link; at the link's end it keeps its place among
    /// others.
    #[cold]
    pub(in crate::control) fn opened_elsewhere(&mut self, link: LinkId, broadcast: Key) {
        let [_, region] = self.border().cut.ends(link);
        let before = self.next_window();
        self.tell_region(region, before, BroadcastNotice::Opened(link, broadcast));
    }

    /// A broadcast's last flit is at a destination, with this part.
    #[cold]
    pub(in crate::control) fn delivered_in_region(&mut self, part: PacketId, root: PacketId) {
        let (broadcast, at) = (self.key(part), self.clock.now());
        let destinations = self.flights.get(part).spec.destination.count();
        let tiding = || BroadcastNotice::Delivered {
            root,
            broadcast,
            destinations,
            at,
        };
        if self.config.circuit == Circuit::UntilDelivered {
            for region in 0..self.border().posts.len() {
                self.tell_region(region, at + 1, tiding());
            }
        } else {
            let (home, before) = (self.home_of(broadcast), self.next_window());
            self.tell_region(home, before, tiding());
        }
    }

    /// Counts a broadcast's destination; behind the last one, the channels in this region fall
    /// free.
    fn count_reached(&mut self, broadcast: Key, destinations: u32, at: Cycle) {
        let reached = self.broadcasts.reached.entry(broadcast).or_default();
        *reached += 1;
        if *reached < destinations {
            return;
        }
        self.broadcasts.reached.remove(&broadcast);
        let parts: Vec<PacketId> = self.broadcasts.all_parts().collect();
        for part in parts {
            if self.key(part) == broadcast {
                self.free_part(part, at + 1);
            }
        }
    }

    /// A part's channels fall free in a cycle, as far as they are in this region. Inbound channels
    /// are charged for their tokens.
    fn free_part(&mut self, part: PacketId, at: Cycle) {
        let first = self.broadcasts.first_channel(part);
        let channels = self.flights.get(part).path()[first..].to_vec();
        for channel in channels {
            let link = self.channels.link(channel);
            let hop = *self.channels.hop(link);
            if !hop.is_inbound() {
                self.clock.schedule(at, Event::Free(channel));
            } else if self.config.tokens {
                self.clock.schedule(at, Event::Charge(hop.reverse));
            }
        }
    }

    /// A destination's answer will be back in a cycle. Returns whether the source is in another
    /// region.
    #[cold]
    pub(in crate::control) fn reply_elsewhere(
        &mut self,
        part: PacketId,
        root: PacketId,
        back: Cycle,
        ack: Ack,
    ) -> bool {
        let broadcast = self.key(part);
        let home = self.home_of(broadcast);
        let elsewhere = home != self.border().region;
        if elsewhere {
            self.tell_region(home, back, BroadcastNotice::Answer(root, back, ack));
        }
        elsewhere
    }

    /// The EOP of a broadcast passes a channel on an outbound link in a cycle, and goes on behind
    /// it.
    #[cold]
    pub(in crate::control) fn end_goes_on(
        &mut self,
        part: PacketId,
        channel: ChannelId,
        passes: Cycle,
    ) {
        let link = self.channels.link(channel);
        if self.config.tokens && self.config.circuit == Circuit::UntilAcknowledged {
            let reverse = self.channels.hop(link).reverse;
            self.send_over(link, passes, Event::Charge(reverse));
        }
        let (broadcast, answer) = (self.key(part), self.flights.get(part).ack);
        let [_, region] = self.border().cut.ends(link);
        let tiding = BroadcastNotice::End(broadcast, channel, passes, answer);
        self.tell_region(region, passes, tiding);
    }

    /// The EOP of a broadcast passes the channel by which a part has come in a cycle, and goes on
    /// behind it.
    pub(super) fn end_behind(&mut self, part: PacketId, at: Cycle) {
        let first = self.broadcasts.first_channel(part);
        let channel = self.flights.get(part).path()[first];
        let delay = self.channels.delay(&[channel]);
        self.end_part(part, first + 1, at + delay);
    }
}
