//! Records of a run as Python dictionaries of columns.

use fabric::{LinkId, Wiring, topology::End};
use kernel::memory;
use noise::Measurement;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use units::Bytes;
use workload::{AllocationRow, LinkRow, Records};

/// A table: names of columns, and the values of each.
macro_rules! table {
    ($py:expr, $rows:expr, { $($name:literal: $value:expr),+ $(,)? }) => {{
        let table = PyDict::new($py);
        $(table.set_item($name, PyList::new($py, $rows.map($value))?)?;)+
        table
    }};
}

pub(crate) use table;

/// `rows`, `nodes`, `links`, `switches`, `slices`, `distribution`, `deadlock` and `allocation` by columns; loads in MB/s,
/// times in whole picoseconds.
pub fn to_python<'py>(
    py: Python<'py>,
    records: &Records,
    peak: Bytes,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = table!(py, records.rows.iter(), {
        "job": |row| row.job.as_deref(),
        "metric": |row| row.metric,
        "unit": |row| row.unit,
        "batch": |row| row.batch,
        "value": |row| row.value,
    });
    let nodes = table!(py, records.nodes.iter(), {
        "job": |row| row.job.as_str(),
        "node": |row| row.node,
        "offered": |row| row.offered,
        "accepted": |row| row.accepted,
    });
    let switches = table!(py, records.switches.iter(), {
        "switch": |row| row.switch,
        "name": |row| row.name.as_str(),
        "level": |row| row.level,
        "packets": |row| row.packets,
        "flits": |row| row.flits,
        "busy_ps": |row| row.busy.as_ps(),
        "waiting_ps": |row| row.waiting.as_ps(),
    });
    let slices = table!(py, records.slices.iter(), {
        "slice": |row| row.slice,
        "link": |row| row.link,
        "waiting_ps": |row| row.waiting.as_ps(),
    });
    let distribution = table!(py, records.distribution.iter(), {
        "lower_ps": |row| row.lower.as_ps(),
        "count": |row| row.count,
    });
    let deadlock = table!(py, records.deadlock.iter(), {
        "step": |row| row.step,
        "source": |row| row.packet.0,
        "sequence": |row| row.packet.1,
        "first": |row| row.destinations.0,
        "last": |row| row.destinations.1,
        "switch": |row| row.switch.as_ref().map(|switch| switch.0),
        "switch_name": |row| row.switch.as_ref().map(|switch| switch.1.as_str()),
        "link": |row| row.link,
        "from": |row| row.ends.as_ref().map(|ends| ends.0.as_str()),
        "to": |row| row.ends.as_ref().map(|ends| ends.1.as_str()),
        "channel": |row| row.channel,
        "holder_source": |row| row.holder.map(|holder| holder.0),
        "holder_sequence": |row| row.holder.map(|holder| holder.1),
    });
    let allocation = table!(py, records.allocation.iter(), {
        "rail": |row| row.rail,
        "node": |row| row.node,
        "role": AllocationRow::role,
    });
    let all = PyDict::new(py);
    all.set_item("rows", rows)?;
    all.set_item("nodes", nodes)?;
    all.set_item("links", links(py, &records.links)?)?;
    all.set_item("switches", switches)?;
    all.set_item("slices", slices)?;
    all.set_item("distribution", distribution)?;
    all.set_item("deadlock", deadlock)?;
    all.set_item("allocation", allocation)?;
    all.set_item("digest", &records.digest)?;
    all.set_item("packets", records.packets)?;
    all.set_item("events", records.events)?;
    all.set_item("simulated_ps", records.simulated.as_ps())?;
    all.set_item("peak_memory_bytes", peak.as_u64())?;
    Ok(all)
}

/// What each link did, by columns; times in whole picoseconds.
pub fn links<'py>(py: Python<'py>, rows: &[LinkRow]) -> PyResult<Bound<'py, PyDict>> {
    Ok(table!(py, rows.iter(), {
        "link": |row| row.link,
        "from": |row| row.from.as_str(),
        "to": |row| row.to.as_str(),
        "level": |row| row.level,
        "up": |row| row.up,
        "packets": |row| row.packets,
        "flits": |row| row.flits,
        "busy_ps": |row| row.busy.as_ps(),
        "waiting_ps": |row| row.waiting.as_ps(),
    }))
}

/// Every link of a network, whether it carried anything or not, by columns. `level` is that of its lower end; `switch` is
/// the number of the switch that it leaves, none where it leaves a node.
pub fn wiring<'py>(py: Python<'py>, tree: &dyn Wiring) -> PyResult<Bound<'py, PyDict>> {
    let links = LinkId::all(tree.links());
    Ok(table!(py, links.clone(), {
        "link": |link| link.get(),
        "from": |link| tree.end_name(tree.ends(link).0),
        "to": |link| tree.end_name(tree.ends(link).1),
        "level": |link| tree.link_level(link),
        "up": |link| tree.is_up(link),
        "switch": |link| match tree.ends(link).0 {
            End::Switch { switch, .. } => Some(switch.get()),
            End::Node(_) => None,
        },
    }))
}

/// Counts every allocation of the extension module, for the peak of each point. Simulated processes allocate and free small
/// things all the time, and real programs get on 7% faster than with the allocator of glibc.
#[global_allocator]
static ALLOCATOR: memory::Metered<mimalloc::MiMalloc> = memory::Metered::over(mimalloc::MiMalloc);

/// What a noise test found: times in whole picoseconds, the bins of the detours, and the profile.
pub fn of_noise<'py>(
    py: Python<'py>,
    measurement: &Measurement,
    source: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let detours = measurement.detours();
    let base = measurement.base();
    let bins: Vec<_> = detours.counts().collect();
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
    let distribution = table!(py, bins.iter(), {
        "lower_ps": |bin| bin.0.as_ps(),
        "count": |bin| bin.1,
    });
    all.set_item("distribution", distribution)?;
    all.set_item("profile", measurement.profile(source))?;
    Ok(all)
}
