//! Simulated time.

use crate::arithmetic::arithmetic;
use derive::Quantity;

/// A span of simulated time, or a moment as the span since the start of the run, in whole
/// picoseconds. The range is 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Quantity)]
#[scale(TIME)]
pub struct Time(u64);

impl Time {
    /// `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// `ns` nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000_000)
    }

    /// The time in picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The time in microseconds, for results; inexact above 2^53 ps (two and a half hours).
    #[must_use]
    pub const fn as_us_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The time in seconds, for results; inexact as [`as_us_f64`](Self::as_us_f64).
    #[must_use]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

arithmetic!(Time, u64);
