//! How messages are spread over the rails of a machine, as its file says.

use derive::choice;
use std::fmt;
use units::{Bytes, Time};

/// How messages are spread over the rails of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How the rails of a message are picked.
    pub policy: Kind,
    /// Over which fraction of the available rails a message is striped: 0 (one rail) to 1 (all).
    pub striping: f64,
    /// The longest message that is short; the policy hybrid sends it without reservation.
    pub threshold: Bytes,
    /// Cycles of the thread processor for each control message, and for each update of the status that local-dynamic reads.
    pub handle: u32,
    /// The time between two looks at the rails, if no rail is free; more than zero.
    pub poll: Time,
    /// The meaning of the status that local-dynamic reads.
    pub status: Status,
    /// When local-dynamic picks the rails of a message of a traffic generator.
    pub choice: Choice,
    /// For the policies that reserve: whether requests that meet are compared, so that one of them goes on (s4.2, algorithm 6).
    pub avoidance: bool,
}

/// Which rails a message may take where its receiver picks them, as under Tports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// The next in turn of all rails between the two nodes.
    All,
    /// The next in turn of the free rails, or of all rails if none is free.
    FreeFirst,
    /// Rails that are free at the receiver; the message waits for them, and they are taken until the message ends.
    FreeHere,
    /// As `FreeHere`, but of these rails only those that are free at the sender too, if there are any.
    FreeAtBothEnds,
}

impl Config {
    /// From the moment when an adapter begins or ends sending or receiving until the processes of its node know: none where
    /// the policy does not ask.
    ///
    /// The status "is updated by the NICs" (coll2003 s3), whose thread processor "can process incoming control and data
    /// packets" in a few hundreds of cycles (s5.1). That an update takes as long as a control message is assumed. Under the
    /// policies that reserve, control messages change the status.
    pub fn status_lag(&self, thread_cycle: Time) -> Time {
        match self.policy.knows {
            Knowledge::Status => thread_cycle * u64::from(self.handle),
            Knowledge::Links | Knowledge::Allocation | Knowledge::Reservations => Time::ZERO,
        }
    }

    /// The rails that a message of this length may take.
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
    /// One bit: the beginning of any message, sent or received, sets it, and the end of any message clears it, also if the adapter
    /// has other messages.
    Bit,
    /// The adapter is reserved until all messages that it sends or receives have ended.
    Exact,
}

/// When local-dynamic picks the rails of a message that a traffic generator makes, and that waits for the messages before it.
#[choice]
pub enum Choice {
    /// When the message is generated ("each process generates packets independently", coll2003 s5.2). If no rail was free then, the
    /// rails are picked when the message is sent.
    Generated,
    /// When the message is sent, after the messages before it (coll2003 s3: "used by each process to send a message").
    Sent,
}

/// A kind of policy, as far as adapters and libraries know it. The crate `rails` holds the policies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name in machine files.
    pub name: &'static str,
    /// A sentence for people.
    pub about: &'static str,
    /// Its knowledge about the rails of a node, which adapters provide.
    pub knows: Knowledge,
    /// The rails for messages of Tports up to [`Config::threshold`].
    pub short: Candidates,
    /// The rails for longer messages of Tports.
    pub long: Candidates,
}

/// The knowledge of a policy about rails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Which rails work.
    Links,
    /// Which rails work, and whether a node transmits or receives there: a static allocation.
    Allocation,
    /// The status that adapters write into the memory of their node.
    Status,
    /// The reservations of both ends, which adapters make by control messages.
    Reservations,
}

impl Kind {
    /// Whether adapters reserve themselves, by control messages.
    pub fn reserves(self) -> bool {
        self.knows == Knowledge::Reservations
    }

    /// Whether each adapter only transmits or only receives, as an allocation of the crate `rails` says.
    pub fn allocates(self) -> bool {
        self.knows == Knowledge::Allocation
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
