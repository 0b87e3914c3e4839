//! # The revision of the model
//!
//! Finished points are kept under a hash of their content and of this number, so that nobody takes a result of an older model
//! for a result of this model. Whoever changes the result of any point raises the number by one, in the same commit. A change
//! of comments, of names or of files changes no result, and leaves the number and all kept points as they are.
//!
//! A change of results cannot stay unnoticed: `tests/revision.rs` pins the digests of points of every kind of benchmark, by both
//! movers and both generations of adapters, and the versions of the crates that enter results, in a table that carries this number.

/// The revision of the model.
pub const MODEL_REVISION: u32 = 4;
