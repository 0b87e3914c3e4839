//! What an experiment file may say, whatever the machine.

mod allocation;
mod collective;
mod noise;
mod workload;

use crate::file::{Experiment, Run, RunChanges};
use config::{Document, Problem};
use units::Time;

/// Longest warm-up and window: far more than anybody waits for, far less than overflows.
const LONGEST: Time = Time::from_secs(1000);

/// Shortest batch, and shortest slice.
const SHORTEST: Time = Time::from_ns(1);

/// More nodes than any machine has.
pub(crate) const MOST_NODES: u32 = 1 << 20;

/// Most batches, seeds and repeats.
const MOST: u32 = 10_000;

/// Most slices: more than a picture has room for.
const MOST_SLICES: u32 = 1000;

/// Collects what is wrong.
struct Check<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

/// Everything that is out of bounds.
pub(crate) fn problems(experiment: &Experiment, document: &Document) -> Vec<Problem> {
    let mut check = Check {
        document,
        problems: Vec::new(),
    };
    check.machines(experiment);
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
        check.workload(&path, series, &run.with(&series.run));
        check.failure(&path, series);
        check.saturation(&path, series);
    }
    check.problems
}

impl Check<'_> {
    fn add(&mut self, path: &str, message: impl Into<String>, allowed: impl Into<String>) {
        self.problems
            .push(self.document.problem(path, message).allowed(allowed));
    }

    /// One machine or more, each of them once.
    fn machines(&mut self, experiment: &Experiment) {
        let machines = &experiment.machine;
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

    fn name_of(&mut self, path: &str, name: &str) {
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
}
