//! The assertion that a message is delivered once and as a whole.

use super::{Stripe, assert_complete};
use units::Bytes;

fn stripes(parts: &[(u64, u64)]) -> Vec<Stripe> {
    let stripe = |&(offset, length): &(u64, u64)| Stripe {
        offset: Bytes::new(offset),
        length: Bytes::new(length),
    };
    parts.iter().map(stripe).collect()
}

#[test]
fn stripes_in_any_order_are_the_message() {
    assert_complete(stripes(&[(6, 4), (0, 3), (3, 3)]), Bytes::new(10));
    assert_complete(stripes(&[(0, 0)]), Bytes::ZERO);
}

#[test]
#[should_panic(expected = "delivered twice")]
fn a_stripe_twice_is_noticed() {
    assert_complete(stripes(&[(0, 5), (5, 5), (5, 5)]), Bytes::new(10));
}

#[test]
#[should_panic(expected = "is lost")]
fn a_gap_is_noticed() {
    assert_complete(stripes(&[(0, 4), (5, 5)]), Bytes::new(10));
}

#[test]
#[should_panic(expected = "the end of a message is lost")]
fn a_missing_end_is_noticed() {
    assert_complete(stripes(&[(0, 4)]), Bytes::new(10));
}
