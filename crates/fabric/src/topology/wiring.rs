//! The wiring: nodes, switches and links in any topology kind.

use crate::id::{LinkId, NodeId, Place, Rail, SwitchId};

/// A link's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A node's adapter.
    Node(Place),
    /// A switch's port.
    Switch {
        /// The switch.
        switch: SwitchId,
        /// The port: [`Wiring::output`] is the link that leaves there.
        port: u32,
    },
}

/// Nodes and switches, and the links that join them.
pub trait Wiring {
    /// Attached nodes, each to all rails.
    fn nodes(&self) -> u32;

    /// Rails: equal networks side by side.
    fn rails(&self) -> u32;

    /// Positions for nodes on a rail; the first [`Wiring::nodes`] are taken.
    fn positions(&self) -> u32;

    /// Switches on all rails.
    fn switches(&self) -> u32;

    /// Directed links on all rails, those at empty positions included.
    fn links(&self) -> u32;

    /// Link levels, which may differ in their delays. Level 0 joins nodes and switches.
    fn levels(&self) -> usize;

    /// Classes into which the routing divides a link's channels, within each traffic class; a
    /// traffic class has at least as many channels.
    fn classes(&self) -> u32 {
        1
    }

    /// A link's level.
    fn link_level(&self, link: LinkId) -> usize;

    /// A switch's level, from 1.
    fn switch_level(&self, switch: SwitchId) -> usize;

    /// Whether a link goes up: upwards in a tree, to higher coordinates in a torus; on level 0,
    /// from a node.
    fn is_up(&self, link: LinkId) -> bool;

    /// A link's printed way, such as "up from level 1 to level 2"; links with one level and
    /// direction have the same way.
    fn way(&self, link: LinkId) -> String;

    /// Where a link starts and where it ends.
    fn ends(&self, link: LinkId) -> (End, End);

    /// The link of the same pair in the other direction.
    fn reverse(&self, link: LinkId) -> LinkId;

    /// A switch's ports.
    fn ports(&self, switch: SwitchId) -> u32;

    /// The link that leaves a switch at a port.
    fn output(&self, switch: SwitchId, port: u32) -> LinkId;

    /// A switch's printed name, without its rail.
    fn name_on_rail(&self, switch: SwitchId) -> String;

    /// A switch's rail.
    fn rail_of(&self, switch: SwitchId) -> Rail;

    /// Places for adapters on all rails.
    fn places(&self) -> u32 {
        self.positions() * self.rails()
    }

    /// The place of a node on a rail.
    fn place(&self, rail: Rail, node: NodeId) -> Place {
        Place::new(rail.get() * self.positions() + node.get())
    }

    /// The rail and the node that a place belongs to.
    fn rail_and_node(&self, place: Place) -> (Rail, NodeId) {
        let (rail, node) = (
            place.get() / self.positions(),
            place.get() % self.positions(),
        );
        (Rail::new(rail), NodeId::new(node))
    }

    /// Whether two places, in ascending order, are on one rail, and nodes are attached at both and
    /// at all places between.
    fn are_attached(&self, first: Place, last: Place) -> bool {
        let positions = self.positions();
        let [(rail, first), (other, last)] =
            [first, last].map(|place| (place.get() / positions, place.get() % positions));
        rail == other && rail < self.rails() && first <= last && last < self.nodes()
    }

    /// The link from a place into the network.
    fn injection(&self, place: Place) -> LinkId {
        LinkId::new(place.get())
    }

    /// The link from the network to a place.
    fn ejection(&self, place: Place) -> LinkId {
        LinkId::new(self.places() + place.get())
    }

    /// A switch's printed name, as in "switch 2.13"; with several rails, "switch 2.13 of rail 1".
    fn switch_name(&self, switch: SwitchId) -> String {
        with_rail(
            self.name_on_rail(switch),
            self.rail_of(switch),
            self.rails(),
        )
    }

    /// The printed name for a link's end.
    fn end_name(&self, end: End) -> String {
        match end {
            End::Node(place) => {
                let (rail, node) = self.rail_and_node(place);
                with_rail(format!("node {node}"), rail, self.rails())
            }
            End::Switch { switch, .. } => self.switch_name(switch),
        }
    }
}

/// A part's name, with its rail if there are several rails.
fn with_rail(name: String, rail: Rail, rails: u32) -> String {
    if rails == 1 {
        name
    } else {
        format!("{name} of rail {rail}")
    }
}
