//! The section `[rails]` of machine files: several networks side by side, and how messages are spread over them (004).

use crate::param::Param;
use elan::rails::Kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Time};

/// Several networks side by side, and the policy that spreads messages over them. Without this section there is one network,
/// and nothing to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rails {
    /// Adapters of a node, 1 to 31, each on a network and behind a bus of its own.
    pub count: Param<u32>,
    /// How a process picks the rails of a message.
    pub policy: Param<Policy>,
    /// Fraction of the rails that it could have which a message is striped over: 0 is one rail, 1 is all of them.
    pub striping: Param<f64>,
    /// Of the policy "hybrid": messages up to this length take the next free rail without reserving it.
    pub threshold: Param<Bytes>,
    /// Of the policies that reserve: cycles in which the thread processor handles a control message.
    pub handle: Param<u32>,
    /// A process that finds no free rail looks again after this time.
    pub poll: Param<Time>,
    /// Of the policies that reserve: whether the livelock avoidance procedure runs; yes, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avoidance: Option<Param<bool>>,
}

/// How a process picks the rails of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Each adapter either transmits or receives, for ever (004 s2).
    Static,
    /// Each process takes the rails in turn, whatever they are doing (004 s5.2).
    Basic,
    /// Those that neither send nor receive at the sender (004 s3).
    LocalDynamic,
    /// Those that both ends have reserved for the message (004 s4).
    Dynamic,
    /// Short messages as they come, long ones as in "dynamic" (004 s4.3).
    Hybrid,
}

impl Rails {
    /// In the adapters' own terms.
    pub(crate) fn config(&self) -> elan::rails::Config {
        elan::rails::Config {
            policy: match self.policy.value {
                Policy::Static => Kind::Static,
                Policy::Basic => Kind::Basic,
                Policy::LocalDynamic => Kind::LocalDynamic,
                Policy::Dynamic => Kind::Dynamic,
                Policy::Hybrid => Kind::Hybrid,
            },
            striping: self.striping.value,
            threshold: self.threshold.value,
            handle: self.handle.value,
            poll: self.poll.value,
            avoidance: self
                .avoidance
                .as_ref()
                .is_none_or(|avoidance| avoidance.value),
        }
    }
}
