//! Transfer rates.

use crate::{Bytes, Time};
use derive::Quantity;

/// A transfer rate in whole bytes per second. In text, MB/s is 10^6 bytes per second, as for
/// bandwidths in the papers. Gb/s, 10^9 bits per second, is read and never printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Quantity)]
#[scale(RATE)]
pub struct Rate(u64);

impl Rate {
    /// No transfer.
    pub const ZERO: Self = Self(0);

    /// `bytes` bytes per second.
    #[must_use]
    pub const fn from_bytes_per_second(bytes: u64) -> Self {
        Self(bytes)
    }

    /// `mb` times 10^6 bytes per second.
    #[must_use]
    pub const fn from_mb_per_second(mb: u64) -> Self {
        Self(mb * 1_000_000)
    }

    /// The rate in bytes per second.
    #[must_use]
    pub const fn as_bytes_per_second(self) -> u64 {
        self.0
    }

    /// The rate in MB/s, for results.
    #[must_use]
    pub const fn as_mb_per_second_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Whether the rate is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The time that `size` takes, rounded up to the next picosecond; `None` if the time exceeds
    /// [`Time`]'s range, as always at rate zero.
    #[must_use]
    #[inline]
    pub const fn checked_time(self, size: Bytes) -> Option<Time> {
        if self.0 == 0 {
            return None;
        }
        // Mostly 64 bits are enough.
        if let Some(product) = size.as_u64().checked_mul(1_000_000_000_000) {
            return Some(Time::from_ps(product.div_ceil(self.0)));
        }
        let ps = (size.as_u64() as u128 * 1_000_000_000_000).div_ceil(self.0 as u128);
        if ps > u64::MAX as u128 {
            return None;
        }
        Some(Time::from_ps(ps as u64))
    }

    /// The time that `size` takes, rounded up to the next picosecond.
    ///
    /// # Panics
    /// At rate zero, or if the time exceeds [`Time`]'s range. Rates that users give are checked
    /// once, where they are read, with [`checked_time`](Self::checked_time).
    #[must_use]
    #[inline]
    pub const fn time(self, size: Bytes) -> Time {
        self.checked_time(size)
            .expect("the transfer ends within the range of time")
    }

    /// The rate in MB/s of `size` within `time`, for results. The rate is 0 for no bytes and
    /// infinite for some bytes in no time.
    #[must_use]
    pub fn of(size: Bytes, time: Time) -> f64 {
        if size.is_zero() {
            return 0.0;
        }
        // Bytes per microsecond are MB/s.
        size.as_u64() as f64 / time.as_us_f64()
    }
}
