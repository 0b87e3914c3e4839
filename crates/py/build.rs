//! The model revision: a hash of the sources of every crate below this one.
//!
//! Finished points are kept under a hash of their content and of this revision. Whatever changes in the model, if only
//! a comment, makes another revision, so that results of an older model are never taken for those of this one.

use std::path::{Path, PathBuf};
use std::{env, fs};

use xxhash_rust::xxh3::Xxh3;

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut files = Vec::new();
    for layer in [
        "units",
        "kernel",
        "fabric",
        "elan",
        "libelan",
        "workload",
        "config",
        "machine",
        "experiment",
    ] {
        let sources = root.join(layer).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        collect(&sources, &mut files);
    }
    files.sort();
    let mut hash = Xxh3::new();
    for file in &files {
        let name = file
            .strip_prefix(&root)
            .expect("the file lies below the root");
        hash.update(name.to_string_lossy().replace('\\', "/").as_bytes());
        hash.update(&fs::read(file).expect("a source file can be read"));
    }
    println!(
        "cargo::rustc-env=MODEL_REVISION={:012x}",
        hash.digest() >> 16
    );
}

/// Appends the files of a folder and of the folders within.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources can be read") {
        let path = entry.expect("a folder of sources can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
