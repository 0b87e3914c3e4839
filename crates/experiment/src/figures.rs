//! Checks the names in an experiment's figures: its series, and its results' columns and metrics.
//!
//! Columns are the fields of the series' benchmarks, and the columns in the drawn tables. A
//! quantity also has a numeric column, named with its unit: `message` and `message_bytes`.

use crate::fault;
use crate::figure::{Drawing, Figure};
use crate::file::Experiment;
use config::{Document, Findings, Problem, nearest};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate, Time};
use workload::Tables;
use workload::rows::METRICS;
use workload::table::Row;

/// Columns that all results have. `on` is the machine where there are several, by a list in the
/// file or in the command line.
const ALWAYS: [&str; 5] = ["id", "experiment", "series", "seed", "on"];

/// Extra columns in which machine changes show several rails.
const OF_CHANGES: [&str; 5] = ["machine", "rails", "policy", "striping", "threshold"];

/// Collects the problems with the figures.
struct Check<'a> {
    findings: Findings<'a>,
    experiment: &'a Experiment,
    columns: BTreeSet<String>,
}

/// The problems with an experiment's figures.
pub(crate) fn problems(experiment: &Experiment, document: &Document) -> Vec<Problem> {
    let mut check = Check {
        findings: Findings::new(document),
        experiment,
        columns: columns(experiment),
    };
    for (index, figure) in experiment.figure.iter().enumerate() {
        check.figure(
            &format!("figure.{index}"),
            figure,
            &experiment.figure[..index],
        );
    }
    check.findings.problems
}

/// The columns with a row's configuration.
fn columns(experiment: &Experiment) -> BTreeSet<String> {
    let mut columns: BTreeSet<String> = ALWAYS.map(String::from).into();
    for series in &experiment.series {
        if series.machine.is_some() {
            columns.extend(OF_CHANGES.map(String::from));
        }
        let faults: Vec<_> = experiment.fault.iter().chain(&series.fault).collect();
        let faults = fault::columns(faults.into_iter());
        for (key, value) in faults.into_iter().chain(series.benchmark.columns()) {
            let values = value
                .as_array()
                .map_or(std::slice::from_ref(&value), Vec::as_slice);
            columns.extend(
                values
                    .iter()
                    .filter_map(unit)
                    .map(|unit| format!("{key}_{unit}")),
            );
            columns.insert(key);
        }
    }
    columns
}

/// The name suffix of a quantity's numeric column.
fn unit(value: &Value) -> Option<&'static str> {
    let text = value.as_str()?;
    let size = text.parse::<Bytes>().ok().map(|_| "bytes");
    let rate = || text.parse::<Rate>().ok().map(|_| "MBps");
    let time = || text.parse::<Time>().ok().map(|_| "us");
    size.or_else(rate).or_else(time)
}

/// The columns that a text names in braces.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split('{').skip(1);
    parts.filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

impl Check<'_> {
    fn figure(&mut self, path: &str, figure: &Figure, before: &[Figure]) {
        if before.iter().any(|other| other.name == figure.name) {
            let message = format!("there are two figures `{}`", figure.name);
            let found = self.findings.problem(&format!("{path}.name"), message);
            found.hint("give each figure a name of its own");
        }
        let general = matches!(
            figure.draw,
            Drawing::Curves | Drawing::Bars | Drawing::Loads
        );
        let mut columns = self.columns.clone();
        let tables = Tables::default();
        let of_others = || {
            tables
                .all()
                .into_iter()
                .flat_map(|(_, table)| table.columns())
        };
        let drawn = if general {
            workload::MetricRow::columns()
        } else {
            of_others().collect()
        };
        columns.extend(drawn.into_iter().map(|column| column.name));
        self.rows(path, (&figure.series, &figure.select), &columns);
        if let Some(beside) = &figure.beside {
            self.rows(
                &format!("{path}.beside"),
                (&beside.series, &beside.select),
                &columns,
            );
        }
        self.selection(&format!("{path}.twice"), &figure.twice, &columns);
        for key in figure.names.keys() {
            self.column(&format!("{path}.names.{key}"), key, &columns);
        }
        for (number, text) in figure.curve.iter().enumerate() {
            for name in named(text) {
                self.column(&format!("{path}.curve.{number}"), name, &columns);
            }
        }
        if !figure.panel.is_empty() {
            self.column(&format!("{path}.panel"), &figure.panel, &columns);
            columns.insert("letter".into());
        }
        for (key, text) in [
            ("name", &figure.name),
            ("title", &figure.title),
            ("paper", &figure.paper),
            ("caption", &figure.caption),
            ("dashed", &figure.dashed),
        ] {
            for name in named(text) {
                self.column(&format!("{path}.{key}"), name, &columns);
            }
        }
        self.axes(path, figure, columns);
    }

    /// Checks the axes. A metric may stand on the horizontal axis, too.
    fn axes(&mut self, path: &str, figure: &Figure, mut columns: BTreeSet<String>) {
        let over = matches!(figure.draw, Drawing::Curves | Drawing::Bars);
        for (key, value) in [("x", &figure.x), ("metric", &figure.metric)] {
            if over && value.is_empty() {
                let found = self
                    .findings
                    .problem(path, format!("the figure `{}` has no `{key}`", figure.name));
                found.hint(format!(
                    "write {key} = ...; `elanite schema experiment` describes it"
                ));
            }
        }
        let metrics: BTreeSet<String> = METRICS.iter().map(ToString::to_string).collect();
        for (key, metric) in [("metric", &figure.metric), ("offered", &figure.offered)] {
            if !metric.is_empty() {
                self.one_of(&format!("{path}.{key}"), ("metric", metric), &metrics);
            }
        }
        if !figure.x.is_empty() && !metrics.contains(&figure.x) {
            columns.remove("letter");
            self.column(&format!("{path}.x"), &figure.x, &columns);
        }
    }

    /// Checks rows, which are chosen by their series and column values.
    fn rows(
        &mut self,
        path: &str,
        (series, select): (&[String], &BTreeMap<String, Value>),
        columns: &BTreeSet<String>,
    ) {
        let names = self
            .experiment
            .series
            .iter()
            .map(|series| series.name.clone())
            .collect();
        for (number, name) in series.iter().enumerate() {
            self.one_of(&format!("{path}.series.{number}"), ("series", name), &names);
        }
        self.selection(&format!("{path}.where"), select, columns);
    }

    /// Checks columns and their chosen values, which may be other columns:
    /// `source = "{destination}"`.
    fn selection(
        &mut self,
        path: &str,
        select: &BTreeMap<String, Value>,
        columns: &BTreeSet<String>,
    ) {
        for (key, value) in select {
            let path = format!("{path}.{key}");
            self.column(&path, key, columns);
            for name in value.as_str().into_iter().flat_map(named) {
                self.column(&path, name, columns);
            }
        }
    }

    fn column(&mut self, path: &str, name: &str, columns: &BTreeSet<String>) {
        self.one_of(path, ("column", name), columns);
    }

    /// Checks that a name in the figure exists.
    fn one_of(&mut self, path: &str, (what, name): (&str, &str), known: &BTreeSet<String>) {
        if known.contains(name) {
            return;
        }
        let names = || known.iter().map(String::as_str);
        let message = match what {
            "column" => format!("the results have no column `{name}`"),
            _ => format!("there is no {what} `{name}`"),
        };
        let found = self.findings.problem(path, message);
        let found = found.allowed(names().collect::<Vec<_>>().join(", "));
        if let Some(meant) = nearest(name, names()) {
            found.hint(format!("did you mean `{meant}`?"));
        } else if what == "column" {
            found.hint("name a field of what the series run, as the file writes it");
        }
    }
}
