//! What an atomic does with a word of another rank's memory.

/// An atomic. Each gives the old word back. A word of 4 bytes is the lower half of the operands, and of what comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Atomic {
    /// Leaves the word as it is.
    Fetch = 0,
    /// Stores the operand.
    Swap = 1,
    /// Stores the operand if the word is the one to compare with.
    CompareSwap = 2,
    /// Adds the operand; overflow wraps.
    Add = 3,
    /// Stores the bits that are set in both.
    And = 4,
    /// Stores the bits that are set in either.
    Or = 5,
    /// Stores the bits that are set in one of both.
    Xor = 6,
}

impl Atomic {
    /// The atomic of a number in an order; nothing if there is no such atomic.
    pub fn of(number: u64) -> Option<Atomic> {
        const ALL: [Atomic; 7] = [
            Atomic::Fetch,
            Atomic::Swap,
            Atomic::CompareSwap,
            Atomic::Add,
            Atomic::And,
            Atomic::Or,
            Atomic::Xor,
        ];
        ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The new word; nothing if the word stays as it is.
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

/// The length of the word of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Width {
    /// 4 bytes.
    Four = 4,
    /// 8 bytes.
    Eight = 8,
}

impl Width {
    /// The width of so many bytes; nothing if no word of an atomic has so many.
    pub fn of(bytes: u32) -> Option<Width> {
        match bytes {
            4 => Some(Width::Four),
            8 => Some(Width::Eight),
            _ => None,
        }
    }

    /// The part of a word that counts.
    pub fn narrow(self, word: u64) -> u64 {
        match self {
            Width::Four => word & 0xffff_ffff,
            Width::Eight => word,
        }
    }
}
