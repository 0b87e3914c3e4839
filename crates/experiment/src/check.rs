//! What an experiment file may say, whatever the machine.

use crate::file::{Experiment, Run, RunChanges};
use crate::kinds::Sections;
use crate::nodes::Nodes;
use crate::sweep::{Grid, Sweep};
use config::{Document, Problem};
use units::{Bytes, Time};

/// Longest warm-up and window: far more than anybody waits for, far less than overflows.
pub(crate) const LONGEST: Time = Time::from_secs(1000);

/// Shortest batch, and shortest slice.
const SHORTEST: Time = Time::from_ns(1);

/// More nodes than any machine has.
pub(crate) const MOST_NODES: u32 = 1 << 20;

/// Most batches, seeds and repeats.
const MOST: u32 = 10_000;

/// Bounds of a computation of a process.
const COMPUTE: [Time; 2] = [Time::from_us(1), Time::from_secs(1)];

/// Most slices: more than a picture has room for.
const MOST_SLICES: u32 = 1000;

/// Collects what is wrong.
pub(crate) struct Check<'a> {
    pub document: &'a Document,
    pub problems: Vec<Problem>,
}

/// The experiment, but for series that run nothing; and everything that is out of bounds.
pub(crate) fn checked(
    experiment: Experiment<Sections>,
    document: &Document,
) -> (Experiment, Vec<Problem>) {
    let mut check = Check {
        document,
        problems: Vec::new(),
    };
    check.machines(&experiment.machine);
    if experiment.series.is_empty() {
        check.add(
            "series",
            "an experiment needs at least one series",
            "one [[series]] or more",
        );
    }
    let run = &experiment.run;
    let changes = RunChanges {
        warm_up: Some(run.warm_up),
        window: Some(run.window),
        batches: Some(run.batches),
        slices: Some(run.slices),
        seeds: Some(run.seeds),
    };
    check.run("run", &changes);
    check.batches("run.window", run);
    check.slices("run.slices", run);
    if run.max_events == 0 {
        check.add(
            "run.max_events",
            "no point ends within 0 events",
            "at least 1",
        );
    }
    if run.max_memory.is_zero() {
        check.add("run.max_memory", "no point ends within 0 B", "at least 1 B");
    }
    for (index, series) in experiment.series.iter().enumerate() {
        let path = format!("series.{index}");
        check.name(
            &path,
            &series.name,
            experiment.series[..index]
                .iter()
                .any(|other| other.name == series.name),
        );
        check.run(&format!("{path}.run"), &series.run);
        if series.run.window.is_some() || series.run.batches.is_some() {
            let key = if series.run.window.is_some() {
                "window"
            } else {
                "batches"
            };
            check.batches(&format!("{path}.run.{key}"), &run.with(&series.run));
        }
        let changed = [
            ("slices", series.run.slices.is_some()),
            ("window", series.run.window.is_some()),
            ("warm_up", series.run.warm_up.is_some()),
        ];
        if let Some((key, _)) = changed.into_iter().find(|&(_, changed)| changed) {
            check.slices(&format!("{path}.run.{key}"), &run.with(&series.run));
        }
        let machines = series.machine.as_ref();
        if machines.is_some_and(|machines| machines.values().is_empty()) {
            check.empty_list(&format!("{path}.machine"));
        }
    }
    let mut series = Vec::new();
    for (index, sections) in experiment.series.into_iter().enumerate() {
        let path = format!("series.{index}");
        if let Some(one) = sections.series(&path, &mut check) {
            one.benchmark.check(&path, &run.with(&one.run), &mut check);
            series.push(one);
        }
    }
    let experiment = Experiment {
        title: experiment.title,
        source: experiment.source,
        machine: experiment.machine,
        run: experiment.run,
        series,
        figure: experiment.figure,
    };
    (experiment, check.problems)
}

impl Check<'_> {
    /// Something with what would be allowed.
    pub(crate) fn add(
        &mut self,
        path: &str,
        message: impl Into<String>,
        allowed: impl Into<String>,
    ) {
        self.problems
            .push(self.document.problem(path, message).allowed(allowed));
    }

    /// Something with a remedy.
    pub(crate) fn hint(&mut self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        let problem = self.document.problem(path, message);
        self.problems.push(problem.hint(hint));
    }

    /// One machine or more, each of them once.
    fn machines(&mut self, machines: &Sweep<String>) {
        let names = machines.values();
        if names.is_empty() {
            self.empty_list("machine");
        }
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let path = machines.place("machine", index);
                let message = format!("`{name}` is in the list twice");
                self.add(&path, message, "each machine once");
            }
        }
    }

    /// A name is a step of the paths of overrides.
    fn name(&mut self, path: &str, name: &str, taken: bool) {
        let path = format!("{path}.name");
        if taken {
            let problem = self
                .document
                .problem(&path, format!("there are two series `{name}`"));
            self.problems
                .push(problem.hint("give each series a name of its own"));
        }
        self.name_of(&path, name);
    }

    pub(crate) fn name_of(&mut self, path: &str, name: &str) {
        if name.is_empty()
            || !name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "-_".contains(letter))
        {
            self.add(
                path,
                format!("`{name}` is no name"),
                "letters, digits, - and _",
            );
        }
    }

    fn run(&mut self, path: &str, run: &RunChanges) {
        let bounds = format!("more than 0 s, at most {LONGEST}");
        if run.window.is_some_and(Time::is_zero) {
            self.add(
                &format!("{path}.window"),
                "nothing can be measured in no time",
                bounds.clone(),
            );
        }
        for (key, time) in [("window", run.window), ("warm_up", run.warm_up)] {
            if let Some(time) = time.filter(|&time| time > LONGEST) {
                self.add(
                    &format!("{path}.{key}"),
                    format!("{time} is too long"),
                    format!("at most {LONGEST}"),
                );
            }
        }
        for (key, count) in [("batches", run.batches), ("seeds", run.seeds)] {
            if let Some(count) = count.filter(|count| !(1..=MOST).contains(count)) {
                self.add(
                    &format!("{path}.{key}"),
                    format!("{count} is out of range"),
                    format!("1 to {MOST}"),
                );
            }
        }
        if let Some(slices) = run.slices.filter(|&slices| slices > MOST_SLICES) {
            self.add(
                &format!("{path}.slices"),
                format!("{slices} is out of range"),
                format!("0 to {MOST_SLICES}"),
            );
        }
    }

    /// The length of a batch: window and batches may come from different places. `path` is what to blame.
    fn batches(&mut self, path: &str, run: &Run) {
        let least = SHORTEST * u64::from(run.batches.min(MOST));
        if !run.window.is_zero() && run.window < least {
            let message = format!(
                "a window of {} is too short for {} batches",
                run.window, run.batches
            );
            self.add(path, message, format!("at least {least} for so many"));
        }
    }

    /// The length of a slice, as that of a batch.
    fn slices(&mut self, path: &str, run: &Run) {
        let least = SHORTEST * u64::from(run.slices.min(MOST_SLICES));
        let length = run.warm_up.saturating_add(run.window);
        if !run.window.is_zero() && length < least {
            let message = format!("a run of {length} is too short for {} slices", run.slices);
            self.add(path, message, format!("at least {least} for so many"));
        }
    }

    /// The two nodes of a pair are different ones.
    pub(crate) fn apart(&mut self, path: &str, (from, to): (&Sweep<u32>, &Sweep<u32>), verb: &str) {
        for (place, end) in to.places(&format!("{path}.to")) {
            if from.values().contains(end) {
                self.add(
                    &place,
                    format!("node {end} would {verb} itself"),
                    "a node that is not in `from`",
                );
            }
        }
    }

    pub(crate) fn repeats(&mut self, path: &str, repeats: &Sweep<u32>) {
        for (place, &repeats) in repeats.places(&format!("{path}.repeats")) {
            if !(1..=MOST).contains(&repeats) {
                self.add(
                    &place,
                    format!("{repeats} is out of range"),
                    format!("1 to {MOST}"),
                );
            }
        }
    }

    pub(crate) fn nodes(&mut self, path: &str, sets: &Sweep<Nodes>) {
        for (place, nodes) in sets.places(path) {
            // A set that reaches further is not listed here: planning refuses it.
            let countable = nodes.highest().is_none_or(|highest| highest < MOST_NODES);
            if !countable || !nodes.numbers().is_empty() {
                continue;
            }
            let problem = self.document.problem(&place, "these are no nodes");
            let problem = problem.allowed("at least one");
            self.problems.push(match nodes.written_as_count() {
                Some(_) => {
                    problem.hint("a number is a count, of the first nodes; node 0 alone is \"0\"")
                }
                None => problem,
            });
        }
    }

    /// No field is an empty list.
    pub(crate) fn lists(&mut self, path: &str, grid: &impl Grid) {
        for (key, _) in grid
            .lengths()
            .into_iter()
            .filter(|(_, values)| *values == 0)
        {
            self.empty_list(&format!("{path}.{key}"));
        }
    }

    pub(crate) fn empty_list(&mut self, path: &str) {
        self.add(
            path,
            "an empty list makes no points",
            "one value, or a list of one or more",
        );
    }

    pub(crate) fn largest_message(&mut self, path: &str, message: &Sweep<Bytes>) {
        let most = workload::source::LARGEST_MESSAGE;
        for (place, &size) in message.places(&format!("{path}.message")) {
            if size > most {
                self.add(
                    &place,
                    format!("{size} is more than a DMA can move"),
                    format!("at most {most}"),
                );
            }
        }
    }

    /// Times that processes compute.
    pub(crate) fn compute(&mut self, path: &str, compute: &Sweep<Time>) {
        let [shortest, longest] = COMPUTE;
        for (place, &compute) in compute.places(&format!("{path}.compute")) {
            if !(shortest..=longest).contains(&compute) {
                let message = format!("{compute} is out of range");
                self.add(&place, message, format!("{shortest} to {longest}"));
            }
        }
    }
}
