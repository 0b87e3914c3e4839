//! # A job: nodes that send, or fetch, messages
//!
//! Each node of a job that its pattern gives a destination runs the same program: it waits for the next message of its
//! [`Source`], draws its destination, moves it, and begins again when that is complete. A message is *written* into the
//! destination's memory or, with probability `1 - writes`, *read* from it: a get, which the destination's adapter
//! executes (000 s4.6; [`elan::get`]). Buffers lie in adapter memory (000 s5.2), and all messages to a destination use
//! the same one (000 s4.5).
//!
//! The random streams of a node are named by its job and its number: nothing that one node or job does changes what
//! another draws.

use crate::Distribution;
use crate::pattern::{Destinations, Pattern};
use crate::source::{LARGEST_MESSAGE, Source};
use elan::{Cluster, Dma, Meter, NoContext, Node, NodeId, Placement, Region};
use kernel::random::Stream;
use kernel::statistics::Histogram;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;
use units::{Bytes, Rate};

/// The parameters of a job.
#[derive(Clone, Debug)]
pub struct Job {
    /// What it is called; its random streams are named by it, too.
    pub name: String,
    /// Its nodes, in ascending order.
    pub nodes: Vec<NodeId>,
    /// How they choose their destinations.
    pub pattern: Pattern,
    /// The nodes that serve them, in ascending order, if any do; these may be nodes of this or another job, too.
    pub servers: Vec<NodeId>,
    /// Mean message size.
    pub message: Bytes,
    /// Distribution of message sizes.
    pub sizes: Distribution,
    /// Distribution of inter-arrival times.
    pub arrivals: Distribution,
    /// Mean offered load of each node, above 0.
    pub load: Rate,
    /// Fraction of messages that are written; the others are read. 0 to 1.
    pub writes: f64,
}

/// A job under way: its programs, and what is measured of them.
pub(crate) struct Running<'a> {
    pub job: &'a Job,
    /// The nodes that send, each with its meter.
    pub senders: Vec<(NodeId, Meter)>,
    /// The sources of the senders, run up to the present whatever the programs do.
    arrivals: Vec<Source>,
    progress: Rc<RefCell<Progress>>,
}

/// What the programs of a job tell.
pub(crate) struct Progress {
    /// The sources that the programs take their messages from.
    sources: Vec<Source>,
    /// From arrivals to ends of messages.
    pub latency: Histogram,
    /// Whether latencies count.
    pub measuring: bool,
}

/// Totals of a job at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// Payload stored, for each sender.
    pub stored: Vec<Bytes>,
    /// Payload of messages that have arrived, for each sender.
    pub arrived: Vec<Bytes>,
    /// Payload of all messages that the programs have taken up.
    pub taken: Bytes,
}

impl<'a> Running<'a> {
    /// Starts the programs.
    ///
    /// # Errors
    /// If an adapter has no context left for the job.
    pub fn start(job: &'a Job, cluster: &mut Cluster, seed: u64) -> Result<Self, NoContext> {
        let path = |node: NodeId| format!("{}/node {node}", job.name);
        let size = (job.message, job.sizes);
        let source = |&(node, _): &_| Source::new(seed, &path(node), size, job.load, job.arrivals);

        let destinations = job.pattern.destinations(&job.nodes, &job.servers);
        let nodes = job.nodes.iter().copied().zip(destinations);
        let nodes: Vec<_> = nodes.filter(|(_, there)| !there.is_none()).collect();
        let meters = nodes.iter().map(|&(node, _)| (node, cluster.meter()));
        let senders: Vec<_> = meters.collect();
        let progress = Rc::new(RefCell::new(Progress {
            sources: senders.iter().map(source).collect(),
            latency: Histogram::new(),
            measuring: false,
        }));
        let processes = processes(cluster, &nodes)?;
        let buffers = Rc::new(buffers(&processes));
        for (index, (node, destinations)) in nodes.into_iter().enumerate() {
            let stream = |what| Stream::new(seed, &format!("{}/{what}", path(node)));
            let sender = Sender {
                node: processes[&node].clone(),
                index,
                meter: senders[index].1,
                destinations,
                draws: stream("destinations"),
                writes: job.writes,
                directions: stream("directions"),
                buffers: Rc::clone(&buffers),
                progress: Rc::clone(&progress),
            };
            // No run waits for its end: it has none.
            sender.node.clone().serve(path(node), sender.run());
        }
        Ok(Running {
            job,
            arrivals: senders.iter().map(source).collect(),
            senders,
            progress,
        })
    }

    /// Latencies count from now on.
    pub fn measure(&self) {
        self.progress.borrow_mut().measuring = true;
    }

    /// The latencies of the messages that ended while they counted.
    pub fn latency(&self) -> Histogram {
        self.progress.borrow().latency.clone()
    }

    /// Totals, now.
    pub fn totals(&mut self, cluster: &Cluster) -> Totals {
        for source in &mut self.arrivals {
            source.take_until(cluster.now());
        }
        let stored = self
            .senders
            .iter()
            .map(|&(_, meter)| cluster.metered(meter));
        let sources = &self.progress.borrow().sources;
        Totals {
            stored: stored.collect(),
            arrived: self.arrivals.iter().map(Source::taken).collect(),
            taken: sources.iter().map(Source::taken).sum(),
        }
    }
}

/// A process of the job on each node that sends or is a destination: jobs do not share addresses.
fn processes(
    cluster: &Cluster,
    nodes: &[(NodeId, Destinations)],
) -> Result<BTreeMap<NodeId, Node>, NoContext> {
    let capability = cluster.capability();
    let mut processes = BTreeMap::new();
    let mut attach = |node| {
        if let Entry::Vacant(place) = processes.entry(node) {
            place.insert(cluster.node(node).attach(capability)?);
        }
        Ok(())
    };
    // The nodes of a job mostly share one list of candidates: once is enough.
    let mut seen: Option<&Rc<[NodeId]>> = None;
    for (node, destinations) in nodes {
        attach(*node)?;
        match destinations {
            Destinations::None => {}
            Destinations::One(there) => attach(*there)?,
            Destinations::Any(there, _) if seen.is_some_and(|seen| Rc::ptr_eq(seen, there)) => {}
            Destinations::Any(there, _) => {
                there.iter().copied().try_for_each(&mut attach)?;
                seen = Some(there);
            }
        }
    }
    Ok(processes)
}

/// One buffer of each process.
fn buffers(processes: &BTreeMap<NodeId, Node>) -> BTreeMap<NodeId, Region> {
    let reserve = |process: &Node| process.reserve(Placement::Adapter, LARGEST_MESSAGE);
    let buffers = processes
        .iter()
        .map(|(&node, process)| (node, reserve(process)));
    buffers.collect()
}

/// The program of one node.
struct Sender {
    node: Node,
    /// Which of the senders it is.
    index: usize,
    meter: Meter,
    destinations: Destinations,
    draws: Stream,
    writes: f64,
    directions: Stream,
    buffers: Rc<BTreeMap<NodeId, Region>>,
    progress: Rc<RefCell<Progress>>,
}

impl Sender {
    async fn run(mut self) {
        let own = self.buffers[&self.node.id()].start();
        loop {
            let arrival = self.progress.borrow().sources[self.index].next_arrival();
            self.node.sleep_until(arrival).await;
            let message = self.progress.borrow_mut().sources[self.index].take();
            let there = self.buffers[&self.destinations.draw(&mut self.draws)].start();
            let write = self.directions.uniform_f64() < self.writes;
            let (from, to) = if write { (own, there) } else { (there, own) };
            let dma = Dma::new(from, to, message.size).metered(self.meter);
            self.node
                .dma(dma)
                .await
                .expect("the buffers are as long as any message");
            let mut progress = self.progress.borrow_mut();
            if progress.measuring {
                progress.latency.record(self.node.now() - message.arrival);
            }
        }
    }
}
