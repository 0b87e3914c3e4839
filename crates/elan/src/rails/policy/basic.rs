//! The baseline: each process takes the rails in turn, whatever their adapters are doing (coll2003 s5.2).

use super::turn::Turn;
use super::{Hold, Pick, Picking, Policy, RailMessage, no_rail};
use crate::rails::host::{Host, Rail};

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
        let next = self.turn.take(&host.rails_that(Rail::is_up), 1);
        let pick = next.first().map(|&rail| {
            let hold = Hold::Nothing;
            vec![Pick { rail, hold }]
        });
        Box::pin(std::future::ready(
            pick.ok_or_else(|| no_rail(host, message)),
        ))
    }
}
