//! The fault on a machine: the affected part.

use super::check::level;
use super::{FaultProblem, FaultSection, Pick};
use crate::rate::admit;
use config::nearest;
use elan::faults::{FaultTiming, FaultyPart, Links};
use elan::{NodeId, Rail};
use fabric::topology::End;
use fabric::{LinkId, Pace, SwitchId, Topology, Wiring};
use std::collections::BTreeMap;
use units::Rate;

impl FaultSection {
    /// The fault on a machine with this fastest link rate.
    ///
    /// # Errors
    /// The first thing that is wrong with it, or that the machine does not have.
    pub fn on(
        &self,
        topology: &Topology,
        fastest: Rate,
    ) -> Result<elan::faults::Fault, FaultProblem> {
        self.check()?;
        let wiring = &**topology;
        let part = self.part(wiring)?;
        let means = self.mtbf.zip(self.mttr);
        let when = match (self.bit_error_rate, self.rate, self.at, means) {
            (Some(rate), ..) => FaultTiming::BitErrors(rate),
            (_, Some(rate), ..) => FaultTiming::Degraded(degraded(rate, fastest)?),
            (.., Some((mtbf, mttr))) => FaultTiming::Random { mtbf, mttr },
            (_, _, at, _) => FaultTiming::At {
                at: at.expect("the fault has been checked"),
                lasts: self.lasts,
            },
        };
        Ok(elan::faults::Fault { part, when })
    }

    fn part(&self, wiring: &dyn Wiring) -> Result<FaultyPart, FaultProblem> {
        let rails = wiring.rails();
        if let Some(rail) = self.rail
            && rail >= rails
        {
            let message = format!("there is no rail {rail}: the machine has {rails}, from 0 on");
            return Err(FaultProblem::new("rail", message).allowed(format!("0 to {}", rails - 1)));
        }
        let rail = self.rail.map(Rail::new);
        if let Some(node) = self.node {
            return attached("node", node, wiring).map(FaultyPart::Node);
        }
        if let Some(links) = &self.links {
            return self.links(links, rail, wiring);
        }
        // One part on one rail.
        let of_rail = |key| match rail {
            None if rails > 1 => {
                let message =
                    format!("the machine has {rails} rails, and the fault does not say which");
                Err(FaultProblem::new(key, message).hint("write rail = 0, or another one"))
            }
            rail => Ok(rail.unwrap_or_default()),
        };
        if let Some(link) = &self.link {
            return link_of(link, of_rail("link")?, wiring).map(FaultyPart::Link);
        }
        if let Some(name) = &self.switch {
            return switch_of("switch", name, of_rail("switch")?, wiring).map(FaultyPart::Switch);
        }
        if let Some(node) = self.adapter {
            let node = attached("adapter", node, wiring)?;
            return Ok(FaultyPart::Adapter(wiring.place(of_rail("adapter")?, node)));
        }
        Ok(FaultyPart::Rail(rail.expect("the fault has been checked")))
    }

    fn links(
        &self,
        links: &str,
        rail: Option<Rail>,
        wiring: &dyn Wiring,
    ) -> Result<FaultyPart, FaultProblem> {
        let level = level(links)?;
        let levels = wiring.levels();
        if let Some(level) = level.filter(|&level| level >= levels) {
            let message =
                format!("there is no level {level}: the machine has {levels} levels of links");
            return Err(FaultProblem::new("links", message).allowed(format!(
                "\"all\", or \"level 0\" to \"level {}\"",
                levels - 1
            )));
        }
        let some = self.count.map(|count| {
            let pick = match self.pick {
                Some(Pick::Worst) => elan::faults::CableChoice::Worst,
                Some(Pick::Random) | None => elan::faults::CableChoice::Random,
            };
            (count, pick)
        });
        let links = Links { level, rail, some };
        if let Some(count) = self.count {
            let most = links.all(wiring).len();
            if count as usize > most {
                let message = format!("{count} cables are more than there are");
                return Err(FaultProblem::new("count", message).allowed(format!("at most {most}")));
            }
        }
        Ok(FaultyPart::Links(links))
    }
}

/// The pace for a link that has trained to a rate.
fn degraded(rate: Rate, fastest: Rate) -> Result<Pace, FaultProblem> {
    let pace = admit(rate, fastest);
    let pace =
        pace.map_err(|(message, allowed)| FaultProblem::new("rate", message).allowed(allowed))?;
    if pace == Pace::FULL {
        let message = format!("a link of {rate} is not degraded: it is as fast as the fastest");
        return Err(FaultProblem::new("rate", message).allowed(format!("below {fastest}")));
    }
    Ok(pace)
}

impl FaultProblem {
    /// A lower rate for links that are not faster anyway.
    pub(crate) fn not_degraded(rate: Rate, own: Rate) -> Self {
        let message = format!("a link of {rate} is not degraded: its own rate is {own}");
        FaultProblem::new("rate", message).allowed(format!("below {own}"))
    }
}

/// One of the machine's nodes.
fn attached(key: &'static str, node: u32, wiring: &dyn Wiring) -> Result<NodeId, FaultProblem> {
    let nodes = wiring.nodes();
    if node < nodes {
        return Ok(NodeId::new(node));
    }
    let message = format!("there is no node {node}: the machine has {nodes}, numbered from 0");
    Err(FaultProblem::new(key, message).allowed(format!("0 to {}", nodes - 1)))
}

/// The link at a node or at a switch port.
fn link_of(text: &str, rail: Rail, wiring: &dyn Wiring) -> Result<LinkId, FaultProblem> {
    if let Some(node) = text
        .strip_prefix("node ")
        .and_then(|node| node.parse().ok())
    {
        let node = attached("link", node, wiring)?;
        return Ok(wiring.injection(wiring.place(rail, node)));
    }
    // A torus's switch names have commas, too.
    let parts = text
        .strip_prefix("switch ")
        .and_then(|rest| rest.rsplit_once(", port "));
    let Some((name, Ok(port))) = parts.map(|(name, port)| (name, port.parse::<u32>())) else {
        let wrong = FaultProblem::new("link", format!("`{text}` names no cable"));
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
        return Err(FaultProblem::new("link", message).allowed(format!("port 0 to {}", ports - 1)));
    }
    let link = wiring.output(switch, port);
    if let (_, End::Node(place)) = wiring.ends(link) {
        let (_, node) = wiring.rail_and_node(place);
        if node.get() >= wiring.nodes() {
            let message = format!("nothing is attached at port {port} of switch {name}");
            return Err(FaultProblem::new("link", message)
                .hint("name a port at which a node or a switch is"));
        }
    }
    Ok(link)
}

/// The switch with a name, with or without the word "switch".
fn switch_of(
    key: &'static str,
    text: &str,
    rail: Rail,
    wiring: &dyn Wiring,
) -> Result<SwitchId, FaultProblem> {
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
    // Each level's first and last switch.
    let mut levels: BTreeMap<usize, (String, String)> = BTreeMap::new();
    for switch in here() {
        let name = short(switch);
        let level = wiring.switch_level(switch);
        let (_, last) = levels
            .entry(level)
            .or_insert_with(|| (name.clone(), String::new()));
        *last = name;
    }
    let ranges = levels.values().map(|(first, last)| {
        if first == last {
            first.clone()
        } else {
            format!("{first} to {last}")
        }
    });
    let allowed = ranges.collect::<Vec<_>>().join(", ");
    let wrong = FaultProblem::new(key, format!("there is no switch {name}")).allowed(allowed);
    Err(match nearest(name, known.iter().map(String::as_str)) {
        Some(meant) => wrong.hint(format!("did you mean `{meant}`?")),
        None => wrong,
    })
}
