//! Atomics against a word that others change meanwhile.

use super::{AtomicOperation, AtomicOrder, AtomicRequest, Atomics, WordType, combine};
use link::{Order, RemoteMemory};

fn request(id: u64, element: WordType, operation: AtomicOperation, operand: u64) -> AtomicRequest {
    AtomicRequest {
        id,
        on: RemoteMemory {
            rank: 1,
            key: 5,
            offset: 8,
        },
        element,
        operation,
        operand,
        compare: 0,
    }
}

/// The adapter's change to the word; returns the old one.
fn execute(word: &mut u64, (_, order): &AtomicOrder) -> u64 {
    let Order::Atomic {
        atomic,
        operand,
        compare,
        ..
    } = *order
    else {
        panic!("an atomic, not {order:?}");
    };
    let old = *word;
    *word = atomic.apply(old, operand, compare).unwrap_or(old);
    old
}

#[test]
fn words_combine_by_their_types() {
    use WordType::{F32, F64, I32, I64, U32, U64};
    let bits = |number: f64| number.to_bits();
    let one = u64::from((-1_i32).cast_unsigned());
    assert_eq!(combine(AtomicOperation::Min, I32, one, 3), one);
    assert_eq!(combine(AtomicOperation::Min, U32, one, 3), 3);
    assert_eq!(combine(AtomicOperation::Max, I64, u64::MAX, 3), 3);
    assert_eq!(combine(AtomicOperation::Max, U64, u64::MAX, 3), u64::MAX);
    assert_eq!(
        combine(AtomicOperation::Product, I32, one, 7),
        u64::from((-7_i32).cast_unsigned())
    );
    assert_eq!(combine(AtomicOperation::LogicalXor, I32, 4, 2), 0);
    assert_eq!(combine(AtomicOperation::LogicalAnd, U64, 4, 2), 1);
    assert_eq!(
        combine(AtomicOperation::Sum, F64, bits(1.5), bits(2.25)),
        bits(3.75)
    );
    let four = |number: f32| u64::from(number.to_bits());
    assert_eq!(
        combine(AtomicOperation::Product, F32, four(1.5), four(2.0)),
        four(3.0)
    );
    assert!(!AtomicOperation::BitOr.suits(F32) && AtomicOperation::BitOr.suits(U32));
}

#[test]
fn an_operation_that_the_adapter_lacks_begins_anew_if_the_word_has_changed() {
    let (mut atomics, mut word) = (Atomics::default(), 10);
    let first = atomics.begin(request(1, WordType::I64, AtomicOperation::Product, 3));
    let found = execute(&mut word, &first.expect("nothing is before it"));
    let (second, goes_on) = atomics.found(1, found);
    assert!(goes_on);
    word = 20; // by another rank
    let found = execute(&mut word, &second.expect("a swap"));
    let (third, goes_on) = atomics.found(1, found);
    assert!(goes_on && word == 20);
    let found = execute(&mut word, &third.expect("another swap"));
    assert_eq!(found, 20);
    let (next, goes_on) = atomics.found(1, found);
    assert!(!goes_on && next.is_none() && word == 60);
}

#[test]
fn a_word_that_stays_is_not_stored() {
    let (mut atomics, mut word) = (Atomics::default(), 10);
    let first = atomics.begin(request(1, WordType::I64, AtomicOperation::Max, 3));
    let found = execute(&mut word, &first.expect("nothing is before it"));
    let (next, goes_on) = atomics.found(1, found);
    assert!(next.is_none() && !goes_on && word == 10);
}

#[test]
fn operations_on_a_word_come_in_order() {
    let mut atomics = Atomics::default();
    let mut other = request(3, WordType::I32, AtomicOperation::Sum, 1);
    other.on.offset = 12;
    assert!(
        atomics
            .begin(request(1, WordType::I32, AtomicOperation::Sum, 1))
            .is_some()
    );
    assert!(
        atomics
            .begin(request(2, WordType::I32, AtomicOperation::Write, 9))
            .is_none()
    );
    assert!(atomics.begin(other).is_some());
    let (next, goes_on) = atomics.found(1, 0);
    let (id, order) = next.expect("the write");
    assert!(!goes_on);
    assert!(id == 2 && matches!(order, Order::Atomic { operand: 9, .. }));
    assert!(atomics.found(2, 1).0.is_none());
    assert!(atomics.found(4, 1) == (None, false));
}
