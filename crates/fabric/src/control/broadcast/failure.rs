//! Broadcasts under faults; the essay of [`crate::control::faults`] has the rules.

use super::{Control, Part};
use crate::control::faults::Draw;
use crate::control::packet::Fate;
use crate::control::{Ack, PacketId, PacketSpec};
use crate::motion::Motion;
use crate::topology::{CompiledRouting, Destination, End};
use crate::{ChannelId, LinkId};

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// Whether a part has no opened channel: then no flit can be lost there.
    pub(in crate::control) fn is_only_claimed(&self, part: PacketId) -> bool {
        let part = self.broadcasts.parts.get(&part);
        part.is_some_and(|part| part.opened.is_none())
    }

    /// A flight, and the parts before it on the way from the source, back to the root.
    fn way_to(&self, part: PacketId) -> impl Iterator<Item = PacketId> {
        std::iter::successors(Some(part), |id| self.broadcasts.parts.get(id)?.parent)
    }

    /// Whether a flight ends in garbage, since a cable has died under it.
    pub(in crate::control) fn is_garbage(&self, flight: PacketId) -> bool {
        self.way_to(flight)
            .any(|part| self.flights.get(part).fate == Fate::Lost)
    }

    /// All channels between the source and a flight's end, in no order.
    pub(in crate::control) fn channels_to(&self, flight: PacketId) -> Vec<ChannelId> {
        let paths = self.way_to(flight);
        paths
            .flat_map(|part| self.flights.get(part).path().iter().copied())
            .collect()
    }

    /// Counts that a broadcast has been damaged on a link. Returns whether this is the first
    /// destination to see it.
    pub(in crate::control) fn is_new_damage(&mut self, part: PacketId, link: LinkId) -> bool {
        let root = self.broadcasts.root(part);
        self.broadcasts.whole(root).damaged.insert(link)
    }

    /// A branch has been opened. If its cable is dead, the branch leads into the void.
    #[cold]
    pub(super) fn branch_opened(&mut self, branch: PacketId, channel: ChannelId) {
        let part = self.broadcasts.parts.get_mut(&branch);
        part.expect("it is under way").opened = Some(self.clock.now());
        if self.is_cut(self.channels.link(channel)) {
            self.lose_over(branch, channel);
        }
    }

    /// A branch waits for a channel, and its cable is dead: the switch goes on without the branch,
    /// and answers for the destinations below. If no branch is left, the broadcast is sunk at the
    /// switch.
    #[cold]
    pub(in crate::control) fn refuse_branch(&mut self, motion: &mut M, branch: PacketId) {
        let flight = self.flights.get(branch);
        let (link, destination) = (flight.only, flight.spec.destination);
        self.flights.remove(branch);
        let Part { root, parent, .. } = self
            .broadcasts
            .parts
            .remove(&branch)
            .expect("it is under way");
        let parent = parent.expect("a branch leaves a part");
        let left = &mut self.broadcasts.part_mut(parent).branches;
        left.retain(|&part| part != branch);
        self.broadcasts.whole(root).failed = true;
        let nodes = self.destinations_below(link, destination);
        let End::Switch { switch, .. } = self.wiring().ends(link).0 else {
            unreachable!("a branch starts at a switch");
        };
        let junction = self.broadcasts.junctions.get_mut(&switch);
        let set_up = junction.and_then(|junction| junction.setting_up.as_mut());
        let set_up = set_up.expect("the switch sets it up");
        set_up.branches.retain(|&other| other != branch);
        set_up.missing -= 1;
        let (missing, left) = (set_up.missing, set_up.branches.len());
        if left == 0 {
            // The last answer waits for the tail.
            self.doom(parent, Ack::Unreachable);
            let part = self.broadcasts.parts.get_mut(&parent);
            part.expect("it is under way").pending = Some(nodes);
        } else {
            self.answer_for(parent, nodes, Ack::Unreachable);
        }
        if missing == 0 {
            self.end_set_up(motion, switch);
        }
    }

    /// A part is sunk: it is set up nowhere, and those that came after it over its last link need
    /// not wait for it.
    #[cold]
    pub(in crate::control) fn sink_part(&mut self, part: PacketId) {
        if self.broadcasts.part(part).is_root {
            return;
        }
        let (link, name) = (self.last_link(part), self.key(part));
        let order = self.broadcasts.order.get_mut(&link).expect("it was opened");
        order.retain(|&other| other != name);
        if order.is_empty() {
            self.broadcasts.order.remove(&link);
        }
        let End::Switch { switch, .. } = self.wiring().ends(link).1 else {
            unreachable!("worms are sunk at switches");
        };
        if self.broadcasts.junctions.contains_key(&switch) {
            self.clock
                .schedule(self.clock.now() + 1, super::Event::SetUp(switch));
        }
    }

    /// A sunk part's tail is in: the switch answers for the destinations below.
    #[cold]
    pub(in crate::control) fn part_drained(&mut self, part: PacketId) {
        let flight = self.flights.get(part);
        let (fate, spec) = (flight.fate, flight.spec);
        let state = self.broadcasts.part(part);
        let (root, pending) = (state.root, state.pending);
        let below = match state.parent {
            None => spec.destination.count(),
            Some(_) => self.destinations_below(self.last_link(part), spec.destination),
        };
        let ack = match fate {
            Fate::Refused(ack) if !self.is_garbage(part) => ack,
            _ => Ack::TimedOut,
        };
        self.broadcasts.whole(root).failed = true;
        self.answer_for(part, pending.unwrap_or(below), ack);
    }

    /// Garbage has come to a destination, which is not notified.
    #[cold]
    pub(in crate::control) fn garbage_arrives(&mut self, part: PacketId) {
        let root = self.broadcasts.root(part);
        self.broadcasts.whole(root).failed = true;
        self.answer_for(part, 1, Ack::TimedOut);
    }

    /// An answer for destinations that the packet does not reach leaves a part's end now.
    fn answer_for(&mut self, part: PacketId, count: u32, ack: Ack) {
        self.broadcast_passed(self.broadcasts.root(part), count);
        self.broadcast_answers(part, self.clock.now(), ack, count);
    }

    /// The destination count below a link down.
    fn destinations_below(&self, link: LinkId, destination: Destination) -> u32 {
        let End::Switch { switch, .. } = self.wiring().ends(link).1 else {
            return 1;
        };
        let below = self.trees().below(switch);
        let first = destination.first().max(*below.start());
        let last = destination.last().min(*below.end());
        last.get() + 1 - first.get()
    }

    /// Whether the combined answer does not reach the source: a cable has died since the broadcast
    /// took a channel on it, or the answer has come wrong over some link.
    #[cold]
    pub(in crate::control) fn combined_answer_fails(&mut self, root: PacketId) -> bool {
        let faults = self.faults.as_ref().expect("something may fail");
        let flight = self.flights.get(root);
        let (since, spec, sequence) = (flight.injected, flight.spec, flight.sequence);
        let PacketSpec { source, .. } = spec;
        let mut fails = false;
        let mut wrong = Vec::new();
        for part in self.broadcasts.parts_of(root) {
            let since = self.broadcasts.part(part).opened.unwrap_or(0).max(since);
            for &channel in self.flights.get(part).path() {
                let link = self.channels.link(channel);
                let back = self.channels.hop(link).reverse;
                fails |= faults.was_dead(link, since, self.clock.now());
                if faults.draws(back, source, sequence, Draw::Token) {
                    wrong.push(back);
                }
            }
        }
        fails | !wrong.is_empty()
    }
}
