//! The section `[rails]` in machine files: several networks side by side, and how messages are
//! spread over them (coll2003).

use crate::param::Param;
use crate::section::LARGEST;
use derive::section;
use rails::{Choice, Kind, Policy, Status};
use units::{Bytes, Time};

/// Several networks side by side, and the policy that spreads messages over them. Without this
/// section there is one network, and no choice.
#[section("rails", config = rails::Config, more(policy: Kind))]
#[schemars(rename = "Rails")]
pub struct RailsSection {
    /// Number of adapters per node, 1 to 31; each adapter has its own network and bus.
    #[param(unmapped)]
    pub count: Param<u32>,
    /// How a process picks a message's rails.
    #[param(unmapped)]
    pub policy: Param<Policy>,
    /// The fraction of the available rails over which a message is striped: 0 is one rail, 1 is all
    /// of them.
    #[param(within = 0.0..=1.0)]
    pub striping: Param<f64>,
    /// For the policy "hybrid": messages up to this length take the next free rail without
    /// reserving it.
    #[param(within = Bytes::ZERO..=LARGEST)]
    pub threshold: Param<Bytes>,
    /// Cycles in which the thread processor handles a control message of the policies that reserve,
    /// or updates its rail's status, which the policy local-dynamic reads.
    #[param(within = 0..=1 << 20)]
    pub handle: Param<u32>,
    /// A process that finds no free rail looks again after this time.
    pub poll: Param<Time>,
    /// The rail status that the policy local-dynamic reads in traffic: a "bit", set when any
    /// message begins and cleared when any message ends, or "exact", reserved until all messages
    /// have ended; "exact" if not given.
    #[param(default = Status::Exact)]
    pub status: Option<Param<Status>>,
    /// When the policy local-dynamic picks a message's rails: when it is "generated", or when it is
    /// "sent", after the messages before it; "sent" if not given. Programs send their messages when
    /// they make them.
    #[param(default = Choice::Sent)]
    pub choice: Option<Param<Choice>>,
    /// For the policies that reserve: whether the livelock avoidance procedure runs; true if not
    /// given.
    #[param(default = true)]
    pub avoidance: Option<Param<bool>>,
}
