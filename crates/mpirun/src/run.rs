//! A run: its preparation, and its service from the first rank to the last.

use crate::endpoint::Endpoint;
use crate::files::FileSystem;
use crate::ideal;
use crate::options::{CollectiveMode, Memory, NetworkMode, Options, OptionsProblem};
use crate::outcome::{Outcome, Results, RunEnd};
use crate::sampling::Sampling;
use crate::server::{Link, RunProgress, Server};
use crate::tports;
use crate::watch::Watch;
use elan::{Cluster, Matching, Node};
use kernel::Limits;
use libelan::ProcessJob;
use link::{Compute, Departure, RankCalls, RankPhase, Settings, Simulator};
use machine::Machine;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Time};

/// The longest message that is not cut: two such messages fit into a process's 4 GB that an adapter
/// reaches.
const LONGEST: Bytes = Bytes::new((1 << 31) - 1);

/// A run that ranks can attach to.
pub struct ProgramRun {
    machine: Machine,
    options: Options,
    job: ProcessJob,
    link: Link,
    seen: Arc<RunProgress>,
    sampling: Option<Sampling>,
}

/// A run's progress while it runs.
#[derive(Clone, Debug)]
pub struct Sight {
    /// The ranks' orders other than looks for messages, and messages that they have received.
    pub moves: u64,
    /// Messages that were sent.
    pub messages: u64,
    /// Each rank.
    pub ranks: Vec<RankSight>,
}

/// A rank in a run that has not ended.
#[derive(Clone, Copy, Debug)]
pub struct RankSight {
    /// Its process, if it has attached.
    pub pid: Option<u32>,
    /// Whether it is in the simulation, and has its turn: it computes, or waits for an event
    /// outside the simulation.
    pub runs: bool,
    /// The call in which it is, by its number in [`link::calls`]; 0 outside calls.
    pub call: u32,
    /// Its calls, by its own word.
    pub calls: RankCalls,
}

impl ProgramRun {
    /// Prepares a run: checks that it is possible, and makes the shared memory.
    ///
    /// # Errors
    /// See [`OptionsProblem`].
    pub fn new(machine: Machine, options: Options) -> Result<ProgramRun, OptionsProblem> {
        if options.ranks == 0 {
            return Err(OptionsProblem::Option("there is at least one rank".into()));
        }
        if options.network == NetworkMode::Ideal && !machine.fault.is_empty() {
            let message = "the ideal network has no parts that fail: run on the machine's \
                network, or \
                without faults";
            return Err(OptionsProblem::Option(message.into()));
        }
        let collectives = options.collectives(&machine);
        if options.record && collectives != CollectiveMode::Mpi {
            let message = "a recording holds messages, and none of Elanlib's collective \
                operations: \
                record with `--collectives mpi`";
            return Err(OptionsProblem::Option(message.into()));
        }
        if options.record && !machine.fault.is_empty() {
            let message = "a recording is of the program, and a part that fails changes what the \
                program does: record without faults";
            return Err(OptionsProblem::Option(message.into()));
        }
        if options.record && options.room() > options.ranks {
            let message = "a recording has the ranks of the start: record without --universe";
            return Err(OptionsProblem::Option(message.into()));
        }
        let job = options.job(&machine)?;
        let room = options.room() as usize;
        // Whether there is room shows when the processes are attached; this cluster is not run.
        let cluster = Cluster::new(machine.cluster_config(), elan::Watch::default());
        let pes = job.attach(&cluster)?;
        let nodes = pes[..room].iter();
        let nodes = nodes.map(|pe| pe.node().rail_and_node().1.get());
        let nodes: Vec<u32> = nodes.collect();
        options.limit()?;
        let sampled = options.sampled.as_ref();
        let sampling = sampled.map(|sampled| Sampling::new(sampled, &machine, &nodes));
        let sampling = sampling.transpose()?;
        let compute = match (options.compute()?, &sampling) {
            (Compute::Sampled(_), Some(sampling)) => Compute::Sampled(sampling.factor),
            (compute, _) => compute,
        };
        let settings = Settings {
            compute,
            calls: true,
            regions: options.record,
            checksums: options.checksums,
            faults: !machine.fault.is_empty(),
            collectives: collectives.into(),
            // The engine for short transactions in Elan4 and its successors sends them; Elan3 has
            // no such engine.
            atomics: options.network == NetworkMode::Machine && machine.elan4.is_some(),
            files: machine.files.is_some(),
            processors: machine.cpus(),
            nodes: machine.cluster_config().fabric.topology.nodes(),
            ..Settings::DEFAULT
        };
        let simulator = Simulator::with_room(options.ranks, options.room(), settings)?;
        simulator.place(&nodes);
        Ok(ProgramRun {
            link: Link::new(simulator),
            machine,
            options,
            job,
            seen: Arc::default(),
            sampling,
        })
    }

    /// Where ranks find the shared memory: [`link::PATH_VARIABLE`]'s value.
    pub fn path(&self) -> String {
        self.link.lock().path()
    }

    /// Where ranks find the plan for sampled computation: [`link::PLAN_VARIABLE`]'s value.
    pub fn plan(&self) -> Option<String> {
        self.sampling.as_ref().map(Sampling::path)
    }

    /// The way in which collective operations are carried out.
    pub fn collectives(&self) -> CollectiveMode {
        self.options.collectives(&self.machine)
    }

    /// The longest message that crosses the network as one: [`link::LONGEST_VARIABLE`]'s value. The
    /// MPI library cuts longer messages into gets.
    pub fn longest(&self) -> Bytes {
        match (self.options.network, self.options.memory) {
            (NetworkMode::Ideal, _) => Bytes::new(u64::MAX / 2),
            (NetworkMode::Machine, Memory::Main) => LONGEST,
            (NetworkMode::Machine, Memory::Elan) => {
                // Several messages have room beside each other.
                Bytes::new(self.adapter_memory().as_u64() / 8).min(LONGEST)
            }
        }
    }

    /// A queue's longest message: [`link::SLOT_VARIABLE`]'s value.
    pub fn slot(&self) -> Bytes {
        self.machine.cluster_config().packet.payload
    }

    fn adapter_memory(&self) -> Bytes {
        self.machine.cluster_config().adapter.memory
    }

    /// The limit on room for messages in a node, for people.
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

    /// The attached ranks' processes.
    pub fn pids(&self) -> Vec<Option<u32>> {
        let link = self.link.lock();
        (0..link.ranks()).map(|rank| link.pid(rank)).collect()
    }

    /// How far the run has come.
    pub fn sight(&self) -> Sight {
        let link = self.link.lock();
        let rank = |rank| RankSight {
            pid: link.pid(rank),
            runs: !link.has_turn(rank) && link.phase(rank) == RankPhase::Attached,
            call: link.call(rank),
            calls: link.calls(rank),
        };
        Sight {
            moves: self.seen.moves.load(Ordering::Relaxed),
            messages: self.seen.messages.load(Ordering::Relaxed),
            ranks: (0..link.ranks()).map(rank).collect(),
        }
    }

    /// Ranks that announced how they leave before they had finished, the first one first.
    pub fn left(&self) -> Vec<(u32, Departure)> {
        let link = self.link.lock();
        let mut said = link.leaving();
        // A program may call MPI_Finalize when it exits already.
        said.retain(|&(rank, _)| !link.phase(rank).is_out());
        said
    }

    /// Lets all ranks that wait leave immediately.
    pub fn end(&self) {
        self.link.lock().end();
    }

    /// Serves the ranks until all have finished, or the run is over. `launcher` is the process that
    /// starts the ranks. To set `cancel` ends the run soon.
    ///
    /// # Errors
    /// If the machine has no room for the ranks after all.
    pub fn serve(
        &self,
        cancel: &Arc<AtomicBool>,
        launcher: u32,
    ) -> Result<(Outcome, Results), OptionsProblem> {
        self.serve_within(cancel, launcher, Time::MAX)
    }

    /// Serves the ranks with a lookahead that is no longer than this.
    fn serve_within(
        &self,
        cancel: &Arc<AtomicBool>,
        launcher: u32,
        longest: Time,
    ) -> Result<(Outcome, Results), OptionsProblem> {
        let limits = Limits {
            time: self.options.limit()?,
            ..Limits::default()
        };
        let watch = elan::Watch {
            limits,
            cancel: Some(Arc::clone(cancel)),
            ..elan::Watch::default()
        };
        let config = self.machine.failing_config(&[], self.options.seed);
        let by_host = config.tport.matching == Matching::Host;
        let cluster = Cluster::new(config, watch).seeded(self.options.seed);
        let pes = self.job.attach(&cluster)?;
        let room = self.options.room();
        let nodes = pes[..room as usize].iter();
        let nodes: Vec<Node> = nodes.map(|pe| pe.node().clone()).collect();
        let call = match self.options.network {
            NetworkMode::Machine => nodes[0].config().host.call,
            NetworkMode::Ideal => ideal::CALL,
        };
        let files = self.machine.files.as_ref();
        let files = files.map(|files| FileSystem::new(files, room, call));
        let places = nodes.iter().map(|node| node.place().get());
        let places: Vec<u32> = places.collect();
        let apart = BTreeSet::from_iter(&places).len() == places.len();
        let (lookahead, endpoints): (Time, Vec<Box<dyn Endpoint>>) = match self.options.network {
            NetworkMode::Machine => {
                // Processors that work for others' messages do so between a wake and its orders: no
                // rank may run ahead.
                let lookahead = if apart && !by_host { call } else { Time::ZERO };
                let processes =
                    tports::TportsProcess::of(pes, self.options.memory.into()).into_iter();
                (lookahead, processes.map(|end| Box::new(end) as _).collect())
            }
            NetworkMode::Ideal => {
                let ends = ideal::IdealEndpoint::of(nodes.clone()).into_iter();
                (call, ends.map(|end| Box::new(end) as _).collect())
            }
        };
        let watch = Watch::new(Arc::clone(cancel), launcher, self.options.keep_going);
        let lookahead = lookahead.min(longest);
        let mut server = Server::new(self.link.clone(), cluster, watch, lookahead, files);
        server.seen = Arc::clone(&self.seen);
        server.keep(self.options.calls, self.options.timeline);
        server.memory = self.room();
        if self.options.record {
            let request = match self.options.network {
                NetworkMode::Machine => nodes[0].config().host.request,
                NetworkMode::Ideal => Time::ZERO,
            };
            server.record(request);
        }
        server.attach(nodes, endpoints);
        let outcome = server.run();
        if outcome.end == RunEnd::Finished {
            // A rank that would come back now, while its process exits, must not wait.
            self.end();
        }
        let mut results = server.results(places, self.sampling.as_ref());
        results.repeatable &= !matches!(self.options.compute()?, Compute::Measured(_));
        Ok((outcome, results))
    }
}

#[cfg(test)]
mod tests;
