//! # Which adapter carries a message
//!
//! A *rail* is a network of its own: a node with several rails has an adapter on each, each behind an I/O bus of its own, and
//! what enters one rail leaves it on the same. That a bus moves less when it moves in both directions is what all ways to
//! choose a rail are about (004 s1). They differ in what they know:
//!
//! * [`allocation`]: nothing. Each adapter either transmits or receives, for ever, so that no bus is used in both directions; the
//!   price is the number of rails (s2);
//! * [`protocol`]: that both ends are reserved for the message; the price is to ask (s4).
//!
//! Source: 004, "Using Multirail Networks in High Performance Clusters". It uses the words rail and network interface
//! interchangeably.

pub mod allocation;
pub mod protocol;

pub use allocation::{Allocation, AllocationError};
