//! A broadcast's bytes, and its way.

use elan::ElanAddr;
use units::Bytes;

/// The broadcast's bytes: from one address in the root to one address in all other members.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub from: ElanAddr,
    pub to: ElanAddr,
    pub size: Bytes,
    /// Whether adapters carry out the call while their hosts compute, and all bytes take the home
    /// rail: hosts pick rails.
    pub posted: bool,
}

impl Span {
    /// Bytes at the same address everywhere.
    pub fn new(buffer: ElanAddr, size: Bytes) -> Self {
        Span {
            from: buffer,
            to: buffer,
            size,
            posted: false,
        }
    }
}

/// The carrier of a group call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::elan) enum Carrier {
    /// Messages to one process each.
    Software,
    /// The network's broadcasts.
    Hardware,
}
