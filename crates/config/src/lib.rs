//! # Configuration files with places
//!
//! Machine and experiment files are TOML that people write. This crate turns such a file into a
//! typed value, or into [`Problems`] that name the file, the line, the column and the key, list the
//! allowed values, and offer a remedy. The crate is independent of the files' subject.
//!
//! Errors have three sources, and look alike: TOML syntax; the types (unknown keys, missing keys, a
//! number without its unit: serde's errors in plain words); and the meaning, which the caller
//! checks and reports by key path ([`Findings`]). Keys that a command line replaces
//! ([`Document::with_override`]) are checked like keys in the file. An error in such a key is shown
//! in the command line's text, any other error in the file as it was written.
//!
//! A path is dotted: `link.rate`, `series.0.run.window`. A step into a list is an index, or a
//! table's `name`.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `document` | a file as text, as a key tree with places, and as a typed value |
//! | `overrides` | keys that a command line, or another file, replaces |
//! | `place` | from a path to a text span, and back |
//! | `findings`, `problem` | problems that a check finds, and their form for people |
//! | `words` | plain words for the terms of serde and of the TOML parser |
//!
//! ## The main path
//!
//! A file becomes a typed value, or problems with places:
//!
//! 1. `document.rs`: [`Document::parse`] reads the text and keeps every key's place.
//! 2. `overrides.rs`: command-line keys replace keys in the file.
//! 3. `document.rs`: [`Document::read`] makes the typed value; `words.rs` words its errors.
//! 4. `findings.rs`: the caller checks the meaning, and reports by key path.
//! 5. `place.rs`, `problem.rs`: path becomes line and column; cause, bounds and hint in words.

mod document;
mod findings;
mod overrides;
mod place;
mod problem;
mod words;

pub use document::Document;
pub use findings::{Finding, Findings};
pub use overrides::Override;
pub use problem::{Problem, Problems, nearest};
