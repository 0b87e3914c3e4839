//! Runs a program on a simulated cluster, and notes what its processes find.
//!
//! A process goes on after an error of a message or of an access to memory, and ends after an error of a collective call, since it
//! does not know what the other members have seen of the call. When nothing is left to happen, or the time is over, the memory of
//! all processes is looked at from outside, also that of processes that still wait.

use crate::collective::{Outcome, SPANS, area};
use crate::program::{
    Act, BOARDS, By, Label, Phase, Program, Range, SLOT, Step, WORDS, bytes, exactly, queued,
};
use elan::{Cluster, Dma, ElanAddr, EventId, NodeId, ProcessId, Transfer, Wait};
use kernel::{Limits, memory};
use libelan::elan::group::Group;
use libelan::elan::putget::Remote;
use libelan::elan::queue::RxQueue;
use libelan::elan::tport::{Mode, Room, Rx, Tx};
use libelan::mpi::Request;
use libelan::{Job, Pe};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};
use std::rc::Rc;
use units::{Bytes, Time};

/// A step of a process: its phase and its place.
pub type Place = (usize, usize);

/// What a process found in a step, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The process.
    pub process: usize,
    /// The step; phase after the last is the end of the process.
    pub place: Place,
    /// When.
    pub at: Time,
    /// What.
    pub found: Found,
}

/// What a process found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// It is done, and there was nothing to find.
    Done,
    /// An error was told. Of a put, also what the range had in it a moment later.
    Failed(String, Option<Vec<u8>>),
    /// A message.
    Message {
        /// Who has sent it.
        sender: u32,
        /// Its tag.
        tag: u64,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// Bytes that were got, or were there when an event was set, or came out of a queue.
    Bytes(Vec<u8>),
    /// The word before an addition.
    Word(u64),
    /// What came of a collective call.
    Collective(Outcome),
}

/// What is left of a process in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// The boards.
    pub boards: [Vec<u8>; 2],
    /// The words that others add to.
    pub words: Vec<u64>,
    /// For each operation that sets an event of the process: occurrences that are missing, and occurrences too many.
    pub events: BTreeMap<u32, (u32, u32)>,
    /// Messages in the queue.
    pub queued: usize,
    /// Memory in use before the first phase, and now.
    pub used: (Bytes, Bytes),
}

/// How a run came to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// All processes have finished.
    Finished,
    /// Some wait, and nothing is left to happen, or the time is over.
    Waits(String),
    /// More happened than may happen.
    Endless(String),
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// How the run ended.
    pub end: End,
    /// When.
    pub at: Time,
    /// What the processes found, in the order of time.
    pub notes: Vec<Note>,
    /// What is left of each process; none if the libraries were not set up.
    pub left: Vec<Option<Left>>,
    /// The step that a process waits in.
    pub waits: Vec<Option<Place>>,
    /// The process that a process waits for a message of, if the routing tables know no way between the two.
    pub cut_off: Vec<Option<u32>>,
    /// The digest of all packets.
    pub digest: String,
    /// Packets that were acknowledged.
    pub packets: u64,
}

/// The bounds of a run, which none should come near.
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
    /// From the start of the run to its end.
    pub longest: Time,
    /// From its end to the look at what is left.
    pub rest: Time,
}

/// Plays a program on a cluster, and then lets the cluster rest for a time. The run does not wait for processes that stop.
///
/// # Errors
/// If the job cannot be started.
pub fn play(
    cluster: &mut Cluster,
    program: &Program,
    waits: Wait,
    stopped: &BTreeSet<usize>,
    times: Times,
) -> Result<Played, String> {
    let job = Job::at("swarm", program.places.iter().copied().map(NodeId::new));
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
        Err(stop) => End::Endless(words(stop)),
        Ok(_) if is_over() => End::Finished,
        Ok(_) => End::Waits(stage.waiting(cluster)),
    };
    let at = cluster.now();
    // A run that has passed its bounds goes on no more.
    let _ = cluster.run_until(at + times.rest);
    cluster.check_conservation();
    let players = stage.players.borrow();
    let left = players.iter().map(|player| Some(player.as_ref()?.left()));
    Ok(Played {
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

/// What the processes of a run share, beside the network.
struct Stage {
    program: Program,
    /// For each operation that sets an event, the place of its event among all.
    events: BTreeMap<u32, u64>,
    notes: RefCell<Vec<Note>>,
    waits: Vec<Cell<Option<Place>>>,
    /// The process that a process waits for a message of, and of no other.
    partners: Vec<Cell<Option<u32>>>,
    players: RefCell<Vec<Option<Rc<Player>>>>,
}

impl Stage {
    fn new(program: &Program) -> Self {
        let notifies = program
            .steps()
            .filter(|(_, step)| matches!(step.act, Act::Notify { .. } | Act::Spread { .. }));
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

    fn note(&self, pe: &Pe, place: Place, found: Found) {
        self.notes.borrow_mut().push(Note {
            process: me(pe) as usize,
            place,
            at: pe.now(),
            found,
        });
    }

    /// Who waits, and for what.
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

    fn waits(&self, process: u32, place: Option<Place>) {
        self.waits[process as usize].set(place);
        self.partners[process as usize].set(None);
    }

    fn waits_for(&self, process: u32, partner: Option<u32>) {
        self.partners[process as usize].set(partner);
    }

    /// For each process the one that it waits for a message of, if there is no way between the two.
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
            Ok(()) => Found::Done,
            Err(why) => Found::Failed(why, None),
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

    /// What is in a range, seen from outside.
    fn seen(&self, range: Range) -> Option<Vec<u8>> {
        let players = self.players.borrow();
        let owner = players[range.process as usize].as_ref()?;
        Some(owner.board(range))
    }
}

/// The number of a process.
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

/// What was started and is to be waited for.
enum Begun {
    /// A message of a Tport or of MPI, and its buffer.
    Send(Tx, ElanAddr),
    MpiSend(Request, ElanAddr),
    Receive(Rx, Option<ElanAddr>),
    MpiReceive(Request, ElanAddr),
    /// A put into a range, and its source.
    Put(Remote, ElanAddr, Range),
    Transfer(Transfer, ElanAddr, Range),
    /// A broadcast, and its source.
    Spread(Transfer, ElanAddr),
    /// Shmem tells of all its puts at once.
    Quiet(ElanAddr, Range),
    /// A get, and where the bytes come.
    Get(Remote, ElanAddr, u64),
    GetTransfer(Transfer, ElanAddr, u64),
    Notified(EventId, Range),
    Enqueue(Remote, ElanAddr),
    Dequeue,
    /// It is over already.
    Over(Found),
}

impl Begun {
    /// What is waited for first: what needs no other process; then the own queue, since others may wait for its slots.
    fn rank(&self) -> u32 {
        match self {
            Begun::Put(..)
            | Begun::Transfer(..)
            | Begun::Spread(..)
            | Begun::Get(..)
            | Begun::GetTransfer(..)
            | Begun::Over(_) => 0,
            Begun::Dequeue => 1,
            Begun::Enqueue(..) | Begun::Quiet(..) => 2,
            _ => 3,
        }
    }
}

struct Player {
    pe: Pe,
    boards: [ElanAddr; 2],
    /// Where collective calls have their places.
    area: [ElanAddr; 2],
    /// Where others add.
    words: ElanAddr,
    /// The first place of events, the same in all processes.
    first_event: ElanAddr,
    /// The events of this process.
    events: BTreeMap<u32, EventId>,
    queue: RxQueue,
    /// The groups that the process is in.
    groups: Vec<Option<Group>>,
    used: Bytes,
}

impl Player {
    async fn new(pe: &Pe, stage: &Stage) -> Result<Self, String> {
        let (elan, program) = (pe.elan(), &stage.program);
        let main = |length| elan.galloc_main(64, Bytes::new(length)).map_err(words);
        let adapter = |length| elan.galloc_elan(64, Bytes::new(length)).map_err(words);
        let boards = [main(BOARDS[0])?, adapter(BOARDS[1])?];
        let area = [
            main(area(SPANS[0]).as_u64())?,
            adapter(area(SPANS[1]).as_u64())?,
        ];
        let atomics = adapter(8 * u64::from(WORDS))?;
        let block = elan::memory::EVENT_BLOCK;
        let first_event = adapter(block.as_u64() * (stage.events.len() as u64 + 1))?;
        let mut events = BTreeMap::new();
        for ((_, process, _), step) in program.steps() {
            if matches!(step.act, Act::Notified { .. }) && process == me(pe) as usize {
                let at = first_event.offset(block * stage.events[&step.op]);
                let event = pe.elan3().init_event(at, 1).map_err(words)?;
                events.insert(step.op, event);
            }
        }
        let queue = elan
            .queue_rx(program.slots, Bytes::new(SLOT))
            .map_err(words)?;
        let mut groups = vec![Some(elan.all_group().clone())];
        for round in &program.rounds {
            // Who is in none names any.
            let mine = round.iter().find(|members| members.contains(&me(pe)));
            let members = mine.unwrap_or(&round[0]).iter().copied().map(pid);
            let members: Vec<ProcessId> = members.collect();
            let made = elan.group(elan.all_group(), &members).await;
            let made = made.map_err(words)?;
            let own = |members| made.clone().filter(|_| Some(members) == mine);
            groups.extend(round.iter().map(own));
        }
        Ok(Player {
            boards,
            area,
            words: atomics,
            first_event,
            events,
            queue,
            groups,
            used: pe.elan3().used(),
            pe: pe.clone(),
        })
    }

    /// What is left in the end.
    fn left(&self) -> Left {
        let word = |place: u32| {
            let bytes = self.load(self.word(place), 8);
            u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
        };
        let node = self.pe.node();
        let events = self.events.iter();
        Left {
            boards: [0, 1].map(|board| self.load(self.boards[board], BOARDS[board])),
            words: (0..WORDS).map(word).collect(),
            events: events
                .map(|(&op, &event)| (op, node.occurrences(event)))
                .collect(),
            queued: self.queue.len(),
            used: (self.used, self.pe.elan3().used()),
        }
    }

    fn word(&self, place: u32) -> ElanAddr {
        self.words.offset(Bytes::new(8 * u64::from(place)))
    }

    fn load(&self, at: ElanAddr, length: u64) -> Vec<u8> {
        let bytes = self.pe.elan3().load(at, Bytes::new(length));
        bytes.expect("it is the process's own").into_vec()
    }

    fn place(&self, range: Range) -> ElanAddr {
        self.boards[range.board].offset(Bytes::new(range.at))
    }

    fn board(&self, range: Range) -> Vec<u8> {
        self.load(self.place(range), range.length)
    }

    fn buffer(&self, length: u64, adapter: bool) -> ElanAddr {
        let (elan3, length) = (self.pe.elan3(), Bytes::new(length));
        let at = if adapter {
            elan3.alloc_elan(8, length)
        } else {
            elan3.alloc_main(8, length)
        };
        at.expect("a program needs less memory than there is")
    }

    fn free(&self, at: ElanAddr) {
        self.pe.elan3().free(at).expect("it was allocated");
    }

    /// A buffer with bytes in it.
    fn filled(&self, bytes: &[u8], adapter: bool) -> ElanAddr {
        let at = self.buffer(bytes.len() as u64, adapter);
        let stored = self.pe.elan3().store(at, bytes);
        stored.expect("it was allocated");
        at
    }

    async fn play(&self, stage: &Stage, number: usize, phase: &Phase) -> Result<(), String> {
        let mut begun = Vec::new();
        for (place, step) in phase.steps[me(&self.pe) as usize].iter().enumerate() {
            let at = (number, place);
            stage.waits(me(&self.pe), Some(at));
            if let Act::Collective(call) = step.act {
                let group = self.groups[call.group].as_ref();
                let group = group.expect("it is in the group");
                match call.call(&self.pe, group, self.area).await {
                    Ok(outcome) => stage.note(&self.pe, at, Found::Collective(outcome)),
                    Err(why) => {
                        stage.note(&self.pe, at, Found::Failed(why.clone(), None));
                        return Err(why);
                    }
                }
                continue;
            }
            let one = self.begin(stage, number as u32, step).await;
            let from = step.act.partner();
            if phase.blocking {
                stage.waits_for(me(&self.pe), from);
                self.end(stage, at, one).await;
            } else {
                begun.push((at, from, one));
            }
        }
        begun.sort_by_key(|(_, _, one)| one.rank());
        for (at, from, one) in begun {
            stage.waits(me(&self.pe), Some(at));
            stage.waits_for(me(&self.pe), from);
            self.end(stage, at, one).await;
        }
        Ok(())
    }

    async fn begin(&self, stage: &Stage, phase: u32, step: &Step) -> Begun {
        let (elan, elan3, op) = (self.pe.elan(), self.pe.elan3(), step.op);
        match step.act {
            Act::Send { .. } | Act::Receive { .. } => self.begin_message(phase, step),
            Act::Put { to, by } => {
                let from = self.filled(&bytes(op, to.length), false);
                let (vp, place, size) = (pid(to.process), self.place(to), Bytes::new(to.length));
                match by {
                    By::Elan => Begun::Put(elan.put(vp, from, place, size), from, to),
                    By::Elan3 => Begun::Transfer(elan3.put(vp, from, place, size), from, to),
                    By::Shmem => {
                        let put = self.pe.shmem().put(place, from, size, to.process).await;
                        match put {
                            Ok(()) => Begun::Quiet(from, to),
                            Err(error) => {
                                self.free(from);
                                Begun::Over(self.failed_put(stage, words(error), to).await)
                            }
                        }
                    }
                }
            }
            Act::Get { from, by } => {
                let to = self.buffer(from.length, false);
                let place = self.place(from);
                let (vp, size) = (pid(from.process), Bytes::new(from.length));
                match by {
                    By::Elan => Begun::Get(elan.get(vp, place, to, size), to, from.length),
                    By::Elan3 => {
                        Begun::GetTransfer(elan3.get(vp, place, to, size), to, from.length)
                    }
                    By::Shmem => {
                        let got = self.pe.shmem().get(to, place, size, from.process).await;
                        Begun::Over(self.got(got.map_err(words), to, from.length))
                    }
                }
            }
            Act::Notify { to, by } => {
                let from = self.filled(&bytes(op, to.length), false);
                let (vp, place, size) = (pid(to.process), self.place(to), Bytes::new(to.length));
                let block = elan::memory::EVENT_BLOCK;
                let event = self.first_event.offset(block * stage.events[&op]);
                if by == By::Elan3 {
                    let put = elan3.put_notify(vp, from, place, size, event);
                    Begun::Transfer(put, from, to)
                } else {
                    let put = elan.put_notify(vp, from, place, size, event);
                    Begun::Put(put, from, to)
                }
            }
            Act::Spread { to, last } => {
                let from = self.filled(&bytes(op, to.length), false);
                let (node, place) = (self.pe.node(), self.place(to));
                let block = elan::memory::EVENT_BLOCK;
                let event = self.first_event.offset(block * stage.events[&op]);
                let there = |vp, at| elan3.address(pid(vp), at).expect("it is of the job");
                let last = there(last, place).node;
                let size = Bytes::new(to.length);
                let dma = Dma::broadcast(node.at(from), there(to.process, place), last, size);
                let sent = node.dma(dma.notify_at(there(to.process, event)));
                Begun::Spread(sent, from)
            }
            Act::Notified { at } => Begun::Notified(self.events[&op], at),
            Act::Enqueue { to, length } => {
                let from = self.filled(&queued(me(&self.pe), op, length), true);
                let size = Bytes::new(length);
                Begun::Enqueue(elan.queue_tx(pid(to), self.queue.at(), from, size), from)
            }
            Act::Dequeue => Begun::Dequeue,
            Act::Add { to, word, bit } => {
                let added = self.pe.shmem().fadd(self.word(word), 1 << bit, to).await;
                Begun::Over(match added {
                    Ok(word) => Found::Word(word),
                    Err(error) => Found::Failed(words(error), None),
                })
            }
            Act::Compute(time) => {
                self.pe.compute(Time::from_ns(time)).await;
                Begun::Over(Found::Done)
            }
            Act::Collective(_) => unreachable!("it is made at once"),
        }
    }

    fn begin_message(&self, phase: u32, step: &Step) -> Begun {
        let tport = self.pe.elan().tport();
        match step.act {
            Act::Send {
                to,
                label,
                length,
                synchronous,
                adapter,
                mpi,
            } => {
                let from = self.filled(&bytes(step.op, length), adapter);
                let (tag, size) = (label.tag(phase), Bytes::new(length));
                if mpi {
                    let (mpi, tag) = (self.pe.mpi(), tag as u32);
                    let request = if synchronous {
                        mpi.issend(to, tag, from, size)
                    } else {
                        mpi.isend(to, tag, from, size)
                    };
                    return Begun::MpiSend(request, from);
                }
                let mode = if synchronous {
                    Mode::Synchronous
                } else {
                    Mode::Standard
                };
                let tx = tport.tx_start(mode, pid(to), (me(&self.pe), tag), from, size);
                Begun::Send(tx, from)
            }
            Act::Receive {
                from,
                label,
                room,
                adapter,
                mpi,
            } => {
                let buffer = room.map(|room| self.buffer(room, adapter));
                if let (true, Some(at), Some(room)) = (mpi, buffer, room) {
                    let source = (label.class == 0).then_some(from);
                    let tag = label.tag(phase) as u32;
                    let request = self.pe.mpi().irecv(source, tag, at, Bytes::new(room));
                    return Begun::MpiReceive(request, at);
                }
                let room = match (buffer, room) {
                    (Some(at), Some(length)) => Room::Buffer(at, Bytes::new(length)),
                    _ => Room::System,
                };
                Begun::Receive(tport.rx_start(label.select(phase, from), room), buffer)
            }
            _ => unreachable!("it is no message"),
        }
    }

    /// A put has failed: what is in the range once all that its packets have brought is in memory?
    async fn failed_put(&self, stage: &Stage, why: String, to: Range) -> Found {
        self.pe.node().sleep(Time::from_us(50)).await;
        Found::Failed(why, stage.seen(to))
    }

    /// What a get has got.
    fn got(&self, result: Result<(), String>, to: ElanAddr, length: u64) -> Found {
        let bytes = self.load(to, length);
        self.free(to);
        match result {
            Ok(()) => Found::Bytes(bytes),
            Err(why) => Found::Failed(why, None),
        }
    }

    /// Waits for the end of what was begun, and notes it.
    async fn end(&self, stage: &Stage, at: Place, begun: Begun) {
        let (elan, elan3) = (self.pe.elan(), self.pe.elan3());
        let done = |result: Result<(), String>| match result {
            Ok(()) => Found::Done,
            Err(why) => Found::Failed(why, None),
        };
        let put = async |result: Result<(), String>, to| match result {
            Ok(()) => Found::Done,
            Err(why) => self.failed_put(stage, why, to).await,
        };
        let found = match begun {
            Begun::Over(found) => found,
            Begun::Send(tx, from) => {
                let sent = elan.tport().tx_wait(tx).await;
                self.free(from);
                done(sent.map_err(words))
            }
            Begun::MpiSend(request, from) => {
                let sent = self.pe.mpi().wait(request).await;
                self.free(from);
                done(sent.map(drop).map_err(words))
            }
            Begun::Receive(rx, buffer) => self.received(rx, buffer).await,
            Begun::MpiReceive(request, buffer) => {
                let received = self.pe.mpi().wait(request).await;
                let found = match received {
                    Ok(status) => Found::Message {
                        sender: status.source,
                        tag: status.tag.into(),
                        bytes: self.load(buffer, status.size.as_u64()),
                    },
                    Err(error) => Found::Failed(words(error), None),
                };
                self.free(buffer);
                found
            }
            Begun::Put(remote, from, to) => {
                let over = elan.wait(remote).await;
                self.free(from);
                put(over.map_err(words), to).await
            }
            Begun::Transfer(transfer, from, to) => {
                let over = transfer.await;
                self.free(from);
                put(over.map_err(words), to).await
            }
            Begun::Spread(sent, from) => {
                let over = sent.await;
                self.free(from);
                done(over.map_err(words))
            }
            Begun::Quiet(from, to) => {
                let over = self.pe.shmem().quiet().await;
                self.free(from);
                put(over.map_err(words), to).await
            }
            Begun::Get(remote, to, length) => {
                let over = elan.wait(remote).await;
                self.got(over.map_err(words), to, length)
            }
            Begun::GetTransfer(transfer, to, length) => {
                let over = transfer.await;
                self.got(over.map_err(words), to, length)
            }
            Begun::Notified(event, range) => {
                elan3.wait_event(event).await;
                Found::Bytes(self.board(range))
            }
            Begun::Enqueue(remote, from) => {
                let over = elan.wait(remote).await;
                self.free(from);
                done(over.map_err(words))
            }
            Begun::Dequeue => Found::Bytes(self.queue.wait().await.into_vec()),
        };
        stage.note(&self.pe, at, found);
    }

    async fn received(&self, rx: Rx, buffer: Option<ElanAddr>) -> Found {
        let tport = self.pe.elan().tport();
        let received = match tport.rx_wait(rx).await {
            Ok(received) => received,
            Err(error) => {
                if let Some(buffer) = buffer {
                    self.free(buffer);
                }
                return Found::Failed(words(error), None);
            }
        };
        assert_eq!(received.process, pid(received.sender));
        let at = received.at.expect("it is there");
        let bytes = self.load(at, received.size.as_u64());
        match buffer {
            Some(buffer) => self.free(buffer),
            None => tport.buf_free(at).expect("it is a buffer of the system"),
        }
        Found::Message {
            sender: received.sender,
            tag: received.tag,
            bytes,
        }
    }

    /// Waits for all others: in each round for one twice as far away.
    async fn meet(&self, stage: &Stage, phase: u32) -> Result<(), String> {
        let (tport, me, all) = (self.pe.elan().tport(), me(&self.pe), self.pe.nvps());
        let nowhere = self.boards[0];
        for round in (0..32_u32).take_while(|&round| 1 << round < all) {
            let (far, tag) = (1 << round, Label::meeting(phase, round));
            let (from, to) = ((me + all - far) % all, (me + far) % all);
            let select = exactly(from, tag);
            let rx = tport.rx_start(select, Room::Buffer(nowhere, Bytes::ZERO));
            let tx = tport.tx_start(Mode::Standard, pid(to), (me, tag), nowhere, Bytes::ZERO);
            // An error is told here first: others may wait for ever then.
            tport.tx_wait(tx).await.map_err(words)?;
            stage.waits_for(me, Some(from));
            tport.rx_wait(rx).await.map_err(words)?;
            stage.waits_for(me, None);
        }
        Ok(())
    }
}
