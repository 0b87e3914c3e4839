//! The libraries of Elanite's own that share the session with the MPI library, as the progress engine calls them.
//!
//! OpenSHMEM, Elanlib and Elan3lib give orders of their own, whose numbers have the bit [`OWN`]. Reports on these go to the
//! functions that the libraries [name](serve) before their first order. All are called under the session's lock, and must not
//! order anything.

use crate::memory::Span;
use link::{Complaint, Delivery, Ended, Part};
use std::sync::OnceLock;

/// The numbers of the libraries' operations have this bit; those of the MPI library's have not.
pub const OWN: u64 = 1 << 63;

/// A complaint, with the bytes that were stored.
pub type Wrong = (Complaint, Vec<u8>);

/// The functions of the libraries.
pub struct Library {
    /// An operation ends, with a part of its payload.
    pub ended: fn(Ended, &Delivery, Part, &[u8]) -> Option<Wrong>,
    /// A part of a message has come into the queue of a name.
    pub arrived: fn(u64, &Delivery, Part, &[u8]) -> Option<Wrong>,
    /// Combines two vectors, one behind the other.
    pub combine: fn(Vec<u8>) -> Vec<u8>,
    /// A number has come with a put.
    pub noticed: fn(u64),
    /// Memory of this length at a place of a kind of memory by address, if others may read it or, if so, write to it.
    pub reach: fn(u64, u64, u64, bool) -> Option<Span>,
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Names the functions of the libraries; only the first time counts.
pub fn serve(library: Library) {
    let _ = LIBRARY.set(library);
}

/// The functions of the libraries, if the program uses these.
pub fn get() -> Option<&'static Library> {
    LIBRARY.get()
}

/// The complaint that these bytes were stored instead of those of a message.
pub fn differs(message: u64, stored: Vec<u8>) -> Wrong {
    (Complaint::Differs { message }, stored)
}
