//! Forwarding tables as text: the value for `topology.routes`.
//!
//! A line is an entry; words are separated by blanks or commas, and a `#` begins a comment:
//!
//! ```text
//! SWITCH DESTINATION NEXT ...     a switch, a destination, and the possible next switches
//! ```
//!
//! A destination is a node, or a switch, which stands for all its nodes without their own entry.
//! [`fabric::topology::Routes`] defines when tables are complete.

use crate::graph::{Graph, GraphMistake, Part, statements};
use fabric::TopologyError;
use fabric::topology::Routes;
use fabric::topology::graph::{Entry, Target};
use std::fmt::Write;

/// The first mistake in tables for a graph, if the graph itself is valid.
pub fn routes_mistake(cables: &str, terminals: Option<u32>, routes: &str) -> Option<GraphMistake> {
    let graph = Graph::read(cables).ok()?;
    let (routes, lines) = match read(routes, &graph, 1) {
        Ok(read) => read,
        Err(mistake) => return Some(mistake),
    };
    let mut plan = graph.plan(terminals, &[]).ok()?;
    plan.routes = Some(routes);
    mistake(&fabric::Graph::new(&plan, 1).err()?, &lines)
}

/// Reads a graph's tables: the entries, each with its line.
///
/// # Errors
/// The first mistake.
pub(crate) fn read(
    text: &str,
    graph: &Graph,
    classes: u32,
) -> Result<(Routes, Vec<usize>), GraphMistake> {
    let parts = graph.parts();
    let (mut entries, mut lines) = (Vec::new(), Vec::new());
    for (line, words) in statements(text) {
        let wrong = |message: String| GraphMistake::at(line, message);
        let [at, to, next @ ..] = &words[..] else {
            return Err(wrong(short(words.len())));
        };
        if next.is_empty() {
            return Err(wrong(short(words.len())));
        }
        let part = |name: &str| {
            parts.get(name).copied().ok_or_else(|| {
                wrong(format!(
                    "the entry of `{at}` for `{to}` names `{name}`, which is no node and no switch \
                    of the graph: correct the name, or \
                     add it to the graph"
                ))
            })
        };
        let ends = |name: &str| {
            wrong(format!(
                "the entry of `{at}` for `{to}` names the node `{name}`, which forwards no \
                packets: name a switch"
            ))
        };
        let switch = |name: &str| match part(name)? {
            Part::Switch(number) => Ok(number),
            Part::Node(node) => graph.own(node).ok_or_else(|| ends(name)),
        };
        let next = next.iter().map(|name| switch(name));
        entries.push(Entry {
            at: switch(at)?,
            to: match part(to)? {
                Part::Switch(number) => Target::Switch(number),
                Part::Node(number) => Target::Node(number as u32),
            },
            next: next.collect::<Result<_, _>>()?,
        });
        lines.push(line);
    }
    let nodes = graph.nodes().to_vec();
    let routes = Routes {
        entries,
        classes,
        nodes,
    };
    Ok((routes, lines))
}

fn short(words: usize) -> String {
    format!(
        "{words} words are no entry of a table: write a switch, a destination, and one or more \
        next switches"
    )
}

/// The mistake in tables, if a graph error is about these.
pub(crate) fn mistake(error: &TopologyError, lines: &[usize]) -> Option<GraphMistake> {
    let entry = error.key.strip_prefix("routes")?;
    let line = entry
        .strip_prefix('.')
        .and_then(|entry| lines.get(entry.parse::<usize>().ok()?));
    let hint = if error.hint.is_empty() {
        String::new()
    } else {
        format!("; {}", error.hint)
    };
    Some(GraphMistake {
        line: line.copied(),
        message: format!("{error}{hint}"),
    })
}

/// The same tables as the shortest text, without comments: the part that decides results.
pub(crate) fn canonical(text: &str) -> String {
    let lines = statements(text).map(|(_, words)| words.join(" "));
    lines.fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}

#[cfg(test)]
mod tests;
