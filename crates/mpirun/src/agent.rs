//! One rank in the simulation.
//!
//! The agent carries out its rank's orders, keeps ended operations until the rank waits in MPI and
//! can see them, and determines when the rank continues. A rank that waits either *sleeps* until a
//! moment, or *looks*: a rank that looks continues as soon as an operation has ended, and at a
//! moment at the latest; that moment may never come.

mod atomics;
mod collective;
mod files;
mod operation;
mod orders;
mod progress;
mod queues;
mod writes;

use crate::endpoint::{Endpoint, MessageNumber, NetworkOp};
use crate::files::FileSystem;
use crate::groups::Groups;
use crate::record::Recorder;
use crate::sampling::RankMeasurements;
use crate::sent::MessagesInFlight;
use crate::trace::Trace;
use elan::Node;
use kernel::Signal;
use link::{Delivery, FileAccess, MessageFilter, NEVER, Violation};
use operation::Operation;
pub(crate) use orders::{Content, GivenOrder, Turn, TurnEnd};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::Time;

/// The state that all agents share.
pub(crate) struct AgentContext {
    /// How many ranks the run began with.
    pub began: u32,
    pub agents: RefCell<Vec<Rc<Agent>>>,
    /// Ranks that can go on, and when.
    pub ready: RefCell<Vec<(Time, u32)>>,
    /// How many orders have been carried out. Orders to wait, to look for a message and to cancel a
    /// look do not count: ranks repeat these while no event arrives.
    pub orders_done: Cell<u64>,
    /// How many orders have been given, and messages received, other than looks and one-sided
    /// communication; and how many orders for one-sided communication.
    pub moves: Cell<u64>,
    pub remote: Cell<u64>,
    /// Worlds that ranks have ordered: by which rank, in which order, and with how many ranks.
    pub spawns: RefCell<Vec<(u32, u64, u32)>>,
    /// Ranks that wait for others outside the simulation, by their meeting's name, and since when
    /// each waits.
    pub meetings: RefCell<BTreeMap<u64, Vec<(Time, u32)>>>,
    pub trace: RefCell<Trace>,
    /// The run's recording, if it is recorded.
    pub recorder: RefCell<Option<Recorder>>,
    pub in_flight: MessagesInFlight,
    pub groups: Groups,
    /// The ranks' measurements of their computation, where it is sampled.
    pub measured: RefCell<RankMeasurements>,
    /// A rank operation without room on its node; it ends the run.
    pub no_room: RefCell<Option<String>>,
    /// The first operation that was lost in failed parts of the machine, and why.
    pub lost: RefCell<Option<String>>,
    /// The file system, if the machine has one.
    pub files: Option<FileSystem>,
    /// Whether a rank has let time go on because it seemed to wait.
    pub guessed: Cell<bool>,
    pub read: Rc<dyn Reader>,
}

impl AgentContext {
    /// Counts orders that have been given.
    pub fn note(&self, orders: &[GivenOrder]) {
        for given in orders {
            let order = &given.order;
            if order.is_one_sided() {
                self.remote.update(|count| count + 1);
            } else if !order.is_look() && !order.is_record() {
                self.moves.update(|count| count + 1);
            }
        }
    }

    /// Adds to the recording, if the run is recorded.
    pub fn record<R>(&self, tell: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
        self.recorder.borrow_mut().as_mut().map(tell)
    }
}

/// Requests bytes of ranks' memory, and receives their fouls.
pub(crate) trait Reader {
    /// Bytes from a rank's memory at a moment, and their checksum; `None` if the rank has no such
    /// memory, or is gone. Takes no simulated time.
    fn read(&self, agent: &Agent, at: Time, range: MemoryRange) -> Option<(Vec<u8>, u64)>;

    /// Lets a rank combine two vectors by its reduction's function; the result replaces the second.
    /// Takes no simulated time. Has no effect if the rank is gone.
    fn combine(&self, agent: &Agent, one: &[u8], other: &mut [u8]);

    /// Ends the run, because a rank has broken the rules.
    fn blame(&self, rank: u32, foul: Violation);
}

/// A range in a rank's memory.
#[derive(Clone, Copy)]
pub(crate) struct MemoryRange {
    /// The key that the rank has given the memory.
    pub key: u64,
    pub offset: u64,
    pub size: u64,
}

/// No step of a rank that looks is longer, where its call waits without an end.
const LONGEST_STEP: Time = Time::from_us(100);

/// An operation under way.
struct Entry {
    /// The rank's name for the operation.
    id: u64,
    operation: Operation,
    network: Rc<dyn NetworkOp>,
}

/// A rank in the simulation.
pub(crate) struct Agent {
    pub rank: u32,
    pub node: Node,
    endpoint: Box<dyn Endpoint>,
    shared: Rc<AgentContext>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// The rank has left MPI, and has not come back.
    finished: bool,
    /// Operations, by the order in which they were started.
    entries: BTreeMap<u64, Entry>,
    started: u64,
    /// Ended operations that the rank has not seen end, and when they ended: the first one first.
    ended: VecDeque<(Time, u64)>,
    bell: Signal,
    /// Whether the rank's own threads may let it continue while it waits for reports; `None` if it
    /// does not wait.
    waits: Option<bool>,
    /// The moment until which it waits for reports; 0 if it does not wait.
    until: u64,
    /// The file system's operation for which the rank waits.
    file: Option<FileAccess>,
    /// Whether the rank sleeps.
    sleeps: bool,
    /// The rank shall look once more, from this moment.
    nudged: Option<Time>,
    /// The rank's reports for when it continues.
    reports: VecDeque<(Delivery, Box<[u8]>)>,
    /// Others' puts into the rank's memory, and when; the rank receives them in its next turn.
    writes: VecDeque<(Time, Delivery, Rc<Vec<u8>>)>,
    /// When others have put these into the rank's memory since the rank last continued, and a put's
    /// number in the trace.
    written: VecDeque<(Time, Option<usize>)>,
    /// Whether the rank, which waits, continues when others put something into its memory.
    hears_writes: bool,
    /// The rank's queues, by their names.
    queues: BTreeMap<u64, queues::Queue>,
    /// Messages that were reported to the rank since its last orders were carried out.
    told: Vec<MessageNumber>,
    /// Messages that the rank has, and that a pending look may still report: it found them before
    /// they were received.
    seen: Vec<MessageNumber>,
    /// Peeks and probes under way.
    looks: u32,
    /// The latest peek.
    looked: Option<Operation>,
    /// Receives for messages that peeks have found and kept, by the peeks' ids.
    kept: BTreeMap<u64, (Rc<dyn NetworkOp>, MessageFilter)>,
    /// Untagged messages that were sent to each rank.
    messages: BTreeMap<u32, u64>,
    /// Each sender's next untagged message, and those that have overtaken it: when, and which
    /// operation.
    expected: BTreeMap<u32, u64>,
    early: BTreeMap<(u32, u64), (Time, u64)>,
}

impl Agent {
    pub fn new(
        rank: u32,
        node: Node,
        endpoint: Box<dyn Endpoint>,
        shared: Rc<AgentContext>,
    ) -> Self {
        Agent {
            rank,
            node,
            endpoint,
            shared,
            state: RefCell::default(),
        }
    }

    pub fn is_finished(&self) -> bool {
        self.state.borrow().finished
    }

    /// Whether the rank sleeps in simulated time.
    pub fn sleeps(&self) -> bool {
        self.state.borrow().sleeps
    }

    /// Whether the rank waits for a timer: for reports until a moment that no step would reach.
    pub fn awaits_timer(&self) -> bool {
        let until = self.state.borrow().until;
        until != NEVER && Time::from_ps(until) > self.node.now() + LONGEST_STEP
    }

    /// The rank's process has ended.
    pub fn dies(&self, at: Time) {
        self.state.borrow_mut().finished = true;
        self.take_back(at);
        self.shared.trace.borrow_mut().ranks[self.rank as usize].end = at;
    }

    /// The rank, which has left MPI, is back.
    pub fn comes_back(&self) {
        self.state.borrow_mut().finished = false;
    }

    /// Lets the rank look once more, if it waits and either has threads or `all` is set; returns
    /// whether it does.
    pub fn nudge(&self, now: Time, all: bool) -> bool {
        let mut state = self.state.borrow_mut();
        if !state.waits.is_some_and(|threads| threads || all) {
            return false;
        }
        state.nudged = Some(now);
        state.bell.fire();
        true
    }

    /// How many operations the rank has started.
    pub fn started(&self) -> u64 {
        self.state.borrow().started
    }

    /// Whether something is still on its way that the rank had sent, put or asked for before it had
    /// started this many operations.
    pub fn has_outgoing(&self, before: u64) -> bool {
        let state = self.state.borrow();
        let mut old = state.entries.range(..before);
        old.any(|(_, entry)| entry.operation.goes_out())
    }

    /// The operation that the rank has under way or else its last look, for people.
    pub fn under_way(&self) -> Vec<String> {
        let state = self.state.borrow();
        let entries = state.entries.values();
        let entries = entries.filter(|entry| entry.operation.is_own());
        let meetings = self.shared.meetings.borrow();
        let mut all = meetings.values().flatten();
        let meets = all.any(|&(_, rank)| rank == self.rank);
        let meets = meets.then(|| "waits for other ranks at the process manager".to_string());
        let file = state.file.map(files::in_words);
        let entries = entries.map(|entry| entry.operation.to_string());
        let mut all: Vec<String> = meets.into_iter().chain(file).chain(entries).collect();
        if all.is_empty() {
            all.extend(state.looked.as_ref().map(Operation::to_string));
        }
        all
    }

    /// Takes the next write into the rank's memory up to a moment.
    pub fn next_write(&self, moment: Time) -> Option<(Delivery, Rc<Vec<u8>>)> {
        let state = &mut *self.state.borrow_mut();
        let (at, ..) = state.writes.front()?;
        if *at > moment {
            return None;
        }
        let (_, write, bytes) = state.writes.pop_front()?;
        state.told.push(MessageNumber(write.message as u32));
        Some((write, bytes))
    }

    /// Takes the rank's next report for when it continues.
    pub fn next_report(&self) -> Option<(Delivery, Box<[u8]>)> {
        self.state.borrow_mut().reports.pop_front()
    }

    /// The rank has the messages that were reported to it.
    fn confirm(&self) {
        let (state, in_flight) = (&mut *self.state.borrow_mut(), &self.shared.in_flight);
        for number in state.told.drain(..) {
            in_flight.confirm(number);
            state.seen.push(number);
        }
        if state.looks == 0 {
            let seen = state.seen.drain(..);
            seen.for_each(|number| in_flight.forget(number));
        }
    }

    /// Carries out all that the rank ordered in a turn, in order, each at its moment or, if that is
    /// past, now.
    pub async fn carry_out(self: Rc<Self>, turn: Turn) {
        // With its turn the rank has received the reported messages, and has not complained.
        self.confirm();
        for given in turn.orders {
            self.node.sleep_until(given.time).await;
            let looks = given.order.is_look();
            self.shared
                .orders_done
                .update(|done| done + u64::from(!looks));
            self.begin(given);
        }
        let Some((moment, end)) = turn.end else {
            return;
        };
        self.node.sleep_until(moment).await;
        match end {
            TurnEnd::Waits(wait) => self.wait(moment, wait).await,
            TurnEnd::Leaves => {
                self.shared.orders_done.update(|done| done + 1);
                self.leave(moment);
            }
        }
    }
}
