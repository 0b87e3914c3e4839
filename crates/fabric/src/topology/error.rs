//! The bounds of topologies, and what is wrong with a topology that cannot be built.

use thiserror::Error;

/// Most positions for nodes of a rail.
pub const MAX_NODES: u64 = 262_144;

/// Most rails (public Elan3 headers: a node has up to 31 adapters).
pub const MAX_RAILS: u32 = 31;

/// Most switches, and most directed links: arities could otherwise multiply without bound.
pub(super) const MAX_PARTS: u64 = 1 << 24;

/// Deepest tree, in levels of switches (Elan3 route tables: 8).
pub const MAX_LEVELS: usize = 8;

/// Most links of a switch in one direction.
pub const MAX_ARITY: u32 = 1024;

/// Why a topology cannot be built.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct TopologyError {
    /// The quantity that is wrong: its name in the constructor, such as `rails`, or an entry of a list, such as `parallel.1`.
    pub key: String,
    /// What is wrong with the quantity.
    pub message: String,
    /// The values that are allowed; empty if they are not known.
    pub allowed: String,
    /// What to do; may be empty.
    pub hint: &'static str,
}

impl TopologyError {
    /// The error of a wrong quantity.
    pub fn new(key: impl Into<String>, message: String, allowed: impl Into<String>) -> Self {
        TopologyError {
            key: key.into(),
            message,
            allowed: allowed.into(),
            hint: "",
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(self, hint: &'static str) -> Self {
        TopologyError { hint, ..self }
    }

    /// The error of no rails, or too many.
    pub(super) fn of_rails(rails: u32) -> Self {
        let message = format!("{rails} rails are out of range; allowed are 1 to {MAX_RAILS}");
        TopologyError::new("rails", message, format!("1 to {MAX_RAILS}"))
    }
}
