//! Collective operations of ranks: which there are, and how vectors are combined.
//!
//! A rank names its groups by numbers ([`Order::Group`](crate::Order::Group)). A call of a group
//! ([`Order::Collective`](crate::Order::Collective)) is one of [`CollectiveKind`]; reductions combine elements of a type by an
//! operation ([`Reduction`]), or by a function of each rank ([`Combiner`]).

use bytemuck::{CheckedBitPattern, checked::try_cast};

/// Who carries out the collective operations of MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum Collectives {
    /// The MPI library, by messages.
    #[default]
    Mpi = 0,
    /// Elanlib, by its software trees.
    Elan = 1,
    /// Elanlib, by the hardware wherever that serves the group.
    Hardware = 2,
}

/// The group of all ranks in their order, which nobody has to make.
pub const ALL_RANKS: u64 = 0;

/// The word of [`Combiner::Own`].
const OWN: u32 = u32::MAX;

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum CollectiveKind {
    /// All members wait for all.
    Barrier = 0,
    /// The root's bytes go to all members.
    Broadcast = 1,
    /// The vectors of all members are combined at the root.
    Reduce = 2,
    /// The vectors of all members are combined at all.
    AllReduce = 3,
}

impl CollectiveKind {
    /// The kind in the `tag` of an order.
    pub fn of_tag(tag: u64) -> Option<Self> {
        try_cast(u32::try_from(tag).ok()?).ok()
    }

    /// The operation's name for people.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveKind::Barrier => "barrier",
            CollectiveKind::Broadcast => "broadcast",
            CollectiveKind::Reduce => "reduction",
            CollectiveKind::AllReduce => "reduction for all",
        }
    }

    /// Whether vectors are combined.
    pub fn combines(self) -> bool {
        matches!(self, CollectiveKind::Reduce | CollectiveKind::AllReduce)
    }
}

/// How two elements become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u16)]
#[allow(missing_docs)] // the operations of MPI
pub enum Operation {
    Max = 0,
    Min = 1,
    Sum = 2,
    Product = 3,
    LogicalAnd = 4,
    LogicalOr = 5,
    LogicalXor = 6,
    BitAnd = 7,
    BitOr = 8,
    BitXor = 9,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 10] = [
        Operation::Max,
        Operation::Min,
        Operation::Sum,
        Operation::Product,
        Operation::LogicalAnd,
        Operation::LogicalOr,
        Operation::LogicalXor,
        Operation::BitAnd,
        Operation::BitOr,
        Operation::BitXor,
    ];
}

/// The type of an element, in the byte order of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u16)]
#[allow(missing_docs)] // their names say it
pub enum Element {
    I8 = 0,
    U8 = 1,
    I16 = 2,
    U16 = 3,
    I32 = 4,
    U32 = 5,
    I64 = 6,
    U64 = 7,
    F32 = 8,
    F64 = 9,
    /// Two `f32`: real and imaginary part.
    ComplexF32 = 10,
    /// Two `f64`: real and imaginary part.
    ComplexF64 = 11,
    /// A truth value of a byte.
    Bool = 12,
    /// A byte without a number in it.
    Byte = 13,
}

impl Element {
    /// All types.
    pub const ALL: [Element; 14] = [
        Element::I8,
        Element::U8,
        Element::I16,
        Element::U16,
        Element::I32,
        Element::U32,
        Element::I64,
        Element::U64,
        Element::F32,
        Element::F64,
        Element::ComplexF32,
        Element::ComplexF64,
        Element::Bool,
        Element::Byte,
    ];

    /// Bytes of an element.
    pub fn size(self) -> u64 {
        match self {
            Element::I8 | Element::U8 | Element::Bool | Element::Byte => 1,
            Element::I16 | Element::U16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 | Element::ComplexF32 => 8,
            Element::ComplexF64 => 16,
        }
    }
}

/// How vectors are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The operation.
    pub operation: Operation,
    /// The type of the elements.
    pub element: Element,
}

impl Reduction {
    /// An operation on a type for which MPI defines it (MPI 5.0 s6.9.2).
    pub fn new(operation: Operation, element: Element) -> Option<Self> {
        use Operation::{
            BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr, LogicalXor, Max, Min, Product, Sum,
        };
        let defined = match element {
            Element::F32 | Element::F64 => matches!(operation, Max | Min | Sum | Product),
            Element::ComplexF32 | Element::ComplexF64 => matches!(operation, Sum | Product),
            Element::Bool => matches!(operation, LogicalAnd | LogicalOr | LogicalXor),
            Element::Byte => matches!(operation, BitAnd | BitOr | BitXor),
            _ => true,
        };
        defined.then_some(Reduction { operation, element })
    }

    /// The reduction as a word.
    pub fn word(self) -> u32 {
        u32::from(self.operation as u16) | u32::from(self.element as u16) << 16
    }

    /// The reduction of such a word.
    pub fn of_word(word: u32) -> Option<Self> {
        let operation = try_cast((word & 0xffff) as u16).ok()?;
        let element = try_cast((word >> 16) as u16).ok()?;
        Reduction::new(operation, element)
    }
}

/// How two vectors become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combiner {
    /// Element by element.
    Known(Reduction),
    /// By a function of each rank: the simulator asks the rank whose host combines ([`Report::Combine`]).
    ///
    /// [`Report::Combine`]: crate::Report::Combine
    Own {
        /// Bytes of an element.
        element: u64,
    },
}

impl Combiner {
    /// Bytes of an element.
    pub fn element(&self) -> u64 {
        match self {
            Combiner::Known(reduction) => reduction.element.size(),
            Combiner::Own { element } => *element,
        }
    }

    /// The combiner as two words of a raw order: the function, and bytes of an element.
    pub(crate) fn words(self) -> (u32, u64) {
        let function = match self {
            Combiner::Known(reduction) => reduction.word(),
            Combiner::Own { .. } => OWN,
        };
        (function, self.element())
    }

    /// The combiner of these words, if they stand for one.
    pub(crate) fn of_words(function: u32, element: u64) -> Option<Self> {
        let combiner = match function {
            OWN => Combiner::Own { element },
            word => Combiner::Known(Reduction::of_word(word)?),
        };
        (element > 0 && combiner.element() == element).then_some(combiner)
    }
}
