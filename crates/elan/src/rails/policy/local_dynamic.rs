//! Local-dynamic allocation: rails that neither send nor receive at the sender (coll2003 s3, algorithm 3).
//!
//! The algorithm reserves nothing: it reads the status of the rails and sends. The adapters update the status, so that a
//! process learns of a message some time after it has begun ([`Config::status_lag`](crate::rails::Config::status_lag)).
//! Processes that look within this time may send on the same rail.

use super::turn::Turn;
use super::{Hold, Pick, Picking, Policy, RailMessage, free_rails, stripes};
use crate::Rail;
use crate::rails::host::Host;

pub(crate) struct LocalDynamic {
    turn: Turn,
}

impl LocalDynamic {
    pub fn new(turn: Turn) -> Self {
        LocalDynamic { turn }
    }
}

impl Policy for LocalDynamic {
    fn pick<'a>(&'a mut self, host: &'a Host, message: RailMessage) -> Picking<'a> {
        Box::pin(async move {
            let free = free_rails(host, message).await?;
            let count = stripes(&host.config, free.len(), message.size);
            let taken = self.turn.take(&free, count).into_iter();
            let pick = |rail: Rail| {
                host.rails[rail].begin_sending();
                let hold = Hold::Told;
                Pick { rail, hold }
            };
            Ok(taken.map(pick).collect())
        })
    }
}
