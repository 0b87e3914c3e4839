//! # Rail policies: how a process picks a message's rails
//!
//! Each process has a [`RailPolicy`] and asks it before each message. The policy sees the message
//! and the node's rails ([`Host`]), and returns the rails that the message takes, each with a hold
//! ([`RailPick`]). [`policies`](crate::policies) has the shipped ones. A program
//! [registers](crate::register) its own policies; machine files then have their names in
//! `rails.policy`. The name is part of a point's identity; the code behind it is part of the engine
//! that the store notes.
//!
//! Tports, where the receiver picks the rails, use the [`Candidates`](crate::Candidates) of a
//! [`Kind`] instead.

use crate::allocation::Allocation;
use crate::host::Host;
use crate::pick::{PortOf, RailMessage, RailPick};
use crate::reservation::Reservations;
use crate::turn::{SharedTurn, Turn};
use elan::Rail;
use elan::config::rails::{Config, Kind};
use elan::dma::DmaError;
use std::pin::Pin;
use std::rc::Rc;
use units::Bytes;

/// A policy at work.
pub type PickFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<RailPick>, DmaError>> + 'a>>;

/// The rule by which one process picks its messages' rails.
pub trait RailPolicy {
    /// Picks the next message's rails: at least one that works, no rail twice. The message is
    /// striped over them in this order. A policy may wait until there are some
    /// ([`Host::wait_for_free`]).
    ///
    /// It fails if no rail to the destination works ([`Host::no_rail`]).
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a>;

    /// Picks those rails that a [`Generator`](crate::Generator) picked for the message, as far as
    /// they work; by default the result is empty, so that [`pick`](Self::pick) follows.
    fn accept(&mut self, _generated: Vec<Rail>, _host: &Host) -> Vec<RailPick> {
        Vec::new()
    }
}

/// The process that a new policy is for.
pub struct Seat<'a> {
    pub(crate) host: &'a Host,
    pub(crate) turn: &'a SharedTurn,
    pub(crate) allocation: Option<&'a Rc<Allocation>>,
    pub(crate) ports: PortOf,
}

impl Seat<'_> {
    /// The process's node.
    pub fn host(&self) -> &Host {
        self.host
    }

    /// A turn through the rails; a node's processes begin at different ones.
    pub fn turn(&self) -> Turn {
        *self.turn.borrow()
    }

    /// The turn that the process's [`Generator`](crate::Generator) takes, too.
    pub fn shared_turn(&self) -> SharedTurn {
        Rc::clone(self.turn)
    }

    /// The machine's static allocation.
    ///
    /// # Panics
    /// Unless the policy's kind [`allocates`](Kind::allocates).
    pub fn allocation(&self) -> Rc<Allocation> {
        Rc::clone(self.allocation.expect("the policy allocates"))
    }

    /// The process's reservations, made once per process.
    ///
    /// # Panics
    /// If an adapter has no memory left for its answers.
    pub fn reservations(&self) -> Reservations {
        Reservations::new(self.host, Rc::clone(&self.ports))
    }
}

/// Makes a process's policy.
pub type PolicyFactory = fn(&Seat<'_>) -> Box<dyn RailPolicy>;

/// A policy that machine files may name.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Its name, and its needs.
    pub kind: Kind,
    /// Makes it for a process.
    pub make: PolicyFactory,
}

/// The count of rails that a message is striped over: the striping ratio times the rails, but at
/// least one, and at most one per message byte (coll2003 s3).
pub fn stripes(config: &Config, rails: usize, size: Bytes) -> usize {
    let wanted = (config.striping * rails as f64).round() as usize;
    let bytes = usize::try_from(size.as_u64()).unwrap_or(usize::MAX);
    wanted.min(bytes).clamp(1, rails.max(1))
}
