//! A document: a file as text, as a tree of keys with places, and as a typed value.

use crate::overrides::Override;
use crate::place::{Place, child, children, index, name};
use crate::problem::{Problem, Problems, nearest};
use crate::words;
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml_edit::{DocumentMut, Item, Value};

type Tree = toml_edit::Document<String>;

/// A TOML file; see the crate essay.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    /// The file as it was written.
    original: Tree,
    /// The file with all overrides.
    edited: Tree,
    /// Overrides with the places that they replace.
    overrides: Vec<(Override, Place)>,
}

impl Document {
    /// Parses a file's text; `file` is its name for people.
    ///
    /// # Errors
    /// Where the text is not TOML.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        if text.trim().is_empty() {
            return Err(Problem::new(file, text, 0..0, "", "the file is empty").into());
        }
        let tree = Tree::parse(text.to_string()).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let excerpt = text.get(span.clone()).unwrap_or_default();
            let words = words::of_syntax_error(error.message(), excerpt);
            let problem = Problem::new(file, text, span, "", words.message);
            Problems::from(Problem {
                hint: words.hint,
                ..problem
            })
        })?;
        Ok(Document {
            file: file.into(),
            original: tree.clone(),
            edited: tree,
            overrides: Vec::new(),
        })
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The file's keys, with the overrides so far.
    pub fn root(&self) -> &Item {
        self.edited.as_item()
    }

    /// Replaces the item at `path`, to which the key in `change` refers. `edit` gets the old item,
    /// or an empty one, and the new value; it returns whether a value can replace the item. Keys
    /// and tables that do not exist are made, so that [`read`](Self::read) reports unknown keys.
    ///
    /// # Errors
    /// If the path leads into a value, or to an element that a list does not have, or `edit`
    /// refuses.
    pub fn with_override(
        self,
        change: &Override,
        path: &str,
        edit: impl FnOnce(&mut Item, Value) -> bool,
    ) -> Result<Self, Problems> {
        let steps = self.resolve(change, path)?;
        let edited = self.edited.raw().parse();
        let mut edited: DocumentMut = edited.expect("the text has been parsed before");
        let mut item: &mut Item = edited.as_item_mut();
        for step in &steps {
            let next = if item.is_table_like() || item.is_none() {
                item.get_mut(step)
            } else {
                index(item, step).and_then(|index| item.get_mut(index))
            };
            item = next.expect("the path has been resolved");
        }
        let inside: Vec<String> = children(item)
            .into_iter()
            .map(|(key, _)| format!("{}.{key}", change.key))
            .collect();
        if !edit(item, change.toml()) {
            let problem = change.problem(0..change.key.len(), "this is a section, not a value");
            return Err(problem
                .allowed(inside.join(", "))
                .hint("name one of its keys")
                .into());
        }
        let edited = Tree::parse(edited.to_string()).expect("a valid edit leaves valid TOML");
        let mut overrides = self.overrides;
        overrides.push((change.clone(), Place::of(steps)));
        Ok(Document {
            edited,
            overrides,
            ..self
        })
    }

    /// The steps in an override's path, with names of tables in lists replaced by indices.
    fn resolve(&self, change: &Override, path: &str) -> Result<Vec<String>, Problems> {
        let fail = |message: String| change.problem(0..change.key.len(), message);
        let mut steps = Vec::new();
        let mut item = Some(self.root());
        for step in path.split('.') {
            let Some(parent) = item else {
                steps.push(step.to_string());
                continue;
            };
            let list = parent.is_array() || parent.is_array_of_tables();
            item = child(parent, step);
            if list && item.is_none() {
                let names: Vec<&str> = children(parent)
                    .iter()
                    .filter_map(|(_, element)| name(element))
                    .collect();
                let problem = fail(format!("there is no `{step}` in {}", self.file))
                    .allowed(names.join(", "));
                let meant = nearest(step, names).map(|meant| format!("did you mean `{meant}`?"));
                return Err(Problem {
                    hint: meant,
                    ..problem
                }
                .into());
            }
            if !list && !parent.is_table_like() {
                let place = Place::of(steps).shown(self.root());
                return Err(fail(format!("`{place}` is a value, and has no keys"))
                    .hint(format!("leave out what follows `{place}`"))
                    .into());
            }
            let index = if list {
                index(parent, step).map(|index| index.to_string())
            } else {
                None
            };
            steps.push(index.unwrap_or_else(|| step.to_string()));
        }
        Ok(steps)
    }

    /// The typed value.
    ///
    /// # Errors
    /// The first key that does not fit the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Problems> {
        let text = self.edited.raw();
        toml::from_str(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            // The whole file's span is empty.
            let place = Place::covering(self.root(), &span)
                .filter(|_| !span.is_empty())
                .unwrap_or_default();
            let mut words = words::of_type_error(error.message(), place.on_key);
            if words::wants_names(error.message()) {
                // A string instead of the value makes serde list the names.
                let probe = format!("{}\"?\"{}", &text[..span.start], &text[span.end..]);
                if let Err(error) = toml::from_str::<T>(&probe) {
                    words.allowed = words::of_type_error(error.message(), false)
                        .allowed
                        .or(words.allowed);
                }
            }
            let span = if place.steps.is_empty() { 0..0 } else { span };
            let mut problem = self.at(&place, Some(span), words.message);
            if let Some(key) = words.missing {
                let path = format!("{}.{key}", problem.key);
                problem.key = path.trim_start_matches('.').to_string();
            }
            Problems::from(Problem {
                allowed: words.allowed,
                hint: words.hint,
                ..problem
            })
        })
    }

    /// A problem with the value at a key path such as `link.rate.value` or `series.0.run.window`.
    /// Where the path does not exist, the nearest table above it is shown.
    pub fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        self.at(&Place::value(path), None, message.into())
    }

    /// A problem at a place; `span` is its span in the edited text, where known.
    fn at(&self, place: &Place, span: Option<Range<usize>>, message: String) -> Problem {
        let key = place.shown(self.root());
        let ours = |replaced: &Place| place.steps.starts_with(&replaced.steps);
        let mut latest_first = self.overrides.iter().rev();
        if let Some((change, replaced)) = latest_first.find(|(_, replaced)| ours(replaced)) {
            let span = span.unwrap_or_else(|| place.span(self.root()));
            let span = if place.on_key {
                0..change.key.len()
            } else {
                self.within(change, replaced, &span)
            };
            return Problem {
                key,
                ..change.problem(span, message)
            };
        }
        // The place is in a table that only an override has made.
        let mut steps = place.steps.iter();
        let written = steps.try_fold(self.original.as_item(), |item, step| child(item, step));
        let made = |replaced: &Place| replaced.steps.starts_with(&place.steps);
        let mut overrides = self.overrides.iter();
        if written.is_none()
            && let Some((change, _)) = overrides.find(|(_, replaced)| made(replaced))
        {
            return Problem {
                key,
                ..change.problem(0..change.key.len(), message)
            };
        }
        let known = span.filter(|_| self.overrides.is_empty());
        let span = known.unwrap_or_else(|| place.span(self.original.as_item()));
        Problem::new(&self.file, self.original.raw(), span, &key, message)
    }

    /// The span in `KEY=VALUE` for a span in the edited text: the faulty element's, or the whole
    /// value's.
    fn within(&self, change: &Override, replaced: &Place, span: &Range<usize>) -> Range<usize> {
        let whole = change.value_span();
        let item = replaced.span(self.root());
        let start = self.edited.raw()[item.clone()]
            .find(&change.value)
            .map(|offset| item.start + offset);
        match start {
            Some(start) if start <= span.start && span.end <= start + change.value.len() => {
                whole.start + span.start - start..whole.start + span.end - start
            }
            _ => whole,
        }
    }
}
