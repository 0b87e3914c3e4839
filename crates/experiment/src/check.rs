//! Machine-independent checks of an experiment file, as far as several benchmark kinds share them.

use crate::nodes::{MOST_NODES, NodeSet};
use crate::sweep::{Grid, Sweep};
use config::{Document, Findings, Problem};
use std::fmt::Display;
use std::ops::{Deref, DerefMut, RangeInclusive};
use units::{Bytes, Time};

/// Longest warm-up and window: far more than anybody waits for, far less than overflows.
pub(crate) const LONGEST: Time = Time::from_secs(1000);

/// Most batches, seeds and repeats.
pub(crate) const MOST: u32 = 10_000;

/// Bounds for a process's computation.
const COMPUTE: RangeInclusive<Time> = Time::from_us(1)..=Time::from_secs(1);

/// [`Findings`], with this module's checks.
pub(crate) struct Check<'a>(Findings<'a>);

impl<'a> Deref for Check<'a> {
    type Target = Findings<'a>;

    fn deref(&self) -> &Findings<'a> {
        &self.0
    }
}

impl DerefMut for Check<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> Check<'a> {
    pub fn new(document: &'a Document) -> Self {
        Check(Findings::new(document))
    }

    /// All problems that were found.
    pub fn finish(self) -> Vec<Problem> {
        self.0.problems
    }

    /// Checks that a field's values are in a range.
    pub fn ranges<T>(&mut self, path: &str, values: &Sweep<T>, range: &RangeInclusive<T>)
    where
        T: PartialOrd + Display + Copy,
    {
        for (place, &value) in values.places(path) {
            self.range(&place, value, range.clone());
        }
    }

    /// Checks that a time is not too long.
    pub fn longest(&mut self, path: &str, time: Time, most: Time) {
        if time > most {
            self.problem(path, format!("{time} is too long"))
                .allowed(format!("at most {most}"));
        }
    }

    /// Checks that a name is a valid step in override paths.
    pub fn name(&mut self, path: &str, name: &str) {
        let fits = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
        if name.is_empty() || !name.chars().all(fits) {
            self.problem(path, format!("`{name}` is no name"))
                .allowed("letters, digits, - and _");
        }
    }

    /// Checks that a pair's two nodes are different.
    pub fn apart(&mut self, path: &str, (from, to): (&Sweep<u32>, &Sweep<u32>), verb: &str) {
        for (place, end) in to.places(&format!("{path}.to")) {
            if from.values().contains(end) {
                let message = format!("node {end} would {verb} itself");
                self.problem(&place, message)
                    .allowed("a node that is not in `from`");
            }
        }
    }

    pub fn repeats(&mut self, path: &str, repeats: &Sweep<u32>) {
        self.ranges(&format!("{path}.repeats"), repeats, &(1..=MOST));
    }

    pub fn nodes(&mut self, path: &str, sets: &Sweep<NodeSet>) {
        for (place, nodes) in sets.places(path) {
            // A set that reaches further is not listed here: planning refuses it.
            let countable = nodes.highest().is_none_or(|highest| highest < MOST_NODES);
            if !countable || !nodes.numbers().is_empty() {
                continue;
            }
            let found = self
                .problem(&place, "these are no nodes")
                .allowed("at least one");
            if nodes.written_as_count().is_some() {
                found.hint("a number is a count, of the first nodes; node 0 alone is \"0\"");
            }
        }
    }

    /// Checks that no field is an empty list.
    pub fn lists(&mut self, path: &str, grid: &impl Grid) {
        for (key, values) in grid.lengths() {
            self.list(&format!("{path}.{key}"), values);
        }
    }

    /// Checks that a list with this many values is not empty.
    pub fn list(&mut self, path: &str, values: usize) {
        if values == 0 {
            let found = self.problem(path, "an empty list makes no points");
            found.allowed("one value, or a list of one or more");
        }
    }

    pub fn largest_message(&mut self, path: &str, message: &Sweep<Bytes>) {
        let most = workload::source::LARGEST_MESSAGE;
        for (place, &size) in message.places(&format!("{path}.message")) {
            if size > most {
                let message = format!("{size} is more than a DMA can move");
                self.problem(&place, message)
                    .allowed(format!("at most {most}"));
            }
        }
    }

    /// Checks times that processes compute.
    pub fn compute(&mut self, path: &str, compute: &Sweep<Time>) {
        self.ranges(&format!("{path}.compute"), compute, &COMPUTE);
    }
}
