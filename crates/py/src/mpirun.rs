//! `MpiRun`: a real MPI program on the simulated cluster, as Python sees it. See the crate
//! `mpirun`.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use link::{Departure, StrayReason};
use mpirun::{Options, OptionsProblem, Outcome, ProgramRun, Results};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use units::Time;

use crate::bridge::{CallFailure, guarded};
use crate::cancel::Cancel;
use crate::records::{of_table, series, table};
use experiment::calls::{self, USAGE};

/// A run that ranks can attach to.
#[pyclass(frozen, module = "elanite._core")]
pub struct MpiRun {
    run: ProgramRun,
    results: Mutex<Option<Results>>,
}

type RankSight = (
    Option<u32>,
    bool,
    &'static str,
    &'static str,
    u32,
    u64,
    u32,
    u64,
);

fn failure(problem: OptionsProblem) -> CallFailure {
    match problem {
        OptionsProblem::Table(problems) => problems.into(),
        problem => CallFailure::Run(problem.to_string(), USAGE),
    }
}

#[pymethods]
impl MpiRun {
    #[new]
    #[allow(clippy::needless_pass_by_value)] // arguments from Python are owned
    fn new(
        py: Python<'_>,
        machine_text: &str,
        machine_file: &str,
        overrides: Vec<String>,
        faults: Vec<String>,
        options_json: &str,
    ) -> PyResult<MpiRun> {
        let run = guarded(py, || {
            let machine = calls::machine(machine_text, machine_file, &overrides, &faults)?;
            let options: Result<Options, _> = serde_json::from_str(options_json);
            let options = options.map_err(|error| CallFailure::Run(error.to_string(), USAGE))?;
            ProgramRun::new(machine, options).map_err(failure)
        })?;
        Ok(MpiRun {
            run,
            results: Mutex::default(),
        })
    }

    /// The environment variables that ranks need.
    fn environment<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let variables = PyDict::new(py);
        variables.set_item(link::PATH_VARIABLE, self.run.path())?;
        let longest = self.run.longest().as_u64().to_string();
        variables.set_item(link::LONGEST_VARIABLE, longest)?;
        let slot = self.run.slot().as_u64().to_string();
        variables.set_item(link::SLOT_VARIABLE, slot)?;
        if let Some(plan) = self.run.plan() {
            variables.set_item(link::PLAN_VARIABLE, plan)?;
        }
        Ok(variables)
    }

    /// The part that carries out collective operations: mpi, elan or hardware.
    fn collectives(&self) -> &'static str {
        self.run.collectives().name()
    }

    /// Serves the ranks to the end; returns the outcome as JSON.
    fn serve(&self, py: Python<'_>, cancel: &Cancel, launcher_pid: u32) -> PyResult<String> {
        let flag = cancel.flag();
        let run = &self.run;
        let (outcome, results) = guarded(py, move || {
            let served = run.serve(&flag, launcher_pid);
            served.map_err(failure)
        })?;
        let mut kept = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(results);
        Ok(to_json(&outcome))
    }

    /// Processes of the ranks that have attached. Like every query to the link, this lets other
    /// threads continue meanwhile: the simulator may hold the link for a while.
    fn pids(&self, py: Python<'_>) -> Vec<Option<u32>> {
        py.detach(|| self.run.pids())
    }

    /// Ranks that announced their exit before they had finished, the first one first: how they
    /// exit, and the code of `MPI_Abort`.
    fn left(&self, py: Python<'_>) -> Vec<(u32, &'static str, i32)> {
        let left = py.detach(|| self.run.left()).into_iter();
        left.map(|(rank, how)| match how {
            Departure::Abort(code) => (rank, "abort", code),
            Departure::Error => (rank, "error", 0),
            Departure::Exit => (rank, "exit", 0),
        })
        .collect()
    }

    /// The run's progress: orders other than looks, messages, and for each rank its process,
    /// whether it has its turn, the current and the latest call, the number of calls begun, the
    /// latest one's stack pointer, the number of clock reads, and its local time in picoseconds.
    fn sight(&self, py: Python<'_>) -> (u64, u64, Vec<RankSight>) {
        let sight = py.detach(|| self.run.sight());
        let ranks = sight.ranks.iter().map(|rank| {
            let calls = rank.calls;
            (
                rank.pid,
                rank.runs,
                link::calls::name(rank.call),
                link::calls::name(calls.last),
                calls.count,
                calls.frame,
                calls.readings,
                calls.now,
            )
        });
        (sight.moves, sight.messages, ranks.collect())
    }

    /// Lets all ranks that wait leave at once.
    fn end(&self, py: Python<'_>) {
        py.detach(|| self.run.end());
    }

    /// The table of sampled computation with the served run's measurements, the number of
    /// executions, and the factor from host times to machine times; `None` if computation was not
    /// sampled.
    fn computed(&self) -> Option<(String, u64, f64)> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let computed = results.as_ref()?.computed.as_ref()?;
        Some((computed.text.clone(), computed.executions, computed.factor))
    }

    /// Writes the served run's recording, in GOAL; lines in the head become comments.
    #[allow(clippy::needless_pass_by_value)] // arguments from Python are owned
    fn write_recording(&self, py: Python<'_>, file: PathBuf, head: &str) -> PyResult<()> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let recording = results.as_ref().and_then(|run| run.recording.as_ref());
        let recording =
            recording.ok_or_else(|| PyRuntimeError::new_err("the run was not recorded"))?;
        guarded(py, || {
            let (schedules, notes) = recording.as_ref().map_err(|what| {
                let about = format!("the run cannot be recorded in GOAL: {what}");
                CallFailure::Run(about, USAGE)
            })?;
            let write = || {
                let mut to = BufWriter::new(File::create(&file)?);
                goal::write_text(&mut to, head, schedules, notes)
            };
            let failed =
                |error: io::Error| CallFailure::Run(format!("{}: {error}", file.display()), USAGE);
            write().map_err(failed)
        })
    }

    /// The served run's tables.
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let results = results.as_ref();
        let results = results.ok_or_else(|| PyRuntimeError::new_err("the run was not served"))?;
        tables(py, results, &self.run.pids())
    }
}

fn to_json(outcome: &Outcome) -> String {
    let waiting = outcome.waiting.iter().map(|waiting| {
        json!({
            "rank": waiting.rank,
            "pid": waiting.pid,
            "call": link::calls::name(waiting.call),
            "last": link::calls::name(waiting.last),
            "frame": waiting.frame,
            "what": waiting.what.join("; "),
            "runs": waiting.runs,
        })
    });
    let dead = outcome.dead.iter().map(|dead| {
        json!({
            "rank": dead.rank,
            "call": link::calls::name(dead.call),
            "last": link::calls::name(dead.last),
            "time_us": dead.time.as_us_f64(),
            "stopped": dead.stopped,
        })
    });
    json!({
        "end": outcome.end.name(),
        "dead": dead.collect::<Vec<_>>(),
        "message": outcome.message,
        "lost": outcome.lost,
        "waiting": waiting.collect::<Vec<_>>(),
        "rank": outcome.rank,
        "time_us": outcome.time.as_us_f64(),
        "attached": outcome.attached,
        "absent": outcome.absent,
        "managed": outcome.managed,
        "stray": outcome.stray.map(|(rank, pid, why)| json!({
            "rank": rank,
            "pid": pid,
            "world": match why {
                StrayReason::World(size) => Some(size), StrayReason::Unreached => None
            },
        })),
        "unseen": outcome.unseen,
    })
    .to_string()
}

fn tables<'py>(
    py: Python<'py>,
    results: &Results,
    pids: &[Option<u32>],
) -> PyResult<Bound<'py, PyDict>> {
    let time = |time: Option<Time>| time.map(Time::as_us_f64);
    let messages = table!(py, results.messages.iter(), {
        "source": |row| row.source,
        "destination": |row| row.destination,
        "bytes": |row| row.bytes.as_u64(),
        "tag": |row| row.tag,
        "kind": |row| row.kind.name(),
        "posted_us": |row| row.posted.as_us_f64(),
        "sent_us": |row| time(row.sent),
        "arrived_us": |row| time(row.arrived),
    });
    let calls = table!(py, results.calls.iter(), {
        "rank": |row| row.rank,
        "call": |row| link::calls::name(row.call),
        "begin_us": |row| row.begin.as_us_f64(),
        "end_us": |row| row.end.as_us_f64(),
    });
    let numbered = || (0u32..).zip(&results.ranks);
    let ranks = table!(py, numbered(), {
        "rank": |(rank, _)| rank,
        "node": |(rank, _)| results.nodes[rank as usize],
        "pid": |(rank, _)| pids[rank as usize],
        "messages_sent": |(_, row)| row.sent,
        "bytes_sent": |(_, row)| row.bytes_sent.as_u64(),
        "messages_received": |(_, row)| row.received,
        "bytes_received": |(_, row)| row.bytes_received.as_u64(),
        "calls": |(_, row)| row.calls,
        "mpi_us": |(_, row)| row.in_mpi.as_us_f64(),
        "clocks_us": |(_, row)| row.at_clocks.as_us_f64(),
        "end_us": |(_, row)| row.end.as_us_f64(),
        "file_operations": |(_, row)| row.files.operations,
        "file_bytes_read": |(_, row)| row.files.read,
        "file_bytes_written": |(_, row)| row.files.written,
        "files_us": |(_, row)| row.files.time.as_us_f64(),
        "untimed_operations": |(_, row)| row.files.untimed.operations,
        "untimed_bytes_read": |(_, row)| row.files.untimed.read,
        "untimed_bytes_written": |(_, row)| row.files.untimed.written,
    });
    let series = series(py, &results.series)?;
    let bytes: u64 = results.messages.iter().map(|row| row.bytes.as_u64()).sum();
    let one = std::iter::once(results);
    let summary = table!(py, one.clone(), {
        "time_us": |run| run.time.as_us_f64(),
        "messages": |run| run.messages.len() as u64,
        "bytes": |_| bytes,
        "packets": |run| run.packets,
        "packets_resent": |run| run.resent,
        "events": |run| run.events,
        "digest": |run| run.digest.as_str(),
        "repeatable": |run| run.repeatable,
        "collectives_hardware": |run| run.ways.hardware,
        "collectives_elan": |run| run.ways.elan,
        "collectives_mpi": |run| run.ways.mpi,
    });
    let all = PyDict::new(py);
    all.set_item("messages", messages)?;
    all.set_item("calls", calls)?;
    all.set_item("ranks", ranks)?;
    all.set_item("links", of_table(py, &results.links)?)?;
    all.set_item("faults", of_table(py, &results.faults)?)?;
    all.set_item("series", series)?;
    all.set_item("summary", summary)?;
    Ok(all)
}
