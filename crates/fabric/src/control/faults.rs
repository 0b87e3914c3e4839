//! Faults: cables that die and are repaired.

use super::Control;
use crate::motion::Motion;
use crate::topology::Routing;
use crate::{LinkId, Place};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// Why no packet can go from one place to another: the known cuts leave no way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoWay {
    /// The cables that would have to be repaired, each by one of its links, in the order of their numbers.
    pub cut: Vec<LinkId>,
    message: String,
}

impl Display for NoWay {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl Error for NoWay {}

impl<R: Routing> Control<R> {
    pub fn cut(&mut self, _motion: &mut impl Motion, _link: LinkId) {}

    pub fn repair(&mut self, _link: LinkId) {}

    pub fn learn(&mut self) {}

    pub fn is_cut(&self, _link: LinkId) -> bool {
        false
    }

    pub fn way(&self, _from: Place, _to: Place) -> Result<(), NoWay> {
        Ok(())
    }
}
