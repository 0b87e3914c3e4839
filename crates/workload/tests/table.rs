//! Cells of tables: a missing value's digest, and texts that are kept as constants.

use kernel::digest::Digest;
use workload::table::{Cell, Value};

fn digest(add: impl Fn(&mut Digest)) -> String {
    let mut digest = Digest::new();
    add(&mut digest);
    digest.hex()
}

/// As an empty text, or the greatest integer.
#[test]
fn a_missing_value_has_a_digest_of_its_type() {
    let text = digest(|digest| None::<String>.add_to(digest));
    assert_eq!(text, digest(|digest| String::new().add_to(digest)));
    let number = digest(|digest| None::<u32>.add_to(digest));
    assert_eq!(number, digest(|digest| u64::MAX.add_to(digest)));
    assert_ne!(text, number);
}

/// The same text is kept once, and one of more than 256 bytes not at all.
#[test]
fn texts_are_kept_as_constants() {
    let text = "a text that is kept once".to_owned();
    let kept = || <&str as Cell>::of(Value::Text(&text)).expect("it is short");
    assert_eq!(kept(), text);
    assert!(std::ptr::eq(kept(), kept()));
    let long = "x".repeat(257);
    assert_eq!(
        <&str as Cell>::of(Value::Text(&long[1..])),
        Some(&long[1..])
    );
    assert_eq!(<&str as Cell>::of(Value::Text(&long)), None);
}
