//! # Policies: how a process picks the rails of a message
//!
//! A [`Policy`] is asked before each message. It says which rails the message takes, and how the message holds them. To add
//! a policy: write a type, and name it in [`super::Kind`] and in `super::kinds`. Nothing else knows which policies there
//! are: Tports, where the receiver picks the rails, ask [`Config::candidates`].

pub(super) mod basic;
pub(super) mod dynamic;
pub(super) mod fixed;
pub(super) mod hybrid;
pub(super) mod local_dynamic;
pub(super) mod turn;

use super::host::{Host, RailAdapter};
use super::nic::{Grant, Port};
use elan::config::rails::Config;
use elan::dma::DmaError;
use elan::{NodeId, Rail};
use std::pin::Pin;
use std::rc::Rc;
use turn::Turn;
use units::Bytes;

/// A message, or the unsent rest of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct RailMessage {
    pub to: NodeId,
    pub size: Bytes,
}

/// A rail for a message, or for a stripe of a message.
pub(super) struct Pick {
    pub rail: Rail,
    pub hold: Hold,
}

/// How a rail is held for a message or stripe.
pub(super) enum Hold {
    /// Not at all.
    Nothing,
    /// Not at all; the status of the rail says that it sends, as far as the node's processes know of that yet.
    Told,
    /// Both adapters are reserved, until the receiver reports the end of the message.
    Granted {
        /// The request.
        grant: Grant,
        /// The adapter at the other end.
        there: Rc<Port>,
    },
}

/// A policy at work: the result is at least one rail, no rail twice.
pub(super) type Picking<'a> = Pin<Box<dyn Future<Output = Result<Vec<Pick>, DmaError>> + 'a>>;

/// What one process does to pick the rails of its messages.
pub(super) trait Policy {
    /// Picks the rails of the next message; waits until there are some.
    ///
    /// It fails if no rail to the destination works.
    fn pick<'a>(&'a mut self, host: &'a Host, message: RailMessage) -> Picking<'a>;

    /// Picks those rails that a message got when it was generated, as far as they work: none, unless the policy picks rails then.
    fn accept(&mut self, _host: &Host, _generated: Vec<Rail>) -> Vec<Pick> {
        Vec::new()
    }
}

/// The adapter's process of a node on a rail.
pub(super) type PortOf = Rc<dyn Fn(NodeId, Rail) -> Rc<Port>>;

/// The number of rails that a message is striped over: the striping ratio times the rails, but at least one, and at most
/// one for each byte of the message (coll2003 s3).
pub fn stripes(config: &Config, rails: usize, size: Bytes) -> usize {
    let wanted = (config.striping * rails as f64).round() as usize;
    let bytes = usize::try_from(size.as_u64()).unwrap_or(usize::MAX);
    wanted.min(bytes).clamp(1, rails.max(1))
}

/// No rail is left to the destination of a message.
fn no_rail<T>(host: &Host, message: RailMessage) -> Result<T, DmaError> {
    let (from, to) = (host.node, message.to);
    Err(DmaError::NoRail { from, to })
}

/// Waits until some rails are free at the node.
async fn free_rails(host: &Host, message: RailMessage) -> Result<Vec<Rail>, DmaError> {
    loop {
        let free = host.rails_that(RailAdapter::is_free);
        if !free.is_empty() {
            return Ok(free);
        }
        if !host.rails.iter().any(RailAdapter::is_up) {
            return no_rail(host, message);
        }
        host.rails[Rail::new(0)]
            .adapter
            .sleep(host.config.poll)
            .await;
    }
}

/// The next in turn of some rails; no process holds it.
fn next_of<'a>(turn: &mut Turn, rails: &[Rail], host: &Host, message: RailMessage) -> Picking<'a> {
    let hold = Hold::Nothing;
    let pick = match turn.take(rails, 1)[..] {
        [rail] => Ok(vec![Pick { rail, hold }]),
        _ => no_rail(host, message),
    };
    Box::pin(std::future::ready(pick))
}
