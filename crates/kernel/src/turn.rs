//! A task's turn: from the executor's poll until the task waits.
//!
//! A wait for a condition that is set ends immediately. A loop of such waits would keep its turn
//! for ever: no other task would run, and simulated time would stand still. So each turn has a
//! budget for immediate ends. When the budget is spent, further waits stay pending, and the
//! executor reports a [`Livelock`](crate::Livelock) at the turn's end.

use std::cell::Cell;
use std::task::Poll;

/// Waits that may end immediately in one turn. Common turns have a few; spending the budget takes a
/// fraction of a second.
const BUDGET: u32 = 1 << 22;

thread_local! {
    /// The remaining budget in this thread's present turn, if there is one.
    static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Runs a turn; returns its result, and whether the budget is spent.
pub(crate) fn take<R>(turn: impl FnOnce() -> R) -> (R, bool) {
    LEFT.set(Some(BUDGET));
    let result = turn();
    (result, LEFT.take() == Some(0))
}

/// The poll result for a wait with a set condition: ready, or pending if the turn's budget is
/// spent.
pub fn end<T>(output: T) -> Poll<T> {
    let left = LEFT.get();
    if left == Some(0) {
        return Poll::Pending;
    }
    LEFT.set(left.map(|left| left - 1));
    Poll::Ready(output)
}
