//! The reductions that MPI defines.

use link::collective::{Element, ReductionOperator, VectorReduction};

#[test]
fn operations_are_those_of_their_types() {
    let all = ReductionOperator::ALL.into_iter().flat_map(|operation| {
        let reduction = move |element| VectorReduction::new(operation, element);
        Element::ALL.into_iter().filter_map(reduction)
    });
    // All 10 for 8 integer types, 4 for 2 floating-point types, 2 for 2 complex types, 3 for truth
    // values, 3 for bytes.
    assert_eq!(all.count(), 8 * 10 + 2 * 4 + 2 * 2 + 3 + 3);
}
