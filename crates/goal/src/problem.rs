//! A trace's problem: its place, the mistake, and a remedy.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracePlace {
    /// The whole file.
    File,
    /// A line in a text, counted from 1.
    Line(u64),
    /// An offset in a binary file, in bytes from 0.
    Offset(u64),
}

/// A mistake in a trace, or the reason why it cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceProblem {
    /// The file.
    pub file: PathBuf,
    /// Where in the file.
    pub place: TracePlace,
    /// The mistake, and its remedy.
    pub what: String,
}

impl TraceProblem {
    pub(crate) fn new(file: &Path, place: TracePlace, what: impl Into<String>) -> Self {
        TraceProblem {
            file: file.to_owned(),
            place,
            what: what.into(),
        }
    }
}

impl fmt::Display for TraceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.place {
            TracePlace::File => write!(f, "{file}: {}", self.what),
            TracePlace::Line(line) => write!(f, "{file}:{line}: {}", self.what),
            TracePlace::Offset(offset) => write!(f, "{file}: byte {offset}: {}", self.what),
        }
    }
}

impl std::error::Error for TraceProblem {}
