//! A process's reservations: it asks for ways on some rails, and waits until all adapters have
//! answered (coll2003 s4.1).
//!
//! A rail that fails before all have answered counts as a refusal.

use crate::host::{Host, RailAdapter};
use crate::nic::{Grant, Reply, event_or_failure};
use crate::pick::{Hold, PortOf, RailMessage, RailPick};
use elan::{Node, NodeId, Rail};
use std::cell::Cell;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// One process's reservations; see [`Seat::reservations`](crate::Seat::reservations).
pub struct Reservations {
    /// Where each rail's adapter answers.
    replies: TiVec<Rail, Rc<Reply>>,
    ports: PortOf,
}

/// The rails that both adapters have reserved for a message.
#[must_use = "adapters stay reserved until the rails are kept or given back"]
pub struct Reservation {
    to: NodeId,
    /// In ascending order.
    requests: Vec<(Rail, Grant)>,
}

impl Reservations {
    pub(crate) fn new(host: &Host, ports: PortOf) -> Self {
        let reply = |rail: &RailAdapter| {
            Rc::new(Reply {
                event: rail.adapter.event(1),
                answer: Cell::new(None),
            })
        };
        Reservations {
            replies: host.rails.iter().map(reply).collect(),
            ports,
        }
    }

    /// Asks for a message on some rails, and waits for all answers.
    ///
    /// # Panics
    /// Unless the policy's kind [`reserves`](crate::Kind::reserves).
    pub async fn ask(&self, rails: &[Rail], message: RailMessage, host: &Host) -> Reservation {
        let mut asked = Vec::new();
        for &rail in rails {
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
        Reservation {
            to: message.to,
            requests: asked,
        }
    }

    /// Picks some granted rails, and gives the others back.
    pub fn keep(&self, kept: &[Rail], granted: Reservation, host: &Host) -> Vec<RailPick> {
        let mut picks = Vec::new();
        for (rail, grant) in granted.requests {
            if kept.contains(&rail) {
                let there = (self.ports)(granted.to, rail);
                let hold = Hold::Reserved { grant, there };
                picks.push(RailPick { rail, hold });
            } else {
                host.port(rail).abort(grant);
            }
        }
        picks
    }
}

impl Reservation {
    /// The rails, in ascending order.
    pub fn rails(&self) -> Vec<Rail> {
        self.requests.iter().map(|&(rail, _)| rail).collect()
    }
}

/// Whether a request's rail has not failed since the request.
fn is_open(adapter: &Node, grant: Grant) -> bool {
    adapter.failures() == grant.failures && !adapter.is_down()
}
