//! Tests of the fingerprints.

mod edits;
mod workspace;
