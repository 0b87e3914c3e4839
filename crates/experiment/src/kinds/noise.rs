//! The noise test: the processor share that the operating system takes (garcia2005 s3.3); see
//! [`workload::noise`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::Sweep;
use derive::grid;
use units::Time;
use workload::{Failure, Noise, Records};

/// Most iterations: ten times as many as the paper has (garcia2005 s3.3).
const MOST_ITERATIONS: u32 = 10_000_000;

/// A point's longest computation: with the most noise that a machine may have, it takes less time
/// than the bound on runs.
const MOST: Time = Time::from_secs(1500);

/// A repeated computation on one processor, which the machine's operating system takes away
/// (garcia2005 s3.3).
#[grid(Noise)]
pub struct NoiseGrid {
    /// The node.
    pub node: Sweep<u32>,
    /// Its processor, from 0.
    pub cpu: Sweep<u32>,
    /// How often it computes, at least as often as there are batches.
    pub iterations: Sweep<u32>,
    /// Duration of one computation without noise.
    pub compute: Sweep<Time>,
}

impl Kind for NoiseGrid {
    const WHAT: &'static str = "a noise test";
    const USES_NETWORK: bool = false;
    const PLOT: Plot = Plot {
        over: "cpu",
        metrics: &["elapsed", "elapsed_p99", "above_1_percent"],
    };

    fn check(&self, series: &str, run: &Run, check: &mut Check<'_>) {
        let path = format!("{series}.noise");
        check.lists(&path, self);
        check.compute(&path, &self.compute);
        let compute = self.compute.values().iter().copied().max();
        let most = compute.filter(|compute| !compute.is_zero());
        let most = most.map_or(MOST_ITERATIONS, |compute| {
            (MOST / compute).min(MOST_ITERATIONS.into()) as u32
        });
        for (place, &iterations) in self.iterations.places(&format!("{path}.iterations")) {
            if !(1..=most.max(1)).contains(&iterations) {
                let found = check.problem(&place, format!("{iterations} is out of range"));
                found.allowed(format!("1 to {most}: at most {MOST} of computation"));
            } else if iterations < run.batches {
                let batches = run.batches;
                let message = format!("{iterations} iterations are too few for {batches} batches");
                check
                    .problem(&place, message)
                    .allowed(format!("at least {batches} for so many"));
            }
        }
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        for (place, &node) in self.node.places(&format!("{series}.noise.node")) {
            fit.node(&place, node);
        }
        let cpus = fit.machine.cpus();
        for (place, &cpu) in self.cpu.places(&format!("{series}.noise.cpu")) {
            if cpu >= cpus {
                let message = format!("there is no processor {cpu} in a node of the machine");
                let hint = format!("--set host.cpus={} gives nodes more", cpu.saturating_add(1));
                fit.problem(&place, message)
                    .allowed(format!("0 to {}", cpus - 1))
                    .hint(hint);
            }
        }
    }
}

impl Runs for Noise {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        self.run((setting.cluster)(), setting.window.batches)
    }
}
