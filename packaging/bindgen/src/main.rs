//! `elanite-bindgen MODULE FOLDER`: the JavaScript around a WebAssembly module, as ES modules for a
//! page.
//!
//! This is `wasm-bindgen --target web` as a program of the workspace: `Cargo.lock` pins the library
//! and the crate `wasm-bindgen` to the same version, without which the two refuse each other.

use std::env;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let [module, folder] = &words[..] else {
        eprintln!("usage: elanite-bindgen MODULE FOLDER");
        return ExitCode::from(2);
    };
    let made = (|| {
        let mut bindgen = Bindgen::new();
        bindgen.input_path(module).web(true)?.typescript(true);
        bindgen
            .remove_name_section(true)
            .remove_producers_section(true);
        bindgen.generate(folder)
    })();
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
