//! # Broadcasts: one packet to a node range
//!
//! A broadcast is a tree of *parts*. The *root* part is the ascent, from the adapter to the switch
//! where the packet turns; each other part is one link in the descent. A part has a [`Flight`] like
//! a packet, and holds its channels; so headers, arbitration and releases work as they do for
//! packets to one node.
//!
//! ## Setting up
//!
//! *Ascent.* A header below the switch where it turns waits for a channel on its one up-link
//! ([`Trees::ascent`]), among the other headers in the output group.
//!
//! *Descent.* A header at the switch where the packet turns, or below, needs a channel on each of
//! its down-links at the same time. A switch sets up one broadcast at a time. The switch begins, in
//! the arrival cycle or in the cycle after the last set-up, with the best waiting broadcast: by
//! priority, then by age (the earlier injection, the lower source, the earlier packet from one
//! source). From then on no other broadcast comes before this one. The broadcast *claims* a channel
//! on each link as they fall free, and competes with other headers by the ordinary rule; a claimed
//! channel is taken. In the cycle of the last claim all its channels are opened.
//!
//! *Order.* Broadcasts that a switch has sent on over a link are set up at the link's end in the
//! same order. A broadcast that overtakes another on the link, since it is older, waits at the end.
//!
//! ## Moving, answering, ending
//!
//! A flit leaves the buffer in front of a switch when the last branch has sent it
//! ([`crate::motion`]). Each destination answers for itself. The answers combine on the way up,
//! which takes each switch in the descent `combine` cycles; the combined answer reaches the source
//! when the last answer would, and is the worst one: any "no" makes it a no (hardware, public Elan3
//! headers). The EOP goes down all branches: in `UntilAcknowledged` mode a link's channel is free
//! one cycle, plus the delays on the links before it, after the acknowledgement. In
//! `UntilDelivered` mode all channels are free one cycle after the last delivery, in `Wormhole`
//! mode each `C + 1` cycles after its last branch has sent the tail.
//!
//! ## Why broadcasts in one tree do not deadlock
//!
//! Suppose that some packets wait for ever. Each waits for others among them that hold, or have
//! claimed, all channels on a link that it needs, or (broadcasts) that precede it at a switch. A
//! packet that waits for an up-link waits for packets that hold an up-link on a higher level or
//! have turned. So some packets wait in their descent; these wait only for packets in their
//! descent. Look at the packets in their descent alone. All their waits are in the broadcast tree
//! or lead into it: a packet to one node waits for a single down-link, and the holder waits, if it
//! has one destination too, strictly below. So follow packets to one node down to the first
//! broadcast: *P waits for Q* shall mean that broadcast `P` waits for broadcast `Q` directly, or
//! through packets to one node.
//!
//! *Two broadcasts are in one order wherever they meet.* In one tree two broadcasts that meet
//! share, in their descents, only switches at or below `v`, the lower turn, and the other broadcast
//! comes through `v`, too. One is set up at `v` first (or has begun to be; that is final), and by
//! the order rule it is first at every common switch. If `Q` is first, write `Q < P`.
//!
//! *Consequences of a wait.* Let `P` wait at `c` for `Q`. Then either (a) both meet and `Q < P`; or
//! (b) `Q` turns strictly below `c` at a switch where `P` never comes, and has been set up, or has
//! begun to be, where it turns. Proof: a broadcast that precedes `P` at `c` meets `P` there: (a).
//! Else the channels on a link down from `c` are held. If `Q` holds one, `Q` has passed `c`: (a).
//! If a packet to one node does, a chain of such packets leads to a switch `g` below `c` where `Q`
//! has passed or holds claims. If `Q` turns at `c` or above, `Q` has passed `c` (the tree has one
//! way to `g`): (a). If `Q` turns below `c`, it turns on the way to `g`, where it has passed or
//! claims; `P`, still at `c`, has not been there. If `P` is to come there, (a) holds, else (b).
//!
//! *No cycle.* In a shortest cycle with pairs from (a) and (b), let `V` be a broadcast with the
//! lowest turn, `v`, between `P` before it and `N` behind it. `V` and `N` are not in case (b),
//! since `N` would then turn lower. So `N < V`, and `N` comes through `v` first. If `V < P`, then
//! `P` comes through `v` as well, after `V`, after `N`: `N < P`. If `P` and `V` are in case (b),
//! `V` has begun to be set up at `v`, so that `N` has passed `v`, and all switches above it on its
//! way. `P` is above `v`, at `c`: as before, `P` and `N` are in case (a) or (b). Either way the
//! cycle is shorter without `V`: at last a broadcast is paired with itself, which (a) and (b)
//! exclude.
//!
//! The order rule is needed: if two broadcasts pass a switch and its children set them up in
//! different orders, each may hold one child's links and wait at the other. One tree is needed,
//! too: with different roots two broadcasts that meet at the last switches are unordered.
//! [`crate::Fabric::deadlock`] then reports which packet waits for which.

mod ending;
mod failure;

use super::deadlock::Key;
use super::packet::State;
use super::{Ack, Control, Event, PacketSpec};
use crate::PacketId;
use crate::motion::{Motion, Worm};
use crate::topology::{CompiledRouting, End, Trees};
use crate::{ChannelId, Cycle, LinkId, SwitchId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A broadcast under way, in the region of its source.
struct BroadcastState {
    /// Destinations that the last flit has not reached.
    undelivered: u32,
    /// The last delivery's cycle so far.
    delivered: Cycle,
    /// Destinations that have not answered.
    unanswered: u32,
    /// The worst answer so far, and the cycle in which the last answer so far is back.
    answer: Ack,
    back: Cycle,
    /// Whether the packet does not reach some destination.
    failed: bool,
    /// The links on which bit errors have damaged the packet.
    damaged: BTreeSet<LinkId>,
}

/// A part's state besides its flight.
struct Part {
    /// The root, in the source's region.
    root: PacketId,
    /// Whether this is the root, or its flight in another region.
    is_root: bool,
    /// The part from which this part branches off; `None` for the root, and for a part that has
    /// come from another region.
    parent: Option<PacketId>,
    /// The parts that branch off in this region.
    branches: Vec<PacketId>,
    /// Links in the ascent: the answers combine in as many switches.
    ascent: u32,
    /// The path position where this region's channels begin: at an inbound channel, or else at the
    /// very first.
    first: usize,
    /// Sum of the header delays between the source and the part's own links.
    before: Cycle,
    /// Branches that have not sent the tail, and the cycle in which the last other branch sent it.
    tails: usize,
    last_tail: Cycle,
    /// Since when the part's channels have been open; `None` while its channel is only claimed.
    opened: Option<Cycle>,
    /// Destinations without an answer until the part, which is sunk, is drained; all below it if
    /// `None`.
    pending: Option<u32>,
}

impl Part {
    /// A part without an opened channel.
    fn begin(root: PacketId, ascent: u32, before: Cycle) -> Self {
        Part {
            root,
            is_root: false,
            parent: None,
            branches: Vec::new(),
            ascent,
            first: 0,
            before,
            tails: 0,
            last_tail: 0,
            opened: None,
            pending: None,
        }
    }
}

/// The data that goes with a part to another region.
pub(super) struct Note {
    is_root: bool,
    ascent: u32,
    before: Cycle,
    first: usize,
}

/// A switch where broadcasts descend.
#[derive(Default)]
struct Junction {
    /// Parts with arrived headers.
    arrived: Vec<PacketId>,
    setting_up: Option<DescentSetup>,
    flagged: bool,
}

/// A broadcast that gets its channels down from a switch.
struct DescentSetup {
    /// The part that has come to the switch.
    part: PacketId,
    /// The parts that leave the switch.
    branches: Vec<PacketId>,
    /// How many branches have no channel yet.
    missing: usize,
}

/// All broadcast state.
#[derive(Default)]
pub(super) struct Broadcasts {
    /// The broadcasts under way, by root.
    wholes: BTreeMap<PacketId, BroadcastState>,
    parts: BTreeMap<PacketId, Part>,
    /// The switches where a broadcast waits or is set up.
    junctions: BTreeMap<SwitchId, Junction>,
    /// By link to a switch: the broadcasts that have been opened on the link and have not been set
    /// up at its end.
    order: BTreeMap<LinkId, VecDeque<Key>>,
    /// Destinations that a broadcast has reached, where circuits last until the delivery and the
    /// network has regions.
    pub(super) reached: BTreeMap<Key, u32>,
    /// Junctions with news in this cycle.
    pub flagged: Vec<SwitchId>,
}

impl Broadcasts {
    /// A broadcast is injected.
    #[cold]
    pub fn insert(&mut self, root: PacketId, spec: &PacketSpec, ascent: u32) {
        let destinations = spec.destination.count();
        let whole = BroadcastState {
            undelivered: destinations,
            delivered: 0,
            unanswered: destinations,
            answer: Ack::Accepted,
            back: 0,
            failed: false,
            damaged: BTreeSet::new(),
        };
        self.wholes.insert(root, whole);
        let part = Part::begin(root, ascent, 0);
        self.parts.insert(
            root,
            Part {
                is_root: true,
                opened: Some(0),
                ..part
            },
        );
    }

    /// A part comes from another region, with its last channel.
    pub(super) fn insert_visitor(&mut self, id: PacketId, root: PacketId, note: &Note) {
        let part = Part {
            is_root: note.is_root,
            first: note.first,
            opened: Some(0),
            ..Part::begin(root, note.ascent, note.before)
        };
        self.parts.insert(id, part);
    }

    /// The note to another region about a part that goes there with this many channels.
    pub(super) fn note(&self, id: PacketId, channels: usize) -> Note {
        let part = self.part(id);
        Note {
            is_root: part.is_root,
            ascent: part.ascent,
            before: part.before,
            first: channels - 1,
        }
    }

    fn part(&self, id: PacketId) -> &Part {
        &self.parts[&id]
    }

    fn part_mut(&mut self, id: PacketId) -> &mut Part {
        self.parts.get_mut(&id).expect("it is under way")
    }

    /// The root of the broadcast that a flight belongs to; the flight itself, if it is not a
    /// broadcast.
    pub fn root(&self, id: PacketId) -> PacketId {
        self.parts.get(&id).map_or(id, |part| part.root)
    }

    fn whole(&mut self, root: PacketId) -> &mut BroadcastState {
        self.wholes
            .get_mut(&root)
            .expect("the broadcast is under way")
    }

    /// The broadcasts under way, by root, each with the count of destinations that its last flit
    /// has not reached.
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

    /// The parts of a broadcast in a one-region network, the root first.
    pub fn parts_of(&self, root: PacketId) -> Vec<PacketId> {
        let mut parts = vec![root];
        let mut place = 0;
        while let Some(id) = parts.get(place) {
            let part = self.parts.get(id);
            parts.extend(part.into_iter().flat_map(|part| &part.branches));
            place += 1;
        }
        parts
    }

    /// All parts in this region.
    pub(super) fn all_parts(&self) -> impl Iterator<Item = PacketId> {
        self.parts.keys().copied()
    }

    /// The position in a part's path where this region's channels begin.
    pub(super) fn first_channel(&self, id: PacketId) -> usize {
        self.part(id).first
    }

    /// A broadcast has been opened on a link to a switch in this region.
    pub(super) fn opened(&mut self, link: LinkId, broadcast: Key) {
        self.order.entry(link).or_default().push_back(broadcast);
    }

    /// The switches where parts wait to descend, each with the part that is being set up, if there
    /// is one, and the others.
    pub fn waiting(&self) -> impl Iterator<Item = (SwitchId, Option<PacketId>, &[PacketId])> {
        self.junctions.iter().map(|(&switch, junction)| {
            let part = junction.setting_up.as_ref().map(|set_up| set_up.part);
            (switch, part, &junction.arrived[..])
        })
    }

    /// The broadcast that precedes all others that have been opened on a link to a switch.
    pub fn first_of(&self, link: LinkId) -> Option<Key> {
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

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// The broadcast trees.
    pub(super) fn trees(&self) -> &dyn Trees {
        let trees = self.routing.trees();
        trees.expect("broadcasts are refused where there is no tree")
    }

    /// A broadcast header reaches a switch.
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

    /// Begins to set up the next broadcast at a switch, if the switch is not setting one up and a
    /// waiting one is eligible.
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
            self.broadcasts.part(part).is_root || before == Some(self.key(part))
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
        let ascent = self.broadcasts.part(part).ascent;
        let links = self.trees().descent(switch, state.spec.destination);
        let mut branches = Vec::with_capacity(links.len());
        for link in links {
            let branch = self.flights.insert(state.branch(link));
            let begun = Part {
                parent: Some(part),
                ..Part::begin(root, ascent, before)
            };
            self.broadcasts.parts.insert(branch, begun);
            self.join(self.channels.hop(link).group(), branch);
            branches.push(branch);
        }
        self.broadcasts
            .part_mut(part)
            .branches
            .clone_from(&branches);
        let junction = self.broadcasts.junctions.get_mut(&switch);
        let junction = junction.expect("somebody waits there");
        junction.arrived.retain(|&other| other != part);
        junction.setting_up = Some(DescentSetup {
            part,
            missing: branches.len(),
            branches,
        });
    }

    /// A branch has won a channel on its link. If it is the last branch to win one, the switch
    /// opens all branches.
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

    /// Every branch in the broadcast that a switch sets up has a channel, or is refused: the switch
    /// opens the channels.
    fn end_set_up(&mut self, motion: &mut M, switch: SwitchId) {
        let junction = self.broadcasts.junctions.get_mut(&switch);
        let junction = junction.expect("a broadcast is set up there");
        let DescentSetup { part, branches, .. } = junction.setting_up.take().expect("just seen");
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
            let hop = *self.channels.hop(link);
            if hop.is_outbound() {
                self.opened_elsewhere(link, self.key(branch));
            } else if !hop.ejects() {
                self.broadcasts.opened(link, self.key(branch));
            }
        }
        let (link, name) = (self.last_link(part), self.key(part));
        let state = self.broadcasts.part_mut(part);
        state.tails = branches.len();
        if !state.is_root {
            let order = self.broadcasts.order.get_mut(&link).expect("it was opened");
            assert_eq!(order.pop_front(), Some(name), "broadcasts keep their order");
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
}
