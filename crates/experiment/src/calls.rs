//! # Calls: the simulator as functions on texts
//!
//! A front end has files and points as texts. These functions read them and return JSON. The Python
//! extension module makes the calls in its own process. A program with its own kinds answers the
//! same calls from standard input ([`program::main`](crate::program::main)).

use crate::{Experiment, MachineFile, Point, RunError};
use config::{Override, Problems};
use elan::Observer;
use kernel::{memory, random};
use machine::Machine;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Bytes;
use workload::Records;
use workload::wiring::WiringRow;

/// Exit code for a request that cannot be served.
pub const USAGE: i32 = 2;

/// Exit code for simulated processes that wait forever.
pub const DEADLOCK: i32 = 3;

/// Exit code for a run that the user has ended.
pub const CANCELLED: i32 = 130;

/// A call's error.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallFailure {
    /// Diagnostics for a file or an override, rendered and as JSON.
    Config(String, String),
    /// A run's message and exit code.
    Run(String, i32),
}

impl From<Problems> for CallFailure {
    fn from(problems: Problems) -> Self {
        let json = serde_json::to_string(&problems).expect("problems are plain data");
        CallFailure::Config(problems.to_string(), json)
    }
}

impl From<RunError> for CallFailure {
    fn from(error: RunError) -> Self {
        let exit_code = match error {
            RunError::Exceeded(_) | RunError::NoRoom(_) => 1,
            RunError::File(_) => USAGE,
            RunError::Deadlock(_) => DEADLOCK,
            RunError::Cancelled => CANCELLED,
        };
        CallFailure::Run(error.to_string(), exit_code)
    }
}

/// Values for keys, as `KEY=VALUE`.
fn overrides(texts: &[String]) -> Result<Vec<Override>, Problems> {
    texts.iter().map(|text| Override::parse(text)).collect()
}

/// A machine file's machine, with further faults.
///
/// # Errors
/// All mistakes in the file, or a fault's first mistake.
pub fn machine(
    text: &str,
    file: &str,
    changes: &[String],
    faults: &[String],
) -> Result<Machine, Problems> {
    let mut machine = Machine::parse(file, text, &overrides(changes)?)?;
    for text in faults {
        let fault = machine.read_fault(text)?;
        machine.fault.push(fault);
    }
    Ok(machine)
}

/// A machine file: name, title, every parameter with its provenance, and the channel layers of a
/// graph with shortest ways.
///
/// # Errors
/// All mistakes in the file.
pub fn load_machine(text: &str, file: &str, changes: &[String]) -> Result<Value, CallFailure> {
    let machine = machine(text, file, changes, &[])?;
    Ok(json!({
        "name": machine.machine.name,
        "title": machine.machine.title,
        "parameters": machine.parameters(),
        "layers": machine.layers(),
    }))
}

/// The limits that a simulation of a machine file's machine silently keeps to: `key`, `value`,
/// `share`, `message`.
///
/// # Errors
/// All mistakes in the file.
pub fn machine_warnings(text: &str, file: &str, changes: &[String]) -> Result<Value, CallFailure> {
    Ok(json!(machine(text, file, changes, &[])?.warnings()))
}

/// An experiment file.
///
/// # Errors
/// All mistakes in the file.
pub fn load_experiment(text: &str, file: &str, changes: &[String]) -> Result<Value, CallFailure> {
    let (experiment, _) = Experiment::parse(file, text, &overrides(changes)?)?;
    Ok(json!(experiment))
}

/// An experiment's points on a machine, each as three texts: the point, the key that identifies it,
/// and its parameters. `machine` and `experiment` are file names and texts.
///
/// # Errors
/// All mistakes in the files, and in the changes to both.
pub fn plan(
    machine: (&str, &str),
    name: &str,
    experiment: (&str, &str),
    changes: &[String],
    seed: u64,
) -> Result<Vec<(String, String, String)>, CallFailure> {
    let (for_experiment, for_machine): (Vec<_>, Vec<_>) = overrides(changes)?
        .into_iter()
        .partition(|change| Experiment::owns(&change.key));
    let (experiment, document) = Experiment::parse(experiment.0, experiment.1, &for_experiment)?;
    let machine = MachineFile {
        file: machine.0,
        text: machine.1,
        overrides: &for_machine,
    };
    let points = crate::plan(name, (&experiment, &document), &machine, seed)?;
    let texts = |point: &Point| {
        let text = serde_json::to_string(point).expect("a point is plain data");
        let parameters = json!(point.parameters()).to_string();
        (text, point.key(), parameters)
    };
    Ok(points.iter().map(texts).collect())
}

/// A run's results.
#[derive(Debug)]
pub struct RunResults {
    /// The tables.
    pub records: Records,
    /// Whether the run drew random numbers.
    pub random: bool,
    /// The most memory that the run has had.
    pub peak: Bytes,
}

/// Runs a point, and calls `observer` on the way. To set `cancel` from another thread ends the run
/// soon.
///
/// # Errors
/// See [`RunError`].
pub fn simulate(
    point: &Point,
    cancel: Option<Arc<AtomicBool>>,
    observer: Option<Observer>,
) -> Result<RunResults, CallFailure> {
    let run = || random::watch(|| crate::simulate_observed(point, cancel, observer));
    let ((outcome, random), peak) = memory::measure(run);
    Ok(RunResults {
        records: outcome?,
        random,
        peak,
    })
}

/// The link count in the network of a point's machine, over all rails and both directions.
pub fn links(point: &Point) -> u32 {
    point.machine.cluster_config().fabric.topology.links()
}

/// Why one thread works on a point's network, for any number of threads; `None` if several may.
pub fn undivided(point: &Point) -> Option<&'static str> {
    let config = point.machine.failing_config(&point.faults, point.seed);
    if config.faults.is_some() {
        return Some("the network may have faults");
    }
    config.fabric.undivided()
}

/// Every link in the network of a point's machine.
pub fn wiring(point: &Point) -> Vec<WiringRow> {
    workload::wiring::rows(&*point.machine.cluster_config().fabric.topology)
}
