//! From the text of an experiment file, and overrides, to a checked experiment.

use crate::check;
use crate::file::Experiment;
use config::{Document, Override, Problem, Problems};
use toml_edit::{Item, Value};

impl Experiment {
    /// Reads and checks an experiment file. Keys of `overrides` are `run.KEY`, the defaults of all series;
    /// `series.NAME.FIELD`, a field of a series' workload such as `series.load.nodes`; or `series.NAME.run.KEY`, what
    /// the series changes of the defaults.
    ///
    /// # Errors
    /// Everything that is wrong, with its place. What depends on the machine is checked by [`crate::plan`].
    pub fn parse(
        file: &str,
        text: &str,
        overrides: &[Override],
    ) -> Result<(Experiment, Document), Problems> {
        let mut document = Document::parse(file, text).map_err(advise)?;
        for change in overrides {
            let path = full_path(&document, &change.key);
            document = document.with_override(change, &path, replace)?;
        }
        let experiment: Experiment = document.read().map_err(advise)?;
        let problems = check::problems(&experiment, &document);
        Problems::check(problems, experiment).map(|experiment| (experiment, document))
    }

    /// Whether an override is meant for an experiment file rather than a machine file.
    pub fn owns(key: &str) -> bool {
        key == "run" || key == "series" || key.starts_with("run.") || key.starts_with("series.")
    }

    /// The JSON schema of experiment files.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Experiment).to_value()
    }
}

/// Turns `series.NAME.FIELD`, for a field of the workload, into its path in the file.
fn full_path(document: &Document, key: &str) -> String {
    let steps: Vec<&str> = key.split('.').collect();
    if let ["series", name, field] = steps[..] {
        let series = document.root().get("series");
        let named = |index: &usize| {
            let series = series.and_then(|series| series.get(*index));
            series
                .and_then(|series| series.get("name"))
                .and_then(Item::as_str)
                == Some(name)
        };
        let count = series.map_or(0, |series| match series {
            Item::ArrayOfTables(tables) => tables.len(),
            other => other.as_array().map_or(0, toml_edit::Array::len),
        });
        let index = (0..count).find(named).or_else(|| name.parse().ok());
        let workload = index.and_then(|index| series?.get(index)?.get("workload")?.as_table_like());
        if let (Some(index), Some((kind, _))) =
            (index, workload.and_then(|workload| workload.iter().next()))
        {
            return format!("series.{index}.workload.{kind}.{field}");
        }
    }
    key.to_string()
}

/// Replaces a value; false for a section.
fn replace(item: &mut Item, value: Value) -> bool {
    if item.is_table_like() || item.is_array_of_tables() {
        return false;
    }
    *item = value.into();
    true
}

/// Adds hints that only experiment files need; those about series replace more general ones.
fn advise(problems: Problems) -> Problems {
    let advised = problems.0.into_iter().map(|problem| {
        let general = problem.hint.clone();
        let hint = hint(&problem, general);
        Problem { hint, ..problem }
    });
    Problems(advised.collect())
}

fn hint(problem: &Problem, general: Option<String>) -> Option<String> {
    let key = problem.key.rsplit('.').next().unwrap_or_default();
    match (problem.message.as_str(), key) {
        ("the file is empty", _) => {
            Some("`elanite schema experiment` describes the keys of an experiment file".into())
        }
        (_, "series") => Some("begin each series with [[series]] and its name".into()),
        ("this key is missing", "workload") => Some(WORKLOAD.into()),
        ("this key is missing", key) => Some(format!(
            "write {key} = ...; `elanite schema experiment` describes it"
        )),
        (_, "workload") => general.or(Some(WORKLOAD.into())),
        _ => general,
    }
}

const WORKLOAD: &str = "say what runs, in a section such as [series.workload.ping]";
