//! Records of a run as Python dictionaries of columns.

use kernel::memory;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use units::Bytes;
use workload::Records;

/// A table: names of columns, and the values of each.
macro_rules! table {
    ($py:expr, $rows:expr, { $($name:literal: $value:expr),+ $(,)? }) => {{
        let table = PyDict::new($py);
        $(table.set_item($name, PyList::new($py, $rows.iter().map($value))?)?;)+
        table
    }};
}

/// `rows`, `nodes`, `links`, `switches` and `slices` by columns; loads in MB/s, times in whole picoseconds.
pub fn to_python<'py>(
    py: Python<'py>,
    records: &Records,
    peak: Bytes,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = table!(py, records.rows, {
        "job": |row| row.job.as_deref(),
        "metric": |row| row.metric,
        "unit": |row| row.unit,
        "batch": |row| row.batch,
        "value": |row| row.value,
    });
    let nodes = table!(py, records.nodes, {
        "job": |row| row.job.as_str(),
        "node": |row| row.node,
        "offered": |row| row.offered,
        "accepted": |row| row.accepted,
    });
    let links = table!(py, records.links, {
        "link": |row| row.link,
        "from": |row| row.from.as_str(),
        "to": |row| row.to.as_str(),
        "level": |row| row.level,
        "up": |row| row.up,
        "packets": |row| row.packets,
        "flits": |row| row.flits,
        "busy_ps": |row| row.busy.as_ps(),
        "waiting_ps": |row| row.waiting.as_ps(),
    });
    let switches = table!(py, records.switches, {
        "switch": |row| row.switch,
        "name": |row| row.name.as_str(),
        "level": |row| row.level,
        "packets": |row| row.packets,
        "flits": |row| row.flits,
        "busy_ps": |row| row.busy.as_ps(),
        "waiting_ps": |row| row.waiting.as_ps(),
    });
    let slices = table!(py, records.slices, {
        "slice": |row| row.slice,
        "link": |row| row.link,
        "waiting_ps": |row| row.waiting.as_ps(),
    });
    let all = PyDict::new(py);
    all.set_item("rows", rows)?;
    all.set_item("nodes", nodes)?;
    all.set_item("links", links)?;
    all.set_item("switches", switches)?;
    all.set_item("slices", slices)?;
    all.set_item("digest", &records.digest)?;
    all.set_item("packets", records.packets)?;
    all.set_item("events", records.events)?;
    all.set_item("simulated_ps", records.simulated.as_ps())?;
    all.set_item("peak_memory_bytes", peak.as_u64())?;
    Ok(all)
}

/// Counts every allocation of the extension module, for the peak of each point.
#[global_allocator]
static ALLOCATOR: memory::Metered = memory::Metered::new();
