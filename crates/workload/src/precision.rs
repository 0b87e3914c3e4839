//! # Precision: how long steady traffic is measured
//!
//! A run may measure only as long as its results need. Such a run has a shortest window. At the
//! window's end it looks at every job's accepted load. If one of them is not known well enough, the
//! window doubles, two batches become one, and the run continues. The batch count stays the same. A
//! run with a doubled window is the same, to the last bit, as a run that was given this window from
//! the start; only the window length depends on the measurements.
//!
//! A job's accepted load is known well enough if half of its 95% confidence interval is at most a
//! given fraction of its mean. Batches that are too short for their traffic depend on each other,
//! and their interval is too narrow. So the interval over batch pairs must be narrow enough, too:
//! if neighbours are alike, pairs scatter as much as single batches do, with half the sample size.
//! There are few looks, because each look doubles the window: the more often a run looks, the more
//! often it ends by chance (Law and Carson, "A sequential procedure for determining the length of a
//! steady-state simulation", Operations Research 27, 1979).
//!
//! A job that is not saturated is known immediately: its accepted load is its offered load.

use crate::Window;
use kernel::statistics::Interval;
use units::Time;

/// When a run may end before its longest window is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half the 95% confidence interval of each saturated job's accepted load, as a fraction of
    /// this load.
    pub enough: f64,
    /// How often the window may double.
    pub doublings: u32,
}

/// The fewest batches that allow a precision: two pairs.
pub const FEWEST_BATCHES: u32 = 4;

impl Precision {
    /// Whether the mean over the batches' values is known well enough.
    pub fn is_reached(self, batches: &[f64]) -> bool {
        let pairs = batches.chunks_exact(2);
        let pairs: Vec<f64> = pairs.map(|pair| f64::midpoint(pair[0], pair[1])).collect();
        let narrow = |values: &[f64]| Interval::of(values).relative() <= self.enough;
        narrow(batches) && narrow(&pairs)
    }
}

/// Measures a window, which is doubled until `is_known` returns true, or as often as allowed.
/// Returns the values of `measured` at each batch's end.
pub(crate) fn measure<T, E>(
    window: &mut Window,
    mut measured: impl FnMut(Time) -> Result<T, E>,
    is_known: impl Fn(Precision, &[T]) -> bool,
) -> Result<Vec<T>, E> {
    let mut ends: Vec<T> = Vec::new();
    let mut doublings = 0;
    loop {
        for batch in ends.len() as u32..window.batches {
            ends.push(measured(window.batch_end(batch))?);
        }
        match window.precision {
            Some(precision) if doublings < precision.doublings && !is_known(precision, &ends) => {}
            _ => return Ok(ends),
        }
        doublings += 1;
        window.length = window.length * 2;
        // Every other batch end is also one in the longer window.
        let mut number = 0;
        ends.retain(|_| {
            number += 1;
            number % 2 == 0
        });
    }
}

#[cfg(test)]
mod tests;
