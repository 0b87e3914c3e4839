//! From a point to its records: a pure function.

use crate::kinds::kind::Setting;
use crate::plan::Point;
use elan::{Cluster, Observer, Stop, Watch};
use kernel::{Bound, LimitError, Limits};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;
use units::{Bytes, Time};
use workload::{Failure, Records, Window};

/// No point runs longer than this in simulated time.
const LONGEST_RUN: Time = Time::from_secs(3600);

/// Why a point has no records.
#[derive(Debug, Error)]
pub enum RunError {
    /// The run exceeded a bound.
    #[error("{0}; {remedy}", remedy = remedy(.0))]
    Exceeded(#[from] LimitError),
    /// The simulated programs wait forever, or run forever at one moment.
    #[error("{0}")]
    Deadlock(Stop),
    /// The machine has no room for the processes, or their memory.
    #[error("{0}")]
    NoRoom(Failure),
    /// A file that the point needs is missing or has changed.
    #[error("{0}")]
    File(String),
    /// The caller asked for the end.
    #[error("the run was cancelled")]
    Cancelled,
}

/// How to raise the bound that was passed.
fn remedy(exceeded: &LimitError) -> String {
    match exceeded.bound {
        Bound::Events(events) => format!(
            "for example with --set run.max_events={}",
            events.saturating_mul(2)
        ),
        Bound::Memory(memory) => {
            let double = Bytes::new(memory.as_u64().saturating_mul(2));
            format!("for example with --set run.max_memory=\"{double}\"")
        }
        Bound::Time(_) => "no run may be longer".to_string(),
    }
}

impl From<Stop> for RunError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Exceeded(exceeded) => RunError::Exceeded(exceeded),
            Stop::Cancelled => RunError::Cancelled,
            Stop::Deadlock { .. } | Stop::Livelock { .. } => RunError::Deadlock(stop),
        }
    }
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stop(stop) => stop.into(),
            Failure::File(text) => RunError::File(text),
            other => RunError::NoRoom(other),
        }
    }
}

/// Runs a point. To set `cancel` from another thread ends the run soon.
///
/// # Errors
/// See [`RunError`].
pub fn simulate(point: &Point, cancel: Option<Arc<AtomicBool>>) -> Result<Records, RunError> {
    simulate_observed(point, cancel, None)
}

/// As [`simulate`], and calls `observer` on the way. The progress begins again in a benchmark that
/// runs several clusters.
///
/// # Errors
/// See [`RunError`].
pub fn simulate_observed(
    point: &Point,
    cancel: Option<Arc<AtomicBool>>,
    observer: Option<Observer>,
) -> Result<Records, RunError> {
    let limits = Limits {
        time: Some(LONGEST_RUN),
        events: Some(point.run.max_events),
        memory: Some(point.run.max_memory),
    };
    let watch = Watch {
        limits,
        cancel,
        observer,
    };
    let made = |mut config: elan::Config| {
        config.fabric.regions = point.regions.max(1);
        config.fabric.threads = point.threads.max(1);
        Cluster::new(config, watch.clone()).seeded(point.seed)
    };
    let cluster = || made(point.machine.failing_config(&point.faults, point.seed));
    let whole = || {
        let mut machine = point.machine.clone();
        machine.fault.clear();
        made(machine.failing_config(&[], point.seed))
    };
    let window = Window {
        warm_up: point.run.warm_up,
        length: point.run.window,
        batches: point.run.batches,
        slices: point.run.slices,
        watch: point.run.watch,
        precision: point.run.precision(),
    };
    let setting = Setting {
        cluster: &cluster,
        whole: &whole,
        window,
        seed: point.seed,
    };
    Ok(point.workload.run(&setting)?)
}
