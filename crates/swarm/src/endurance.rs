//! # Endurance: millions of messages through a network that fails, each one checked
//!
//! The swarm has many short cases; this is a long one. On the shipped 64-node machine bits flip on
//! all links, and cables fail and are repaired at random, while all nodes send to each other by the
//! libraries: puts with an event, gets, messages into queues, Tports messages, additions. The
//! machine masters these faults, so that no process may receive an error, and each message must
//! come once, whole and unaltered:
//!
//! * In a *round* each node sends one message, to a node that the round determines; so each node
//!   also receives one. A message's kind, length and bytes follow from the seed, its sender and its
//!   round. The first eight bytes name sender and round.
//! * *Queues and Tports*: the receiver compares all bytes in each message, and notes its round. The
//!   note reveals a duplicate, the wait a missing message. Tports messages must be in each sender's
//!   order.
//! * *Puts*: each node has a place for each other node's bytes, and an event that counts all puts.
//!   After a put the sender gets the bytes back; in the end all places are compared, and the event
//!   must have counted each put once. The bytes reveal a put that is repeated late, over newer
//!   bytes.
//! * *Additions* add random numbers; their sum is compared.
//!
//! When all is over, the machine must be empty.

mod plan;
mod stage;

use elan::Recoveries;
use elan::faults::{Config, Episode, Fault, FaultTiming, FaultyPart, Links};
use elan::{Cluster, NodeId, Rail, Watch};
use fabric::LinkId;
use libelan::ProcessJob;
use machine::Machine;
use plan::MessagePlan;
use stage::Stage;
use std::fmt::Display;
use std::ops::AddAssign;
use std::rc::Rc;
use units::Time;

/// Nodes, each with three processes: one sends and has the memory that others put into, one takes
/// from its queue, one from its Tport.
pub const NODES: u32 = 64;
const PES: u32 = 3;

/// After this time without a message the remaining messages are lost. A node waits 18 ms for a lost
/// answer, many times at most.
const SILENCE: Time = Time::from_secs(3);

/// How long the machine rests before it is looked at: longer than a packet may wait to go again.
const REST: Time = Time::from_ms(40);

/// A long run.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Messages that each node sends.
    pub rounds: u32,
    /// The probability that a bit is wrong after a link.
    pub bit_error_rate: f64,
    /// The cables that fail.
    pub cables: Cables,
    /// A cable's mean time between failures.
    pub mtbf: Time,
    /// Mean time until its repair.
    pub mttr: Time,
    /// The seed for messages and faults.
    pub seed: u64,
}

/// Cables that fail, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cables {
    /// Those between switches. The sources have new routing tables half a mean repair after a
    /// failure.
    BetweenSwitches,
    /// All cables, including the nodes'. The sources never get new routing tables: a table with a
    /// node's dead cable makes each message to the node an error.
    All,
}

/// A run's outcome: all messages arrived, once, whole and unaltered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Messages.
    pub messages: u64,
    /// Packets, each time that they were answered or given up.
    pub packets: u64,
    /// Packets, headers and answers found damaged, over all links.
    pub damaged: u64,
    /// The adapters' recovery.
    pub recovered: Recoveries,
    /// Cable failures.
    pub failures: u64,
    /// Simulated time.
    pub simulated: Time,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.messages += other.messages;
        self.packets += other.packets;
        self.damaged += other.damaged;
        self.failures += other.failures;
        self.simulated += other.simulated;
        let (sum, more) = (&mut self.recovered, &other.recovered);
        sum.corrupted += more.corrupted;
        sum.unreachable += more.unreachable;
        sum.timed_out += more.timed_out;
        sum.resent += more.resent;
        sum.given_up += more.given_up;
        sum.damaged += more.damaged;
        sum.repeated += more.repeated;
    }
}

impl Course {
    fn faults(&self) -> Config {
        let links = |level| {
            FaultyPart::Links(Links {
                level,
                rail: None,
                some: None,
            })
        };
        let Course { mtbf, mttr, .. } = *self;
        let mut list = vec![Fault {
            part: links(None),
            when: FaultTiming::BitErrors(self.bit_error_rate),
        }];
        let least = usize::from(self.cables == Cables::BetweenSwitches);
        list.extend((least..3).map(|level| Fault {
            part: links(Some(level)),
            when: FaultTiming::Random { mtbf, mttr },
        }));
        Config {
            timeout: Time::from_ms(8),
            backoff: Time::from_ms(10),
            broadcast_backoff: Time::from_ms(50),
            detect: match self.cables {
                Cables::BetweenSwitches => mttr / 2,
                Cables::All => Time::from_secs(10_000),
            },
            give_up: Time::from_secs(1),
            seed: self.seed,
            list,
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// The lost, duplicate or altered messages, or the reported error; the remainder in the
    /// machine.
    pub fn run(&self) -> Result<Tally, String> {
        let file = include_str!("../../../machines/es40-qsnet.toml");
        let machine = Machine::parse("es40-qsnet.toml", file, &[])
            .map_err(|problems| problems.render(false))?;
        let mut config = machine.cluster_config();
        config.faults = Some(self.faults());
        let mut cluster = Cluster::new(config, Watch::default());
        let job = ProcessJob::new("endurance", NodeId::all(NODES), PES).map_err(words)?;
        let stage = Rc::new(Stage::new(MessagePlan::new(self)));
        let launched = job.launch(&mut cluster, {
            let stage = Rc::clone(&stage);
            async move |pe| stage.play(pe).await
        });
        launched.map_err(words)?;
        let mut ended = 0;
        while stage.playing.get() > 0 {
            let end = cluster.now() + SILENCE;
            cluster
                .run_while(end, |_| {
                    stage.playing.get() > 0 && stage.wrong.borrow().is_none()
                })
                .map_err(words)?;
            stage.wrong.take().map_or(Ok(()), Err)?;
            if stage.playing.get() > 0 && stage.ended.get() == ended {
                let rest = u64::from(self.rounds) * u64::from(NODES) - ended;
                return Err(format!("at {} {rest} messages are lost", cluster.now()));
            }
            ended = stage.ended.get();
        }
        let simulated = cluster.now();
        cluster.run_until(simulated + REST).map_err(words)?;
        cluster.check_conservation();
        stage.check()?;
        let census = cluster.census();
        if !census.is_empty() {
            return Err(format!("in the end there are {census:?}"));
        }
        Ok(self.tally(&cluster, simulated))
    }

    fn tally(&self, cluster: &Cluster, simulated: Time) -> Tally {
        let links = LinkId::all(cluster.config().fabric.topology.links());
        let down = |episode: &Episode| episode.down.is_some();
        let mut tally = Tally {
            messages: u64::from(self.rounds) * u64::from(NODES),
            packets: cluster.packets(),
            damaged: links.map(|link| cluster.link(link).errors).sum(),
            failures: cluster.faults().into_iter().filter(down).count() as u64,
            simulated,
            ..Tally::default()
        };
        for node in NodeId::all(NODES) {
            tally += Tally {
                recovered: cluster.adapter(Rail::new(0), node).recoveries(),
                ..Tally::default()
            };
        }
        tally
    }
}

/// An error in words.
fn words(error: impl Display) -> String {
    error.to_string()
}
