//! # Programs with their own kinds
//!
//! `elanite` simulates with the kinds of topologies, sources and policies that it was compiled
//! with. A program that links Elanite's crates registers more kinds, and its `main` ends in
//! [`main`]. With `ELANITE_SIMULATOR=PROGRAM`, `elanite` sends those [`calls`] that read machine
//! files or simulate to this program instead; everything else, from `run`, `sweep` and `check` to
//! stores and figures, stays as it is.
//!
//! A call is a process: `PROGRAM CALL` reads a JSON argument list from standard input and writes
//! `{"ok": RESULT}`, `{"config": [TEXT, DIAGNOSTICS]}` or `{"run": [MESSAGE, EXIT CODE]}` to
//! standard output. To end a simulation early, `elanite` kills the process. `mpirun`, `prun` and
//! `replay` make no calls: they simulate with Elanite's own kinds.
//!
//! | call | arguments | result |
//! |---|---|---|
//! | `revision` | | the crates' model revision |
//! | `load_machine`, `load_experiment`, `machine_warnings` | file's text and name, changes `KEY=VALUE` | see [`calls`] |
//! | `plan` | machine file's text and name, machine's name, experiment file's text and name, changes, first seed | each point's text, key and parameters |
//! | `simulate` | point's text; several threads | tables by columns, each with type and values; totals; processor time |
//! | `links`, `wiring`, `point_warnings` | point's text | the network's link count; its links; machine's limits |
//! | `undivided` | point's text | why one thread works on the network, or `null` if several may |
//!
//! A program with the allocator [`CountingAllocator`](kernel::memory::CountingAllocator) measures
//! each point's memory (`peak_memory_bytes`); other programs report 0.

use crate::calls::{self, CallFailure, RunResults, USAGE};
use crate::{MODEL_REVISION, Point};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use workload::table::{Table, Value as Cell};

/// Answers the call that the command line names; see the module essay. An unknown call is an error
/// of the caller.
#[cfg(not(target_family = "wasm"))]
pub fn main() -> std::process::ExitCode {
    let call = std::env::args().nth(1).unwrap_or_default();
    let mut arguments = String::new();
    let start = cpu_time::ProcessTime::now();
    let mut answer = std::io::Read::read_to_string(&mut std::io::stdin(), &mut arguments)
        .map_err(|error| CallFailure::Run(format!("standard input: {error}"), USAGE))
        .and_then(|_| answer(&call, &arguments));
    if let ("simulate", Ok(records)) = (&*call, &mut answer) {
        records["cpu_seconds"] = start.elapsed().as_secs_f64().into();
    }
    let answer = answer.map_or_else(|failure| json!(failure), |result| json!({"ok": result}));
    println!("{answer}");
    std::process::ExitCode::SUCCESS
}

/// A call's result, as JSON. With it, a program's tests plan and simulate an experiment.
///
/// # Errors
/// The call's errors, and those for unexpected arguments.
pub fn answer(call: &str, arguments: &str) -> Result<Value, CallFailure> {
    type File = (String, String, Vec<String>);
    match call {
        "revision" => Ok(json!(MODEL_REVISION)),
        "load_experiment" => {
            let (text, file, changes): File = read(arguments)?;
            calls::load_experiment(&text, &file, &changes)
        }
        "load_machine" => {
            let (text, file, changes): File = read(arguments)?;
            calls::load_machine(&text, &file, &changes)
        }
        "machine_warnings" => {
            let (text, file, changes): File = read(arguments)?;
            calls::machine_warnings(&text, &file, &changes)
        }
        "plan" => {
            let (text, file, name, experiment, at, changes, seed): (
                String,
                String,
                String,
                String,
                String,
                Vec<String>,
                u64,
            ) = read(arguments)?;
            let planned = calls::plan((&file, &text), &name, (&at, &experiment), &changes, seed)?;
            Ok(json!(planned))
        }
        "point_warnings" => Ok(json!(point(arguments)?.machine.warnings())),
        "links" => Ok(json!(calls::links(&point(arguments)?))),
        "wiring" => Ok(columns(&calls::wiring(&point(arguments)?))),
        "undivided" => Ok(json!(calls::undivided(&point(arguments)?))),
        "simulate" => {
            let one = |_| point(arguments).map(|point| (point, 1));
            let several = read::<(String, u32)>(arguments);
            let several = several.and_then(|(text, threads)| Ok((read::<Point>(&text)?, threads)));
            let (point, threads) = several.or_else(one)?;
            let point = point.on_threads(threads);
            Ok(simulated(&calls::simulate(&point, None, None)?))
        }
        _ => {
            let message = format!("this program answers no call `{call}`; elanite makes the calls");
            Err(CallFailure::Run(message, USAGE))
        }
    }
}

fn read<T: DeserializeOwned>(arguments: &str) -> Result<T, CallFailure> {
    let wrong = |error| CallFailure::Run(format!("not the arguments of this call: {error}"), USAGE);
    serde_json::from_str(arguments).map_err(wrong)
}

/// The point in a call that has no other argument.
///
/// # Errors
/// Other arguments.
pub fn point(arguments: &str) -> Result<Point, CallFailure> {
    let (text,): (String,) = read(arguments)?;
    read(&text)
}

/// A run's results in the form that stores keep.
pub fn simulated(simulated: &RunResults) -> Value {
    let RunResults {
        records,
        random,
        peak,
    } = simulated;
    let tables = records.tables.all().into_iter();
    let tables: Map<String, Value> = tables
        .map(|(name, table)| (name.to_string(), columns(table)))
        .collect();
    json!({
        "tables": tables,
        "base": records.base,
        "digest": records.digest,
        "packets": records.packets,
        "events": records.events,
        "simulated_ps": records.simulated.as_ps(),
        "random": random,
        "peak_memory_bytes": peak.as_u64(),
    })
}

/// A table by columns: each one's type and values.
fn columns(table: &dyn Table) -> Value {
    let mut lists: Vec<(String, &str, Vec<Value>)> = table
        .columns()
        .into_iter()
        .map(|column| (column.name, column.kind.name(), Vec::new()))
        .collect();
    for row in table.rows() {
        for ((_, _, list), cell) in lists.iter_mut().zip(row) {
            list.push(match cell {
                Cell::None => Value::Null,
                Cell::Bool(value) => value.into(),
                Cell::U32(value) => value.into(),
                Cell::U64(value) => value.into(),
                Cell::F64(value) => value.into(),
                Cell::Text(text) => text.into(),
            });
        }
    }
    let named = lists.into_iter();
    Value::Object(
        named
            .map(|(name, kind, list)| (name, json!((kind, list))))
            .collect(),
    )
}
