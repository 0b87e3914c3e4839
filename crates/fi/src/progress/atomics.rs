//! Pending atomic operations on other ranks' words.
//!
//! The adapter fetches, stores, compares and swaps, adds, and combines bits. For all else (minimum,
//! product, floating-point sums, ...) the rank works as libraries do on such adapters: it fetches
//! the word, combines, and stores the result if the word is still the same; otherwise it combines
//! again with the word that it has found.
//!
//! MPI wants a rank's accumulates on one word in order, so an operation waits while another one by
//! this rank on the same word is pending.

use link::{Atomic, Order, RemoteMemory, Width};
use std::collections::{BTreeMap, VecDeque};

/// The type for a word with four or eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordType {
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl WordType {
    /// The word length.
    pub fn width(self) -> Width {
        match self {
            WordType::I32 | WordType::U32 | WordType::F32 => Width::Four,
            WordType::I64 | WordType::U64 | WordType::F64 => Width::Eight,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, WordType::F32 | WordType::F64)
    }
}

/// The new word's rule, by the word itself and an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOperation {
    Min,
    Max,
    Sum,
    Product,
    LogicalOr,
    LogicalAnd,
    BitOr,
    BitAnd,
    LogicalXor,
    BitXor,
    Read,
    Write,
    /// The operand, if the word is the one to compare with.
    CompareSwap,
}

impl AtomicOperation {
    /// Whether a type has such an operation.
    pub fn suits(self, element: WordType) -> bool {
        use AtomicOperation::{CompareSwap, Max, Min, Product, Read, Sum, Write};
        !element.is_float()
            || matches!(self, Min | Max | Sum | Product | Read | Write | CompareSwap)
    }

    /// The adapter's operation.
    fn of_adapter(self, element: WordType) -> Option<Atomic> {
        Some(match self {
            AtomicOperation::Read => Atomic::Fetch,
            AtomicOperation::Write => Atomic::Swap,
            AtomicOperation::CompareSwap => Atomic::CompareSwap,
            AtomicOperation::Sum if !element.is_float() => Atomic::Add,
            AtomicOperation::BitAnd => Atomic::And,
            AtomicOperation::BitOr => Atomic::Or,
            AtomicOperation::BitXor => Atomic::Xor,
            _ => return None,
        })
    }
}

macro_rules! of_integers {
    ($type:ty, $operation:expr, $word:expr, $operand:expr) => {{
        let (word, operand) = ($word as $type, $operand as $type);
        let logical = |is: bool| <$type>::from(is);
        let new = match $operation {
            AtomicOperation::Min => word.min(operand),
            AtomicOperation::Max => word.max(operand),
            AtomicOperation::Sum => word.wrapping_add(operand),
            AtomicOperation::Product => word.wrapping_mul(operand),
            AtomicOperation::LogicalOr => logical(word != 0 || operand != 0),
            AtomicOperation::LogicalAnd => logical(word != 0 && operand != 0),
            AtomicOperation::LogicalXor => logical((word != 0) != (operand != 0)),
            AtomicOperation::BitOr => word | operand,
            AtomicOperation::BitAnd => word & operand,
            AtomicOperation::BitXor => word ^ operand,
            AtomicOperation::Read => word,
            AtomicOperation::Write | AtomicOperation::CompareSwap => operand,
        };
        new as u64
    }};
}

macro_rules! of_floats {
    ($type:ty, $bits:ty, $operation:expr, $word:expr, $operand:expr) => {{
        let (word, operand) = (
            <$type>::from_bits($word as $bits),
            <$type>::from_bits($operand as $bits),
        );
        let new = match $operation {
            AtomicOperation::Min => word.min(operand),
            AtomicOperation::Max => word.max(operand),
            AtomicOperation::Sum => word + operand,
            AtomicOperation::Product => word * operand,
            _ => operand,
        };
        u64::from(new.to_bits())
    }};
}

/// The new word; four-byte words are the lower half.
#[allow(clippy::cast_lossless, clippy::cast_possible_wrap)] // bits of either sign
pub fn combine(operation: AtomicOperation, element: WordType, word: u64, operand: u64) -> u64 {
    let new = match element {
        WordType::I32 => of_integers!(i32, operation, word, operand),
        WordType::U32 => of_integers!(u32, operation, word, operand),
        WordType::I64 => of_integers!(i64, operation, word, operand),
        WordType::U64 => of_integers!(u64, operation, word, operand),
        WordType::F32 => of_floats!(f32, u32, operation, word, operand),
        WordType::F64 => of_floats!(f64, u64, operation, word, operand),
    };
    element.width().narrow(new)
}

/// The program's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicRequest {
    /// The operation's number.
    pub id: u64,
    /// Where the word is.
    pub on: RemoteMemory,
    pub element: WordType,
    pub operation: AtomicOperation,
    pub operand: u64,
    pub compare: u64,
}

/// An order to the adapter, and its operation's number.
pub type AtomicOrder = (u64, Order);

impl AtomicRequest {
    /// The word on which operations are ordered.
    fn word(&self) -> Word {
        (self.on.rank, self.on.key, self.on.offset)
    }

    fn step(&self, atomic: Atomic, operand: u64, compare: u64) -> AtomicOrder {
        let order = Order::Atomic {
            on: self.on,
            atomic,
            width: self.element.width(),
            operand,
            compare,
        };
        (self.id, order)
    }

    /// The first order.
    fn begin(&self) -> AtomicOrder {
        match self.operation.of_adapter(self.element) {
            Some(what) => self.step(what, self.operand, self.compare),
            None => self.step(Atomic::Fetch, 0, 0),
        }
    }
}

/// A word: the rank, its memory's key, and the offset.
type Word = (u32, u64, u64);

/// A rank's operations by words: each word's first one is pending, with the word that it compares
/// with, if it has begun to.
#[derive(Default)]
pub struct Atomics {
    queues: BTreeMap<Word, VecDeque<AtomicRequest>>,
    under_way: BTreeMap<u64, (Word, Option<u64>)>,
}

impl Atomics {
    /// Takes down an operation; returns its first order unless it has to wait.
    pub fn begin(&mut self, request: AtomicRequest) -> Option<AtomicOrder> {
        let queue = self.queues.entry(request.word()).or_default();
        queue.push_back(request);
        if queue.len() > 1 {
            return None;
        }
        self.under_way.insert(request.id, (request.word(), None));
        Some(request.begin())
    }

    /// The adapter has found a word. Returns the next order, and whether the operation continues;
    /// else it ends with this word.
    pub fn found(&mut self, id: u64, word: u64) -> (Option<AtomicOrder>, bool) {
        let Some(&(place, compared)) = self.under_way.get(&id) else {
            return (None, false);
        };
        let request = self.queues[&place][0];
        let loops = request.operation.of_adapter(request.element).is_none();
        if loops && compared != Some(word) {
            let new = combine(request.operation, request.element, word, request.operand);
            if new != word {
                self.under_way.insert(id, (place, Some(word)));
                return (Some(request.step(Atomic::CompareSwap, new, word)), true);
            }
        }
        (self.ended(id), false)
    }

    /// An operation has ended, with or without success; returns the first order for the next one on
    /// the word.
    pub fn ended(&mut self, id: u64) -> Option<AtomicOrder> {
        let (place, _) = self.under_way.remove(&id)?;
        let queue = self.queues.get_mut(&place)?;
        queue.pop_front();
        let Some(&next) = queue.front() else {
            self.queues.remove(&place);
            return None;
        };
        self.under_way.insert(next.id, (place, None));
        Some(next.begin())
    }
}

#[cfg(test)]
mod tests;
