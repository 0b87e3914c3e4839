//! # Source fingerprints
//!
//! A result is as good as the program that computed it. A crate's fingerprint identifies this
//! program: it is a hash over all inputs that the crate is compiled from, so that two builds with
//! the same fingerprint compute the same results. The extension module's build script compiles the
//! fingerprints in, and the extension module computes them again for a checkout, to see whether the
//! compiled simulator is older than the sources.
//!
//! A fingerprint covers, for the crate and for every workspace crate that it depends on:
//!
//! - all files below `src`, and `build.rs`: source text without comments, and with one space for
//!   any white space between tokens. Literals count byte for byte. Test modules (`tests.rs`,
//!   `tests/`) and their `snapshots` do not count.
//! - the parts of `Cargo.toml` that enter compilation: dependencies, features, and the library
//!   kind;
//!
//! and for the workspace the edition, the profiles, the dependency requirements, and from
//! `Cargo.lock` the versions and checksums of all linked crates.
//!
//! It does not depend on the checkout's path, on time, on the built profile, or on line endings.
//! Editing a comment, a test or a document leaves it as it is; editing a constant changes it. The
//! compiler and `RUSTFLAGS` are not covered: arithmetic in Rust does not depend on them.
//!
//! The hash is XXH3-128, which distinguishes honest builds. It does not protect against forgery.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `manifest` | dependencies and compiled manifest parts |
//! | `tokens` | sources without comments and superfluous white space |
//! | `lock` | versions and checksums of linked crates |
//!
//! ## The main path
//!
//! A crate's fingerprint:
//!
//! 1. `lib.rs`: [`Fingerprint::of`] visits the crate and all that it depends on.
//! 2. `manifest.rs`: each manifest's dependencies, and the parts that enter compilation.
//! 3. `tokens.rs`: each source's significant text.
//! 4. `lock.rs`: versions and checksums of the linked crates.

mod lock;
mod manifest;
mod tokens;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// The crate that computes point results.
pub const ENGINE: &[&str] = &["crates/experiment"];

/// The crates that users run: the extension module, and the library that the ranks of real programs
/// load.
pub const PROGRAM: &[&str] = &["crates/py", "crates/preload"];

/// Sources that have no fingerprint.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// A manifest that names a workspace crate by a path that is missing in the workspace.
    #[error("{0}: {1}")]
    Manifest(PathBuf, String),
}

/// The inputs that crates are compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The hash, 32 hexadecimal digits.
    pub hash: String,
    /// The files that it covers, below the root and sorted. A new file enters by a module
    /// declaration in an existing one.
    pub files: Vec<PathBuf>,
    /// The folders of the workspace crates, sorted.
    pub crates: Vec<String>,
    /// Names, versions and checksums of the other crates, sorted.
    pub locked: Vec<String>,
}

impl Fingerprint {
    /// The fingerprint for crates, given by their folders, in the workspace at `root`.
    ///
    /// # Errors
    /// If a file cannot be read, or a manifest is not understood.
    pub fn of(root: &Path, crates: &[&str]) -> Result<Self, Error> {
        let workspace = manifest::Workspace::parse(&read(root, "Cargo.toml")?);
        let mut open: Vec<String> = crates.iter().map(ToString::to_string).collect();
        let mut members = BTreeSet::new();
        let mut external = BTreeSet::new();
        let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
        let mut files = vec![PathBuf::from("Cargo.toml"), PathBuf::from("Cargo.lock")];
        while let Some(member) = open.pop() {
            if !members.insert(member.clone()) {
                continue;
            }
            let path = format!("{member}/Cargo.toml");
            let text = read(root, &path)?;
            for key in manifest::dependencies(&text) {
                match workspace.member(&key) {
                    Some(folder) => open.push(folder.to_owned()),
                    None => drop(external.insert(key)),
                }
            }
            parts.push((path, manifest::compiled(&text).into_bytes()));
            for file in sources(root, &member)? {
                let bytes = fs::read(root.join(&file))
                    .map_err(|error| Error::Io(root.join(&file), error))?;
                let rust = Path::new(&file).extension().is_some_and(|end| end == "rs");
                let text = if rust {
                    tokens::significant(&bytes)
                } else {
                    bytes
                };
                parts.push((file, text));
            }
        }
        let lock = read(root, "Cargo.lock")?;
        let locked = lock::linked(&lock, &external).map_err(|name| {
            Error::Manifest(root.join("Cargo.lock"), format!("there is no crate {name}"))
        })?;
        parts.sort();
        files.extend(parts.iter().map(|(file, _)| PathBuf::from(file)));
        files.sort();
        parts.push((
            "profiles".into(),
            workspace.compiled(&external).into_bytes(),
        ));
        parts.push(("locked".into(), locked.join("\n").into_bytes()));
        let mut hash = Xxh3::new();
        for (name, content) in &parts {
            for field in [name.as_bytes(), content] {
                hash.update(&(field.len() as u64).to_le_bytes());
                hash.update(field);
            }
        }
        Ok(Fingerprint {
            hash: format!("{:032x}", hash.digest128()),
            files,
            crates: members.into_iter().collect(),
            locked,
        })
    }
}

fn read(root: &Path, file: &str) -> Result<String, Error> {
    let path = root.join(file);
    fs::read_to_string(&path).map_err(|error| Error::Io(path, error))
}

/// The files that a crate is compiled from, below the root.
fn sources(root: &Path, member: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let script = format!("{member}/build.rs");
    if root.join(&script).exists() {
        found.push(script);
    }
    let mut open = vec![format!("{member}/src")];
    while let Some(folder) = open.pop() {
        let path = root.join(&folder);
        let failed = |error| Error::Io(path.clone(), error);
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Editors leave hidden files and copies that end on ~.
            if name.starts_with('.')
                || name.ends_with('~')
                || ["tests", "tests.rs", "snapshots"].contains(&&*name)
            {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            let below = format!("{folder}/{name}");
            if kind.is_dir() {
                open.push(below);
            } else {
                found.push(below);
            }
        }
    }
    Ok(found)
}
