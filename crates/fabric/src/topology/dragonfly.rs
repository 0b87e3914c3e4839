//! # Dragonflies with any arities
//!
//! A switch has `terminals` nodes (`p` in Kim, Dally, Scott and Abts, ISCA 2008), a group has
//! `group` switches (`a`), each joined to each other one, and a switch has `global` links to other
//! groups (`h`). There are `groups` groups (`g`); between every two there are equally many links,
//! `a h / (g - 1)`, which must be a whole number. With `g = a h + 1` it is one: the largest
//! dragonfly from its switches.
//!
//! ## Names and numbers
//!
//! Switch `s` of group `j` is "switch j.s". Its first ports are its nodes'; then come the other
//! switches of the group, in their order; then its global links. The global links of a group are
//! numbered switch by switch: number `k (g - 1) + i` is the `k`-th link to the `i`-th of the other
//! groups (the *absolute* arrangement of the paper and of `BookSim`). Links of level 1 are within
//! groups, those of level 2 between groups.
//!
//! ## Routing
//!
//! *Minimal*: at most one hop within the group to a switch with a link to the destination's group,
//! this link, and at most one hop within that group. Among several links between the groups each
//! packet takes one at random. *Valiant*: minimally to a random other group first, and minimally on
//! from the switch where the packet comes in; within a group all packets go minimally. *UGAL-L*:
//! see [`Misrouting::UgalLocal`].
//!
//! *No deadlock.* A channel's class is the count of global links that the packet has crossed: two
//! classes for minimal ways, three for others. Within a class packets go from local to global
//! links; each crossing leads to the next class, and in the last one packets only go to their
//! switch.
//!
//! *Faults.* A packet with a dead way takes the next living plan among those that its routing has
//! anyway.

use super::cabling::{Cabling, Names, Parts, Peer};
use super::destination::Destination;
use super::error::{MAX_ARITY, TopologyError};
use super::misroute;
use super::routing::{CompiledRouting, DeadLinks, Header, Routing, Step};
use super::wiring::Wiring;
use crate::id::{ChannelId, Place, SwitchId};
use crate::mechanism::Misrouting;
use std::sync::Arc;

/// Links on the longest path: three within groups, two between groups, and the links of both nodes.
const MAX_PATH: usize = 7;

/// A dragonfly's arities; see the module essay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arities {
    /// Nodes per switch.
    pub terminals: u32,
    /// Switches per group.
    pub group: u32,
    /// Links per switch to other groups.
    pub global: u32,
    /// Groups.
    pub groups: u32,
}

/// A dragonfly; see the module essay. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    arities: Arities,
    /// Links between every two groups.
    links: u32,
    rule: Misrouting,
    cabling: Arc<Cabling>,
}

/// A link from one group to another: its switch and global port there, and the switch where it
/// comes in; all counted from 0 in their group.
struct Crossing {
    from: u32,
    port: u32,
    to: u32,
}

impl Arities {
    /// A link from a group to another one.
    fn crossing(self, here: u32, there: u32, link: u32) -> Crossing {
        let Arities { global, groups, .. } = self;
        let first = link * (groups - 1);
        let end = first + if there < here { there } else { there - 1 };
        let far = first + if here < there { here } else { here - 1 };
        Crossing {
            from: end / global,
            port: end % global,
            to: far / global,
        }
    }

    fn check(&self) -> Result<u32, TopologyError> {
        let entries = [
            ("terminals", self.terminals, 1),
            ("group", self.group, 1),
            ("global", self.global, 1),
            ("groups", self.groups, 2),
        ];
        for (key, found, least) in entries {
            let most = if key == "groups" {
                MAX_ARITY * MAX_ARITY
            } else {
                MAX_ARITY / 2
            };
            if !(least..=most).contains(&found) {
                let message = format!("{found} is out of range for a dragonfly");
                return Err(TopologyError::new(
                    key,
                    message,
                    format!("{least} to {most}"),
                ));
            }
        }
        let (ends, others) = (self.group * self.global, self.groups - 1);
        if ends.is_multiple_of(others) {
            return Ok(ends / others);
        }
        let message = format!(
            "{ends} global links of a group cannot be shared out evenly among {others} other groups"
        );
        let groups = (1..=ends).filter(|others| ends.is_multiple_of(*others));
        let groups: Vec<String> = groups.map(|others| (others + 1).to_string()).collect();
        Err(TopologyError::new("groups", message, groups.join(", ")))
    }
}

impl Dragonfly {
    /// A dragonfly with nodes `0..nodes` attached.
    ///
    /// # Errors
    /// If a parameter is out of bounds.
    pub fn new(arities: Arities, nodes: u32, rule: Misrouting) -> Result<Self, TopologyError> {
        let links = arities.check()?;
        let Arities {
            terminals,
            group,
            global,
            groups,
        } = arities;
        let switches = u64::from(group) * u64::from(groups);
        let positions = switches * u64::from(terminals);
        let ports = switches * u64::from(group - 1 + global);
        Cabling::check_size("dragonfly", "groups", positions, ports)?;
        let peers = (0..switches as u32).map(|switch| {
            let (here, own) = (switch / group, switch % group);
            let local = (0..group).filter(|&other| other != own).map(|other| Peer {
                switch: here * group + other,
                level: 1,
            });
            let global = (own * global..(own + 1) * global).map(|end| {
                let (link, other) = (end / (groups - 1), end % (groups - 1));
                let there = if other < here { other } else { other + 1 };
                Peer {
                    switch: there * group + arities.crossing(here, there, link).to,
                    level: 2,
                }
            });
            local.chain(global).collect()
        });
        let cabling = Cabling::new(Parts {
            noun: "dragonfly",
            seats: (0..positions as u32)
                .map(|place| place / terminals)
                .collect(),
            peers: peers.collect(),
            nodes,
            ways: vec![
                ["forwards", "backwards"].map(|way| format!("{way} within groups")),
                ["forwards", "backwards"].map(|way| format!("{way} between groups")),
            ],
            classes: if rule.misroutes() { 3 } else { 2 },
            names: Names::Groups(group),
        })?;
        Ok(Dragonfly {
            arities,
            links,
            rule,
            cabling: Arc::new(cabling),
        })
    }

    /// This dragonfly on several rails: equal networks side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        Ok(Dragonfly {
            cabling: Arc::new(self.cabling.with_rails(rails)?),
            ..self.clone()
        })
    }

    /// The wiring.
    pub fn cabling(&self) -> &Cabling {
        &self.cabling
    }

    /// The arities.
    pub fn arities(&self) -> Arities {
        self.arities
    }

    /// Which ways packets take.
    pub fn rule(&self) -> Misrouting {
        self.rule
    }

    /// Links between every two groups.
    pub fn links_between_groups(&self) -> u32 {
        self.links
    }

    /// Links of a rail in one direction that must be cut to separate the lower half of the groups
    /// from the upper half, rounded down.
    pub fn bisection(&self) -> u32 {
        let lower = self.arities.groups / 2;
        lower * (self.arities.groups - lower) * self.links
    }

    /// A switch's group, on its rail.
    fn group_of(&self, switch: u32) -> u32 {
        switch / self.arities.group % self.arities.groups
    }

    /// The intermediate group in a plan, if there is one, and the number of the links that it takes
    /// between groups.
    fn read(&self, plan: u32) -> (Option<u32>, u32) {
        ((plan / self.links).checked_sub(1), plan % self.links)
    }

    fn plan_by(&self, via: Option<u32>, link: u32) -> u32 {
        via.map_or(0, |via| via + 1) * self.links + link
    }

    /// Links between switches on a plan's way between two switches in different groups.
    fn hops(&self, from: u32, to: u32, plan: u32) -> u32 {
        let (via, link) = self.read(plan);
        let group = self.arities.group;
        let (mut here, mut own, mut hops) = (self.group_of(from), from % group, 0);
        for there in via.into_iter().chain([self.group_of(to)]) {
            let crossing = self.arities.crossing(here, there, link);
            hops += 1 + u32::from(crossing.from != own);
            (here, own) = (there, crossing.to);
        }
        hops + u32::from(own != to % group)
    }
}

impl CompiledRouting for Dragonfly {
    type Path = [ChannelId; MAX_PATH];

    const CHOOSES: bool = true;
}

impl Routing for Dragonfly {
    fn wiring(&self) -> &(dyn Wiring + 'static) {
        &*self.cabling
    }

    /// Two switches per group have all the dependencies that more have, two links between groups
    /// stand for any number, and five groups for more.
    fn model(&self) -> Option<Box<dyn Routing>> {
        let (group, groups) = (self.arities.group.min(2), self.arities.groups.min(5));
        let arities = Arities {
            terminals: 1,
            group,
            global: 2 * (groups - 1) / group,
            groups,
        };
        let small = Dragonfly::new(arities, group * groups, self.rule).expect("a small dragonfly");
        Some(Box::new(small))
    }

    fn begins_group(&self, _switch: SwitchId, _port: u32) -> bool {
        true
    }

    /// A minimal plan is the number of the link between the groups, others also have a group
    /// number.
    fn plan(&self, source: Place, destination: Destination, draw: u64) -> u32 {
        let Arities {
            terminals, groups, ..
        } = self.arities;
        let [from, to] =
            [source, destination.first()].map(|place| self.group_of(place.get() / terminals));
        if from == to {
            return 0;
        }
        let link = if self.links == 1 {
            0
        } else {
            ((draw >> 32) % u64::from(self.links)) as u32
        };
        if !self.rule.misroutes() || groups == 2 {
            return link;
        }
        let mut via = (draw % u64::from(groups - 2)) as u32;
        via += u32::from(via >= from.min(to));
        via += u32::from(via >= from.max(to));
        self.plan_by(Some(via), link)
    }

    fn plans(&self, source: Place, node: Place) -> Vec<u32> {
        let Arities {
            terminals, groups, ..
        } = self.arities;
        let [from, to] = [source, node].map(|place| self.group_of(place.get() / terminals));
        if from == to {
            return vec![0];
        }
        let others = (0..groups).filter(|&via| self.rule.misroutes() && via != from && via != to);
        let mut vias: Vec<Option<u32>> = others.map(Some).collect();
        if self.rule != Misrouting::Valiant || vias.is_empty() {
            vias.push(None);
        }
        let plans = vias
            .into_iter()
            .flat_map(|via| (0..self.links).map(move |link| self.plan_by(via, link)));
        plans.collect()
    }

    fn settles(&self) -> bool {
        self.rule == Misrouting::UgalLocal
    }

    fn settle(&self, header: &Header, load: &mut dyn FnMut(u32) -> u32) -> u32 {
        if header.plan < self.links {
            return header.plan;
        }
        let to = header.destination.get() / self.arities.terminals;
        let hops = |plan| self.hops(header.at.get(), to, plan);
        let plans = [header.plan % self.links, header.plan];
        misroute::better(self, header, plans, hops, load)
    }

    #[inline]
    fn step(&self, header: &Header) -> Step {
        let Arities {
            terminals, group, ..
        } = self.arities;
        let at = header.at.get();
        let own = at % group;
        let to = header.destination.get() / terminals;
        let (via, link) = self.read(header.plan);
        let local = |other: u32, crossed| Step {
            group: terminals + other - u32::from(other > own),
            class: Some(crossed),
        };
        let (here, there) = (self.group_of(at), self.group_of(to));
        if here == there {
            if at == to {
                return Step {
                    group: header.destination.get() % terminals,
                    class: None,
                };
            }
            let within = self.group_of(header.source.get() / terminals) == there;
            let crossed = if within {
                0
            } else {
                1 + u32::from(via.is_some())
            };
            return local(to % group, crossed);
        }
        let (aim, crossed) = match via {
            Some(via) if via == here => (there, 1),
            Some(via) => (via, 0),
            None => (there, 0),
        };
        let crossing = self.arities.crossing(here, aim, link);
        if crossing.from == own {
            return Step {
                group: terminals + group - 1 + crossing.port,
                class: Some(crossed),
            };
        }
        local(crossing.from, crossed)
    }

    /// To find out would take as long as to find a way.
    fn may_cross_any(&self, _source: Place, _node: Place, dead: &DeadLinks) -> bool {
        !dead.is_empty()
    }
}
