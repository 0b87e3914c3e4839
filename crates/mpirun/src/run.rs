//! A run: what it needs, how it ended, what it leaves behind.

use crate::endpoint::Endpoint;
use crate::groups::Ways;
use crate::ideal;
use crate::options::{Collectives, Memory, Network, Options, Problem};
use crate::server::Server;
use crate::tports;
use crate::trace::{CallRow, MessageRow, RankRow};
use crate::watch::Watch;
use elan::series::SeriesRow;
use elan::{Cluster, Matching, Node};
use goal::Schedule;
use kernel::Limits;
use libelan::Job;
use link::{Compute, Leaving, Settings, Simulator, Stray};
use machine::Machine;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Bytes, Time};
use workload::FaultRow;
use workload::LinkRow;

/// The longest message that is not cut: two such messages fit into the 4 GB of a process that an adapter reaches.
const LONGEST: Bytes = Bytes::new((1 << 31) - 1);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All ranks have left MPI.
    Finished,
    /// A rank died before it had left MPI; if the others went on, they have ended, too.
    Died,
    /// The host of a rank stopped.
    Stopped,
    /// All ranks wait, and nothing will happen any more.
    Deadlock,
    /// The program that started the ranks has gone, after some had attached.
    LauncherGone,
    /// The program that started the ranks has gone before any had attached.
    NoMpi,
    /// Somebody asked for the end.
    Cancelled,
    /// A bound was passed.
    Limit,
    /// A rank has stored other bytes than were sent: the simulator is wrong.
    Corrupted,
    /// A rank has written into the shared memory what no rank may write.
    Foul,
    /// A process has initialised an MPI that has no part in the run.
    Stray,
    /// A rank ended without having attached, while others had or went on.
    Absent,
}

impl End {
    /// The name of this end.
    pub fn name(self) -> &'static str {
        match self {
            End::Finished => "finished",
            End::Died => "died",
            End::Stopped => "stopped",
            End::Deadlock => "deadlock",
            End::LauncherGone => "launcher gone",
            End::NoMpi => "no mpi",
            End::Cancelled => "cancelled",
            End::Limit => "limit",
            End::Corrupted => "corrupted",
            End::Foul => "foul",
            End::Stray => "stray",
            End::Absent => "absent",
        }
    }
}

/// A rank that waits at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The rank.
    pub rank: u32,
    /// The rank's process.
    pub pid: Option<u32>,
    /// The call of MPI that the rank is in, by its number in [`link::calls`]; 0 if none is known.
    pub call: u32,
    /// What the rank has under way.
    pub what: Vec<String>,
    /// Whether the rank has the turn, so that it does not wait for the simulator.
    pub runs: bool,
}

/// A rank that ended without having left MPI, in a run whose other ranks then went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dead {
    /// The rank.
    pub rank: u32,
    /// The call of MPI that the rank was in.
    pub call: u32,
    /// When the rank was last seen.
    pub time: Time,
    /// Whether its host stopped.
    pub stopped: bool,
}

/// How a run ended, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How the run ended.
    pub end: End,
    /// The explanation for people.
    pub message: String,
    /// Ranks that wait.
    pub waiting: Vec<Waiting>,
    /// The rank that died, or that broke the rules of the link.
    pub rank: Option<u32>,
    /// Ranks that died while others went on, the first one first.
    pub dead: Vec<Dead>,
    /// The first operation of a rank that parts of the machine that have failed have lost, and why.
    pub lost: Option<String>,
    /// Simulated time.
    pub time: Time,
    /// Ranks that attached.
    pub attached: u32,
    /// Ranks that did not attach, though their processes had been started: those that have ended if the run ends as
    /// [`End::Absent`], else all.
    pub absent: Vec<u32>,
    /// Whether a rank that did not attach has written to the process manager, as MPI libraries do.
    pub managed: bool,
    /// The first process that has initialised an MPI without a part in the run.
    pub stray: Option<(u32, Option<u32>, Stray)>,
    /// Ranks that attached, and none of whose calls was seen.
    pub unseen: Vec<u32>,
}

/// What a run leaves behind.
#[derive(Clone, Debug)]
pub struct Results {
    /// All messages.
    pub messages: Vec<MessageRow>,
    /// All calls, if they were kept.
    pub calls: Vec<CallRow>,
    /// What each rank did.
    pub ranks: Vec<RankRow>,
    /// Who carried out collective calls.
    pub ways: Ways,
    /// The node of each rank.
    pub nodes: Vec<u32>,
    /// What each link did.
    pub links: Vec<LinkRow>,
    /// What failed.
    pub faults: Vec<FaultRow>,
    /// Packets that adapters sent again since faults had kept them from their destinations.
    pub resent: u64,
    /// How busy links, buses and thread processors were over time, if that was kept.
    pub series: Vec<SeriesRow>,
    /// The recording of the run in GOAL, or what of the run cannot be recorded; only if the run was to be recorded.
    pub schedules: Option<Result<Vec<Schedule>, String>>,
    /// Simulated time.
    pub time: Time,
    /// Packets of the fabric.
    pub packets: u64,
    /// Events of the cluster.
    pub events: u64,
    /// Digest of all packets, messages, ranks and calls.
    pub digest: String,
    /// Whether another run of the same program gives the same result.
    pub repeatable: bool,
}

/// A run that ranks can attach to.
pub struct Run {
    machine: Machine,
    options: Options,
    job: Job,
    link: Link,
}

/// The link, which the server and whoever asks about its ranks use.
#[derive(Clone)]
pub(crate) struct Link(Arc<Mutex<Simulator>>);

impl Link {
    pub fn lock(&self) -> MutexGuard<'_, Simulator> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    /// Prepares a run: checks that it is possible, and makes the shared memory.
    ///
    /// # Errors
    /// See [`Problem`].
    pub fn new(machine: Machine, options: Options) -> Result<Run, Problem> {
        if options.ranks == 0 {
            return Err(Problem::Option("there is at least one rank".into()));
        }
        if options.network == Network::Ideal && !machine.fault.is_empty() {
            let message = "the ideal network has no parts that fail: run on the machine's network, or without faults";
            return Err(Problem::Option(message.into()));
        }
        let collectives = options.collectives(&machine);
        if options.record && collectives != Collectives::Mpi {
            let message = "a recording holds messages, and none of Elanlib's collective operations: record with `--collectives mpi`";
            return Err(Problem::Option(message.into()));
        }
        if options.record && !machine.fault.is_empty() {
            let message = "a recording is of the program, and a part that fails changes what the program does: record without faults";
            return Err(Problem::Option(message.into()));
        }
        let job = options.job(&machine)?;
        // Whether there is room shows when the processes are attached; this cluster is not run.
        let cluster = Cluster::new(machine.cluster_config(), elan::Watch::default());
        let pes = job.attach(&cluster)?;
        let nodes = pes.iter().map(|pe| pe.node().rail_and_node().1.get());
        let nodes: Vec<u32> = nodes.collect();
        options.limit()?;
        let settings = Settings {
            compute: options.compute()?,
            calls: true,
            checksums: options.checksums,
            faults: !machine.fault.is_empty(),
            collectives: collectives.into(),
            ..Settings::DEFAULT
        };
        let simulator = Simulator::new(options.ranks, settings)?;
        simulator.place(&nodes);
        Ok(Run {
            link: Link(Arc::new(Mutex::new(simulator))),
            machine,
            options,
            job,
        })
    }

    /// Where ranks find the shared memory: the value of [`link::PATH_VARIABLE`].
    pub fn path(&self) -> String {
        self.link.lock().path()
    }

    /// Who carries out collective operations.
    pub fn collectives(&self) -> Collectives {
        self.options.collectives(&self.machine)
    }

    /// The longest message that crosses the network as one: the value of [`link::LONGEST_VARIABLE`]. The MPI library cuts
    /// longer messages into gets.
    pub fn longest(&self) -> Bytes {
        match (self.options.network, self.options.memory) {
            (Network::Ideal, _) => Bytes::new(u64::MAX / 2),
            (Network::Machine, Memory::Main) => LONGEST,
            (Network::Machine, Memory::Elan) => {
                // Several messages have room beside each other.
                Bytes::new(self.adapter_memory().as_u64() / 8).min(LONGEST)
            }
        }
    }

    /// The longest message of a queue: the value of [`link::SLOT_VARIABLE`].
    pub fn slot(&self) -> Bytes {
        self.machine.cluster_config().packet.payload
    }

    fn adapter_memory(&self) -> Bytes {
        self.machine.cluster_config().adapter.memory
    }

    /// What limits the room for messages in a node, for people.
    fn room(&self) -> String {
        match self.options.memory {
            Memory::Main => format!(
                "an adapter reaches {} of main memory for each process",
                Bytes::new(1 << 32)
            ),
            Memory::Elan => format!(
                "messages lie in the adapter's memory (--memory elan), which has {}",
                self.adapter_memory()
            ),
        }
    }

    /// The processes of the ranks that have attached.
    pub fn pids(&self) -> Vec<Option<u32>> {
        let link = self.link.lock();
        (0..link.ranks()).map(|rank| link.pid(rank)).collect()
    }

    /// Ranks that said how they leave before they had finished, the first one first.
    pub fn left(&self) -> Vec<(u32, Leaving)> {
        let link = self.link.lock();
        let mut said = link.leaving();
        // A program may call MPI_Finalize when it exits already.
        said.retain(|&(rank, _)| !link.phase(rank).is_out());
        said
    }

    /// Lets all ranks that wait leave at once.
    pub fn end(&self) {
        self.link.lock().end();
    }

    /// Serves the ranks until all have finished, or the run is over. `launcher` is the process that starts the ranks. To set
    /// `cancel` ends the run soon.
    ///
    /// # Errors
    /// If the machine has no room for the ranks after all.
    pub fn serve(
        &self,
        cancel: &Arc<AtomicBool>,
        launcher: u32,
    ) -> Result<(Outcome, Results), Problem> {
        self.serve_within(cancel, launcher, Time::MAX)
    }

    /// Serves the ranks with a lookahead that is no longer than this.
    fn serve_within(
        &self,
        cancel: &Arc<AtomicBool>,
        launcher: u32,
        longest: Time,
    ) -> Result<(Outcome, Results), Problem> {
        let limits = Limits {
            time: self.options.limit()?,
            ..Limits::default()
        };
        let watch = elan::Watch {
            limits,
            cancel: Some(Arc::clone(cancel)),
        };
        let config = self.machine.failing_config(&[], self.options.seed);
        let by_host = config.tport.matching == Matching::Host;
        let cluster = Cluster::new(config, watch).seeded(self.options.seed);
        let pes = self.job.attach(&cluster)?;
        let nodes: Vec<Node> = pes.iter().map(|pe| pe.node().clone()).collect();
        let places = nodes.iter().map(|node| node.place().get());
        let places: Vec<u32> = places.collect();
        let apart = BTreeSet::from_iter(&places).len() == places.len();
        let (lookahead, endpoints): (Time, Vec<Box<dyn Endpoint>>) = match self.options.network {
            Network::Machine => {
                let call = nodes[0].config().host.call;
                // Processors that work for messages of others do so between a wake and its orders: no rank may run ahead.
                let lookahead = if apart && !by_host { call } else { Time::ZERO };
                let processes = tports::Process::of(pes, self.options.memory.into()).into_iter();
                (lookahead, processes.map(|end| Box::new(end) as _).collect())
            }
            Network::Ideal => {
                let ends = ideal::End::of(nodes.clone()).into_iter();
                (ideal::CALL, ends.map(|end| Box::new(end) as _).collect())
            }
        };
        let watch = Watch::new(Arc::clone(cancel), launcher, self.options.keep_going);
        let mut server = Server::new(self.link.clone(), cluster, watch, lookahead.min(longest));
        server.keep(self.options.calls, self.options.timeline);
        server.memory = self.room();
        if self.options.record {
            let request = match self.options.network {
                Network::Machine => nodes[0].config().host.request,
                Network::Ideal => Time::ZERO,
            };
            server.record(request);
        }
        server.attach(nodes, endpoints);
        let outcome = server.run();
        if outcome.end == End::Finished {
            // A rank that would come back now, while its process exits, must not wait.
            self.end();
        }
        let repeatable = !matches!(self.options.compute()?, Compute::Measured(_));
        Ok((outcome, server.results(places, repeatable)))
    }
}

#[cfg(test)]
mod tests;
