//! `elanite._core`: the simulator's interface to Python.
//!
//! Arguments are texts, results are JSON and columns: Python plans, stores and draws, but never
//! computes. Every function here is a few lines around another crate; errors and panics cross by
//! one bridge (the module `bridge`). Points are simulated without the interpreter's lock, so that
//! Python's threads run them in parallel.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `bridge`, `cancel` | errors and panics as exceptions; the flag that ends simulations |
//! | `records`, `stored` | results as columns; a store's finished points |
//! | `replay`, `mpirun` | traces and real programs as classes |
//!
//! ## The main path
//!
//! A point, from Python to Python:
//!
//! 1. `lib.rs`: `plan` turns an experiment's text into points, `simulate` runs one.
//! 2. `bridge.rs`: an error or a panic becomes an exception.
//! 3. `records.rs`: the run's tables become dictionaries of columns.
//! 4. `stored.rs`: a finished point is read again, and its digest compared.

mod bridge;
mod cancel;
mod mpirun;
mod records;
mod replay;
mod stored;

use pyo3::pymodule;

/// The extension module.
#[pymodule]
mod _core {
    use experiment::calls::{self, USAGE};
    use experiment::{Experiment, Point};
    use kernel::statistics::Interval;
    use machine::Machine;
    use provenance::{ENGINE as ENGINE_CRATES, Fingerprint, PROGRAM};
    use pyo3::exceptions::{PyOSError, PyValueError};
    use pyo3::prelude::*;
    use pyo3::pybacked::PyBackedBytes;
    use pyo3::types::PyDict;
    use serde_json::{Value, json};
    use std::collections::HashMap;
    use std::path::PathBuf;
    use units::{Bytes, Rate, Time};

    use crate::bridge::{CallFailure, guarded, of_noise};
    #[pymodule_export]
    use crate::cancel::Cancel;
    #[pymodule_export]
    use crate::mpirun::MpiRun;
    use crate::records;
    #[pymodule_export]
    use crate::replay::GoalTrace;
    use crate::stored;

    /// The package version.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The model revision.
    #[pymodule_export]
    const MODEL_REVISION: u32 = experiment::MODEL_REVISION;

    /// The fingerprint of all code that computes points' results.
    #[pymodule_export]
    const ENGINE: &str = env!("ELANITE_ENGINE");

    /// The fingerprint of all compiled code, including runs of real programs.
    #[pymodule_export]
    const SOURCES: &str = env!("ELANITE_SOURCES");

    /// `ENGINE` and `SOURCES` for the checkout at a path. Raises `OSError` if its sources cannot be
    /// read.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)] // arguments from Python are owned
    fn fingerprints(root: PathBuf) -> PyResult<(String, String)> {
        let of = |crates| {
            Fingerprint::of(&root, crates)
                .map(|found| found.hash)
                .map_err(|error| PyOSError::new_err(error.to_string()))
        };
        Ok((of(ENGINE_CRATES)?, of(PROGRAM)?))
    }

    /// A machine file as JSON: name, title, and every parameter with its provenance.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)] // arguments from Python are owned
    fn load_machine(
        py: Python<'_>,
        text: &str,
        file: &str,
        overrides: Vec<String>,
    ) -> PyResult<String> {
        guarded(py, || {
            Ok(calls::load_machine(text, file, &overrides)?.to_string())
        })
    }

    /// The limits that a simulation of a machine file's machine silently keeps to, as JSON: `key`,
    /// `value`, `share`, `message`.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn machine_warnings(
        py: Python<'_>,
        text: &str,
        file: &str,
        overrides: Vec<String>,
    ) -> PyResult<String> {
        guarded(py, || {
            Ok(calls::machine_warnings(text, file, &overrides)?.to_string())
        })
    }

    /// The same for a point's machine.
    #[pyfunction]
    fn point_warnings(py: Python<'_>, point_json: &str) -> PyResult<String> {
        let machine = point(point_json)?.machine;
        guarded(py, || Ok(json!(machine.warnings()).to_string()))
    }

    /// An experiment file as JSON.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn load_experiment(
        py: Python<'_>,
        text: &str,
        file: &str,
        overrides: Vec<String>,
    ) -> PyResult<String> {
        guarded(py, || {
            Ok(calls::load_experiment(text, file, &overrides)?.to_string())
        })
    }

    /// An experiment's points on a machine: for each the point, the key that identifies it and its
    /// parameters.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
    fn plan(
        py: Python<'_>,
        machine_text: &str,
        machine_file: &str,
        experiment_name: &str,
        experiment_text: &str,
        experiment_file: &str,
        overrides: Vec<String>,
        seed: u64,
    ) -> PyResult<Vec<(String, String, String)>> {
        let machine = (machine_file, machine_text);
        let experiment = (experiment_file, experiment_text);
        guarded(py, || {
            calls::plan(machine, experiment_name, experiment, &overrides, seed)
        })
    }

    /// The identity of manifests' points; see `_core.pyi`.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn identify(
        py: Python<'_>,
        manifests: Vec<PyBackedBytes>,
    ) -> PyResult<Vec<Option<stored::PointIdentity>>> {
        guarded(py, || {
            Ok(manifests
                .iter()
                .map(|text| stored::identified(text))
                .collect())
        })
    }

    /// Finished points' digests from their tables; see `_core.pyi`.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn digests(
        points: Vec<(String, u64, u64, u64)>,
        tables: HashMap<String, (Vec<usize>, HashMap<String, stored::ColumnData>)>,
    ) -> Vec<Option<String>> {
        stored::digests(&points, &tables)
    }

    /// The columns in each table's digest.
    #[pyfunction]
    fn hashed(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        stored::hashed(py)
    }

    /// A point's records; see `_core.pyi`. Setting `cancel` ends the simulation soon. Several
    /// `threads` work on a region of the network each.
    #[pyfunction]
    #[pyo3(signature = (point_json, cancel, memory=None, threads=1))]
    fn simulate<'py>(
        py: Python<'py>,
        point_json: &str,
        cancel: &Cancel,
        memory: Option<u64>,
        threads: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut point = point(point_json)?.on_threads(threads);
        if let Some(room) = memory {
            point.run.max_memory = point.run.max_memory.min(Bytes::new(room));
        }
        let flag = cancel.flag();
        let simulated = guarded(py, move || calls::simulate(&point, Some(flag), None))?;
        records::to_python(py, &simulated)
    }

    /// The tables that every point has: each one's name, and for each column its name, type, unit
    /// and description.
    #[pyfunction]
    fn tables() -> Vec<records::Description> {
        records::descriptions()
    }

    /// The default figure of each benchmark kind: its key, the field on the horizontal axis, and
    /// the metrics.
    #[pyfunction]
    fn plots() -> Vec<(&'static str, &'static str, &'static [&'static str])> {
        let plots = experiment::Benchmark::PLOTS.iter();
        plots
            .map(|(key, plot)| (*key, plot.over, plot.metrics))
            .collect()
    }

    /// The noise test on this machine, on the calling thread; see `_core.pyi`. Setting `cancel`
    /// ends it soon.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn measure_noise<'py>(
        py: Python<'py>,
        length: &str,
        compute: &str,
        cpu: Option<u32>,
        source: &str,
        cancel: &Cancel,
    ) -> PyResult<Bound<'py, PyDict>> {
        let flag = cancel.flag();
        let measurement = guarded(py, move || {
            let time = |what: &str, text: &str| {
                let time = text.parse::<Time>();
                time.map_err(|error| CallFailure::Run(format!("{what}: {error}"), USAGE))
            };
            let request = noise::ProbeRequest {
                length: time("the length", length)?,
                compute: time("the computation", compute)?,
                cpu,
            };
            noise::measure(request, &flag).map_err(|error| of_noise(&error))
        })?;
        records::of_noise(py, &measurement, source)
    }

    /// This computer's processor; see `_core.pyi`.
    #[pyfunction]
    fn measure_processor(py: Python<'_>) -> (String, String, String, u32) {
        let found = py.detach(noise::Processor::measure);
        let (step, core_memory) = (found.step.to_string(), found.core_memory.to_string());
        (step, core_memory, found.memory.to_string(), found.cores)
    }

    /// The link count in the network of a point's machine, over all rails and both directions.
    #[pyfunction]
    fn links(point_json: &str) -> PyResult<u32> {
        Ok(calls::links(&point(point_json)?))
    }

    /// Why one thread works on a point's network, for any number of threads; `None` if several may.
    #[pyfunction]
    fn undivided(point_json: &str) -> PyResult<Option<&'static str>> {
        Ok(calls::undivided(&point(point_json)?))
    }

    /// Every link in the network of a point's machine, with its ends.
    #[pyfunction]
    fn wiring<'py>(py: Python<'py>, point_json: &str) -> PyResult<Bound<'py, PyDict>> {
        let point = point(point_json)?;
        records::of_table(py, &calls::wiring(&point))
    }

    /// The mean, and the lower and upper end of the 95% confidence interval, for independent
    /// values.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn interval(values: Vec<f64>) -> (f64, f64, f64) {
        let interval = Interval::of(&values);
        (interval.mean, interval.low, interval.high)
    }

    /// A quantity as a number: sizes in B, rates in MB/s, times in us; `None` if the text is not a
    /// quantity.
    #[pyfunction]
    fn quantity(text: &str) -> Option<(f64, &'static str)> {
        if let Ok(size) = text.parse::<Bytes>() {
            Some((size.as_u64() as f64, "B"))
        } else if let Ok(rate) = text.parse::<Rate>() {
            Some((rate.as_mb_per_second_f64(), "MB/s"))
        } else {
            let time = text.parse::<Time>().ok()?;
            Some((time.as_us_f64(), "us"))
        }
    }

    /// The mistake in a graph as text: the line, from 1 (`None` if the whole is wrong), and a
    /// message; `None` for a valid graph.
    #[pyfunction]
    fn graph_mistake(text: &str) -> Option<(Option<usize>, String)> {
        machine::graph_mistake(text).map(|mistake| (mistake.line, mistake.message))
    }

    /// The same for a graph's forwarding tables, as far as the graph is valid.
    #[pyfunction]
    fn routes_mistake(
        cables: &str,
        terminals: Option<u32>,
        routes: &str,
    ) -> Option<(Option<usize>, String)> {
        machine::routes_mistake(cables, terminals, routes)
            .map(|mistake| (mistake.line, mistake.message))
    }

    /// A job's node numbers, as experiment files write them: a number, or a text as JSON; `None` if
    /// it is wrong.
    #[pyfunction]
    fn nodes(written: &str) -> Option<Vec<u32>> {
        let nodes: experiment::NodeSet = serde_json::from_str(written).ok()?;
        nodes.listed()
    }

    /// The JSON schema for machine or experiment files.
    #[pyfunction]
    fn schema(kind: &str) -> PyResult<String> {
        let schema: Value = match kind {
            "machine" => Machine::schema(),
            "experiment" => Experiment::schema(),
            _ => {
                let message = "there are schemas of `machine` and `experiment`";
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(schema.to_string())
    }

    fn point(json: &str) -> PyResult<Point> {
        serde_json::from_str(json)
            .map_err(|error| PyValueError::new_err(format!("not a point: {error}")))
    }
}
