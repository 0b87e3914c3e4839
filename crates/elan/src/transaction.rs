//! # Transactions (petrini2003 s2.2.1; public Elan3 headers)
//!
//! A packet is a list of transactions with one answer. DMA transactions are payload blocks and
//! their notification ([`crate::dma`]); threads make other transactions
//! ([`crate::adapter::thread_packets`]). Words have 8 bytes, lie in adapter memory, and are
//! little-endian.

use crate::memory::ElanAddr;
use units::Bytes;

/// Most transactions in a message: as many as a full DMA packet has.
pub const MOST_TRANSACTIONS: usize = 5;

/// Length of a transaction's word.
pub const WORD: Bytes = Bytes::new(8);

/// The word in 8 bytes.
///
/// # Panics
/// If there are not 8 bytes.
pub fn word_of(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("a word has 8 bytes"))
}

/// Words that a transaction puts into a queue.
pub const INSERTED: usize = 3;

/// One transaction in a message. Its addresses lie in the process that the message goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// Stores a word.
    Write {
        /// Where the word lies.
        to: ElanAddr,
        /// The word to store.
        word: u64,
    },
    /// Adds to a word, modulo 2^64.
    Add {
        /// Where the word lies.
        to: ElanAddr,
        /// The number to add.
        word: u64,
    },
    /// Lets an event occur.
    SetEvent {
        /// Where the event lies.
        at: ElanAddr,
    },
    /// Puts a small message into a queue (public Elan3 headers); not in messages to a node range.
    Insert {
        /// Where the queue's slots begin.
        queue: ElanAddr,
        /// The message.
        words: [u64; INSERTED],
    },
    /// The whole packet's condition: whether the comparison of a word with a value holds.
    Test {
        /// Where the word lies.
        at: ElanAddr,
        /// The comparison.
        comparison: Comparison,
        /// The value with which the word is compared.
        word: u64,
    },
}

/// The conditions that the inputter can test (public Elan3 headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The word is equal to the value.
    Equal,
    /// The word is not equal to the value.
    NotEqual,
    /// The word is less than the value, as an unsigned number.
    Less,
    /// The word is not less than the value, as an unsigned number.
    NotLess,
}

impl Comparison {
    /// Whether a word satisfies the condition.
    pub fn holds(self, word: u64, value: u64) -> bool {
        match self {
            Comparison::Equal => word == value,
            Comparison::NotEqual => word != value,
            Comparison::Less => word < value,
            Comparison::NotLess => word >= value,
        }
    }
}

impl Transaction {
    /// Bytes that the transaction carries besides its header.
    pub fn data(self) -> Bytes {
        match self {
            Transaction::SetEvent { .. } => Bytes::ZERO,
            Transaction::Insert { .. } => WORD * INSERTED as u64,
            _ => WORD,
        }
    }
}

/// A message's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether all the message's conditions held; if not, the message had no effect.
    pub passed: bool,
    /// The word that the message's last [`Transaction::Write`] or [`Transaction::Add`] found, which
    /// the acknowledgement brings back (petrini2003 s2.2.1: "return the result of the remote
    /// operation to the source").
    pub found: Option<u64>,
}
