//! Topology kinds from outside: a program that links this crate registers them by name, and machine
//! files that it reads may name them.
//!
//! ```toml
//! [topology]
//! kind = { value = "outside", source = "..." }
//! name = { value = "slim-fly", source = "..." }         # as registered
//! nodes = { value = 200, source = "..." }
//! dimensions = { value = [5], source = "..." }          # keys of an `OutsideShape` that it uses
//! terminals = { value = 4, source = "..." }
//! routing = { value = "valiant", source = "..." }
//! ```
//!
//! A point's identity contains the name. In a store, the engine contains the program: another build
//! simulates finished points again.

use fabric::{Misrouting, Topology, TopologyError};
use kernel::registry::Registry;

/// The keys for a topology from outside.
#[derive(Clone, Copy, Debug)]
pub struct OutsideShape<'a> {
    /// Attached nodes, at the network's first positions.
    pub nodes: u32,
    /// The numbers in `dimensions`; empty if the file has no such key.
    pub dimensions: &'a [u32],
    /// Node positions per switch; `None` if the file has no such key.
    pub terminals: Option<u32>,
    /// Which ways packets take; minimal ways if the file has no such key.
    pub routing: Misrouting,
}

/// Makes one rail's network. An error names the wrong key in the [`OutsideShape`].
pub type Build = fn(OutsideShape<'_>) -> Result<Topology, TopologyError>;

static KINDS: Registry<Build> = Registry::new();

/// Registers a topology kind under a name, to be called before the first machine file is read. A
/// later kind replaces an earlier one with the same name.
pub fn register(name: &'static str, build: Build) {
    KINDS.add(name, build);
}

/// A registered kind's network.
pub(crate) fn build(name: &str, shape: OutsideShape<'_>) -> Result<Topology, TopologyError> {
    let build = KINDS.get(name).map_err(|names| {
        let message = format!("this program has no topology `{name}` from outside");
        TopologyError::new("name", message, names.join(", ")).hint(
            "set ELANITE_SIMULATOR to the program that registers it; mpirun, prun and replay \
                have no such topologies",
        )
    })?;
    build(shape)
}
