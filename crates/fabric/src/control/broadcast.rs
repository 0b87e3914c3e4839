//! # Broadcasts: one packet to a range of nodes
//!
//! A broadcast is a tree of *parts*. The *root* part is the ascent, from the adapter to the switch where the packet turns;
//! each other part is one link of the descent. A part has a [`Flight`] like a packet, and holds its channels; so headers,
//! arbitration and releases work as they do for packets to one node.
//!
//! ## Setting up
//!
//! *Ascent.* A header below the switch where it turns waits for a channel of its one up-link ([`Trees::ascent`]),
//! among the other headers of the output group.
//!
//! *Descent.* A header at the switch where the packet turns, or below, needs a channel of each of its down-links at once. A
//! switch sets up one broadcast at a time. The switch begins, in the cycle of the arrival or in the cycle after the last set-up,
//! with the best of the broadcasts that wait: by priority, then by age (the earlier injection, the lower source, the earlier
//! packet of one source). From then on no other broadcast comes before this one. The broadcast *claims* a channel of each of its
//! links as they fall free, and competes with other headers by the ordinary rule; a claimed channel is taken. In the cycle of
//! the last claim all its channels are opened.
//!
//! *Order.* Broadcasts that a switch has sent on over a link are set up at the end of the link in the same order. A broadcast
//! that overtakes another on the link, since it is older, waits at the end.
//!
//! ## Moving, answering, ending
//!
//! A flit leaves the buffer in front of a switch when the last of the branches has sent it ([`crate::motion`]). Each destination
//! answers for itself. The answers combine on the way up, which takes each switch of the descent `combine` cycles; the combined
//! answer reaches the source when the last answer would, and is the worst of all: any "no" makes it a no (hardware, public Elan3
//! headers). The EOP goes down all branches: in `UntilAcknowledged` mode the channel of a link is free one cycle, plus the
//! delays of the links before this link, after the acknowledgement. In `UntilDelivered` mode all channels are free one cycle
//! after the last delivery, in `Wormhole` mode each `C + 1` cycles after the last of its branches has sent the tail.
//!
//! ## Why broadcasts in one tree do not deadlock
//!
//! Suppose that some packets wait for ever. Each waits for others of them that hold, or have claimed, all channels of a link
//! that it needs, or (broadcasts) that go before it at a switch. A packet that waits for an up-link waits for packets that hold
//! an up-link of a higher level or have turned. So some of the packets wait in their descent; these wait only for packets in
//! their descent. Look at the packets in their descent alone. All their waits are in the tree of the broadcasts or lead into it:
//! a packet to one node waits for a single down-link, and the holder waits, if it has one destination too, strictly below. So
//! follow packets to one node down to the first broadcast: *P waits for Q* shall mean that broadcast `P` waits for broadcast `Q`
//! directly, or through packets to one node.
//!
//! *Two broadcasts are in one order wherever they meet.* In one tree the descents of two broadcasts that meet share only
//! switches at or below `v`, the lower of their two turns, and the other broadcast comes through `v`, too. One of the two is set
//! up at `v` first (or has begun to be; that is final), and by the rule of order it is first at every common switch. If `Q` is
//! first, write `Q < P`.
//!
//! *What a wait implies.* Let `P` wait at `c` for `Q`. Then either (a) both meet and `Q < P`; or (b) `Q` turns strictly below
//! `c` at a switch where `P` never comes, and has been set up, or has begun to be, where it turns. Proof: a broadcast that goes
//! before `P` at `c` meets `P` there: (a). Else the channels of a link down from `c` are held. If `Q` holds one, `Q` has passed
//! `c`: (a). If a packet to one node does, a chain of such packets leads to a switch `g` below `c` where `Q` has passed or holds
//! claims. If `Q` turns at `c` or above, `Q` has passed `c` (the tree has one way to `g`): (a). If `Q` turns below `c`, it turns
//! on the way to `g`, where it has passed or claims; `P`, still at `c`, has not been there. If `P` is to come there, (a) holds,
//! else (b).
//!
//! *No cycle.* In a shortest cycle of pairs of (a) and (b), let `V` be a broadcast with the lowest turn, `v`, between `P` before
//! it and `N` behind it. `V` and `N` are no case of (b), since the turn of `N` would then be lower. So `N < V`, and `N` comes
//! through `v` first. If `V < P`, then `P` comes through `v` as well, after `V`, after `N`: `N < P`. If `P` and `V` are a case
//! of (b), `V` has begun to be set up at `v`, so that `N` has passed `v`, and all switches above it on its way. `P` is above
//! `v`, at `c`: as before, `P` and `N` are a case of (a) or of (b). Either way the cycle is shorter without `V`: at last a
//! broadcast is paired with itself, which neither (a) nor (b) allows.
//!
//! The rule of order is needed: if two broadcasts pass a switch and its children set them up in different orders, each may hold
//! the links of one child and wait at the other. One tree is needed, too: with different roots nothing orders two broadcasts
//! that meet at the last switches. [`crate::Fabric::deadlock`] then tells which packet waits for which.

mod failure;

use super::packet::State;
use super::{Ack, Control, Event, Notice, PacketSpec};
use crate::PacketId;
use crate::motion::{Motion, Worm};
use crate::topology::{Compiled, End, Trees};
use crate::{ChannelId, Circuit, Cycle, LinkId, Place, SwitchId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A broadcast under way.
struct Whole {
    /// All parts but the root, in the order of their beginning.
    parts: Vec<PacketId>,
    /// The number of destinations that the last flit has not reached.
    undelivered: u32,
    /// The number of destinations that have not answered.
    unanswered: u32,
    /// The worst of the answers so far, and the cycle in which the last of them is back.
    answer: Ack,
    back: Cycle,
    /// Whether the packet does not reach some destination.
    failed: bool,
    /// The links on which bit errors have damaged the packet.
    damaged: BTreeSet<LinkId>,
}

/// What is kept of a part besides its flight.
struct Part {
    root: PacketId,
    /// The part from which this part branches off; none for the root.
    parent: Option<PacketId>,
    /// Sum of the header delays of the links between the source and the part's own links.
    before: Cycle,
    /// The number of branches of this part that have not sent the tail, and the cycle in which the last of the others sent it.
    tails: usize,
    last_tail: Cycle,
    /// Since when the part's channels have been open; none while its channel is only claimed.
    opened: Option<Cycle>,
    /// The number of destinations that have no answer until the part, which is sunk, is drained; all below it if none is said.
    pending: Option<u32>,
}

/// A switch where broadcasts descend.
#[derive(Default)]
struct Junction {
    /// Parts whose headers have arrived.
    arrived: Vec<PacketId>,
    setting_up: Option<SetUp>,
    flagged: bool,
}

/// A broadcast that gets its channels down from a switch.
struct SetUp {
    /// The part that has come to the switch.
    part: PacketId,
    /// The parts that leave the switch.
    branches: Vec<PacketId>,
    /// How many branches have no channel yet.
    missing: usize,
}

/// All that is kept of broadcasts.
#[derive(Default)]
pub(super) struct Broadcasts {
    /// The broadcasts under way, by root.
    wholes: BTreeMap<PacketId, Whole>,
    parts: BTreeMap<PacketId, Part>,
    /// The switches where a broadcast waits or is set up.
    junctions: BTreeMap<SwitchId, Junction>,
    /// By link to a switch: the parts that have been opened on the link and have not been set up at its end.
    order: BTreeMap<LinkId, VecDeque<PacketId>>,
    /// Junctions with news in this cycle.
    pub flagged: Vec<SwitchId>,
}

impl Broadcasts {
    /// A broadcast is injected.
    #[cold]
    pub fn insert(&mut self, root: PacketId, spec: &PacketSpec) {
        let destinations = spec.destination.count();
        let whole = Whole {
            parts: Vec::new(),
            undelivered: destinations,
            unanswered: destinations,
            answer: Ack::Accepted,
            back: 0,
            failed: false,
            damaged: BTreeSet::new(),
        };
        self.wholes.insert(root, whole);
        self.insert_part(root, root, None, 0);
    }

    fn insert_part(
        &mut self,
        id: PacketId,
        root: PacketId,
        parent: Option<PacketId>,
        before: Cycle,
    ) {
        let part = Part {
            root,
            parent,
            before,
            tails: 0,
            last_tail: 0,
            opened: parent.is_none().then_some(0),
            pending: None,
        };
        self.parts.insert(id, part);
    }

    fn part(&self, id: PacketId) -> &Part {
        &self.parts[&id]
    }

    /// The root of the broadcast that a flight is a part of; the flight itself, if it is no broadcast.
    pub fn root(&self, id: PacketId) -> PacketId {
        self.parts.get(&id).map_or(id, |part| part.root)
    }

    fn whole(&mut self, root: PacketId) -> &mut Whole {
        self.wholes
            .get_mut(&root)
            .expect("the broadcast is under way")
    }

    /// The broadcasts under way, by root, each with the number of destinations that its last flit has not reached.
    pub fn undelivered(&self) -> impl Iterator<Item = (PacketId, u32)> {
        self.wholes
            .iter()
            .map(|(&root, whole)| (root, whole.undelivered))
    }

    /// Whether there are any.
    #[inline]
    pub fn are_under_way(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The parts of a broadcast, the root first.
    pub fn parts_of(&self, root: PacketId) -> impl Iterator<Item = PacketId> {
        let parts = self.wholes.get(&root).map(|whole| &whole.parts);
        std::iter::once(root).chain(parts.into_iter().flatten().copied())
    }

    /// The switches where parts wait to descend, each with the part that is being set up, if there is one, and the others.
    pub fn waiting(&self) -> impl Iterator<Item = (SwitchId, Option<PacketId>, &[PacketId])> {
        self.junctions.iter().map(|(&switch, junction)| {
            let part = junction.setting_up.as_ref().map(|set_up| set_up.part);
            (switch, part, &junction.arrived[..])
        })
    }

    /// The part that goes before all others that have been opened on a link to a switch.
    pub fn first_of(&self, link: LinkId) -> Option<PacketId> {
        self.order.get(&link)?.front().copied()
    }

    /// Has a junction looked at in this cycle.
    pub fn flag(&mut self, switch: SwitchId) {
        let junction = self.junctions.entry(switch).or_default();
        if !std::mem::replace(&mut junction.flagged, true) {
            self.flagged.push(switch);
        }
    }
}

impl<R: Compiled + ?Sized, M: Motion> Control<R, M> {
    /// The trees of broadcasts.
    pub(super) fn trees(&self) -> &dyn Trees {
        let trees = self.routing.trees();
        trees.expect("broadcasts are refused where there is no tree")
    }

    /// A header of a broadcast reaches a switch.
    #[cold]
    pub(super) fn broadcast_header(&mut self, channel: ChannelId, part: PacketId) {
        let link = self.channels.link(channel);
        let End::Switch { switch, .. } = self.wiring().ends(link).1 else {
            unreachable!("a node is told of deliveries, not of headers");
        };
        let flight = self.flights.get(part);
        if flight.path().len() < flight.plan as usize {
            let up = self.trees().ascent(switch, flight.spec.source);
            self.flights.get_mut(part).only = up;
            self.join(self.channels.hop(up).group(), part);
            return;
        }
        self.broadcasts.flag(switch);
        let junction = self.broadcasts.junctions.get_mut(&switch);
        junction.expect("just flagged").arrived.push(part);
    }

    /// Begins to set up the next broadcast at a switch, if none is being set up and a waiting one may be.
    #[cold]
    pub(super) fn begin_set_up(&mut self, switch: SwitchId) {
        let junction = self.broadcasts.junctions.get_mut(&switch);
        let junction = junction.expect("it was flagged");
        junction.flagged = false;
        if junction.setting_up.is_some() {
            return;
        }
        let junction = &self.broadcasts.junctions[&switch];
        let may = |&&part: &&PacketId| {
            let before = self.broadcasts.first_of(self.last_link(part));
            self.broadcasts.part(part).parent.is_none() || before == Some(part)
        };
        let rank = |part: &PacketId| {
            let flight = self.flights.get(*part);
            (!self.is_high(&flight.spec), flight.rank())
        };
        let best = junction
            .arrived
            .iter()
            .filter(may)
            .min_by_key(|&part| rank(part));
        let Some(&part) = best else {
            return;
        };
        let state = State::clone(self.flights.get(part));
        let (root, before) = (self.broadcasts.root(part), self.travel(part));
        let links = self.trees().descent(switch, state.spec.destination);
        let mut branches = Vec::with_capacity(links.len());
        for link in links {
            let branch = self.flights.insert(state.branch(link));
            self.broadcasts
                .insert_part(branch, root, Some(part), before);
            self.join(self.channels.hop(link).group(), branch);
            branches.push(branch);
        }
        self.broadcasts.whole(root).parts.extend(&branches);
        let junction = self.broadcasts.junctions.get_mut(&switch);
        let junction = junction.expect("somebody waits there");
        junction.arrived.retain(|&other| other != part);
        junction.setting_up = Some(SetUp {
            part,
            missing: branches.len(),
            branches,
        });
    }

    /// A branch has won a channel of its link. If it is the last branch to win one, the switch opens all branches.
    #[cold]
    pub(super) fn claim(&mut self, motion: &mut M, branch: PacketId, link: LinkId) {
        self.take(branch, link);
        let End::Switch { switch, .. } = self.wiring().ends(link).0 else {
            unreachable!("a branch starts at a switch");
        };
        let junction = self.broadcasts.junctions.get_mut(&switch);
        let junction = junction.expect("a broadcast is set up there");
        let set_up = junction.setting_up.as_mut().expect("it has claims");
        set_up.missing -= 1;
        if set_up.missing == 0 {
            self.end_set_up(motion, switch);
        }
    }

    /// Every branch of the broadcast that a switch sets up has a channel, or is refused: the switch opens the channels.
    fn end_set_up(&mut self, motion: &mut M, switch: SwitchId) {
        let junction = self.broadcasts.junctions.get_mut(&switch);
        let junction = junction.expect("a broadcast is set up there");
        let SetUp { part, branches, .. } = junction.setting_up.take().expect("just seen");
        if junction.arrived.is_empty() {
            self.broadcasts.junctions.remove(&switch);
        } else {
            self.clock
                .schedule(self.clock.now() + 1, Event::SetUp(switch));
        }
        if branches.is_empty() {
            let path = self.flights.get(part).path();
            self.sink(motion, path[path.len() - 1]);
        } else {
            self.open_branches(motion, part, &branches);
        }
    }

    fn open_branches(&mut self, motion: &mut M, part: PacketId, branches: &[PacketId]) {
        let flight = self.flights.get(part);
        let worm = Worm {
            flits: flight.spec.flits,
            upstream: flight.path().last().copied(),
        };
        for &branch in branches {
            let channel = self.flights.get(branch).path()[0];
            motion.open(channel, worm, self.clock.now(), self);
            let link = self.channels.link(channel);
            if self.faults.is_some() {
                self.branch_opened(branch, channel);
            }
            if !self.channels.hop(link).ejects() {
                self.broadcasts
                    .order
                    .entry(link)
                    .or_default()
                    .push_back(branch);
            }
        }
        let link = self.last_link(part);
        let state = self
            .broadcasts
            .parts
            .get_mut(&part)
            .expect("it is under way");
        state.tails = branches.len();
        if state.parent.is_some() {
            let order = self.broadcasts.order.get_mut(&link).expect("it was opened");
            assert_eq!(order.pop_front(), Some(part), "broadcasts keep their order");
            if order.is_empty() {
                self.broadcasts.order.remove(&link);
            }
        }
    }

    /// The last link that a part has taken.
    pub(super) fn last_link(&self, part: PacketId) -> LinkId {
        let path = self.flights.get(part).path();
        self.channels.link(path[path.len() - 1])
    }

    /// The node at the end of a flight's last link.
    pub(super) fn destination(&self, flight: PacketId) -> Place {
        match self.wiring().ends(self.last_link(flight)).1 {
            End::Node(place) => place,
            End::Switch { .. } => unreachable!("its last link leads to a node"),
        }
    }

    /// The last flit of a broadcast is at one of its destinations.
    #[cold]
    pub(super) fn broadcast_delivered(&mut self, part: PacketId) {
        self.broadcast_passed(self.broadcasts.root(part), 1);
    }

    /// The packet has passed `count` more of the destinations of a broadcast, or will not reach them.
    fn broadcast_passed(&mut self, root: PacketId, count: u32) {
        let whole = self.broadcasts.whole(root);
        whole.undelivered -= count;
        if whole.undelivered > 0 {
            return;
        }
        if !whole.failed {
            self.flights.get_mut(root).delivered = self.clock.now();
        }
        let parts: Vec<PacketId> = self.broadcasts.parts_of(root).collect();
        for part in parts {
            self.free_after_the_delivery(part);
        }
    }

    /// One destination answers in cycle `at`.
    #[cold]
    pub(super) fn broadcast_answer(&mut self, part: PacketId, at: Cycle, ack: Ack) {
        self.broadcast_answers(part, at, ack, 1);
    }

    /// An answer for `count` destinations leaves the end of a part in cycle `at`.
    fn broadcast_answers(&mut self, part: PacketId, at: Cycle, ack: Ack, count: u32) {
        let root = self.broadcasts.root(part);
        let switches = u64::from(self.flights.get(root).plan);
        let back = at + self.travel(part) + self.config.combine * switches;
        assert!(
            back >= self.clock.now(),
            "an acknowledgement comes too late"
        );
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

    /// Header delays between the source and the end of a part.
    fn travel(&self, part: PacketId) -> Cycle {
        self.broadcasts.part(part).before + self.channels.delay(self.flights.get(part).path())
    }

    /// The combined answer is back: the EOP goes down all branches. The root is removed.
    #[cold]
    pub(super) fn broadcast_ended(&mut self, root: PacketId, answer: Ack) {
        let whole = self
            .broadcasts
            .wholes
            .remove(&root)
            .expect("it was under way");
        self.broadcasts.parts.remove(&root);
        for id in whole.parts {
            let travel = self.travel(id);
            let part = self.broadcasts.parts.remove(&id).expect("it was under way");
            let flight = self.flights.get_mut(id);
            let channel = flight.path()[0];
            let told = flight.spec.awaits_end && flight.delivered > 0;
            flight.ack = Some(answer);
            if self.config.circuit == Circuit::UntilAcknowledged {
                self.clock
                    .schedule(self.clock.now() + 1 + part.before, Event::Free(channel));
            }
            if told {
                self.clock
                    .schedule(self.clock.now() + 1 + travel, Event::Ended(id));
            } else {
                self.flights.remove(id);
            }
        }
    }

    /// The EOP is at a destination that is to be told of it.
    #[cold]
    pub(super) fn ended(&mut self, id: PacketId) -> Notice {
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

    /// Whether a channel is the first of a part of a broadcast, so that the channel upstream is one of another part.
    #[cold]
    pub(super) fn begins_a_part(&self, channel: ChannelId) -> bool {
        let flight = self.flights.get(self.channels.holder(channel));
        flight.spec.destination.is_broadcast() && flight.path().first() == Some(&channel)
    }

    /// In plain wormhole routing, a branch has sent the tail: with the last such branch the channel before falls free.
    #[cold]
    pub(super) fn branch_tail_sent(&mut self, branch: PacketId, sent: Cycle) {
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
