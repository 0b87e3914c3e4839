//! Real MPI programs over the provider and the ideal network in the example `ideal`, in which every
//! message takes a microsecond. The programs check their received data themselves.
//!
//! They need the MPICH compiler that `make build` installs; without it they are skipped with a
//! message.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder with the MPI library's programs.
fn mpi() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin");
    if folder.join("mpicc").exists() {
        return Some(folder);
    }
    eprintln!("NOT TESTED: there is no {}/mpicc", folder.display());
    None
}

/// Builds a test program.
fn build(mpi: &Path, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    let program = folder.join(name);
    let mut compiler = Command::new(mpi.join("mpicc"));
    compiler.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
    let done = compiler.arg(&program).arg(source).status();
    assert!(done.expect("mpicc runs").success(), "{name}.c");
    program
}

/// The provider under the name by which libfabric knows providers, in its own folder.
fn provider(test: &str) -> PathBuf {
    let place = std::env::current_exe().expect("a test is a program");
    let built = place.with_file_name("libelanite_preload.so");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-provider"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let provider = folder.join("libelanite-fi.so");
    std::fs::copy(&built, &provider).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    provider
}

/// Runs a program over the ideal network.
fn run(name: &str, ranks: u32) -> Option<Output> {
    let mpi = mpi()?;
    let program = build(&mpi, name);
    let place = std::env::current_exe().expect("a test is a program");
    let mut command = Command::new(place.parent()?.with_file_name("examples").join("ideal"));
    command.args([provider(name), mpi.join("mpiexec")]);
    let output = command.arg(ranks.to_string()).arg(program).output();
    Some(output.expect("the example runs"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The example's summary of the simulation.
fn summary(output: &Output) -> String {
    let errors = text(&output.stderr);
    let line = errors.lines().rfind(|line| line.starts_with("ideal: "));
    line.expect("the last word of the example").to_owned()
}

#[test]
fn messages_of_all_lengths_and_kinds() {
    for ranks in [2, 4] {
        let (Some(output), Some(again)) = (run("messages", ranks), run("messages", ranks)) else {
            return;
        };
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{out}{errors}");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.last(), Some(&"all is well"), "{errors}");
        let pings = &lines[..lines.len() - 1];
        assert_eq!(pings.len(), 11);
        for line in pings {
            assert!(line.ends_with(" bytes: 1.000 us"), "{line}");
        }
        assert_eq!(summary(&output), summary(&again), "runs are repeatable");
        assert_eq!(out, text(&again.stdout), "runs are repeatable");
    }
}

#[test]
fn memory_of_others() {
    for ranks in [2, 4] {
        let (Some(output), Some(again)) = (run("windows", ranks), run("windows", ranks)) else {
            return;
        };
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{out}{errors}");
        assert_eq!(out, "all is well\n", "{errors}");
        assert_eq!(summary(&output), summary(&again), "runs are repeatable");
    }
}

#[test]
fn probes_end_when_the_message_is_there() {
    for ranks in [2, 4] {
        let Some(output) = run("probes", ranks) else {
            return;
        };
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{out}{errors}");
        // Times are rank 1's, the end rank 0's: mpiexec passes lines on in the order in which it
        // reads them.
        let (end, times): (Vec<_>, Vec<_>) = out.lines().partition(|line| *line == "all is well");
        assert_eq!(end.len(), 1, "{out}{errors}");
        // The call that claims `MPI_Mprobe`'s message takes its time.
        let ways = ["1.000 us", "1.250 us", "1.000 us"];
        assert_eq!(times, [ways, ways].concat(), "{errors}");
    }
}

#[test]
fn a_deadlock_is_told() {
    for (program, call) in [
        ("deadlock", "MPI_Recv"),
        ("deadlock_of_probes", "MPI_Probe"),
    ] {
        let Some(output) = run(program, 2) else {
            return;
        };
        assert_eq!(output.status.code(), Some(3));
        let errors = text(&output.stderr);
        for rank in 0..2 {
            let line = format!("ideal: rank {rank} in {call}");
            assert!(errors.contains(&line), "{errors}");
        }
    }
}
