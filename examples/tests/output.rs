//! Every example runs on the papers' `QsNET` machine, and its table of simulated times stays
//! unchanged; one example shows that the machine is the reader's choice, and the error for a wrong
//! one.

use std::path::Path;
use std::process::{Command, Output};

fn output(program: &str, arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    command.output().expect("the example starts")
}

fn printed(program: &str, arguments: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = output(program, arguments);
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success() && said.is_empty(), "{status}: {said}");
    String::from_utf8(stdout).expect("the example prints text")
}

#[test]
fn put_get() {
    insta::assert_snapshot!("put_get", printed(env!("CARGO_BIN_EXE_put_get"), &[]));
}

#[test]
fn put_get_on_the_second_generation() {
    let machine = ["machines/opteron-qsnet2.toml"];
    insta::assert_snapshot!(
        "put_get_qsnet2",
        printed(env!("CARGO_BIN_EXE_put_get"), &machine)
    );
}

#[test]
fn tports() {
    insta::assert_snapshot!("tports", printed(env!("CARGO_BIN_EXE_tports"), &[]));
}

#[test]
fn shmem() {
    insta::assert_snapshot!("shmem", printed(env!("CARGO_BIN_EXE_shmem"), &[]));
}

/// The table that the Python tests compare with that of the C programs.
#[test]
fn shmem_times() {
    insta::assert_snapshot!(
        "shmem_times",
        printed(env!("CARGO_BIN_EXE_shmem_times"), &[])
    );
}

/// The table that the Python tests compare with that of the C programs: the quick tests only its
/// rows for two processes.
#[test]
#[ignore = "collective calls of 64 processes take most of a minute without optimisation"]
fn elan_times() {
    insta::assert_snapshot!("elan_times", printed(env!("CARGO_BIN_EXE_elan_times"), &[]));
}

#[test]
fn mpi() {
    insta::assert_snapshot!("mpi", printed(env!("CARGO_BIN_EXE_mpi"), &[]));
}

#[test]
fn collectives() {
    insta::assert_snapshot!(
        "collectives",
        printed(env!("CARGO_BIN_EXE_collectives"), &[])
    );
}

#[test]
fn a_machine_that_is_none_ends_with_an_error() {
    let Output { status, stderr, .. } =
        output(env!("CARGO_BIN_EXE_mpi"), &["no-such-machine.toml"]);
    assert_eq!(status.code(), Some(1));
    let said = String::from_utf8_lossy(&stderr);
    assert!(said.starts_with("no-such-machine.toml: "), "{said}");
}
