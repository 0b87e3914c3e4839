//! Places in a file's tree: from a path to a text span, and back.

use std::ops::Range;
use toml_edit::{Item, Key};

/// A key, by the path to the key. Steps into lists are indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub steps: Vec<String>,
    /// Whether the key's name is meant, not its value.
    pub on_key: bool,
}

impl Place {
    /// The value at a dotted path.
    pub fn value(path: &str) -> Self {
        Place::of(path.split('.').map(str::to_string).collect())
    }

    /// The value to which some steps lead.
    pub fn of(steps: Vec<String>) -> Self {
        let on_key = false;
        Place { steps, on_key }
    }

    /// The innermost key with a value or name that covers a span.
    pub fn covering(item: &Item, span: &Range<usize>) -> Option<Place> {
        let covers = |place: Option<Range<usize>>| {
            place.is_some_and(|place| place.start <= span.start && span.end <= place.end)
        };
        children(item).into_iter().find_map(|(step, child)| {
            if covers(key_span(item, &step)) {
                return Some(Place {
                    steps: vec![step],
                    on_key: true,
                });
            }
            let inner = Place::covering(child, span);
            let inner = inner.or_else(|| covers(child.span()).then(Place::default))?;
            let steps = [vec![step], inner.steps].concat();
            Some(Place { steps, ..inner })
        })
    }

    /// The span of the key or value; if it does not exist, the nearest table's above.
    pub fn span(&self, root: &Item) -> Range<usize> {
        let mut span = 0..0;
        let mut item = root;
        for (index, step) in self.steps.iter().enumerate() {
            let key = key_span(item, step);
            let Some(next) = child(item, step) else { break };
            let last = index + 1 == self.steps.len();
            let (first, second) = if last && self.on_key {
                (key, next.span())
            } else {
                (next.span(), key)
            };
            span = first.or(second).unwrap_or(span);
            item = next;
        }
        span
    }

    /// The path for people: tables in lists by their names, parameters without `.value`, and for
    /// elements of value lists the list's path.
    pub fn shown(&self, root: &Item) -> String {
        let mut shown = Vec::new();
        let mut item = Some(root);
        for step in &self.steps {
            let in_list = item.is_some_and(|item| !item.is_table_like());
            item = item.and_then(|item| child(item, step));
            match item.and_then(name) {
                Some(name) if in_list => shown.push(name),
                _ if in_list && item.is_some_and(|item| !item.is_table_like()) => break,
                _ => shown.push(step),
            }
        }
        if shown.len() > 1 && shown.last() == Some(&"value") {
            shown.pop();
        }
        shown.join(".")
    }
}

/// The item that a step leads to: a key in a table, an index into a list, or the `name` of a table
/// in a list.
pub(crate) fn child<'a>(item: &'a Item, step: &str) -> Option<&'a Item> {
    if item.is_table_like() {
        return item.get(step).filter(|item| !item.is_none());
    }
    item.get(index(item, step)?)
}

/// The index in a list that a step means.
pub(crate) fn index(list: &Item, step: &str) -> Option<usize> {
    let named = || {
        children(list)
            .iter()
            .position(|(_, element)| name(element) == Some(step))
    };
    step.parse().ok().or_else(named)
}

/// All steps from an item: keys, or indices.
pub(crate) fn children(item: &Item) -> Vec<(String, &Item)> {
    if let Some(table) = item.as_table_like() {
        return table
            .iter()
            .map(|(key, child)| (key.to_string(), child))
            .collect();
    }
    (0..)
        .map_while(|index| Some((index.to_string(), item.get(index)?)))
        .collect()
}

/// A table's `name`.
pub(crate) fn name(item: &Item) -> Option<&str> {
    item.get("name").and_then(Item::as_str)
}

fn key_span(item: &Item, step: &str) -> Option<Range<usize>> {
    item.as_table_like()
        .and_then(|table| table.key(step))
        .and_then(Key::span)
}
