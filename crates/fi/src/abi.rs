//! libfabric's binary interface, as far as MPI libraries use it from a provider: types laid out as
//! in its C headers (`rdma/fabric.h`, `fi_atomic.h`, `fi_domain.h`, `fi_endpoint.h`, `fi_tagged.h`,
//! `fi_rma.h`, `fi_eq.h`, `fi_cm.h`, `providers/fi_prov.h`), and constants by their names in these
//! headers.
//!
//! | module | has |
//! |---|---|
//! | [`constants`] | flags, capabilities, classes, error numbers |
//! | [`info`] | a provider's description (`fi_info`) |
//! | [`objects`], [`fid`] | the objects that a program opens, and their function tables |
//! | [`entries`] | messages, completions, attributes: the functions' inputs and outputs |
//!
//! Newer versions lengthen the tables at their end. Each table bears its own size, so a program
//! built for a newer version sees which functions there are. Pointers that the provider only hands
//! through or keeps are [`Pointer`]es.

pub mod constants;
pub mod entries;
pub mod fid;
pub mod info;
pub mod objects;

pub use constants::*;

/// A program's pointer, as a number.
pub type Pointer = usize;

/// The answer from a missing function, to all arguments.
pub extern "C" fn not_there() -> isize {
    -(FI_ENOSYS as isize)
}

/// The table entry for a missing function. It ignores its arguments; all functions return an
/// integer.
pub type UnusedEntry = Option<extern "C" fn() -> isize>;

/// See [`not_there`].
pub const UNUSED: UnusedEntry = Some(not_there);
