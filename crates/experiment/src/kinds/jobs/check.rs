//! Job checks that hold on any machine.

use crate::check::{Check, LONGEST};
use crate::kinds::job::JobGrid;
use std::collections::BTreeMap;
use units::Time;
use workload::source::registered;
use workload::{RailFailure, Search};

/// Most processes per node.
const MOST_PROCESSES: u32 = 256;

/// A search's finest resolution: fourteen trials or so.
const FINEST: f64 = 0.0001;

/// Longest mean time between a node's messages. Rare gaps in an exponential distribution are 40
/// times as long.
const LONGEST_GAP: Time = Time::from_secs(3600);

/// Checks a series' jobs, and their names.
pub(crate) fn check(jobs: &BTreeMap<String, JobGrid>, series: &str, check: &mut Check<'_>) {
    for (name, job) in jobs {
        let path = format!("{series}.jobs.{name}");
        check.name(&path, name);
        job.check(&path, check);
    }
}

/// Reports a search with anything but one job alone.
pub(crate) fn not_alone(series: &str, check: &mut Check<'_>) {
    let path = format!("{series}.saturation");
    let found = check.problem(&path, "a saturation point is that of one job alone");
    found.hint("give the job a series of its own, or leave this out");
}

/// Checks when a rail fails. Only job programs send a failed rail's losses over other rails.
pub(super) fn failure(failure: Option<RailFailure>, series: &str, check: &mut Check<'_>) {
    if let Some(failure) = failure {
        check.longest(&format!("{series}.failure.at"), failure.at, LONGEST);
    }
}

/// Reports a section with results that depend on the window length, beside a precision that decides
/// this length.
pub(super) fn fixed_window(key: &str, given: bool, series: &str, check: &mut Check<'_>) {
    if given {
        let found = check.problem(
            &format!("{series}.{key}"),
            "with a precision the length of the window is not known beforehand",
        );
        found.hint("set precision = 0 in a `run` of the series");
    }
}

/// Checks a search for a job's saturation load.
pub(super) fn saturation(
    search: Option<Search>,
    jobs: &BTreeMap<String, JobGrid>,
    series: &str,
    check: &mut Check<'_>,
) {
    let Some(search) = search else {
        return;
    };
    let path = format!("{series}.saturation");
    let mut jobs = jobs.values();
    let (Some(job), None) = (jobs.next(), jobs.next()) else {
        not_alone(series, check);
        return;
    };
    let lowest = job.load.values().iter().max();
    if let Some(lowest) = lowest.filter(|&&lowest| lowest >= search.highest) {
        let message = format!("the search of the job begins at {lowest} already");
        let found = check.problem(&format!("{path}.highest"), message);
        found.allowed("a load above that of the job");
    }
    if !(FINEST..=0.5).contains(&search.resolution) {
        let message = format!("{} is out of range", search.resolution);
        let found = check.problem(&format!("{path}.resolution"), message);
        found.allowed(format!("{FINEST} to 0.5 of the highest load"));
    }
}

/// Checks that runs alone have something to be compared with.
pub(super) fn comparison(
    alone: bool,
    jobs: &BTreeMap<String, JobGrid>,
    series: &str,
    check: &mut Check<'_>,
) {
    if alone && jobs.len() < 2 {
        let found = check.problem(&format!("{series}.alone"), "the only job runs alone anyway");
        found.hint("leave it out, or add the jobs beside which it slows down");
    }
}

impl JobGrid {
    fn check(&self, path: &str, check: &mut Check<'_>) {
        check.lists(path, self);
        check.largest_message(path, &self.message);
        check.nodes(&format!("{path}.nodes"), &self.nodes);
        self.check_servers(path, check);
        self.check_load(path, check);
        for (place, message) in self.message.places(&format!("{path}.message")) {
            if message.is_zero() {
                let found = check.problem(&place, "messages of 0 B are no load");
                found.allowed("a mean of at least 1 B");
            }
        }
        if let Some(processes) = &self.processes {
            check.ranges(
                &format!("{path}.processes"),
                processes,
                &(1..=MOST_PROCESSES),
            );
        }
        self.check_source(path, check);
        let Some(writes) = &self.writes else {
            return;
        };
        for (place, writes) in writes.places(&format!("{path}.writes")) {
            if !(0.0..=1.0).contains(writes) {
                let found = check.problem(&place, format!("{writes} is no fraction"));
                found.allowed("0 (all messages are read) to 1 (all are written)");
            }
        }
    }

    fn check_source(&self, path: &str, check: &mut Check<'_>) {
        let Some(sources) = &self.source else {
            return;
        };
        for (place, source) in sources.places(&format!("{path}.source")) {
            if let Err(names) = registered(source) {
                let message = format!("this program has no traffic source `{source}`");
                let found = check.problem(&place, message).allowed(match names[..] {
                    [] => "no `source`: this program registers none".to_string(),
                    _ => names.join(", "),
                });
                found.hint("run the program that registers it; see docs/extending.md");
            }
        }
    }

    fn check_servers(&self, path: &str, check: &mut Check<'_>) {
        if let Some(servers) = &self.servers {
            check.nodes(&format!("{path}.servers"), servers);
        }
        for (place, pattern) in self.pattern.places(&format!("{path}.pattern")) {
            let pattern = pattern.workload();
            let name = pattern.name();
            if self.servers.is_some() && !pattern.serves() {
                let message = format!("{name} has destinations of its own, and no use for servers");
                let found = check
                    .problem(&place, message)
                    .allowed("uniform, blocks or cyclic with servers");
                found.hint("leave out `servers`, or take another pattern");
            }
            if self.servers.is_none() && pattern.needs_servers() {
                let found = check.problem(&place, format!("{name} needs servers"));
                found.hint("name them: servers = \"56-63\"");
            }
        }
    }

    fn check_load(&self, path: &str, check: &mut Check<'_>) {
        let Some(&largest) = self.message.values().iter().max() else {
            return;
        };
        for (place, load) in self.load.places(&format!("{path}.load")) {
            let gap = load.checked_time(largest);
            if load.is_zero() {
                check
                    .problem(&place, "without load there are no messages")
                    .allowed("more than 0 B/s");
            } else if gap.is_none_or(|gap| gap > LONGEST_GAP) {
                let message = format!("at {load} hardly any message of {largest} ever arrives");
                let found = check.problem(&place, message);
                found.allowed("a load at which each node sends at least one message in an hour");
            }
        }
    }
}
