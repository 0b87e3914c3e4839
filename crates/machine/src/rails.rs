//! The section `[rails]` of machine files: several networks side by side, and how messages are spread over them (coll2003).

use crate::param::Param;
use crate::section::LARGEST;
use derive::section;
use rails::{Choice, Kind, Policy, Status};
use units::{Bytes, Time};

/// Several networks side by side, and the policy that spreads messages over them. Without this section there is one network,
/// and nothing to choose.
#[section("rails", config = rails::Config, more(policy: Kind))]
pub struct Rails {
    /// Number of adapters of a node, 1 to 31; each adapter has a network and a bus of its own.
    #[param(unmapped)]
    pub count: Param<u32>,
    /// How a process picks the rails of a message.
    #[param(unmapped)]
    pub policy: Param<Policy>,
    /// Over which fraction of the available rails a message is striped: 0 is one rail, 1 is all of them.
    #[param(within = 0.0..=1.0)]
    pub striping: Param<f64>,
    /// For the policy "hybrid": messages up to this length take the next free rail without reserving it.
    #[param(within = Bytes::ZERO..=LARGEST)]
    pub threshold: Param<Bytes>,
    /// Cycles in which the thread processor handles a control message of the policies that reserve, or updates the status
    /// of its rail, which the policy local-dynamic reads.
    #[param(within = 0..=1 << 20)]
    pub handle: Param<u32>,
    /// A process that finds no free rail looks again after this time.
    pub poll: Param<Time>,
    /// The status of a rail that the policy local-dynamic reads in traffic: a "bit", which the beginning of any message sets and
    /// the end of any message clears, or "exact", reserved until all messages have ended; "exact" if not given.
    #[param(default = Status::Exact)]
    pub status: Option<Param<Status>>,
    /// When the policy local-dynamic picks the rails of a message: when it is "generated", or when it is "sent", after the
    /// messages before it; "sent" if not given. Programs send their messages when they make them.
    #[param(default = Choice::Sent)]
    pub choice: Option<Param<Choice>>,
    /// For the policies that reserve: whether the livelock avoidance procedure runs; true if not given.
    #[param(default = true)]
    pub avoidance: Option<Param<bool>>,
}
