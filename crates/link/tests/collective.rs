//! The reductions that MPI defines.

use link::collective::{Element, Operation, Reduction};

#[test]
fn operations_are_those_of_their_types() {
    let all = Operation::ALL.into_iter().flat_map(|operation| {
        let reduction = move |element| Reduction::new(operation, element);
        Element::ALL.into_iter().filter_map(reduction)
    });
    // All 10 of 8 types of integers, 4 of 2 of floating point, 2 of 2 complex ones, 3 of truth values, 3 of bytes.
    assert_eq!(all.count(), 8 * 10 + 2 * 4 + 2 * 2 + 3 + 3);
}
