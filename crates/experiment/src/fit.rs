//! What the machine does not admit of a series, and what its nodes do not admit of each other.

use crate::file::{JobGrid, NoiseGrid, Operation, Series};
use crate::nodes::Nodes;
use crate::pattern::{BadEnd, Pattern};
use crate::sweep::Sweep;
use config::{Document, Problem};
use elan::rails::Allocation;
use itertools::Itertools;
use machine::{Machine, Policy};

/// Collects what is wrong.
struct Fit<'a> {
    machine: &'a Machine,
    document: &'a Document,
    problems: Vec<Problem>,
}

/// Everything in a series that does not fit. `path` is that of the series.
pub(crate) fn problems(
    series: &Series,
    path: &str,
    machine: &Machine,
    document: &Document,
) -> Vec<Problem> {
    let mut fit = Fit {
        machine,
        document,
        problems: Vec::new(),
    };
    if let Some(ping) = &series.ping {
        fit.pair(&format!("{path}.ping"), &ping.from, &ping.to);
    }
    if let Some(overlap) = &series.overlap {
        fit.pair(&format!("{path}.overlap"), &overlap.from, &overlap.to);
    }
    if let Some(noise) = &series.noise {
        fit.noise(&format!("{path}.noise"), noise);
    }
    if let Some(collective) = &series.collective {
        fit.nodes(&format!("{path}.collective.nodes"), &collective.nodes);
        fit.tree(
            &format!("{path}.collective.operation"),
            &collective.operation,
        );
    }
    for (name, job) in &series.jobs {
        fit.nodes(&format!("{path}.jobs.{name}.nodes"), &job.nodes);
        if let Some(servers) = &job.servers {
            fit.nodes(&format!("{path}.jobs.{name}.servers"), servers);
        }
    }
    if let Some(failure) = &series.failure {
        fit.failure(&format!("{path}.failure"), failure.rail);
    }
    for (name, job) in &series.jobs {
        fit.processes(&format!("{path}.jobs.{name}.processes"), job);
    }
    if machine.rails.is_some() {
        for (name, job) in &series.jobs {
            fit.writes(&format!("{path}.jobs.{name}.writes"), job);
        }
    }
    // With nodes that the machine lacks, there is no sense in asking what they do.
    if fit.problems.is_empty() {
        for (name, job) in &series.jobs {
            fit.pattern(&format!("{path}.jobs.{name}"), job);
        }
        for ((first, one), (second, other)) in series.jobs.iter().tuple_combinations() {
            fit.apart((first, one), &format!("{path}.jobs.{second}.nodes"), other);
        }
    }
    fit.problems
}

impl Fit<'_> {
    fn attached(&self) -> u32 {
        self.machine.topology.nodes.value
    }

    fn pair(&mut self, path: &str, from: &Sweep<u32>, to: &Sweep<u32>) {
        for (key, ends) in [("from", from), ("to", to)] {
            for (place, &end) in ends.places(&format!("{path}.{key}")) {
                self.node(&place, end);
            }
        }
    }

    /// A rail that fails: there is such a one, and another that carries on.
    /// Operations by hardware need a tree.
    fn tree(&mut self, path: &str, operations: &Sweep<Operation>) {
        let noun = self.machine.topology.noun();
        for (place, operation) in operations.places(path) {
            let hardware = matches!(
                operation,
                Operation::Hgsync | Operation::Hgsyncevent | Operation::Hbcast
            );
            if hardware && noun != "tree" {
                let message = format!(
                    "this operation is done by hardware broadcasts, which need a tree; the machine is a {noun}"
                );
                let problem = self.document.problem(&place, message);
                self.problems.push(problem.allowed("gsync, bcast, reduce"));
            }
        }
    }

    fn failure(&mut self, path: &str, rail: u32) {
        let section = self.machine.rails.as_ref();
        let rails = section.map_or(1, |rails| rails.count.value);
        if rails == 1 {
            let problem = self.document.problem(path, "the only rail would fail");
            let hint = "take a machine with several, such as smart-multirail";
            self.problems.push(problem.hint(hint));
        } else if rail >= rails {
            let message = format!("there is no rail {rail}: the machine has {rails}, from 0 on");
            let problem = self.document.problem(&format!("{path}.rail"), message);
            let problem = problem.allowed(format!("0 to {}", rails - 1));
            self.problems.push(problem);
        } else if section.is_some_and(|rails| rails.policy.value == Policy::Static)
            && let Ok(allocation) = Allocation::with_rails(self.attached(), rails)
            && let Some((from, to)) = allocation.parted_without(rail)
        {
            let message = format!("node {from} reaches node {to} on rail {rail} only");
            let problem = self.document.problem(
                &format!("{path}.rail"),
                format!("{message}, as rails.policy is static"),
            );
            let hint = "take another rails.policy";
            self.problems.push(problem.hint(hint));
        }
    }

    /// Each process may have a descriptor in the queue of an adapter.
    fn processes(&mut self, path: &str, job: &JobGrid) {
        let Some(processes) = &job.processes else {
            return;
        };
        let queue = self.machine.adapter.queue.value;
        for (place, &processes) in processes.places(path) {
            if processes > queue {
                let message = format!("{processes} processes, and adapter.queue is {queue}");
                let problem = self.document.problem(&place, message);
                let problem = problem.allowed(format!("1 to {queue}"));
                self.problems
                    .push(problem.hint("or give adapter.queue more places"));
            }
        }
    }

    /// Messages over several rails are written.
    fn writes(&mut self, path: &str, job: &JobGrid) {
        let Some(writes) = &job.writes else {
            return;
        };
        for (place, &writes) in writes.places(path) {
            if writes < 1.0 {
                let message = "no policy of several rails reads messages";
                let problem = self.document.problem(&place, message).allowed("1");
                let hint = "leave `writes` out, or take a machine without [rails]";
                self.problems.push(problem.hint(hint));
            }
        }
    }

    fn noise(&mut self, path: &str, grid: &NoiseGrid) {
        for (place, &node) in grid.node.places(&format!("{path}.node")) {
            self.node(&place, node);
        }
        let cpus = self.machine.cpus();
        for (place, &cpu) in grid.cpu.places(&format!("{path}.cpu")) {
            if cpu >= cpus {
                let message = format!("there is no processor {cpu} in a node of the machine");
                let problem = self.document.problem(&place, message);
                let problem = problem.allowed(format!("0 to {}", cpus - 1));
                let hint = format!("--set host.cpus={} gives nodes more", cpu.saturating_add(1));
                self.problems.push(problem.hint(hint));
            }
        }
    }

    /// A single node.
    fn node(&mut self, place: &str, node: u32) {
        let nodes = self.attached();
        if node >= nodes {
            let message = no_node(node, nodes);
            let problem = self.document.problem(place, message);
            let problem = problem.allowed(format!("0 to {}", nodes - 1));
            self.problems
                .push(problem.hint(self.more_nodes(node.saturating_add(1))));
        }
    }

    /// Sets of nodes.
    fn nodes(&mut self, path: &str, sets: &Sweep<Nodes>) {
        let most = self.attached();
        for (place, nodes) in sets.places(path) {
            match (nodes.written_as_count(), nodes.highest()) {
                (Some(count), _) if count > most => {
                    let message = format!("{count} nodes are more than the machine has");
                    let problem = self.document.problem(&place, message);
                    let problem = problem.allowed(format!("at most {most}"));
                    self.problems.push(problem.hint(self.more_nodes(count)));
                }
                (None, Some(highest)) => self.node(&place, highest),
                _ => {}
            }
        }
    }

    /// Whether a pattern suits the nodes, and gives any of them something to send.
    fn pattern(&mut self, path: &str, job: &JobGrid) {
        let no_servers = [None];
        let servers: Vec<Option<&Nodes>> = match &job.servers {
            Some(servers) => servers.values().iter().map(Some).collect(),
            None => no_servers.to_vec(),
        };
        for (place, nodes) in job.nodes.places(&format!("{path}.nodes")) {
            let numbers = nodes.numbers();
            for pattern in job.pattern.values() {
                if let Pattern::Pairs(pairs) = pattern {
                    let found = pairs.problems(|from, to| self.bad_end(nodes, from, to));
                    if !found.is_empty() {
                        self.problems.extend(found);
                        continue; // who sends what to whom is not known before these are mended
                    }
                }
                let pattern = pattern.workload();
                let count = numbers.len() as u32;
                if !pattern.admits(count) {
                    let message = format!("{} does not suit {count} nodes", pattern.name());
                    let problem = self.document.problem(&place, message);
                    self.problems
                        .push(problem.allowed(pattern.needs().unwrap_or_default()));
                    continue;
                }
                for servers in &servers {
                    let servers = servers.map_or(Vec::new(), Nodes::numbers);
                    let destinations = pattern.destinations(&numbers, &servers);
                    if destinations
                        .iter()
                        .all(workload::pattern::Destinations::is_none)
                    {
                        let message = format!(
                            "with {} each of these nodes would send to itself, which is no traffic",
                            pattern.name()
                        );
                        let problem = self.document.problem(&place, message);
                        self.problems.push(problem.hint("add nodes"));
                    }
                }
            }
        }
    }

    /// What is wrong with a pair of a list, for a job on these nodes.
    fn bad_end(&self, nodes: &Nodes, from: u32, to: u32) -> Option<BadEnd> {
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
            hint: "remove the line, or add the node to `nodes`".to_string(),
        })
    }

    /// Whether two jobs are on nodes of their own.
    fn apart(&mut self, (name, one): (&String, &JobGrid), path: &str, other: &JobGrid) {
        for (place, theirs) in other.nodes.places(path) {
            let theirs = theirs.numbers();
            for ours in one.nodes.values() {
                let shared: Vec<_> = theirs.iter().filter(|&&node| ours.contains(node)).collect();
                let Some(first) = shared.first() else {
                    continue;
                };
                let message = match shared.len() {
                    1 => format!("node {first} runs the job `{name}`, too"),
                    more => {
                        format!("{more} of these nodes, from {first} on, run the job `{name}`, too")
                    }
                };
                let problem = self.document.problem(&place, message);
                self.problems.push(problem.hint(
                    "give each job nodes of its own; only `servers` may be nodes of another job",
                ));
            }
        }
    }

    /// What to do where the machine has too few nodes; `needed` would do.
    fn more_nodes(&self, needed: u32) -> String {
        let topology = &self.machine.topology;
        if needed <= topology.positions() {
            let noun = topology.noun();
            format!("the {noun} has room: attach more nodes with --set topology.nodes={needed}")
        } else {
            "run on a larger machine, with --machine".to_string()
        }
    }
}

fn no_node(node: u32, attached: u32) -> String {
    format!("there is no node {node}: the machine has {attached}, numbered from 0")
}
