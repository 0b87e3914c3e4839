//! Elanite's own libraries that share the session with the MPI library, as the progress engine calls them.
//!
//! OpenSHMEM, Elanlib and Elan3lib give their own orders, with the bit [`OWN`] in their numbers. Reports on these go to
//! the functions that the libraries [name](serve) before their first order. All are called under the session's lock,
//! and must not order anything.

use crate::memory::Span;
use link::{Complaint, Delivery, Ended, Part};
use std::sync::OnceLock;

/// The numbers of the libraries' operations have this bit; those in the MPI library do not.
pub const OWN: u64 = 1 << 63;

/// A complaint, with the bytes that were stored.
pub type Wrong = (Complaint, Vec<u8>);

/// The libraries' functions.
pub struct Library {
    /// An operation ends, with a payload part.
    pub ended: fn(Ended, &Delivery, Part, &[u8]) -> Option<Wrong>,
    /// A message part has come into the queue with this name.
    pub arrived: fn(u64, &Delivery, Part, &[u8]) -> Option<Wrong>,
    /// Combines two vectors, one behind the other.
    pub combine: fn(Vec<u8>) -> Vec<u8>,
    /// A number has come with a put.
    pub noticed: fn(u64),
    /// Memory with this length at a place in an address space, if others may read it or, if so, write to it.
    pub reach: fn(u64, u64, u64, bool) -> Option<Span>,
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Names the libraries' functions; only the first time counts.
pub fn serve(library: Library) {
    let _ = LIBRARY.set(library);
}

/// The libraries' functions, if the program uses these.
pub fn get() -> Option<&'static Library> {
    LIBRARY.get()
}

/// The complaint that these bytes were stored instead of those of a message.
pub fn differs(message: u64, stored: Vec<u8>) -> Wrong {
    (Complaint::Differs { message }, stored)
}
