//! Runs a real MPI program over an ideal network (`mpirun::ideal`), in which every message takes a
//! microsecond, regardless of its length and of other traffic.
//!
//! ```text
//! ideal /path/to/libelanite-fi.so /path/to/mpiexec RANKS PROGRAM [ARGUMENT...]
//! ```
//!
//! The provider's tests run on it. The program's output is its own; the last line on stderr
//! summarises the simulation. The exit code is the program's, 2 for a wrong command line, 3 for a
//! deadlock.

use machine::Machine;
use mpirun::options::CollectiveMode;
use mpirun::{Memory, NetworkMode, Options, ProgramRun, RunEnd};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let ranks = words.get(3).and_then(|count| count.parse().ok());
    let (Some(ranks), [_, provider, mpiexec, count, program @ ..]) = (ranks, &words[..]) else {
        eprintln!("ideal: the arguments are PROVIDER MPIEXEC RANKS PROGRAM [ARGUMENT...]");
        return ExitCode::from(2);
    };
    let run = ProgramRun::new(machine(), options(ranks)).expect("there is room for the ranks");
    let provider = PathBuf::from(provider);
    let mut child = Command::new(mpiexec)
        .args(["-n", count])
        .args(program)
        .env(link::PATH_VARIABLE, run.path())
        .env(link::LONGEST_VARIABLE, run.longest().as_u64().to_string())
        .env("LD_PRELOAD", &provider)
        .env("FI_PROVIDER", "elanite")
        .env(
            "FI_PROVIDER_PATH",
            provider.parent().unwrap_or(Path::new("/")),
        )
        .env("MPIR_CVAR_CH4_NETMOD", "ofi")
        .env("MPIR_CVAR_NOLOCAL", "1")
        .env("UCX_MEM_MMAP_HOOK_MODE", "none")
        .env("UCX_MEM_EVENTS", "no")
        .spawn()
        .expect("mpiexec starts");
    let (outcome, results) = run
        .serve(&Arc::default(), child.id())
        .expect("there is room");
    run.end();
    let status = child.wait().expect("it is our child");
    for waiting in &outcome.waiting {
        let call = link::calls::name(waiting.call);
        eprintln!("ideal: rank {} in {call}: {:?}", waiting.rank, waiting.what);
    }
    let (count, digest) = (results.messages.len(), &results.digest);
    eprintln!("ideal: {count} messages, {}, digest {digest}", results.time);
    match outcome.end {
        RunEnd::Deadlock => ExitCode::from(3),
        _ => ExitCode::from(status.code().unwrap_or(1) as u8),
    }
}

fn machine() -> Machine {
    let text = include_str!("../../../machines/es40-qsnet.toml");
    Machine::parse("es40-qsnet", text, &[]).expect("it is shipped")
}

fn options(ranks: u32) -> Options {
    Options {
        ranks,
        universe: 0,
        ranks_per_node: 1,
        placement: None,
        compute: "none".into(),
        sampled: None,
        network: NetworkMode::Ideal,
        memory: Memory::Main,
        collectives: Some(CollectiveMode::Mpi),
        seed: 1,
        limit_time: None,
        timeline: false,
        record: false,
        calls: false,
        checksums: true,
        keep_going: false,
    }
}
