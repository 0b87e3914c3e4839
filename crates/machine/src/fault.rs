//! Faults as written in files, and their meaning to the simulator.
//!
//! ```toml
//! [[fault]]
//! link = "switch 1.2, port 5"     # or links, switch, adapter, node, rail
//! at = "3 ms"                     # or bit_error_rate, or rate, or mtbf with mttr
//! for = "1 ms"                    # for ever if not given
//! ```
//!
//! The same keys stand in machine files, in experiment files and on the command line of
//! `elanite mpirun`. [`elan::faults`] describes how faults take effect, and the section `[faults]`
//! sets how the machine recovers.

mod check;
mod part;

use crate::param::Param;
use crate::section::{LONGEST, Parameterised};
use config::{Document, Problem};
use derive::{choice, section, table};
use elan::faults::Config;
use units::{Rate, Time};

/// One fault: a machine part, and how it fails.
#[table]
#[derive(Default)]
#[schemars(rename = "Fault")]
pub struct FaultSection {
    /// The cable at a node or at a switch port, both directions: "node 3" or "switch 1.2, port 5".
    pub link: Option<String>,
    /// Several cables: "all", or a link level, such as "level 0", which joins nodes and switches.
    pub links: Option<String>,
    /// A switch by its name in tables, such as "1.2": all its cables.
    pub switch: Option<String>,
    /// This node's adapter: its cable is dead, and it executes no commands.
    pub adapter: Option<u32>,
    /// This node's host: the node's processes stop. Its adapters still answer the network.
    pub node: Option<u32>,
    /// A rail: all its adapters and switches. Beside another part: that part's rail.
    pub rail: Option<u32>,
    /// How many of `links` fail; all if not given.
    pub count: Option<u32>,
    /// Which of `links` fail, if `count` is given; random if not given.
    pub pick: Option<Pick>,
    /// The probability that a bit arrives wrong over a link, 0 to 1e-3.
    pub bit_error_rate: Option<f64>,
    /// The rate to which links have trained, in the whole run: below the regular link rate.
    pub rate: Option<Rate>,
    /// The part is down from this moment on.
    pub at: Option<Time>,
    /// How long the part is down; permanently if not given.
    #[serde(rename = "for")]
    pub lasts: Option<Time>,
    /// The part fails at random: mean time from its repair to its next failure, exponentially
    /// distributed.
    pub mtbf: Option<Time>,
    /// Mean time to its repair, exponentially distributed.
    pub mttr: Option<Time>,
}

/// How some cables are picked from many.
#[choice]
pub enum Pick {
    /// Any: the fault's stream decides.
    Random,
    /// The cables of one switch after another, upwards: nodes below the same switches lose most.
    Worst,
}

/// How the machine notices faults and recovers. It has no effect on a machine without faults.
#[section("faults", within(Time = Time::ZERO..=LONGEST))]
#[schemars(rename = "Faults")]
pub struct FaultsSection {
    /// The sender's output timeout: a packet that can never be answered is given up so long after
    /// its injection; 8 ms if not given, about the hardware's.
    #[param(within = Time::from_us(1)..=LONGEST)]
    pub timeout: Option<Param<Time>>,
    /// From a timeout to sending the packet again; 10 ms if not given, the operating system's for a
    /// packet to one node.
    pub backoff: Option<Param<Time>>,
    /// The time from a broadcast's timeout until it is sent again; 50 ms if not given, the
    /// operating system's value.
    pub broadcast_backoff: Option<Param<Time>>,
    /// From a fault or a repair to new routing tables at all sources; 100 ms if not given, which is
    /// assumed.
    pub detect: Option<Param<Time>>,
    /// So long after its first refusal by a fault, a packet without success ends its message with
    /// an error; 1 s if not given, which is assumed.
    #[param(within = Time::from_us(1)..=LONGEST)]
    pub give_up: Option<Param<Time>>,
}

impl FaultsSection {
    /// The times, with a list of faults and the seed for their streams.
    pub(crate) fn config(
        this: Option<&FaultsSection>,
        list: Vec<elan::faults::Fault>,
        seed: u64,
    ) -> Config {
        let time = |get: fn(&FaultsSection) -> &Option<Param<Time>>, default| {
            this.and_then(|faults| get(faults).given())
                .unwrap_or(default)
        };
        Config {
            timeout: time(|faults| &faults.timeout, Time::from_ms(8)),
            backoff: time(|faults| &faults.backoff, Time::from_ms(10)),
            broadcast_backoff: time(|faults| &faults.broadcast_backoff, Time::from_ms(50)),
            detect: time(|faults| &faults.detect, Time::from_ms(100)),
            give_up: time(|faults| &faults.give_up, Time::from_secs(1)),
            seed,
            list,
        }
    }
}

/// A fault's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultProblem {
    /// The key that is wrong; empty for the fault as a whole.
    pub key: &'static str,
    message: String,
    allowed: String,
    hint: String,
}

impl FaultProblem {
    pub(crate) fn new(key: &'static str, message: impl Into<String>) -> Self {
        FaultProblem {
            key,
            message: message.into(),
            allowed: String::new(),
            hint: String::new(),
        }
    }

    fn allowed(self, allowed: impl Into<String>) -> Self {
        let allowed = allowed.into();
        FaultProblem { allowed, ..self }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        FaultProblem { hint, ..self }
    }

    /// The problem, which `at` places: it is given the path below the fault and the message.
    pub fn problem(self, at: impl FnOnce(&str, String) -> Problem) -> Problem {
        let mut problem = at(self.key, self.message);
        problem.allowed = Some(self.allowed).filter(|text| !text.is_empty());
        problem.hint = Some(self.hint).filter(|text| !text.is_empty());
        problem
    }

    /// The fault's problem at a path in a document.
    pub(crate) fn in_document(self, document: &Document, path: &str) -> Problem {
        self.problem(|key, message| {
            let path = format!("{path}.{key}");
            document.problem(path.trim_end_matches('.'), message)
        })
    }
}
