//! Dynamic allocation: rails that both ends have reserved (coll2003 s4.1, algorithm 4).
//!
//! The process asks for a way on every rail that is free at its node, and waits until all adapters have answered. It takes
//! as many of the granted rails as the striping ratio says, and gives the others back. If none is granted, the process
//! begins again at once. A rail that fails before all have answered counts as a refusal.

use super::turn::Turn;
use super::{Hold, Pick, Picking, Policy, PortOf, RailMessage, free_rails, stripes};
use crate::host::{Host, RailAdapter};
use crate::nic::{Grant, Reply, event_or_failure};
use elan::Node;
use elan::Rail;
use std::cell::Cell;
use std::rc::Rc;
use typed_index_collections::TiVec;

pub(crate) struct Dynamic {
    turn: Turn,
    /// Where the adapter of each rail answers.
    replies: TiVec<Rail, Rc<Reply>>,
    ports: PortOf,
}

impl Dynamic {
    pub fn new(host: &Host, turn: Turn, ports: PortOf) -> Self {
        let reply = |rail: &RailAdapter| {
            Rc::new(Reply {
                event: rail.adapter.event(1),
                answer: Cell::new(None),
            })
        };
        Dynamic {
            turn,
            replies: host.rails.iter().map(reply).collect(),
            ports,
        }
    }

    /// Asks on some rails; returns the granted requests, by their rails, in ascending order.
    async fn ask(&self, host: &Host, free: &[Rail], message: RailMessage) -> Vec<(Rail, Grant)> {
        let mut asked = Vec::new();
        for &rail in free {
            let (number, failures) = (host.number(), host.rails[rail].adapter.failures());
            let reply = &self.replies[rail];
            host.port(rail).request(number, message.to, reply);
            asked.push((rail, Grant { number, failures }));
        }
        for &(rail, grant) in &asked {
            let (adapter, reply) = (&host.rails[rail].adapter, &self.replies[rail]);
            while is_open(adapter, grant) {
                event_or_failure(adapter, reply.event).await;
                if reply
                    .answer
                    .get()
                    .is_some_and(|(number, _)| number == grant.number)
                {
                    break;
                }
                // The event may have been set by an answer from before a failure.
                adapter.prime(reply.event, 1);
            }
        }
        asked.retain(|&(rail, grant)| {
            let granted = self.replies[rail].answer.get() == Some((grant.number, true));
            granted && is_open(&host.rails[rail].adapter, grant)
        });
        asked
    }
}

/// Whether the rail of a request has not failed since the request.
fn is_open(adapter: &Node, grant: Grant) -> bool {
    adapter.failures() == grant.failures && !adapter.is_down()
}

impl Policy for Dynamic {
    fn pick<'a>(&'a mut self, host: &'a Host, message: RailMessage) -> Picking<'a> {
        Box::pin(async move {
            loop {
                let free = free_rails(host, message).await?;
                let granted = self.ask(host, &free, message).await;
                let rails: Vec<Rail> = granted.iter().map(|&(rail, _)| rail).collect();
                let count = stripes(&host.config, rails.len(), message.size);
                let taken = self.turn.take(&rails, count);
                let mut picks = Vec::new();
                for (rail, grant) in granted {
                    if taken.contains(&rail) {
                        let there = (self.ports)(message.to, rail);
                        let hold = Hold::Granted { grant, there };
                        picks.push(Pick { rail, hold });
                    } else {
                        host.port(rail).abort(grant);
                    }
                }
                if !picks.is_empty() {
                    return Ok(picks);
                }
            }
        })
    }
}
