//! The words of faults in files, and what they mean to the simulator.
//!
//! ```toml
//! [[fault]]
//! link = "switch 1.2, port 5"     # or links, switch, adapter, node, rail
//! at = "3 ms"                     # or bit_error_rate, or mtbf with mttr
//! for = "1 ms"                    # for ever if not given
//! ```
//!
//! The same words stand in machine files, in experiment files and in the command line of `elanite mpirun`. [`elan::faults`] says
//! how faults take effect, and the section `[faults]` how the machine recovers.

use crate::file::Machine;
use crate::param::Param;
use crate::section::{Given, LONGEST, section};
use config::{Document, Problem, Problems, nearest};
use elan::faults::{Config, Links, Part, When};
use elan::{NodeId, Rail};
use fabric::config::MAX_BIT_ERROR_RATE;
use fabric::topology::End;
use fabric::{LinkId, SwitchId, Topology, Wiring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use units::Time;

/// One fault: a part of the machine, and how it fails.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The cable at a node or at a port of a switch, both directions: "node 3" or "switch 1.2, port 5".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Several cables: "all", or those of a level of links, such as "level 0", which joins nodes and switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<String>,
    /// A switch by its name in tables, such as "1.2": all its cables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// The adapter of this node: its cable is dead, and it executes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<u32>,
    /// The host of this node: no process of the node runs any more. Its adapters still answer the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// A rail: all its adapters and switches. Beside another part: the rail of that part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail: Option<u32>,
    /// How many of `links` fail; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Which of `links` fail, where `count` says how many; random if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<Pick>,
    /// The probability that a bit arrives wrong over a link, 0 to 1e-3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_error_rate: Option<f64>,
    /// The part is down from this moment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// How long the part is down; for ever if not given.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Time>,
    /// The part fails at random: mean time from its repair to its next failure, exponentially distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtbf: Option<Time>,
    /// Mean time to its repair, exponentially distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mttr: Option<Time>,
}

/// How some cables are picked of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// Any: the stream of the fault decides.
    Random,
    /// The cables of one switch after another, upwards: nodes below the same switches lose most.
    Worst,
}

/// Latest moment of a fault, and longest time of a repair: far more than anybody simulates.
const LATEST: Time = Time::from_secs(1000);

/// Bounds of mean times: with shorter ones, a run would do nothing else.
const MEANS: RangeInclusive<Time> = Time::from_us(1)..=Time::from_secs(24 * 3600);

section! {
    /// How the machine notices faults and recovers. Nothing of it has an effect in a machine without faults.
    Faults = "faults" {
        /// The sender's output timeout: a packet that can never be answered is given up so long after its injection; 8 ms if not
        /// given, about the hardware's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Param<Time>>, in Time::from_us(1)..=LONGEST;
        /// From a timeout to sending the packet again; 10 ms if not given, the operating system's for a packet to one node.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backoff: Option<Param<Time>>, in Time::ZERO..=LONGEST;
        /// From a timeout of a broadcast to sending the broadcast again; 50 ms if not given, the operating system's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broadcast_backoff: Option<Param<Time>>, in Time::ZERO..=LONGEST;
        /// From a fault or a repair to new routing tables at all sources; 100 ms if not given, which is assumed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detect: Option<Param<Time>>, in Time::ZERO..=LONGEST;
        /// So long after its first refusal by a fault, a packet without success ends its message with an error; 1 s if not given,
        /// which is assumed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        give_up: Option<Param<Time>>, in Time::from_us(1)..=LONGEST;
    }
}

impl Faults {
    /// The times, with a list of faults and the seed of their streams.
    pub(crate) fn config(
        this: Option<&Faults>,
        list: Vec<elan::faults::Fault>,
        seed: u64,
    ) -> Config {
        let time = |get: fn(&Faults) -> &Option<Param<Time>>, default| {
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

/// What is wrong with a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The key that is wrong; empty for the fault as a whole.
    pub key: &'static str,
    message: String,
    allowed: String,
    hint: String,
}

impl Wrong {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
        Wrong {
            key,
            message: message.into(),
            allowed: String::new(),
            hint: String::new(),
        }
    }

    fn allowed(self, allowed: impl Into<String>) -> Self {
        let allowed = allowed.into();
        Wrong { allowed, ..self }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Wrong { hint, ..self }
    }

    /// The problem, which `at` places: it is given the path below the fault and the message.
    pub fn problem(self, at: impl FnOnce(&str, String) -> Problem) -> Problem {
        let mut problem = at(self.key, self.message);
        problem.allowed = Some(self.allowed).filter(|text| !text.is_empty());
        problem.hint = Some(self.hint).filter(|text| !text.is_empty());
        problem
    }
}

impl Fault {
    /// Finds what is wrong, whatever the machine.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), Wrong> {
        self.check_part()?;
        self.check_time()
    }

    /// The parts that the fault names, by their keys.
    fn parts(&self) -> Vec<&'static str> {
        let given = [
            ("link", self.link.is_some()),
            ("links", self.links.is_some()),
            ("switch", self.switch.is_some()),
            ("adapter", self.adapter.is_some()),
            ("node", self.node.is_some()),
        ];
        let given = given.into_iter().filter(|&(_, given)| given);
        given.map(|(key, _)| key).collect()
    }

    fn check_part(&self) -> Result<(), Wrong> {
        match self.parts()[..] {
            [] if self.rail.is_none() => {
                return Err(Wrong::new("", "this fault names no part of the machine")
                    .allowed("one of link, links, switch, adapter, node, rail")
                    .hint("write for example link = \"node 3\""));
            }
            [first, second, ..] => {
                let message = format!("the fault has a `{first}` already, and is of one part");
                return Err(Wrong::new(second, message).hint("give each part a fault of its own"));
            }
            _ => {}
        }
        if self.node.is_some() && self.rail.is_some() {
            let message = "a host is attached to all rails: `node` has no rail";
            return Err(Wrong::new("rail", message)
                .hint("for one adapter of the node, write adapter = ..."));
        }
        if let Some(links) = &self.links {
            level(links)?;
        }
        for (key, given) in [
            ("count", self.count.is_some()),
            ("pick", self.pick.is_some()),
        ] {
            if given && self.links.is_none() {
                let message = format!("`{key}` picks some of `links`, which is not given");
                let hint = "write for example links = \"level 1\", or leave this out";
                return Err(Wrong::new(key, message).hint(hint));
            }
        }
        if self.pick.is_some() && self.count.is_none() {
            let message = "`pick` needs `count`, how many links are picked";
            return Err(Wrong::new("pick", message).hint("write count = ..., or leave this out"));
        }
        Ok(())
    }

    fn check_time(&self) -> Result<(), Wrong> {
        let (down, random) = (self.at.is_some(), self.mtbf.is_some());
        let ways = [
            ("bit_error_rate", self.bit_error_rate.is_some()),
            ("at", down),
            ("mtbf", random),
        ];
        let ways: Vec<_> = ways.into_iter().filter(|&(_, given)| given).collect();
        match ways[..] {
            [] => {
                let missing = if self.mttr.is_some() { "mtbf" } else { "at" };
                let orphan = [("for", self.lasts), ("mttr", self.mttr)];
                if let Some((key, _)) = orphan.into_iter().find(|(_, time)| time.is_some()) {
                    let message = format!("`{key}` needs `{missing}`");
                    return Err(
                        Wrong::new(key, message).hint(format!("write {missing} = \"3 ms\""))
                    );
                }
                return Err(Wrong::new("", "this fault does not say how the part fails")
                    .allowed("bit_error_rate, or at, or mtbf with mttr")
                    .hint("write for example at = \"3 ms\""));
            }
            [(first, _), (second, _), ..] => {
                let message = format!("the fault has `{first}` already, and fails in one way");
                return Err(Wrong::new(second, message).hint("give each way a fault of its own"));
            }
            _ => {}
        }
        if let Some(rate) = self.bit_error_rate {
            if self.link.is_none() && self.links.is_none() {
                let message = "only links have bit errors";
                return Err(
                    Wrong::new("bit_error_rate", message).hint("name the part with link or links")
                );
            }
            if !(0.0..=MAX_BIT_ERROR_RATE).contains(&rate) {
                return Err(
                    Wrong::new("bit_error_rate", format!("{rate} is out of range"))
                        .allowed("0 to 1e-3")
                        .hint("a link on which more bits are wrong is down: write at = \"0 ns\""),
                );
            }
        }
        for (key, given, needed, there) in [
            ("for", self.lasts.is_some(), "at", down),
            ("mttr", self.mttr.is_some(), "mtbf", random),
            ("mtbf", random, "mttr", self.mttr.is_some()),
        ] {
            if given && !there {
                let message = format!("`{key}` needs `{needed}`");
                return Err(Wrong::new(key, message).hint(format!("write {needed} = \"3 ms\"")));
            }
        }
        if self.node.is_some() {
            let back = [("for", self.lasts), ("mtbf", self.mtbf)];
            if let Some((key, _)) = back.into_iter().find(|(_, time)| time.is_some()) {
                let message = "a host that has stopped does not come back";
                return Err(Wrong::new(key, message)
                    .hint("write only at = ..., or name the adapter of the node"));
            }
        }
        range("at", self.at, Time::ZERO..=LATEST)?;
        range("for", self.lasts, Time::from_ps(1)..=LATEST)?;
        range("mtbf", self.mtbf, MEANS)?;
        range("mttr", self.mttr, MEANS)
    }

    /// The fault on a machine.
    ///
    /// # Errors
    /// The first thing that is wrong with it, or that the machine does not have.
    pub fn on(&self, topology: &Topology) -> Result<elan::faults::Fault, Wrong> {
        self.check()?;
        let wiring = &**topology;
        let part = self.part(wiring)?;
        let when = match (self.bit_error_rate, self.at, self.mtbf, self.mttr) {
            (Some(rate), ..) => When::BitErrors(rate),
            (_, _, Some(mtbf), Some(mttr)) => When::Random { mtbf, mttr },
            (_, at, ..) => When::At {
                at: at.expect("the fault has been checked"),
                lasts: self.lasts,
            },
        };
        Ok(elan::faults::Fault { part, when })
    }

    fn part(&self, wiring: &dyn Wiring) -> Result<Part, Wrong> {
        let rails = wiring.rails();
        if let Some(rail) = self.rail
            && rail >= rails
        {
            let message = format!("there is no rail {rail}: the machine has {rails}, from 0 on");
            return Err(Wrong::new("rail", message).allowed(format!("0 to {}", rails - 1)));
        }
        let rail = self.rail.map(Rail::new);
        if let Some(node) = self.node {
            return attached("node", node, wiring).map(Part::Node);
        }
        if let Some(links) = &self.links {
            return self.links(links, rail, wiring);
        }
        // One part of one rail.
        let of_rail = |key| match rail {
            None if rails > 1 => {
                let message =
                    format!("the machine has {rails} rails, and the fault does not say which");
                Err(Wrong::new(key, message).hint("write rail = 0, or another one"))
            }
            rail => Ok(rail.unwrap_or_default()),
        };
        if let Some(link) = &self.link {
            return link_of(link, of_rail("link")?, wiring).map(Part::Link);
        }
        if let Some(name) = &self.switch {
            return switch_of("switch", name, of_rail("switch")?, wiring).map(Part::Switch);
        }
        if let Some(node) = self.adapter {
            let node = attached("adapter", node, wiring)?;
            return Ok(Part::Adapter(wiring.place(of_rail("adapter")?, node)));
        }
        Ok(Part::Rail(rail.expect("the fault has been checked")))
    }

    fn links(&self, links: &str, rail: Option<Rail>, wiring: &dyn Wiring) -> Result<Part, Wrong> {
        let level = level(links)?;
        let levels = wiring.levels();
        if let Some(level) = level.filter(|&level| level >= levels) {
            let message =
                format!("there is no level {level}: the machine has {levels} levels of links");
            return Err(Wrong::new("links", message).allowed(format!(
                "\"all\", or \"level 0\" to \"level {}\"",
                levels - 1
            )));
        }
        let some = self.count.map(|count| {
            let pick = match self.pick {
                Some(Pick::Worst) => elan::faults::Pick::Worst,
                Some(Pick::Random) | None => elan::faults::Pick::Random,
            };
            (count, pick)
        });
        let links = Links { level, rail, some };
        if let Some(count) = self.count {
            let most = links.all(wiring).len();
            if count as usize > most {
                let message = format!("{count} cables are more than there are");
                return Err(Wrong::new("count", message).allowed(format!("at most {most}")));
            }
        }
        Ok(Part::Links(links))
    }
}

/// A fault alone, as a command line gives it.
#[derive(Deserialize)]
struct Alone {
    fault: Fault,
}

impl Machine {
    /// Reads a fault that a command line gives, in the words of an inline table of TOML: `link = 'node 3', at = '1 ms'`.
    ///
    /// # Errors
    /// What is wrong with it, and what the machine does not have.
    pub fn read_fault(&self, text: &str) -> Result<Fault, Problems> {
        let document = Document::parse("--fault", &format!("fault = {{ {text} }}"))?;
        let Alone { fault } = document.read()?;
        match self.admits(&fault) {
            Ok(()) => Ok(fault),
            Err(wrong) => {
                let place = |key: &str, message| {
                    let path = format!("fault.{key}");
                    document.problem(path.trim_end_matches('.'), message)
                };
                Err(wrong.problem(place).into())
            }
        }
    }
}

fn range(key: &'static str, time: Option<Time>, range: RangeInclusive<Time>) -> Result<(), Wrong> {
    match time {
        Some(time) if !range.contains(&time) => {
            let allowed = format!("{} to {}", range.start(), range.end());
            Err(Wrong::new(key, format!("{time} is out of range")).allowed(allowed))
        }
        _ => Ok(()),
    }
}

/// The level that `links` names; none for all levels.
fn level(links: &str) -> Result<Option<usize>, Wrong> {
    if links == "all" {
        return Ok(None);
    }
    let number = links
        .strip_prefix("level ")
        .and_then(|number| number.parse().ok());
    number.map(Some).ok_or_else(|| {
        let wrong = Wrong::new("links", format!("unknown value `{links}`"));
        let wrong = wrong.allowed("\"all\", or a level such as \"level 1\"");
        if links.starts_with("node ") || links.starts_with("switch ") {
            wrong.hint("for one cable, write link = ...")
        } else {
            wrong
        }
    })
}

/// A node of the machine.
fn attached(key: &'static str, node: u32, wiring: &dyn Wiring) -> Result<NodeId, Wrong> {
    let nodes = wiring.nodes();
    if node < nodes {
        return Ok(NodeId::new(node));
    }
    let message = format!("there is no node {node}: the machine has {nodes}, numbered from 0");
    Err(Wrong::new(key, message).allowed(format!("0 to {}", nodes - 1)))
}

/// The link at a node or at a port of a switch.
fn link_of(text: &str, rail: Rail, wiring: &dyn Wiring) -> Result<LinkId, Wrong> {
    if let Some(node) = text
        .strip_prefix("node ")
        .and_then(|node| node.parse().ok())
    {
        let node = attached("link", node, wiring)?;
        return Ok(wiring.injection(wiring.place(rail, node)));
    }
    // The names of switches of a torus have commas, too.
    let parts = text
        .strip_prefix("switch ")
        .and_then(|rest| rest.rsplit_once(", port "));
    let Some((name, Ok(port))) = parts.map(|(name, port)| (name, port.parse::<u32>())) else {
        let wrong = Wrong::new("link", format!("`{text}` names no cable"));
        let wrong = wrong.allowed("\"node 3\" or \"switch 1.2, port 5\"");
        return Err(match text {
            "all" => wrong.hint("for all cables, write links = \"all\""),
            _ if text.starts_with("level ") => wrong.hint(format!(
                "for all cables of a level, write links = \"{text}\""
            )),
            _ if text.starts_with("switch ") => {
                wrong.hint("for all cables of a switch, write switch = ...")
            }
            _ => wrong,
        });
    };
    let switch = switch_of("link", name, rail, wiring)?;
    let ports = wiring.ports(switch);
    if port >= ports {
        let message = format!("switch {name} has no port {port}: it has {ports}, from 0 on");
        return Err(Wrong::new("link", message).allowed(format!("port 0 to {}", ports - 1)));
    }
    let link = wiring.output(switch, port);
    if let (_, End::Node(place)) = wiring.ends(link) {
        let (_, node) = wiring.rail_and_node(place);
        if node.get() >= wiring.nodes() {
            let message = format!("nothing is attached at port {port} of switch {name}");
            return Err(
                Wrong::new("link", message).hint("name a port at which a node or a switch is")
            );
        }
    }
    Ok(link)
}

/// The switch of a name, with or without the word "switch".
fn switch_of(
    key: &'static str,
    text: &str,
    rail: Rail,
    wiring: &dyn Wiring,
) -> Result<SwitchId, Wrong> {
    let name = text.strip_prefix("switch ").unwrap_or(text);
    let here = || SwitchId::all(wiring.switches()).filter(|&switch| wiring.rail_of(switch) == rail);
    let full = format!("switch {name}");
    if let Some(switch) = here().find(|&switch| wiring.name_on_rail(switch) == full) {
        return Ok(switch);
    }
    let short = |switch| {
        let name = wiring.name_on_rail(switch);
        name.trim_start_matches("switch ").to_string()
    };
    let known: Vec<String> = here().map(short).collect();
    // The first and the last switch of each level.
    let mut levels: BTreeMap<usize, (String, String)> = BTreeMap::new();
    for switch in here() {
        let name = short(switch);
        let level = wiring.switch_level(switch);
        let (_, last) = levels
            .entry(level)
            .or_insert_with(|| (name.clone(), String::new()));
        *last = name;
    }
    let ranges = levels.values().map(|(first, last)| match first == last {
        true => first.clone(),
        false => format!("{first} to {last}"),
    });
    let allowed = ranges.collect::<Vec<_>>().join(", ");
    let wrong = Wrong::new(key, format!("there is no switch {name}")).allowed(allowed);
    Err(match nearest(name, known.iter().map(String::as_str)) {
        Some(meant) => wrong.hint(format!("did you mean `{meant}`?")),
        None => wrong,
    })
}
