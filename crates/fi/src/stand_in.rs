//! Receives that stand for collective calls.
//!
//! A nonblocking collective call gives the program a request, which all MPI calls must know: those
//! that wait, test, ask for a status, handle errors. So the MPI library makes the request, by a
//! receive of the bytes that are due to the rank (crate `mpi-calls`). The receive gets as far as
//! this provider, which orders the collective call in its place. When the call has ended, so has
//! the receive, with its bytes or its error; the library stores bytes that do not lie in one piece.

use link::Order;
use rank::memory::Span;
use std::cell::Cell;

thread_local! {
    /// The collective call that the thread's next receive stands for: its order and the rank's
    /// bytes.
    static NEXT: Cell<Option<(Order, Span)>> = const { Cell::new(None) };
}

/// The thread's next receive stands for a collective call. The bytes stay where they are until
/// then.
pub fn announce(order: Order, bytes: Span) {
    NEXT.set(Some((order, bytes)));
}

/// The collective call that this receive in the thread stands for, if any.
pub fn take() -> Option<(Order, Span)> {
    NEXT.take()
}
