//! Receives that stand for collective calls.
//!
//! A collective call that does not block gives the program a request, which all calls of MPI must know: those that wait, test, ask
//! for a status, handle errors. So the MPI library makes the request, by a receive of the bytes that are due to the rank
//! (crate `mpi-calls`). The receive gets as far as this provider, which orders the collective call in its place. When the call has ended,
//! so has the receive, with its bytes or its error; the library stores bytes that do not lie in one piece.

use link::Order;
use rank::memory::Span;
use std::cell::Cell;

thread_local! {
    /// What the thread's next receive stands for: the order of the call and the bytes that the rank gives.
    static NEXT: Cell<Option<(Order, Span)>> = const { Cell::new(None) };
}

/// The thread's next receive stands for a collective call. The bytes stay where they are until then.
pub fn announce(order: Order, bytes: Span) {
    NEXT.set(Some((order, bytes)));
}

/// What this receive of the thread stands for, if it stands for a collective call.
pub fn take() -> Option<(Order, Span)> {
    NEXT.take()
}
