//! Static allocation: in turn, a rail on which the node transmits and the destination receives (coll2003 s2).

use super::turn::Turn;
use super::{Picking, Policy, RailMessage, next_of};
use crate::allocation::Allocation;
use crate::host::Host;
use elan::Rail;
use std::rc::Rc;

pub(crate) struct Static {
    allocation: Rc<Allocation>,
    turn: Turn,
}

impl Static {
    pub fn new(allocation: Rc<Allocation>, turn: Turn) -> Self {
        Static { allocation, turn }
    }
}

impl Policy for Static {
    fn pick<'a>(&'a mut self, host: &'a Host, message: RailMessage) -> Picking<'a> {
        let between = self.allocation.rails_between(host.node, message.to);
        let up: Vec<Rail> = between.filter(|&rail| host.rails[rail].is_up()).collect();
        next_of(&mut self.turn, &up, host, message)
    }
}
