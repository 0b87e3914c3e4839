//! A series' changes to the machine: `machine = { switch.circuit = "wormhole" }`, with machine file
//! keys; or a list of such tables, each used in turn.

use config::{Document, Override, Problem, Problems};
use machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Replaced machine parameters, by section and key; see `elanite schema machine`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Changes(Map<String, Value>);

/// An unchanged machine's name.
const UNCHANGED: &str = "unchanged";

impl Changes {
    /// Dotted keys and their values.
    fn entries(&self) -> Vec<(String, &Value)> {
        let sections = self.0.iter();
        let keys = sections.flat_map(|(section, content)| match content {
            Value::Object(table) => {
                let keys = table.iter();
                keys.map(|(key, value)| (format!("{section}.{key}"), value))
                    .collect()
            }
            value => vec![(section.clone(), value)],
        });
        keys.collect()
    }

    /// The changed machine's name in tables: `switch.circuit=wormhole`. The engine is left out,
    /// because it does not affect results.
    pub fn label(&self) -> String {
        let words = |(key, value): (String, &Value)| match value {
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        };
        let physics = self.entries().into_iter();
        let physics = physics.filter(|(key, _)| !key.starts_with("fabric."));
        let labels: Vec<_> = physics.map(words).collect();
        if labels.is_empty() {
            UNCHANGED.to_string()
        } else {
            labels.join(", ")
        }
    }

    /// The machine with the changes. `path` is the changes' place in the experiment file.
    ///
    /// # Errors
    /// All that is wrong with the changes, each problem with its place.
    pub(crate) fn apply(
        &self,
        machine: &MachineFile<'_>,
        document: &Document,
        path: &str,
    ) -> Result<Machine, Vec<Problem>> {
        let changes = self.entries().into_iter().map(|(key, value)| Override {
            key,
            value: value.to_string(), // a JSON value is a TOML value, but for tables
            source: "experiment",
        });
        let overrides: Vec<_> = machine.overrides.iter().cloned().chain(changes).collect();
        let problem = |problem: Problem| {
            let key = problem.file.strip_prefix("--set ");
            let ours = key
                .filter(|_| problem.text.contains('='))
                .map(|key| format!("{path}.{key}"));
            let moved = match ours {
                Some(path) => document.problem(&path, problem.message),
                // Problems that the changes cause elsewhere in the machine.
                None => document.problem(path, format!("{}: {}", problem.key, problem.message)),
            };
            Problem {
                allowed: problem.allowed,
                hint: problem.hint,
                ..moved
            }
        };
        Machine::parse(machine.file, machine.text, &overrides)
            .map_err(|Problems(problems)| problems.into_iter().map(problem).collect())
    }
}

/// A machine file's text with a command line's overrides, to be read with each series' changes.
#[derive(Clone, Copy, Debug)]
pub struct MachineFile<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The file's content.
    pub text: &'a str,
    /// Replaced parameters.
    pub overrides: &'a [Override],
}
