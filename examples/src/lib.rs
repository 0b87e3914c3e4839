//! # Common parts of the example programs: a machine, and a job on it
//!
//! Each program in `src/bin` is complete, checks the data that it moves, and prints simulated
//! times. It runs on the machine file given as its first argument, or on the papers' `QsNET`
//! machine, `machines/es40-qsnet.toml`:
//!
//! ```text
//! cargo run --release --package elanite-examples --bin put_get
//! cargo run --release --package elanite-examples --bin put_get machines/opteron-qsnet2.toml
//! ```
//!
//! | program | library | demonstrates |
//! |---|---|---|
//! | `put_get` | Elan3lib | time and bandwidth for puts and gets between two nodes |
//! | `tports` | Elanlib | a farm: tasks go to requesting workers, by tagged messages from any sender |
//! | `shmem` | Shmem | a histogram with bins on all processes, counted by atomic additions |
//! | `shmem_times` | Shmem | put, get, barrier and broadcast times, beside those of the programs in `benchmarks/shmem` |
//! | `elan_times` | Elanlib | message, put, get and collective call times, beside those of the programs in `benchmarks/elan` |
//! | `mpi` | MPI | the heat equation on a rod: halo exchange that overlaps with computation, and reductions |
//! | `collectives` | Elanlib | barriers and broadcasts by hardware and by software, on 2 nodes, 4, and so on up to all |

use elan::{Cluster, NodeId, Watch};
use libelan::{Pe, ProcessJob};
use machine::Machine;
use std::cell::RefCell;
use std::error::Error;
use std::process::ExitCode;
use std::rc::Rc;

/// A program's result: `()`, or the error that ends it.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// An example's `main`: reads the machine, runs the example on it, and prints errors on standard
/// error.
pub fn main(example: impl FnOnce(&Machine) -> Outcome) -> ExitCode {
    match machine().and_then(|machine| example(&machine)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The machine file given as the first command line word, or the papers' `QsNET` machine.
fn machine() -> Outcome<Machine> {
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines/es40-qsnet.toml");
    let path = std::env::args().nth(1).unwrap_or_else(|| papers.into());
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    Ok(Machine::parse(&path, &text, &[])?)
}

/// A job with one process on each of the machine's first nodes: on `most` nodes, or on all if there
/// are fewer.
///
/// # Errors
/// If the job would have no process.
pub fn job(machine: &Machine, name: &str, most: u32) -> Outcome<ProcessJob> {
    let nodes = machine.cluster_config().fabric.topology.nodes().min(most);
    Ok(ProcessJob::new(name, NodeId::all(nodes), 1)?)
}

/// Runs a program on every process in a job, on its own cluster.
///
/// # Errors
/// The first error that a process returns; a cluster that lacks one of the job's nodes; a deadlock.
pub fn run(
    machine: &Machine,
    job: &ProcessJob,
    program: impl AsyncFn(Pe) -> Outcome + 'static,
) -> Outcome {
    let mut cluster = Cluster::new(machine.cluster_config(), Watch::default());
    let failed = Rc::new(RefCell::new(None));
    let first = Rc::clone(&failed);
    job.launch(&mut cluster, async move |pe| {
        if let Err(error) = program(pe).await {
            first.borrow_mut().get_or_insert(error);
        }
    })?;
    // A process that fails may leave others waiting for ever, so that its error comes before their
    // deadlock.
    let end = cluster.run();
    failed.take().map_or(Ok(()), Err)?;
    Ok(end?)
}
