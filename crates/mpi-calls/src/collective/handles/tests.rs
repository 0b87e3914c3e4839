//! The two interfaces name the same; `tests/mpi/reductions.c` tries all types and operations on
//! MPICH itself.

use super::*;

const BOTH: [Abi; 2] = [Abi::Mpich, Abi::Standard];

/// Handles of `MPI_INT`, `MPI_AINT`, `MPI_DOUBLE`, `MPI_BYTE`, `MPI_CHAR` in both interfaces.
const TYPES: [[usize; 5]; 2] = [
    [
        0x4c00_0405,
        0x4c00_0843,
        0x4c00_080b,
        0x4c00_010d,
        0x4c00_0101,
    ],
    [0x209, 0x201, 0x214, 0x247, 0x243],
];

/// Handles of `MPI_MAX`, `MPI_SUM`, `MPI_LAND`, `MPI_BXOR`, `MPI_MINLOC`.
const OPERATIONS: [[usize; 5]; 2] = [
    [
        0x5800_0001,
        0x5800_0003,
        0x5800_0005,
        0x5800_000a,
        0x5800_000b,
    ],
    [0x23, 0x21, 0x30, 0x2a, 0x38],
];

#[test]
fn reductions_are_those_that_mpi_defines() {
    for ((abi, types), operations) in BOTH.into_iter().zip(TYPES).zip(OPERATIONS) {
        let defined = types.map(|datatype| {
            operations.map(|operation| abi.reduction(datatype, operation).is_some())
        });
        let right = [
            [true, true, true, true, false],
            // Addresses are not truth values.
            [true, true, false, true, false],
            [true, true, false, false, false],
            [false, false, false, true, false],
            // Characters are not numbers.
            [false; 5],
        ];
        assert_eq!(defined, right, "{abi:?}");
        let sum = abi.reduction(types[2], operations[1]);
        let right = VectorReduction::new(ReductionOperator::Sum, Element::F64);
        assert_eq!(sum, right);
    }
}

#[test]
fn every_handle_stands_for_one_type() {
    for (types, abi) in [(OF_MPICH, Abi::Mpich), (OF_STANDARD, Abi::Standard)] {
        let mut all: Vec<usize> = types
            .iter()
            .flat_map(|(_, of_c, others)| of_c.iter().chain(*others))
            .copied()
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        for handle in all {
            assert!(abi.is_contiguous(handle) && !abi.is_no_type(handle));
        }
    }
    // MPICH's handles contain a type's byte count.
    for (element, of_c, others) in OF_MPICH {
        for handle in of_c.iter().chain(others) {
            assert_eq!((handle >> 8 & 0xff) as u64, element.size(), "{handle:#x}");
        }
    }
}

#[test]
fn handles_of_nothing_are_known() {
    assert_eq!(Abi::Mpich.handle(0xffff_ffff_4400_0000), Abi::Mpich.world());
    for abi in BOTH {
        assert!(!abi.is_no_comm(abi.world()));
        assert!(abi.is_no_comm(0) && abi.is_no_type(0));
        assert!(!abi.is_no_type(abi.byte()));
    }
    assert!(Abi::Mpich.is_no_comm(0x0400_0000) && Abi::Standard.is_no_comm(0x100));
    assert!(Abi::Mpich.is_no_type(0x0c00_0000) && Abi::Standard.is_no_type(0x200));
    // Pairs of a number and a place have gaps.
    assert!(!Abi::Mpich.is_contiguous(0x8c00_0001) && !Abi::Standard.is_contiguous(0x229));
}
