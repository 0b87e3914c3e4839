//! The ranks' collective operations: their kinds, and the combination of vectors.
//!
//! A rank names its groups by numbers ([`Order::Group`](crate::Order::Group)). A group call
//! ([`Order::Collective`](crate::Order::Collective)) is one of [`CollectiveKind`]; reductions
//! combine typed elements by an operation ([`VectorReduction`]), or by each rank's own function
//! ([`Combiner`]).

use serde::{Deserialize, Serialize};

/// The ways to carry out MPI's collective operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Collectives {
    /// The MPI library, by messages.
    #[default]
    Mpi,
    /// Elanlib, by its software trees.
    Elan,
    /// Elanlib, by the hardware wherever that serves the group.
    Hardware,
}

/// The group of all ranks in their order, which exists from the start.
pub const ALL_RANKS: u64 = 0;

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CollectiveKind {
    /// All members wait for all.
    Barrier,
    /// The root's bytes go to all members.
    Broadcast,
    /// All members' vectors are combined at the root.
    Reduce,
    /// All members' vectors are combined at all members.
    AllReduce,
}

impl CollectiveKind {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // MPI's operations
pub enum ReductionOperator {
    Max,
    Min,
    Sum,
    Product,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    BitAnd,
    BitOr,
    BitXor,
}

impl ReductionOperator {
    /// All operations.
    pub const ALL: [ReductionOperator; 10] = [
        ReductionOperator::Max,
        ReductionOperator::Min,
        ReductionOperator::Sum,
        ReductionOperator::Product,
        ReductionOperator::LogicalAnd,
        ReductionOperator::LogicalOr,
        ReductionOperator::LogicalXor,
        ReductionOperator::BitAnd,
        ReductionOperator::BitOr,
        ReductionOperator::BitXor,
    ];
}

/// An element's type, in the host's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // their names suffice
pub enum Element {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    /// Two `f32`: real and imaginary part.
    ComplexF32,
    /// Two `f64`: real and imaginary part.
    ComplexF64,
    /// A one-byte truth value.
    Bool,
    /// A byte without a number in it.
    Byte,
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

    /// Bytes per element.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorReduction {
    /// The operation.
    pub operation: ReductionOperator,
    /// The element type.
    pub element: Element,
}

impl VectorReduction {
    /// An operation on a type for which MPI defines it (MPI 5.0 s6.9.2).
    pub fn new(operation: ReductionOperator, element: Element) -> Option<Self> {
        use ReductionOperator::{
            BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr, LogicalXor, Max, Min, Product, Sum,
        };
        let defined = match element {
            Element::F32 | Element::F64 => matches!(operation, Max | Min | Sum | Product),
            Element::ComplexF32 | Element::ComplexF64 => matches!(operation, Sum | Product),
            Element::Bool => matches!(operation, LogicalAnd | LogicalOr | LogicalXor),
            Element::Byte => matches!(operation, BitAnd | BitOr | BitXor),
            _ => true,
        };
        defined.then_some(VectorReduction { operation, element })
    }
}

/// How two vectors become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Combiner {
    /// Element by element.
    Known(VectorReduction),
    /// By each rank's own function: the simulator asks the rank that combines on its host
    /// ([`Report::Combine`]).
    ///
    /// [`Report::Combine`]: crate::Report::Combine
    Own {
        /// Bytes per element.
        element: u64,
    },
}

impl Combiner {
    /// Bytes per element.
    pub fn element(&self) -> u64 {
        match self {
            Combiner::Known(reduction) => reduction.element.size(),
            Combiner::Own { element } => *element,
        }
    }

    /// Whether the vectors have elements, for which MPI defines the operation.
    pub(crate) fn is_defined(self) -> bool {
        match self {
            Combiner::Known(VectorReduction { operation, element }) => {
                VectorReduction::new(operation, element).is_some()
            }
            Combiner::Own { element } => element > 0,
        }
    }
}
