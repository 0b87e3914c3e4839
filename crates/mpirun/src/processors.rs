//! A trace's computation on another machine's processors.
//!
//! A trace with sampled computation has the processor that its times belong to. On a machine with a
//! section `[processor]`, each region's times are scaled from that processor to the machine's: by
//! the step time of the noise test's loop or, where memory limits the region, by a rank's share of
//! its node's memory rate. A machine without the section, and a trace without a processor, leave
//! the times as they are.

use crate::table::{Bottleneck, MeasuringHost};
use goal::{RegionLimit, Scales, TraceNotes};
use machine::ProcessorSection;
use std::collections::BTreeMap;
use units::Rate;

/// The factors of classes of ranks, by region, and each rank's class. See [`Scales::new`].
pub type Classes = (Vec<Vec<f64>>, Vec<u32>);

/// Factors for a replay: those of `classes` times those of the machine's processors, for ranks on
/// these nodes. Also returns the machine's factor for regions that the processor bounds; `None` if
/// the trace's times are left as they are.
///
/// # Errors
/// A memory rate that the trace or the machine lacks for a memory-bound region; classes that do not
/// fit the trace.
pub fn scales(
    notes: &TraceNotes,
    (classes, ranks): Classes,
    processor: Option<&ProcessorSection>,
    nodes: &[u32],
) -> Result<(Scales, Option<f64>), String> {
    let shape = (nodes.len() as u32, notes.regions.len() as u32);
    let (Some(recorded), Some(processor)) = (notes.processor, processor) else {
        let scales = if ranks.is_empty() {
            Scales::default()
        } else {
            Scales::new(classes, ranks, shape)?
        };
        return Ok((scales, None));
    };
    let mut sharers: BTreeMap<u32, u32> = BTreeMap::new();
    for &node in nodes {
        *sharers.entry(node).or_default() += 1;
    }
    let host = MeasuringHost {
        step: recorded.step,
        core_memory: recorded.memory.unwrap_or(Rate::ZERO),
    };
    let factor = |bound, ranks| host.factor(Some(processor), ranks, bound);
    let by_step = factor(Bottleneck::Processor, 1).unwrap_or(1.0);
    let plain = vec![1.0; notes.regions.len() + 1];
    let mut found: BTreeMap<(Option<u32>, u32), u32> = BTreeMap::new();
    let (mut scaled, mut of_ranks) = (Vec::new(), Vec::new());
    for (rank, node) in nodes.iter().enumerate() {
        let (class, sharers) = (ranks.get(rank).copied(), sharers[node]);
        if let Some(&known) = found.get(&(class, sharers)) {
            of_ranks.push(known);
            continue;
        }
        let mut factors =
            class.map_or_else(|| plain.clone(), |class| classes[class as usize].clone());
        for (region, factor_of) in notes.regions.iter().zip(factors.iter_mut().skip(1)) {
            *factor_of *= match region.bound {
                RegionLimit::Processor => by_step,
                RegionLimit::Memory => factor(Bottleneck::Memory, sharers)
                    .filter(|_| recorded.memory.is_some())
                    .ok_or_else(|| lacking(&region.name, recorded.memory.is_some()))?,
            };
        }
        found.insert((class, sharers), scaled.len() as u32);
        of_ranks.push(scaled.len() as u32);
        scaled.push(factors);
    }
    Ok((Scales::new(scaled, of_ranks, shape)?, Some(by_step)))
}

fn lacking(region: &str, recorded: bool) -> String {
    if recorded {
        format!(
            "the region `{region}` is bound by memory, and the machine has neither \
            processor.core_memory nor processor.memory; \
             give one of them"
        )
    } else {
        format!(
            "the region `{region}` is bound by memory, and the trace has no memory rate, since the \
            recording's ranks had \
             different ones; record with equally many ranks on each node"
        )
    }
}

#[cfg(test)]
mod tests;
