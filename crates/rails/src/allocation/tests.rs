//! Matrices that no algorithm makes: some node cannot reach another.

use super::Allocation;

#[test]
fn a_column_with_all_the_ones_of_another_leaves_one_out() {
    let connected = |columns: &[u64]| {
        let columns = columns.to_vec().into();
        Allocation { rails: 4, columns }.is_connected()
    };
    assert!(connected(&[0b0011, 0b0101, 0b1001, 0b0110]));
    assert!(connected(&[0b0111, 0b1001, 0b1010]));
    // The first node reaches the second, but not the other way round.
    assert!(!connected(&[0b0111, 0b0011]));
    assert!(!connected(&[0b0011, 0b1100, 0b0111]));
    // Two nodes send on the same rails.
    assert!(!connected(&[0b0011, 0b1100, 0b0011]));
    // One node sends nowhere; the other receives nowhere.
    assert!(!connected(&[0b0000, 0b0001]));
    assert!(!connected(&[0b1111, 0b0001]));
}
