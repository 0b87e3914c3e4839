//! The problems that a file check finds, one after another.

use crate::{Document, Problem};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Collects a document's problems.
#[derive(Debug)]
pub struct Findings<'a> {
    /// The document.
    pub document: &'a Document,
    /// The problems found so far.
    pub problems: Vec<Problem>,
}

/// A problem that has been reported. The caller can add the allowed values and a remedy.
#[derive(Debug)]
pub struct Finding<'a>(&'a mut Problem);

#[allow(clippy::return_self_not_must_use)] // it is reported whether anything is added or not
impl Finding<'_> {
    /// Adds the allowed values.
    pub fn allowed(self, allowed: impl Into<String>) -> Self {
        self.0.allowed = Some(allowed.into());
        self
    }

    /// Adds a remedy.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }
}

impl<'a> Findings<'a> {
    /// No findings so far.
    pub fn new(document: &'a Document) -> Self {
        let problems = Vec::new();
        Findings { document, problems }
    }

    /// Reports a problem with the value at a key path; see [`Document::problem`].
    pub fn problem(&mut self, path: &str, message: impl Into<String>) -> Finding<'_> {
        self.problems.push(self.document.problem(path, message));
        Finding(self.problems.last_mut().expect("it was pushed"))
    }

    /// Whether a value is in a range; reports the value if not.
    pub fn range<T: PartialOrd + Display + Copy>(
        &mut self,
        path: &str,
        value: T,
        range: RangeInclusive<T>,
    ) -> bool {
        let inside = range.contains(&value);
        if !inside {
            let allowed = format!("{} to {}", range.start(), range.end());
            self.problem(path, format!("{value} is out of range"))
                .allowed(allowed);
        }
        inside
    }
}
