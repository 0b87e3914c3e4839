//! The words of collective operations.

use link::CollectiveKind;
use link::collective::{Element, Operation, Reduction};

#[test]
fn a_reduction_is_what_its_word_says() {
    let mut defined = 0;
    for operation in Operation::ALL {
        for element in Element::ALL {
            let Some(reduction) = Reduction::new(operation, element) else {
                let word = u32::from(operation as u16) | u32::from(element as u16) << 16;
                assert_eq!(Reduction::of_word(word), None);
                continue;
            };
            defined += 1;
            assert_eq!(Reduction::of_word(reduction.word()), Some(reduction));
        }
    }
    // All 10 of 8 types of integers, 4 of 2 of floating point, 2 of 2 complex ones, 3 of truth values, 3 of bytes.
    assert_eq!(defined, 8 * 10 + 2 * 4 + 2 * 2 + 3 + 3);
    assert_eq!(Reduction::of_word(10), None);
    assert_eq!(Reduction::of_word(14 << 16), None);
}

#[test]
fn kinds_are_what_their_tags_say() {
    for tag in 0..4 {
        assert_eq!(
            CollectiveKind::of_tag(tag).map(|kind| kind as u64),
            Some(tag)
        );
    }
    for tag in [4, 1 << 32, u64::MAX] {
        assert_eq!(CollectiveKind::of_tag(tag), None);
    }
}
