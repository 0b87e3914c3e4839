//! Graphs as text: the value for `topology.cables`.
//!
//! A line is one of these; words are separated by blanks or commas, and a `#` begins a comment:
//!
//! ```text
//! switch NAME         a switch
//! node NAME           a node; with `forward=yes`, packets between other nodes may pass through it
//! NAME NAME           a cable between two switches, or between a node and its switch
//! ```
//!
//! A cable's two ends may be followed by `rate=RATE` and `delay=TIME`, as in
//! `leaf0 spine1 rate=25Gb/s delay=800ns`: see `links`.
//!
//! A node has one cable, to a switch. A node that forwards has any number of cables, to switches
//! and to nodes: behind its adapter it has its own switch, with the same name. Nodes that are
//! joined to other nodes forward.
//!
//! Nodes are numbered in the order of their lines. A text without nodes is a plain list of edges
//! between switches, which need no separate lines; `topology.terminals` then gives the node count
//! of each switch, in the order in which the names come first. In a text with nodes each name has
//! its own line, so that a misspelt name is an error.

mod words;

pub(crate) use words::{Words, cables};

use fabric::TopologyError;
use fabric::topology::MAX_NODES;
use fabric::topology::graph::Plan;
use std::collections::BTreeMap;
use std::fmt::Write;
use words::{forwards, has_words};

/// A text's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphMistake {
    /// The line, from 1; `None` if the whole text is wrong.
    pub line: Option<usize>,
    /// The mistake.
    pub message: String,
}

impl GraphMistake {
    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        GraphMistake {
            line: Some(line),
            message: message.into(),
        }
    }

    /// The same as a key's error.
    pub(crate) fn error(self, key: &str) -> TopologyError {
        let line = self
            .line
            .map_or(String::new(), |line| format!("line {line}: "));
        TopologyError::new(key, format!("{line}{}", self.message), "")
    }
}

/// A text's mistake that does not depend on the machine file's other graph keys.
pub fn graph_mistake(text: &str) -> Option<GraphMistake> {
    let whole = |message: String| GraphMistake {
        line: None,
        message,
    };
    let mut graph = match Graph::read(text) {
        Ok(graph) => graph,
        Err(mistake) => return Some(mistake),
    };
    if graph.nodes.is_empty() {
        // Another key gives the nodes per switch.
        graph.plan.seats = vec![0];
    }
    let checked = fabric::Graph::new(&graph.plan, 1);
    checked.err().map(|error| whole(error.message))
}

/// A name's meaning: its number among the switches or nodes, and the line where it comes first.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Switch(u32),
    Node(usize),
}

/// A text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    /// The switches, nodes and cables, without roots.
    pub plan: Plan,
    /// The words of the plan's cables.
    pub cable_words: Vec<Words>,
    /// The words of the nodes' cables.
    pub seat_words: Vec<Words>,
    /// By node: its own switch, if other nodes' packets pass through it. These switches are the
    /// last ones, and have the nodes' names.
    own: Vec<Option<u32>>,
    /// The nodes' names; empty if the text has no nodes.
    nodes: Vec<String>,
}

/// A cable as it is listed.
struct Cable {
    line: usize,
    ends: [Part; 2],
    words: Words,
}

/// A text's names.
struct Names<'a> {
    /// The switches.
    plan: Plan,
    nodes: Vec<String>,
    /// By node: whether it forwards, according to its line.
    forwards: Vec<Option<bool>>,
    /// Each name's meaning, and the line where it comes first.
    parts: BTreeMap<&'a str, (Part, usize)>,
}

impl<'a> Names<'a> {
    /// The lines for switches and nodes.
    fn read(text: &'a str) -> Result<Self, GraphMistake> {
        let mut names = Names {
            plan: Plan::default(),
            nodes: Vec::new(),
            forwards: Vec::new(),
            parts: BTreeMap::new(),
        };
        for (line, words) in statements(text) {
            let part = match words[..] {
                ["switch", _] => Part::Switch(names.plan.switches.len() as u32),
                ["node", _, ..] if has_words(&words) => Part::Node(names.nodes.len()),
                [first, _, ..] if !matches!(first, "switch" | "node") && has_words(&words) => {
                    continue;
                }
                _ => {
                    let message = format!(
                        "{} words are no line of a graph: write `switch NAME`, `node NAME`, or the \
                        two ends of a cable",
                        words.len()
                    );
                    return Err(GraphMistake::at(line, message));
                }
            };
            let name = words[1];
            if let Some((_, first)) = names.parts.insert(name, (part, line)) {
                let message = format!("the name `{name}` is taken: line {first} has it");
                return Err(GraphMistake::at(line, message));
            }
            match part {
                Part::Switch(_) => names.plan.switches.push(name.to_string()),
                Part::Node(_) => {
                    names.nodes.push(name.to_string());
                    names.forwards.push(forwards(line, &words[2..])?);
                }
            }
        }
        Ok(names)
    }

    /// The lines for cables.
    fn cables(&mut self, text: &'a str) -> Result<Vec<Cable>, GraphMistake> {
        let mut cables = Vec::new();
        for (line, words) in statements(text) {
            let (&[a, b, ref words @ ..], false) =
                (&words[..], matches!(words[0], "switch" | "node"))
            else {
                continue;
            };
            let words = Words::read(line, words)?;
            if a == b {
                return Err(GraphMistake::at(
                    line,
                    format!("a cable joins `{a}` to itself"),
                ));
            }
            let ends = [self.end(a, line)?, self.end(b, line)?];
            cables.push(Cable { line, ends, words });
        }
        Ok(cables)
    }

    /// A cable's end.
    fn end(&mut self, name: &'a str, line: usize) -> Result<Part, GraphMistake> {
        match self.parts.get(name) {
            Some(&(part, _)) => Ok(part),
            // A plain edge list.
            None if self.nodes.is_empty() => {
                let part = Part::Switch(self.plan.switches.len() as u32);
                self.plan.switches.push(name.to_string());
                self.parts.insert(name, (part, line));
                Ok(part)
            }
            None => {
                let message = format!(
                    "there is no node and no switch `{name}`: a line `switch {name}` or `node \
                    {name}` is missing, or the name is misspelt"
                );
                Err(GraphMistake::at(line, message))
            }
        }
    }

    /// Gives forwarding nodes their own switches: those marked so, and those that are joined to
    /// another node.
    fn own_switches(&mut self, cables: &[Cable]) -> Result<Vec<Option<u32>>, GraphMistake> {
        let mut lines: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut joined = vec![false; self.nodes.len()];
        for cable in cables {
            let beside = matches!(cable.ends, [Part::Node(_), Part::Node(_)]);
            for end in cable.ends {
                if let Part::Node(node) = end {
                    lines[node].push(cable.line);
                    joined[node] |= beside;
                }
            }
        }
        let mut own = Vec::new();
        for (node, name) in self.nodes.iter().enumerate() {
            let forwards = self.forwards[node];
            if let [first, second, ..] = lines[node][..]
                && !forwards.unwrap_or(joined[node])
            {
                let message = format!(
                    "node `{name}` has several cables, another one in line {first}: a node has \
                    one, or passes on packets of others: `node {name} forward=yes`"
                );
                return Err(GraphMistake::at(second, message));
            }
            own.push((joined[node] || forwards == Some(true)).then(|| {
                self.plan.switches.push(name.clone());
                self.plan.switches.len() as u32 - 1
            }));
        }
        Ok(own)
    }
}

/// A text's statements with their lines.
pub(crate) fn statements(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    (1..).zip(text.lines()).filter_map(|(line, text)| {
        let text = text.split('#').next().unwrap_or_default();
        let words = text.split(|c: char| c.is_whitespace() || c == ',');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then_some((line, words))
    })
}

impl Graph {
    /// Reads a text.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(text: &str) -> Result<Self, GraphMistake> {
        let mut names = Names::read(text)?;
        let cables = names.cables(text)?;
        let own = names.own_switches(&cables)?;
        let Names {
            nodes,
            mut plan,
            parts,
            ..
        } = names;
        let mut seats: Vec<Option<u32>> = own.clone();
        let mut seat_words = vec![Words::default(); nodes.len()];
        let mut cable_words = Vec::new();
        for Cable { ends, words, .. } in cables {
            let switch = |part| match part {
                Part::Switch(switch) => Some(switch),
                Part::Node(node) => own[node],
            };
            match (ends.map(switch), ends) {
                ([Some(a), Some(b)], _) => {
                    plan.cables.push((a, b));
                    cable_words.push(words);
                }
                ([seat, None], [_, Part::Node(node)]) | ([None, seat], [Part::Node(node), _]) => {
                    seats[node] = seat;
                    seat_words[node] = words;
                }
                _ => unreachable!("a node without a switch of its own is joined to a switch"),
            }
        }
        for (node, seat) in nodes.iter().zip(seats) {
            let Some(switch) = seat else {
                let (_, line) = parts[node.as_str()];
                return Err(GraphMistake::at(
                    line,
                    format!("node `{node}` has no cable"),
                ));
            };
            plan.seats.push(switch);
        }
        Ok(Graph {
            plan,
            cable_words,
            seat_words,
            own,
            nodes,
        })
    }

    /// The switch behind a node's adapter, if the node has its own.
    pub fn own(&self, node: usize) -> Option<u32> {
        self.own[node]
    }

    /// The nodes' names; an empty list if the text has no nodes.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The switches and nodes by their names.
    pub fn parts(&self) -> BTreeMap<&str, Part> {
        let switches = (0..).zip(&self.plan.switches);
        let switches = switches.map(|(number, name)| (name.as_str(), Part::Switch(number)));
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.map(|(number, name)| (name.as_str(), Part::Node(number)));
        switches.chain(nodes).collect()
    }

    /// The graph's parts, with the given node counts per switch if the text has no nodes.
    ///
    /// # Errors
    /// If not exactly one of the text and the number gives the nodes' places, or if a root is not a
    /// switch.
    pub fn plan(mut self, terminals: Option<u32>, roots: &[String]) -> Result<Plan, TopologyError> {
        let wrong =
            |key: &str, message: &str| Err(TopologyError::new(key, message.to_string(), ""));
        match (self.nodes.is_empty(), terminals) {
            (true, Some(terminals)) => {
                let switches = 0..self.plan.switches.len() as u32;
                let seats = switches.flat_map(|switch| (0..terminals).map(move |_| switch));
                // More than a network may have is enough to be refused.
                self.plan.seats = seats.take(1 + MAX_NODES as usize).collect();
            }
            (true, None) => {
                let message = "the graph has no nodes of its own: topology.terminals must say how \
                    many \
                    nodes each switch has";
                return wrong("kind", message);
            }
            (false, Some(_)) => {
                let message =
                    "the graph has nodes of its own, and no number of nodes for each switch";
                return wrong("terminals", message);
            }
            (false, None) => {}
        }
        for (entry, root) in roots.iter().enumerate() {
            let number = self.plan.switches.iter().position(|name| name == root);
            let Some(number) = number else {
                let message = format!("the graph has no switch `{root}`");
                return wrong(&format!("roots.{entry}"), &message);
            };
            self.plan.roots.push(number as u32);
        }
        Ok(self.plan)
    }

    /// The same graph as the shortest text, without comments: the part that decides results.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        let plan = &self.plan;
        let own = self.own.iter().flatten().count();
        for name in &plan.switches[..plan.switches.len() - own] {
            let _ = writeln!(text, "switch {name}");
        }
        for (name, own) in self.nodes.iter().zip(&self.own) {
            let forward = if own.is_some() { " forward=yes" } else { "" };
            let _ = writeln!(text, "node {name}{forward}");
        }
        let switch = |number: u32| &plan.switches[number as usize];
        let seats = self.nodes.iter().zip(&plan.seats);
        for (((name, &seat), words), own) in seats.zip(&self.seat_words).zip(&self.own) {
            if own.is_none() {
                let _ = writeln!(text, "{name} {}{words}", switch(seat));
            }
        }
        for (&(a, b), words) in plan.cables.iter().zip(&self.cable_words) {
            let _ = writeln!(text, "{} {}{words}", switch(a), switch(b));
        }
        text
    }
}

#[cfg(test)]
mod tests;
