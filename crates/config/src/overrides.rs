//! Overrides: keys in a file that a command line, or another file, replaces.

use crate::problem::{Problem, Problems};
use crate::words;
use std::ops::Range;
use toml_edit::Value;

/// A key that is replaced: `KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The key's dotted path.
    pub key: String,
    /// The value: TOML, or text that stands for a string.
    pub value: String,
    /// The override's origin: "command line", "experiment".
    pub source: &'static str,
}

impl Override {
    /// Reads `KEY=VALUE` from a command line.
    ///
    /// # Errors
    /// If there is no `=`, or no key before the `=`, or if a value that looks like a list or a
    /// quoted string is not TOML.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        let Some((key, value)) = text
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
        else {
            return Err(
                Problem::new("--set", text, 0..text.len(), "", "an override is KEY=VALUE")
                    .hint("for example --set link.hop_delay=\"60 ns\"")
                    .into(),
            );
        };
        let change = Override {
            key: key.trim().into(),
            value: value.trim().into(),
            source: "command line",
        };
        match change.value.parse::<Value>() {
            Err(error) if change.value.starts_with(['[', '{', '"', '\'']) => {
                let message = words::of_syntax_error(error.message(), &change.value).message;
                Err(change.problem(change.value_span(), message).into())
            }
            _ => Ok(change),
        }
    }

    /// The value: as TOML if it is TOML, as a string otherwise, so that `60 ns` needs no quotes.
    pub fn toml(&self) -> Value {
        self.value
            .parse()
            .unwrap_or_else(|_| Value::from(self.value.as_str()))
    }

    /// A problem at a span in `KEY=VALUE`.
    pub(crate) fn problem(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        let (file, text) = (
            format!("--set {}", self.key),
            format!("{}={}", self.key, self.value),
        );
        Problem::new(&file, &text, span, &self.key, message)
    }

    /// The value's span in `KEY=VALUE`.
    pub(crate) fn value_span(&self) -> Range<usize> {
        let start = self.key.len() + 1;
        start..start + self.value.len()
    }
}
