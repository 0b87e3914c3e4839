//! Compiles the engine's fingerprint into the module, which names its build by it.

use std::path::Path;

use provenance::{ENGINE, Fingerprint};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = Fingerprint::of(&root, ENGINE).unwrap_or_else(|error| panic!("{error}"));
    println!("cargo:rustc-env=ELANITE_ENGINE={}", found.hash);
    for file in found.files {
        println!("cargo:rerun-if-changed={}", root.join(file).display());
    }
}
