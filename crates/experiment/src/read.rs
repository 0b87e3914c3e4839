//! Reads an experiment file's text, with overrides, into a checked experiment.

use crate::figures;
use crate::file::Experiment;
use crate::kinds::{self, Sections};
use crate::missing;
use crate::pattern::{PatternSpec, Unread};
use config::{Document, Override, Problem, Problems};
use toml_edit::{Item, Value};

impl Experiment {
    /// Reads and checks an experiment file. A key in `overrides` is `run.KEY`, a default for all
    /// series; `series.NAME.FIELD`, a field in the series' benchmark or only job, such as
    /// `series.load.nodes`; `series.NAME.JOB.FIELD` where there are several jobs, or a job beside
    /// another benchmark; `series.NAME.run.KEY`, a change that the series makes to the defaults; or
    /// `fault.NUMBER.KEY` and `series.NAME.fault.NUMBER.KEY`, a fault's field.
    ///
    /// # Errors
    /// All problems with the file, each with its place. [`crate::plan`] makes the checks that
    /// depend on the machine.
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
        let mut sections: Experiment<Sections> = document
            .read()
            .map_err(|problems| advise(missing::all(problems, &document)))?;
        let mut pairs = read_pairs(&mut sections, &document);
        pairs.extend(read_programs(&mut sections, &document));
        let (experiment, mut problems) = sections.checked(&document);
        problems.extend(figures::problems(&experiment, &document));
        problems.extend(pairs);
        Problems::check(problems, experiment).map(|experiment| (experiment, document))
    }

    /// Whether an override is meant for an experiment file rather than a machine file.
    pub fn owns(key: &str) -> bool {
        let first = key.split('.').next();
        first.is_some_and(|first| ["run", "series", "fault"].contains(&first))
    }

    /// The JSON schema for experiment files.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Experiment<Sections>).to_value()
    }
}

/// Reads the pair files that jobs name.
fn read_pairs(experiment: &mut Experiment<Sections>, document: &Document) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, series) in experiment.series.iter_mut().enumerate() {
        for (name, job) in &mut series.jobs {
            let path = format!("series.{index}.jobs.{name}.pattern");
            for number in 0..job.pattern.values().len() {
                let place = job.pattern.place(&path, number);
                if let PatternSpec::Pairs(pairs) = &mut job.pattern.values_mut()[number]
                    && pairs.is_file()
                {
                    match pairs.read(document.file()) {
                        Ok(found) => problems.extend(found),
                        Err(unread) => problems.push(of_file(document, &place, unread)),
                    }
                }
            }
        }
    }
    problems
}

/// Reads the flow and trace files.
fn read_programs(experiment: &mut Experiment<Sections>, document: &Document) -> Vec<Problem> {
    let mut problems = Vec::new();
    let file = document.file();
    for (index, series) in experiment.series.iter_mut().enumerate() {
        for (name, list) in &mut series.flows {
            let path = format!("series.{index}.flows.{name}.file");
            for number in 0..list.file.values().len() {
                let place = list.file.place(&path, number);
                match list.file.values_mut()[number].read_flows(file) {
                    Ok(found) => problems.extend(found),
                    Err(unread) => problems.push(of_file(document, &place, unread)),
                }
            }
        }
        for (name, trace) in &mut series.traces {
            let path = format!("series.{index}.traces.{name}.file");
            for number in 0..trace.file.values().len() {
                let place = trace.file.place(&path, number);
                match trace.file.values_mut()[number].read_trace(file) {
                    Ok(None) => {}
                    Ok(Some(wrong)) => {
                        problems.push(document.problem(&place, wrong.to_string()).hint(IMPORT));
                    }
                    Err(unread) => problems.push(of_file(document, &place, unread)),
                }
            }
        }
    }
    problems
}

/// The problem of a file that cannot be read.
fn of_file(document: &Document, place: &str, unread: Unread) -> Problem {
    let problem = document.problem(place, unread.text);
    match unread.hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// How traces in other formats become files in GOAL.
const IMPORT: &str = "name a trace in GOAL; `elanite goal import FILE... --output trace.goal` \
    translates other \
    formats";

/// Turns `series.NAME.FIELD` and `series.NAME.JOB.FIELD` into the path in the file.
fn full_path(document: &Document, key: &str) -> String {
    let steps: Vec<&str> = key.split('.').collect();
    let ["series", name, rest @ ..] = &steps[..] else {
        return key.to_string();
    };
    let series = document.root().get("series");
    let named = |index: &usize| {
        let series = series.and_then(|series| series.get(*index));
        let own = series.and_then(|series| series.get("name"));
        own.and_then(Item::as_str) == Some(name)
    };
    let count = series.map_or(0, |series| match series {
        Item::ArrayOfTables(tables) => tables.len(),
        other => other.as_array().map_or(0, toml_edit::Array::len),
    });
    let index = (0..count).find(named).or_else(|| name.parse().ok());
    let Some((index, series)) = index.and_then(|index| Some((index, series?.get(index)?))) else {
        return key.to_string();
    };
    let mut named: Vec<(&str, &str)> = Vec::new();
    for kind in kinds::NAMED {
        let programs = series.get(kind).and_then(Item::as_table_like);
        let programs = programs.into_iter().flat_map(|table| table.iter());
        named.extend(programs.map(|(name, _)| (kind, name)));
    }
    let section = kinds::keys().find(|key| series.get(key).is_some());
    let found = match (rest, section, &named[..]) {
        ([field], Some(section), _) => Some(format!("{section}.{field}")),
        ([field], None, [(kind, program)]) => Some(format!("{kind}.{program}.{field}")),
        ([program, field], _, named) => {
            let of = named.iter().find(|(_, name)| name == program);
            of.map(|(kind, name)| format!("{kind}.{name}.{field}"))
        }
        _ => None,
    };
    found.map_or_else(
        || key.to_string(),
        |found| format!("series.{index}.{found}"),
    )
}

/// Replaces a value; false for a section.
fn replace(item: &mut Item, value: Value) -> bool {
    if item.is_table_like() || item.is_array_of_tables() {
        return false;
    }
    *item = value.into();
    true
}

/// Adds hints that only experiment files need; hints about series replace more general ones.
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
        ("this key is missing", key) => Some(general.unwrap_or(format!(
            "write {key} = ...; `elanite schema experiment` describes it"
        ))),
        (message, "pattern") if message.starts_with("unknown value") => general.or(Some(
            "or name a file of pairs, such as \"pairs.csv\"".into(),
        )),
        _ => general,
    }
}
