//! The rail tests' common parts: machines with several rails, and the adapter tests' common parts.
#![allow(dead_code, unused_imports)] // each test file uses a part

#[path = "../../../elan/tests/common/mod.rs"]
mod adapter;
pub mod multirail;
pub use adapter::*;
