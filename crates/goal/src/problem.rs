//! A trace's problem: its place, the mistake, and a remedy.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The whole file.
    File,
    /// A line in a text, counted from 1.
    Line(u64),
    /// An offset in a binary file, in bytes from 0.
    Offset(u64),
}

/// A mistake in a trace, or the reason why it cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// The mistake, and its remedy.
    pub what: String,
}

impl Problem {
    pub(crate) fn new(file: &Path, place: Place, what: impl Into<String>) -> Self {
        Problem {
            file: file.to_owned(),
            place,
            what: what.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.place {
            Place::File => write!(f, "{file}: {}", self.what),
            Place::Line(line) => write!(f, "{file}:{line}: {}", self.what),
            Place::Offset(offset) => write!(f, "{file}: byte {offset}: {}", self.what),
        }
    }
}

impl std::error::Error for Problem {}
