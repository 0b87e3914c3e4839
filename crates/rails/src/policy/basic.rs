//! The baseline: each process takes the rails in turn, whatever their adapters are doing (coll2003 s5.2).

use super::turn::Turn;
use super::{Picking, Policy, RailMessage, next_of};
use crate::host::{Host, RailAdapter};

pub(crate) struct Basic {
    turn: Turn,
}

impl Basic {
    pub fn new(turn: Turn) -> Self {
        Basic { turn }
    }
}

impl Policy for Basic {
    fn pick<'a>(&'a mut self, host: &'a Host, message: RailMessage) -> Picking<'a> {
        next_of(
            &mut self.turn,
            &host.rails_that(RailAdapter::is_up),
            host,
            message,
        )
    }
}
