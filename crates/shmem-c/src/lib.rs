//! # OpenSHMEM for programs in C: the functions in `shmem.h`
//!
//! The functions are OpenSHMEM 1.5's, with the earlier names by Cray, SGI and Quadrics. They are
//! made of [`native`]'s operations, as the simulator's own Shmem is made of Elanlib's (petrini2003
//! s3), and take the same times.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`setup`] | start, end, questions |
//! | [`memory`], on [`region`] and [`heap`] | the symmetric heap |
//! | [`transfer`] | put, get, their strided and nonblocking forms |
//! | [`atomics`] | atomic operations |
//! | [`contexts`] | contexts, fence, quiet |
//! | [`waits`] | waiting for a word |
//! | [`collectives`], on [`active`] | barriers, broadcasts, collects, exchanges, reductions on active sets |
//! | [`locks`] | locks |
//! | [`teams`] on [`members`], [`signals`] | OpenSHMEM 1.5's |
//!
//! ## The main path
//!
//! A program's put:
//!
//! 1. `transfer.rs`: the C function checks the rank and the address.
//! 2. `contexts.rs`: the context registers the [`native`] operation.
//! 3. `waits.rs`: another process waits for the word.
//!
//! ## Effects on programs
//!
//! The header has a function for each type; they are inline and call the functions here, which know
//! sizes only. So a report names a call without its type: `shmem_int_put` is `shmem_put`.
//!
//! *Symmetric memory* is the writable static data in the program and its libraries, and the heap.
//! All ranks have both at the same addresses, as `elanite prun` starts them without randomised
//! addresses, so that an address means the same object everywhere.
//!
//! *Completion.* A put with up to [`SMALL`] bytes, and an atomic operation without a result, return
//! immediately; a longer put returns when it is over. `shmem_quiet` waits for all, and so does
//! `shmem_fence`: separate DMAs are not ordered.
//!
//! *Errors.* A wrong processing element or address ends the program with a message that names the
//! call. An operation that fails later is reported by the call that waits for it, under the name of
//! the call that began it.

#![allow(unsafe_code)] // C functions, and memory that programs name by addresses

mod active;
mod atomics;
mod collectives;
mod contexts;
mod heap;
mod locks;
mod members;
mod memory;
mod region;
mod setup;
mod signals;
mod teams;
#[cfg(test)]
mod tests;
mod transfer;
mod waits;

use contexts::Contexts;
use members::Teams;
use native::Span;
use rank::thread;
use region::Symmetric;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Puts up to this length return immediately: Elanlib copies them into the adapter
/// (`LIBELAN_PUTGET_SMALLPUTSIZE`).
const SMALL: usize = 64;

/// How far the program has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// It has not called `shmem_init`.
    #[default]
    Before,
    /// It may communicate.
    Running,
    /// It has called `shmem_finalize`.
    Over,
}

/// The library's state in this process.
#[derive(Default)]
struct Shmem {
    stage: Stage,
    /// The thread level that the program has got (`SHMEM_THREAD_SINGLE` and so on).
    level: c_int,
    symmetric: Symmetric,
    contexts: Contexts,
    teams: Teams,
}

static SHMEM: Mutex<Shmem> = Mutex::new(Shmem {
    stage: Stage::Before,
    level: 0,
    symmetric: Symmetric::EMPTY,
    contexts: Contexts::EMPTY,
    teams: Teams::EMPTY,
});

/// The state, locked. No thread waits in simulated time while it holds the lock.
fn shmem() -> MutexGuard<'static, Shmem> {
    SHMEM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the program with the error in the current call.
fn fail(what: fmt::Arguments<'_>) -> ! {
    fail_in(thread::current().call.get(), what)
}

/// Ends the program with a call's error.
fn fail_in(call: u32, what: fmt::Arguments<'_>) -> ! {
    let name = link::calls::name(call);
    eprintln!(
        "elanite: {name} on processing element {}: {what}",
        native::rank()
    );
    setup::end_all(1)
}

/// Ends the program if it may not communicate.
fn check_running() {
    if shmem().stage != Stage::Running {
        fail(format_args!(
            "the program communicates between shmem_init and shmem_finalize only"
        ));
    }
}

/// The processing element with a number that the program has named.
fn element(pe: c_int) -> u32 {
    check_running();
    match u32::try_from(pe) {
        Ok(pe) if pe < native::ranks() => pe,
        _ => fail(format_args!(
            "there is no processing element {pe}; the last one is {}",
            native::ranks() - 1
        )),
    }
}

/// A symmetric memory address that the program has named.
fn symmetric(at: *const c_void, length: usize, pe: u32) -> usize {
    let address = at.addr();
    if length > 0 && !native::memory::is_offered(address, length) {
        fail(format_args!(
            "{length} bytes at address {address:#x} of processing element {pe} are not symmetric; \
            symmetric are static \
             variables and the memory of shmem_malloc"
        ));
    }
    address
}

/// The program's own memory that a call names.
fn own(at: *const c_void, length: usize) -> Span {
    // SAFETY: by the standard the memory is valid, and stays as it is until the call or its
    // completion.
    unsafe { Span::new(at.cast(), length) }
}

/// The bytes of all elements; ends the program if there are too many.
fn product(count: usize, size: usize) -> usize {
    count.checked_mul(size).unwrap_or_else(|| {
        fail(format_args!(
            "{count} elements of {size} bytes are more than an address can reach"
        ))
    })
}
