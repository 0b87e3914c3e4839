//! Kinds of topologies from outside: a program that links this crate registers them by name, and machine files that it
//! reads may name them.
//!
//! ```toml
//! [topology]
//! kind = { value = "outside", source = "..." }
//! name = { value = "slim-fly", source = "..." }         # as registered
//! nodes = { value = 200, source = "..." }
//! dimensions = { value = [5], source = "..." }          # the keys of a `Shape`, as far as the kind has a use for them
//! terminals = { value = 4, source = "..." }
//! routing = { value = "valiant", source = "..." }
//! ```
//!
//! A point's identity contains the name. In a store, the engine contains the program: another build simulates finished points
//! again.

use fabric::{Misrouting, Topology, TopologyError};
use kernel::registry::Registry;

/// The keys of a topology from outside.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// Attached nodes, at the first positions of the network.
    pub nodes: u32,
    /// The numbers of `dimensions`; empty if the file has none.
    pub dimensions: &'a [u32],
    /// Positions for nodes of each switch; `None` if the file has no such key.
    pub terminals: Option<u32>,
    /// Which ways packets take; minimal ways if the file has no such key.
    pub routing: Misrouting,
}

/// Makes a network of one rail. An error names the key of the [`Shape`] that is wrong.
pub type Build = fn(Shape<'_>) -> Result<Topology, TopologyError>;

static KINDS: Registry<Build> = Registry::new();

/// Registers a kind of topology under a name, to be called before the first machine file is read. A later kind takes the place
/// of an earlier one of the same name.
pub fn register(name: &'static str, build: Build) {
    KINDS.add(name, build);
}

/// The network of a registered kind.
pub(crate) fn build(name: &str, shape: Shape<'_>) -> Result<Topology, TopologyError> {
    let build = KINDS.get(name).map_err(|names| {
        let message = format!("this program has no topology `{name}` from outside");
        TopologyError::new("name", message, names.join(", "))
            .hint("set ELANITE_SIMULATOR to the program that registers it; mpirun, prun and replay have no such topologies")
    })?;
    build(shape)
}
