//! What the tests of rails share: machines with several rails, and all that those of the adapter share.
#![allow(dead_code, unused_imports)] // each test file uses a part

#[path = "../../../elan/tests/common/mod.rs"]
mod adapter;
pub mod multirail;
pub use adapter::*;
