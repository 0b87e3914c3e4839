//! # Networks by their cable lists
//!
//! The wiring for all network kinds that are more easily listed than calculated: each switch has
//! its nodes at its first ports, and a cable to a switch at each port behind them. The lists are
//! read at set-up and for messages; packet movement does not read them. Routings calculate, or have
//! their own tables.
//!
//! On each cable the link from the switch with the lower number is called up. With several rails
//! switches are numbered rail by rail, and so are cables.

use super::error::{MAX_ARITY, MAX_NODES, MAX_PARTS, MAX_RAILS, TopologyError};
use super::wiring::{End, Wiring};
use crate::id::{LinkId, Place, Rail, SwitchId};
use std::collections::{BTreeMap, VecDeque};

/// A cable between two switches on a rail: the switch with the lower number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cable {
    /// Switch and port.
    ends: [(u32, u32); 2],
    level: u32,
}

/// Where a cable leads from a switch port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The switch at the other end.
    pub switch: u32,
    /// The level of both links, from 1.
    pub level: u32,
}

/// How switches are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// By their coordinates, the first growing fastest: "switch 3,0,2".
    Coordinates(Vec<u32>),
    /// By group, each with this many switches, and number within it: "switch 7.2".
    Groups(u32),
    /// By their own names: "switch leaf-3".
    Given(Vec<String>),
}

/// The lists; see the module essay. Cheap to share, not to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cabling {
    nodes: u32,
    rails: u32,
    /// By position on a rail: its switch, and the port there.
    seats: Vec<(u32, u32)>,
    /// A rail's cables.
    cables: Vec<Cable>,
    /// By switch on a rail: its first entry in `ports`; one entry more.
    first_port: Vec<u32>,
    /// By port: the link, as if there were one rail.
    ports: Vec<u32>,
    /// By level: the printed ways of the links up and down.
    ways: Vec<[String; 2]>,
    classes: u32,
    names: Names,
}

/// The parts of a [`Cabling`].
pub struct Parts<'a> {
    /// The kind's noun, for messages.
    pub noun: &'a str,
    /// By position: its switch's number.
    pub seats: Vec<u32>,
    /// By switch: where the ports behind the node ports lead. The first of several cables between
    /// two switches is the first at both ends, and so on.
    pub peers: Vec<Vec<Peer>>,
    /// Attached nodes.
    pub nodes: u32,
    /// By level, from 1: the printed ways of the links up and down.
    pub ways: Vec<[String; 2]>,
    /// Channel classes that the routing needs.
    pub classes: u32,
    /// Switch names.
    pub names: Names,
}

impl Cabling {
    /// A network's rail.
    ///
    /// # Errors
    /// If there are too many nodes for the positions.
    ///
    /// # Panics
    /// If a cable has one end, or a switch more than 2048 ports.
    pub fn new(parts: Parts<'_>) -> Result<Self, TopologyError> {
        let Parts { noun, nodes, .. } = parts;
        let positions = parts.seats.len() as u64;
        if !(1..=positions).contains(&nodes.into()) {
            let message = format!("{nodes} nodes do not fit: the {noun} holds 1 to {positions}");
            let allowed = format!("1 to {positions}");
            return Err(TopologyError::new("nodes", message, allowed));
        }
        let switches = parts.peers.len();
        let mut ports: Vec<Vec<u32>> = vec![Vec::new(); switches];
        let mut seats = Vec::with_capacity(parts.seats.len());
        for (place, &switch) in (0..).zip(&parts.seats) {
            let own = &mut ports[switch as usize];
            seats.push((switch, own.len() as u32));
            own.push(positions as u32 + place);
        }
        let mut cables: Vec<Cable> = Vec::new();
        // Cables with one end, by their switches.
        let mut open: BTreeMap<(u32, u32), VecDeque<usize>> = BTreeMap::new();
        for (switch, peers) in (0..).zip(&parts.peers) {
            for peer in peers {
                let own = &mut ports[switch as usize];
                let end = (switch, own.len() as u32);
                let (cable, up) = if switch < peer.switch {
                    let far = (peer.switch, 0);
                    let cable = Cable {
                        ends: [end, far],
                        level: peer.level,
                    };
                    cables.push(cable);
                    let pair = open.entry((switch, peer.switch)).or_default();
                    pair.push_back(cables.len() - 1);
                    (cables.len() - 1, true)
                } else {
                    let pair = open.get_mut(&(peer.switch, switch));
                    let cable = pair.and_then(VecDeque::pop_front);
                    let cable = cable.expect("a cable has two ends");
                    cables[cable].ends[1] = end;
                    (cable, false)
                };
                own.push((2 * positions) as u32 + 2 * cable as u32 + u32::from(!up));
            }
        }
        assert!(
            open.values().all(VecDeque::is_empty),
            "a cable has two ends"
        );
        let widest = ports.iter().map(Vec::len).max().unwrap_or(0);
        assert!(
            widest <= 2 * MAX_ARITY as usize,
            "the kind bounds its ports"
        );
        let mut first_port = vec![0];
        for own in &ports {
            first_port.push(first_port[first_port.len() - 1] + own.len() as u32);
        }
        let mut ways = vec![["from the nodes".to_string(), "to the nodes".to_string()]];
        ways.extend(parts.ways);
        Ok(Cabling {
            nodes,
            rails: 1,
            seats,
            cables,
            first_port,
            ports: ports.concat(),
            ways,
            classes: parts.classes,
            names: parts.names,
        })
    }

    /// This network on several rails: equal networks side by side.
    ///
    /// # Errors
    /// If there are no rails, or too many, or too many links in all.
    pub fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        let rails = self.rails * rails;
        if !(1..=MAX_RAILS).contains(&rails) {
            return Err(TopologyError::of_rails(rails));
        }
        let found = 2 * u64::from(rails) * (self.seats.len() + self.cables.len()) as u64;
        if found > MAX_PARTS {
            let message = format!("the rails have {found} links; the most is {MAX_PARTS}");
            return Err(TopologyError::new("rails", message, "").hint("take fewer rails"));
        }
        Ok(Cabling {
            rails,
            ..self.clone()
        })
    }

    /// Checks the node and link counts that a kind would have, before listing them.
    ///
    /// # Errors
    /// If there are too many.
    pub fn check_size(
        noun: &str,
        key: &str,
        positions: u64,
        ports: u64,
    ) -> Result<(), TopologyError> {
        if positions > MAX_NODES {
            let message =
                format!("the {noun} has {positions} node positions; the most is {MAX_NODES}");
            let allowed = format!("numbers whose product is at most {MAX_NODES}");
            return Err(TopologyError::new(key, message, allowed));
        }
        let links = positions.saturating_mul(2).saturating_add(ports);
        if links > MAX_PARTS {
            let message = format!("the {noun} has {links} links; the most is {MAX_PARTS}");
            return Err(TopologyError::new(key, message, "").hint("take smaller numbers"));
        }
        Ok(())
    }

    /// The links on a cable between switches, both directions on all rails. A rail's cables are
    /// numbered by their lower switch, then by the higher one.
    pub fn links_of(&self, cable: u32) -> impl Iterator<Item = LinkId> {
        let (first, inner) = (2 * self.places(), self.inner());
        let rails = (0..self.rails).map(move |rail| first + rail * inner + 2 * cable);
        rails.flat_map(|up| [up, up + 1]).map(LinkId::new)
    }

    /// Switches on a rail.
    pub(super) fn switches_of_a_rail(&self) -> u32 {
        self.first_port.len() as u32 - 1
    }

    /// The links between switches on a rail.
    fn inner(&self) -> u32 {
        2 * self.cables.len() as u32
    }

    /// Where a link between switches is: its rail and its cable.
    fn locate(&self, link: LinkId) -> Option<(u32, &Cable)> {
        let number = link.get().checked_sub(2 * self.places())?;
        let (rail, number) = (number / self.inner(), number % self.inner());
        Some((rail, &self.cables[number as usize / 2]))
    }
}

impl Wiring for Cabling {
    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn rails(&self) -> u32 {
        self.rails
    }

    fn positions(&self) -> u32 {
        self.seats.len() as u32
    }

    fn switches(&self) -> u32 {
        self.switches_of_a_rail() * self.rails
    }

    fn links(&self) -> u32 {
        2 * self.places() + self.inner() * self.rails
    }

    fn levels(&self) -> usize {
        self.ways.len()
    }

    fn classes(&self) -> u32 {
        self.classes
    }

    fn link_level(&self, link: LinkId) -> usize {
        self.locate(link)
            .map_or(0, |(_, cable)| cable.level as usize)
    }

    fn switch_level(&self, _switch: SwitchId) -> usize {
        1
    }

    fn is_up(&self, link: LinkId) -> bool {
        // Each rail has an even inner link count.
        match link.get().checked_sub(2 * self.places()) {
            Some(inner) => inner.is_multiple_of(2),
            None => link.get() < self.places(),
        }
    }

    fn way(&self, link: LinkId) -> String {
        self.ways[self.link_level(link)][usize::from(!self.is_up(link))].clone()
    }

    fn ends(&self, link: LinkId) -> (End, End) {
        let end = |rail: u32, (switch, port): (u32, u32)| End::Switch {
            switch: SwitchId::new(rail * self.switches_of_a_rail() + switch),
            port,
        };
        let (low, high) = if let Some((rail, cable)) = self.locate(link) {
            let [low, high] = cable.ends.map(|place| end(rail, place));
            (low, high)
        } else {
            let place = link.get() % self.places();
            let (rail, position) = (place / self.positions(), place % self.positions());
            let switch = end(rail, self.seats[position as usize]);
            (End::Node(Place::new(place)), switch)
        };
        if self.is_up(link) {
            (low, high)
        } else {
            (high, low)
        }
    }

    fn reverse(&self, link: LinkId) -> LinkId {
        match self.ends(link) {
            (End::Node(place), _) => self.ejection(place),
            (_, End::Node(place)) => self.injection(place),
            (_, End::Switch { switch, port }) => self.output(switch, port),
        }
    }

    fn ports(&self, switch: SwitchId) -> u32 {
        let own = (switch.get() % self.switches_of_a_rail()) as usize;
        self.first_port[own + 1] - self.first_port[own]
    }

    fn output(&self, switch: SwitchId, port: u32) -> LinkId {
        let (rail, own) = (
            switch.get() / self.switches_of_a_rail(),
            switch.get() % self.switches_of_a_rail(),
        );
        let link = self.ports[(self.first_port[own as usize] + port) as usize];
        let positions = self.positions();
        LinkId::new(match link.checked_sub(2 * positions) {
            // The links to all places come behind those from all places.
            None => self.places() + rail * positions + (link - positions),
            Some(inner) => 2 * self.places() + rail * self.inner() + inner,
        })
    }

    fn name_on_rail(&self, switch: SwitchId) -> String {
        let number = switch.get() % self.switches_of_a_rail();
        match &self.names {
            Names::Coordinates(sizes) => {
                let mut rest = number;
                let coordinate = |size: &u32| {
                    let at = rest % size;
                    rest /= size;
                    at.to_string()
                };
                let coordinates: Vec<String> = sizes.iter().map(coordinate).collect();
                format!("switch {}", coordinates.join(","))
            }
            Names::Groups(size) => format!("switch {}.{}", number / size, number % size),
            Names::Given(names) => format!("switch {}", names[number as usize]),
        }
    }

    fn rail_of(&self, switch: SwitchId) -> Rail {
        Rail::new(switch.get() / self.switches_of_a_rail())
    }
}
