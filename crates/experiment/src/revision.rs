//! # The model revision
//!
//! Finished points are kept under a hash over their content and this number, so that results from
//! an older model are never taken for this model's. A change of any point's result raises the
//! number by one, in the same commit. A change of comments, names or files does not affect results,
//! and leaves the number and all kept points as they are.
//!
//! A change of results cannot stay unnoticed: `tests/revision.rs` pins, in a table with this
//! number, point digests for every benchmark kind, by both movers and both adapter generations, and
//! the versions of the crates that enter results.

/// The model revision.
pub const MODEL_REVISION: u32 = 4;
