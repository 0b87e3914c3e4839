//! The profile: a machine file section, made from iteration times.
//!
//! The profile is one noise source: it starts a detour at every iteration that had one, and each
//! detour takes the measured time. Intervals and durations are counted separately:
//!
//! * A *detour* is counted if it is at least a thousandth of the computation; the profile leaves
//!   shorter ones out.
//! * *Durations* and *intervals* are counted in bins, sixteen to a doubling. Each stands for its
//!   bin's mean, which is exact within 7% and keeps the sum.
//! * *Intervals* lie between the starts of iterations that had a detour; the last interval reaches
//!   around to the first such iteration. So there are as many intervals as detours, and their sum
//!   is the measurement's time.
//!
//! Several detours in one iteration count as one with their sum, so a profile is right for
//! computations with about the length that it was measured with. A simulated process that computes
//! for the base has the same quantiles, to the bin widths and the threshold, as far as detours do
//! not depend on those before them.

use kernel::statistics::Histogram;
use std::collections::BTreeMap;
use std::fmt::Write;
use units::Time;

/// The threshold: a detour counts if it is at least this part of the computation.
pub const THRESHOLD_PARTS: u64 = 1000;

/// The times of consecutive iterations.
#[derive(Clone, Debug)]
pub struct Measurement {
    compute: Time,
    elapsed: Vec<Time>,
}

impl Measurement {
    /// The measurement for a computation with the calibrated time `compute`.
    ///
    /// # Panics
    /// If there are no iterations.
    pub fn new(compute: Time, elapsed: Vec<Time>) -> Self {
        assert!(!elapsed.is_empty(), "a measurement has iterations");
        Measurement { compute, elapsed }
    }

    /// The iteration times, in order.
    pub fn elapsed(&self) -> &[Time] {
        &self.elapsed
    }

    /// An iteration's time without noise: the shortest one.
    pub fn base(&self) -> Time {
        *self.elapsed.iter().min().expect("there are iterations")
    }

    /// The time by which each iteration exceeds the base.
    pub fn detours(&self) -> Histogram {
        let base = self.base();
        let mut detours = Histogram::new();
        for &elapsed in &self.elapsed {
            detours.record(elapsed - base);
        }
        detours
    }

    /// The least detour that the profile counts.
    pub fn threshold(&self) -> Time {
        self.compute / THRESHOLD_PARTS
    }

    /// A section for a machine file, `[noise.measured]`, or a comment if there was no noise.
    /// `source` names the measured machine.
    pub fn profile(&self, source: &str) -> String {
        let (base, threshold) = (self.base(), self.threshold());
        let mut now = Time::ZERO;
        let mut starts = Vec::new();
        let mut durations = Bins::default();
        for &elapsed in &self.elapsed {
            let detour = elapsed - base;
            if detour >= threshold && !detour.is_zero() {
                starts.push(now);
                durations.add(detour);
            }
            now += elapsed;
        }
        let mut intervals = Bins::default();
        if let (Some(&first), Some(&last)) = (starts.first(), starts.last()) {
            for pair in starts.windows(2) {
                intervals.add(pair[1] - pair[0]);
            }
            intervals.add(now - last + first);
        }

        let source = source.replace(['"', '\\', '\n'], "'");
        let mut text = format!(
            "# A noise profile: what an operating system took of a processor, as `elanite \
            noise` measured it. It is a section of\n\
            # a machine file: append it to one. A computation of {base} in the simulation stands \
            for one iteration here.\n\
            # {source}: {} iterations in {now}, {} of them at least {threshold} longer than the \
            shortest, {base}.\n",
            self.elapsed.len(),
            starts.len(),
        );
        if starts.is_empty() {
            text.push_str("# There was no noise.\n");
        } else {
            let list = [("interval", intervals), ("duration", durations)];
            let _ = write!(
                text,
                "\n[noise.measured]\ncpu = {{ value = \"all\", source = \"{source}\" }}\n"
            );
            for (key, bins) in list {
                let value = bins.toml();
                let _ = writeln!(
                    text,
                    "{key} = {{ value = [{value}], source = \"{source}\" }}"
                );
            }
        }
        text
    }
}

/// Times by bins, sixteen to a doubling: each bin's sum and count.
#[derive(Default)]
struct Bins(BTreeMap<u64, (u128, u64)>);

/// The bits below a time's highest one that give its bin.
const BITS: u32 = 4;

impl Bins {
    fn add(&mut self, time: Time) {
        let ps = time.as_ps();
        let shift = (u64::BITS - ps.leading_zeros()).saturating_sub(BITS + 1);
        let (sum, count) = self.0.entry(ps >> shift << shift).or_default();
        *sum += u128::from(ps);
        *count += 1;
    }

    /// Each bin's mean, to the nanosecond, and its count.
    fn toml(&self) -> String {
        let pairs = self.0.values().map(|&(sum, count)| {
            let mean = Time::from_ns((sum / u128::from(count) / 1000).max(1) as u64);
            format!("[\"{mean}\", {count}]")
        });
        pairs.collect::<Vec<_>>().join(", ")
    }
}
