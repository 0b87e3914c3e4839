//! Checks that a machine admits a series, as far as several benchmark kinds share them.

use crate::nodes::NodeSet;
use crate::sweep::Sweep;
use config::{Document, Finding, Findings, Problem};
use machine::Machine;
use workload::collective::CollectiveOperation;

/// Collects the problems.
pub(crate) struct Fit<'a> {
    pub machine: &'a Machine,
    findings: Findings<'a>,
}

impl<'a> Fit<'a> {
    pub fn new(machine: &'a Machine, document: &'a Document) -> Self {
        let findings = Findings::new(document);
        Fit { machine, findings }
    }

    /// The experiment file.
    pub fn document(&self) -> &'a Document {
        self.findings.document
    }

    /// Reports a problem with the value at a path.
    pub fn problem(&mut self, path: &str, message: impl Into<String>) -> Finding<'_> {
        self.findings.problem(path, message)
    }

    /// All problems so far, including those in pair lists.
    pub fn problems(&mut self) -> &mut Vec<Problem> {
        &mut self.findings.problems
    }

    pub fn attached(&self) -> u32 {
        self.machine.topology.nodes.value
    }

    pub fn pair(&mut self, path: &str, from: &Sweep<u32>, to: &Sweep<u32>) {
        for (key, ends) in [("from", from), ("to", to)] {
            for (place, &end) in ends.places(&format!("{path}.{key}")) {
                self.node(&place, end);
            }
        }
    }

    /// Checks that the machine has traffic classes.
    pub fn classes(&mut self, path: &str, classes: &Sweep<u32>) {
        let most = self.machine.traffic_classes();
        for (place, &class) in classes.places(path) {
            if class < most {
                continue;
            }
            if most == 1 {
                let found = self.problem(&place, "the machine has one traffic class, class 0");
                found.hint("leave `class` out, or give the machine several with link.classes");
            } else {
                let message =
                    format!("there is no traffic class {class}: the machine has {most}, from 0 on");
                let found = self.problem(&place, message);
                let found = found.allowed(format!("0 to {}", most - 1));
                found.hint("or give the machine more with link.classes");
            }
        }
    }

    /// Checks that the network has hardware broadcasts, if operations need them.
    pub fn broadcasts(&mut self, path: &str, operations: &Sweep<CollectiveOperation>) {
        let noun = self.machine.topology.noun();
        let circuit = self.machine.switch.circuit.value;
        for (place, operation) in operations.places(path) {
            let hardware = matches!(
                operation,
                CollectiveOperation::Hgsync
                    | CollectiveOperation::Hgsyncevent
                    | CollectiveOperation::Hbcast
            );
            let missed = if !hardware {
                continue;
            } else if noun != "tree" {
                format!("which need a tree; the machine is a {noun}")
            } else if circuit.ends_with_the_tail() {
                "which need switches that hold circuits; switch.circuit of the machine lets \
                packets go without"
                    .into()
            } else {
                continue;
            };
            let message = format!("this operation is done by hardware broadcasts, {missed}");
            self.problem(&place, message)
                .allowed("gsync, bcast, reduce");
        }
    }

    /// Checks a single node.
    pub fn node(&mut self, place: &str, node: u32) {
        let nodes = self.attached();
        if node >= nodes {
            let hint = self.more_nodes(node.saturating_add(1));
            let found = self.problem(place, no_node(node, nodes));
            found.allowed(format!("0 to {}", nodes - 1)).hint(hint);
        }
    }

    /// Checks node sets.
    pub fn nodes(&mut self, path: &str, sets: &Sweep<NodeSet>) {
        let most = self.attached();
        for (place, nodes) in sets.places(path) {
            match (nodes.written_as_count(), nodes.highest()) {
                (Some(count), _) if count > most => {
                    let hint = self.more_nodes(count);
                    let found = self.problem(
                        &place,
                        format!("{count} nodes are more than the machine has"),
                    );
                    found.allowed(format!("at most {most}")).hint(hint);
                }
                (None, Some(highest)) => self.node(&place, highest),
                _ => {}
            }
        }
    }

    /// The advice where the machine has too few nodes; `needed` nodes would do.
    pub fn more_nodes(&self, needed: u32) -> String {
        let topology = &self.machine.topology;
        if needed <= topology.positions() {
            let noun = topology.noun();
            format!("the {noun} has room: attach more nodes with --set topology.nodes={needed}")
        } else {
            "run on a larger machine, with --machine".to_string()
        }
    }
}

pub(crate) fn no_node(node: u32, attached: u32) -> String {
    format!("there is no node {node}: the machine has {attached}, numbered from 0")
}
