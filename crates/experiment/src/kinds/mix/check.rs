//! Checks of flow lists and traces that hold for every machine.

use super::{MixSeries, PATTERN};
use crate::check::{Check, LONGEST};
use crate::sweep::Sweep;
use std::collections::BTreeSet;
use units::Time;
use workload::mix::MOST_PROGRAMS;

/// Most processes per node.
const MOST_PROCESSES: u32 = 256;

pub(super) fn programs(mix: &MixSeries, series: &str, check: &mut Check<'_>) {
    let mut taken: BTreeSet<&str> = mix.jobs.keys().map(String::as_str).collect();
    taken.extend(mix.trace.iter().map(|_| PATTERN));
    let flows = mix.flows.keys().map(|name| ("flows", name));
    let traces = mix.traces.keys().map(|name| ("traces", name));
    for (kind, name) in flows.chain(traces) {
        let path = format!("{series}.{kind}.{name}");
        check.name(&path, name);
        if !taken.insert(name) {
            let found = check.problem(&path, format!("another program is called `{name}`"));
            found.hint("give each program of a series a name of its own");
        }
    }
    if taken.len() > MOST_PROGRAMS {
        let message = format!("{} programs side by side", taken.len());
        let found = check.problem(series, message);
        found.allowed(format!("at most {MOST_PROGRAMS}"));
    }
    for (name, list) in &mix.flows {
        let path = format!("{series}.flows.{name}");
        check.lists(&path, list);
        if let Some(nodes) = &list.nodes {
            check.nodes(&format!("{path}.nodes"), nodes);
        }
        starts(&path, list.start.as_ref(), check);
    }
    if let Some(trace) = &mix.trace {
        starts(&format!("{series}.trace"), trace.start.as_ref(), check);
    }
    for (name, trace) in &mix.traces {
        let path = format!("{series}.traces.{name}");
        check.lists(&path, trace);
        check.nodes(&format!("{path}.nodes"), &trace.nodes);
        if let Some(processes) = &trace.processes {
            let range = 1..=MOST_PROCESSES;
            check.ranges(&format!("{path}.processes"), processes, &range);
        }
        starts(&path, trace.start.as_ref(), check);
    }
}

/// Checks when a program starts.
fn starts(path: &str, starts: Option<&Sweep<Time>>, check: &mut Check<'_>) {
    let Some(starts) = starts else {
        return;
    };
    for (place, &start) in starts.places(&format!("{path}.start")) {
        check.longest(&place, start, LONGEST);
    }
}
