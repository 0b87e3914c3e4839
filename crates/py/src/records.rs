//! A run's records as Python dictionaries of columns.
//!
//! A table is a dictionary from its column names to their types, by polars' names, and their
//! values. The tables of points are those in [`workload::table`]; this module makes the others.

use elan::series::SeriesRow;
use experiment::calls::RunResults;
use kernel::memory;
use noise::Measurement;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use workload::table::{Cell, Column, Table, Value};
use workload::{BinRow, Tables};

/// A table: column names, and each column's values.
macro_rules! table {
    ($py:expr, $rows:expr, { $($name:literal: $value:expr),+ $(,)? }) => {{
        let table = PyDict::new($py);
        $(table.set_item($name, $crate::records::column($py, $rows.map($value))?)?;)+
        table
    }};
}

pub(crate) use table;

/// A column in Python: its values' type, and the values.
type PyColumn<'py> = (&'static str, Bound<'py, PyList>);

/// A column with these values.
pub(crate) fn column<T: Cell>(
    py: Python<'_>,
    values: impl Iterator<Item = T>,
) -> PyResult<PyColumn<'_>> {
    let list = PyList::empty(py);
    for value in values {
        list.append(object(py, value.value())?)?;
    }
    Ok((T::TYPE.name(), list))
}

fn object<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::None => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::U32(value) => value.into_pyobject(py)?.into_any(),
        Value::U64(value) => value.into_pyobject(py)?.into_any(),
        Value::F64(value) => value.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
    })
}

/// A point's tables, and its totals.
pub fn to_python<'py>(py: Python<'py>, simulated: &RunResults) -> PyResult<Bound<'py, PyDict>> {
    let RunResults {
        records,
        random,
        peak,
    } = simulated;
    let tables = PyDict::new(py);
    for (name, table) in records.tables.all() {
        tables.set_item(name, of_table(py, table)?)?;
    }
    let all = PyDict::new(py);
    all.set_item("tables", tables)?;
    all.set_item("base", &records.base)?;
    all.set_item("digest", &records.digest)?;
    all.set_item("packets", records.packets)?;
    all.set_item("events", records.events)?;
    all.set_item("simulated_ps", records.simulated.as_ps())?;
    all.set_item("random", random)?;
    all.set_item("peak_memory_bytes", peak.as_u64())?;
    Ok(all)
}

/// The parts' utilisation over time, as a share of each period.
pub fn series<'py>(py: Python<'py>, rows: &[SeriesRow]) -> PyResult<Bound<'py, PyDict>> {
    Ok(table!(py, rows.iter(), {
        "time_us": |row| row.begin.as_us_f64(),
        "end_us": |row| row.end.as_us_f64(),
        "thing": |row| row.thing.name(),
        "id": |row| row.id,
        "busy": |row| row.busy.as_us_f64() / (row.end - row.begin).as_us_f64(),
    }))
}

/// A table by columns.
pub fn of_table<'py>(py: Python<'py>, table: &dyn Table) -> PyResult<Bound<'py, PyDict>> {
    let columns = table.columns();
    let lists: Vec<_> = columns.iter().map(|_| PyList::empty(py)).collect();
    for row in table.rows() {
        for (list, value) in lists.iter().zip(row) {
            list.append(object(py, value)?)?;
        }
    }
    let all = PyDict::new(py);
    for (Column { name, kind, .. }, list) in columns.iter().zip(lists) {
        all.set_item(name, (kind.name(), list))?;
    }
    Ok(all)
}

/// A table's description: its name, and for each column its name, type, unit and description.
pub type Description = (
    &'static str,
    Vec<(String, &'static str, &'static str, &'static str)>,
);

/// The tables that every point has, in their order.
pub fn descriptions() -> Vec<Description> {
    let describe = |column: Column| (column.name, column.kind.name(), column.unit, column.about);
    let tables = Tables::default();
    let tables = tables.all().into_iter();
    let columns = |table: &dyn Table| table.columns().into_iter().map(describe).collect();
    tables.map(|(name, table)| (name, columns(table))).collect()
}

/// Counts every allocation in the extension module, for each point's peak. Simulated processes
/// allocate and free small objects all the time, and real programs run 7% faster with this
/// allocator than with glibc's.
#[global_allocator]
static ALLOCATOR: memory::CountingAllocator<mimalloc::MiMalloc> =
    memory::CountingAllocator::over(mimalloc::MiMalloc);

/// A noise test's results: times in whole picoseconds, the detour bins, and the profile.
pub fn of_noise<'py>(
    py: Python<'py>,
    measurement: &Measurement,
    source: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let detours = measurement.detours();
    let base = measurement.base();
    let limit = base / 100;
    let elapsed = measurement.elapsed();
    let long = elapsed.iter().filter(|&&time| time - base >= limit).count();
    let quantile = |share: f64| {
        let detour = detours.quantile(share).expect("there are iterations");
        (base + detour).as_ps()
    };
    let all = PyDict::new(py);
    all.set_item("iterations", elapsed.len())?;
    all.set_item("base_ps", base.as_ps())?;
    all.set_item(
        "mean_ps",
        (base + detours.mean().expect("the same")).as_ps(),
    )?;
    all.set_item("p50_ps", quantile(0.5))?;
    all.set_item("p99_ps", quantile(0.99))?;
    all.set_item("p99_99_ps", quantile(0.9999))?;
    all.set_item("max_ps", quantile(1.0))?;
    all.set_item("above_1_percent", long as f64 / elapsed.len() as f64)?;
    let bins = detours.counts();
    let bins: Vec<_> = bins.map(|(lower, count)| BinRow { lower, count }).collect();
    all.set_item("distribution", of_table(py, &bins)?)?;
    all.set_item("profile", measurement.profile(source))?;
    Ok(all)
}
