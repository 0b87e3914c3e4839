//! Tests that need no simulator.

use super::heap::SymmetricHeap;
use super::waits::holds;

const BASE: usize = 0x1000;

#[test]
fn equal_calls_give_equal_addresses() {
    let run = || {
        let mut heap = SymmetricHeap::new(BASE, 1 << 20);
        let first = heap.take(100, 1).unwrap();
        let second = heap.take(1, 4096).unwrap();
        assert!(heap.give_back(first));
        let third = heap.take(64, 8).unwrap();
        (first, second, third, heap.take(0, 8))
    };
    assert_eq!(run(), run());
    assert_eq!(run(), (0x1000, 0x2000, 0x1000, Some(0x1040)));
}

#[test]
fn a_full_heap_refuses() {
    let mut heap = SymmetricHeap::new(BASE, 256);
    assert_eq!(heap.take(257, 1), None);
    assert_eq!(heap.take(usize::MAX, 1), None);
    assert_eq!(heap.take(256, 1), Some(BASE));
    assert_eq!(heap.take(1, 1), None);
    assert!(heap.give_back(BASE));
    assert!(!heap.give_back(BASE));
    assert_eq!(heap.take(1, 256), Some(BASE));
}

#[test]
fn an_allocation_grows_where_it_is_up_to_the_next_one() {
    let mut heap = SymmetricHeap::new(BASE, 1024);
    let first = heap.take(64, 1).unwrap();
    let second = heap.take(64, 1).unwrap();
    assert!(!heap.resize(first, 65));
    assert!(heap.resize(second, 900));
    assert!(!heap.resize(second, 1000));
    assert!(!heap.resize(second, usize::MAX));
    assert_eq!(heap.length(second), Some(960));
    assert!(heap.give_back(second));
    assert!(heap.resize(first, 1024));
    assert!(!heap.resize(second, 1));
}

#[test]
fn comparisons_know_signs_and_widths() {
    let minus = (-1_i16).cast_unsigned().into();
    for (comparison, signed, unsigned) in [
        (0, false, false),
        (1, true, true),
        (2, false, true),
        (3, false, true),
        (4, true, false),
        (5, true, false),
    ] {
        assert_eq!(holds(minus, comparison, 1, 2, true), Some(signed));
        assert_eq!(holds(minus, comparison, 1, 2, false), Some(unsigned));
    }
    assert_eq!(holds(0, 6, 0, 8, true), None);
    // A program's negative value comes as an 8-byte word.
    assert_eq!(holds(0xffff_ffff, 0, u64::MAX, 4, true), Some(true));
}
