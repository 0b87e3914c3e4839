//! # Lists of flows
//!
//! A flow has a source, a destination, a size in bytes, a start and a traffic class. A list has any
//! number of flows; they depend only on their starts, as in network simulators' flow files. Each
//! flow is one remote DMA, written to its destination: a node's flows share its adapter by the
//! machine's parameters (queue, engines, time slices), and their packets share its link.
//!
//! The *flow completion time* (FCT) runs from a flow's start until its sender knows that all bytes
//! have been stored, the last acknowledgement included. The *ideal* is the same flow's FCT alone on
//! the idle machine without faults: it is simulated, one flow after the other, each from an idle
//! network. The *FCT slowdown* is the FCT over the ideal. Percentiles use the nearest rank: with
//! fewer than 1,000 flows, p99.9 is the largest value.
//!
//! *Bounds.* The DMA queue of a node's adapter bounds its flows under way, one descriptor each
//! ([`elan::DmaError::QueueFull`]); the others wait at their host, in the order of their starts,
//! and the wait counts. On a machine with several rails the policy picks each flow's rails, and the
//! bound is 16.
//!
//! Limits: a flow has at most [`LARGEST_MESSAGE`](crate::source::LARGEST_MESSAGE) bytes, and starts
//! at a time, not when another flow ends. A flow that faults have ended has no FCT.

use crate::Failure;
use crate::faults;
use crate::rows::{FlowRow, MetricRow};
use elan::{
    Capability, Cluster, ContextError, Dma, DmaError, Node, NodeId, Placement, Rail, Region,
};
use kernel::Signal;
use rails::{Attachment, Process, Rails};
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use typed_index_collections::TiVec;
use units::{Bytes, Time};

/// A list's flows under way at a node with several rails: each is a process of the policy, and
/// adapters support few.
const MOST_OVER_RAILS: u32 = 16;

/// A flow in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// When it starts, from the list's start.
    pub start: Time,
    /// The node that sends.
    pub source: NodeId,
    /// The node that receives, another one.
    pub destination: NodeId,
    /// Its bytes, at least one.
    pub size: Bytes,
    /// Its packets' traffic class.
    pub class: u8,
}

/// A list of flows.
#[derive(Clone, Debug)]
pub struct Flows {
    /// The list's name.
    pub name: String,
    /// The flows, in any order.
    pub flows: Vec<Flow>,
    /// Where the buffers lie.
    pub memory: Placement,
    /// When the list starts, after the warm-up.
    pub start: Time,
}

/// A flow's endpoint at a node: a process that belongs to the list, with a buffer.
enum End {
    /// On machines with one rail.
    One(Node, Region),
    /// On machines with several rails.
    Several(Attachment),
}

impl End {
    fn new(
        (cluster, rails): (&Cluster, Option<&Rails>),
        (node, capability): (NodeId, Capability),
        memory: (Placement, Bytes),
    ) -> Result<Self, ContextError> {
        let attach = |rail: Rail| {
            let process = cluster.adapter(rail, node).attach(capability)?;
            let buffer = process.reserve(memory.0, memory.1);
            Ok((process, buffer))
        };
        let Some(rails) = rails else {
            let (node, buffer) = attach(Rail::new(0))?;
            return Ok(End::One(node, buffer));
        };
        let adapters = Rail::all(cluster.rails()).map(attach);
        let adapters: Vec<_> = adapters.collect::<Result<_, ContextError>>()?;
        let (processes, buffers): (TiVec<_, _>, TiVec<_, _>) = adapters.into_iter().unzip();
        Ok(End::Several(rails.attach(processes, buffers)))
    }

    /// The process at the adapter of rail 0.
    fn node(&self) -> &Node {
        match self {
            End::One(node, _) => node,
            End::Several(attachment) => attachment.adapter(Rail::new(0)),
        }
    }
}

/// A node's places for flows under way.
#[derive(Default)]
struct Places {
    /// Those that are free, each with the process that picks rails, where there are several.
    free: Vec<Option<Process>>,
    /// Free places that belong to flows which have waited for them.
    promised: usize,
    /// Flows that wait, in the order of their starts.
    waiting: VecDeque<Signal>,
}

/// A list under way.
pub(crate) struct RunningFlows {
    flows: Vec<Flow>,
    ends: BTreeMap<(NodeId, u8), End>,
    places: BTreeMap<NodeId, RefCell<Places>>,
    /// The completion time of each finished flow.
    done: RefCell<Vec<Option<Time>>>,
    /// The first error that no fault has caused.
    failed: RefCell<Option<DmaError>>,
}

impl RunningFlows {
    /// A list's processes, without any flow.
    fn idle(
        list: &Flows,
        (cluster, rails): (&Cluster, Option<&Rails>),
        share: u8,
    ) -> Result<Rc<Self>, Failure> {
        let right = cluster.capability().of_share(share);
        let longest = list.flows.iter().map(|flow| flow.size).max();
        let memory = (list.memory, longest.unwrap_or_default());
        let mut ends = BTreeMap::new();
        let mut counts: BTreeMap<NodeId, u32> = BTreeMap::new();
        for flow in &list.flows {
            for node in [flow.source, flow.destination] {
                if let Entry::Vacant(place) = ends.entry((node, flow.class)) {
                    let capability = right.in_traffic_class(flow.class);
                    place.insert(End::new((cluster, rails), (node, capability), memory)?);
                }
            }
            *counts.entry(flow.source).or_default() += 1;
        }
        let most = match rails {
            Some(_) => MOST_OVER_RAILS,
            None => cluster.config().adapter.queue,
        };
        let places = counts.into_iter().map(|(node, count)| {
            let process = |index| rails.map(|rails| rails.process(node, index));
            let places = Places {
                free: (0..count.min(most)).map(process).collect(),
                ..Places::default()
            };
            (node, RefCell::new(places))
        });
        Ok(Rc::new(RunningFlows {
            places: places.collect(),
            ends,
            done: RefCell::new(vec![None; list.flows.len()]),
            failed: RefCell::default(),
            flows: list.flows.clone(),
        }))
    }

    /// Starts the flows; `begin` is the list's start, and `share` its share of links.
    ///
    /// # Errors
    /// If an adapter has no context left.
    pub fn start(
        list: &Flows,
        machine: (&Cluster, Option<&Rails>),
        (begin, share): (Time, u8),
    ) -> Result<Rc<Self>, Failure> {
        let running = RunningFlows::idle(list, machine, share)?;
        // Simultaneous flows start in list order.
        let mut order: Vec<usize> = (0..list.flows.len()).collect();
        order.sort_by_key(|&number| list.flows[number].start);
        for number in order {
            running.launch(number, begin + list.flows[number].start, &list.name);
        }
        Ok(running)
    }

    /// Starts a flow at a moment.
    fn launch(self: &Rc<Self>, number: usize, begin: Time, name: &str) {
        let node = self.end(number).node().clone();
        let running = Rc::clone(self);
        let label = format!("{name}, flow {number}");
        node.clone().spawn(label, async move {
            node.sleep_until(begin).await;
            running.run(number, begin).await;
        });
    }

    /// A flow's end at its source.
    fn end(&self, number: usize) -> &End {
        let flow = &self.flows[number];
        &self.ends[&(flow.source, flow.class)]
    }

    async fn run(&self, number: usize, begin: Time) {
        let flow = self.flows[number];
        let (from, to) = (
            self.end(number),
            &self.ends[&(flow.destination, flow.class)],
        );
        let mut process = self.place(flow.source).await;
        let moved = match (from, to, &mut process) {
            (End::One(node, own), End::One(_, there), _) => {
                node.dma(Dma::new(own.start(), there.start(), flow.size))
                    .await
            }
            (End::Several(own), End::Several(there), Some(process)) => {
                process.put(own, there, flow.size, None).await
            }
            _ => unreachable!("all ends are of one machine"),
        };
        self.leave(flow.source, process);
        let node = from.node();
        match moved {
            Ok(()) => self.done.borrow_mut()[number] = Some(node.now() - begin),
            Err(error) if node.lists_faults() && faults::caused(&error) => {}
            Err(error) => {
                self.failed.borrow_mut().get_or_insert(error);
            }
        }
    }

    /// A node's place, when it is free.
    async fn place(&self, node: NodeId) -> Option<Process> {
        let wait = {
            let mut places = self.places[&node].borrow_mut();
            if places.free.len() > places.promised {
                return places.free.pop().expect("there is one");
            }
            let signal = Signal::new();
            places.waiting.push_back(signal.clone());
            signal
        };
        wait.wait().await;
        let mut places = self.places[&node].borrow_mut();
        places.promised -= 1;
        places.free.pop().expect("it was promised")
    }

    /// A flow gives its place back.
    fn leave(&self, node: NodeId, process: Option<Process>) {
        let mut places = self.places[&node].borrow_mut();
        places.free.push(process);
        if let Some(next) = places.waiting.pop_front() {
            places.promised += 1;
            next.fire();
        }
    }

    /// Each flow's completion time.
    ///
    /// # Errors
    /// The first error that no fault has caused.
    pub fn finish(&self) -> Result<Vec<Option<Time>>, Failure> {
        match self.failed.take() {
            Some(error) => Err(error.into()),
            None => Ok(self.done.take()),
        }
    }
}

/// The key of a flow's ideal.
type Kind = (NodeId, NodeId, Bytes, u8);

fn kind(flow: &Flow) -> Kind {
    (flow.source, flow.destination, flow.size, flow.class)
}

/// The FCT of each listed flow alone, on an idle machine without faults.
///
/// # Errors
/// See [`Failure`].
pub(crate) fn ideals(list: &Flows, mut cluster: Cluster) -> Result<Vec<Time>, Failure> {
    let mut known: BTreeMap<Kind, Time> = BTreeMap::new();
    let rails = crate::traffic::rails(&cluster)?;
    let first = |flow: &&Flow| known.insert(kind(flow), Time::ZERO).is_none();
    let different: Vec<Flow> = list.flows.iter().filter(first).copied().collect();
    // All use one list's processes, so that contexts suffice; each starts when the one before it
    // has left the network.
    let all = Flows {
        flows: different,
        ..list.clone()
    };
    let running = RunningFlows::idle(&all, (&cluster, rails.as_ref()), 0)?;
    let cycle = cluster.config().cycle.as_ps();
    for (number, flow) in all.flows.iter().enumerate() {
        // At the start of a network cycle, like a flow that starts after whole cycles.
        let begin = cluster.now().as_ps().next_multiple_of(cycle);
        running.launch(number, Time::from_ps(begin), "ideal");
        cluster.run()?;
        let fct = running.done.borrow()[number];
        let Some(fct) = fct else {
            running.finish()?;
            unreachable!("a machine without faults loses no flow");
        };
        known.insert(kind(flow), fct);
        // Packets still under way need no longer than the flow did.
        cluster.run_until(cluster.now() + fct)?;
    }
    Ok(list.flows.iter().map(|flow| known[&kind(flow)]).collect())
}

/// The size classes, each with its largest size.
const CLASSES: [(&str, u64); 5] = [
    ("to 10 KB", 10 << 10),
    ("10 KB to 100 KB", 100 << 10),
    ("100 KB to 1 MB", 1 << 20),
    ("1 MB to 10 MB", 10 << 20),
    ("over 10 MB", u64::MAX),
];

/// A list's results: over all flows and, if there are several size classes, per class, with the
/// class name behind the list's.
pub(crate) fn results(name: &str, flows: &[FlowRow]) -> Vec<MetricRow> {
    let mut rows = of_some(name, flows.iter());
    let mut least = 0;
    let mut classes = Vec::new();
    for (class, most) in CLASSES {
        let here = flows
            .iter()
            .filter(|flow| (least..=most).contains(&flow.size));
        let here: Vec<&FlowRow> = here.collect();
        if !here.is_empty() {
            classes.push((class, here));
        }
        least = most.saturating_add(1);
    }
    if classes.len() > 1 {
        for (class, here) in classes {
            rows.extend(of_some(&format!("{name}, {class}"), here.into_iter()));
        }
    }
    rows
}

/// The results for some flows.
fn of_some<'a>(name: &str, flows: impl Iterator<Item = &'a FlowRow> + Clone) -> Vec<MetricRow> {
    let row = |metric, unit, value| MetricRow::new(metric, unit, value).of_job(name);
    let mut rows = vec![row("flows", "", flows.clone().count() as f64)];
    let fcts = flows.clone().filter_map(|flow| Some(flow.fct?.as_us_f64()));
    let slowdowns = flows.filter_map(|flow| flow.slowdown);
    for (metrics, unit, mut values) in [
        (FCT, "us", fcts.collect::<Vec<f64>>()),
        (SLOWDOWN, "", slowdowns.collect()),
    ] {
        if values.is_empty() {
            continue;
        }
        values.sort_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        rows.push(row(metrics[0], unit, mean));
        for (metric, per_mille) in metrics[1..].iter().zip([500, 990, 999]) {
            rows.push(row(metric, unit, rank(&values, per_mille)));
        }
    }
    rows
}

/// Mean, median, p99 and p99.9 for completion times, and for these over the ideal.
const FCT: [&str; 4] = ["fct_mean", "fct_p50", "fct_p99", "fct_p99_9"];
const SLOWDOWN: [&str; 4] = [
    "fct_slowdown_mean",
    "fct_slowdown_p50",
    "fct_slowdown_p99",
    "fct_slowdown_p99_9",
];

/// The least of the sorted values that is not exceeded by the given share, in thousandths.
fn rank(values: &[f64], per_mille: usize) -> f64 {
    values[(values.len() * per_mille).div_ceil(1000) - 1]
}
