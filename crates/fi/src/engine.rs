//! The progress engine for MPI calls: blocking collective calls, which they order past the MPI
//! library.

use crate::progress::HasEngine;
use link::EndStatus;
use rank::memory::Buffer;
use rank::session::SessionState;

/// Registers a call that is about to be ordered, with room for the bytes due to the rank; returns
/// its number.
pub fn begin(state: &mut SessionState, due: Buffer) -> u64 {
    state.engine().begin_collective(due)
}

/// Whether a call has ended.
pub fn has_ended(state: &mut SessionState, id: u64) -> bool {
    state.engine().collected.has_ended(id)
}

/// How a call has ended, if it has; asked once.
pub fn take(state: &mut SessionState, id: u64) -> Option<EndStatus> {
    state.engine().collected.take(id)
}

/// Whether the program gets errors for single requests.
pub fn reports_losses(state: &mut SessionState) -> bool {
    state.engine().losses.are_told()
}
