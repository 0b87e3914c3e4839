//! Places of a shared window's parts.

use super::layout;

#[test]
fn parts_lie_one_behind_the_other_unless_gaps_are_wished() {
    let wishes = [(10, 1), (0, 4), (5000, 8)];
    let places = |apart| {
        let (parts, length) = layout(&wishes, apart);
        let places: Vec<usize> = parts.iter().map(|part| part.at).collect();
        (places, length)
    };
    assert_eq!(places(false), (vec![0, 10, 10], 8192));
    assert_eq!(places(true), (vec![0, 4096, 4096], 12288));
    assert_eq!(layout(&[], false).1, 4096);
}
