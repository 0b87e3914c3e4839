//! Rules for the topology in a machine file.

use crate::check::Check;
use crate::file::Machine;
use fabric::config::MAX_CHANNELS;
use fabric::{TopologyError, Ways, find_cycle};

/// Checks the kind's keys, and that such a network can exist.
pub(super) fn check(machine: &Machine, check: &mut Check<'_>) {
    let kind = machine.topology.kind();
    let name = format!("a {}", machine.topology.noun());
    let before = check.count();
    for (key, given, of, needed) in machine.topology.keys() {
        if key == "cables" && machine.topology.file.is_some() {
            // Cables come from the file.
            continue;
        }
        if given && !of.contains(&kind) {
            let found = check.at(
                &format!("topology.{key}"),
                format!("{name} has no key `{key}`"),
            );
            found.hint("remove it, or change topology.kind");
        } else if needed && !given && of.contains(&kind) {
            check.problem(
                "topology",
                format!("the key `{key}` is missing: {name} needs it"),
            );
        }
    }
    let topology = &machine.topology;
    for (key, file, content, noun) in [
        ("file", &topology.file, &topology.cables, "cables"),
        (
            "routes_file",
            &topology.routes_file,
            &topology.routes,
            "routes",
        ),
    ] {
        let Some(file) = file else {
            continue;
        };
        let message = match content.as_ref().map(|content| &content.source) {
            Some(read) if *read == file.value => continue,
            Some(read) => format!("the {noun} are those of {read}"),
            None => format!("the {noun} of {} have not been read", file.value),
        };
        let found = check.at(&format!("topology.{key}"), message);
        found.hint(format!(
            "write the name of the file into the machine file, and give either `{key}` or `{noun}`"
        ));
    }
    if machine.topology.is_mesh() && machine.topology.datelines.is_some() {
        let found = check.at("topology.datelines", "a mesh has no key `datelines`");
        found.hint("remove it, or set topology.wraparound to true");
    }
    if check.count() > before {
        return;
    }
    match machine.topology() {
        Ok(topology) => check_classes(machine, &topology, check),
        Err(TopologyError {
            key,
            message,
            allowed,
            hint,
        }) => {
            // A list entry is an entry in the parameter's value.
            let key = match key.split_once('.') {
                _ if key == "rails" => "rails.count".to_string(),
                Some((list, entry)) => format!("topology.{list}.value.{entry}"),
                None => format!("topology.{key}"),
            };
            let found = check.at(&key, message);
            let found = if allowed.is_empty() {
                found
            } else {
                found.allowed(allowed)
            };
            if !hint.is_empty() {
                found.hint(hint);
            }
        }
    }
}

fn check_classes(machine: &Machine, topology: &fabric::Topology, check: &mut Check<'_>) {
    let (channels, classes) = (machine.link.channels.value, topology.classes());
    let traffic_classes = machine.traffic_classes();
    let needed = classes.saturating_mul(traffic_classes);
    if channels >= needed || channels == 0 || traffic_classes > MAX_CHANNELS {
        return;
    }
    let by_layers =
        matches!(topology, fabric::Topology::Graph(graph) if graph.ways() != Ways::UpDown);
    let message = match (classes, traffic_classes) {
        (_, 1) if by_layers => {
            format!("without deadlock this routing of the graph needs {classes} layers of channels")
        }
        (_, 1) => format!("the routing needs {classes} classes of channels"),
        (1, _) => format!("each of {traffic_classes} traffic classes needs a channel of its own"),
        _ => format!(
            "each of {traffic_classes} traffic classes needs {classes} classes of channels for the \
            routing"
        ),
    };
    let message = format!("{message}, and there are {channels} channels");
    let found = check.at("link.channels", message);
    if needed <= MAX_CHANNELS {
        let found = found.allowed(format!("{needed} to {MAX_CHANNELS}"));
        if by_layers {
            found.hint("or set topology.routing to up-down, which needs one layer");
        }
    } else if by_layers {
        found.hint("set topology.routing to up-down, which needs one layer of channels");
    } else {
        let most = MAX_CHANNELS / classes;
        found.hint(format!("set link.classes to {most} at most"));
    }
}

/// Reports rules that let packets in an otherwise correct machine wait for each other forever.
pub(super) fn check_cycles(machine: &Machine, check: &mut Check<'_>) {
    if check.count() == 0
        && let Some(cycle) = find_cycle(&machine.cluster_config().fabric)
    {
        let found = check.problem("topology", format!("this network deadlocks: {cycle}"));
        let datelines = machine.topology.datelines.as_ref();
        let kind = machine.topology.noun();
        found.hint(if datelines.is_some_and(|datelines| !datelines.value) {
            "set topology.datelines to true, which needs 2 link.channels".to_string()
        } else if machine.topology.routes.is_some() {
            "set topology.hop_classes to the number of links between switches of the longest way, \
            which needs as many \
             link.channels; or change the routes"
                .to_string()
        } else {
            format!("no key of this file ends the cycle: the routing of a {kind} has a defect")
        });
    }
}
