//! The call record: each ended MPI call is reported to the simulator, if the run records calls.

use crate::session::Session;
use crate::thread::{self, ThreadState};
use link::Order;

/// A thread's call has ended.
pub fn ended(session: &Session, thread: &ThreadState, call: u32) {
    if session.settings().calls {
        let called = Order::Called {
            call,
            began: thread.began.get(),
            served: thread.served.replace(false),
        };
        let mut state = session.lock();
        session.report_computed(&mut state);
        session.order(&mut state, 0, called, &[]);
    }
}

/// The rank is about to leave the simulation. Usually it is within a call, which then ends here for
/// the simulator.
pub fn concluded(session: &Session) {
    let thread = thread::current();
    if thread.depth.get() > 0 {
        ended(session, thread, thread.call.replace(0));
    }
}
