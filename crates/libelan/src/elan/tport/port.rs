//! The state of a Tport, and what the host does: sends, posts of receives, and the end of both.

use super::local::{Message, Peers};
use super::thread::Arrived;
use super::wire::{Envelope, Wire};
use super::{Mode, POST, Received, Room, Select, Stats, TportError};
use crate::cpu::{Cpu, Turn};
use crate::elan::Elan;
use crate::elan::pool::Pool;
use crate::elan::rails::Rails;
use crate::elan3::{AllocError, Heap};
use elan::config::ENVELOPE;
use elan::{Dma, DmaError, ElanAddr, EventId, Matching, MemoryError, Node, Placement};
use elan::{QueueId, TportConfig};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::{Bytes, Time};

/// Sends and answers of a process that wait in its adapter for their acknowledgement; more wait in the host.
const SLOTS: u32 = 32;

/// A send under way.
#[derive(Default)]
pub(crate) struct Sending {
    pub done: Signal,
    pub result: Cell<Option<Result<(), TportError>>>,
    /// Who refused it.
    pub(super) refused: Cell<Option<u32>>,
    /// When it ended.
    pub(super) ended: Cell<Option<Time>>,
}

impl Sending {
    /// Ends it, unless it has ended: a short message has when its bytes have left the host.
    pub(super) fn end(&self, now: Time, result: Result<(), TportError>) {
        if self.result.get().is_none() {
            self.result.set(Some(result));
            self.ended.set(Some(now));
            self.done.fire();
        }
    }
}

/// A receive under way.
pub(crate) struct Receive {
    pub select: Select,
    pub room: Room,
    pub done: Signal,
    /// Set by the thread once the outcome is there.
    pub(super) event: Cell<Option<EventId>>,
    /// Fired by the host once the outcome is there.
    pub(super) by_host: Signal,
    /// Whether the thread has been told of it.
    pub(super) known: Cell<bool>,
    /// Whether a message has been found for it.
    pub(super) matched: Cell<bool>,
    pub(super) outcome: RefCell<Option<Outcome>>,
    /// When it ended.
    pub(super) ended: Cell<Option<Time>>,
}

impl Receive {
    /// Whether it takes a message.
    pub(super) fn takes(&self, envelope: &Envelope) -> bool {
        let one = envelope;
        self.select.takes(one.source, one.sender, one.tag)
    }

    /// Whether it leaves its message to another one.
    pub(super) fn only_looks(&self) -> bool {
        matches!(self.room, Room::Probe | Room::Peek)
    }

    /// Its end, which the process sees.
    fn end(&self, now: Time) {
        self.ended.set(Some(now));
        self.done.fire();
    }
}

/// What the thread is to do for the process.
pub(super) enum Order {
    Post(Rc<Receive>),
    Cancel(Rc<Receive>),
}

/// What became of a receive.
pub(super) enum Outcome {
    /// The message is in its place, or was only to be found.
    Here(Received),
    /// It is in a buffer of the system.
    Buffered(Received, ElanAddr),
    Failed(TportError),
}

/// A Tport.
pub(crate) struct Port {
    pub(super) node: Node,
    pub(super) vp: u32,
    pub(in crate::elan) cpu: Cpu,
    /// The rails of its node, if there are several.
    pub(super) rails: Option<Rails>,
    pub(super) config: TportConfig,
    /// Small messages of one sender that may be unexpected.
    pub(super) window: u32,
    /// Longest small message.
    pub(super) small: Bytes,
    pub(super) queue: QueueId,
    /// Packets on their way out of adapter memory: those of the host and of the thread.
    pub(super) slots: Pool,
    pub(super) answers: Pool,
    /// Fired when there is something in the inbox.
    pub(super) bell: Signal,
    pub(super) state: RefCell<State>,
}

pub(super) struct State {
    /// Receives without a message, in the order of their posting.
    pub posted: VecDeque<Rc<Receive>>,
    /// What the thread is told of: receives, which are among those, and what becomes of them.
    pub inbox: VecDeque<Order>,
    /// Messages without a receive, in the order of their arrival.
    pub arrived: VecDeque<Arrived>,
    pub shared: VecDeque<Message>,
    /// Small messages at each receiver, and those of each sender that are not yet given back.
    pub lent: BTreeMap<u32, u32>,
    pub owed: BTreeMap<u32, u32>,
    /// Sends that wait for an event, by its place.
    pub waiting: BTreeMap<ElanAddr, Rc<Sending>>,
    pub system: Heap,
    pub memory: Heap,
    /// Events that nobody uses.
    pub events: Vec<(EventId, ElanAddr)>,
    pub stats: Stats,
}

impl State {
    /// Takes a receive off the list, for which a message has been found, or which shall not have one; whether it was there.
    pub fn take_off(&mut self, receive: &Rc<Receive>) -> bool {
        let place = self
            .posted
            .iter()
            .position(|other| Rc::ptr_eq(other, receive));
        if let Some(place) = place {
            self.posted.remove(place);
            receive.matched.set(true);
        }
        place.is_some()
    }
}

impl Port {
    /// The Tport of a process, one of so many.
    pub fn new(
        node: &Node,
        cpu: Cpu,
        (vp, nvps): (u32, u32),
        rails: Option<Rails>,
    ) -> Result<Self, AllocError> {
        let config = node.tport_config();
        let packet = node.longest_packet();
        let queue = node.queue(config.slots, packet, None)?;
        let system = Heap::fixed(node.clone(), Placement::Main, config.system)?;
        let mut memory = Heap::new(node.clone(), Placement::Adapter, Bytes::from_kb(32));
        let slots = Pool::new(&mut memory, SLOTS, packet)?;
        let answers = Pool::new(&mut memory, SLOTS, ENVELOPE)?;
        let share = config.buffer / (packet * u64::from(nvps));
        let window = share.clamp(1, config.slots.into()) as u32;
        // The memory of unexpected messages; the thread keeps track of them itself.
        let buffer = packet * u64::from(window) * u64::from(nvps);
        let all = elan::Permissions::LOCAL;
        node.map(Placement::Adapter, buffer, all, true)?;
        Ok(Port {
            node: node.clone(),
            vp,
            cpu,
            rails,
            config,
            window,
            small: config.small.min(packet - ENVELOPE),
            queue,
            slots,
            answers,
            bell: Signal::new(),
            state: RefCell::new(State {
                posted: VecDeque::new(),
                inbox: VecDeque::new(),
                arrived: VecDeque::new(),
                shared: VecDeque::new(),
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

    /// Starts its thread.
    pub fn serve(elan: &Elan) -> Result<(), MemoryError> {
        let (port, elan3) = (Rc::clone(elan.port()), elan.elan3().clone());
        let label = format!("Tports of {}", elan.label().text());
        let peers = elan.peers();
        let run = async move |thread| super::thread::serve(port, peers, elan3, thread).await;
        elan.node().run_resident(label, run)
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

    /// Starts a send.
    pub fn send(
        elan: &Elan,
        mode: Mode,
        to: u32,
        (sender, tag): (u32, u64),
        from: ElanAddr,
        size: Bytes,
    ) -> Rc<Sending> {
        let sending = Rc::new(Sending::default());
        let port = Rc::clone(elan.port());
        port.state.borrow_mut().stats.sent += 1;
        if to >= elan.nvps() {
            let error = DmaError::NoProcess { process: to };
            sending.end(port.node.now(), Err(error.into()));
            return sending;
        }
        let placement = match elan.node().placement(from, size) {
            Ok(placement) => placement,
            Err(fault) => {
                sending.end(port.node.now(), Err(fault.into()));
                return sending;
            }
        };
        let envelope = Envelope {
            source: port.vp,
            sender,
            tag,
            size,
            here: false,
            from,
            event: ElanAddr::NOWHERE,
            synchronous: mode == Mode::Synchronous,
            near: placement == Placement::Adapter,
            free: 0,
        };
        let (elan, turn, ended) = (elan.clone(), elan.cpu().turn(), Rc::clone(&sending));
        elan.node().clone().serve("send", async move {
            turn.work(&port.node, port.node.host_config().call).await;
            let result = if elan.elan3().shared(to).is_some() {
                super::local::send(&elan, to, envelope, turn).await
            } else {
                port.send_remote(&elan, to, envelope, turn, &ended).await
            };
            ended.end(port.node.now(), result);
        });
        sending
    }

    /// Whether a small message may go to a process; if so, one less may.
    pub(super) fn borrow(&self, to: u32) -> bool {
        let mut state = self.state.borrow_mut();
        let lent = state.lent.entry(to).or_default();
        let may = *lent < self.window;
        *lent += u32::from(may);
        state.stats.held += u64::from(!may);
        may
    }

    /// Sends through the network.
    async fn send_remote(
        &self,
        elan: &Elan,
        to: u32,
        mut envelope: Envelope,
        turn: Turn,
        sending: &Rc<Sending>,
    ) -> Result<(), TportError> {
        let (size, from) = (envelope.size, envelope.from);
        let mut payload: Box<[u8]> = Box::default();
        if size <= self.small {
            payload = elan.elan3().load(from, size)?;
        }
        let small = size <= self.small && self.borrow(to);
        if small {
            envelope.here = true;
        } else {
            payload = Box::default();
            if self.config.matching == Matching::Host {
                let time = self.node.host_config().copy.time(size);
                turn.work(&self.node, time).await;
            }
        }
        let event = if small && !envelope.synchronous {
            None
        } else {
            let event = self.event()?;
            envelope.event = event.1;
            let mut state = self.state.borrow_mut();
            state.waiting.insert(event.1, Rc::clone(sending));
            Some(event)
        };
        let slot = self.slots.take().await;
        envelope.free = self.rails.as_ref().map_or(0, Rails::free);
        let mut bytes = Wire::Envelope(envelope).encode().to_vec();
        bytes.extend_from_slice(&payload);
        elan.elan3().store(slot, &bytes)?;
        let length = Bytes::new(bytes.len() as u64);
        let queue = elan.peer(to).queue.start();
        let message = Dma::queue(self.node.at(slot), queue, length);
        let sent = if self.node.has_sten() {
            let sent = self.node.send_short(message);
            if event.is_none() {
                sending.end(self.node.now(), Ok(()));
            }
            sent
        } else {
            self.node.store_across(length);
            self.node.dma(message)
        };
        drop(turn);
        let sent = sent.await;
        self.slots.give_back(slot);
        let mut lost = self.rails.is_some() && sent.is_err_and(|error| error.is_rail_down());
        if let Some(event) = event {
            lost |= sent.is_ok() && !self.told(event.0).await;
            self.state.borrow_mut().waiting.remove(&event.1);
            // What is on its way to the event of one that is lost may still come.
            if !lost {
                self.free_event(event);
            }
        }
        match sending.refused.get() {
            Some(by) => Err(TportError::Refused { by }),
            None if lost => Err(TportError::RailDown { rail: 0 }),
            None => Ok(sent?),
        }
    }

    /// Waits until an event is set; whether it is, which it will not be where there are several rails and this one has failed.
    async fn told(&self, event: EventId) -> bool {
        let mut set = std::pin::pin!(self.node.wait(event));
        let down = self.rails.as_ref().map(|_| self.node.down());
        let mut down = down.as_ref().map(Signal::wait);
        std::future::poll_fn(|context| {
            let is_set = set.as_mut().poll(context).map(|()| true);
            match &mut down {
                Some(down) if is_set.is_pending() => {
                    std::pin::Pin::new(down).poll(context).map(|()| false)
                }
                _ => is_set,
            }
        })
        .await
    }

    /// Starts a receive.
    pub fn receive(elan: &Elan, select: Select, room: Room) -> Rc<Receive> {
        let receive = Rc::new(Receive {
            select,
            room,
            done: Signal::new(),
            event: Cell::new(None),
            by_host: Signal::new(),
            known: Cell::new(false),
            matched: Cell::new(false),
            outcome: RefCell::new(None),
            ended: Cell::new(None),
        });
        let (port, turn) = (Rc::clone(elan.port()), elan.cpu().turn());
        let (posted, peers) = (Rc::clone(&receive), elan.peers());
        elan.node().serve("receive", async move {
            turn.work(&port.node, port.node.host_config().call).await;
            port.post(peers, &posted, turn).await;
            posted.end(port.node.now());
        });
        receive
    }

    /// Posts a receive and waits until the host knows its outcome.
    async fn post(self: &Rc<Self>, peers: Peers, receive: &Rc<Receive>, turn: Turn) {
        if self.take_shared(peers, receive) {
            drop(turn);
            return receive.by_host.wait().await;
        }
        let event = match self.event() {
            Ok(event) => event,
            Err(error) => {
                receive.outcome.replace(Some(Outcome::Failed(error.into())));
                return;
            }
        };
        receive.event.set(Some(event.0));
        self.state.borrow_mut().posted.push_back(Rc::clone(receive));
        self.command(turn, POST).await;
        if !receive.matched.get() {
            self.order(Order::Post(Rc::clone(receive)));
        }
        let by_thread = std::pin::pin!(self.node.wait(event.0));
        let mut by_thread = by_thread;
        let mut by_host = receive.by_host.wait();
        std::future::poll_fn(|context| {
            let host = std::pin::Pin::new(&mut by_host).poll(context);
            if host.is_ready() {
                return host;
            }
            by_thread.as_mut().poll(context)
        })
        .await;
        self.free_event(event);
    }

    /// Cancels a receive, if no message has been found for it.
    pub fn cancel(elan: &Elan, receive: &Rc<Receive>) {
        let (port, turn) = (Rc::clone(elan.port()), elan.cpu().turn());
        let receive = Rc::clone(receive);
        elan.node().serve("cancel", async move {
            turn.work(&port.node, port.node.host_config().call).await;
            // The calls of a process are in order: the receive has been posted, or has failed to be.
            if !receive.done.is_set() {
                port.command(turn, Bytes::ZERO).await;
                port.order(Order::Cancel(receive));
            }
        });
    }

    /// Wakes the thread by a command, with so many bytes for it; the processor is free at once.
    async fn command(&self, turn: Turn, bytes: Bytes) {
        if self.config.matching == Matching::Adapter {
            self.node.store_across(bytes);
            let told = self.node.wake_thread();
            drop(turn);
            told.wait().await;
        }
    }

    /// Leaves the thread something to do.
    fn order(&self, order: Order) {
        self.state.borrow_mut().inbox.push_back(order);
        self.bell.fire();
    }

    /// The host ends a receive: it copies what waits elsewhere. A call that was given at a moment begins no sooner than the
    /// receive has ended.
    pub async fn finish(
        elan: &Elan,
        receive: &Receive,
        given: Option<Time>,
    ) -> Result<Received, TportError> {
        let port = elan.port();
        let cost = port.node.host_config();
        let given = given.map(|at| at.max(receive.ended.get().expect("it has ended")));
        let turn = elan.cpu().turn_since(given);
        turn.work(&port.node, cost.call).await;
        let outcome = receive.outcome.take().expect("it has ended");
        let (received, buffer) = match outcome {
            Outcome::Here(received) => return Ok(received),
            Outcome::Failed(error) => return Err(error),
            Outcome::Buffered(received, buffer) => (received, buffer),
        };
        match receive.room {
            Room::Buffer(at, _) => {
                turn.work(&port.node, cost.copy.time(received.size)).await;
                let bytes = elan.elan3().load(buffer, received.size)?;
                port.buf_free(buffer)?;
                elan.elan3().store(at, &bytes)?;
                Ok(Received {
                    at: Some(at),
                    ..received
                })
            }
            Room::System | Room::Probe | Room::Peek => Ok(Received {
                at: Some(buffer),
                ..received
            }),
        }
    }

    /// A buffer of the system for so many bytes.
    pub(super) fn buffer(&self, size: Bytes) -> Result<ElanAddr, AllocError> {
        self.state.borrow_mut().system.alloc(64, size)
    }

    pub fn buf_free(&self, at: ElanAddr) -> Result<(), AllocError> {
        self.state.borrow_mut().system.free(at)
    }

    pub fn stats(&self) -> Stats {
        self.state.borrow().stats
    }

    /// Finds the first posted receive that takes a message, among those that the finder knows of, and takes it off the
    /// list; probes that would take it are told of it. Returns how many it was compared with.
    pub(super) fn claim(
        &self,
        knows: impl Fn(&Receive) -> bool,
        envelope: &Envelope,
        tell: &mut Vec<Rc<Receive>>,
    ) -> (Option<Rc<Receive>>, u32) {
        let mut state = self.state.borrow_mut();
        let (mut place, mut compared) = (0, 0);
        while let Some(receive) = state.posted.get(place) {
            if knows(receive) {
                compared += 1;
                if receive.takes(envelope) {
                    let receive = state.posted.remove(place).expect("it is there");
                    receive.matched.set(true);
                    if !receive.only_looks() {
                        state.stats.matched += 1;
                        return (Some(receive), compared);
                    }
                    tell.push(receive);
                    continue;
                }
            }
            place += 1;
        }
        (None, compared)
    }
}
