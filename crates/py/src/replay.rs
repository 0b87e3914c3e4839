//! `GoalTrace`: a trace in GOAL and its replay, as Python sees it. See the crate `goal`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use elan::{Cluster, Stop, Watch};
use goal::replay::{
    Buffers, ReplayFailure as Unplayed, ReplayRegionRow, ReplayResult, on_cluster, on_ideal,
};
use goal::{ANY, Kind, Operation, Trace, TraceNotes};
use kernel::Limits;
use machine::Machine;
use mpirun::Options;
use mpirun::options::NetworkMode;
use mpirun::processors::{Classes, scales};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::Bytes;
use workload::FaultRow;
use workload::LinkRow;
use workload::records::Baseline;

use crate::bridge::{CallFailure, guarded};
use crate::cancel::Cancel;
use crate::records::{of_table, series, table};
use experiment::calls::{self, CANCELLED, DEADLOCK, USAGE};

/// A trace that has been read and checked.
#[pyclass(frozen, module = "elanite._core")]
pub struct GoalTrace {
    trace: Mutex<Option<Trace>>,
    #[pyo3(get)]
    ranks: u32,
    #[pyo3(get)]
    operations: u64,
    /// Labels that stand at a second operation.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// The names of the computations' regions.
    #[pyo3(get)]
    regions: Vec<String>,
}

/// A replay's results, with the machine's records.
struct Results {
    replayed: ReplayResult,
    /// The trace's notes, and the factor from the recording's processor to the machine's.
    notes: TraceNotes,
    processor: Option<f64>,
    /// Why the replay stopped before its end, and the exit code.
    early: Option<(String, i32)>,
    links: Vec<LinkRow>,
    faults: Vec<FaultRow>,
    packets: u64,
    resent: u64,
}

/// A replay's records, and why it stopped before its end, if it did.
type Outcome = (ReplayResult, Option<(String, i32)>);

/// A replay's results.
///
/// # Errors
/// The replay did not begin, or was cancelled.
fn left(replayed: Result<ReplayResult, Unplayed>) -> Result<Outcome, CallFailure> {
    let failure = match replayed {
        Ok(replayed) => return Ok((replayed, None)),
        Err(failure) => failure,
    };
    let text = failure.to_string();
    match failure {
        Unplayed::Stop(Stop::Cancelled, _) => Err(CallFailure::Run(text, CANCELLED)),
        Unplayed::Stop(Stop::Exceeded(_), left) => Ok((*left, Some((text, 1)))),
        Unplayed::Stop(Stop::Deadlock { .. } | Stop::Livelock { .. }, left)
        | Unplayed::Partners(_, left) => Ok((*left, Some((text, DEADLOCK)))),
        Unplayed::Trace(_) | Unplayed::Job(_) | Unplayed::Memory(_) => Err(usage(&text)),
    }
}

/// The names of a trace's regions, in order.
fn names(trace: &Trace) -> Vec<String> {
    let list = trace.notes().regions.iter();
    list.map(|region| region.name.clone()).collect()
}

fn usage(error: &impl ToString) -> CallFailure {
    CallFailure::Run(error.to_string(), USAGE)
}

#[pymethods]
impl GoalTrace {
    #[new]
    #[allow(clippy::needless_pass_by_value)] // arguments from Python are owned
    fn new(py: Python<'_>, file: PathBuf) -> PyResult<GoalTrace> {
        let trace = guarded(py, || Trace::open(&file).map_err(|problem| usage(&problem)))?;
        Ok(GoalTrace {
            ranks: trace.ranks(),
            operations: trace.operations(),
            regions: names(&trace),
            warnings: trace.warnings().iter().map(ToString::to_string).collect(),
            trace: Mutex::new(Some(trace)),
        })
    }

    /// Replays the trace on a machine, once; returns tables by columns, also of a replay that
    /// stopped before its end, for the reason in `early`. `buffered` is the room for sends, per
    /// pair of ranks. `factors` multiply computation times: rows of factors by region, the first
    /// one for computations without a region, and each rank's row; both lists are empty without
    /// factors. Setting `cancel` ends the replay soon.
    #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // as above
    fn replay<'py>(
        &self,
        py: Python<'py>,
        machine_text: &str,
        machine_file: &str,
        overrides: Vec<String>,
        faults: Vec<String>,
        options_json: &str,
        buffered: u64,
        factors: Classes,
        keep: bool,
        cancel: &Cancel,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        let trace = trace.take();
        let trace = trace.ok_or_else(|| PyRuntimeError::new_err("the trace was replayed"))?;
        let flag = cancel.flag();
        let results = guarded(py, move || {
            let machine = calls::machine(machine_text, machine_file, &overrides, &faults)?;
            let options: Options =
                serde_json::from_str(options_json).map_err(|error| usage(&error))?;
            let notes = trace.notes().clone();
            let places = options.places();
            let processor = machine.processor.as_ref();
            let found = scales(&notes, factors, processor, &places);
            let (scales, processor) = found.map_err(|error| usage(&error))?;
            let trace = trace.scaled(scales);
            let results = replay(trace, &machine, &options, (buffered, keep), flag)?;
            Ok(Results {
                notes,
                processor,
                ..results
            })
        })?;
        tables(py, &results)
    }
}

fn replay(
    trace: Trace,
    machine: &Machine,
    options: &Options,
    (buffered, keep): (u64, bool),
    cancel: Arc<AtomicBool>,
) -> Result<Results, CallFailure> {
    let limits = Limits {
        time: options.limit().map_err(|problem| usage(&problem))?,
        ..Limits::default()
    };
    if options.network == NetworkMode::Ideal {
        let replayed = on_ideal(trace, keep, limits, &cancel);
        let (replayed, early) = left(replayed)?;
        return Ok(Results {
            replayed,
            notes: TraceNotes::default(),
            processor: None,
            early,
            links: Vec::new(),
            faults: Vec::new(),
            packets: 0,
            resent: 0,
        });
    }
    let job = options.job(machine).map_err(|problem| usage(&problem))?;
    let watch = Watch {
        limits,
        cancel: Some(cancel),
        ..Watch::default()
    };
    let config = machine.failing_config(&[], options.seed);
    let mut cluster = Cluster::new(config, watch).seeded(options.seed);
    let baseline = Baseline::take(&cluster);
    let buffers = Buffers {
        placement: options.memory.into(),
        sends: Bytes::new(buffered),
    };
    let replayed = on_cluster(trace, &mut cluster, &job, buffers, keep);
    let (replayed, early) = left(replayed)?;
    Ok(Results {
        replayed,
        notes: TraceNotes::default(),
        processor: None,
        early,
        links: baseline.links(&cluster),
        faults: workload::faults::rows(&cluster),
        packets: cluster.packets(),
        resent: workload::faults::recoveries(&cluster).resent,
    })
}

/// A peer or tag, where the operation has one and does not take any.
fn given(operation: Operation, value: u32) -> Option<u32> {
    (operation.kind != Kind::Calc && value != ANY).then_some(value)
}

/// A tag, where the operation has one and does not take any.
fn tag(operation: Operation) -> Option<u32> {
    given(operation, operation.tag).filter(|_| operation.kind.is_tagged())
}

fn tables<'py>(py: Python<'py>, results: &Results) -> PyResult<Bound<'py, PyDict>> {
    let replayed = &results.replayed;
    let ranks = || (0u32..).zip(&replayed.ranks);
    let ranks = table!(py, ranks(), {
        "rank": |(rank, _)| rank,
        "operations": |(_, row)| row.operations,
        "messages_sent": |(_, row)| row.sent,
        "bytes_sent": |(_, row)| row.bytes_sent.as_u64(),
        "messages_received": |(_, row)| row.received,
        "bytes_received": |(_, row)| row.bytes_received.as_u64(),
        "computed_us": |(_, row)| row.computed.as_us_f64(),
        "end_us": |(_, row)| row.end.as_us_f64(),
    });
    let region = |row: &ReplayRegionRow| {
        results
            .notes
            .regions
            .get((row.region as usize).wrapping_sub(1))
    };
    let regions = table!(py, replayed.regions.iter(), {
        "region": |row| row.region,
        "name": |row| region(row).map(|region| region.name.as_str()),
        "bound": |row| region(row).map(|region| region.bound.name()),
        "executions": |row| row.executions,
        "computed_us": |row| row.computed.as_us_f64(),
        "longest_rank": |row| row.longest.0,
        "longest_us": |row| row.longest.1.as_us_f64(),
    });
    let operations = table!(py, replayed.operations.iter(), {
        "rank": |row| row.rank,
        "operation": |row| row.number,
        "kind": |row| row.operation.kind.name(),
        "peer": |row| given(row.operation, row.operation.peer),
        "size": |row| row.operation.size,
        "tag": |row| tag(row.operation),
        "region": |row| (row.operation.region > 0).then_some(row.operation.region),
        "free_us": |row| row.free.as_us_f64(),
        "end_us": |row| row.end.as_us_f64(),
        "sender": |row| row.taken.map(|(rank, _)| rank),
        "sent_by": |row| row.taken.map(|(_, number)| number),
    });
    let waiting = table!(py, replayed.waiting.iter(), {
        "rank": |row| row.rank,
        "operation": |row| row.number,
        "kind": |row| row.operation.kind.name(),
        "peer": |row| given(row.operation, row.operation.peer),
        "size": |row| row.operation.size,
        "tag": |row| tag(row.operation),
        "free_us": |row| row.free.as_us_f64(),
    });
    let series = series(py, &replayed.series)?;
    let rows = || replayed.ranks.iter();
    let one = std::iter::once(results);
    let summary = table!(py, one.clone(), {
        "time_us": |run| run.replayed.time.as_us_f64(),
        "operations": |_| rows().map(|row| row.operations).sum::<u64>(),
        "messages": |_| rows().map(|row| row.sent).sum::<u64>(),
        "bytes": |_| rows().map(|row| row.bytes_sent.as_u64()).sum::<u64>(),
        "packets": |run| run.packets,
        "packets_resent": |run| run.resent,
        "digest": |run| run.replayed.digest.as_str(),
    });
    let all = PyDict::new(py);
    all.set_item("ranks", ranks)?;
    all.set_item("regions", regions)?;
    all.set_item("processor", results.processor)?;
    all.set_item("operations", operations)?;
    all.set_item("waiting", waiting)?;
    all.set_item("links", of_table(py, &results.links)?)?;
    all.set_item("faults", of_table(py, &results.faults)?)?;
    all.set_item("series", series)?;
    all.set_item("summary", summary)?;
    all.set_item("early", results.early.clone())?;
    Ok(all)
}
