//! A machine's limits on flow lists and traces, and conflicts between traces on the same nodes.

use super::{FlowListGrid, MixSeries, PATTERN, TraceFileGrid};
use crate::content::FileContent;
use crate::fit::{Fit, no_node};
use crate::nodes::NodeSet;
use crate::sweep::Sweep;
use elan::NodeId;
use std::collections::BTreeMap;
use workload::flows::Flow;

pub(super) fn programs(mix: &MixSeries, series: &str, fit: &mut Fit<'_>) {
    for (name, list) in &mix.flows {
        let path = format!("{series}.flows.{name}");
        if let Some(nodes) = &list.nodes {
            fit.nodes(&format!("{path}.nodes"), nodes);
        }
        flows(list, fit);
    }
    for (name, trace) in &mix.traces {
        let path = format!("{series}.traces.{name}");
        fit.nodes(&format!("{path}.nodes"), &trace.nodes);
        if let Some(classes) = &trace.class {
            fit.classes(&format!("{path}.class"), classes);
        }
    }
    // If the machine lacks a trace's nodes, its ranks are not counted.
    if !fit.problems().is_empty() {
        return;
    }
    for (name, trace) in &mix.traces {
        ranks(&format!("{series}.traces.{name}"), trace, fit);
    }
    processors(mix, series, fit);
}

/// Checks the flows' nodes and classes.
fn flows(list: &FlowListGrid, fit: &mut Fit<'_>) {
    let attached = fit.attached();
    let classes = fit.machine.traffic_classes();
    let placed = list.nodes.iter().flat_map(Sweep::values);
    let placed = placed
        .filter_map(NodeSet::listed)
        .map(|nodes| nodes.len() as u32);
    let fewest = placed.min();
    let nodes = fewest.unwrap_or(attached);
    let wrong = |flow: &Flow| {
        for (column, node) in [(1, flow.source), (2, flow.destination)] {
            if node.get() < nodes {
                continue;
            }
            let (message, hint) = match fewest {
                Some(_) => (
                    format!("there is no node {node}: `nodes` of the list has {nodes}, from 0 on"),
                    "remove the flow, or add nodes to `nodes`".to_string(),
                ),
                None => (
                    no_node(node.get(), attached),
                    fit.more_nodes(node.get().saturating_add(1)),
                ),
            };
            return Some((column, message, format!("0 to {}", nodes - 1), hint));
        }
        let class = u32::from(flow.class);
        (class >= classes).then(|| {
            let message =
                format!("there is no traffic class {class}: the machine has {classes}, from 0 on");
            let hint =
                "give the machine more with link.classes, or write another class".to_string();
            (4, message, format!("0 to {}", classes - 1), hint)
        })
    };
    let files = list.file.values().iter();
    let found = files.flat_map(|file| match &file.read {
        FileContent::Flows(list) => list.problems(wrong),
        FileContent::Unread | FileContent::Ranks(_) => Vec::new(),
    });
    let found: Vec<_> = found.collect();
    fit.problems().extend(found);
}

/// Checks that the nodes have a process for each rank in a trace.
fn ranks(path: &str, trace: &TraceFileGrid, fit: &mut Fit<'_>) {
    let each = trace.processes.as_ref().map_or(&[1][..], Sweep::values);
    for (place, nodes) in trace.nodes.places(&format!("{path}.nodes")) {
        let nodes = nodes.numbers().len() as u32;
        for (file, each) in trace
            .file
            .values()
            .iter()
            .flat_map(|file| each.iter().map(move |each| (file, each)))
        {
            let FileContent::Ranks(ranks) = file.read else {
                continue;
            };
            let there = nodes.saturating_mul(*each);
            if there != ranks {
                let name = &file.file;
                let message =
                    format!("{name} has {ranks} ranks, and {there} processes are on these nodes");
                let found = fit.problem(&place, message);
                found.hint("list as many nodes as ranks, or several `processes` on each");
            }
        }
    }
}

/// Checks that each process in a trace has its own processor.
fn processors(mix: &MixSeries, series: &str, fit: &mut Fit<'_>) {
    let cpus = fit.machine.cpus();
    let mut busy: BTreeMap<NodeId, u32> = BTreeMap::new();
    let pattern = mix
        .trace
        .iter()
        .map(|trace| (PATTERN, &trace.nodes, &trace.processes));
    let files = mix
        .traces
        .iter()
        .map(|(name, trace)| (name.as_str(), &trace.nodes, &trace.processes));
    for (name, nodes, processes) in pattern.chain(files) {
        let path = match name {
            PATTERN if mix.trace.is_some() => format!("{series}.{PATTERN}.nodes"),
            _ => format!("{series}.traces.{name}.nodes"),
        };
        let each = processes
            .iter()
            .flat_map(Sweep::values)
            .max()
            .copied()
            .unwrap_or(1);
        let mut all: Vec<NodeId> = nodes.values().iter().flat_map(NodeSet::numbers).collect();
        all.sort_unstable();
        all.dedup();
        let mut crowded = None;
        for node in all {
            let there = busy.entry(node).or_default();
            *there += each;
            if *there > cpus {
                crowded = crowded.or(Some((node, *there)));
            }
        }
        if let Some((node, there)) = crowded {
            let message = format!(
                "node {node} would run {there} processes of traces; a node has {cpus} processors"
            );
            let found = fit.problem(&path, message);
            found.hint(
                "give the traces nodes of their own, or the machine more processors with host.cpus",
            );
        }
    }
}
