//! The section `[topology]` in machine files: how nodes and switches are joined. Each kind has its
//! own keys.

use crate::graph::Graph;
use crate::outside::{self, OutsideShape};
use crate::param::Param;
use crate::routes;
use derive::table;
use fabric::topology::MAX_ARITY;
use fabric::topology::{Arities, Family, Routes};
use fabric::{Dragonfly, FatTree, HyperX, Mesh, Misrouting, TopologyError, Torus, Ways};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How nodes and switches are joined. With `[rails]`, each rail has such a network.
#[table]
#[schemars(rename = "Topology")]
pub struct TopologySection {
    /// The network's kind; a fat tree with any number of levels and any arities if not given.
    pub kind: Option<Param<Kind>>,
    /// For a topology from outside: the name under which a program has registered it.
    pub name: Option<Param<String>>,
    /// Number of nodes, which are attached at the network's first positions.
    pub nodes: Param<u32>,
    /// For a tree: the number of switches or nodes below a switch at each level, from the nodes
    /// upwards; these are its down-links without parallel ones.
    pub down: Option<Param<Vec<u32>>>,
    /// For a tree: number of up-links per switch at each level but the top; fewer than `down` make
    /// a reduced tree.
    pub up: Option<Param<Vec<u32>>>,
    /// For a tree: the number of a switch's up-links that lead to the same parent, at each level
    /// but the top; 1 if not given. With up-links 4, parallel links 2 give a switch two parents,
    /// and these two links down to each of their children.
    pub parallel: Option<Param<Vec<u32>>>,
    /// For a tree: the leaves of a host's adapters; the same leaf if not given.
    pub wiring: Option<Param<HostWiring>>,
    /// For a tree with the wiring "rail-optimised": number of adapters per host. Each adapter is a
    /// node, with its own process; a host's adapters are consecutive nodes.
    pub adapters: Option<Param<u32>>,
    /// For a torus: number of switches per ring in each dimension. For a HyperX network: number of
    /// switches per row in each dimension. For a topology from outside: numbers with the meaning
    /// that its program gives them.
    pub dimensions: Option<Param<Vec<u32>>>,
    /// For a graph: the file with its nodes, switches and cables, relative to the machine file: an
    /// edge list, or GraphML with the suffix ".graphml". The cables are read with the machine file,
    /// and become `cables`.
    pub file: Option<Param<String>>,
    /// For a graph: its cables, if no file has them. Each line is "switch NAME", "node NAME", or
    /// the names of a cable's two ends; without nodes, `terminals` gives the nodes per switch.
    pub cables: Option<Param<String>>,
    /// For a graph: the switches from which all links lead down, which a packet never leaves
    /// upwards again; in a tree, the top switches. If not given, the switch that minimises the
    /// greatest distance to another one.
    pub roots: Option<Param<Vec<String>>>,
    /// For a graph: the file with its forwarding tables, relative to the machine file. The tables
    /// are read with the machine file, and become `routes`.
    pub routes_file: Option<Param<String>>,
    /// For a graph: its forwarding tables, if no file has them; up*/down* routing if not given.
    /// Each line is "SWITCH DESTINATION NEXT ...": at the switch, packets to the destination, a
    /// node or all nodes at a switch, continue to one of the next switches.
    pub routes: Option<Param<String>>,
    /// For a graph with forwarding tables: channel classes; 1 if not given. A packet takes another
    /// class on each link between switches, and the last one on all further links. Packets cannot
    /// wait for each other in a circle if there are as many classes as the longest way has such
    /// links.
    pub hop_classes: Option<Param<u32>>,
    /// For a torus: whether packets change to other channels where they cross a ring's wrap-around
    /// link; true if not given. Without this change, rings of five or more switches deadlock.
    pub datelines: Option<Param<bool>>,
    /// For a torus: whether each row's last switch is joined to the first one; true if not given.
    /// Without these wrap-around links the network is a mesh, which needs no datelines.
    pub wraparound: Option<Param<bool>>,
    /// For a dragonfly, a HyperX network, a graph without its own nodes, a family of graphs, or a
    /// topology from outside: number of node positions at each switch; in a Megafly at each leaf.
    pub terminals: Option<Param<u32>>,
    /// For a dragonfly: number of switches per group, each of which is joined to each other one.
    /// For a Megafly: number of leaves, and also of spines, per group; each spine is joined to each
    /// leaf.
    pub group: Option<Param<u32>>,
    /// For a dragonfly: number of links from each switch to other groups. For a Megafly: from each
    /// spine.
    pub global: Option<Param<u32>>,
    /// For a dragonfly or a Megafly: number of groups. A group's links to others, `group` times
    /// `global`, must be a multiple of `groups` - 1: the quotient is the number of links between
    /// every two groups.
    pub groups: Option<Param<u32>>,
    /// For a Slim Fly or a Polar Fly: the prime from which the graph is made.
    pub order: Option<Param<u32>>,
    /// For a Jellyfish or an Xpander: number of switches; for an Xpander a multiple of `degree` +
    /// 1.
    pub switches: Option<Param<u32>>,
    /// For a Jellyfish or an Xpander: number of links from each switch to others.
    pub degree: Option<Param<u32>>,
    /// For a Jellyfish or an Xpander: the seed for its random links; 0 if not given.
    pub seed: Option<Param<u32>>,
    /// For a Clos network: number of ports per switch.
    pub radix: Option<Param<u32>>,
    /// For a Clos network: number of switch levels, 2 or 3.
    pub levels: Option<Param<u32>>,
    /// For a Clos network: a leaf's node links for each of its up-links; 1 if not given. `radix`
    /// must be a multiple of this number and 1.
    pub oversubscription: Option<Param<u32>>,
    /// For a dragonfly, a HyperX network, a graph, a family of graphs or a topology from outside:
    /// the ways that packets take. A dragonfly needs 2 channels per link for minimal ways and 3 for
    /// others; a HyperX network needs 1 and 2. A graph without forwarding tables has up*/down*
    /// routing if not given, which needs 1; `elanite check` prints the number that other ways
    /// through graphs need.
    pub routing: Option<Param<Ways>>,
    /// For a graph or a family of graphs with the routing "k-shortest": the number of ways between
    /// two switches, k. Packets take any of the k shortest ways without a repeated switch.
    pub ways: Option<Param<u32>>,
}

/// Network kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A fat tree: keys `down`, `up`, `parallel`, `wiring` and `adapters`.
    #[default]
    FatTree,
    /// A torus with any dimensions, or a mesh: keys `dimensions`, `datelines` and `wraparound`.
    Torus,
    /// A dragonfly: keys `terminals`, `group`, `global`, `groups` and `routing`.
    Dragonfly,
    /// A HyperX network, such as a flattened butterfly: keys `dimensions`, `terminals` and
    /// `routing`.
    #[serde(rename = "hyperx")]
    HyperX,
    /// Any graph, with up*/down* routing, shortest ways or forwarding tables: keys `file` or
    /// `cables`, `terminals`, `routing`, `roots`, `routes_file` or `routes`, and `hop_classes`.
    /// `switch.ascent` chooses among its ways.
    Graph,
    /// A Slim Fly's graph, with a diameter of two links: keys `order`, `terminals` and `routing`.
    /// Like all families of graphs it is routed like a graph.
    SlimFly,
    /// A Polar Fly's graph, with a diameter of two links: keys `order`, `terminals` and `routing`.
    PolarFly,
    /// A random graph with equal degrees: keys `switches`, `degree`, `seed`, `terminals` and
    /// `routing`.
    Jellyfish,
    /// Switch groups with random matchings between each two: keys `switches`, `degree`, `seed`,
    /// `terminals` and `routing`.
    Xpander,
    /// A dragonfly with leaves below spines as groups, also Dragonfly+: keys `terminals`, `group`,
    /// `global`, `groups` and `routing`.
    Megafly,
    /// A folded Clos network with equal switches, a fat tree: keys `radix`, `levels` and
    /// `oversubscription`.
    Clos,
    /// A kind that your own program registers: keys `name` and, as the kind needs them,
    /// `dimensions`, `terminals` and `routing`.
    Outside,
}

/// The leaves of a host's adapters in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostWiring {
    /// At the same leaf, as far as the leaf has room: nodes in a row are neighbours.
    #[default]
    Plain,
    /// Each at its own leaf: adapter 0 of a pod's hosts at the pod's first leaf, adapter 1 at its
    /// second leaf, and so on.
    RailOptimised,
}

impl TopologySection {
    /// Whether a host's adapters are at separate leaves.
    pub(crate) fn is_rail_optimised(&self) -> bool {
        let wiring = self.wiring.as_ref();
        wiring.is_some_and(|wiring| wiring.value == HostWiring::RailOptimised)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
            .as_ref()
            .map_or(Kind::default(), |kind| kind.value)
    }

    /// Whether the network is a mesh: a torus without wrap-around links.
    pub(crate) fn is_mesh(&self) -> bool {
        let wraps = self.wraparound.as_ref().is_none_or(|wraps| wraps.value);
        self.kind() == Kind::Torus && !wraps
    }

    /// The same without other kinds' keys, except those that are to be kept.
    pub(crate) fn without_other_kinds(&self, kept: impl Fn(&str) -> bool) -> TopologySection {
        let kind = self.kind();
        let Ok(Value::Object(mut table)) = serde_json::to_value(self) else {
            panic!("a topology is a table");
        };
        for (key, _, of, _) in self.keys() {
            if !of.contains(&kind) && !kept(key) {
                table.remove(key);
            }
        }
        serde_json::from_value(Value::Object(table)).expect("the other keys are as they were")
    }

    /// A rail's network, if such a network can exist.
    pub(crate) fn of_a_rail(&self) -> Result<fabric::Topology, TopologyError> {
        let list = |list: &Option<Param<Vec<u32>>>| {
            list.as_ref().map_or(Vec::new(), |list| list.value.clone())
        };
        let number = |number: &Option<Param<u32>>| number.as_ref().map_or(0, |number| number.value);
        let ways = self.routing.as_ref().map(|ways| ways.value);
        let rule = || {
            let rule = ways.map_or(Some(Misrouting::Minimal), Ways::misrouting);
            rule.ok_or_else(|| {
                let routing = match ways {
                    Some(Ways::KShortest) => "list of the k shortest ways",
                    _ => "up*/down* routing",
                };
                let message = format!("a {} has no {routing}", self.noun());
                TopologyError::new("routing", message, "minimal, valiant, ugal-local")
            })
        };
        let nodes = self.nodes.value;
        match self.kind() {
            Kind::FatTree => {
                let (down, up) = (list(&self.down), list(&self.up));
                let tree = match &self.parallel {
                    Some(parallel) => {
                        FatTree::with_parallel_links(&down, &up, &parallel.value, nodes)
                    }
                    None => FatTree::new(&down, &up, nodes),
                };
                let tree = if self.is_rail_optimised() {
                    tree.and_then(|tree| tree.rail_optimised(number(&self.adapters)))
                } else {
                    tree
                };
                tree.map(fabric::Topology::from)
            }
            Kind::Torus if self.is_mesh() => {
                Mesh::new(&list(&self.dimensions), nodes).map(fabric::Topology::from)
            }
            Kind::Dragonfly => {
                let arities = Arities {
                    terminals: number(&self.terminals),
                    group: number(&self.group),
                    global: number(&self.global),
                    groups: number(&self.groups),
                };
                Dragonfly::new(arities, nodes, rule()?).map(fabric::Topology::from)
            }
            Kind::HyperX => {
                let (sizes, terminals) = (list(&self.dimensions), number(&self.terminals));
                HyperX::new(&sizes, terminals, nodes, rule()?).map(fabric::Topology::from)
            }
            Kind::Graph => {
                let text = self.cables.as_ref().map_or("", |cables| &cables.value);
                let graph = Graph::read(text).map_err(|mistake| mistake.error("cables"))?;
                let terminals = self.terminals.as_ref().map(|terminals| terminals.value);
                let roots = self.roots.as_ref().map_or(&[][..], |roots| &roots.value);
                let tables = self.routes(&graph)?;
                let mut plan = graph.plan(terminals, roots)?;
                (plan.ways, plan.alternatives) = self.ways(tables.is_some())?;
                let (routes, lines) = tables.unzip();
                plan.routes = routes;
                let graph = fabric::Graph::new(&plan, nodes);
                let graph = graph.map_err(|error| {
                    let mistake = routes::mistake(&error, &lines.unwrap_or_default());
                    mistake.map_or(error, |mistake| mistake.error("routes"))
                });
                graph.map(fabric::Topology::from)
            }
            Kind::Clos => {
                let (down, up) = self.clos()?;
                FatTree::new(&down, &up, nodes).map(fabric::Topology::from)
            }
            Kind::SlimFly | Kind::PolarFly | Kind::Jellyfish | Kind::Xpander | Kind::Megafly => {
                let terminals = number(&self.terminals);
                if !(1..=MAX_ARITY).contains(&terminals) {
                    let message = format!("{terminals} nodes of a switch are out of range");
                    let allowed = format!("1 to {MAX_ARITY}");
                    return Err(TopologyError::new("terminals", message, allowed));
                }
                let mut plan = self.family().plan(terminals)?;
                (plan.ways, plan.alternatives) = self.ways(false)?;
                fabric::Graph::new(&plan, nodes).map(fabric::Topology::from)
            }
            Kind::Outside => {
                let name = self.name.as_ref().map_or("", |name| &name.value);
                let shape = OutsideShape {
                    nodes,
                    dimensions: &list(&self.dimensions),
                    terminals: self.terminals.as_ref().map(|terminals| terminals.value),
                    routing: rule()?,
                };
                outside::build(name, shape)
            }
            Kind::Torus => {
                let datelines = self
                    .datelines
                    .as_ref()
                    .is_none_or(|datelines| datelines.value);
                Torus::new(&list(&self.dimensions), nodes, datelines).map(fabric::Topology::from)
            }
        }
    }

    /// A graph's forwarding tables, and each entry's line.
    fn routes(&self, graph: &Graph) -> Result<Option<(Routes, Vec<usize>)>, TopologyError> {
        let classes = self.hop_classes.as_ref().map(|classes| classes.value);
        match (&self.routes, classes) {
            (Some(text), classes) => routes::read(&text.value, graph, classes.unwrap_or(1))
                .map(Some)
                .map_err(|mistake| mistake.error("routes")),
            (None, Some(_)) => {
                let message = match self
                    .routing
                    .as_ref()
                    .map_or(Ways::UpDown, |ways| ways.value)
                {
                    Ways::UpDown => "up*/down* routing has no classes",
                    _ => "shortest ways have layers of their own",
                };
                let error = TopologyError::new("hop_classes", message.to_string(), "");
                Err(error.hint("remove it, or give forwarding tables: `routes` or `routes_file`"))
            }
            (None, None) => Ok(None),
        }
    }

    /// A member of a graph family.
    fn family(&self) -> Family {
        let number = |number: &Option<Param<u32>>| number.as_ref().map_or(0, |number| number.value);
        let (order, seed) = (number(&self.order), number(&self.seed).into());
        let (switches, degree) = (number(&self.switches), number(&self.degree));
        match self.kind() {
            Kind::SlimFly => Family::SlimFly { order },
            Kind::PolarFly => Family::PolarFly { order },
            Kind::Jellyfish => Family::Jellyfish {
                switches,
                degree,
                seed,
            },
            Kind::Xpander => Family::Xpander {
                switches,
                degree,
                seed,
            },
            _ => Family::Megafly {
                group: number(&self.group),
                global: number(&self.global),
                groups: number(&self.groups),
            },
        }
    }

    /// A Clos network's links down and up, like a fat tree's: the top has all ports down, the other
    /// levels above the leaves half of them.
    fn clos(&self) -> Result<(Vec<u32>, Vec<u32>), TopologyError> {
        let number = |number: &Option<Param<u32>>| number.as_ref().map_or(1, |number| number.value);
        let (radix, levels) = (number(&self.radix), number(&self.levels));
        let oversubscription = number(&self.oversubscription);
        let wrong =
            |key: &str, message: String, allowed| Err(TopologyError::new(key, message, allowed));
        if !(2..=MAX_ARITY).contains(&radix) || !radix.is_multiple_of(2) {
            let message = format!("{radix} ports of a switch are no even number in range");
            return wrong(
                "radix",
                message,
                format!("even numbers from 2 to {MAX_ARITY}"),
            );
        }
        let shares = oversubscription.saturating_add(1);
        if shares < 2 || !radix.is_multiple_of(shares) {
            let message = format!(
                "{radix} ports of a leaf are not shared out {oversubscription} to 1 between nodes \
                and links up"
            );
            let allowed = (1..radix).filter(|ratio| radix.is_multiple_of(ratio + 1));
            let allowed: Vec<String> = allowed.map(|ratio| ratio.to_string()).collect();
            return wrong("oversubscription", message, allowed.join(", "));
        }
        let up = radix / shares;
        match levels {
            2 => Ok((vec![radix - up, radix], vec![up])),
            3 => Ok((vec![radix - up, radix / 2, radix], vec![up, radix / 2])),
            _ => wrong(
                "levels",
                format!("a Clos network has 2 or 3 levels here, not {levels}"),
                "2 or 3".into(),
            ),
        }
    }

    /// Which ways packets take in a graph, which may have forwarding tables, and how many between
    /// two switches if they are listed.
    fn ways(&self, has_tables: bool) -> Result<(Ways, u32), TopologyError> {
        let wrong = |key, message: &str, hint| {
            Err(TopologyError::new(key, message.to_string(), "").hint(hint))
        };
        let ways = self.routing.as_ref().map(|ways| ways.value);
        if ways.is_some() && has_tables {
            let hint = "remove it, or the tables: `routes` or `routes_file`";
            return wrong("routing", "the forwarding tables are the routing", hint);
        }
        let ways = ways.unwrap_or_default();
        if ways != Ways::UpDown && self.roots.is_some() {
            let hint = "remove it, or set topology.routing to up-down";
            return wrong("roots", "only up*/down* routing has roots", hint);
        }
        let number = self.ways.as_ref().map(|ways| ways.value);
        match (ways, number) {
            (Ways::KShortest, None) => {
                let hint = "give topology.ways, such as 8: the ways between two switches";
                wrong(
                    "routing",
                    "the routing k-shortest needs a number of ways",
                    hint,
                )
            }
            (Ways::KShortest, Some(number)) => Ok((ways, number)),
            (_, Some(_)) => {
                let hint = "remove it, or set topology.routing to k-shortest";
                wrong(
                    "ways",
                    "only the routing k-shortest has a number of ways",
                    hint,
                )
            }
            (_, None) => Ok((ways, 0)),
        }
    }

    /// Gives a graph's cables and tables their shortest form, so that comments and blanks have no
    /// effect.
    pub(crate) fn tidy(&mut self) {
        if let Some(routes) = &mut self.routes {
            routes.value = routes::canonical(&routes.value);
        }
        if let Some(cables) = &mut self.cables
            && let Ok(graph) = Graph::read(&cables.value)
        {
            cables.value = graph.canonical();
        }
    }

    /// The kind's name for people.
    pub fn noun(&self) -> &'static str {
        match self.kind() {
            Kind::FatTree if self.is_rail_optimised() => "rail-optimised tree",
            Kind::FatTree => "tree",
            Kind::Torus if self.is_mesh() => "mesh",
            Kind::Torus => "torus",
            Kind::Dragonfly => "dragonfly",
            Kind::HyperX => "HyperX network",
            Kind::Graph => "graph",
            Kind::SlimFly => "Slim Fly",
            Kind::PolarFly => "PolarFly",
            Kind::Jellyfish => "Jellyfish",
            Kind::Xpander => "lift of a complete graph (Xpander)",
            Kind::Megafly => "Megafly",
            Kind::Clos => "Clos network",
            Kind::Outside => "topology from outside",
        }
    }

    /// Positions for nodes on a rail; 0 if such a network cannot exist.
    pub fn positions(&self) -> u32 {
        self.of_a_rail().map_or(0, |topology| topology.positions())
    }

    /// Link levels, each of which may have its own delay; `None` if a topology from outside cannot
    /// be built.
    pub(crate) fn levels(&self) -> Option<usize> {
        Some(match self.kind() {
            Kind::FatTree => self.down.as_ref().map_or(0, |down| down.value.len()),
            Kind::Dragonfly => 3,
            Kind::Graph
            | Kind::SlimFly
            | Kind::PolarFly
            | Kind::Jellyfish
            | Kind::Xpander
            | Kind::Megafly => 2,
            Kind::Clos => self
                .levels
                .as_ref()
                .map_or(0, |levels| levels.value as usize),
            Kind::Outside => return self.of_a_rail().ok().map(|topology| topology.levels()),
            Kind::Torus | Kind::HyperX => self
                .dimensions
                .as_ref()
                .map_or(1, |sizes| 1 + sizes.value.len()),
        })
    }

    /// The keys: whether each is given, the kinds that it belongs to, and whether these kinds need
    /// it.
    pub(crate) fn keys(&self) -> [(&'static str, bool, &'static [Kind], bool); 28] {
        use Kind::{
            Clos, Dragonfly, FatTree, Graph, HyperX, Jellyfish, Megafly, Outside, PolarFly,
            SlimFly, Torus, Xpander,
        };
        let (tree, torus, groups) = (&[FatTree][..], &[Torus][..], &[Dragonfly, Megafly][..]);
        let (algebraic, random) = (&[SlimFly, PolarFly][..], &[Jellyfish, Xpander][..]);
        let routed = &[
            Dragonfly, HyperX, Graph, Outside, SlimFly, PolarFly, Jellyfish, Xpander, Megafly,
        ][..];
        let graphs = &[Graph, SlimFly, PolarFly, Jellyfish, Xpander, Megafly][..];
        let is_ours = self.kind() != Outside;
        [
            ("name", self.name.is_some(), &[Outside], true),
            ("down", self.down.is_some(), tree, true),
            ("up", self.up.is_some(), tree, true),
            ("parallel", self.parallel.is_some(), tree, false),
            ("wiring", self.wiring.is_some(), tree, false),
            (
                "adapters",
                self.adapters.is_some(),
                tree,
                self.is_rail_optimised(),
            ),
            (
                "dimensions",
                self.dimensions.is_some(),
                &[Torus, HyperX, Outside],
                is_ours,
            ),
            ("datelines", self.datelines.is_some(), torus, false),
            ("wraparound", self.wraparound.is_some(), torus, false),
            ("file", self.file.is_some(), &[Graph], false),
            ("cables", self.cables.is_some(), &[Graph], true),
            ("roots", self.roots.is_some(), &[Graph], false),
            ("routes_file", self.routes_file.is_some(), &[Graph], false),
            ("routes", self.routes.is_some(), &[Graph], false),
            ("hop_classes", self.hop_classes.is_some(), &[Graph], false),
            (
                "terminals",
                self.terminals.is_some(),
                routed,
                is_ours && self.kind() != Graph,
            ),
            ("group", self.group.is_some(), groups, true),
            ("global", self.global.is_some(), groups, true),
            ("groups", self.groups.is_some(), groups, true),
            ("order", self.order.is_some(), algebraic, true),
            ("switches", self.switches.is_some(), random, true),
            ("degree", self.degree.is_some(), random, true),
            ("seed", self.seed.is_some(), random, false),
            ("radix", self.radix.is_some(), &[Clos], true),
            ("levels", self.levels.is_some(), &[Clos], true),
            (
                "oversubscription",
                self.oversubscription.is_some(),
                &[Clos],
                false,
            ),
            (
                "routing",
                self.routing.is_some(),
                routed,
                is_ours && self.kind() != Graph,
            ),
            ("ways", self.ways.is_some(), graphs, false),
        ]
    }
}
