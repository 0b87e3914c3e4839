//! Static allocation: of the rails on which the node transmits and the destination receives, each in turn (coll2003 s2).

use super::turn::Turn;
use super::{Hold, Pick, Picking, Policy, RailMessage, no_rail};
use crate::rails::allocation::Allocation;
use crate::rails::host::Host;
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
        let up = between.filter(|&rail| host.rails[rail as usize].is_up());
        let next = self.turn.take(&up.collect::<Vec<_>>(), 1);
        let pick = next.first().map(|&rail| {
            let hold = Hold::Nothing;
            vec![Pick { rail, hold }]
        });
        Box::pin(std::future::ready(
            pick.ok_or_else(|| no_rail(host, message)),
        ))
    }
}
