//! Each operation on numbers that distinguish them; `tests/mpi/reductions.c` compares all of them
//! with an MPI library.

use super::*;

fn two<const SIZE: usize>(
    operation: ReductionOperator,
    element: Element,
    one: [u8; SIZE],
    mut other: [u8; SIZE],
) -> [u8; SIZE] {
    let reduction = VectorReduction::new(operation, element).expect("it is defined");
    combine(reduction, &one, &mut other);
    other
}

#[test]
fn integers_wrap_and_compare_by_their_signs() {
    let i8s = |operation, a: i8, b: i8| {
        two(operation, Element::I8, a.to_ne_bytes(), b.to_ne_bytes())[0].cast_signed()
    };
    assert_eq!(i8s(ReductionOperator::Max, -1, 1), 1);
    assert_eq!(i8s(ReductionOperator::Min, -1, 1), -1);
    assert_eq!(i8s(ReductionOperator::Sum, 100, 100), -56);
    assert_eq!(i8s(ReductionOperator::Product, 16, 17), 16);
    assert_eq!(i8s(ReductionOperator::LogicalAnd, 4, 2), 1);
    assert_eq!(i8s(ReductionOperator::LogicalOr, 0, 2), 1);
    assert_eq!(i8s(ReductionOperator::LogicalXor, 4, 2), 0);
    assert_eq!(i8s(ReductionOperator::BitAnd, 6, 3), 2);
    assert_eq!(i8s(ReductionOperator::BitOr, 6, 3), 7);
    assert_eq!(i8s(ReductionOperator::BitXor, 6, 3), 5);
    assert_eq!(two(ReductionOperator::Max, Element::U8, [255], [1]), [255]);
    let max = u64::MAX.to_ne_bytes();
    assert_eq!(
        two(ReductionOperator::Sum, Element::U64, max, max),
        (u64::MAX - 1).to_ne_bytes()
    );
    assert_eq!(two(ReductionOperator::Max, Element::U64, max, [1; 8]), max);
    assert_eq!(
        two(ReductionOperator::Max, Element::I64, max, [0; 8]),
        [0; 8]
    );
}

#[test]
fn numbers_of_one_and_two_parts() {
    let f64s = |operation, a: f64, b: f64| {
        f64::from_ne_bytes(two(
            operation,
            Element::F64,
            a.to_ne_bytes(),
            b.to_ne_bytes(),
        ))
    };
    assert_eq!(
        f64s(ReductionOperator::Max, -2.5, 1.5).to_bits(),
        1.5f64.to_bits()
    );
    assert_eq!(
        f64s(ReductionOperator::Min, -2.5, 1.5).to_bits(),
        (-2.5f64).to_bits()
    );
    assert_eq!(
        f64s(ReductionOperator::Sum, -2.5, 1.5).to_bits(),
        (-1f64).to_bits()
    );
    assert_eq!(
        f64s(ReductionOperator::Product, -2.5, 2.0).to_bits(),
        (-5f64).to_bits()
    );
    let pair = |[a, b]: [f32; 2]| {
        u64::from_ne_bytes(
            [a.to_ne_bytes(), b.to_ne_bytes()]
                .concat()
                .try_into()
                .unwrap(),
        )
    };
    let complex = |operation, a, b| {
        let element = Element::ComplexF32;
        u64::from_ne_bytes(two(
            operation,
            element,
            pair(a).to_ne_bytes(),
            pair(b).to_ne_bytes(),
        ))
    };
    assert_eq!(
        complex(ReductionOperator::Sum, [1.0, 2.0], [3.0, 4.0]),
        pair([4.0, 6.0])
    );
    // (1 + 2i)(3 + 4i) = -5 + 10i.
    assert_eq!(
        complex(ReductionOperator::Product, [1.0, 2.0], [3.0, 4.0]),
        pair([-5.0, 10.0])
    );
}

#[test]
fn every_element_of_a_vector() {
    let reduction =
        VectorReduction::new(ReductionOperator::Sum, Element::U16).expect("it is defined");
    let one: Vec<u8> = (0..100u16).flat_map(u16::to_ne_bytes).collect();
    let mut other = one.clone();
    combine(reduction, &one, &mut other);
    let twice: Vec<u8> = (0..100u16).flat_map(|n| (2 * n).to_ne_bytes()).collect();
    assert_eq!(other, twice);
}
