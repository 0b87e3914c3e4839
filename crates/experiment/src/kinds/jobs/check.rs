//! What jobs may say, whatever the machine.

use super::{JobGrid, JobsSeries};
use crate::check::{Check, LONGEST};
use std::collections::BTreeMap;
use units::Time;

/// Most processes of a node.
const MOST_PROCESSES: u32 = 256;

/// Finest resolution of a search: fourteen trials or so.
const FINEST: f64 = 0.0001;

/// Longest mean time between two messages of a node. Rare gaps of an exponential distribution are 40 times as long.
const LONGEST_GAP: Time = Time::from_secs(3600);

/// Jobs of a series, and their names.
pub(crate) fn check(jobs: &BTreeMap<String, JobGrid>, series: &str, check: &mut Check<'_>) {
    for (name, job) in jobs {
        let path = format!("{series}.jobs.{name}");
        check.name_of(&path, name);
        job.check(&path, check);
    }
}

/// A search where there is not one job alone.
pub(crate) fn not_alone(series: &str, check: &mut Check<'_>) {
    check.hint(
        &format!("{series}.saturation"),
        "a saturation point is that of one job alone",
        "give the job a series of its own, or leave this out",
    );
}

impl JobsSeries {
    /// When a rail fails: only the programs of jobs send what it loses over others.
    pub(super) fn check_failure(&self, series: &str, check: &mut Check<'_>) {
        if let Some(failure) = self.failure.filter(|failure| failure.at > LONGEST) {
            let message = format!("{} is too long", failure.at);
            let allowed = format!("at most {LONGEST}");
            check.add(&format!("{series}.failure.at"), message, allowed);
        }
    }

    /// A search of the load at which a job saturates.
    pub(super) fn check_saturation(&self, series: &str, check: &mut Check<'_>) {
        let Some(saturation) = &self.saturation else {
            return;
        };
        let path = format!("{series}.saturation");
        let mut jobs = self.jobs.values();
        let (Some(job), None) = (jobs.next(), jobs.next()) else {
            not_alone(series, check);
            return;
        };
        let lowest = job.load.values().iter().max();
        if let Some(lowest) = lowest.filter(|&&lowest| lowest >= saturation.highest) {
            let message = format!("the search of the job begins at {lowest} already");
            let highest = format!("{path}.highest");
            check.add(&highest, message, "a load above that of the job");
        }
        if !(FINEST..=0.5).contains(&saturation.resolution) {
            let message = format!("{} is out of range", saturation.resolution);
            let allowed = format!("{FINEST} to 0.5 of the highest load");
            check.add(&format!("{path}.resolution"), message, allowed);
        }
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
                check.add(
                    &place,
                    "messages of 0 B are no load",
                    "a mean of at least 1 B",
                );
            }
        }
        if let Some(processes) = &self.processes {
            for (place, &processes) in processes.places(&format!("{path}.processes")) {
                if !(1..=MOST_PROCESSES).contains(&processes) {
                    let message = format!("{processes} is out of range");
                    check.add(&place, message, format!("1 to {MOST_PROCESSES}"));
                }
            }
        }
        if let Some(writes) = &self.writes {
            for (place, writes) in writes.places(&format!("{path}.writes")) {
                if !(0.0..=1.0).contains(writes) {
                    check.add(
                        &place,
                        format!("{writes} is no fraction"),
                        "0 (all messages are read) to 1 (all are written)",
                    );
                }
            }
        }
    }

    fn check_servers(&self, path: &str, check: &mut Check<'_>) {
        if let Some(servers) = &self.servers {
            check.nodes(&format!("{path}.servers"), servers);
        }
        for (place, pattern) in self.pattern.places(&format!("{path}.pattern")) {
            let pattern = pattern.workload();
            if self.servers.is_some() && !pattern.serves() {
                let message = format!(
                    "{} has destinations of its own, and no use for servers",
                    pattern.name()
                );
                let problem = check.document.problem(&place, message);
                let problem = problem.allowed("uniform, blocks or cyclic with servers");
                check
                    .problems
                    .push(problem.hint("leave out `servers`, or take another pattern"));
            }
            if self.servers.is_none() && pattern.needs_servers() {
                let problem = check
                    .document
                    .problem(&place, format!("{} needs servers", pattern.name()));
                check
                    .problems
                    .push(problem.hint("name them: servers = \"56-63\""));
            }
        }
    }

    fn check_load(&self, path: &str, check: &mut Check<'_>) {
        let Some(&largest) = self.message.values().iter().max() else {
            return;
        };
        for (place, load) in self.load.places(&format!("{path}.load")) {
            if load.is_zero() {
                check.add(
                    &place,
                    "without load there are no messages",
                    "more than 0 B/s",
                );
            } else if load
                .checked_time(largest)
                .is_none_or(|gap| gap > LONGEST_GAP)
            {
                let message = format!("at {load} hardly any message of {largest} ever arrives");
                check.add(
                    &place,
                    message,
                    "a load at which each node sends at least one message in an hour",
                );
            }
        }
    }
}
