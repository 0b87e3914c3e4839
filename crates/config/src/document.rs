//! A file as text, as a tree of keys with places, and as a typed value.

use crate::problem::{Problem, Problems, nearest};
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// A key that a command line replaces: `KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Dotted path, with indices for elements of arrays.
    pub key: String,
    /// TOML, or text that stands for a string.
    pub value: String,
}

impl Override {
    /// Reads `KEY=VALUE`.
    ///
    /// # Errors
    /// If there is no `=`, or nothing before it.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Override { key: key.trim().into(), value: value.trim().into() })
            }
            _ => Err(Problem::new("--set", text, 0..text.len(), "", "an override is KEY=VALUE")
                .hint("for example --set link.hop_delay=\"60 ns\"")
                .into()),
        }
    }

    /// The value: as TOML if it is TOML, as a string otherwise, so that `60 ns` needs no quotes.
    pub fn toml(&self) -> Value {
        self.value.parse().unwrap_or_else(|_| Value::from(self.value.as_str()))
    }
}

/// A TOML file; see the essay of the crate.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    text: String,
    tree: toml_edit::Document<String>,
    overrides: Vec<Override>,
}

impl Document {
    /// Parses the text of a file; `file` is its name for people.
    ///
    /// # Errors
    /// Where the text is no TOML.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        if text.trim().is_empty() {
            return Err(Problem::new(file, text, 0..0, "", "the file is empty").into());
        }
        let tree = toml_edit::Document::parse(text.to_string()).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            Problems::from(Problem::new(file, text, span, "", format!("this is not TOML: {message}")))
        })?;
        Ok(Document { file: file.into(), text: text.into(), tree, overrides: Vec::new() })
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The keys of the file.
    pub fn root(&self) -> &dyn TableLike {
        self.tree.as_table()
    }

    /// Replaces the value at an existing key by the result of `replace`, which is given the old one.
    ///
    /// # Errors
    /// If the key does not exist.
    pub fn with_override(self, change: &Override, replace: impl FnOnce(&Value) -> Value) -> Result<Self, Problems> {
        let text = format!("{}={}", change.key, change.value);
        let place = format!("--set {}", change.key);
        let fail = |message: String, hint: Option<String>| {
            let problem = Problem::new(&place, &text, 0..change.key.len(), "", message);
            Problems::from(Problem { hint, ..problem })
        };
        let mut edited: DocumentMut = self.text.parse().expect("the text has been parsed before");
        let mut item: &mut Item = edited.as_item_mut();
        for step in change.key.split('.') {
            let known: Vec<String> = item.as_table_like().map_or(Vec::new(), |table| table.iter().map(|(key, _)| key.into()).collect());
            let next = match step.parse::<usize>() {
                Ok(index) => item.get_mut(index),
                Err(_) => item.get_mut(step),
            };
            item = next.ok_or_else(|| {
                let meant = nearest(step, known.iter().map(String::as_str));
                let allowed = if known.is_empty() { String::new() } else { format!("; there are {}", known.join(", ")) };
                fail(format!("no key `{step}` in {}{allowed}", self.file), meant.map(|meant| format!("did you mean `{meant}`?")))
            })?;
        }
        let Some(value) = item.as_value_mut() else {
            return Err(fail(format!("`{}` is a table, not a value", change.key), None));
        };
        let decor = value.decor().clone();
        let mut new = replace(value);
        *new.decor_mut() = decor;
        *value = new;
        let mut changed = Document::parse(&self.file, &edited.to_string())?;
        changed.overrides = self.overrides;
        changed.overrides.push(change.clone());
        Ok(changed)
    }

    /// The typed value.
    ///
    /// # Errors
    /// The first key that does not fit the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Problems> {
        toml::from_str(&self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let path = self.path_at(&span);
            let (message, allowed, hint) = plain_words(error.message());
            let problem = self.at(span, &path, message);
            Problems::from(Problem { allowed, hint, ..problem })
        })
    }

    /// A problem with the value at a key path such as `link.rate.value` or `series.0.run.window`. Where the path does
    /// not exist, the nearest table above it is shown.
    pub fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        let mut span = 0..0;
        let mut item = Some(self.tree.as_item());
        for step in path.split('.') {
            let parent = item.and_then(Item::as_table_like);
            let next = match step.parse::<usize>() {
                Ok(index) => item.and_then(|item| item.get(index)),
                Err(_) => item.and_then(|item| item.get(step)),
            };
            let key = parent.and_then(|table| table.key(step)).and_then(toml_edit::Key::span);
            let Some(place) = next.and_then(Item::span).or(key) else { break };
            span = place;
            item = next;
        }
        self.at(span, path, message.into())
    }

    /// A problem at a place; one within an override is placed there.
    fn at(&self, span: Range<usize>, path: &str, message: String) -> Problem {
        let within = |key: &str| path == key || path.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        if let Some(change) = self.overrides.iter().rev().find(|change| within(&change.key)) {
            let text = format!("{}={}", change.key, change.value);
            let start = change.key.len() + 1;
            return Problem::new(&format!("--set {}", change.key), &text, start..text.len(), &change.key, message);
        }
        Problem::new(&self.file, &self.text, span, path.strip_suffix(".value").unwrap_or(path), message)
    }

    /// The path of the innermost key whose value, or whose own name, covers a span.
    fn path_at(&self, span: &Range<usize>) -> String {
        let mut path = Vec::new();
        descend(self.tree.as_item(), span, &mut path);
        path.join(".")
    }
}

/// Appends the steps from `item` to the innermost key that covers `span`.
fn descend(item: &Item, span: &Range<usize>, path: &mut Vec<String>) {
    let covers = |place: Option<Range<usize>>| place.is_some_and(|place| place.start <= span.start && span.end <= place.end);
    if let Some(table) = item.as_table_like() {
        for (name, child) in table.iter() {
            let key = table.key(name).and_then(toml_edit::Key::span);
            let reaches = covers(child.span()) || covers(key) || holds(child, span);
            if reaches {
                path.push(name.to_string());
                return descend(child, span, path);
            }
        }
    } else if let Some(tables) = item.as_array_of_tables() {
        for (index, table) in tables.iter().enumerate() {
            let table = Item::Table(table.clone());
            if covers(table.span()) || holds(&table, span) {
                path.push(index.to_string());
                return descend(&table, span, path);
            }
        }
    }
}

/// Whether anything within an item covers a span: a table's own span is only its header.
fn holds(item: &Item, span: &Range<usize>) -> bool {
    let mut path = Vec::new();
    descend(item, span, &mut path);
    !path.is_empty()
}

/// Turns serde's words into ours: message, what is allowed, hint.
fn plain_words(message: &str) -> (String, Option<String>, Option<String>) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (kind, what) = match message.split_once(',') {
        Some((first, _)) if first.starts_with("unknown field") => ("key", quoted.first()),
        Some((first, _)) if first.starts_with("unknown variant") => ("value", quoted.first()),
        _ => ("", None),
    };
    if let Some(&word) = what {
        let known = &quoted[1..];
        let allowed = if known.is_empty() { "nothing".to_string() } else { known.join(", ") };
        let hint = nearest(word, known.iter().copied()).map(|meant| format!("did you mean `{meant}`?"));
        return (format!("unknown {kind} `{word}`"), Some(allowed), hint);
    }
    if let (true, Some(&word)) = (message.starts_with("missing field"), quoted.first()) {
        let hint = (word == "source").then(|| "say where the value comes from: source = \"000 s2.2\", or what it was fitted to".to_string());
        return (format!("the key `{word}` is missing"), None, hint);
    }
    (message.to_string(), None, None)
}
