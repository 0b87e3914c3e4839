//! Fingerprint tests.

mod edits;
mod workspace;
