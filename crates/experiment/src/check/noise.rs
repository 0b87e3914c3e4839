//! What a noise test may say.

use super::Check;
use crate::file::{NoiseGrid, Run};
use crate::sweep::Sweep;
use units::Time;

/// Most iterations: ten times as many as the paper has (003 s3.3).
const MOST_ITERATIONS: u32 = 10_000_000;

/// Bounds of one computation.
const SHORTEST: Time = Time::from_us(1);
const LONGEST: Time = Time::from_secs(1);

/// Most computation of a point: with as much noise as a machine may have, less than any run may take.
const MOST: Time = Time::from_secs(1500);

impl Check<'_> {
    /// A noise test, as `run` runs it.
    pub(super) fn noise(&mut self, path: &str, grid: &NoiseGrid, run: &Run) {
        self.lists(path, grid);
        self.compute(path, &grid.compute);
        let compute = grid.compute.values().iter().copied().max();
        let most = compute.filter(|compute| !compute.is_zero());
        let most = most.map_or(MOST_ITERATIONS, |compute| {
            (MOST / compute).min(MOST_ITERATIONS.into()) as u32
        });
        for (place, &iterations) in grid.iterations.places(&format!("{path}.iterations")) {
            if !(1..=most.max(1)).contains(&iterations) {
                let message = format!("{iterations} is out of range");
                let allowed = format!("1 to {most}: at most {MOST} of computation");
                self.add(&place, message, allowed);
            } else if iterations < run.batches {
                let batches = run.batches;
                let message = format!("{iterations} iterations are too few for {batches} batches");
                self.add(&place, message, format!("at least {batches} for so many"));
            }
        }
    }

    /// Times that processes compute.
    pub(super) fn compute(&mut self, path: &str, compute: &Sweep<Time>) {
        for (place, &compute) in compute.places(&format!("{path}.compute")) {
            if !(SHORTEST..=LONGEST).contains(&compute) {
                let message = format!("{compute} is out of range");
                self.add(&place, message, format!("{SHORTEST} to {LONGEST}"));
            }
        }
    }
}
