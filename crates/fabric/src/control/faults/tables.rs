//! The routing tables of the sources, with dead cables.
//!
//! If all ways between two nodes are alive by the tables, their packets are routed as always. Else
//! the source fixes the way: in a tree, at each switch in the ascent it names an up-link from
//! which, by the tables, a living way leads down to the destination; a hash over source, packet
//! number and switch selects it, as in arbitration. In a torus the packet goes the other way round
//! a ring if the shorter way is dead. Among parallel links down the switch chooses, as always. A
//! packet without a way is refused by its adapter, as over its own dead cable, and so is a
//! broadcast with a dead cable in its tree.
//!
//! *Simplified:* a header reads the tables where it is; if they change while it is under way, it
//! goes on by the new ones, and may find that no way leads on from there.
//!
//! *No deadlock.* In a tree the fixed ways are ways up, then down, like all others; so the argument
//! for adaptive ascents holds. In a torus the dimension order stays, and a packet that goes round a
//! ring the longer way crosses the dateline at most once, too.

use super::{Control, Faults};
use crate::control::arbitration;
use crate::control::packet::State;
use crate::control::queue::Offer;
use crate::control::{Ack, Event, Fate, Notice, PacketId, PacketSpec};
use crate::id::QueueId;
use crate::motion::Motion;
use crate::topology::{CompiledRouting, DeadLinks, Destination, End, Header};
use crate::{ChannelId, LinkId, Place};
use std::collections::{BTreeSet, VecDeque};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// Why no packet can go from one place to another: the cables that the tables list as dead leave no
/// way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRoute {
    /// The dead cables on the ways between the two places, each by one link, in the order of their
    /// numbers.
    pub cut: Vec<LinkId>,
    message: String,
}

impl Display for NoRoute {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl Error for NoRoute {}

/// Cables that a message names; it counts the others.
const NAMED: usize = 4;

impl Faults {
    fn is_known(&self, link: LinkId) -> bool {
        self.cables[link].known
    }
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// From here on the sources' tables list the cables that are dead now.
    pub fn learn(&mut self) {
        let faults = self.failing();
        // Many cables may die at one time, and each has the sources learn.
        if !std::mem::take(&mut faults.news) {
            return;
        }
        let cables = faults.cables.iter_mut_enumerated();
        let known = cables.filter_map(|(link, cable)| {
            cable.known = cable.cuts > 0;
            cable.known.then_some(link)
        });
        let links: Vec<LinkId> = known.collect();
        let lowest = self.routing.lowest(&links);
        self.failing().known = DeadLinks { links, lowest };
        // A refused packet may have a way now, but it looks for the way by itself.
    }

    /// Whether the tables have a way.
    ///
    /// # Errors
    /// If there is no way, with the dead cables.
    pub fn way(&self, from: Place, to: Place) -> Result<(), NoRoute> {
        let Some(faults) = &self.faults else {
            return Ok(());
        };
        let dead = |link| faults.is_known(link);
        let usual = self.routing.plan(from, to.into(), 0);
        if self.routing.plan_around(from, to, usual, &dead).is_some() {
            return Ok(());
        }
        let wiring = self.wiring();
        let on_a_way = faults
            .known
            .links
            .iter()
            .filter(|&&link| self.routing.may_cross(from, to, link));
        let cables: BTreeSet<LinkId> = on_a_way
            .map(|&link| link.min(wiring.reverse(link)))
            .collect();
        let cut: Vec<LinkId> = cables.into_iter().collect();
        let name = |link: &LinkId| {
            let (a, b) = wiring.ends(*link);
            format!("{} - {}", wiring.end_name(a), wiring.end_name(b))
        };
        let names: Vec<String> = cut.iter().take(NAMED).map(name).collect();
        let more = match cut.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let [from, to] = [from, to].map(|place| wiring.end_name(End::Node(place)));
        let message = format!(
            "no way leads from {from} to {to}: dead are the cables {}{more}",
            names.join(", ")
        );
        Err(NoRoute { cut, message })
    }

    /// A packet's plan by the tables; `None` without a way.
    #[cold]
    pub(in crate::control) fn known_plan(&self, spec: &PacketSpec, sequence: u32) -> Option<u32> {
        let faults = self.faults.as_ref().expect("something may fail");
        let draw = Self::draw(spec.source, sequence);
        let usual = self.routing.plan(spec.source, spec.destination, draw);
        if faults.known.is_empty() {
            return Some(usual);
        }
        let dead = |link| faults.is_known(link);
        match spec.destination {
            Destination::Node(node) => {
                if self.is_affected(spec.source, node) {
                    self.routing.plan_around(spec.source, node, usual, &dead)
                } else {
                    Some(usual)
                }
            }
            Destination::Range { .. } => {
                let injection = self.wiring().injection(spec.source);
                let mut links = VecDeque::from([injection]);
                let mut hops = 0;
                while let Some(link) = links.pop_front() {
                    if dead(link) {
                        return None;
                    }
                    hops += 1;
                    if let End::Switch { switch, .. } = self.wiring().ends(link).1 {
                        if hops < usual {
                            links.push_back(self.trees().ascent(switch, spec.source));
                        } else {
                            links.extend(self.trees().descent(switch, spec.destination));
                        }
                    }
                }
                Some(usual)
            }
        }
    }

    /// Whether a packet may get another plan at its first switch: whether the tables list no dead
    /// cable on that way.
    pub(in crate::control) fn may_settle(&self, header: &Header, plan: u32) -> bool {
        let Some(faults) = self.faults.as_ref().filter(|faults| faults.cuts()) else {
            return true;
        };
        let dead = |link| faults.is_known(link);
        let (from, to) = (header.source, header.destination);
        self.routing.plan_around(from, to, plan, &dead) == Some(plan)
    }

    /// Whether a known dead cable is on any way between two nodes.
    fn is_affected(&self, source: Place, node: Place) -> bool {
        let faults = self.faults.as_ref().expect("something may fail");
        self.routing.may_cross_any(source, node, &faults.known)
    }

    /// Answers a queue's next packet immediately if it has no way. Returns whether it does.
    #[cold]
    pub(in crate::control) fn refuses_next(
        &mut self,
        queue: QueueId,
        notices: &mut Vec<Notice>,
    ) -> bool {
        let Some(Offer { spec, at: offered }) = self.queues.first(queue) else {
            return false;
        };
        let node = spec.source;
        let own = self.wiring().injection(node);
        let sequence = self.queues.sequence(node);
        if !self.is_cut(own) && self.known_plan(&spec, sequence).is_some() {
            return false;
        }
        self.queues.begin(queue, node);
        let mut state = State::new(spec, 0, sequence, 0, offered, self.clock.now());
        state.fate = Fate::Refused(Ack::Unreachable);
        state.ack = Some(Ack::Unreachable);
        let packet = self.flights.insert(state);
        self.clock
            .schedule(self.clock.now() + 1, Event::Acknowledged(packet));
        notices.push(Notice::Injected(spec));
        true
    }

    /// If the source fixes the packet's way, its header joins the group of the fixed link. Returns
    /// whether the header is to be routed in the usual way instead.
    #[cold]
    pub(super) fn takes_no_detour(&mut self, channel: ChannelId, packet: PacketId) -> bool {
        let flight = self.flights.get(packet);
        let (spec, sequence) = (flight.spec, flight.sequence);
        let Destination::Node(node) = spec.destination else {
            return true;
        };
        if !self.is_affected(spec.source, node) {
            return true;
        }
        let input = self.channels.link(channel);
        let switch = self.channels.switch(input);
        let header = flight.header(node, input, switch);
        let faults = self.faults.as_mut().expect("something may fail");
        let dead = |link| faults.is_known(link);
        let Some(ways) = self.routing.living_ascents(switch, &header, &dead) else {
            return true;
        };
        let Some(count) = std::num::NonZeroU64::new(ways.len() as u64) else {
            faults.sinking.push(channel);
            self.doom(packet, Ack::Unreachable);
            return false;
        };
        let drawn = arbitration::spread(spec.source, sequence, switch) % count;
        let link = ways[drawn as usize];
        let hop = self.channels.hop(self.channels.link(channel));
        let flight = self.flights.get_mut(packet);
        let input = hop.input(self.channels.lane(channel));
        flight.come_to(self.clock.now(), hop.delay(), input);
        flight.only = link;
        let group = self.channels.hop(link).group();
        if self.is_far {
            self.arrivals.push(group, packet);
        } else {
            self.join(group, packet);
        }
        false
    }
}
