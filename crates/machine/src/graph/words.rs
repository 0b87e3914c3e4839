//! The words in graph lines: cable rates and delays, and whether a node forwards.

use super::{Graph, GraphMistake, statements};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;
use units::{Rate, Time};

/// A cable's words behind its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// The rate in both directions; the level's if not given.
    pub rate: Option<Rate>,
    /// The hop delay at full rate; the level's if not given.
    pub delay: Option<Time>,
}

impl Words {
    pub(super) fn read(line: usize, words: &[&str]) -> Result<Self, GraphMistake> {
        let mut read = Words::default();
        for &word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "rate" => Self::set(&mut read.rate, line, word, value)?,
                "delay" => Self::set(&mut read.delay, line, word, value)?,
                _ => {
                    let message = format!(
                        "`{word}` says nothing of a cable: write rate=25Gb/s or delay=800ns behind \
                        its two ends, without blanks"
                    );
                    return Err(GraphMistake::at(line, message));
                }
            }
        }
        Ok(read)
    }

    fn set<T: FromStr<Err: Display>>(
        place: &mut Option<T>,
        line: usize,
        word: &str,
        value: &str,
    ) -> Result<(), GraphMistake> {
        let value = value
            .parse::<T>()
            .map_err(|error| GraphMistake::at(line, format!("`{word}`: {error}")))?;
        if place.replace(value).is_some() {
            return Err(GraphMistake::at(line, format!("`{word}` comes twice")));
        }
        Ok(())
    }
}

impl Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = [
            self.rate.map(|rate| format!("rate={rate}")),
            self.delay.map(|delay| format!("delay={delay}")),
        ];
        for word in words.into_iter().flatten() {
            write!(f, " {}", word.replace(' ', ""))?;
        }
        Ok(())
    }
}

/// Whether the words behind a cable's two ends are valid.
pub(super) fn has_words(words: &[&str]) -> bool {
    words[2..].iter().all(|word| word.contains('='))
}

/// Whether a node's line makes it forward other nodes' packets; `None` if the line leaves this
/// open.
pub(super) fn forwards(line: usize, words: &[&str]) -> Result<Option<bool>, GraphMistake> {
    match words {
        [] => Ok(None),
        ["forward=yes"] => Ok(Some(true)),
        ["forward=no"] => Ok(Some(false)),
        [word, ..] => {
            let message = format!(
                "`{word}` says nothing of a node: write forward=yes or forward=no behind its name"
            );
            Err(GraphMistake::at(line, message))
        }
    }
}

/// A text's cables, each with its line, its level and its words.
pub(crate) fn cables(text: &str) -> Vec<(usize, usize, Words)> {
    let Ok(graph) = Graph::read(text) else {
        return Vec::new();
    };
    let nodes = graph.nodes().iter().enumerate();
    let seated = nodes.filter(|&(node, _)| graph.own(node).is_none());
    let nodes: BTreeSet<&str> = seated.map(|(_, name)| name.as_str()).collect();
    let cable = |(line, words): (usize, Vec<&str>)| {
        if matches!(words[0], "switch" | "node") {
            return None;
        }
        let level = usize::from(!words[..2].iter().any(|name| nodes.contains(name)));
        let words = Words::read(line, &words[2..]).ok()?;
        Some((line, level, words))
    };
    statements(text).filter_map(cable).collect()
}
