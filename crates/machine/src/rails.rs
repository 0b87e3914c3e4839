//! The section `[rails]` of machine files: several networks side by side, and how messages are spread over them (coll2003).

use crate::param::Param;
use crate::section::{LARGEST, section};
use elan::rails::{self, Choice, Kind, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Time};

section! {
    /// Several networks side by side, and the policy that spreads messages over them. Without this section there is one network,
    /// and nothing to choose.
    Rails = "rails" => rails::Config {
        /// Number of adapters of a node, 1 to 31; each adapter has a network and a bus of its own.
        count: Param<u32>;
        /// How a process picks the rails of a message.
        policy: Param<Kind> => policy;
        /// Over which fraction of the available rails a message is striped: 0 is one rail, 1 is all of them.
        striping: Param<f64>, in 0.0..=1.0 => striping;
        /// For the policy "hybrid": messages up to this length take the next free rail without reserving it.
        threshold: Param<Bytes>, in Bytes::ZERO..=LARGEST => threshold;
        /// Cycles in which the thread processor handles a control message of the policies that reserve, or updates the status
        /// of its rail, which the policy local-dynamic reads.
        handle: Param<u32>, in 0..=1 << 20 => handle;
        /// A process that finds no free rail looks again after this time.
        poll: Param<Time> => poll;
        /// The status of a rail that the policy local-dynamic reads in traffic: a "bit", which the beginning of any message sets and
        /// the end of any message clears, or "exact", reserved until all messages have ended; "exact" if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<Param<Status>> => status or Status::Exact;
        /// When the policy local-dynamic picks the rails of a message: when it is "generated", or when it is "sent", after the
        /// messages before it; "sent" if not given. Programs send their messages when they make them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<Param<Choice>> => choice or Choice::Sent;
        /// For the policies that reserve: whether the livelock avoidance procedure runs; true if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        avoidance: Option<Param<bool>> => avoidance or true;
    }
}
