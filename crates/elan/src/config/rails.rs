//! How messages are spread over a machine's rails, as its file sets it.

use derive::choice;
use std::fmt;
use units::{Bytes, Time};

/// How messages are spread over a machine's rails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How a message's rails are picked.
    pub policy: Kind,
    /// The fraction of the available rails over which a message is striped: 0 (one rail) to 1
    /// (all).
    pub striping: f64,
    /// The longest message that is short; the policy hybrid sends it without reservation.
    pub threshold: Bytes,
    /// Thread processor cycles for each control message, and for each update of the status that
    /// local-dynamic reads.
    pub handle: u32,
    /// The time between two looks at the rails, if no rail is free; more than zero.
    pub poll: Time,
    /// The meaning of the status that local-dynamic reads.
    pub status: Status,
    /// When local-dynamic picks the rails for a traffic generator's message.
    pub choice: Choice,
    /// For the policies that reserve: whether requests that meet are compared, so that one of them
    /// proceeds (s4.2, algorithm 6).
    pub avoidance: bool,
}

/// Which rails a message may take where its receiver picks them, as under Tports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// The next in turn among all rails between the two nodes.
    All,
    /// The next in turn among the free rails, or among all rails if all are busy.
    FreeFirst,
    /// Rails that are free at the receiver; the message waits for them, and they are taken until
    /// the message ends.
    FreeHere,
    /// As `FreeHere`, but among these rails only those that are free at the sender too, if there
    /// are any.
    FreeAtBothEnds,
}

impl Config {
    /// From the moment when an adapter begins or ends sending or receiving until its node's
    /// processes know it: 0 where the policy does not use it.
    ///
    /// The status "is updated by the NICs" (coll2003 s3), whose thread processor "can process
    /// incoming control and data packets" in a few hundred cycles (s5.1). That an update takes as
    /// long as a control message is assumed. Under the policies that reserve, control messages
    /// change the status.
    pub fn status_lag(&self, thread_cycle: Time) -> Time {
        match self.policy.knows {
            Knowledge::Status => thread_cycle * u64::from(self.handle),
            Knowledge::Links | Knowledge::Allocation | Knowledge::Reservations => Time::ZERO,
        }
    }

    /// The rails that a message with this length may take.
    pub fn candidates(&self, size: Bytes) -> Candidates {
        if size <= self.threshold {
            self.policy.short
        } else {
            self.policy.long
        }
    }
}

/// The meaning of an adapter's status under local-dynamic.
///
/// "The state is updated by the NICs and can be RESERVED or FREE" (coll2003 s3).
#[choice]
pub enum Status {
    /// One bit: any message's beginning, sent or received, sets it, and any message's end clears
    /// it, also if the adapter has other messages.
    Bit,
    /// The adapter is reserved until all messages that it sends or receives have ended.
    Exact,
}

/// When local-dynamic picks the rails for a traffic generator's message that waits for the messages
/// before it.
#[choice]
pub enum Choice {
    /// When the message is generated ("each process generates packets independently", coll2003
    /// s5.2). If no rail was free then, the rails are picked when the message is sent.
    Generated,
    /// When the message is sent, after the messages before it (coll2003 s3: "used by each process
    /// to send a message").
    Sent,
}

/// A policy kind, as far as adapters and libraries know it. The crate `rails` holds the policies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name in machine files.
    pub name: &'static str,
    /// A sentence for people.
    pub about: &'static str,
    /// Its knowledge about a node's rails, which adapters provide.
    pub knows: Knowledge,
    /// The rails for Tport messages up to [`Config::threshold`].
    pub short: Candidates,
    /// The rails for longer Tport messages.
    pub long: Candidates,
}

/// A policy's knowledge about rails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Which rails work.
    Links,
    /// Which rails work, and whether a node transmits or receives there: a static allocation.
    Allocation,
    /// The status that adapters write into their node's memory.
    Status,
    /// Both ends' reservations, which adapters make by control messages.
    Reservations,
}

impl Kind {
    /// Whether adapters reserve themselves, by control messages.
    pub fn reserves(self) -> bool {
        self.knows == Knowledge::Reservations
    }

    /// Whether each adapter only transmits or only receives, as an allocation in the crate `rails`
    /// sets it.
    pub fn allocates(self) -> bool {
        self.knows == Knowledge::Allocation
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
