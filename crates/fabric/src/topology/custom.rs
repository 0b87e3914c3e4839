//! External networks: a routing from another crate.

use super::error::TopologyError;
use super::routing::Routing;
use super::wiring::Wiring;
use std::sync::Arc;

/// A network with wiring and routing from another crate. Cheap to clone; a clone is equal to its
/// original, and to no other network.
#[derive(Clone, Debug)]
pub struct Custom(Arc<dyn Routing>);

impl Custom {
    /// A routing's network.
    pub fn new(routing: impl Routing + 'static) -> Self {
        Custom(Arc::new(routing))
    }

    /// The routing.
    pub fn routing(&self) -> Arc<dyn Routing> {
        Arc::clone(&self.0)
    }

    pub(super) fn wiring(&self) -> &(dyn Wiring + 'static) {
        self.0.wiring()
    }

    /// This network on several rails; see [`Routing::on_rails`].
    pub(super) fn with_rails(&self, rails: u32) -> Result<Self, TopologyError> {
        if rails == self.wiring().rails() {
            return Ok(self.clone());
        }
        self.0.on_rails(rails).map(Custom)
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Custom {}
