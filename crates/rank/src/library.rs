//! Elanite's own libraries that share the session with the MPI library, as the progress engine
//! calls them.
//!
//! OpenSHMEM, Elanlib and Elan3lib give their own orders, with the bit [`OWN`] in their numbers.
//! Reports on these go to the functions that the libraries [name](serve) before their first order.
//! All are called under the session's lock, and must not order anything.

use crate::memory::Span;
use link::{Complaint, Delivery, OperationEnd, PayloadPart};
use std::sync::OnceLock;

/// The numbers of the libraries' operations have this bit; those in the MPI library do not.
pub const OWN: u64 = 1 << 63;

/// A complaint, with the bytes that were stored.
pub type LibraryProblem = (Complaint, Vec<u8>);

/// The libraries' functions.
pub struct LibraryFunctions {
    /// An operation ends, with a payload part.
    pub ended: fn(OperationEnd, &Delivery, PayloadPart, &[u8]) -> Option<LibraryProblem>,
    /// A message part has come into the queue with this name.
    pub arrived: fn(u64, &Delivery, PayloadPart, &[u8]) -> Option<LibraryProblem>,
    /// Combines two vectors, one behind the other.
    pub combine: fn(Vec<u8>) -> Vec<u8>,
    /// A number has come with a put.
    pub noticed: fn(u64),
    /// Memory with this length at a place in an address space, if others may read it or, if so,
    /// write to it.
    pub reach: fn(u64, u64, u64, bool) -> Option<Span>,
}

static LIBRARY: OnceLock<LibraryFunctions> = OnceLock::new();

/// Names the libraries' functions; only the first time counts.
pub fn serve(library: LibraryFunctions) {
    let _ = LIBRARY.set(library);
}

/// The libraries' functions, if the program uses these.
pub fn get() -> Option<&'static LibraryFunctions> {
    LIBRARY.get()
}

/// The complaint that these bytes were stored instead of those of a message.
pub fn differs(message: u64, stored: Vec<u8>) -> LibraryProblem {
    (Complaint::Differs { message }, stored)
}
