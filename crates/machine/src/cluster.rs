//! The simulator's configuration, made from a machine file.

use crate::fault::{FaultProblem, FaultSection, FaultsSection};
use crate::file::{CPUS, Elan4, Machine};
use crate::links;
use crate::section::{Parameterised, Resolve, Scale};
use config::{Document, Problems};
use elan::Config;
use elan::faults::FaultTiming;
use elan::noise::NoiseSource;
use fabric::{Topology, TopologyError, Ways, Wiring};
use serde::Deserialize;
use units::Time;

/// A fault alone, as a command line gives it.
#[derive(Deserialize)]
struct SingleFault {
    fault: FaultSection,
}

impl Machine {
    /// The fabric's cycle, a flit at the fastest link's rate; `None` if that is not a whole number
    /// of picoseconds.
    pub(crate) fn cycle(&self) -> Option<Time> {
        let (flit, rate) = (self.link.flit.value, self.link.rate.value.fastest());
        let cycle = rate.checked_time(flit)?;
        let exact = u128::from(cycle.as_ps()) * u128::from(rate.as_bytes_per_second())
            == u128::from(flit.as_u64()) * 1_000_000_000_000;
        (exact && !cycle.is_zero()).then_some(cycle)
    }

    /// Channel classes that end deadlocks on a graph's shortest ways; `None` with other ways. The
    /// machine has been checked.
    pub fn layers(&self) -> Option<u32> {
        match self.topology() {
            Ok(Topology::Graph(graph)) if graph.ways() != Ways::UpDown => {
                Some(graph.cabling().classes())
            }
            _ => None,
        }
    }

    /// All rails' networks, if such networks can exist.
    pub(crate) fn topology(&self) -> Result<Topology, TopologyError> {
        let rails = self.rails.as_ref().map_or(1, |rails| rails.count.value);
        self.topology.of_a_rail()?.with_rails(rails)
    }

    /// Finds the mistakes in a fault, and parts that the machine lacks.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn admits(&self, fault: &FaultSection) -> Result<(), FaultProblem> {
        match self.topology() {
            Ok(topology) => {
                let found = fault.on(&topology, self.link.rate.value.fastest())?;
                let (FaultTiming::Degraded(pace), Some(rate)) = (found.when, fault.rate) else {
                    return Ok(());
                };
                let own = self.fastest_of(&found.part.cables(&*topology), &topology);
                if let Some(own) = own.filter(|&own| own <= rate) {
                    return Err(FaultProblem::not_degraded(rate, own));
                }
                let fit = links::fit(self, pace);
                fit.map_err(|message| FaultProblem::new("rate", message))
            }
            // The topology has another problem.
            Err(_) => fault.check(),
        }
    }

    /// Reads a fault from a command line, written as an inline TOML table:
    /// `link = 'node 3', at = '1 ms'`.
    ///
    /// # Errors
    /// Syntax errors, and faults in parts that the machine lacks.
    pub fn read_fault(&self, text: &str) -> Result<FaultSection, Problems> {
        let document = Document::parse("--fault", &format!("fault = {{ {text} }}"))?;
        let SingleFault { fault } = document.read()?;
        match self.admits(&fault) {
            Ok(()) => Ok(fault),
            Err(wrong) => Err(wrong.in_document(&document, "fault").into()),
        }
    }

    /// The links' traffic classes.
    pub fn traffic_classes(&self) -> u32 {
        self.link.classes.given().unwrap_or(1)
    }

    /// Processors per node.
    pub fn cpus(&self) -> u32 {
        self.host.cpus.given().unwrap_or(CPUS)
    }

    /// The noise that takes processors away; empty where noise is switched off.
    fn noise_sources(&self) -> Vec<NoiseSource> {
        if self.host.noise.as_ref().is_some_and(|noise| !noise.value) {
            return Vec::new();
        }
        let sources = self.noise.iter();
        sources.map(|(name, noise)| noise.source(name)).collect()
    }

    /// A checked machine's resolved form, with only the faults that its own file lists.
    pub fn cluster_config(&self) -> Config {
        self.failing_config(&[], 0)
    }

    /// A checked machine's resolved form with further faults, which have been checked against it,
    /// and the seed for all faults' streams.
    ///
    /// # Panics
    /// If a fault has not been checked.
    pub fn failing_config(&self, more: &[FaultSection], seed: u64) -> Config {
        let cycle = self.cycle().expect("the machine has been checked");
        let topology = self.topology().expect("the machine has been checked");
        let levels = topology.levels();
        let faults = self.fault.iter().chain(more);
        let fastest = self.link.rate.value.fastest();
        let on = |fault: &FaultSection| fault.on(&topology, fastest);
        let faults = faults.map(|fault| on(fault).expect("the fault has been checked"));
        let faults: Vec<_> = faults.collect();
        let faults =
            (!faults.is_empty()).then(|| FaultsSection::config(self.faults.as_ref(), faults, seed));
        let mut fabric = fabric::Config::new(topology);
        let scale = Scale { cycle, levels };
        self.link.set(&mut fabric, &scale);
        self.switch.set(&mut fabric, &scale);
        self.adapter.set(&mut fabric, &scale);
        if let Some(delay) = self.link.credit_delay.given() {
            fabric.credit_delay = delay.resolve(&scale);
        }
        self.set_paces(&mut fabric);
        fabric.traffic_classes = self.traffic_classes();
        fabric.engine = self.fabric.engine;
        Config {
            fabric,
            cycle,
            packet: self.packet.config(self.link.flit.value),
            adapter: self.adapter.config(),
            parts: self.elan4.as_ref().map_or(Vec::new(), Elan4::parts),
            bus: self.bus.config(),
            host: self.host.config(),
            tport: self.tport.config(),
            group: self.group.config(),
            noise: self.noise_sources(),
            rails: self
                .rails
                .as_ref()
                .map(|rails| rails.config(rails.policy.value.kind)),
            faults,
        }
    }
}
