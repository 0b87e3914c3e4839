//! A machine's limits on jobs, and conflicts between jobs on the same nodes.

use crate::fit::{Fit, no_node};
use crate::kinds::job::JobGrid;
use crate::nodes::NodeSet;
use crate::pattern::{BadEnd, PatternSpec};
use elan::NodeId;
use itertools::Itertools;
use rails::Allocation;
use std::collections::BTreeMap;
use workload::Pattern as Rule;
use workload::RailFailure;
use workload::pattern::Destinations;

/// Checks a series' jobs.
pub(crate) fn fit(jobs: &BTreeMap<String, JobGrid>, series: &str, fit: &mut Fit<'_>) {
    for (name, job) in jobs {
        let path = format!("{series}.jobs.{name}");
        fit.nodes(&format!("{path}.nodes"), &job.nodes);
        if let Some(servers) = &job.servers {
            fit.nodes(&format!("{path}.servers"), servers);
        }
        fit.processes(&format!("{path}.processes"), job);
        if let Some(classes) = &job.class {
            fit.classes(&format!("{path}.class"), classes);
        }
        if fit.machine.rails.is_some() {
            fit.writes(&format!("{path}.writes"), job);
        }
    }
    // If the machine lacks the job's nodes, their work is not checked.
    if fit.problems().is_empty() {
        for (name, job) in jobs {
            fit.pattern(&format!("{series}.jobs.{name}"), job);
        }
        for ((first, one), (second, other)) in jobs.iter().tuple_combinations() {
            let path = format!("{series}.jobs.{second}.nodes");
            fit.jobs_apart((first, one), &path, other);
        }
    }
}

/// Checks a rail that fails: the machine must have it, and another rail that carries on.
pub(super) fn failure(failure: Option<RailFailure>, series: &str, fit: &mut Fit<'_>) {
    let Some(RailFailure { rail, .. }) = failure else {
        return;
    };
    let path = format!("{series}.failure");
    let section = fit.machine.rails.as_ref();
    let rails = section.map_or(1, |rails| rails.count.value);
    if rails == 1 {
        let found = fit.problem(&path, "the only rail would fail");
        found.hint("take a machine with several, such as smart-multirail");
    } else if rail >= rails {
        let message = format!("there is no rail {rail}: the machine has {rails}, from 0 on");
        fit.problem(&format!("{path}.rail"), message)
            .allowed(format!("0 to {}", rails - 1));
    } else if section.is_some_and(|rails| rails.policy.value.kind.allocates())
        && let Ok(allocation) = Allocation::with_rails(fit.attached(), rails)
        && let Some((from, to)) = allocation.parted_without(rail.into())
    {
        let message =
            format!("node {from} reaches node {to} on rail {rail} only, as rails.policy is static");
        fit.problem(&format!("{path}.rail"), message)
            .hint("take another rails.policy");
    }
}

impl Fit<'_> {
    /// Checks that each process may have a descriptor in an adapter's queue.
    fn processes(&mut self, path: &str, job: &JobGrid) {
        let Some(processes) = &job.processes else {
            return;
        };
        let queue = self.machine.adapter.queue.value;
        for (place, &processes) in processes.places(path) {
            if processes > queue {
                let message = format!("{processes} processes, and adapter.queue is {queue}");
                let found = self
                    .problem(&place, message)
                    .allowed(format!("1 to {queue}"));
                found.hint("or give adapter.queue more places");
            }
        }
    }

    /// Checks that messages over several rails are written.
    fn writes(&mut self, path: &str, job: &JobGrid) {
        let Some(writes) = &job.writes else {
            return;
        };
        for (place, &writes) in writes.places(path) {
            if writes < 1.0 {
                let found = self
                    .problem(&place, "no policy of several rails reads messages")
                    .allowed("1");
                found.hint("leave `writes` out, or take a machine without [rails]");
            }
        }
    }

    /// Checks that a pattern suits the nodes, and gives at least one of them a destination.
    fn pattern(&mut self, path: &str, job: &JobGrid) {
        let servers: Vec<Vec<NodeId>> = match &job.servers {
            Some(servers) => servers.values().iter().map(NodeSet::numbers).collect(),
            None => vec![Vec::new()],
        };
        for (place, nodes) in job.nodes.places(&format!("{path}.nodes")) {
            let numbers = nodes.numbers();
            for (written, pattern) in job.pattern.places(&format!("{path}.pattern")) {
                if let PatternSpec::Pairs(pairs) = pattern {
                    let found = pairs.problems(
                        |from, to| self.bad_end(nodes, from, to),
                        |message| self.document().problem(&written, message),
                    );
                    if !found.is_empty() {
                        self.problems().extend(found);
                        continue; // senders and destinations are unknown before these are fixed
                    }
                }
                let remedy = match pattern {
                    PatternSpec::Pairs(_) => "pair each node with another node",
                    PatternSpec::Named(Rule::Shift(_)) => "shift by another number",
                    PatternSpec::Named(_) => "add nodes",
                };
                let pattern = pattern.workload();
                let count = numbers.len() as u32;
                if !pattern.admits(count) {
                    let message = format!("{} does not suit {count} nodes", pattern.name());
                    self.problem(&place, message)
                        .allowed(pattern.needs().unwrap_or_default());
                    continue;
                }
                for servers in &servers {
                    let destinations = pattern.destinations(&numbers, servers);
                    if destinations.iter().all(Destinations::is_none) {
                        let message = format!(
                            "with {} each of these nodes would send to itself, which is no traffic",
                            pattern.name()
                        );
                        self.problem(&place, message).hint(remedy);
                    }
                }
            }
        }
    }

    /// The problem with a listed pair, for a job on these nodes.
    fn bad_end(&self, nodes: &NodeSet, from: u32, to: u32) -> Option<BadEnd> {
        let attached = self.attached();
        if to >= attached {
            return Some(BadEnd {
                end: 1,
                message: no_node(to, attached),
                allowed: Some(format!("0 to {}", attached - 1)),
                hint: self.more_nodes(to.saturating_add(1)),
            });
        }
        (!nodes.contains(from)).then(|| BadEnd {
            end: 0,
            message: format!("node {from} is not among the nodes of the job"),
            allowed: None,
            hint: "remove the pair, or add the node to `nodes`".to_string(),
        })
    }

    /// Checks that two jobs are on different nodes.
    fn jobs_apart(&mut self, (name, one): (&String, &JobGrid), path: &str, other: &JobGrid) {
        for (place, theirs) in other.nodes.places(path) {
            let theirs = theirs.numbers();
            for ours in one.nodes.values() {
                let shared: Vec<_> = theirs
                    .iter()
                    .filter(|node| ours.contains(node.get()))
                    .collect();
                let Some(first) = shared.first() else {
                    continue;
                };
                let message = match shared.len() {
                    1 => format!("node {first} runs the job `{name}`, too"),
                    more => {
                        format!("{more} of these nodes, from {first} on, run the job `{name}`, too")
                    }
                };
                let found = self.problem(&place, message);
                found.hint(
                    "give each job nodes of its own; only `servers` may be nodes of another job",
                );
            }
        }
    }
}
