//! Atomic changes to a word in another rank's memory.

use serde::{Deserialize, Serialize};

/// An atomic. Each returns the old word. A 4-byte word is the lower half of the operands and the
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Atomic {
    /// Leaves the word as it is.
    Fetch,
    /// Stores the operand.
    Swap,
    /// Stores the operand if the word is the one to compare with.
    CompareSwap,
    /// Adds the operand; overflow wraps.
    Add,
    /// Stores the bits that are set in both.
    And,
    /// Stores the bits that are set in either.
    Or,
    /// Stores the bits that are set in exactly one word.
    Xor,
}

impl Atomic {
    /// The new word; `None` if the word stays as it is.
    pub fn apply(self, word: u64, operand: u64, compare: u64) -> Option<u64> {
        match self {
            Atomic::Fetch => None,
            Atomic::Swap => Some(operand),
            Atomic::CompareSwap => (word == compare).then_some(operand),
            Atomic::Add => Some(word.wrapping_add(operand)),
            Atomic::And => Some(word & operand),
            Atomic::Or => Some(word | operand),
            Atomic::Xor => Some(word ^ operand),
        }
    }
}

/// The word length of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u32)]
pub enum Width {
    /// 4 bytes.
    Four = 4,
    /// 8 bytes.
    Eight = 8,
}

impl Width {
    /// The part of a word that counts.
    pub fn narrow(self, word: u64) -> u64 {
        match self {
            Width::Four => word & 0xffff_ffff,
            Width::Eight => word,
        }
    }
}
