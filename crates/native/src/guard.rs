//! The calls in our own libraries: reports and timelines name them, and the program's computation
//! between two calls takes the time by `--compute`.
//!
//! Every C function holds a guard while it runs:
//!
//! ```ignore
//! let _call = native::call(const { number("shmem_barrier_all") });
//! ```
//!
//! Only a thread's outermost call counts, as with MPI calls: a function may call other C functions.

use super::{session, spin};
use mpi_calls::calls;
use rank::repeats::Frame;
use rank::thread;
use std::marker::PhantomData;

/// A call under way; the call ends with it.
#[must_use = "the call ends at once otherwise"]
pub struct CallGuard {
    /// Calls belong to threads.
    thread: PhantomData<*const ()>,
}

/// The program calls one of our functions, by its number in [`link::calls`]. The first call makes
/// the process a rank.
pub fn call(number: u32) -> CallGuard {
    session();
    let thread = thread::current();
    let depth = thread.depth.get();
    thread.depth.set(depth + 1);
    if depth == 0 {
        calls::enter(thread, number, &Frame::here());
    }
    CallGuard {
        thread: PhantomData,
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let thread = thread::current();
        let depth = thread.depth.get() - 1;
        thread.depth.set(depth);
        if depth == 0 {
            calls::leave(thread);
            spin::called();
        }
    }
}
