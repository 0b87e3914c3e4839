//! # Rail policies: how a process picks the rails of a message
//!
//! Each process has a [`RailPolicy`] and asks it before each message. The policy sees the message
//! and the rails of the node ([`Host`]), and returns the rails that the message takes, each with a
//! hold ([`Pick`]). [`policies`](crate::policies) has the shipped ones. A program
//! [registers](crate::register) policies of its own; machine files then have their names in
//! `rails.policy`. The name is a part of the identity of a point; the code behind it is a part of
//! the engine that the store notes.
//!
//! Tports, where the receiver picks the rails, use the [`Candidates`](crate::Candidates) of a
//! [`Kind`] instead.

use crate::allocation::Allocation;
use crate::host::Host;
use crate::pick::{Pick, PortOf, RailMessage};
use crate::reservation::Reservations;
use crate::turn::{SharedTurn, Turn};
use elan::Rail;
use elan::config::rails::{Config, Kind};
use elan::dma::DmaError;
use std::pin::Pin;
use std::rc::Rc;
use units::Bytes;

/// A policy at work.
pub type Picking<'a> = Pin<Box<dyn Future<Output = Result<Vec<Pick>, DmaError>> + 'a>>;

/// The rule by which one process picks the rails of its messages.
pub trait RailPolicy {
    /// Picks the rails of the next message: at least one that works, none twice. The message is
    /// striped over them in this order. A policy may wait until there are some
    /// ([`Host::wait_for_free`]).
    ///
    /// It fails if no rail to the destination works ([`Host::no_rail`]).
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> Picking<'a>;

    /// Picks those rails that a [`Generator`](crate::Generator) picked for the message, as far as
    /// they work; by default none, so that [`pick`](Self::pick) follows.
    fn accept(&mut self, _generated: Vec<Rail>, _host: &Host) -> Vec<Pick> {
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
    /// The node of the process.
    pub fn host(&self) -> &Host {
        self.host
    }

    /// A turn through the rails; the processes of a node begin at different ones.
    pub fn turn(&self) -> Turn {
        *self.turn.borrow()
    }

    /// The turn that the [`Generator`](crate::Generator) of the process takes, too.
    pub fn shared_turn(&self) -> SharedTurn {
        Rc::clone(self.turn)
    }

    /// The static allocation of the machine.
    ///
    /// # Panics
    /// Unless the kind of the policy [`allocates`](Kind::allocates).
    pub fn allocation(&self) -> Rc<Allocation> {
        Rc::clone(self.allocation.expect("the policy allocates"))
    }

    /// The reservations of the process, once for each process.
    ///
    /// # Panics
    /// If an adapter has no memory left for its answers.
    pub fn reservations(&self) -> Reservations {
        Reservations::new(self.host, Rc::clone(&self.ports))
    }
}

/// Makes the policy of a process.
pub type Make = fn(&Seat<'_>) -> Box<dyn RailPolicy>;

/// A policy that machine files may name.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Its name, and its needs.
    pub kind: Kind,
    /// Makes it for a process.
    pub make: Make,
}

/// The number of rails that a message is striped over: the striping ratio times the rails, but at
/// least one, and at most one for each byte of the message (coll2003 s3).
pub fn stripes(config: &Config, rails: usize, size: Bytes) -> usize {
    let wanted = (config.striping * rails as f64).round() as usize;
    let bytes = usize::try_from(size.as_u64()).unwrap_or(usize::MAX);
    wanted.min(bytes).clamp(1, rails.max(1))
}
