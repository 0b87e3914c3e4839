//! Run bounds.
//!
//! A run that would take too long, or too much memory, ends with an error instead: a simulation
//! past its saturation point can otherwise grow its queues for ever. The main loop in the layer
//! above calls [`Limits::check`] once per event, or once in a while.

use std::fmt;

use units::{Bytes, Time};

/// A run's upper bounds; `None` means no bound, and is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bound for simulated time.
    pub time: Option<Time>,
    /// Bound for the event count.
    pub events: Option<u64>,
    /// Bound for the memory in use at the check.
    pub memory: Option<Bytes>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub time: Time,
    /// Events so far.
    pub events: u64,
    /// Memory in use, as [`memory::current`](crate::memory::current) returns it.
    pub memory: Bytes,
}

/// The bound that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// This much simulated time.
    Time(Time),
    /// This many events.
    Events(u64),
    /// This much memory.
    Memory(Bytes),
}

/// A run passed a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run passed its bound of {bound}: it stopped at {at}; {}", bound.advice())]
pub struct LimitError {
    /// The bound.
    pub bound: Bound,
    /// Where the run stood when the check noticed it.
    pub at: Progress,
}

impl Limits {
    /// Whether a run that stands at point `at` may go on. A run may reach a bound, not pass it.
    ///
    /// # Errors
    /// The first bound that was passed, in the order time, events, memory.
    pub fn check(&self, at: Progress) -> Result<(), LimitError> {
        let passed = |bound| Err(LimitError { bound, at });
        match *self {
            Self {
                time: Some(time), ..
            } if at.time > time => passed(Bound::Time(time)),
            Self {
                events: Some(events),
                ..
            } if at.events > events => passed(Bound::Events(events)),
            Self {
                memory: Some(memory),
                ..
            } if at.memory > memory => passed(Bound::Memory(memory)),
            _ => Ok(()),
        }
    }
}

impl Bound {
    /// The user's remedy.
    const fn advice(&self) -> &'static str {
        match self {
            Self::Time(_) => "raise the bound, or look for what never ends",
            Self::Events(_) => "raise the bound, or shorten the run (a smaller window, less load)",
            Self::Memory(_) => {
                "raise the bound, or lower the offered load: queues grow without end past \
                saturation"
            }
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{time} of simulated time"),
            Self::Events(events) => write!(f, "{events} events"),
            Self::Memory(memory) => write!(f, "{memory} of memory"),
        }
    }
}

/// A time with its first three digits, for people.
fn about(time: Time) -> Time {
    let ps = time.as_ps();
    let scale = 10_u64.pow(ps.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Time::from_ps(ps / scale * scale)
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            time,
            events,
            memory,
        } = self;
        let (time, memory) = (about(*time), Bytes::from_kb(memory.as_u64().div_ceil(1024)));
        write!(
            f,
            "{time} after {events} events with {memory} of memory in use"
        )
    }
}
