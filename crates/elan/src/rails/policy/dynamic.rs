//! Dynamic allocation: rails that both ends have reserved (coll2003 s4.1, algorithm 4).
//!
//! The process asks for a way on every rail that is free at its node, and waits until all adapters have answered. It takes
//! as many of the granted rails as the striping ratio says, and gives the others back. If none is granted, the process
//! begins again at once. A rail that fails before it answers counts as a refusal.

use super::turn::Turn;
use super::{Hold, Pick, Picking, Policy, PortOf, RailMessage, free_rails, stripes};
use crate::Rail;
use crate::rails::host::{Host, RailAdapter};
use crate::rails::nic::Reply;
use kernel::Signal;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
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
                granted: Cell::new(false),
            })
        };
        Dynamic {
            turn,
            replies: host.rails.iter().map(reply).collect(),
            ports,
        }
    }

    /// Asks on some rails; returns the numbers of the granted requests, by their rails, in ascending order.
    async fn ask(&self, host: &Host, free: &[Rail], message: RailMessage) -> Vec<(Rail, u64)> {
        let mut asked = Vec::new();
        for &rail in free {
            let number = host.number();
            let reply = &self.replies[rail];
            reply.granted.set(false);
            host.port(rail).request(number, message.to, reply);
            asked.push((rail, number));
        }
        for &rail in free {
            let adapter = &host.rails[rail].adapter;
            let answered = adapter.wait(self.replies[rail].event);
            or(answered, &adapter.down()).await;
        }
        asked.retain(|&(rail, _)| self.replies[rail].granted.get() && host.rails[rail].is_up());
        asked
    }
}

/// Waits until one of two is ready.
async fn or(one: impl Future<Output = ()>, other: &Signal) {
    let mut one = std::pin::pin!(one);
    let mut other = other.wait();
    poll_fn(|context| {
        match (
            one.as_mut().poll(context),
            Pin::new(&mut other).poll(context),
        ) {
            (Poll::Pending, Poll::Pending) => Poll::Pending,
            _ => Poll::Ready(()),
        }
    })
    .await;
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
                for (rail, number) in granted {
                    if taken.contains(&rail) {
                        let there = (self.ports)(message.to, rail);
                        let hold = Hold::Granted { number, there };
                        picks.push(Pick { rail, hold });
                    } else {
                        host.port(rail).abort(number);
                    }
                }
                if !picks.is_empty() {
                    return Ok(picks);
                }
            }
        })
    }
}
