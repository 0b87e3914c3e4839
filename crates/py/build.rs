//! Compiles the sources' fingerprints into the extension module, which names its build by them.

use std::path::Path;

use provenance::{ENGINE, Fingerprint, PROGRAM};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, crates) in [("ELANITE_ENGINE", ENGINE), ("ELANITE_SOURCES", PROGRAM)] {
        let found = Fingerprint::of(&root, crates).unwrap_or_else(|error| panic!("{error}"));
        println!("cargo:rustc-env={name}={}", found.hash);
        for file in found.files {
            println!("cargo:rerun-if-changed={}", root.join(file).display());
        }
    }
}
