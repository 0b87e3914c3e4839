//! # The cluster: time, the run loop, and a node as its processes see it
//!
//! Two clocks meet here. Adapters, buses and processes live in events at any picosecond; the fabric
//! lives in cycles. [`Cluster::run_until`] interleaves the two: events that are due no later than a
//! cycle come before the cycle, and the fabric receives the limit to which it may run before the
//! next event. Deliveries and acknowledgements are handled at the time of the fabric's cycle, in
//! the fabric's order. Packets that adapters then hand to the fabric take effect in the next cycle.
//! Events at the same time are ordered by their adapter's place, then by scheduling order.

mod census;
mod failing;
mod host;
mod node;
pub mod series;
mod waiting;
mod world;

pub use census::Census;
pub use node::Node;
pub(crate) use world::World;

use crate::adapter::mmu::context::ContextError;
use crate::adapter::{AdapterEvent, ClusterEvent};
use crate::config::Config;
use crate::faults::Episode;
use crate::memory::Capability;
use crate::meter::Meter;
use crate::{NodeId, Place, Rail};
use fabric::{Broadcast, LinkCounters, LinkId};
use kernel::{Executor, Label, Limits, Livelock, Progress, memory};
use series::MeterSeries;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;
use units::{Bytes, Time};

/// A run's bounds, the flag by which another thread stops it, and its progress observer.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Time, event and memory bounds.
    pub limits: Limits,
    /// Set from outside to end the run with [`Stop::Cancelled`].
    pub cancel: Option<Arc<AtomicBool>>,
    /// Called at each look at the bounds.
    pub observer: Option<Observer>,
}

/// A function that receives a run's progress, such as a page's progress bar.
#[derive(Clone)]
pub struct Observer(Rc<dyn Fn(Progress)>);

impl Observer {
    /// An observer that calls `seen`.
    pub fn new(seen: impl Fn(Progress) + 'static) -> Self {
        Observer(Rc::new(seen))
    }
}

impl Debug for Observer {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("Observer")
    }
}

/// Why a run ended before its end.
#[derive(Debug, Error)]
pub enum Stop {
    /// No event is left, and processes still wait.
    #[error(
        "deadlock at {at}: nothing is left to happen, and these processes wait: {}{}",
        waiting.join(", "),
        packets.as_ref().map_or(String::new(), |packets| format!("\n{packets}"))
    )]
    Deadlock {
        /// Simulated time.
        at: Time,
        /// Names of the processes.
        waiting: Vec<String>,
        /// Packets that wait for each other, if these cause the deadlock.
        packets: Option<Box<fabric::Deadlock>>,
    },
    /// Processes run without end at one moment: a mistake in a model or in its programs.
    #[error("livelock at {at}: {livelock}")]
    Livelock {
        /// Simulated time, which does not advance.
        at: Time,
        /// The process.
        livelock: Livelock,
    },
    /// A bound was passed.
    #[error(transparent)]
    Exceeded(#[from] kernel::LimitError),
    /// The [`Watch`]'s flag was set.
    #[error("the run was cancelled")]
    Cancelled,
}

/// Run loop steps between two checks of the bounds.
const WATCH_INTERVAL: u64 = 1 << 8;

/// How many steps pass between two searches for packets that wait for each other, where broadcasts
/// can do so: other traffic can hide such a deadlock for as long as it lasts.
const DEADLOCK_INTERVAL: u64 = WATCH_INTERVAL << 6;

/// How far the fabric may run, in cycles, before the bounds are looked at.
const LONGEST_STRETCH: u64 = 1 << 16;

/// A simulated cluster; see the crate's essay.
pub struct Cluster {
    world: Rc<RefCell<World>>,
    executor: Executor,
    watch: Watch,
    steps: u64,
    /// Capabilities given out.
    capabilities: Cell<u32>,
    /// Whether broadcasts may wait for each other for ever.
    rivals: bool,
}

impl Cluster {
    /// An idle cluster at time 0.
    pub fn new(config: Config, watch: Watch) -> Self {
        let executor = Executor::new();
        let rivals = config.fabric.broadcast == Broadcast::BySource;
        let world = World::new(config, executor.spawner());
        Cluster {
            world: Rc::new(RefCell::new(world)),
            executor,
            watch,
            steps: 0,
            capabilities: Cell::new(0),
            rivals,
        }
    }

    /// Sets the seed for the hosts' noise streams; the default is 0.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        self.world.borrow_mut().seed = seed;
        self
    }

    /// A node at its adapter on rail 0, for programs in its context 0, which need no protection
    /// from each other.
    ///
    /// # Panics
    /// If the machine has no such node.
    pub fn node(&self, id: NodeId) -> Node {
        self.adapter(Rail::new(0), id)
    }

    /// A node at its adapter on a rail, as [`Cluster::node`]. Contexts, memory and events belong to
    /// one adapter.
    ///
    /// # Panics
    /// If the machine has no such node, or no such rail.
    pub fn adapter(&self, rail: Rail, node: NodeId) -> Node {
        let world = self.world.borrow();
        let tree = world.fabric().topology();
        let (nodes, rails) = (tree.nodes(), tree.rails());
        assert!(
            node.get() < nodes && rail.get() < rails,
            "the machine has {nodes} nodes on {rails} rails, and no node {node} on rail {rail}"
        );
        Node::open(Rc::clone(&self.world), tree.place(rail, node))
    }

    /// Attached nodes.
    pub fn nodes(&self) -> u32 {
        self.world.borrow().fabric().topology().nodes()
    }

    /// Networks that every node is attached to, each by its own adapter.
    pub fn rails(&self) -> u32 {
        self.world.borrow().fabric().topology().rails()
    }

    /// Lets a rail fail at a moment, until it is repaired: all the rail's adapters see that their
    /// links are dead. Packets on their way get lost, even if they would arrive after a repair;
    /// their senders notice it ([`crate::DmaError::is_rail_down`]). Acknowledged data are safe.
    /// Gets, and DMAs that ask for stored bytes ([`crate::Dma::stored`]), fail when no more bytes
    /// can be stored. A rail that is down already stays as it is.
    ///
    /// # Panics
    /// If the machine has no such rail, or the moment is past.
    pub fn fail_rail(&mut self, rail: Rail, at: Time) {
        self.change_rail(rail, at, ClusterEvent::Fails(rail));
    }

    /// Lets a rail work again from a moment on; lost packets stay lost. A rail that works stays as
    /// it is.
    ///
    /// # Panics
    /// As [`Cluster::fail_rail`].
    pub fn repair_rail(&mut self, rail: Rail, at: Time) {
        self.change_rail(rail, at, ClusterEvent::Returns(rail));
    }

    fn change_rail(&mut self, rail: Rail, at: Time, change: ClusterEvent) {
        assert!(
            rail.get() < self.rails() && at >= self.now(),
            "no rail {rail} at {at}"
        );
        let first = self.adapter(rail, NodeId::new(0)).place();
        self.world
            .borrow_mut()
            .schedule(at, first, AdapterEvent::Beyond(change));
    }

    /// A capability that no other processes have.
    pub fn capability(&self) -> Capability {
        self.capabilities.update(|given| given + 1);
        Capability::new(self.capabilities.get())
    }

    /// Attaches processes at some nodes, all with a new capability. A node may occur several times.
    /// All nodes' first processes are in contexts with one number, so are the second ones, and so
    /// on: broadcasts need this.
    ///
    /// # Errors
    /// If an adapter has no context left, or too few numbers are free everywhere.
    ///
    /// # Panics
    /// If the machine lacks one of the nodes.
    pub fn attach(
        &self,
        capability: Capability,
        nodes: impl IntoIterator<Item = NodeId>,
    ) -> Result<Vec<Node>, ContextError> {
        let mut counts = BTreeMap::new();
        let mut rounds: Vec<Vec<Place>> = Vec::new();
        let open = nodes.into_iter().map(|node| {
            let (node, count) = (self.node(node), counts.entry(node).or_insert(0));
            if *count == rounds.len() {
                rounds.push(Vec::new());
            }
            rounds[*count].push(node.place());
            *count += 1;
            (*count - 1, node)
        });
        let open: Vec<(usize, Node)> = open.collect();
        let mut contexts = Vec::new();
        let outcome = rounds.iter().try_for_each(|places| {
            let mut world = self.world.borrow_mut();
            contexts.push(world.memory().attach(places, capability)?);
            Ok(())
        });
        let attached = open.iter().filter_map(|(round, node)| {
            let context = *contexts.get(*round)?;
            Some(node.attached(context, capability))
        });
        let attached: Vec<Node> = attached.collect();
        if outcome.is_err() {
            attached.iter().for_each(Node::detach);
        }
        outcome.map(|()| attached)
    }

    /// Starts a process. Its label appears in deadlock reports.
    pub fn spawn(&mut self, label: impl Into<Label>, process: impl Future<Output = ()> + 'static) {
        self.executor.spawn(label, process);
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.world.borrow().now()
    }

    /// Runs to a moment, that moment's events included.
    ///
    /// # Errors
    /// A bound passed, the run cancelled, or packets that wait for each other. Processes that wait
    /// for ever are no error.
    pub fn run_until(&mut self, end: Time) -> Result<(), Stop> {
        while self.step(end, false)? {}
        self.world.borrow_mut().advance_clock(end);
        Ok(())
    }

    /// Runs until `go_on` returns false, or until no more events are due by `end`. `go_on` is
    /// called after each step with the present time. Returns whether an event is still due; if not,
    /// the clock stands at `end`, unless `end` is [`Time::MAX`]. Processes that wait for ever are
    /// no error.
    ///
    /// # Errors
    /// As [`Cluster::run_until`].
    pub fn run_while(&mut self, end: Time, go_on: impl Fn(Time) -> bool) -> Result<bool, Stop> {
        let due = self.run_due(end, go_on)?;
        if !due && end < Time::MAX {
            self.world.borrow_mut().advance_clock(end);
        }
        Ok(due)
    }

    /// As [`Cluster::run_while`], but the clock stays at the last event.
    ///
    /// # Errors
    /// As [`Cluster::run_until`].
    pub fn run_due(&mut self, end: Time, go_on: impl Fn(Time) -> bool) -> Result<bool, Stop> {
        loop {
            self.run_ready()?;
            if !go_on(self.now()) {
                return Ok(true);
            }
            if !self.step(end, true)? {
                return Ok(false);
            }
        }
    }

    /// Runs until all processes have finished.
    ///
    /// # Errors
    /// A bound passed, the run cancelled, or processes that wait for impossible events.
    pub fn run(&mut self) -> Result<(), Stop> {
        self.run_to_end(None)
    }

    /// As [`Cluster::run`], and cuts the series on the way and at the end. The results are the
    /// same.
    ///
    /// # Errors
    /// As [`Cluster::run`].
    pub fn run_in_periods(&mut self, series: &mut MeterSeries) -> Result<(), Stop> {
        let run = self.run_to_end(Some(series));
        series.cut(self);
        run
    }

    fn run_to_end(&mut self, mut series: Option<&mut MeterSeries>) -> Result<(), Stop> {
        loop {
            self.run_ready()?;
            if self.executor.unfinished_count() == 0 {
                return Ok(());
            }
            if let Some(series) = &mut series
                && self.now() >= series.next()
            {
                series.cut(self);
            }
            if !self.step(Time::MAX, series.is_some())? {
                let packets = self.world.borrow().fabric().deadlock();
                return Err(self.deadlock(packets));
            }
        }
    }

    /// Lets processes run, then handles the next event if it is due by `end`; returns whether one
    /// was. Unless only `one` step is wanted, further steps follow until a process is ready, or it
    /// is time to look at the bounds.
    fn step(&mut self, end: Time, one: bool) -> Result<bool, Stop> {
        self.run_ready()?;
        let bound = self.watch.limits.time.unwrap_or(Time::MAX);
        if self.steps.is_multiple_of(WATCH_INTERVAL) || (bound < Time::MAX && self.now() > bound) {
            self.look()?;
        }
        if self.rivals && self.steps.is_multiple_of(DEADLOCK_INTERVAL) {
            let packets = self.world.borrow().fabric().deadlock();
            if packets.is_some() {
                return Err(self.deadlock(packets));
            }
        }
        let goes_on =
            |steps: u64| !(one || self.executor.is_ready() || steps.is_multiple_of(WATCH_INTERVAL));
        let mut world = self.world.borrow_mut();
        let within = world.run(end.min(bound), &mut self.steps, LONGEST_STRETCH, goes_on);
        if within || end <= bound {
            return Ok(within);
        }
        // The first event beyond the bound shows that the run passes it.
        let beyond = world.run(end, &mut self.steps, LONGEST_STRETCH, |_| false);
        drop(world);
        if beyond {
            self.look()?;
        }
        Ok(beyond)
    }

    /// Lets processes run until all wait.
    fn run_ready(&mut self) -> Result<(), Stop> {
        let run = self.executor.run_ready();
        run.map_err(|livelock| {
            let at = self.now();
            Stop::Livelock { at, livelock }
        })
    }

    /// The error for a run in which some packets, and the processes that wait for the packets,
    /// cannot proceed.
    fn deadlock(&self, packets: Option<fabric::Deadlock>) -> Stop {
        Stop::Deadlock {
            at: self.now(),
            waiting: self.executor.unfinished(),
            packets: packets.map(Box::new),
        }
    }

    /// Looks at the bounds.
    fn look(&self) -> Result<(), Stop> {
        if self
            .watch
            .cancel
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
        {
            return Err(Stop::Cancelled);
        }
        let world = self.world.borrow();
        let progress = Progress {
            time: world.now(),
            events: world.events(),
            memory: memory::current(),
        };
        if let Some(Observer(seen)) = &self.watch.observer {
            seen(progress);
        }
        self.watch.limits.check(progress)?;
        Ok(())
    }

    /// Events so far, at adapters, buses and processes, and in the fabric's control plane.
    pub fn events(&self) -> u64 {
        self.world.borrow().events()
    }

    /// Packets acknowledged so far.
    pub fn packets(&self) -> u64 {
        self.world.borrow().packets()
    }

    /// A meter for DMAs, at zero.
    pub fn meter(&mut self) -> Meter {
        self.world.borrow_mut().flight().add_meter()
    }

    /// A meter's value.
    pub fn metered(&self, meter: Meter) -> Bytes {
        self.world.borrow_mut().flight().metered(meter)
    }

    /// A digest of all packet records so far; equal runs have equal digests.
    pub fn digest(&self) -> String {
        self.world.borrow().digest().hex()
    }

    /// A link's counters so far.
    pub fn link(&self, link: impl Into<LinkId>) -> LinkCounters {
        self.world.borrow_mut().link(link.into())
    }

    /// From here on records the holder of each channel, for a picture of the time from `from` on.
    /// Call it at the run's start: earlier holders are unknown.
    pub fn record(&mut self, from: Time) {
        self.world.borrow_mut().record(from);
    }

    /// Ends the recording that [`record`](Self::record) began; see [`fabric::Network::recorded`].
    /// Times are cycles of [`Config::cycle`].
    pub fn recorded(&mut self) -> Vec<fabric::control::Hold> {
        self.world.borrow_mut().recorded()
    }

    /// From here on counts each link's load separately by the capabilities' shares
    /// ([`Capability::of_share`](crate::memory::Capability::of_share)).
    pub fn tally(&mut self) {
        self.world.borrow_mut().tally();
    }

    /// The tally's counts so far, by link and share; see [`fabric::Network::tallied`].
    pub fn tallied(&self) -> Vec<fabric::Share> {
        self.world.borrow_mut().tallied()
    }

    /// The faults so far: those in [`Config::faults`] in order of occurrence, bit errors first.
    pub fn faults(&self) -> Vec<Episode> {
        self.world.borrow().episodes().to_vec()
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        Config::clone(self.world.borrow().config())
    }

    /// Asserts that packets and flits are conserved, now.
    pub fn check_conservation(&self) {
        self.world.borrow_mut().check_conservation();
    }
}
