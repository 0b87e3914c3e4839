//! # The I/O bus
//!
//! Each adapter has one bus, shared by everything that crosses between host and adapter. A transfer
//! is cut into bursts.
//!
//! *Half-duplex*, the papers' buses (PCI): one burst at a time. When a burst ends, the bus turns to
//! the other direction if a transfer waits there; otherwise it continues in the same direction. Two
//! directions that both have work thus alternate burst by burst and pay the turnaround each time.
//! This alternation halves a bidirectional ping's bandwidth between main memories (petrini2003
//! s5.2); rail allocation seeks to avoid it (coll2003 s1).
//!
//! *Full-duplex*: each direction has its own wires, and the two do not slow each other.
//!
//! The bus's queues are bounded: the adapter has at most a few payload reads, input buffers and
//! block copies outstanding, and a program has one command at a time per process.

use crate::config::{BusConfig, Duplex};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From host or main memory to the adapter: payload to send, commands.
    ToAdapter,
    /// From the adapter to main memory: payload received, event blocks.
    ToMain,
}

impl Direction {
    fn index(self) -> usize {
        self as usize
    }

    fn other(self) -> Direction {
        match self {
            Direction::ToAdapter => Direction::ToMain,
            Direction::ToMain => Direction::ToAdapter,
        }
    }
}

/// A transfer that waits or is under way; `T` is its purpose.
#[derive(Clone, Copy, Debug)]
struct Transfer<T> {
    left: Bytes,
    purpose: T,
}

/// A bus's state.
#[derive(Debug)]
pub struct BusState<T> {
    config: BusConfig,
    waiting: [VecDeque<Transfer<T>>; 2],
    last: Direction,
    /// Size of the burst under way, by direction. A half-duplex bus has at most one burst under
    /// way.
    active: [Option<Bytes>; 2],
    busy: Time,
}

impl<T> BusState<T> {
    /// An idle bus.
    pub fn new(config: BusConfig) -> Self {
        BusState {
            config,
            waiting: [VecDeque::new(), VecDeque::new()],
            last: Direction::ToAdapter,
            active: [None; 2],
            busy: Time::ZERO,
        }
    }

    /// Adds a transfer of at least one byte. If the bus was idle, a burst starts now: returns the
    /// burst's duration, after which the caller calls [`BusState::finish_burst`].
    #[inline]
    pub fn request(&mut self, direction: Direction, size: Bytes, purpose: T) -> Option<Time> {
        assert!(!size.is_zero(), "a transfer moves at least one byte");
        self.waiting[direction.index()].push_back(Transfer {
            left: size,
            purpose,
        });
        let idle = match self.config.duplex {
            Duplex::Half => self.active == [None; 2],
            Duplex::Full => self.active[direction.index()].is_none(),
        };
        if idle {
            let next = self.start_burst(direction);
            next.map(|(_, duration)| duration)
        } else {
            None
        }
    }

    /// Ends the burst under way in a direction. Returns the transfer's purpose, if this burst
    /// completed it, and the next burst's direction and duration, which starts now.
    pub fn finish_burst(&mut self, direction: Direction) -> (Option<T>, Option<(Direction, Time)>) {
        let size = self.active[direction.index()].take();
        let size = size.expect("a burst is under way");
        self.last = direction;
        let queue = &mut self.waiting[direction.index()];
        let transfer = queue.front_mut().expect("the burst belongs to a transfer");
        transfer.left -= size;
        let done = if transfer.left.is_zero() {
            queue.pop_front().map(|transfer| transfer.purpose)
        } else {
            None
        };
        (done, self.start_burst(direction))
    }

    /// Time in which the bus was taken so far, bursts under way included; for a full-duplex bus,
    /// both directions together.
    pub fn busy(&self) -> Time {
        self.busy
    }

    /// Picks the next burst after a burst has ended or a transfer has come up in a direction;
    /// returns its direction and duration.
    #[inline]
    fn start_burst(&mut self, ended: Direction) -> Option<(Direction, Time)> {
        let other = self.last.other();
        let direction = match self.config.duplex {
            Duplex::Half if self.waiting[other.index()].is_empty() => self.last,
            Duplex::Half => other,
            Duplex::Full => ended,
        };
        let next = self.waiting[direction.index()].front()?;
        let size = next.left.min(self.config.burst);
        self.active[direction.index()] = Some(size);
        let turns = self.config.duplex == Duplex::Half && direction != self.last;
        let turnaround = if turns {
            self.config.turnaround
        } else {
            Time::ZERO
        };
        let duration = turnaround + self.config.burst_overhead + self.config.rate.time(size);
        self.busy += duration;
        Some((direction, duration))
    }
}
