//! Node sets as people write them: `16` (the first sixteen), `"48-63"`, `"0-63:8"` (every eighth
//! node), `"0, 4-7"`, `"0-63 except 0-63:8"` (all nodes but these).

use elan::NodeId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// More nodes than any machine has.
pub(crate) const MOST_NODES: u32 = 1 << 20;

/// A node set, and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSet {
    written: NodesForm,
    parts: Vec<Range>,
    except: Vec<Range>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NodesForm {
    Count(u32),
    Text(String),
}

/// Every `step`-th node from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u32,
    last: u32,
    step: u32,
}

impl Range {
    fn contains(self, node: u32) -> bool {
        (self.first..=self.last).contains(&node) && (node - self.first).is_multiple_of(self.step)
    }
}

impl NodeSet {
    /// The first `count` nodes.
    pub fn first(count: u32) -> Self {
        let all = count.checked_sub(1).map(|last| Range {
            first: 0,
            last,
            step: 1,
        });
        NodeSet {
            written: NodesForm::Count(count),
            parts: all.into_iter().collect(),
            except: Vec::new(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (parts, except) = match text.split_once("except") {
            Some((parts, except)) => (parts, ranges(except)?),
            None => (text, Vec::new()),
        };
        Some(NodeSet {
            written: NodesForm::Text(text.trim().to_string()),
            parts: ranges(parts)?,
            except,
        })
    }

    /// The node count, if the set was written as a number.
    pub fn written_as_count(&self) -> Option<u32> {
        match self.written {
            NodesForm::Count(count) => Some(count),
            NodesForm::Text(_) => None,
        }
    }

    /// The highest node number in the set, or a higher one; `None` if the set is empty.
    pub fn highest(&self) -> Option<u32> {
        self.parts.iter().map(|range| range.last).max()
    }

    /// Whether a node is in the set.
    pub fn contains(&self, node: u32) -> bool {
        let within = |ranges: &[Range]| ranges.iter().any(|range| range.contains(node));
        within(&self.parts) && !within(&self.except)
    }

    /// The nodes' numbers in ascending order. There may be billions: look at
    /// [`highest`](Self::highest) before.
    pub fn numbers(&self) -> Vec<NodeId> {
        let highest = self.highest().map_or(0..=0, |highest| 0..=highest);
        let nodes = highest.filter(|&node| self.contains(node));
        nodes.map(NodeId::new).collect()
    }

    /// The nodes' numbers in ascending order, if no machine is too small for them.
    pub fn listed(&self) -> Option<Vec<u32>> {
        let countable = self.highest().is_none_or(|highest| highest < MOST_NODES);
        countable.then(|| self.numbers().into_iter().map(NodeId::get).collect())
    }
}

/// Ranges between commas: `FIRST`, `FIRST-LAST` or `FIRST-LAST:STEP`.
fn ranges(text: &str) -> Option<Vec<Range>> {
    let range = |part: &str| {
        let (ends, step) = match part.split_once(':') {
            Some((ends, step)) => (ends, number(step)?),
            None => (part, 1),
        };
        let (first, last) = match ends.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(ends)?, number(ends)?),
        };
        let valid = first <= last && step > 0;
        valid.then_some(Range { first, last, step })
    };
    text.split(',').map(range).collect()
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.chars().all(|letter| letter.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

const EXPECTED: &str =
    "a number of nodes, or a text with their numbers, such as \"0-31\" or \"0-63 except 0-63:8\"";

impl<'de> Deserialize<'de> for NodeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountOrText;
        impl Visitor<'_> for CountOrText {
            type Value = NodeSet;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_i64<E: Error>(self, count: i64) -> Result<NodeSet, E> {
                u32::try_from(count)
                    .map(NodeSet::first)
                    .map_err(|_| E::invalid_value(Unexpected::Signed(count), &self))
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<NodeSet, E> {
                u32::try_from(count)
                    .map(NodeSet::first)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(count), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<NodeSet, E> {
                let error = || E::custom(format!("`{text}` is no set of nodes: write {EXPECTED}"));
                NodeSet::parse(text).ok_or_else(error)
            }
        }
        deserializer.deserialize_any(CountOrText)
    }
}

impl Serialize for NodeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.written {
            NodesForm::Count(count) => serializer.serialize_u32(*count),
            NodesForm::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl JsonSchema for NodeSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Nodes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A set of nodes: a number, the first so many; or a text with their \
            numbers: \"48-63\"; \
                \"0-63:8\", every eighth; \"0, 4-7\"; \"0-63 except 0-63:8\", all but these.",
            "type": ["integer", "string"],
            "minimum": 0,
        })
    }
}
