//! Functions that the tests share.

#![allow(dead_code)] // each test uses a part

use config::{Override, Problems};
use experiment::{Experiment, MachineFile, Point, plan};
use serde_json::Value;

pub const MACHINE: &str = include_str!("../../../machine/tests/good.toml");
pub const GOOD_MACHINE: MachineFile<'_> = MachineFile {
    file: "machine.toml",
    text: MACHINE,
    overrides: &[],
};
/// The same machine with four rails.
pub const RAILS: &str = concat!(
    include_str!("../../../machine/tests/good.toml"),
    include_str!("../../../machine/tests/rails.toml")
);
pub const EXPERIMENT: &str = include_str!("../good.toml");

/// Plans `text` on the tests' machine, with overrides for either file.
pub fn plan_file(file: &str, text: &str, overrides: &[&str]) -> Result<Vec<Point>, Problems> {
    plan_on(GOOD_MACHINE, (file, text), overrides)
}

/// The same on a given machine.
pub fn plan_on(
    machine: MachineFile<'_>,
    (file, text): (&str, &str),
    overrides: &[&str],
) -> Result<Vec<Point>, Problems> {
    let overrides: Result<Vec<_>, _> = overrides.iter().map(|text| Override::parse(text)).collect();
    let (ours, machines): (Vec<_>, Vec<_>) = overrides?
        .into_iter()
        .partition(|change| Experiment::owns(&change.key));
    let (experiment, document) = Experiment::parse(file, text, &ours)?;
    let machine = MachineFile {
        overrides: &machines,
        ..machine
    };
    plan("test/good", (&experiment, &document), &machine, 1)
}

/// The points in a valid file on the tests' machine.
pub fn planned(file: &str, text: &str, overrides: &[&str]) -> Vec<Point> {
    plan_file(file, text, overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The same for one series.
pub fn series(name: &str, file: &str, text: &str, overrides: &[&str]) -> Vec<Point> {
    let mut points = planned(file, text, overrides);
    points.retain(|point| point.series == name);
    points
}

/// The valid experiment's points with overrides.
pub fn points(overrides: &[&str]) -> Vec<Point> {
    planned("good.toml", EXPERIMENT, overrides)
}

/// The points' keys.
pub fn keys(points: &[Point]) -> Vec<String> {
    points.iter().map(Point::key).collect()
}

/// The points' parameters, a line each.
pub fn lines(points: &[Point]) -> String {
    let lines = points
        .iter()
        .map(|point| Value::from(point.parameters()).to_string());
    lines.collect::<Vec<_>>().join("\n")
}

/// Pins the user's error messages, in `bad/NAME.snap`.
pub fn snapshot(name: &str, problems: &Problems) {
    let rendered = problems.render(false);
    for problem in &problems.0 {
        let place = format!("{}:{}:{}", problem.file, problem.line, problem.column);
        assert!(
            rendered.contains(&place),
            "{name}: no {place} in\n{rendered}"
        );
    }
    insta::with_settings!({
        snapshot_path => "../bad", prepend_module_to_snapshot => false, omit_expression => true
    }, {
        insta::assert_snapshot!(name, rendered);
    });
}
