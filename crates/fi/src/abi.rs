//! The binary interface of libfabric, as far as MPI libraries use it of a provider: types with the layout of its C headers
//! (`rdma/fabric.h`, `fi_atomic.h`, `fi_domain.h`, `fi_endpoint.h`, `fi_tagged.h`, `fi_rma.h`, `fi_eq.h`, `fi_cm.h`, `providers/fi_prov.h`),
//! and constants by their names in these headers.
//!
//! | module | has |
//! |---|---|
//! | [`constants`] | flags, capabilities, classes, error numbers |
//! | [`info`] | what a provider says of itself (`fi_info`) |
//! | [`objects`], [`fid`] | the objects that a program opens, and their tables of functions |
//! | [`entries`] | messages, completions, attributes: what goes in and out of the functions |
//!
//! Newer versions lengthen the tables at their end. Each table bears its own size, so a program of a newer version sees which
//! functions there are. Pointers that the provider only hands through or keeps are [`Address`]es.

pub mod constants;
pub mod entries;
pub mod fid;
pub mod info;
pub mod objects;

pub use constants::*;

/// A pointer of the program, as a number.
pub type Address = usize;

/// The answer of a function that is not there, to all arguments.
pub extern "C" fn not_there() -> isize {
    -(FI_ENOSYS as isize)
}

/// The entry of a table for a function that is not there. It ignores its arguments; all functions return an integer.
pub type Unused = Option<extern "C" fn() -> isize>;

/// See [`not_there`].
pub const UNUSED: Unused = Some(not_there);
