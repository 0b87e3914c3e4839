//! # Machine files
//!
//! A machine file holds one parameter set: one machine's whole physics, as data. Every parameter is
//! written
//!
//! ```toml
//! hop_delay = { value = "55 ns", source = "petrini2003 s2.2: ...", fitted_to = ["..."] }
//! ```
//!
//! and must name its value's source. `fitted_to` names the published claims to which a value was
//! adjusted; those claims are not predictions. [`Machine::parse`] reads and checks a file,
//! [`Machine::cluster_config`] turns it into the simulator's configuration, [`Machine::parameters`]
//! lists it with provenance, [`Machine::values`] without provenance.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `file`, `section`, `param` | the format: sections, and parameters with their source |
//! | `topology`, `graph`, `links`, `rate`, `routes`, `rails`, `noise`, `fault` | sections with their own syntax |
//! | [`outside`] | topologies that programs register |
//! | `check`, `rules`, `advice`, `warning` | bounds, agreement between values, hints, limits |
//! | `cluster` | the simulator's configuration |
//!
//! ## The main path
//!
//! A machine file becomes a cluster's configuration:
//!
//! 1. `lib.rs`: [`Machine::parse`] applies overrides and reads the document.
//! 2. `file.rs`, `section.rs`: typed sections, each parameter with value and source.
//! 3. `rules.rs`: bounds for single values, and agreement between values.
//! 4. `cluster.rs`: [`Machine::cluster_config`] gives the quantities to the simulator.

mod advice;
mod check;
mod cluster;
mod fault;
mod file;
mod graph;
mod links;
mod noise;
pub mod outside;
mod param;
mod rails;
mod rate;
mod routes;
mod rules;
mod section;
mod topology;
mod warning;

pub use fault::{FaultProblem, FaultSection, FaultsSection, Pick};
pub use file::{
    Adapter, BusSection, Elan4, FabricSection, Files, GroupSection, HostSection, Link, Machine,
    PacketSection, ProcessorSection, Switch, Title, TportSection,
};
pub use graph::{GraphMistake, graph_mistake};
pub use noise::{MeanOrCounts, NoiseCause, Processors};
pub use param::{Param, Parameter, PerLevel};
pub use rails::RailsSection;
pub use routes::routes_mistake;
pub use topology::{HostWiring, Kind, TopologySection};
pub use warning::Warning;

use config::{Document, Override, Problems};
use serde_json::Value;
use toml_edit::{InlineTable, Item};

impl Machine {
    /// Reads and checks a machine file. `overrides` replace parameter values, by keys such as
    /// `link.hop_delay`; their source becomes the override's. Overrides can also give parameters
    /// that the file leaves out. An override of `topology.kind` removes the topology's keys that
    /// the new kind does not have.
    ///
    /// # Errors
    /// All that is wrong with the file, each problem with its place.
    pub fn parse(file: &str, text: &str, overrides: &[Override]) -> Result<Machine, Problems> {
        let mut document = Document::parse(file, text).map_err(advice::add)?;
        for change in overrides {
            let path = change.key.strip_suffix(".value").unwrap_or(&change.key);
            let source = change.source;
            let bare = BARE.iter().any(|section| path.starts_with(section));
            document = document.with_override(change, path, |item, value| {
                replace(item, value, source, bare)
            })?;
        }
        let mut machine: Machine = advice::shape(&document)
            .and_then(|()| document.read())
            .map_err(advice::add)?;
        let given = |path: &str| {
            let mut keys = overrides.iter().map(|change| change.key.as_str());
            keys.any(|key| key.strip_suffix(".value").unwrap_or(key) == path)
        };
        if given("topology.kind") {
            let kept = |key: &str| given(&format!("topology.{key}"));
            machine.topology = machine.topology.without_other_kinds(kept);
        }
        let problems = rules::problems(&machine, &document);
        machine.topology.tidy();
        Problems::check(problems, machine)
    }

    /// All parameters with their provenance, in the file format's order.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        param::list("", &self.tree(), &mut parameters);
        parameters
    }

    /// All values that decide results, without provenance, name and title. The engine is left out,
    /// as it only changes speed; so are the processors and the file system for real programs.
    pub fn values(&self) -> Value {
        let mut tree = self.tree();
        let sections = tree.as_object_mut().expect("a machine is a table");
        sections.shift_remove("fabric");
        sections.shift_remove("processor");
        sections.shift_remove("files");
        // The cables and tables decide, not the files from which they were read.
        let topology = sections["topology"].as_object_mut();
        let topology = topology.expect("a section is a table");
        topology.shift_remove("file");
        topology.shift_remove("routes_file");
        param::strip(tree)
    }

    /// All sections without name and title.
    fn tree(&self) -> Value {
        let mut tree = serde_json::to_value(self).expect("a machine has no keys but strings");
        tree.as_object_mut()
            .expect("a machine is a table")
            .shift_remove("machine");
        tree
    }

    /// The JSON schema for machine files.
    pub fn schema() -> Value {
        schemars::schema_for!(Machine).to_value()
    }
}

/// The sections with keys that are not parameters: their values have no source.
const BARE: [&str; 3] = ["machine.", "fabric.", "fault."];

/// Replaces the value of a parameter, or of a key that is not a parameter; false for a section. A
/// key that is not in the file becomes a parameter unless it is `bare`.
fn replace(item: &mut Item, value: toml_edit::Value, source: &str, bare: bool) -> bool {
    let absent = item.is_none();
    match item.as_table_like_mut() {
        Some(table) if table.contains_key("value") => {
            table.insert("value", value.into());
            table.insert("source", toml_edit::value(source));
            table.remove("fitted_to");
            table.remove("admissible");
            true
        }
        Some(_) => false,
        None if absent && !bare => {
            let parameter = [("value", value), ("source", source.into())];
            *item = toml_edit::value(InlineTable::from_iter(parameter));
            true
        }
        None => {
            *item = value.into();
            true
        }
    }
}
