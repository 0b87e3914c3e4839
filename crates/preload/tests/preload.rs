//! Programs that run without a simulator, with the library preloaded: they do not notice it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The library as this build has made it.
fn library() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let folder = program.parent().expect("a folder");
    let library = folder.join("libelanite_preload.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// A program in the package `mpich`: `make build`'s, or the one on the path.
fn mpich(name: &str) -> PathBuf {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin");
    let installed = installed.join(name);
    if installed.is_file() {
        installed
    } else {
        PathBuf::from(name)
    }
}

fn preload(command: &mut Command) -> Output {
    let output = command.env("LD_PRELOAD", library()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}; see `make build`"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// Compiles the program and runs it on three ranks.
fn native(compiler: &str) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/preload");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(compiler);
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("native");
    let mut compile = Command::new(mpich(compiler));
    compile
        .arg("-o")
        .arg(&program)
        .arg(sources.join("native.c"));
    let compiled = compile.status();
    let compiled = compiled.unwrap_or_else(|error| panic!("{compiler}: {error}; see `make build`"));
    assert!(compiled.success());
    let output = preload(
        Command::new(mpich("mpiexec"))
            .args(["-n", "3"])
            .arg(&program),
    );
    let text = String::from_utf8(output.stdout).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let expected = [
        "0 of 3: 211 tag 7 sum 309 window 10 5 first 200 child 3 threads many slept well",
        "1 of 3: 11 tag 7 sum 309 window 20 15 first 0 child 3 threads many slept well",
        "2 of 3: 111 tag 7 sum 309 window 0 25 first 100 child 3 threads many slept well",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn mpi_programs_run_as_ever() {
    native("mpicc");
}

#[test]
fn mpi_programs_of_the_standard_binary_interface_run_as_ever() {
    native("mpicc_abi");
}

#[test]
fn interpreters_run_as_ever() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/preload/script.py");
    let output = preload(Command::new("python3").arg(script));
    assert_eq!(output.stdout, b"well\n");
}
