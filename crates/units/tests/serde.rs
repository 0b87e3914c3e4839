//! Quantities in configuration and results: a string in both directions.

use serde_json::json;
use units::{Bytes, Flits, Rate, Time};

#[test]
fn is_a_string_in_both_directions() {
    let all = (
        Time::from_ns(35),
        Bytes::from_kb(256),
        Rate::from_mb_per_second(400),
        Flits::new(128),
    );
    let value = serde_json::to_value(all).unwrap();
    assert_eq!(value, json!(["35 ns", "256 KB", "400 MB/s", "128 flits"]));
    assert_eq!(
        serde_json::from_value::<(Time, Bytes, Rate, Flits)>(value).unwrap(),
        all
    );
}

#[test]
fn a_bare_number_has_no_unit() {
    for value in [json!(35), json!(-35), json!(3.5)] {
        let error = serde_json::from_value::<Time>(value).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"expected a time with its unit, such as "35 ns"; a bare number has no unit"#
        );
    }
}

#[test]
fn other_types_are_named() {
    let error = serde_json::from_value::<Bytes>(json!(true)).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"invalid type: boolean `true`, expected a size with its unit, such as "256 KB""#
    );
}

#[test]
fn errors_of_the_text_come_through() {
    let error = serde_json::from_value::<Rate>(json!("-1 MB/s")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`-1 MB/s` is negative; a rate is zero or more"
    );
}

#[test]
fn the_schema_is_a_string_with_a_pattern() {
    assert_eq!(
        serde_json::to_value(schemars::schema_for!(Time)).unwrap(),
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Time",
            "type": "string",
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ps|ns|us|µs|μs|ms|s)\s*$",
            "description": "a time in ps, ns, us, ms or s, such as \"35 ns\"; a whole number of \
            picoseconds",
        })
    );
    let flits = serde_json::to_value(schemars::schema_for!(Flits)).unwrap();
    assert_eq!(
        flits["pattern"],
        r"^\s*[0-9]+(\.[0-9]+)?\s*(flits|flit)\s*$"
    );
}
