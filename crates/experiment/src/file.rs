//! The format of experiment files. These comments are also the descriptions in the JSON schema.

use crate::sweep::Sweep;
use config::{Document, Override, Problem, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Time};

/// An experiment: one or more series of points on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// One line about it.
    pub title: String,
    /// The document, sections and figures that it reproduces.
    #[serde(default)]
    pub source: String,
    /// The machine that it runs on, unless the command line names another.
    pub machine: String,
    /// Defaults of all series.
    #[serde(default)]
    pub run: Run,
    /// The series.
    pub series: Vec<Series>,
}

/// How points are run and measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Simulated time that is discarded at the start of steady traffic.
    pub warm_up: Time,
    /// Simulated time that is measured after it.
    pub window: Time,
    /// Equal parts of the window; their means are the sample of the confidence interval.
    pub batches: u32,
    /// Runs of each point with different random numbers.
    pub seeds: u32,
    /// A point that needs more events ends with an error.
    pub max_events: u64,
    /// A point that needs more memory ends with an error.
    pub max_memory: Bytes,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            warm_up: Time::ZERO,
            window: Time::from_ms(10),
            batches: 10,
            seeds: 1,
            max_events: 10_000_000_000,
            max_memory: Bytes::from_kb(4 << 20),
        }
    }
}

/// What a series changes of the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunChanges {
    /// See [`Run`].
    pub warm_up: Option<Time>,
    /// See [`Run`].
    pub window: Option<Time>,
    /// See [`Run`].
    pub batches: Option<u32>,
    /// See [`Run`].
    pub seeds: Option<u32>,
}

/// A series of points: the Cartesian product of the lists of its workload, the first key slowest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Short name, unique in the file.
    pub name: String,
    /// One line about it, with the figure.
    #[serde(default)]
    pub title: String,
    /// Changes of the defaults.
    #[serde(default)]
    pub run: RunChanges,
    /// What runs.
    pub workload: WorkloadGrid,
}

/// What a series runs, by the name of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadGrid {
    /// One message at a time between two nodes.
    Ping(PingGrid),
    /// Every node sends to random nodes.
    Uniform(UniformGrid),
}

/// One message at a time between two nodes (000 s4.1, s4.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PingGrid {
    /// The first node.
    pub from: Sweep<u32>,
    /// The second node.
    pub to: Sweep<u32>,
    /// Which messages travel at the same time.
    pub directions: Sweep<Directions>,
    /// Where the sender's buffer lies.
    pub source: Sweep<Placement>,
    /// Where the receiver's buffer lies.
    pub destination: Sweep<Placement>,
    /// Length of each message.
    pub message: Sweep<Bytes>,
    /// Messages in each direction.
    pub repeats: Sweep<u32>,
}

/// Every node sends to random nodes, one message at a time (000 s4.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformGrid {
    /// Nodes that are attached and take part, from node 0 on.
    pub nodes: Sweep<u32>,
    /// Mean message size.
    pub message: Sweep<Bytes>,
    /// Distribution of message sizes.
    pub sizes: Sweep<Distribution>,
    /// Distribution of inter-arrival times.
    pub arrivals: Sweep<Distribution>,
    /// Mean offered load of each node.
    pub load: Sweep<Rate>,
}

/// Which messages of a ping travel at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// From the first node to the second.
    One,
    /// Both ways.
    Both,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// In the adapter's memory.
    Elan,
    /// In main memory, across the bus.
    Main,
}

/// How a quantity with a given mean varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Not at all.
    Fixed,
    /// Uniformly between 0 and twice the mean.
    Uniform,
    /// Exponentially.
    Exponential,
}

impl Run {
    /// The settings of a series.
    pub(crate) fn with(&self, changes: &RunChanges) -> Run {
        Run {
            warm_up: changes.warm_up.unwrap_or(self.warm_up),
            window: changes.window.unwrap_or(self.window),
            batches: changes.batches.unwrap_or(self.batches),
            seeds: changes.seeds.unwrap_or(self.seeds),
            ..self.clone()
        }
    }
}

impl Experiment {
    /// Reads and checks an experiment file. Keys of `overrides` start with `run.`, or with `series.NAME.` and go on with a
    /// field of the series' workload: `series.load.nodes`.
    ///
    /// # Errors
    /// Everything that is wrong, with its place. What depends on the machine is checked by [`crate::plan`].
    pub fn parse(file: &str, text: &str, overrides: &[Override]) -> Result<(Experiment, Document), Problems> {
        let mut document = Document::parse(file, text)?;
        for change in overrides {
            let path = full_path(&document, change);
            document = document.with_override(&Override { key: path, value: change.value.clone() }, |_| change.toml())?;
        }
        let experiment: Experiment = document.read()?;
        let problems = problems(&experiment, &document);
        Problems::check(problems, experiment).map(|experiment| (experiment, document))
    }

    /// Whether an override is meant for an experiment file rather than a machine file.
    pub fn owns(key: &str) -> bool {
        key.starts_with("run.") || key.starts_with("series.")
    }

    /// The JSON schema of experiment files.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Experiment).to_value()
    }
}

/// Turns `series.NAME.FIELD` into the path of the field in the file.
fn full_path(document: &Document, change: &Override) -> String {
    let steps: Vec<&str> = change.key.split('.').collect();
    let tables = document.root().get("series").and_then(toml_edit::Item::as_array_of_tables);
    if let (["series", name, field], Some(tables)) = (&steps[..], tables) {
        let named = |table: &toml_edit::Table| table.get("name").and_then(toml_edit::Item::as_str) == Some(*name);
        if let Some((index, table)) = tables.iter().enumerate().find(|(_, table)| named(table)) {
            let workload = table.get("workload").and_then(toml_edit::Item::as_table_like);
            if let Some((kind, _)) = workload.and_then(|workload| workload.iter().next()) {
                return format!("series.{index}.workload.{kind}.{field}");
            }
        }
    }
    change.key.clone()
}

/// What is out of bounds, whatever the machine.
fn problems(experiment: &Experiment, document: &Document) -> Vec<Problem> {
    let mut problems = Vec::new();
    if experiment.series.is_empty() {
        problems.push(document.problem("series", "an experiment needs at least one series"));
    }
    let run = &experiment.run;
    run_problems("run", (Some(run.window), Some(run.batches), Some(run.seeds)), document, &mut problems);
    if run.max_events == 0 {
        problems.push(document.problem("run.max_events", "no point ends within 0 events").allowed("at least 1"));
    }
    for (index, series) in experiment.series.iter().enumerate() {
        let path = format!("series.{index}");
        let changes = &series.run;
        run_problems(&format!("{path}.run"), (changes.window, changes.batches, changes.seeds), document, &mut problems);
        if experiment.series[..index].iter().any(|other| other.name == series.name) {
            let message = format!("there are two series `{}`", series.name);
            problems.push(document.problem(&format!("{path}.name"), message).hint("give each series its own name"));
        }
        match &series.workload {
            WorkloadGrid::Ping(grid) => grid.problems(&format!("{path}.workload.ping"), document, &mut problems),
            WorkloadGrid::Uniform(grid) => grid.problems(&format!("{path}.workload.uniform"), document, &mut problems),
        }
    }
    problems
}

fn run_problems(path: &str, run: (Option<Time>, Option<u32>, Option<u32>), document: &Document, problems: &mut Vec<Problem>) {
    let (window, batches, seeds) = run;
    let mut add = |key: &str, message: String, allowed: &str| {
        problems.push(document.problem(&format!("{path}.{key}"), message).allowed(allowed));
    };
    if window.is_some_and(|window| window.is_zero()) {
        add("window", "nothing can be measured in no time".into(), "more than 0 s");
    }
    for (key, count, most) in [("batches", batches, 10_000), ("seeds", seeds, 10_000)] {
        if let Some(count) = count.filter(|count| !(1..=most).contains(count)) {
            add(key, format!("{count} is out of range"), &format!("1 to {most}"));
        }
    }
}

impl PingGrid {
    fn problems(&self, path: &str, document: &Document, problems: &mut Vec<Problem>) {
        let lengths = [
            ("from", self.from.values().len()),
            ("to", self.to.values().len()),
            ("directions", self.directions.values().len()),
            ("source", self.source.values().len()),
            ("destination", self.destination.values().len()),
            ("message", self.message.values().len()),
            ("repeats", self.repeats.values().len()),
        ];
        empty_lists(path, &lengths, document, problems);
        largest_message(path, &self.message, document, problems);
        if self.repeats.values().contains(&0) {
            problems.push(document.problem(&format!("{path}.repeats"), "0 messages measure nothing").allowed("at least 1"));
        }
    }
}

impl UniformGrid {
    fn problems(&self, path: &str, document: &Document, problems: &mut Vec<Problem>) {
        let lengths = [
            ("nodes", self.nodes.values().len()),
            ("message", self.message.values().len()),
            ("sizes", self.sizes.values().len()),
            ("arrivals", self.arrivals.values().len()),
            ("load", self.load.values().len()),
        ];
        empty_lists(path, &lengths, document, problems);
        largest_message(path, &self.message, document, problems);
        if self.message.values().contains(&Bytes::ZERO) {
            let problem = document.problem(&format!("{path}.message"), "messages of 0 B are no load");
            problems.push(problem.allowed("a mean of at least 1 B"));
        }
        let slow = |load: &&Rate| load.checked_time(Bytes::from_mb(1024)).is_none_or(|time| time > Time::from_secs(1 << 20));
        if let Some(load) = self.load.values().iter().find(slow) {
            let message = format!("at a load of {load} no second message ever arrives");
            problems.push(document.problem(&format!("{path}.load"), message).allowed("1 KB/s and more"));
        }
        if self.nodes.values().iter().any(|&nodes| nodes < 2) {
            let problem = document.problem(&format!("{path}.nodes"), "uniform traffic needs somebody to send to");
            problems.push(problem.allowed("at least 2 nodes"));
        }
    }
}

fn empty_lists(path: &str, lengths: &[(&str, usize)], document: &Document, problems: &mut Vec<Problem>) {
    for (key, _) in lengths.iter().filter(|(_, length)| *length == 0) {
        problems.push(document.problem(&format!("{path}.{key}"), "an empty list makes no points").allowed("a value, or a list of at least one"));
    }
}

fn largest_message(path: &str, message: &Sweep<Bytes>, document: &Document, problems: &mut Vec<Problem>) {
    let most = workload::source::LARGEST_MESSAGE;
    if let Some(size) = message.values().iter().find(|&&size| size > most) {
        let problem = document.problem(&format!("{path}.message"), format!("{size} is more than a DMA can move"));
        problems.push(problem.allowed(format!("at most {most}")));
    }
}
