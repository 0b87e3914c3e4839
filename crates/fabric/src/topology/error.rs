//! Topology bounds, and the error for a topology that cannot be built.

use thiserror::Error;

/// Most node positions on a rail.
pub const MAX_NODES: u64 = 262_144;

/// Most rails (public Elan3 headers: a node has up to 31 adapters).
pub const MAX_RAILS: u32 = 31;

/// Most switches, and most directed links: arities could otherwise multiply without bound.
pub(super) const MAX_PARTS: u64 = 1 << 24;

/// Deepest tree, in switch levels (Elan3 route tables: 8).
pub const MAX_LEVELS: usize = 8;

/// Most links per switch in one direction.
pub const MAX_ARITY: u32 = 1024;

/// Why a topology cannot be built.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct TopologyError {
    /// The wrong quantity: its name in the constructor, such as `rails`, or a list entry, such as
    /// `parallel.1`.
    pub key: String,
    /// The problem with the quantity.
    pub message: String,
    /// The values that are allowed; empty if they are not known.
    pub allowed: String,
    /// The remedy; may be empty.
    pub hint: &'static str,
}

impl TopologyError {
    /// The error for a wrong quantity.
    pub fn new(key: impl Into<String>, message: String, allowed: impl Into<String>) -> Self {
        TopologyError {
            key: key.into(),
            message,
            allowed: allowed.into(),
            hint: "",
        }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn hint(self, hint: &'static str) -> Self {
        TopologyError { hint, ..self }
    }

    /// The error for no rails, or too many.
    pub(super) fn of_rails(rails: u32) -> Self {
        let message = format!("{rails} rails are out of range; allowed are 1 to {MAX_RAILS}");
        TopologyError::new("rails", message, format!("1 to {MAX_RAILS}"))
    }
}
