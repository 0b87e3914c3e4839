//! How broadcasts end: deliveries, answers, the EOP.

use super::Control;
use crate::control::{Ack, Event, Notice, PacketId};
use crate::motion::Motion;
use crate::topology::{CompiledRouting, End};
use crate::{ChannelId, Circuit, Cycle, Place};

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// The node behind a flight's last link.
    pub(in crate::control) fn destination(&self, flight: PacketId) -> Place {
        match self.wiring().ends(self.last_link(flight)).1 {
            End::Node(place) => place,
            End::Switch { .. } => unreachable!("its last link leads to a node"),
        }
    }

    /// A broadcast's last flit is at a destination.
    #[cold]
    pub(in crate::control) fn broadcast_delivered(&mut self, part: PacketId) {
        let root = self.broadcasts.root(part);
        if self.border.is_some() {
            return self.delivered_in_region(part, root);
        }
        self.broadcast_passed(root, 1);
    }

    /// A broadcast has reached a destination in some cycle, in any region; its root is in this one.
    pub(in crate::control) fn count_delivery(&mut self, root: PacketId, at: Cycle) {
        let whole = self.broadcasts.whole(root);
        whole.undelivered -= 1;
        whole.delivered = whole.delivered.max(at);
        if whole.undelivered == 0 {
            let delivered = whole.delivered;
            self.flights.get_mut(root).delivered = delivered;
        }
    }

    /// The packet has passed `count` more broadcast destinations, or will not reach them.
    pub(super) fn broadcast_passed(&mut self, root: PacketId, count: u32) {
        let whole = self.broadcasts.whole(root);
        whole.undelivered -= count;
        if whole.undelivered > 0 {
            return;
        }
        if !whole.failed {
            self.flights.get_mut(root).delivered = self.clock.now();
        }
        for part in self.broadcasts.parts_of(root) {
            self.free_after_the_delivery(part);
        }
    }

    /// One destination answers in cycle `at`.
    #[cold]
    pub(in crate::control) fn broadcast_answer(&mut self, part: PacketId, at: Cycle, ack: Ack) {
        self.broadcast_answers(part, at, ack, 1);
    }

    /// An answer for `count` destinations leaves a part's end in cycle `at`.
    pub(super) fn broadcast_answers(&mut self, part: PacketId, at: Cycle, ack: Ack, count: u32) {
        let (root, switches) = {
            let part = self.broadcasts.part(part);
            (part.root, u64::from(part.ascent))
        };
        let back = at + self.travel(part) + self.config.combine * switches;
        assert!(
            back >= self.clock.now(),
            "an acknowledgement comes too late"
        );
        if self.border.is_some() && self.reply_elsewhere(part, root, back, ack) {
            return;
        }
        self.count_answers(root, back, ack, count);
    }

    /// Answers for `count` destinations will be back in some cycle.
    pub(in crate::control) fn count_answers(
        &mut self,
        root: PacketId,
        back: Cycle,
        ack: Ack,
        count: u32,
    ) {
        let whole = self.broadcasts.whole(root);
        whole.back = whole.back.max(back);
        whole.answer = whole.answer.max(ack);
        whole.unanswered -= count;
        if whole.unanswered == 0 {
            let (back, answer) = (whole.back, whole.answer);
            self.flights.get_mut(root).ack = Some(answer);
            self.clock.schedule(back, Event::Acknowledged(root));
        }
    }

    /// Header delays between the source and a part's end.
    pub(super) fn travel(&self, part: PacketId) -> Cycle {
        let (flight, part) = (self.flights.get(part), self.broadcasts.part(part));
        if part.is_root && self.border.is_some() {
            // The header has arrived.
            return flight.undelayed - flight.injected;
        }
        part.before + self.channels.delay(flight.path())
    }

    /// The combined answer is back: the EOP goes down all branches. The root is removed.
    #[cold]
    pub(in crate::control) fn broadcast_ended(&mut self, root: PacketId) {
        self.broadcasts.wholes.remove(&root);
        self.end_part(root, 0, self.clock.now() + 1);
    }

    /// The EOP, which bears the combined answer, passes a part's channels from a path position on,
    /// the first in some cycle, and then the branches in this region.
    pub(in crate::control) fn end_part(&mut self, id: PacketId, place: usize, mut passes: Cycle) {
        let part = self.broadcasts.parts.remove(&id).expect("it was under way");
        for place in place..self.flights.get(id).taken() {
            let channel = self.flights.get(id).path()[place];
            if self.config.circuit == Circuit::UntilAcknowledged {
                self.clock.schedule(passes, Event::Free(channel));
            }
            let hop = *self.channels.hop(self.channels.link(channel));
            if hop.is_outbound() {
                self.end_goes_on(id, channel, passes);
                return self.remove_told(id);
            }
            passes += hop.delay();
        }
        let flight = self.flights.get(id);
        let answer = flight.ack;
        if part.branches.is_empty() && flight.spec.awaits_end && flight.delivered > 0 {
            self.clock.schedule(passes, Event::Ended(id));
        } else {
            self.remove_told(id);
        }
        for branch in part.branches {
            self.flights.get_mut(branch).ack = answer;
            self.end_part(branch, 0, passes);
        }
    }

    /// The EOP is at a destination that awaits it.
    #[cold]
    pub(in crate::control) fn ended(&mut self, id: PacketId) -> Notice {
        let node = self.destination(id);
        let flight = self.flights.get(id);
        let ended = Notice::Ended {
            node,
            good: flight.ack == Some(Ack::Accepted),
            sequence: flight.sequence,
            spec: flight.spec,
        };
        self.remove_told(id);
        ended
    }

    /// Whether a channel is a broadcast part's first, so that the channel upstream belongs to
    /// another part.
    #[cold]
    pub(in crate::control) fn begins_a_part(&self, channel: ChannelId) -> bool {
        let flight = self.flights.get(self.channels.holder(channel));
        flight.spec.destination.is_broadcast() && flight.path().first() == Some(&channel)
    }

    /// In plain wormhole routing, a branch has sent the tail: with the last such branch the channel
    /// before falls free.
    #[cold]
    pub(in crate::control) fn branch_tail_sent(&mut self, branch: PacketId, sent: Cycle) {
        let Some(parent) = self.broadcasts.part(branch).parent else {
            return;
        };
        let part = self
            .broadcasts
            .parts
            .get_mut(&parent)
            .expect("it is under way");
        part.tails -= 1;
        part.last_tail = part.last_tail.max(sent);
        if part.tails == 0 {
            let left = part.last_tail;
            let path = self.flights.get(parent).path();
            let channel = path[path.len() - 1];
            self.free_behind_the_tail(channel, left);
        }
    }
}
