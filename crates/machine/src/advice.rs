//! Hints on errors that any file may have, where only machine files can give them.

use config::{Document, Problem, Problems};
use toml_edit::Item;

const WITH_SOURCE: &str = "{ value = ..., source = \"where it comes from\" }";

/// Reports lists in place of a section or a parameter; serde would read a list as a structure's
/// fields.
pub(crate) fn shape(document: &Document) -> Result<(), Problems> {
    let is_list = |item: &Item| item.is_array() || item.is_array_of_tables();
    for (section, item) in document
        .root()
        .as_table_like()
        .into_iter()
        .flat_map(|table| table.iter())
    {
        if section == "fault" {
            continue;
        }
        if is_list(item) {
            let problem = document
                .problem(section, "a list does not fit here")
                .allowed("a section");
            return Err(problem
                .hint(format!("write it in one pair of brackets: [{section}]"))
                .into());
        }
        for (key, item) in item
            .as_table_like()
            .into_iter()
            .flat_map(|table| table.iter())
        {
            if is_list(item) {
                let problem =
                    document.problem(&format!("{section}.{key}"), "a list does not fit here");
                return Err(problem
                    .allowed(format!("a value with its source: {WITH_SOURCE}"))
                    .into());
            }
        }
    }
    Ok(())
}

/// Adds hints to problems that have none.
pub(crate) fn add(problems: Problems) -> Problems {
    let advised = problems.0.into_iter().map(|problem| Problem {
        hint: problem.hint.clone().or_else(|| hint(&problem)),
        ..problem
    });
    Problems(advised.collect())
}

/// Features of today's networks that are not modelled: words in keys, and the model's behaviour
/// instead.
const NOT_MODELLED: [(&[&str], &str); 4] = [
    (
        &["congestion", "ecn", "dcqcn", "rate_limit"],
        "congestion control is not modelled: an adapter sends while it has fewer than \
        adapter.packets_in_flight packets \
         unacknowledged, and full buffers hold up the packets behind",
    ),
    (
        &["pfc", "pause", "watermark"],
        "pause frames are not modelled: links are lossless by credits, and each channel has a \
        buffer of its own, link.buffer",
    ),
    (
        &["drop", "retransmi", "lossy", "loss"],
        "switches never drop packets for want of buffers; packets are lost by faults only, which \
        [[fault]] and [faults] describe",
    ),
    (
        &["class", "service_level", "virtual_lane", "weight"],
        "of traffic classes a machine has only the number, link.classes: the classes share out \
        link.channels evenly, and \
         switch.multiplexing serves the channels of all of them by one rule; shares of the rate of \
         a link are not modelled",
    ),
];

fn hint(problem: &Problem) -> Option<String> {
    let (section, key) = problem.key.split_once('.').unwrap_or((&problem.key, ""));
    if section == "noise" && problem.message == "this key is unknown" {
        return Some("give each cause a section with a name, such as [noise.tick]".into());
    }
    if problem.message == "this key is unknown" {
        let asks = |words: &[&str]| words.iter().any(|word| problem.key.contains(word));
        let found = NOT_MODELLED.iter().find(|(words, _)| asks(words));
        return found.map(|(_, instead)| (*instead).into());
    }
    if key.starts_with("time_slice") && problem.message.ends_with("is a size") {
        return Some(
            "a time slice is a time since model revision 4: write the time for which a \
            DMA may hold an engine, such as \"128 us\"; \
             \"10 s\" instead of \"1 GB\" for DMAs that are never sliced"
                .into(),
        );
    }
    if key.ends_with(".source") {
        return Some(
            "say where the value comes from, such as source = \"petrini2003 s2.2\" or source \
            = \"measured on our cluster\""
                .into(),
        );
    }
    if problem.message == "the file is empty" {
        return Some(
            "`elanite schema machine` describes the sections of a machine file and their keys"
                .into(),
        );
    }
    if problem.message != "this key is missing" {
        return None;
    }
    Some(match (section, key) {
        (section, "") => {
            format!("add a section [{section}]; `elanite schema machine` describes its keys")
        }
        ("machine" | "fabric", key) => format!("write {key} = \"...\""),
        (_, key) => {
            let key = key.trim_end_matches(".value");
            // Noise causes have names.
            let key = key.split_once('.').map_or(key, |(_, key)| key);
            format!("write {key} = {WITH_SOURCE}")
        }
    })
}
