//! Lists that go together: the points are those of series that write each row out.

use crate::common::{self, keys, planned};
use experiment::Point;

const HEAD: &str = r#"
title = "Zip"
machine = "good"
[run]
warm_up = "100 us"
window = "200 us"
batches = 4
"#;

/// The series' points, with these lines in the series and its two jobs.
fn jobs(series: &str, compute: &str, io: &str) -> Vec<Point> {
    let job = r#"sizes = "fixed"
arrivals = "exponential""#;
    let text = format!(
        r#"{HEAD}
[[series]]
name = "two"
{series}
[series.jobs.compute]
pattern = "uniform"
{job}
{compute}
[series.jobs.io]
pattern = "uniform"
{job}
{io}
"#
    );
    planned("zip.toml", &text, &[])
}

/// Several series' points, in their order.
fn each(rows: impl IntoIterator<Item = Vec<Point>>) -> Vec<String> {
    keys(&rows.into_iter().flatten().collect::<Vec<_>>())
}

#[test]
fn zipped_lists_are_rows() {
    let zipped = jobs(
        r#"zip = ["compute.nodes", "io.nodes"]"#,
        r#"nodes = ["0-7", "0-15"]
load = ["50 MB/s", "90 MB/s"]
message = "4 KB""#,
        r#"nodes = ["8-15", "16-31"]
load = "50 MB/s"
message = "4 KB""#,
    );
    // Nodes 8 to 15 would have both jobs if all combinations were planned.
    let row = |compute: &str, io: &str| {
        jobs(
            "",
            &format!("nodes = {compute:?}\nload = [\"50 MB/s\", \"90 MB/s\"]\nmessage = \"4 KB\""),
            &format!("nodes = {io:?}\nload = \"50 MB/s\"\nmessage = \"4 KB\""),
        )
    };
    let written = each([row("0-7", "8-15"), row("0-15", "16-31")]);
    assert_eq!(written.len(), 4);
    assert_eq!(keys(&zipped), written);
}

#[test]
fn groups_multiply_each_other() {
    let zipped = jobs(
        r#"zip = [["compute.load", "io.load"], ["machine", "compute.message", "io.message"]]
machine = [{}, { switch.circuit = "wormhole" }]"#,
        r#"nodes = "0-7"
load = ["50 MB/s", "90 MB/s", "10 MB/s"]
message = ["4 KB", "8 KB"]"#,
        r#"nodes = "8-15"
load = ["10 MB/s", "20 MB/s", "30 MB/s"]
message = ["1 KB", "2 KB"]"#,
    );
    let rows = ["50", "90", "10"].into_iter().zip(["10", "20", "30"]);
    let rows = rows.flat_map(|(compute, io)| {
        [
            ("{}", compute, io, "4 KB", "1 KB"),
            (
                r#"{ switch.circuit = "wormhole" }"#,
                compute,
                io,
                "8 KB",
                "2 KB",
            ),
        ]
    });
    let written = each(rows.map(|(machine, compute, io, long, short)| {
        jobs(
            &format!("machine = {machine}"),
            &format!("nodes = \"0-7\"\nload = \"{compute} MB/s\"\nmessage = {long:?}"),
            &format!("nodes = \"8-15\"\nload = \"{io} MB/s\"\nmessage = {short:?}"),
        )
    }));
    assert_eq!(written.len(), 6);
    assert_eq!(keys(&zipped), written);
}

/// A ping's ends, and the fault of all series, by the names of their columns.
#[test]
fn faults_go_together_with_a_ping() {
    let ping = |zip: &str, link: &str, ends: &str| {
        let text = format!(
            r#"{HEAD}
[[fault]]
{link}
at = "10 us"
[[series]]
name = "ping"
{zip}
[series.ping]
{ends}
directions = "one"
source = "elan"
destination = "elan"
message = ["0 B", "64 B"]
repeats = 1
"#
        );
        planned("zip.toml", &text, &[])
    };
    let zipped = ping(
        r#"zip = ["fault.link", "from", "to"]"#,
        r#"link = ["node 1", "node 0"]"#,
        "from = [0, 1]\nto = [1, 0]",
    );
    let written = each([
        ping("", r#"link = "node 1""#, "from = 0\nto = 1"),
        ping("", r#"link = "node 0""#, "from = 1\nto = 0"),
    ]);
    assert_eq!(written.len(), 4);
    assert_eq!(keys(&zipped), written);
}

/// Planning checks a row as a whole: a machine's nodes need to suffice only for the row's own jobs.
#[test]
fn a_row_fits_its_own_machine() {
    let plan = |series: &str| {
        let text = format!(
            r#"{HEAD}
[[series]]
name = "ping"
machine = [{{ topology.nodes = 32 }}, {{ topology.nodes = 64 }}]
{series}
[series.ping]
from = 0
to = [31, 63]
directions = "one"
source = "elan"
destination = "elan"
message = "0 B"
repeats = 1
"#
        );
        common::plan_file("zip.toml", &text, &[])
    };
    assert_eq!(plan(r#"zip = ["machine", "to"]"#).unwrap().len(), 2);
    assert!(plan("").is_err());
}
