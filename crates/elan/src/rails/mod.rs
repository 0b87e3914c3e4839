//! # Rails: which adapter carries a message (004)
//!
//! A node of a multirail cluster has several adapters, one a *rail*: independent networks that reach the same nodes. Dynamic
//! allocation (004 s4) reserves an adapter at either end before a message is sent, so that neither I/O bus carries traffic
//! both ways. [`protocol`] is what an adapter's thread does for it.

pub mod protocol;
