//! # A job: nodes that send, or fetch, messages
//!
//! Each node to which the job's pattern gives a destination runs the same program, in one or more
//! processes. A process waits for the next message of its [`Source`], draws the message's
//! destination, moves the message, and begins again when the move is complete. A message is
//! *written* into the destination's memory or, with probability `1 - writes`, *read* from it: a
//! get, which the destination's adapter executes (petrini2003 s4.6; [`elan::adapter::gets`]). All
//! messages to a destination use the same buffer (petrini2003 s4.5), in adapter memory (petrini2003
//! s5.2) or main memory. A node's processes share its load.
//!
//! On a machine with several rails the policy picks each message's rails ([`rails`]); there
//! messages are only written.
//!
//! A process's random streams are named by its job, its node and its number there: no process
//! changes another's draws.

mod generated;

use crate::Distribution;
use crate::Failure;
use crate::faults;
use crate::pattern::{Destinations, Pattern};
use crate::source::{self, JobOffer, LARGEST_MESSAGE, Message, Source};
use elan::{Cluster, ContextError, Dma, DmaError, Meter, Node, NodeId, Placement, Rail, Region};
use generated::MessageBacklog;
use itertools::Itertools;
use kernel::random::Stream;
use kernel::statistics::Histogram;
use rails::{Attachment, Process, Rails};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use typed_index_collections::TiVec;
use units::{Bytes, Rate};

/// A job's parameters.
#[derive(Clone, Debug)]
pub struct Job {
    /// The job's name, which also names its random streams.
    pub name: String,
    /// The job's nodes, in ascending order.
    pub nodes: Vec<NodeId>,
    /// How the nodes choose their destinations.
    pub pattern: Pattern,
    /// The nodes that serve the job, in ascending order, if any do; they may also be nodes of this
    /// or another job.
    pub servers: Vec<NodeId>,
    /// Mean message size.
    pub message: Bytes,
    /// Message size distribution.
    pub sizes: Distribution,
    /// Inter-arrival time distribution.
    pub arrivals: Distribution,
    /// Its registered [message source](crate::source::register); without one, sizes and gaps are
    /// independent draws.
    pub source: Option<String>,
    /// Mean offered load per node, above 0.
    pub load: Rate,
    /// Fraction of messages that are written; the others are read. 0 to 1; 1 on several rails.
    pub writes: f64,
    /// Where the buffers lie.
    pub memory: Placement,
    /// Processes per node, at least 1, which share its load.
    pub processes: u32,
    /// Its messages' traffic class.
    pub traffic_class: u8,
}

/// A job under way: its programs and measurements.
pub(crate) struct RunningJob<'a> {
    pub job: &'a Job,
    /// The nodes that send, each with its meter.
    pub senders: Vec<(NodeId, Meter)>,
    progress: Rc<RefCell<Progress>>,
}

/// Reports from a job's programs.
pub(crate) struct Progress {
    /// The sources that the programs take their messages from, node by node.
    pub sources: Vec<Source>,
    /// From message arrivals to their ends.
    pub latency: Histogram,
    /// Messages that faults have ended with an error while latencies counted.
    pub failed: u64,
    /// Whether latencies count.
    pub measuring: bool,
}

/// A job's totals at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// Payload stored, for each sender.
    pub stored: Vec<Bytes>,
    /// Payload that has arrived, for each sender.
    pub arrived: Vec<Bytes>,
    /// Payload that the programs have taken up.
    pub taken: Bytes,
}

impl Totals {
    /// Payload stored, over all senders.
    pub fn stored(&self) -> Bytes {
        self.stored.iter().sum()
    }

    /// Payload that has arrived, over all senders.
    pub fn arrived(&self) -> Bytes {
        self.arrived.iter().sum()
    }
}

impl<'a> RunningJob<'a> {
    /// Starts the programs; `rails` where the machine has several. `share` is its share of links.
    ///
    /// # Errors
    /// If an adapter has no context left for the job.
    ///
    /// # Panics
    /// If the job names a source that is not registered; the check of the experiment excludes it.
    pub fn start(
        job: &'a Job,
        cluster: &mut Cluster,
        rails: Option<&Rails>,
        seed: u64,
        share: u8,
    ) -> Result<Self, Failure> {
        let path = |node: NodeId, process: u32| match job.processes {
            1 => format!("{}/node {node}", job.name),
            _ => format!("{}/node {node}/process {process}", job.name),
        };
        let of_node = job.load.as_bytes_per_second();
        let load = Rate::from_bytes_per_second(of_node.div_ceil(job.processes.into()));
        let outside = job.source.as_deref().map(source::registered).transpose();
        let outside = outside.expect("the experiment has been checked");
        let source = |(node, process)| {
            let offered = JobOffer {
                seed,
                path: &path(node, process),
                message: job.message,
                sizes: job.sizes,
                load,
                arrivals: job.arrivals,
            };
            outside.map_or_else(|| Source::new(&offered), |make| Source::of(make(&offered)))
        };

        let destinations = job.pattern.destinations(&job.nodes, &job.servers);
        let nodes = job.nodes.iter().copied().zip(destinations);
        let nodes: Vec<_> = nodes.filter(|(_, there)| !there.is_none()).collect();
        let meters = nodes.iter().map(|&(node, _)| (node, cluster.meter()));
        let senders: Vec<_> = meters.collect();
        let all = senders.iter().map(|&(node, _)| node);
        let all = all.cartesian_product(0..job.processes);
        let progress = Rc::new(RefCell::new(Progress {
            sources: all.clone().map(source).collect(),
            latency: Histogram::new(),
            failed: 0,
            measuring: false,
        }));
        let places = Rc::new(Places::new((job, share), cluster, rails, &nodes)?);
        for (index, (node, process)) in all.enumerate() {
            let sender = index / job.processes as usize;
            let name = path(node, process);
            let stream = |what| Stream::new(seed, &format!("{name}/{what}"));
            let program = Program {
                node: places.node(node),
                own: node,
                index,
                meter: senders[sender].1,
                destinations: nodes[sender].1.clone(),
                draws: stream("destinations"),
                writes: job.writes,
                directions: stream("directions"),
                places: Rc::clone(&places),
                process: rails.map(|rails| rails.process(node, process)),
                progress: Rc::clone(&progress),
            };
            // No run waits for the program's end: the program runs forever.
            program.node.clone().serve(name, program.run());
        }
        Ok(RunningJob {
            job,
            senders,
            progress,
        })
    }

    /// Processes that send.
    pub fn processes(&self) -> usize {
        self.progress.borrow().sources.len()
    }

    /// Latencies count from now on.
    pub fn measure(&self) {
        self.progress.borrow_mut().measuring = true;
    }

    /// Latencies of messages that ended while latencies counted.
    pub fn latency(&self) -> Histogram {
        self.progress.borrow().latency.clone()
    }

    /// Messages that faults have ended with an error while latencies counted.
    pub fn failed(&self) -> u64 {
        self.progress.borrow().failed
    }

    /// The present totals.
    pub fn totals(&self, cluster: &Cluster) -> Totals {
        let stored = self
            .senders
            .iter()
            .map(|&(_, meter)| cluster.metered(meter));
        let sources = &mut self.progress.borrow_mut().sources;
        let of_nodes = sources.chunks_mut(self.job.processes as usize);
        let arrived = |source: &mut Source| source.arrived(cluster.now());
        let arrived = of_nodes.map(|sources| sources.iter_mut().map(arrived).sum());
        Totals {
            stored: stored.collect(),
            arrived: arrived.collect(),
            taken: sources.iter().map(Source::taken).sum(),
        }
    }
}

/// The job's endpoints: its own processes (jobs do not share addresses) on each node that sends or
/// is a destination, each with a buffer.
enum Places {
    /// On machines with one rail.
    One(ByNode<(Node, Region)>),
    /// On machines with several rails.
    Several(ByNode<Attachment>),
}

/// The job's processes on some nodes.
struct ByNode<T>(TiVec<NodeId, Option<T>>);

impl<T> ByNode<T> {
    fn new<E>(
        machine: u32,
        nodes: impl IntoIterator<Item = NodeId>,
        make: impl Fn(NodeId) -> Result<T, E>,
    ) -> Result<Self, E> {
        let mut all: TiVec<NodeId, Option<T>> = NodeId::all(machine).map(|_| None).collect();
        for node in nodes {
            all[node] = Some(make(node)?);
        }
        Ok(ByNode(all))
    }

    fn of(&self, node: NodeId) -> &T {
        let place = self.0[node].as_ref();
        place.expect("the node sends or is a destination")
    }
}

impl Places {
    fn new(
        (job, share): (&Job, u8),
        cluster: &Cluster,
        rails: Option<&Rails>,
        nodes: &[(NodeId, Destinations)],
    ) -> Result<Self, ContextError> {
        let capability = cluster.capability().in_traffic_class(job.traffic_class);
        let capability = capability.of_share(share);
        let attach = |rail: Rail, node: NodeId| {
            let process = cluster.adapter(rail, node).attach(capability)?;
            let buffer = process.reserve(job.memory, LARGEST_MESSAGE);
            Ok((process, buffer))
        };
        let (places, machine) = (places(nodes), cluster.nodes());
        let Some(rails) = rails else {
            let place = |node| attach(Rail::new(0), node);
            return Ok(Places::One(ByNode::new(machine, places, place)?));
        };
        let place = |node| {
            let adapters = Rail::all(cluster.rails()).map(|rail| attach(rail, node));
            let adapters: Vec<_> = adapters.collect::<Result<_, ContextError>>()?;
            let (processes, buffers) = adapters.into_iter().unzip();
            Ok::<_, ContextError>(rails.attach(processes, buffers))
        };
        Ok(Places::Several(ByNode::new(machine, places, place)?))
    }

    /// The job's process on a node, at the adapter of rail 0.
    fn node(&self, node: NodeId) -> Node {
        match self {
            Places::One(places) => places.of(node).0.clone(),
            Places::Several(places) => places.of(node).adapter(Rail::new(0)).clone(),
        }
    }
}

/// Each node that sends or is a destination.
fn places(nodes: &[(NodeId, Destinations)]) -> BTreeSet<NodeId> {
    let mut places = BTreeSet::new();
    // A job's nodes mostly share one candidate list: it is enough to look at the list once.
    let mut seen: Option<&Rc<[NodeId]>> = None;
    for (node, destinations) in nodes {
        places.insert(*node);
        match destinations {
            Destinations::None => {}
            Destinations::One(there) => {
                places.insert(*there);
            }
            Destinations::Any(there, _) if seen.is_some_and(|seen| Rc::ptr_eq(seen, there)) => {}
            Destinations::Any(there, _) => {
                places.extend(there.iter());
                seen = Some(there);
            }
        }
    }
    places
}

/// A process's program.
pub(crate) struct Program {
    pub node: Node,
    own: NodeId,
    /// The process's number at its node.
    pub index: usize,
    meter: Meter,
    destinations: Destinations,
    draws: Stream,
    writes: f64,
    directions: Stream,
    places: Rc<Places>,
    /// The process that picks the rails, where there are several.
    process: Option<Process>,
    pub progress: Rc<RefCell<Progress>>,
}

impl Program {
    async fn run(mut self) {
        let generator = self.process.as_ref().and_then(Process::generator);
        let generated = generator.map(|generator| MessageBacklog::start(&self, generator));
        loop {
            let (message, rails) = match &generated {
                Some(generated) => generated.next(&self).await,
                None => (self.next().await, Vec::new()),
            };
            let there = self.destinations.draw(&mut self.draws);
            let write = self.writes >= 1.0 || self.directions.uniform_f64() < self.writes;
            let moved = self.transfer(there, message.size, (write, rails)).await;
            let mut progress = self.progress.borrow_mut();
            match moved {
                Ok(()) if progress.measuring => {
                    progress.latency.record(self.node.now() - message.arrival);
                }
                Ok(()) => {}
                Err(error) => {
                    let expected = self.node.lists_faults() && faults::caused(&error);
                    assert!(
                        expected,
                        "the buffers hold any message, and there is a way: {error}"
                    );
                    progress.failed += u64::from(progress.measuring);
                }
            }
        }
    }

    /// The next message, when it arrives.
    async fn next(&self) -> Message {
        let arrival = self.progress.borrow().sources[self.index].next_arrival();
        self.node.sleep_until(arrival).await;
        self.progress.borrow_mut().sources[self.index].take()
    }

    /// Moves a message, over the rails that were picked when it was generated, and waits until the
    /// move is complete.
    async fn transfer(
        &mut self,
        there: NodeId,
        size: Bytes,
        (write, rails): (bool, Vec<Rail>),
    ) -> Result<(), DmaError> {
        match &*self.places {
            Places::One(places) => {
                let place = |node: NodeId| places.of(node).1.start();
                let (own, there) = (place(self.own), place(there));
                let (from, to) = if write { (own, there) } else { (there, own) };
                let dma = Dma::new(from, to, size).metered(self.meter);
                self.node.dma(dma).await
            }
            Places::Several(places) => {
                let process = self.process.as_mut().expect("there are several rails");
                let (from, to) = (places.of(self.own), places.of(there));
                let ends = (from, to);
                process.put_over(rails, ends, size, Some(self.meter)).await
            }
        }
    }
}
