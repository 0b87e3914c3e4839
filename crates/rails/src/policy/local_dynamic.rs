//! Local-dynamic allocation: rails that neither send nor receive at the sender (coll2003 s3, algorithm 3).
//!
//! The algorithm reserves nothing: it reads the status of the rails and sends. The adapters update the status, so that a
//! process learns of a message some time after it has begun ([`Config::status_lag`](crate::Config::status_lag)).
//! Processes that look within this time may send on the same rail. The rails of a message may have been picked when the message
//! was generated ([`crate::Generator`]).

use super::turn::SharedTurn;
use super::{Hold, Pick, Picking, Policy, RailMessage, free_rails, stripes};
use crate::host::Host;
use elan::Rail;

pub(crate) struct LocalDynamic {
    turn: SharedTurn,
}

impl LocalDynamic {
    pub fn new(turn: SharedTurn) -> Self {
        LocalDynamic { turn }
    }
}

/// Picks of some rails: their adapters send from now on.
fn begin(host: &Host, rails: Vec<Rail>) -> Vec<Pick> {
    let pick = |rail: Rail| {
        host.rails[rail].adapter.begin_sending();
        let hold = Hold::Told;
        Pick { rail, hold }
    };
    rails.into_iter().map(pick).collect()
}

impl Policy for LocalDynamic {
    fn pick<'a>(&'a mut self, host: &'a Host, message: RailMessage) -> Picking<'a> {
        Box::pin(async move {
            let free = free_rails(host, message).await?;
            let count = stripes(&host.config, free.len(), message.size);
            let taken = self.turn.borrow_mut().take(&free, count);
            Ok(begin(host, taken))
        })
    }

    fn accept(&mut self, host: &Host, generated: Vec<Rail>) -> Vec<Pick> {
        let up = generated.into_iter();
        let up = up.filter(|&rail| host.rails[rail].is_up());
        begin(host, up.collect())
    }
}
