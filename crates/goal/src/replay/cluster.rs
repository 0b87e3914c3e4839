//! The replay on a simulated machine: each rank is a process in a job, and its calls are Tports
//! calls.
//!
//! Buffers have a length and no contents. A process has one buffer, as long as its longest message,
//! for all sends and receives, and for others' puts and gets. `remote` has the operations that reach
//! into others' memory, and active messages.
//!
//! ## Buffered sends
//!
//! A long send ends when its bytes have been fetched. Programs on libraries that copy the bytes
//! into a connection's buffer (NCCL's slots) continue before that, and their traces may wait
//! forever if sends do not. [`Buffers::sends`] gives each pair of ranks room for sends: a send ends
//! with its call if its bytes have room beside those that have not been fetched, and otherwise, in
//! the order of the sends, when they have. A send with more bytes than the whole room ends when it
//! has been fetched. The copy itself takes no time.

mod remote;

use super::{Record, ReplayFailure, ReplayResult, check_sizes};
use crate::ledger::{self, MessageKey};
use crate::operation::Arrival;
use crate::progress::{RankProgress, ReadyOperation};
use crate::{ANY, Kind, Operation, Trace, TraceProblem};
use elan::series::{MeterSeries, SeriesRow};
use elan::transaction::WORD;
use elan::{Cluster, ElanAddr, Permissions, Placement, ProcessId, Stop};
use foldhash::HashMap;
use kernel::Signal;
use libelan::elan::tport::{Mode, Room, Select, TportError};
use libelan::{Pe, ProcessJob};
use remote::Mailbox;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use units::{Bytes, Time};

/// A computation's latest end. The days behind it, out of the 213 that simulated time holds, are
/// room for calls and packets.
const HORIZON: Time = Time::from_secs(200 * 24 * 3600);

/// The ranks on the cluster.
struct Ranks {
    record: RefCell<Record>,
    processes: Vec<ReplayProcess>,
    /// The time between the looks of a poll.
    poll: Time,
    /// The first thing that failed.
    failure: RefCell<Option<ReplayFailure>>,
    /// The room for sends, per pair of ranks, and its used bytes.
    room: u64,
    rooms: RefCell<HashMap<(u32, u32), Use>>,
    /// Active messages that have come, or their handlers that wait.
    mail: RefCell<HashMap<MessageKey, Mailbox>>,
}

/// The ranks' buffers: their memory, and the room for sends per pair of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// The messages' memory.
    pub placement: Placement,
    /// The room for sends; if zero, a send ends as on the machine.
    pub sends: Bytes,
}

impl From<Placement> for Buffers {
    fn from(placement: Placement) -> Self {
        Buffers {
            placement,
            sends: Bytes::ZERO,
        }
    }
}

/// The buffer between two ranks.
#[derive(Default)]
struct Use {
    bytes: u64,
    /// Sends without room so far, in the order of their calls: number, operation and when it was
    /// free.
    waiting: VecDeque<(u32, Operation, Time)>,
}

struct ReplayProcess {
    pe: Pe,
    buffer: ElanAddr,
    /// A word in the adapter, if others change words.
    word: Option<ElanAddr>,
    /// Fired when all of the rank's operations have ended, or after a failure.
    over: Signal,
    /// When each computation stream has finished its computations so far; for the first one,
    /// without its calls and without noise.
    streams: RefCell<HashMap<u8, Time>>,
}

/// Replays a trace by a job with a process for each rank, on a cluster. With `keep`, the records
/// hold the operations, and link utilisation over time.
///
/// # Errors
/// A mistake in the trace; no room for the ranks; an exceeded bound; a cancelled run.
///
/// # Panics
/// If the job has another process count.
pub fn on_cluster(
    trace: Trace,
    cluster: &mut Cluster,
    job: &ProcessJob,
    buffers: impl Into<Buffers>,
    keep: bool,
) -> Result<ReplayResult, ReplayFailure> {
    let started = ClusterReplay::new(trace, (cluster, Time::ZERO), job, buffers, keep)?;
    let mut series = keep.then(|| MeterSeries::new(cluster));
    let run = match &mut series {
        Some(series) => cluster.run_in_periods(series),
        None => cluster.run(),
    };
    started.finish(
        cluster,
        run,
        series.map(MeterSeries::rows).unwrap_or_default(),
    )
}

/// A trace with its ranks on a cluster, perhaps among others.
pub struct ClusterReplay(Rc<Ranks>);

impl ClusterReplay {
    /// Puts a process of the job on the cluster for each rank in a trace. The ranks begin at a
    /// moment. With `keep`, the records hold the operations.
    ///
    /// # Errors
    /// A mistake in the trace; no room for the ranks.
    ///
    /// # Panics
    /// If the job has another process count.
    pub fn new(
        mut trace: Trace,
        (cluster, begin): (&Cluster, Time),
        job: &ProcessJob,
        buffers: impl Into<Buffers>,
        keep: bool,
    ) -> Result<Self, ReplayFailure> {
        let buffers = buffers.into();
        check_sizes(&mut trace)?;
        check_adapters(&mut trace)?;
        let pes = job.attach(cluster)?;
        assert_eq!(pes.len() as u32, trace.ranks(), "each rank is a process");
        let mut processes = Vec::new();
        for (rank, pe) in (0..).zip(pes) {
            let size = Bytes::new(trace.longest(rank).max(1));
            let region = pe
                .node()
                .map(buffers.placement, size, Permissions::ALL, false)?;
            let word = trace.has_words(rank).then(|| {
                let node = pe.node();
                let region = node.map(Placement::Adapter, WORD, Permissions::ALL, false)?;
                let word = region.start().elan;
                pe.elan3().store(word, &[0; 8]).expect("it is mapped");
                Ok::<_, ReplayFailure>(word)
            });
            processes.push(ReplayProcess {
                buffer: region.start().elan,
                word: word.transpose()?,
                pe,
                over: Signal::new(),
                streams: RefCell::default(),
            });
        }
        let ranks = Rc::new(Ranks {
            poll: trace.notes().poll,
            record: RefCell::new(Record::new(trace, keep)),
            processes,
            failure: RefCell::new(None),
            room: buffers.sends.as_u64(),
            rooms: RefCell::default(),
            mail: RefCell::default(),
        });
        for (rank, process) in (0..).zip(&ranks.processes) {
            let (ranks, over) = (Rc::clone(&ranks), process.over.clone());
            let node = process.pe.node().clone();
            process.pe.node().spawn("rank", async move {
                node.sleep_until(begin).await;
                ranks.begin(rank);
                over.wait().await;
            });
        }
        Ok(ClusterReplay(ranks))
    }

    /// The records after a cluster run that ended with `run`.
    ///
    /// # Errors
    /// A mistake in the trace; messages without partners; the reason why the run stopped.
    pub fn finish(
        self,
        cluster: &Cluster,
        run: Result<(), Stop>,
        series: Vec<SeriesRow>,
    ) -> Result<ReplayResult, ReplayFailure> {
        if let Some(failure) = self.0.failure.take() {
            return Err(failure);
        }
        let (mut record, now) = (self.0.record.borrow_mut(), cluster.now());
        match run {
            // The trace has the reason why ranks wait forever, unless packets do.
            Ok(()) | Err(Stop::Deadlock { packets: None, .. }) => {
                record.finish(now, series, &failed(cluster))
            }
            Err(stop) => Err(record.stopped(stop, now, series)),
        }
    }
}

/// The machine's failed parts, in words.
fn failed(cluster: &Cluster) -> Vec<String> {
    let topology = cluster.config().fabric.topology;
    let episodes = cluster.faults();
    let down = episodes.iter().filter_map(|episode| {
        let down = episode.down?;
        Some(format!("{} at {down}", episode.part.name(&*topology)))
    });
    down.collect()
}

/// Refuses messages that name an adapter.
fn check_adapters(trace: &mut Trace) -> Result<(), TraceProblem> {
    for rank in 0..trace.ranks() {
        if trace.nic(rank) == 0 {
            continue;
        }
        for number in 0..trace.count(rank) {
            let operation = trace.operation(rank, number)?;
            if operation.kind != Kind::Calc && operation.nic != 0 {
                let what = "the policy of the machine chooses the adapter of a message, and not \
                    the \
                    trace; take `nic` out";
                return Err(trace.problem(rank, number, what));
            }
        }
    }
    Ok(())
}

/// The messages that an operation means.
fn select(operation: Operation) -> Select {
    let given = |value: u32| (value != ANY).then_some(value);
    let (peer, tag) = (given(operation.peer), given(operation.tag));
    Select {
        process: peer.map(ProcessId::new),
        ..Select::exactly(peer, tag.map(u64::from))
    }
}

impl Ranks {
    fn begin(self: &Rc<Self>, rank: u32) {
        let free = {
            let record = &mut *self.record.borrow_mut();
            RankProgress::begin(&mut record.trace, rank)
        };
        self.give_or_fail(rank, free);
        self.look(rank);
    }

    /// Ends the rank's process if all its operations have ended.
    fn look(&self, rank: u32) {
        let record = self.record.borrow();
        if record.progress[rank as usize].ended == record.trace.count(rank) {
            self.processes[rank as usize].over.fire();
        }
    }

    fn fail(&self, failure: ReplayFailure) {
        self.failure.borrow_mut().get_or_insert(failure);
        for process in &self.processes {
            process.over.fire();
        }
    }

    fn give_or_fail(self: &Rc<Self>, rank: u32, free: Result<Vec<ReadyOperation>, TraceProblem>) {
        let given = free.and_then(|free| self.give(rank, free));
        if let Err(problem) = given {
            self.fail(problem.into());
        }
    }

    /// Gives free operations to their rank's processor, and those that their starts make free.
    fn give(self: &Rc<Self>, rank: u32, mut free: Vec<ReadyOperation>) -> Result<(), TraceProblem> {
        while !free.is_empty() {
            let mut next = Vec::new();
            for one in free {
                {
                    let record = &mut *self.record.borrow_mut();
                    let now = self.processes[rank as usize].pe.now();
                    record.progress[rank as usize].under_way(&one, now);
                    record.calls(rank, (one.number, one.operation));
                }
                match one.operation.kind {
                    Kind::Send => self.send(rank, &one),
                    Kind::Recv => self.receive(rank, &one),
                    Kind::Probe | Kind::Poll => self.probe(rank, &one),
                    Kind::Calc => self.compute(rank, &one)?,
                    Kind::Put | Kind::Get => self.copy(rank, &one),
                    Kind::Atomic | Kind::Swap => self.atomic(rank, &one),
                    Kind::Active => self.activate(rank, &one),
                    Kind::Handle | Kind::Await => self.handle(rank, &one),
                }
                if one.operation.kind != Kind::Calc && one.tells_start {
                    self.started(rank, one.number, &mut next)?;
                }
            }
            free = next;
        }
        Ok(())
    }

    fn started(
        &self,
        rank: u32,
        number: u32,
        free: &mut Vec<ReadyOperation>,
    ) -> Result<(), TraceProblem> {
        let record = &mut *self.record.borrow_mut();
        let progress = &mut record.progress[rank as usize];
        progress.started(&mut record.trace, rank, number, free)
    }

    /// An operation that was free at a moment has ended now.
    fn ended(self: &Rc<Self>, rank: u32, which: (u32, Operation), free: Time) {
        let now = self.processes[rank as usize].pe.now();
        let mut next = Vec::new();
        let result = {
            let record = &mut *self.record.borrow_mut();
            record.ended(rank, which, [free, now]).and_then(|()| {
                let progress = &mut record.progress[rank as usize];
                progress.ended(&mut record.trace, rank, which.0, &mut next)
            })
        };
        self.give_or_fail(rank, result.map(|()| next));
        self.look(rank);
    }

    fn failed(&self, rank: u32, number: u32, error: &TportError) {
        let what = match error {
            TportError::Truncated { .. } => format!("{error}; make the receive longer"),
            _ => error.to_string(),
        };
        self.fails(rank, number, &what);
    }

    /// An operation has failed, in words.
    fn fails(&self, rank: u32, number: u32, what: &str) {
        let mut record = self.record.borrow_mut();
        let problem = record.trace.problem(rank, number, what);
        drop(record);
        self.fail(problem.into());
    }

    fn send(self: &Rc<Self>, rank: u32, one: &ReadyOperation) {
        let process = &self.processes[rank as usize];
        let (number, operation) = (one.number, one.operation);
        let tport = process.pe.elan().tport();
        let (to, label) = (ProcessId::new(operation.peer), (rank, operation.tag.into()));
        let size = Bytes::new(operation.size);
        let tx = tport.tx_start(Mode::Standard, to, label, process.buffer, size);
        let (ranks, free) = (Rc::clone(self), process.pe.now());
        if self.room == 0 || operation.size > self.room {
            process.pe.node().serve("send", async move {
                match tport.tx_wait(tx).await {
                    Ok(()) => ranks.ended(rank, (number, operation), free),
                    Err(error) => ranks.failed(rank, number, &error),
                }
            });
            return;
        }
        // The processor's turn behind the call.
        let (called, pair) = (process.pe.compute(Time::ZERO), (rank, operation.peer));
        process.pe.node().serve("buffered send", async move {
            called.await;
            ranks.fill(pair, (number, operation, free));
            match tport.tx_wait(tx).await {
                Ok(()) => ranks.empty(pair, (number, operation, free)),
                Err(error) => ranks.failed(rank, number, &error),
            }
        });
    }

    /// A send's call is over: its bytes go into the buffer of its pair of ranks, or wait for room
    /// there.
    fn fill(self: &Rc<Self>, pair: (u32, u32), send: (u32, Operation, Time)) {
        let mut rooms = self.rooms.borrow_mut();
        rooms.entry(pair).or_default().waiting.push_back(send);
        drop(rooms);
        self.come_in(pair);
    }

    /// A send's bytes have been fetched, from the buffer or while they waited for room there.
    fn empty(self: &Rc<Self>, pair: (u32, u32), send: (u32, Operation, Time)) {
        let (number, operation, free) = send;
        let mut rooms = self.rooms.borrow_mut();
        let buffer = rooms.entry(pair).or_default();
        let waits = buffer.waiting.iter().position(|&(one, ..)| one == number);
        match waits {
            Some(place) => {
                buffer.waiting.remove(place);
            }
            None => buffer.bytes -= operation.size,
        }
        drop(rooms);
        if waits.is_some() {
            self.ended(pair.0, (number, operation), free);
        }
        self.come_in(pair);
    }

    /// The next sends' bytes come into the buffer, as far as there is room, and these sends end.
    fn come_in(self: &Rc<Self>, pair: (u32, u32)) {
        let mut ended = Vec::new();
        let mut rooms = self.rooms.borrow_mut();
        let buffer = rooms.entry(pair).or_default();
        while let Some(&(_, operation, _)) = buffer.waiting.front()
            && buffer.bytes + operation.size <= self.room
        {
            buffer.bytes += operation.size;
            ended.extend(buffer.waiting.pop_front());
        }
        drop(rooms);
        for (number, operation, free) in ended {
            self.ended(pair.0, (number, operation), free);
        }
    }

    fn receive(self: &Rc<Self>, rank: u32, one: &ReadyOperation) {
        let process = &self.processes[rank as usize];
        let (number, operation) = (one.number, one.operation);
        let select = select(operation);
        let tport = process.pe.elan().tport();
        let room = Room::Buffer(process.buffer, Bytes::new(operation.size));
        let rx = tport.rx_start(select, room);
        let (ranks, free) = (Rc::clone(self), process.pe.now());
        process.pe.node().serve("receive", async move {
            match tport.rx_wait(rx).await {
                Ok(message) => {
                    let tag = ledger::tag(message.tag as u32, Arrival::Message);
                    let way = (message.sender, rank, tag);
                    let mut record = ranks.record.borrow_mut();
                    record.received(way, message.size, number);
                    drop(record);
                    ranks.ended(rank, (number, operation), free);
                }
                Err(error) => ranks.failed(rank, number, &error),
            }
        });
    }

    /// Looks for a message, which stays.
    fn probe(self: &Rc<Self>, rank: u32, one: &ReadyOperation) {
        let process = &self.processes[rank as usize];
        let (number, operation) = (one.number, one.operation);
        let (select, tport) = (select(operation), process.pe.elan().tport());
        let first = tport.rx_start(select, Room::Peek);
        let (ranks, free) = (Rc::clone(self), process.pe.now());
        let (node, step) = (process.pe.node().clone(), self.poll);
        process.pe.node().serve("look", async move {
            let mut found = tport.rx_wait(first).await;
            while matches!(found, Err(TportError::Nothing)) {
                let room = match operation.kind {
                    Kind::Probe => Room::Probe,
                    _ => Room::Peek,
                };
                if operation.kind == Kind::Poll && !step.is_zero() {
                    node.sleep_until(node.now() + step).await;
                }
                found = tport.rx_wait(tport.rx_start(select, room)).await;
            }
            match found {
                Ok(_) => ranks.ended(rank, (number, operation), free),
                Err(error) => ranks.failed(rank, number, &error),
            }
        });
    }

    /// Starts a computation; it reports its own start, if others wait for that.
    fn compute(self: &Rc<Self>, rank: u32, one: &ReadyOperation) -> Result<(), TraceProblem> {
        let process = &self.processes[rank as usize];
        let (number, tells, free) = (one.number, one.tells_start, process.pe.now());
        let (ranks, pe) = (Rc::clone(self), process.pe.clone());
        let operation = one.operation;
        let time = Time::from_ns(operation.size);
        let mut streams = process.streams.borrow_mut();
        let stream = streams.entry(operation.cpu).or_default();
        let begin = free.max(*stream);
        let end = begin.checked_add(time).filter(|&end| end <= HORIZON);
        let Some(end) = end else {
            let what = "it would end after 200 days of simulated time, the most that a replay on a \
                machine has; compute less";
            let trace = &mut self.record.borrow_mut().trace;
            return Err(trace.problem(rank, number, what));
        };
        *stream = end;
        drop(streams);
        let starts = move |ranks: &Rc<Self>| {
            let mut next = Vec::new();
            let started = ranks.started(rank, number, &mut next);
            ranks.give_or_fail(rank, started.map(|()| next));
        };
        if operation.cpu == 0 {
            // Both of the processor's turns are taken now, so that no other operation comes between
            // them.
            let begin = tells.then(|| pe.compute(Time::ZERO));
            let work = pe.compute(time);
            pe.node().serve("computation", async move {
                if let Some(begin) = begin {
                    begin.await;
                    starts(&ranks);
                }
                work.await;
                ranks.ended(rank, (number, operation), free);
            });
            return Ok(());
        }
        let node = pe.node().clone();
        pe.node().serve("computation", async move {
            if tells {
                node.sleep_until(begin).await;
                starts(&ranks);
            }
            node.sleep_until(end).await;
            ranks.ended(rank, (number, operation), free);
        });
        Ok(())
    }
}
