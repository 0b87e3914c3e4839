//! The end of simulated time.

use units::Time;

/// Where the simulated time of programs ends. A processor with noise draws each detour on the way to a moment, so that a sleep
/// of years would take hours; and times near the end of the range of [`Time`] would overflow.
pub(crate) const HORIZON: Time = Time::from_secs(24 * 3600);
