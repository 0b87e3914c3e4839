//! The section `[run]`: a series' value for a key overrides the default for all series, for each
//! key that a series may have.

use crate::common;

use common::points;
use serde_json::{Value, json};

/// Keys and values.
const CHANGES: [(&str, &str); 8] = [
    ("warm_up", "150 us"),
    ("window", "250 us"),
    ("precision", "0.25"),
    ("doublings", "2"),
    ("batches", "5"),
    ("slices", "6"),
    ("watch", "20 us"),
    ("seeds", "3"),
];

#[test]
fn what_a_series_says_goes_before_the_default() {
    let run = |overrides: &[&str], series: &str| -> Value {
        let points = points(overrides);
        let point = points.iter().find(|point| point.series == series);
        json!(point.expect("there is such a series").run)
    };
    let before = run(&[], "ping");
    for (key, value) in CHANGES {
        let change = format!("series.load.run.{key}={value}");
        let (ours, others) = (run(&[&change], "load"), run(&[&change], "ping"));
        let said = ours[key].to_string().replace('"', "");
        assert_eq!(said, value, "{key}");
        assert_eq!(others, before, "{key}");
        // The same as a default holds for all series.
        let default = format!("run.{key}={value}");
        assert_eq!(run(&[&default], "ping")[key], ours[key], "{key}");
    }
}
