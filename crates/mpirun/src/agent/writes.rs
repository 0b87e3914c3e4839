//! Writes by others into a rank's memory: puts, and the words that atomics store.

use super::Agent;
use link::Delivery;
use std::rc::Rc;
use units::Time;

impl Agent {
    /// Bytes come into the rank's memory now. The rank receives them in its next turn, or before
    /// others read there. `put` is a put's number in the trace.
    pub(super) fn written(&self, write: Delivery, bytes: Rc<Vec<u8>>, put: Option<usize>) {
        let now = self.node.now();
        let mut state = self.state.borrow_mut();
        state.writes.push_back((now, write, bytes));
        state.written.push_back((now, put));
        if state.hears_writes {
            state.bell.fire();
        }
    }

    /// The rank continues at a moment, and has received all writes up to then.
    pub fn goes_on(&self, moment: Time) {
        self.shared
            .record(|recorder| recorder.goes_on(self.rank, moment));
        let written = &mut self.state.borrow_mut().written;
        while written.front().is_some_and(|&(at, _)| at <= moment) {
            written.pop_front();
        }
    }
}
