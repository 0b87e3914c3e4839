//! What a series may run.

use super::{Check, LONGEST, MOST, MOST_NODES};
use crate::file::{JobGrid, OverlapGrid, PingGrid, Run, Series};
use crate::nodes::Nodes;
use crate::sweep::{Grid, Sweep};
use units::{Bytes, Time};

/// Most processes of a node.
const MOST_PROCESSES: u32 = 256;

/// Finest resolution of a search: fourteen trials or so.
const FINEST: f64 = 0.0001;

/// Longest mean time between two messages of a node. Rare gaps of an exponential distribution are 40 times as long.
const LONGEST_GAP: Time = Time::from_secs(3600);

/// Longest computation of a test of overlap.
const LONGEST_COMPUTATION: Time = Time::from_secs(1);

impl Check<'_> {
    /// What a series runs, and how.
    pub(super) fn workload(&mut self, path: &str, series: &Series, run: &Run) {
        if let Some(machines) = &series.machine
            && machines.values().is_empty()
        {
            self.empty_list(&format!("{path}.machine"));
        }
        let others = match (&series.collective, series.jobs.is_empty()) {
            (Some(_), _) => Some("a collective operation"),
            (None, false) => Some("jobs"),
            (None, true) => None,
        };
        let pairs = [
            ("ping", "a ping", "the ping", series.ping.is_some()),
            (
                "overlap",
                "a test of overlap",
                "it",
                series.overlap.is_some(),
            ),
            ("noise", "a noise test", "it", series.noise.is_some()),
        ];
        let mut given = pairs.into_iter().filter(|&(.., given)| given);
        match (
            given.next(),
            given.next().map(|(_, what, ..)| what).or(others),
        ) {
            (None, None) if series.allocation.is_none() => {
                let problem = self.document.problem(path, "this series runs nothing");
                self.problems.push(problem.hint(
                    "say what runs, in a section such as [series.ping], [series.overlap], [series.noise], \
                     [series.collective], [series.allocation] or, with a name of your choice for the job, [series.jobs.NAME]",
                ));
            }
            (Some((key, what, short, _)), Some(others)) => {
                let message = format!("this series runs both {what} and {others}");
                let problem = self.document.problem(&format!("{path}.{key}"), message);
                self.problems
                    .push(problem.hint(format!("give {short} a series of its own")));
            }
            _ => {}
        }
        if let Some(allocation) = &series.allocation {
            let others = others.or(series.ping.as_ref().map(|_| "a ping"));
            self.allocation(&format!("{path}.allocation"), allocation, others);
        }
        if let Some(collective) = &series.collective {
            self.collective(&format!("{path}.collective"), collective, run);
        }
        if let Some(noise) = &series.noise {
            self.noise(&format!("{path}.noise"), noise, run);
        }
        if let Some(ping) = &series.ping {
            self.ping(&format!("{path}.ping"), ping);
        }
        if let Some(overlap) = &series.overlap {
            self.overlap(&format!("{path}.overlap"), overlap);
        }
        for (name, job) in &series.jobs {
            let path = format!("{path}.jobs.{name}");
            self.name_of(&path, name);
            self.job(&path, job);
        }
    }

    /// A rail that fails: only the programs of jobs send what it loses over others.
    pub(super) fn failure(&mut self, path: &str, series: &Series) {
        let path = format!("{path}.failure");
        let Some(failure) = &series.failure else {
            return;
        };
        if series.jobs.is_empty() || series.collective.is_some() {
            let message = "a rail can fail under jobs only";
            let problem = self.document.problem(&path, message);
            self.problems.push(problem.hint("leave it out"));
        } else if failure.at > LONGEST {
            let message = format!("{} is too long", failure.at);
            self.add(&format!("{path}.at"), message, format!("at most {LONGEST}"));
        }
    }

    /// A search of the load at which a job saturates.
    pub(super) fn saturation(&mut self, path: &str, series: &Series) {
        let path = format!("{path}.saturation");
        let Some(saturation) = &series.saturation else {
            return;
        };
        let mut jobs = series.jobs.values();
        let (Some(job), None, None) = (jobs.next(), jobs.next(), &series.collective) else {
            let message = "a saturation point is that of one job alone";
            let problem = self.document.problem(&path, message);
            self.problems
                .push(problem.hint("give the job a series of its own, or leave this out"));
            return;
        };
        let lowest = job.load.values().iter().max();
        if let Some(lowest) = lowest.filter(|&&lowest| lowest >= saturation.highest) {
            let message = format!("the search of the job begins at {lowest} already");
            let highest = format!("{path}.highest");
            self.add(&highest, message, "a load above that of the job");
        }
        if !(FINEST..=0.5).contains(&saturation.resolution) {
            let message = format!("{} is out of range", saturation.resolution);
            let allowed = format!("{FINEST} to 0.5 of the highest load");
            self.add(&format!("{path}.resolution"), message, allowed);
        }
    }

    fn ping(&mut self, path: &str, grid: &PingGrid) {
        self.lists(path, grid);
        self.largest_message(path, &grid.message);
        self.repeats(path, &grid.repeats);
        self.apart(path, (&grid.from, &grid.to), "ping");
    }

    fn overlap(&mut self, path: &str, grid: &OverlapGrid) {
        self.lists(path, grid);
        self.largest_message(path, &grid.message);
        self.repeats(path, &grid.repeats);
        self.apart(path, (&grid.from, &grid.to), "wait for");
        for (place, &compute) in grid.compute.places(&format!("{path}.compute")) {
            if compute > LONGEST_COMPUTATION {
                self.add(
                    &place,
                    format!("{compute} is too long"),
                    format!("at most {LONGEST_COMPUTATION}"),
                );
            }
        }
    }

    /// The two nodes of a pair are different ones.
    fn apart(&mut self, path: &str, (from, to): (&Sweep<u32>, &Sweep<u32>), verb: &str) {
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

    pub(super) fn repeats(&mut self, path: &str, repeats: &Sweep<u32>) {
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

    fn job(&mut self, path: &str, grid: &JobGrid) {
        self.lists(path, grid);
        self.largest_message(path, &grid.message);
        self.nodes(&format!("{path}.nodes"), &grid.nodes);
        self.servers(path, grid);
        self.load(path, grid);
        for (place, message) in grid.message.places(&format!("{path}.message")) {
            if message.is_zero() {
                self.add(
                    &place,
                    "messages of 0 B are no load",
                    "a mean of at least 1 B",
                );
            }
        }
        if let Some(processes) = &grid.processes {
            for (place, &processes) in processes.places(&format!("{path}.processes")) {
                if !(1..=MOST_PROCESSES).contains(&processes) {
                    let message = format!("{processes} is out of range");
                    self.add(&place, message, format!("1 to {MOST_PROCESSES}"));
                }
            }
        }
        if let Some(writes) = &grid.writes {
            for (place, writes) in writes.places(&format!("{path}.writes")) {
                if !(0.0..=1.0).contains(writes) {
                    self.add(
                        &place,
                        format!("{writes} is no fraction"),
                        "0 (all messages are read) to 1 (all are written)",
                    );
                }
            }
        }
    }

    pub(super) fn nodes(&mut self, path: &str, sets: &Sweep<Nodes>) {
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

    fn servers(&mut self, path: &str, grid: &JobGrid) {
        if let Some(servers) = &grid.servers {
            self.nodes(&format!("{path}.servers"), servers);
        }
        for (place, pattern) in grid.pattern.places(&format!("{path}.pattern")) {
            let pattern = pattern.workload();
            if grid.servers.is_some() && !pattern.serves() {
                let message = format!(
                    "{} has destinations of its own, and no use for servers",
                    pattern.name()
                );
                let problem = self.document.problem(&place, message);
                let problem = problem.allowed("uniform, blocks or cyclic with servers");
                self.problems
                    .push(problem.hint("leave out `servers`, or take another pattern"));
            }
            if grid.servers.is_none() && pattern.needs_servers() {
                let problem = self
                    .document
                    .problem(&place, format!("{} needs servers", pattern.name()));
                self.problems
                    .push(problem.hint("name them: servers = \"56-63\""));
            }
        }
    }

    fn load(&mut self, path: &str, grid: &JobGrid) {
        let Some(&largest) = grid.message.values().iter().max() else {
            return;
        };
        for (place, load) in grid.load.places(&format!("{path}.load")) {
            if load.is_zero() {
                self.add(
                    &place,
                    "without load there are no messages",
                    "more than 0 B/s",
                );
            } else if load
                .checked_time(largest)
                .is_none_or(|gap| gap > LONGEST_GAP)
            {
                let message = format!("at {load} hardly any message of {largest} ever arrives");
                self.add(
                    &place,
                    message,
                    "a load at which each node sends at least one message in an hour",
                );
            }
        }
    }

    /// No field is an empty list.
    pub(super) fn lists(&mut self, path: &str, grid: &impl Grid) {
        for (key, _) in grid
            .lengths()
            .into_iter()
            .filter(|(_, values)| *values == 0)
        {
            self.empty_list(&format!("{path}.{key}"));
        }
    }

    pub(super) fn empty_list(&mut self, path: &str) {
        self.add(
            path,
            "an empty list makes no points",
            "one value, or a list of one or more",
        );
    }

    pub(super) fn largest_message(&mut self, path: &str, message: &Sweep<Bytes>) {
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
}
