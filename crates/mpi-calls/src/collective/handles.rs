//! The meanings of MPICH's handles: in its own binary interface, where they are integers, and in
//! MPI 5's standard one, where they are pointers with values that the standard fixes for MPI's own
//! objects.

use fi::mpi::{is_standard, named};
use link::collective::{Element, ReductionOperator, VectorReduction};
use std::ffi::CStr;
use std::ffi::c_int;
use std::sync::OnceLock;

/// A binary interface in MPICH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// Its own.
    Mpich,
    /// MPI 5's.
    Standard,
}

/// MPI's own types with their elements. Types outside C have no logical operations.
type Types = [(Element, &'static [usize], &'static [usize]); 14];

/// Handles of C types, and of other types, in MPICH's own interface.
const OF_MPICH: Types = [
    (Element::I8, &[0x4c00_0118, 0x4c00_0137], &[0x4c00_012d]),
    (Element::U8, &[0x4c00_0102, 0x4c00_013b], &[]),
    (Element::I16, &[0x4c00_0203, 0x4c00_0238], &[0x4c00_022f]),
    (Element::U16, &[0x4c00_0204, 0x4c00_023c], &[]),
    (
        Element::I32,
        &[0x4c00_0405, 0x4c00_0439],
        &[0x4c00_041b, 0x4c00_0430],
    ),
    (Element::U32, &[0x4c00_0406, 0x4c00_043d], &[]),
    (
        Element::I64,
        &[0x4c00_0807, 0x4c00_0809, 0x4c00_083a],
        &[0x4c00_0831, 0x4c00_0843, 0x4c00_0844, 0x4c00_0845],
    ),
    (Element::U64, &[0x4c00_0808, 0x4c00_0819, 0x4c00_083e], &[]),
    (Element::F32, &[0x4c00_040a], &[0x4c00_041c, 0x4c00_0427]),
    (Element::F64, &[0x4c00_080b], &[0x4c00_081f, 0x4c00_0829]),
    (
        Element::ComplexF32,
        &[0x4c00_0840, 0x4c00_0834],
        &[0x4c00_081e, 0x4c00_0828],
    ),
    (
        Element::ComplexF64,
        &[0x4c00_1041, 0x4c00_1035],
        &[0x4c00_1022, 0x4c00_102a],
    ),
    (Element::Bool, &[0x4c00_013f, 0x4c00_0133], &[]),
    (Element::Byte, &[0x4c00_010d], &[]),
];

/// The same handles in the standard interface (MPI 5.0, appendix A); without the Fortran types for
/// which it leaves the sizes open.
const OF_STANDARD: Types = [
    (Element::I8, &[0x244, 0x240], &[0x2c1]),
    (Element::U8, &[0x245, 0x241], &[]),
    (Element::I16, &[0x208, 0x248], &[0x2c9]),
    (Element::U16, &[0x20c, 0x249], &[]),
    (Element::I32, &[0x209, 0x250], &[0x2d1]),
    (Element::U32, &[0x20d, 0x251], &[]),
    (
        Element::I64,
        &[0x20a, 0x20b, 0x258],
        &[0x2d9, 0x201, 0x202, 0x203],
    ),
    (Element::U64, &[0x20e, 0x20f, 0x259], &[]),
    (Element::F32, &[0x210], &[0x2d2]),
    (Element::F64, &[0x214], &[0x2da]),
    (Element::ComplexF32, &[0x212, 0x213], &[0x2db]),
    (Element::ComplexF64, &[0x216, 0x217], &[0x2e3]),
    (Element::Bool, &[0x238, 0x239], &[]),
    (Element::Byte, &[0x247], &[]),
];

impl Abi {
    /// The interface of the program's MPI library; `None` if that is another library, or lacks a
    /// needed function.
    pub fn of_library() -> Option<Abi> {
        static FOUND: OnceLock<Option<Abi>> = OnceLock::new();
        *FOUND.get_or_init(|| {
            // MPICH from version 4 on has all these functions, and Open MPI lacks this extension's
            // functions.
            const NEEDED: [&CStr; 3] = [c"PMPI_Pack_c", c"PMPI_Unpack_c", c"MPIX_Grequest_start"];
            let found = NEEDED.map(named);
            let [Some(pack), Some(_), Some(_)] = found else {
                return None;
            };
            Some(if is_standard(pack) {
                Abi::Standard
            } else {
                Abi::Mpich
            })
        })
    }

    /// A handle from an argument's word: an `int` leaves the upper half of its register arbitrary.
    pub fn handle(self, word: usize) -> usize {
        match self {
            Abi::Mpich => word as u32 as usize,
            Abi::Standard => word,
        }
    }

    /// `MPI_COMM_WORLD`.
    pub fn world(self) -> usize {
        match self {
            Abi::Mpich => 0x4400_0000,
            Abi::Standard => 0x101,
        }
    }

    /// Whether a handle is not a communicator, or is `MPI_COMM_NULL`.
    pub fn is_no_comm(self, comm: usize) -> bool {
        match self {
            // Two bits have the kind of handle, four the kind of object.
            Abi::Mpich => comm & 0x3c00_0000 != 0x0400_0000 || comm >> 30 == 0,
            Abi::Standard => comm == 0 || comm == 0x100,
        }
    }

    /// Whether a handle is not a type, or is `MPI_DATATYPE_NULL`.
    pub fn is_no_type(self, datatype: usize) -> bool {
        match self {
            Abi::Mpich => datatype & 0x3c00_0000 != 0x0c00_0000 || datatype >> 30 == 0,
            Abi::Standard => datatype == 0 || datatype == 0x200,
        }
    }

    /// Whether a type's elements lie side by side without gaps: among MPI's own types all but the
    /// pairs of different types.
    pub fn is_contiguous(self, datatype: usize) -> bool {
        match self {
            Abi::Mpich => datatype >> 24 == 0x4c,
            Abi::Standard => {
                (0x201..0x300).contains(&datatype) && !(0x228..0x230).contains(&datatype)
            }
        }
    }

    /// The buffer `MPI_IN_PLACE`.
    pub fn in_place(self) -> usize {
        match self {
            Abi::Mpich => usize::MAX,
            Abi::Standard => 1,
        }
    }

    /// `MPI_ERR_TRUNCATE`.
    pub fn truncated(self) -> c_int {
        match self {
            Abi::Mpich => 14,
            Abi::Standard => 15,
        }
    }

    /// `MPI_ERR_OTHER`.
    pub fn other(self) -> c_int {
        match self {
            Abi::Mpich => 15,
            Abi::Standard => 16,
        }
    }

    /// `MPI_BYTE`.
    pub fn byte(self) -> usize {
        match self {
            Abi::Mpich => 0x4c00_010d,
            Abi::Standard => 0x247,
        }
    }

    /// How MPI's own operation combines elements of MPI's own type, if MPI defines that.
    pub fn reduction(self, datatype: usize, operation: usize) -> Option<VectorReduction> {
        let types = match self {
            Abi::Mpich => &OF_MPICH,
            Abi::Standard => &OF_STANDARD,
        };
        let operation = self.operation(operation)?;
        types.iter().find_map(|&(element, of_c, others)| {
            let logical = matches!(
                operation,
                ReductionOperator::LogicalAnd
                    | ReductionOperator::LogicalOr
                    | ReductionOperator::LogicalXor
            );
            let known = of_c.contains(&datatype) || !logical && others.contains(&datatype);
            known.then(|| VectorReduction::new(operation, element))?
        })
    }

    fn operation(self, handle: usize) -> Option<ReductionOperator> {
        let index = match self {
            Abi::Mpich => {
                let all = [
                    ReductionOperator::Max,
                    ReductionOperator::Min,
                    ReductionOperator::Sum,
                    ReductionOperator::Product,
                    ReductionOperator::LogicalAnd,
                    ReductionOperator::BitAnd,
                    ReductionOperator::LogicalOr,
                    ReductionOperator::BitOr,
                    ReductionOperator::LogicalXor,
                    ReductionOperator::BitXor,
                ];
                return all.get(handle.checked_sub(0x5800_0001)?).copied();
            }
            Abi::Standard => handle,
        };
        Some(match index {
            0x21 => ReductionOperator::Sum,
            0x22 => ReductionOperator::Min,
            0x23 => ReductionOperator::Max,
            0x24 => ReductionOperator::Product,
            0x28 => ReductionOperator::BitAnd,
            0x29 => ReductionOperator::BitOr,
            0x2a => ReductionOperator::BitXor,
            0x30 => ReductionOperator::LogicalAnd,
            0x31 => ReductionOperator::LogicalOr,
            0x32 => ReductionOperator::LogicalXor,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
