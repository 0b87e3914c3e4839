//! # Machine files
//!
//! A machine file holds one parameter set: all physics of one machine, as data. Every parameter is written
//!
//! ```toml
//! hop_delay = { value = "55 ns", source = "000 s2.2: 35 ns flow-through; 20 ns of cable assumed", fitted_to = ["..."] }
//! ```
//!
//! and must say where its value comes from. `fitted_to` names the published claims that a value was adjusted to; those
//! claims are no predictions. [`Machine::parse`] reads and checks a file, [`Machine::cluster_config`] turns it into
//! what the simulator needs, [`Machine::parameters`] lists it with provenance, [`Machine::values`] without.

mod check;
mod cluster;
mod file;
mod param;

pub use file::{Adapter, Bus, Engine, Fabric, Link, Machine, Packet, Switch, Title, Topology};
pub use file::{Arbitration, Ascent, Circuit, Multiplexing};
pub use param::{Param, Parameter, PerLevel};

use config::{Document, Override, Problems};
use serde_json::Value;

impl Machine {
    /// Reads and checks a machine file. `overrides` replace values of parameters, by keys such as `link.hop_delay`;
    /// their source becomes "command line".
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn parse(file: &str, text: &str, overrides: &[Override]) -> Result<Machine, Problems> {
        let mut document = Document::parse(file, text)?;
        for change in overrides {
            document = document.with_override(change, |old| replacement(old, change))?;
        }
        let machine: Machine = document.read()?;
        Problems::check(check::problems(&machine, &document), machine)
    }

    /// All parameters with their provenance, in the order of the file format.
    pub fn parameters(&self) -> Vec<Parameter> {
        let tree = serde_json::to_value(self).expect("a machine has no keys but strings");
        let mut parameters = Vec::new();
        param::list("", &tree, &mut parameters);
        parameters
    }

    /// All that decides results: the values, without provenance, name and title.
    pub fn values(&self) -> Value {
        let mut tree = serde_json::to_value(self).expect("a machine has no keys but strings");
        tree.as_object_mut().expect("a machine is a table").remove("machine");
        param::strip(tree)
    }

    /// The JSON schema of machine files.
    pub fn schema() -> Value {
        schemars::schema_for!(Machine).to_value()
    }
}

/// A parameter with its value replaced.
fn replacement(old: &toml_edit::Value, change: &Override) -> toml_edit::Value {
    let Some(table) = old.as_inline_table() else { return change.toml() };
    let mut table = table.clone();
    table.insert("value", change.toml());
    table.insert("source", "command line".into());
    table.remove("fitted_to");
    table.into()
}
