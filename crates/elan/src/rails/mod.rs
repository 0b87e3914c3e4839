//! # Which adapter carries a message (004)
//!
//! A *rail* is a network of its own: a node with several rails has an adapter on each, each behind an I/O bus of its own, and
//! what enters one rail leaves it on the same. That a bus moves less when it moves in both directions is what all ways to
//! choose a rail are about (004 s1). They differ in what they know:
//!
//! | policy | a message goes on | it waits |
//! |---|---|---|
//! | static (s2) | a rail on which its node only transmits and the destination only receives, in turn ([`allocation`]) | for nothing |
//! | basic (s5.2) | the next rail in turn | for nothing |
//! | local-dynamic (s3) | rails that neither send nor receive at its own node | until there is one |
//! | dynamic (s4) | rails that both ends have reserved for it ([`protocol`]) | until there is one |
//! | hybrid (s4.3) | if it is short, the next free rail, without reservation; else as dynamic | if it is long, as dynamic |
//!
//! A policy is one small type ([`policy`]). What they share is here: the [`Process`] that sends messages one at a time, cuts
//! them into stripes if it may use several rails, and sends again on others what a rail that fails has lost; the [`Host`] of
//! a node, which is what its processes know of its rails; and the adapter's own process ([`nic`]), a thread that answers
//! the control messages of the policies that reserve, which are packets like all others.
//!
//! ## What is where
//!
//! * A process blocks while it sends: it takes up its next message when all stripes of the last one are acknowledged.
//! * Each process has its own turn through the rails, and processes of a node begin at different ones.
//! * With control messages: process to adapter and back across the bus, by a command and by a copied event; adapter to
//!   adapter by a transaction into a queue. The thread processor works `handle` cycles on each.
//! * A message is delivered when all of its stripes are: each exactly once, also when a rail fails, which is asserted.
//!
//! Source: 004, "Using Multirail Networks in High Performance Clusters". It uses the words rail and network interface
//! interchangeably.

pub mod allocation;
mod host;
mod nic;
mod policy;
mod process;
pub mod protocol;

pub use allocation::{Allocation, AllocationError};
pub use host::Rails;
pub use policy::{Turn, stripes};
pub use process::{Attachment, Process};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Time};

/// How messages are spread over the rails of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How the rails of a message are picked.
    pub policy: Kind,
    /// Fraction of the rails that a message could have which it is striped over, 0 (one) to 1 (all).
    pub striping: f64,
    /// Of the policy hybrid: longest message that is sent without reservation.
    pub threshold: Bytes,
    /// Cycles of the thread processor for each control message.
    pub handle: u32,
    /// From one look at the rails to the next, if none is free; more than zero.
    pub poll: Time,
    /// Of the policies that reserve: whether requests that meet are compared, so that one of them goes on (s4.2, algorithm 6).
    pub avoidance: bool,
}

/// How the rails of a message are picked; see the essay of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Policy")]
pub enum Kind {
    /// Each adapter transmits or receives, for ever.
    Static,
    /// In turn.
    Basic,
    /// Free at the sender.
    LocalDynamic,
    /// Reserved at both ends.
    Dynamic,
    /// Short messages free at the sender, long ones reserved at both ends.
    Hybrid,
}

impl Kind {
    /// Whether adapters reserve themselves, by control messages.
    pub fn reserves(self) -> bool {
        matches!(self, Kind::Dynamic | Kind::Hybrid)
    }
}
