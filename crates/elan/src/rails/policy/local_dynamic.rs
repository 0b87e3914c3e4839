//! Local-dynamic allocation: rails that neither send nor receive at the sender (coll2003 s3, algorithm 3).

use super::turn::Turn;
use super::{Hold, Pick, Picking, Policy, RailMessage, no_rail, stripes};
use crate::Rail;
use crate::rails::host::{Host, RailAdapter};

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
            loop {
                let free = host.rails_that(RailAdapter::is_free);
                let count = stripes(&host.config, free.len(), message.size);
                let taken = self.turn.take(&free, count);
                if !taken.is_empty() {
                    let pick = |rail: Rail| {
                        host.rails[rail].take();
                        let hold = Hold::Taken;
                        Pick { rail, hold }
                    };
                    return Ok(taken.into_iter().map(pick).collect());
                }
                if host.rails_that(RailAdapter::is_up).is_empty() {
                    return no_rail(host, message);
                }
                host.rails[Rail::new(0)]
                    .adapter
                    .sleep(host.config.poll)
                    .await;
            }
        })
    }
}
