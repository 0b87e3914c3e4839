//! Graphs as text: the value of `topology.cables`.
//!
//! A line is one of these; words are separated by blanks or commas, and a `#` begins a comment:
//!
//! ```text
//! switch NAME         a switch
//! node NAME           a node
//! NAME NAME           a cable between two switches, or between a node and its switch
//! ```
//!
//! Nodes are numbered in the order of their lines. A text without nodes is a plain list of edges between switches, which need no
//! lines of their own; `topology.terminals` then says how many nodes each switch has, switch by switch in the order in which
//! the names come first. In a text with nodes all names have lines of their own, so that a misspelt name is an error.

use fabric::TopologyError;
use fabric::topology::MAX_NODES;
use fabric::topology::graph::Plan;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphMistake {
    /// The line, from 1; none if the whole text is wrong.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl GraphMistake {
    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        GraphMistake {
            line: Some(line),
            message: message.into(),
        }
    }

    /// The same as the error of a key.
    pub(crate) fn error(self, key: &str) -> TopologyError {
        let line = self
            .line
            .map_or(String::new(), |line| format!("line {line}: "));
        TopologyError::new(key, format!("{line}{}", self.message), "")
    }
}

/// What is wrong with a text, whatever else a machine file says of the graph.
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
        // How many nodes each switch has is said elsewhere.
        graph.plan.seats = vec![0];
    }
    let checked = fabric::Graph::new(&graph.plan, 1);
    checked.err().map(|error| whole(error.message))
}

/// What a name means: its number among the switches or nodes, and the line where it comes first.
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
    /// The nodes' names; none if the text has no nodes.
    nodes: Vec<String>,
}

/// The statements of a text with their lines.
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
        let mut plan = Plan::default();
        let mut parts: BTreeMap<&str, (Part, usize)> = BTreeMap::new();
        let mut nodes: Vec<String> = Vec::new();
        for (line, words) in statements(text) {
            let part = match words[..] {
                ["switch", _] => Part::Switch(plan.switches.len() as u32),
                ["node", _] => Part::Node(nodes.len()),
                [_, _] => continue,
                _ => {
                    let message = format!(
                        "{} words are no line of a graph: write `switch NAME`, `node NAME`, or the two ends of a cable",
                        words.len()
                    );
                    return Err(GraphMistake::at(line, message));
                }
            };
            let name = words[1];
            if let Some((_, first)) = parts.insert(name, (part, line)) {
                let message = format!("the name `{name}` is taken: line {first} has it");
                return Err(GraphMistake::at(line, message));
            }
            match part {
                Part::Switch(_) => plan.switches.push(name.to_string()),
                Part::Node(_) => nodes.push(name.to_string()),
            }
        }
        let mut seats: Vec<Option<(u32, usize)>> = vec![None; nodes.len()];
        for (line, words) in statements(text) {
            let (&[a, b], false) = (&words[..], matches!(words[0], "switch" | "node")) else {
                continue;
            };
            if a == b {
                return Err(GraphMistake::at(
                    line,
                    format!("a cable joins `{a}` to itself"),
                ));
            }
            let mut ends = [Part::Switch(0); 2];
            for (end, name) in ends.iter_mut().zip([a, b]) {
                *end = match parts.get(name) {
                    Some(&(part, _)) => part,
                    // A plain list of edges.
                    None if nodes.is_empty() => {
                        let part = Part::Switch(plan.switches.len() as u32);
                        plan.switches.push(name.to_string());
                        parts.insert(name, (part, line));
                        part
                    }
                    None => {
                        let message = format!(
                            "there is no node and no switch `{name}`: a line `switch {name}` or `node {name}` is missing, or the name is misspelt"
                        );
                        return Err(GraphMistake::at(line, message));
                    }
                };
            }
            match ends {
                [Part::Switch(a), Part::Switch(b)] => plan.cables.push((a, b)),
                [Part::Node(node), Part::Switch(switch)]
                | [Part::Switch(switch), Part::Node(node)] => {
                    if let Some((_, first)) = seats[node].replace((switch, line)) {
                        let message = format!(
                            "node `{}` has several cables, another one in line {first}: a node has one",
                            nodes[node]
                        );
                        return Err(GraphMistake::at(line, message));
                    }
                }
                [Part::Node(_), Part::Node(_)] => {
                    let message = format!(
                        "a cable joins the nodes `{a}` and `{b}`: a node is joined to a switch"
                    );
                    return Err(GraphMistake::at(line, message));
                }
            }
        }
        for (node, seat) in nodes.iter().zip(seats) {
            let Some((switch, _)) = seat else {
                let (_, line) = parts[node.as_str()];
                return Err(GraphMistake::at(
                    line,
                    format!("node `{node}` has no cable"),
                ));
            };
            plan.seats.push(switch);
        }
        Ok(Graph { plan, nodes })
    }

    /// The names of the nodes; none if the text has no nodes.
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

    /// What the graph is made of, where each switch has so many nodes if the text has no nodes.
    ///
    /// # Errors
    /// If both the text and the number say where nodes are, or neither; or if a root is no switch.
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
                let message = "the graph has no nodes of its own: topology.terminals must say how many nodes each switch has";
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

    /// The same graph as the shortest text, without comments: what decides results.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        let plan = &self.plan;
        for name in &plan.switches {
            let _ = writeln!(text, "switch {name}");
        }
        for name in &self.nodes {
            let _ = writeln!(text, "node {name}");
        }
        let switch = |number: u32| &plan.switches[number as usize];
        for (name, &seat) in self.nodes.iter().zip(&plan.seats) {
            let _ = writeln!(text, "{name} {}", switch(seat));
        }
        for &(a, b) in &plan.cables {
            let _ = writeln!(text, "{} {}", switch(a), switch(b));
        }
        text
    }
}

#[cfg(test)]
mod tests;
