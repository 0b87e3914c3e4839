//! Collects a machine file's problems.

use config::{Document, Finding, Findings, Problem};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The problems that were found so far.
pub(crate) struct Check<'a>(Findings<'a>);

impl<'a> Check<'a> {
    pub fn new(document: &'a Document) -> Self {
        Check(Findings::new(document))
    }

    /// All problems that were found.
    pub fn finish(self) -> Vec<Problem> {
        self.0.problems
    }

    /// The problem count so far.
    pub fn count(&self) -> usize {
        self.0.problems.len()
    }

    /// Whether there is a problem with a parameter already.
    pub fn told(&self, key: &str) -> bool {
        let mut problems = self.0.problems.iter();
        problems.any(|problem| problem.key.starts_with(key))
    }

    /// Reports a problem with a section, or with a key that is not a parameter.
    pub fn problem(&mut self, path: &str, message: impl Into<String>) -> Finding<'_> {
        self.0.problem(path, message)
    }

    /// Reports a problem with a parameter's value, or with an element of this value:
    /// `link.hop_delay.value.2`.
    pub fn at(&mut self, key: &str, message: impl Into<String>) -> Finding<'_> {
        self.0.problem(&value(key), message)
    }

    /// Adds a problem that is placed in the document.
    pub fn add(&mut self, problem: impl FnOnce(&Document) -> Problem) {
        let problem = problem(self.0.document);
        self.0.problems.push(problem);
    }

    /// Whether a parameter's value is in a range; reports the value if it is not.
    pub fn range<T: PartialOrd + Display + Copy>(
        &mut self,
        key: &str,
        parameter: T,
        range: RangeInclusive<T>,
    ) -> bool {
        self.0.range(&value(key), parameter, range)
    }
}

/// The path to a parameter's value.
fn value(key: &str) -> String {
    if key.contains(".value.") {
        key.to_string()
    } else {
        format!("{key}.value")
    }
}
