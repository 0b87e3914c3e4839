//! A Tport's state, which its host and its thread share.

use super::line::{PostedQueue, Searcher, UnexpectedQueue};
use super::message::{Stats, TportError};
use super::receive::Receive;
use super::unexpected::{Body, SharedMessage, UnexpectedMessage};
use super::wire::{Envelope, ORDERS, Wire};
use crate::cpu::Cpu;
use crate::elan::pool::Pool;
use crate::elan::rails::Rails;
use crate::elan3::{AllocError, Heap};
use elan::config::ENVELOPE;
use elan::{ElanAddr, EventId, Node, Placement, ProcessId, ProcessQueueId, TportConfig};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use typed_index_collections::TiVec;
use units::{Bytes, Time};

/// A process's sends and answers that wait in its adapter for their acknowledgement; further ones
/// wait in the host.
const SLOTS: u32 = 32;

/// A send under way.
#[derive(Default)]
pub(crate) struct Sending {
    pub done: Signal,
    pub result: Cell<Option<Result<(), TportError>>>,
    /// The process that refused the message.
    pub(super) refused: Cell<Option<ProcessId>>,
    /// When the send ended.
    pub(super) ended: Cell<Option<Time>>,
}

impl Sending {
    /// Ends the send, unless it has ended: a short send ends when its bytes have left the host.
    pub(super) fn end(&self, now: Time, result: Result<(), TportError>) {
        if self.result.get().is_none() {
            self.result.set(Some(result));
            self.ended.set(Some(now));
            self.done.fire();
        }
    }
}

/// An order from the process to the thread.
pub(super) enum Order {
    Post(Rc<Receive>),
    Cancel(Rc<Receive>),
    /// An answer to a process goes again.
    Answer(ProcessId, Wire),
    /// A process's event is set, after an attempt that has failed.
    Notice(ProcessId, ElanAddr),
}

/// The Tports of all the job's processes.
pub(crate) type Peers = Rc<TiVec<ProcessId, Rc<Port>>>;

/// A Tport.
pub(crate) struct Port {
    pub(crate) node: Node,
    pub(super) vp: ProcessId,
    pub(crate) cpu: Cpu,
    /// The rails at the process's node, if there are several.
    pub(crate) rails: Option<Rc<Rails>>,
    pub(crate) config: TportConfig,
    /// One sender's small messages that may be unexpected.
    pub(super) window: u32,
    /// Longest small message.
    pub(super) small: Bytes,
    pub(super) queue: ProcessQueueId,
    /// Whether a process's messages may come in another order than they were sent, because they
    /// take detours or go again.
    pub(super) overtakes: bool,
    /// Packets on their way out of adapter memory: the host's and the thread's.
    pub(super) slots: Pool,
    pub(super) answers: Pool,
    /// Fired when there is something in the inbox.
    pub(super) bell: Signal,
    pub(super) state: RefCell<State>,
}

pub(super) struct State {
    /// Receives without a message, in posting order.
    pub posted: PostedQueue,
    /// The thread's orders: posted receives, cancellations, and messages that go again.
    pub inbox: VecDeque<Order>,
    /// Messages that have come by detours; an empty one if the thread is only to look at `early`.
    pub detoured: VecDeque<Box<[u8]>>,
    /// Where messages may overtake: the places in the order of messages to each process, and of the
    /// next from each process; and the messages that have come before their turn, or `None` for one
    /// that will not come.
    pub sent_to: BTreeMap<ProcessId, u32>,
    pub next_from: BTreeMap<ProcessId, u32>,
    pub early: BTreeMap<(ProcessId, u32), Option<(Envelope, Body)>>,
    /// Messages without a receive, in order of arrival.
    pub arrived: UnexpectedQueue<UnexpectedMessage>,
    pub shared: UnexpectedQueue<SharedMessage>,
    /// Small messages lent to each receiver, and each sender's small messages that are not yet
    /// given back.
    pub lent: BTreeMap<ProcessId, u32>,
    pub owed: BTreeMap<ProcessId, u32>,
    /// Sends that wait for an event, by its place.
    pub waiting: BTreeMap<ElanAddr, Rc<Sending>>,
    pub system: Heap,
    pub memory: Heap,
    /// Unused events.
    pub events: Vec<(EventId, ElanAddr)>,
    pub stats: Stats,
}

impl Port {
    /// A process's Tport, one of so many.
    pub fn new(
        node: &Node,
        cpu: Cpu,
        (vp, nvps): (ProcessId, u32),
        rails: Option<Rc<Rails>>,
    ) -> Result<Self, AllocError> {
        let config = node.config().tport;
        let packet = node.config().packet.payload;
        let queue = node.queue(config.slots, packet, None)?;
        let system = Heap::fixed(node.clone(), Placement::Main, config.system)?;
        let mut memory = Heap::new(node.clone(), Placement::Adapter, Bytes::from_kb(32));
        let slots = Pool::new(&mut memory, SLOTS, packet)?;
        let answers = Pool::new(&mut memory, SLOTS, ENVELOPE)?;
        let share = config.buffer / (packet * u64::from(nvps));
        let window = share.clamp(1, config.slots.into()) as u32;
        // The memory for unexpected messages; the thread itself keeps track of it.
        let buffer = packet * u64::from(window) * u64::from(nvps);
        let all = elan::Permissions::LOCAL;
        node.map(Placement::Adapter, buffer, all, true)?;
        Ok(Port {
            node: node.clone(),
            vp,
            cpu,
            overtakes: rails.is_some() || node.lists_faults(),
            rails,
            config,
            window,
            small: config.small.min(packet - ENVELOPE),
            queue,
            slots,
            answers,
            bell: Signal::new(),
            state: RefCell::new(State {
                posted: PostedQueue::default(),
                inbox: VecDeque::new(),
                detoured: VecDeque::new(),
                sent_to: BTreeMap::new(),
                next_from: BTreeMap::new(),
                early: BTreeMap::new(),
                arrived: UnexpectedQueue::default(),
                shared: UnexpectedQueue::default(),
                lent: BTreeMap::new(),
                owed: BTreeMap::new(),
                waiting: BTreeMap::new(),
                system,
                memory,
                events: Vec::new(),
                stats: Stats::default(),
            }),
        })
    }

    /// An event for one use, and where it lies.
    pub(crate) fn event(&self) -> Result<(EventId, ElanAddr), AllocError> {
        let mut state = self.state.borrow_mut();
        if let Some(event) = state.events.pop() {
            return Ok(event);
        }
        let at = state.memory.alloc(64, elan::memory::EVENT_BLOCK)?;
        let event = self.node.event_at(at, 1, elan::Action::Copy);
        Ok((event.expect("it is adapter memory"), at))
    }

    /// Gives an event back.
    pub(crate) fn free_event(&self, (event, at): (EventId, ElanAddr)) {
        self.node.prime(event, 1);
        self.state.borrow_mut().events.push((event, at));
    }

    /// Whether a small message may go to a process; if so, takes one from the bound.
    pub(super) fn borrow(&self, to: ProcessId) -> bool {
        let mut state = self.state.borrow_mut();
        let lent = state.lent.entry(to).or_default();
        let may = *lent < self.window;
        *lent += u32::from(may);
        state.stats.held += u64::from(!may);
        may
    }

    /// The next message's place in the order of the messages to a process.
    pub(super) fn next_order(&self, to: ProcessId) -> u32 {
        let mut state = self.state.borrow_mut();
        let next = state.sent_to.entry(to).or_default();
        std::mem::replace(next, (*next + 1) % ORDERS)
    }

    /// A message between Tports has come by a detour.
    pub(crate) fn came_by_detour(&self, message: Box<[u8]>) {
        self.state.borrow_mut().detoured.push_back(message);
        self.bell.fire();
    }

    /// A process's failed message will not come; the process's next message reports this at no
    /// cost.
    pub(super) fn give_up(&self, source: ProcessId, order: u32) {
        if !self.has_come(source, order) {
            self.state.borrow_mut().early.insert((source, order), None);
            self.came_by_detour(Box::default());
        }
    }

    /// Whether a process's message with this place in the order has come. A message comes twice, or
    /// comes and fails, only where network parts fail besides whole rails: a sender with a dead
    /// adapter may not know which messages have arrived.
    pub(super) fn has_come(&self, source: ProcessId, order: u32) -> bool {
        let mut state = self.state.borrow_mut();
        let next = *state.next_from.entry(source).or_default();
        let past = (order + ORDERS - next) % ORDERS >= ORDERS / 2;
        let come = past || state.early.contains_key(&(source, order));
        assert!(
            !come || self.node.lists_faults(),
            "a message has come twice"
        );
        come
    }

    /// A system buffer for so many bytes.
    pub(super) fn buffer(&self, size: Bytes) -> Result<ElanAddr, AllocError> {
        self.state.borrow_mut().system.alloc(64, size)
    }

    pub fn buf_free(&self, at: ElanAddr) -> Result<(), AllocError> {
        self.state.borrow_mut().system.free(at)
    }

    pub fn stats(&self) -> Stats {
        self.state.borrow().stats
    }

    /// Finds the first posted receive that takes a message; see [`PostedQueue::claim`].
    pub(super) fn claim(
        &self,
        by: Searcher,
        envelope: &Envelope,
        tell: &mut Vec<Rc<Receive>>,
    ) -> (Option<Rc<Receive>>, u32) {
        let state = &mut *self.state.borrow_mut();
        let (receive, compared) = state.posted.claim(by, envelope, tell);
        state.stats.matched += u64::from(receive.is_some());
        (receive, compared)
    }
}
