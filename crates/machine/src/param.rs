//! Parameters: a value and its source.

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use units::{Rate, Time};

/// One machine parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    bound(deserialize = "T: Deserialize<'de>"),
    expecting = "a value with its source: { value = ..., source = \"where it comes from\" }"
)]
#[schemars(inline)]
pub struct Param<T> {
    /// The value.
    pub value: T,
    /// Where it comes from: the document and section that give it, or the argument for it.
    #[serde(deserialize_with = "not_blank")]
    pub source: String,
    /// The published claims that it was fitted to, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted_to: Vec<String>,
    /// The range that the source leaves open, if it states the value as a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admissible: Option<Box<Admissible<T>>>,
}

/// The value range that a source admits: "a few hundreds of cycles", "as few as 2 us".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a range with its source: { low = ..., high = ..., \
        source = \"the words that leave it open\" }"
)]
#[schemars(inline)]
pub struct Admissible<T> {
    /// The lowest value.
    pub low: T,
    /// The highest value.
    pub high: T,
    /// The words that leave the value open.
    #[serde(deserialize_with = "not_blank")]
    pub source: String,
}

fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(D::Error::custom("the source is blank"));
    }
    Ok(text)
}

/// A parameter as it is listed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Dotted key, such as `link.hop_delay`.
    pub key: String,
    /// The value, as in the file.
    pub value: Value,
    /// See [`Param::source`]; empty for parameters that are not physics.
    pub source: String,
    /// See [`Param::fitted_to`].
    pub fitted_to: Vec<String>,
    /// See [`Param::admissible`].
    pub admissible: Option<Value>,
}

/// One value for all link levels, or a list with one per level, from the nodes upwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum PerLevel<T = Time> {
    /// For all levels.
    All(T),
    /// For each level.
    Each(Vec<T>),
}

impl<T: Copy> PerLevel<T> {
    /// The value at a level, from 0; `None` if the list is too short.
    pub fn level(&self, level: usize) -> Option<T> {
        match self {
            PerLevel::All(value) => Some(*value),
            PerLevel::Each(values) => values.get(level).copied(),
        }
    }

    /// The values, without their levels.
    pub fn values(&self) -> &[T] {
        match self {
            PerLevel::All(value) => std::slice::from_ref(value),
            PerLevel::Each(values) => values,
        }
    }
}

impl PerLevel<Rate> {
    /// The fastest rate; zero for an empty list.
    pub fn fastest(&self) -> Rate {
        self.values().iter().copied().max().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for PerLevel<Time> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrList {
            expected: "a time with its unit, such as \"55 ns\", or a list of them, one for each \
                level of links",
            one: PerLevel::All,
            list: PerLevel::Each,
        })
    }
}

impl<'de> Deserialize<'de> for PerLevel<Rate> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrList {
            expected: "a rate with its unit, such as \"400 MB/s\", or a list of them, one for each \
                level of links",
            one: PerLevel::All,
            list: PerLevel::Each,
        })
    }
}

/// Reads a quantity, or a list.
pub(crate) struct OneOrList<S, T, V> {
    /// The expected form, in words.
    pub expected: &'static str,
    pub one: fn(S) -> V,
    pub list: fn(Vec<T>) -> V,
}

impl<'de, S: FromStr<Err: fmt::Display>, T: Deserialize<'de>, V> Visitor<'de>
    for OneOrList<S, T, V>
{
    type Value = V;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<V, E> {
        text.parse().map(self.one).map_err(E::custom)
    }

    // A bare number: the error is the one for a quantity without its unit.
    fn visit_i64<E: Error>(self, number: i64) -> Result<V, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<V, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(self.list)
    }
}

/// Whether a JSON value is a [`Param`].
fn is_param(value: &Value) -> bool {
    value.get("value").is_some() && value.get("source").is_some()
}

/// Appends the parameters below a value.
pub(crate) fn list(path: &str, value: &Value, parameters: &mut Vec<Parameter>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    match value {
        _ if is_param(value) => parameters.push(Parameter {
            key: path.to_string(),
            value: value["value"].clone(),
            source: text(&value["source"]),
            fitted_to: value["fitted_to"]
                .as_array()
                .map_or(Vec::new(), |claims| claims.iter().map(text).collect()),
            admissible: value.get("admissible").cloned(),
        }),
        Value::Object(table) => {
            for (key, child) in table {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                list(&path, child, parameters);
            }
        }
        _ => parameters.push(Parameter {
            key: path.to_string(),
            value: value.clone(),
            source: String::new(),
            fitted_to: Vec::new(),
            admissible: None,
        }),
    }
}

/// Replaces every parameter by its value.
pub(crate) fn strip(value: Value) -> Value {
    match value {
        Value::Object(mut table) if table.contains_key("value") && table.contains_key("source") => {
            table.remove("value").expect("it is there")
        }
        Value::Object(table) => Value::Object(
            table
                .into_iter()
                .map(|(key, child)| (key, strip(child)))
                .collect(),
        ),
        other => other,
    }
}
