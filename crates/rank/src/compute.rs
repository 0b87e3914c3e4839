//! The time of a program's own computation.

use crate::session::Session;
use crate::system;
use crate::thread::{self, Thread};
use link::Compute;

/// Brings local time up to date for a program that reads it. Adds what this thread has computed since the last reading, where
/// the run measures computation, and what its calls have taken of the simulated processor. Adds nothing within a call of MPI:
/// the model has the library's own time.
#[inline]
pub fn settle(session: &Session) {
    let thread = thread::current();
    if thread.depth.get() == 0 {
        if let Compute::Measured(factor) = session.settings().compute {
            measure(session, thread, factor);
        }
        session.settle();
    }
}

/// The thread has computed since its last reading: local time goes on by a factor of that.
pub fn measure(session: &Session, thread: &Thread, factor: f64) {
    let now = system::processor_time();
    if let Some(last) = thread.computed.replace(Some(now)) {
        session.compute(((now - last) as f64 * factor * 1000.0).round() as u64);
    }
}
