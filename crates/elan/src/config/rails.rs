//! How messages are spread over the rails of a machine, as its file says.

use derive::choice;
use units::{Bytes, Time};

/// How messages are spread over the rails of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How the rails of a message are picked.
    pub policy: Kind,
    /// Over which fraction of the available rails a message is striped: 0 (one rail) to 1 (all).
    pub striping: f64,
    /// For the policy hybrid: the longest message that is sent without reservation.
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
        match self.policy {
            Kind::LocalDynamic => thread_cycle * u64::from(self.handle),
            Kind::Static | Kind::Basic | Kind::Dynamic | Kind::Hybrid => Time::ZERO,
        }
    }

    /// The rails that a message of this length may take.
    pub fn candidates(&self, size: Bytes) -> Candidates {
        match self.policy {
            Kind::Static | Kind::Basic => Candidates::All,
            Kind::Hybrid if size <= self.threshold => Candidates::FreeFirst,
            Kind::LocalDynamic => Candidates::FreeHere,
            Kind::Dynamic | Kind::Hybrid => Candidates::FreeAtBothEnds,
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

/// How the rails of a message are picked; see the essay of the module.
#[choice]
#[schemars(rename = "Policy")]
pub enum Kind {
    /// Each adapter only transmits or only receives, always.
    Static,
    /// The rails take turns.
    Basic,
    /// Rails that are free at the sender.
    LocalDynamic,
    /// Rails that are reserved at both ends.
    Dynamic,
    /// Short messages take rails that are free at the sender, long messages rails that are reserved at both ends.
    Hybrid,
}

impl Kind {
    /// Whether adapters reserve themselves, by control messages.
    pub fn reserves(self) -> bool {
        matches!(self, Kind::Dynamic | Kind::Hybrid)
    }

    /// Whether each adapter only transmits or only receives, as an allocation of the crate `rails` says.
    pub fn allocates(self) -> bool {
        self == Kind::Static
    }
}
