//! Digests: fixed values, and every field in its place.

use kernel::Digest;

fn hex(fill: impl FnOnce(&mut Digest)) -> String {
    let mut digest = Digest::new();
    fill(&mut digest);
    digest.hex()
}

/// Stored results are compared by these values.
#[test]
fn values_are_fixed() {
    // XXH3-128 over no bytes, as in its specification.
    assert_eq!(Digest::default().hex(), "99aa06d3014798d86001c324468d497f");
    let all = hex(|digest| {
        digest.u64(35).f64(2.2).str("accepted");
    });
    assert_eq!(all, "9a56d5b290540fd8a858bba4dc6d3565");
}

#[test]
fn several_integers_count_as_one_after_the_other() {
    assert_eq!(
        hex(|d| _ = d.u64s([1, u64::MAX, 0])),
        hex(|d| _ = d.u64(1).u64(u64::MAX).u64(0))
    );
}

#[test]
fn order_kind_and_length_matter() {
    let digests = [
        hex(|digest| _ = digest.u64(1).u64(2)),
        hex(|digest| _ = digest.u64(2).u64(1)),
        hex(|digest| _ = digest.f64(1.0).f64(2.0)),
        hex(|digest| _ = digest.f64(0.0)),
        hex(|digest| _ = digest.f64(-0.0)),
        hex(|digest| _ = digest.str("ab").str("c")),
        hex(|digest| _ = digest.str("a").str("bc")),
        hex(|digest| _ = digest.str("abc")),
    ];
    for (number, digest) in digests.iter().enumerate() {
        assert_eq!(digest.len(), 32);
        assert!(!digests[..number].contains(digest), "{number}");
    }
}

#[test]
fn a_digest_may_be_read_on_the_way() {
    let mut digest = Digest::new();
    digest.u64(1);
    let fork = digest.clone();
    assert_eq!(format!("{digest:?}"), format!("Digest({:?})", fork.hex()));
    digest.u64(2);
    assert_ne!(digest.hex(), fork.hex());
}
