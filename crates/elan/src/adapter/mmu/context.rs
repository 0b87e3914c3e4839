//! Contexts: an adapter's record of each process that uses it, and of the processes that may
//! address each other.
//!
//! A process *attaches* to its adapter and gets a context: its own address space, events and
//! queues. Processes that were given the same [`Capability`] may address each other; to all others
//! a context is closed, even if its ranges permit access. So the hardware protects process groups
//! from each other (petrini2003 s3.1). In the machine the sender's route table knows only the
//! processes with its own capability, and each transaction carries the destination's context number
//! (petrini2003 s2.2.1). In the model the destination's adapter compares capabilities.
//!
//! On a machine with several rails a process may also have contexts at its node's other adapters
//! ([`crate::Node::beside`]). All these contexts reach the process's main memory, at the addresses
//! and with the permissions of the first context. An adapter's memory is reached through that
//! adapter only.

use super::AddressSpace;
use crate::Place;
use crate::dma::DmaError;
use crate::memory::{Address, Capability, ElanAddr, EventNumber, QueueNumber};
use kernel::Signal;
use std::collections::{BTreeMap, VecDeque};
use thiserror::Error;
use units::Bytes;

/// Contexts per adapter (public Elan3 headers).
pub const MOST_CONTEXTS: u32 = 4096;

/// An adapter has no context left, or no context with a number that is free on other nodes as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "no context is left on the adapter of node {node}, which has {} for processes: start fewer \
    processes or jobs on it \
     at a time, or detach those that have ended",
    MOST_CONTEXTS - 1
)]
pub struct ContextError {
    /// The adapter's place.
    pub node: Place,
}

/// An adapter's record of a process.
pub(crate) struct Context {
    pub capability: Capability,
    /// For a process's further context, on another rail: any address in its first context, which
    /// holds the main memory that it reaches.
    pub home: Option<Address>,
    pub space: AddressSpace,
    /// Its events, by address.
    pub events: BTreeMap<ElanAddr, EventNumber>,
    /// Its queues, by address.
    pub queues: BTreeMap<ElanAddr, QueueNumber>,
    /// Places for events at addresses that the process does not choose.
    pub event_places: Vec<ElanAddr>,
    pub awaited: StoreWaiters,
    /// Errors without a waiter, until the process collects them.
    pub traps: VecDeque<DmaError>,
}

/// The processes that wait for a store to a byte of a range. Thousands may wait, each for its own
/// range.
#[derive(Default)]
pub(crate) struct StoreWaiters {
    /// The ranges, by their first bytes and by arrival.
    ranges: BTreeMap<(ElanAddr, u64), (Bytes, Signal)>,
    came: u64,
    /// The longest range that there has been: no range that begins farther before a byte has this
    /// byte.
    longest: Bytes,
}

impl StoreWaiters {
    /// Adds a waiter: the signal is fired by the next store to a byte of the range.
    pub fn add(&mut self, at: ElanAddr, length: Bytes) -> Signal {
        let stored = Signal::new();
        self.ranges
            .insert((at, self.came), (length, stored.clone()));
        self.came += 1;
        self.longest = self.longest.max(length);
        stored
    }

    /// Bytes have been stored. Waiters are notified in the order of arrival.
    pub fn stored(&mut self, at: ElanAddr, length: Bytes) {
        if self.ranges.is_empty() {
            return;
        }
        let first = u64::from(at.as_u32()).saturating_sub(self.longest.as_u64());
        let near = (ElanAddr::new(first as u32), 0)..(at.offset(length), 0);
        let near = self.ranges.range(near);
        let hit = near.filter(|((start, _), (length, _))| start.offset(*length) > at);
        let mut hit: Vec<_> = hit.map(|(&key, _)| key).collect();
        hit.sort_unstable_by_key(|&(_, came)| came);
        for key in hit {
            let (_, stored) = self.ranges.remove(&key).expect("it has just been found");
            stored.fire();
        }
    }
}

impl Context {
    pub fn new(capability: Capability) -> Self {
        Context {
            capability,
            home: None,
            space: AddressSpace::default(),
            events: BTreeMap::new(),
            queues: BTreeMap::new(),
            event_places: Vec::new(),
            awaited: StoreWaiters::default(),
            traps: VecDeque::new(),
        }
    }
}
