//! # Configuration files with places
//!
//! Machine and experiment files are TOML that people write. This crate turns one into a typed value, or into
//! [`Problems`] that name the file, the line, the column and the key, say what is allowed, and offer a remedy. It knows
//! nothing of what the files describe.
//!
//! Errors come from three places, and look alike: the syntax of TOML, the types (serde: unknown keys, missing keys, a
//! number without its unit), and the meaning, which the caller checks and reports by key path
//! ([`Document::problem`]). [`Overrides`](Document::with_override) of single keys from a command line are applied to the
//! text first, so that they are checked like the rest.

mod document;
mod problem;

pub use document::{Document, Override};
pub use problem::{Problem, Problems, nearest};
