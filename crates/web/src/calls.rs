//! The calls from a page, as functions on texts.
//!
//! | call | arguments | result |
//! |---|---|---|
//! | `version` | | model revision, engine fingerprint |
//! | `machines` | | each shipped machine file's name, title and text |
//! | `simulate` | point's text | as in [`program`]; and `latencies` |
//! | others | | see [`program`] |

use crate::observer::{ProgressFn, observer};
use crate::shipped;
use experiment::calls::{self, CallFailure};
use experiment::{MODEL_REVISION, Point, program};
use kernel::statistics::Histogram;
use serde_json::{Value, json};
use units::Bytes;

/// A run's memory: half of the address space, since a growing list needs twice its place.
const ROOM: Bytes = Bytes::from_kb(2 << 20);

/// A call's result, as JSON.
pub fn answer(call: &str, arguments: &str, seen: ProgressFn) -> Result<Value, CallFailure> {
    match call {
        "version" => Ok(json!({"revision": MODEL_REVISION, "engine": env!("ELANITE_ENGINE")})),
        "machines" => shipped::machines(),
        "simulate" => simulate(program::point(arguments)?, seen),
        _ => program::answer(call, arguments),
    }
}

fn simulate(mut point: Point, seen: ProgressFn) -> Result<Value, CallFailure> {
    point.run.max_memory = point.run.max_memory.min(ROOM);
    let simulated = calls::simulate(&point, None, Some(observer(&point, seen)))?;
    let latencies = simulated.records.latencies.iter();
    let listed: Vec<Value> = latencies.map(|(job, times)| bins(job, times)).collect();
    let mut records = program::simulated(&simulated);
    records["latencies"] = listed.into();
    Ok(records)
}

/// A histogram: its bins' least times, and their counts.
fn bins(job: &str, times: &Histogram) -> Value {
    let bins = times.counts().map(|(lower, count)| (lower.as_ps(), count));
    let (lower, count): (Vec<u64>, Vec<u64>) = bins.unzip();
    json!({"job": job, "lower_ps": lower, "count": count})
}
