//! Runs a program on a simulated cluster, and notes its processes' findings.
//!
//! A process continues after an error in a message or a memory access, and ends after an error in a
//! collective call, since it does not know the other members' state. When no events are left, or
//! the time is over, all processes' memory is examined from outside, also that of processes that
//! still wait.

mod player;

use crate::collective::CallOutcome;
use crate::program::{ProcessOperation, Range, SwarmProgram};
use elan::{Cluster, NodeId, ProcessId, WaitMode};
use kernel::{Limits, memory};
use libelan::{Pe, ProcessJob};
use player::Player;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};
use std::rc::Rc;
use units::{Bytes, Time};

/// A process's step: its phase and its place.
pub type StepPlace = (usize, usize);

/// A process's finding in a step, and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The process.
    pub process: usize,
    /// The step; the phase after the last is the process's end.
    pub place: StepPlace,
    /// When.
    pub at: Time,
    /// The finding.
    pub found: Observation,
}

/// A process's finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// It is done, without a finding.
    Done,
    /// An error was reported. For a put, also the range's bytes a moment later.
    Failed(String, Option<Vec<u8>>),
    /// A message.
    Message {
        /// The sender.
        sender: u32,
        /// Its tag.
        tag: u64,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// Bytes from a get, at an event, or from a queue.
    Bytes(Vec<u8>),
    /// The word before an addition.
    Word(u64),
    /// A collective call's outcome.
    Collective(CallOutcome),
}

/// A process's final state.
#[derive(Clone, Debug, PartialEq)]
pub struct FinalState {
    /// The boards.
    pub boards: [Vec<u8>; 2],
    /// The words that others add to.
    pub words: Vec<u64>,
    /// For each operation that sets an event at the process: missing and surplus occurrences.
    pub events: BTreeMap<u32, (u32, u32)>,
    /// Messages in the queue.
    pub queued: usize,
    /// Whether the queue has no free slot: a host that stops while it reads a message keeps the
    /// slot.
    pub full: bool,
    /// Memory in use before the first phase, and now.
    pub used: (Bytes, Bytes),
}

/// How a run came to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayEnd {
    /// All processes have finished.
    Finished,
    /// Some wait, and no events are left, or the time is over.
    Waits(String),
    /// The run makes no progress: it exceeds its bounds, or processes run without end at one
    /// moment.
    Endless(String),
}

/// A run's outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayOutcome {
    /// How the run ended.
    pub end: PlayEnd,
    /// When.
    pub at: Time,
    /// The processes' findings, in time order.
    pub notes: Vec<Note>,
    /// Each process's final state; empty if the libraries were not set up.
    pub left: Vec<Option<FinalState>>,
    /// The step that a process waits in.
    pub waits: Vec<Option<StepPlace>>,
    /// The process whose message a process waits for, if the routing tables have no way between the
    /// two.
    pub cut_off: Vec<Option<u32>>,
    /// The digest over all packets.
    pub digest: String,
    /// Packets that were acknowledged.
    pub packets: u64,
}

/// The bounds of a run; no run should come near them.
pub fn limits() -> Limits {
    Limits {
        time: None,
        events: Some(20_000_000),
        memory: Some(Bytes::new(memory::current().as_u64() + (4 << 30))),
    }
}

/// How long a run may take, and how long the cluster rests afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From the run's start to its end.
    pub longest: Time,
    /// From its end to the look at the final state.
    pub rest: Time,
}

/// Plays a program on a cluster, and then lets the cluster rest for a time. The run does not wait
/// for processes that stop.
///
/// # Errors
/// If the job cannot be started.
pub fn play(
    cluster: &mut Cluster,
    program: &SwarmProgram,
    waits: WaitMode,
    stopped: &BTreeSet<usize>,
    times: Times,
) -> Result<PlayOutcome, String> {
    let job = ProcessJob::at("swarm", program.places.iter().copied().map(NodeId::new));
    let job = job.map_err(words)?.waiting(waits);
    let stage = Rc::new(Stage::new(program));
    let launched = job.launch(cluster, {
        let stage = Rc::clone(&stage);
        async move |pe| stage.run(pe).await
    });
    launched.map_err(words)?;
    let is_over = || {
        let mut open = stage.waits.iter().enumerate();
        !open.any(|(process, waits)| waits.get().is_some() && !stopped.contains(&process))
    };
    let end = match cluster.run_while(times.longest, |_| !is_over()) {
        Err(stop) => PlayEnd::Endless(words(stop)),
        Ok(_) if is_over() => PlayEnd::Finished,
        Ok(_) => PlayEnd::Waits(stage.waiting(cluster)),
    };
    let at = cluster.now();
    // A run that has exceeded its bounds does not continue.
    let _ = cluster.run_until(at + times.rest);
    cluster.check_conservation();
    let players = stage.players.borrow();
    let left = players.iter().map(|player| Some(player.as_ref()?.left()));
    Ok(PlayOutcome {
        end,
        at,
        left: left.collect(),
        notes: stage.notes.take(),
        waits: stage.waits.iter().map(Cell::get).collect(),
        cut_off: stage.cut_off(),
        digest: cluster.digest(),
        packets: cluster.packets(),
    })
}

/// The shared state of a run's processes, beside the network.
struct Stage {
    program: SwarmProgram,
    /// For each operation that sets an event, its event's place among all.
    events: BTreeMap<u32, u64>,
    notes: RefCell<Vec<Note>>,
    waits: Vec<Cell<Option<StepPlace>>>,
    /// The only process whose message a process waits for.
    partners: Vec<Cell<Option<u32>>>,
    players: RefCell<Vec<Option<Rc<Player>>>>,
}

impl Stage {
    fn new(program: &SwarmProgram) -> Self {
        let notifies = program.steps().filter(|(_, step)| {
            matches!(
                step.act,
                ProcessOperation::Notify { .. } | ProcessOperation::Spread { .. }
            )
        });
        let processes = program.places.len();
        Stage {
            events: notifies.map(|(_, step)| step.op).zip(0..).collect(),
            notes: RefCell::default(),
            waits: vec![Cell::new(Some((0, 0))); processes],
            partners: vec![Cell::new(None); processes],
            players: RefCell::new(vec![None; processes]),
            program: program.clone(),
        }
    }

    fn note(&self, pe: &Pe, place: StepPlace, found: Observation) {
        self.notes.borrow_mut().push(Note {
            process: me(pe) as usize,
            place,
            at: pe.now(),
            found,
        });
    }

    /// The waiting processes and operations.
    fn waiting(&self, cluster: &Cluster) -> String {
        let packets = cluster.census().under_way;
        let mut text = format!(
            "at {} processes wait, and {packets} packets are under way:",
            cluster.now()
        );
        for (process, waits) in self.waits.iter().enumerate() {
            let Some((phase, place)) = waits.get() else {
                continue;
            };
            let steps = self
                .program
                .phases
                .get(phase)
                .map(|phase| &phase.steps[process]);
            let step = steps.and_then(|steps| steps.get(place));
            let what = match step {
                Some(step) => format!("in phase {phase} for {step:?}"),
                None => format!("for all others, in phase {phase}"),
            };
            let _ = write!(text, " {process} {what};");
        }
        text
    }

    fn waits(&self, process: u32, place: Option<StepPlace>) {
        self.waits[process as usize].set(place);
        self.partners[process as usize].set(None);
    }

    fn waits_for(&self, process: u32, partner: Option<u32>) {
        self.partners[process as usize].set(partner);
    }

    /// For each process the one whose message it waits for, if there is no way between the two.
    fn cut_off(&self) -> Vec<Option<u32>> {
        let players = self.players.borrow();
        let node = |process: usize| Some(players[process].as_ref()?.pe.node());
        let partners = self.partners.iter().enumerate();
        let cut_off = partners.map(|(process, partner)| {
            let partner = partner.get()?;
            let (node, other) = (node(process)?, node(partner as usize)?.place());
            let own = node.place();
            let both = node.way(own, other).and_then(|()| node.way(other, own));
            (own != other && both.is_err()).then_some(partner)
        });
        cut_off.collect()
    }

    /// A process, from its start to its end.
    async fn run(&self, pe: Pe) {
        let end = (self.program.phases.len(), 0);
        let found = match self.perform(&pe).await {
            Ok(()) => Observation::Done,
            Err(why) => Observation::Failed(why, None),
        };
        self.note(&pe, end, found);
        self.waits(me(&pe), None);
    }

    async fn perform(&self, pe: &Pe) -> Result<(), String> {
        let start = self.program.phases.len() + 1;
        self.waits(me(pe), Some((start, 0)));
        let player = Rc::new(Player::new(pe, self).await?);
        self.players.borrow_mut()[me(pe) as usize] = Some(Rc::clone(&player));
        player.meet(self, start as u32).await?;
        for (number, phase) in self.program.phases.iter().enumerate() {
            player.play(self, number, phase).await?;
            self.waits(me(pe), Some((number, usize::MAX)));
            player.meet(self, number as u32).await?;
        }
        Ok(())
    }

    /// A range's bytes, seen from outside.
    fn seen(&self, range: Range) -> Option<Vec<u8>> {
        let players = self.players.borrow();
        let owner = players[range.process as usize].as_ref()?;
        Some(owner.board(range))
    }
}

/// A process's number.
fn me(pe: &Pe) -> u32 {
    pe.vp().get()
}

fn pid(number: u32) -> ProcessId {
    ProcessId::new(number)
}

/// An error in words.
fn words(error: impl Display) -> String {
    error.to_string()
}
