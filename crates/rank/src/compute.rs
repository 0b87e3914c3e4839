//! The time for a program's own computation.
//!
//! Computation is the calling thread's work between its calls. Its processor time on this host
//! includes kernel time for it, as for a page's first touch, and excludes children and other
//! threads.

use crate::regions::Site;
use crate::session::Session;
use crate::system;
use crate::thread::{self, ThreadState};
use link::Compute;

/// Brings local time up to date for a program that reads it. Adds this thread's computation since
/// the last reading, where the run measures computation, and the time that its calls have occupied
/// the simulated processor. Adds no time within an MPI call: the model has the library's own time.
#[inline]
pub fn settle(session: &Session) {
    let thread = thread::current();
    if thread.depth.get() == 0 {
        match session.settings().compute {
            Compute::None | Compute::PerCall(_) => {}
            Compute::Measured(factor) => {
                measure(session, thread, 0, factor);
                if session.settings().regions {
                    computes(session, thread);
                }
            }
            Compute::Sampled(factor) => {
                sample(session, thread, 0, factor);
                computes(session, thread);
            }
        }
        session.settle();
    }
}

/// A program call begins: local time advances by the computation since the last one.
pub fn calls(session: &Session, thread: &ThreadState, call: u32) {
    match session.settings().compute {
        Compute::None => {}
        Compute::PerCall(time) => advance(session, thread, call, time),
        Compute::Measured(factor) => measure(session, thread, call, factor),
        Compute::Sampled(factor) => sample(session, thread, call, factor),
    }
}

/// A program call has ended, and the program computes from now on.
pub fn computes(session: &Session, thread: &ThreadState) {
    if let Compute::Measured(_) | Compute::Sampled(_) = session.settings().compute {
        thread.computed.set(Some(system::processor_time()));
    }
}

/// The thread has computed since its last reading: local time advances by a multiple of that.
fn measure(session: &Session, thread: &ThreadState, call: u32, factor: f64) {
    let now = system::processor_time();
    if let Some(last) = thread.computed.replace(Some(now)) {
        let time = ((now - last) as f64 * factor * 1000.0).round() as u64;
        advance(session, thread, call, time);
    }
}

/// The thread has come to a site after a computation. A recorded run notes the region that ends
/// there.
#[inline]
fn advance(session: &Session, thread: &ThreadState, call: u32, time: u64) {
    session.compute(time);
    if session.settings().regions {
        let site = Site::here(call);
        let from = thread.site.replace(site);
        session.executed(from, site, time);
    }
}

/// The thread has come to a site: local time advances by the time for the region that ends there.
#[cold]
fn sample(session: &Session, thread: &ThreadState, call: u32, factor: f64) {
    let now = system::processor_time();
    let site = Site::here(call);
    let from = thread.site.replace(site);
    if let Some(last) = thread.computed.replace(Some(now)) {
        let time = session.regions().execute(from, site, now - last, factor);
        session.compute(time);
        if session.settings().regions {
            session.executed(from, site, time);
        }
    }
}
