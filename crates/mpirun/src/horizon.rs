//! The end of simulated time.

use units::Time;

/// Where programs' simulated time ends. A processor with noise draws each detour on the way to a
/// moment, so that a sleep over years would take hours; and times near the end of [`Time`]'s range
/// would overflow.
pub(crate) const HORIZON: Time = Time::from_secs(24 * 3600);
