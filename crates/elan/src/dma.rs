//! # The sending side: descriptors, the DMA queue, the DMA engine
//!
//! One engine works through a queue of descriptors, first in, first out. It takes one up, after `dma_start` cuts it in
//! packets, and hands them to the fabric, which injects while fewer than `packets_in_flight` are unacknowledged. The
//! engine keeps that many packets prepared: reading payload across the bus and sending overlap. A DMA that has sent a
//! time slice's worth while others wait goes to the end of the queue (000 s2.1: the engine "time-slices large DMAs so
//! that small DMAs are not adversely blocked").
//!
//! The destination's answers: *accepted* counts towards completion. *Discarded*, the destination was not ready, sends
//! the packet again after `retry_delay`, `retries` times, from then on after `trap_delay` (the hardware traps and the
//! operating system backs off); meanwhile the DMA is parked: nothing more of it is cut, and others go on. *Error* ends the
//! DMA; packets already under way finish.
//!
//! A DMA is complete when all its packets are acknowledged; then its source event is set, which its process awaits.
//! A DMA whose source lies in another node is a *get*, which that node's adapter executes: see [`crate::get`].

use crate::bus::Direction;
use crate::cluster::{Happening, World};
use crate::event::{EventId, News};
use crate::get::{DESCRIPTOR, Get};
use crate::memory::{Address, Placement};
use crate::meter::Meter;
use fabric::{Ack, NodeId, PacketSpec, Priority};
use kernel::Signal;
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::IntoFuture;
use std::pin::Pin;
use std::rc::Rc;
use thiserror::Error;
use units::{Bytes, Time};

/// A command is one word through the command port.
const COMMAND: Bytes = Bytes::new(8);

/// A DMA descriptor: "move these bytes there".
#[derive(Clone, Copy, Debug)]
pub struct Dma {
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) length: Bytes,
    pub(crate) priority: Priority,
    pub(crate) notify: Option<EventId>,
    pub(crate) meter: Option<Meter>,
}

impl Dma {
    /// A transfer of `length` bytes; zero bytes are one packet that carries only the notification. One end lies in the
    /// node that posts it: the source of a put, the destination of a get.
    pub fn new(from: Address, to: Address, length: Bytes) -> Self {
        Dma {
            from,
            to,
            length,
            priority: Priority::Low,
            notify: None,
            meter: None,
        }
    }

    /// Names an event of the destination that occurs when all bytes are stored.
    #[must_use]
    pub fn notify(self, event: EventId) -> Self {
        Dma {
            notify: Some(event),
            ..self
        }
    }

    /// Counts its payload, as it is stored, on a meter.
    #[must_use]
    pub fn metered(self, meter: Meter) -> Self {
        Dma {
            meter: Some(meter),
            ..self
        }
    }

    /// Whether a node holds all bytes of the destination, and the event.
    pub(crate) fn reaches(self, node: NodeId) -> bool {
        let event = self.notify.is_none_or(|event| event.node == node);
        self.to.region.node == node && self.to.covers(self.length) && event
    }

    /// Sets the priority of its packets.
    #[must_use]
    pub fn priority(self, priority: Priority) -> Self {
        Dma { priority, ..self }
    }
}

/// Why a DMA did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DmaError {
    /// The DMA queue of the adapter was full.
    #[error("the DMA queue of node {node} is full ({queue} descriptors)")]
    QueueFull {
        /// The node that posted.
        node: NodeId,
        /// The queue's bound.
        queue: u32,
    },
    /// The node does not hold the bytes of the source: the node that posted, or the one that it wants to get them from.
    #[error("the source of the DMA does not lie within a region of node {0}")]
    BadSource(NodeId),
    /// The bytes or the event do not lie within the destination's regions; the destination refused for good.
    #[error("node {0} reports that the destination of the DMA does not lie within its regions")]
    BadDestination(NodeId),
}

/// A posted DMA. Awaiting it waits for its completion at the source; dropping it does not cancel it.
pub struct Transfer {
    pub(crate) result: Pin<Box<dyn Future<Output = Result<(), DmaError>>>>,
}

impl IntoFuture for Transfer {
    type Output = Result<(), DmaError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output>>>;

    fn into_future(self) -> Self::IntoFuture {
        self.result
    }
}

/// Number of a DMA in the cluster's table; re-used once it is over at both ends.
pub(crate) type DmaId = u32;

/// A DMA in progress.
pub(crate) struct Progress {
    pub dma: Dma,
    /// The node whose engine works on it.
    pub node: NodeId,
    /// What it is in a get, if it belongs to one.
    pub get: Option<Get>,
    /// Bytes cut into packets.
    pub cut: Bytes,
    /// Whether the last packet has been cut.
    pub cut_all: bool,
    /// Packets cut and not yet acknowledged.
    pub open: u32,
    /// Refused packets that wait to be sent again; while there are any, the DMA is parked.
    pub refused: u32,
    /// Packets that the other end has not yet dealt with.
    pub unstored: u32,
    /// Why it failed, if it did; shared with the process that awaits it.
    pub failed: Rc<Cell<Option<DmaError>>>,
    pub done: Signal,
    /// Whether the process has been told.
    pub reported: bool,
}

impl Progress {
    /// Nothing done yet.
    pub fn new(dma: Dma, node: NodeId, get: Option<Get>) -> Self {
        Progress {
            dma,
            node,
            get,
            cut: Bytes::ZERO,
            cut_all: false,
            open: 0,
            refused: 0,
            unstored: 0,
            failed: Rc::new(Cell::new(None)),
            done: Signal::new(),
            reported: false,
        }
    }

    /// Whether all is done for which its process waits.
    pub fn complete(&self) -> bool {
        let data = self.get == Some(Get::Asking { stored: false }) && self.failed.get().is_none();
        self.cut_all && self.open == 0 && !data
    }
}

/// A packet of a DMA, from its cutting to its last use at either end.
pub(crate) struct Packet {
    pub dma: DmaId,
    /// Whether it carries a descriptor for the other end's engine, not payload.
    pub request: bool,
    pub offset: Bytes,
    pub length: Bytes,
    pub payload: Option<Box<[u8]>>,
    /// Refusals so far.
    pub refusals: u32,
    /// Whether the destination has still to store it, and whether the source waits for its acknowledgement.
    pub stored: bool,
    pub acknowledged: bool,
}

/// Number of a packet in the cluster's table: the fabric's token.
pub(crate) type Token = u64;

/// The engine of one adapter.
#[derive(Default)]
pub(crate) struct Engine {
    pub queue: VecDeque<DmaId>,
    /// The DMA that is being cut, and what it has sent in this time slice.
    pub current: Option<(DmaId, Bytes)>,
    /// Whether `dma_start` is running.
    pub starting: bool,
    /// Packets whose payload is being read, in order of the bus.
    pub reading: u32,
    /// Requests of gets that the inputter has accepted and still works on.
    pub announced: u32,
}

impl Engine {
    /// Descriptors that wait, and those that requests have announced.
    pub fn waiting(&self) -> u32 {
        self.queue.len() as u32 + self.announced
    }

    /// Ends a DMA that has failed, wherever it stands: its number may soon be another's.
    fn forget(&mut self, id: DmaId) {
        self.queue.retain(|&other| other != id);
        self.current.take_if(|(current, _)| *current == id);
    }
}

impl World {
    /// The host stores a command: it crosses the bus, then the command processor works on it.
    pub(crate) fn post(&mut self, node: NodeId, dma: DmaId) {
        self.transfer(
            node,
            Direction::ToAdapter,
            COMMAND,
            Happening::Commanded(node, dma),
        );
    }

    /// The descriptor enters the queue, or is refused.
    pub(crate) fn enqueue(&mut self, node: NodeId, id: DmaId) {
        let queue = self.config.adapter.queue;
        let engine = &self.adapters[node as usize].engine;
        let progress = &mut self.dmas[id as usize];
        let dma = progress.dma;
        let put = dma.from.region.node == node;
        let get = !put && dma.to.region.node == node;
        let refused = if !put && !get || put && !dma.from.covers(dma.length) {
            Some(DmaError::BadSource(node))
        } else if get && !dma.reaches(node) {
            Some(DmaError::BadDestination(node))
        } else if engine.waiting() >= queue {
            Some(DmaError::QueueFull { node, queue })
        } else {
            None
        };
        if refused.is_some() {
            progress.failed.set(refused);
            progress.cut_all = true;
            self.complete_if_done(id);
        } else {
            if get {
                progress.get = Some(Get::Asking { stored: false });
            }
            self.enter_queue(node, id);
        }
    }

    /// A descriptor that has been accepted enters the queue.
    pub(crate) fn enter_queue(&mut self, node: NodeId, id: DmaId) {
        self.adapters[node as usize].engine.queue.push_back(id);
        self.run_engine(node);
    }

    /// Lets the engine do what it can: take up a DMA, prepare packets, yield.
    pub(crate) fn run_engine(&mut self, node: NodeId) {
        loop {
            let engine = &mut self.adapters[node as usize].engine;
            if engine.starting {
                return;
            }
            let Some((id, sent)) = engine.current else {
                if let Some(id) = engine.queue.pop_front() {
                    engine.current = Some((id, Bytes::ZERO));
                    engine.starting = true;
                    let at = self.now() + self.config.adapter.dma_start;
                    self.schedule(at, node, Happening::Started(node));
                }
                return;
            };
            let prepared = engine.reading as usize + self.fabric.queued(node);
            let others_wait = !engine.queue.is_empty();
            let parked = self.dmas[id as usize].refused > 0;
            if self.dmas[id as usize].cut_all {
                engine.current = None;
            } else if (parked || sent >= self.config.adapter.time_slice) && others_wait {
                engine.queue.push_back(id);
                engine.current = None;
            } else if !parked && prepared < self.config.fabric.packets_in_flight as usize {
                let cut = self.cut_packet(node, id);
                self.adapters[node as usize].engine.current = Some((id, sent + cut));
            } else {
                return;
            }
        }
    }

    /// Cuts the next packet of a DMA, or of a get its only one, and has its payload read; returns its payload's length.
    fn cut_packet(&mut self, node: NodeId, id: DmaId) -> Bytes {
        let format = self.config.packet;
        let progress = &mut self.dmas[id as usize];
        let (dma, offset) = (progress.dma, progress.cut);
        let request = matches!(progress.get, Some(Get::Asking { .. }));
        let length = if request {
            Bytes::ZERO
        } else {
            (dma.length - offset).min(format.payload)
        };
        progress.cut += length;
        progress.cut_all = request || progress.cut == dma.length;
        progress.open += 1;
        progress.unstored += 1;
        let from = dma.from.advanced(offset);
        let payload = if request {
            None
        } else {
            self.adapters[node as usize].memory.load(from, length)
        };
        let packet = Packet {
            dma: id,
            request,
            offset,
            length,
            payload,
            refusals: 0,
            stored: false,
            acknowledged: false,
        };
        let token = self.packets.insert(packet);
        if from.placement() == Placement::Main && !length.is_zero() {
            self.adapters[node as usize].engine.reading += 1;
            self.transfer(
                node,
                Direction::ToAdapter,
                length,
                Happening::Read(node, token as Token),
            );
        } else {
            self.send(token as Token);
        }
        length
    }

    /// The payload of a packet has been read from main memory.
    pub(crate) fn read(&mut self, node: NodeId, token: Token) {
        self.adapters[node as usize].engine.reading -= 1;
        self.send(token);
        self.run_engine(node);
    }

    /// Hands a packet to the fabric.
    pub(crate) fn send(&mut self, token: Token) {
        let packet = &self.packets[token as usize];
        let progress = &self.dmas[packet.dma as usize];
        let dma = progress.dma;
        let (other_end, length) = if packet.request {
            (dma.from, DESCRIPTOR)
        } else {
            (dma.to, packet.length)
        };
        let spec = PacketSpec {
            source: progress.node,
            destination: other_end.region.node.into(),
            flits: self.config.packet.flits(length),
            priority: dma.priority,
            awaits_end: false,
            token,
        };
        let cycle = self.cycle_from(self.now());
        self.fabric.offer(cycle, spec);
    }

    /// A refused packet goes out again.
    pub(crate) fn retry(&mut self, token: Token) {
        let id = self.packets[token as usize].dma;
        let progress = &mut self.dmas[id as usize];
        progress.refused -= 1;
        let node = progress.node;
        self.send(token);
        self.run_engine(node);
    }

    /// The destination's answer has arrived.
    pub(crate) fn answered(&mut self, token: Token, ack: Ack) {
        let packet = &mut self.packets[token as usize];
        let (id, refusals) = (packet.dma, packet.refusals);
        let node = self.dmas[id as usize].node;
        match ack {
            Ack::Accepted => self.settled(id, token),
            Ack::Discarded => {
                packet.refusals += 1;
                self.dmas[id as usize].refused += 1;
                let adapter = &self.config.adapter;
                let wait = if refusals < adapter.retries {
                    adapter.retry_delay
                } else {
                    adapter.trap_delay
                };
                self.schedule(self.now() + wait, node, Happening::Retried(token));
            }
            Ack::TestFailed => unreachable!("the packets of a DMA carry no test that could fail"),
            Ack::Error => {
                packet.stored = true;
                self.adapters[node as usize].engine.forget(id);
                let request = packet.request;
                let progress = &mut self.dmas[id as usize];
                let error = if request {
                    DmaError::BadSource(progress.dma.from.region.node)
                } else {
                    DmaError::BadDestination(progress.dma.to.region.node)
                };
                progress.failed.set(Some(error));
                progress.cut_all = true;
                progress.unstored -= 1;
                self.settled(id, token);
            }
        }
        self.run_engine(node);
    }

    /// A packet of a DMA needs nothing more from the source.
    fn settled(&mut self, id: DmaId, token: Token) {
        self.packets[token as usize].acknowledged = true;
        self.drop_packet_if_done(token);
        self.dmas[id as usize].open -= 1;
        self.complete_if_done(id);
    }

    /// Sets the source event of a DMA whose last packet is settled. Nobody awaits that of what serves a get.
    fn complete_if_done(&mut self, id: DmaId) {
        let progress = &mut self.dmas[id as usize];
        if !progress.complete() {
            return;
        }
        if matches!(progress.get, Some(Get::Serving(_))) {
            progress.reported = true;
            self.drop_dma_if_over(id);
        } else {
            let node = progress.node;
            let at = self.now() + self.config.adapter.event;
            self.schedule(at, node, Happening::Occurred(News::Completed(node, id)));
        }
    }

    /// Forgets a DMA that is over at both ends.
    pub(crate) fn drop_dma_if_over(&mut self, id: DmaId) {
        let progress = &self.dmas[id as usize];
        if progress.reported && progress.unstored == 0 {
            self.dmas.remove(id as usize);
        }
    }

    /// Forgets a packet that neither end needs.
    pub(crate) fn drop_packet_if_done(&mut self, token: Token) {
        let packet = &self.packets[token as usize];
        if packet.stored && packet.acknowledged {
            self.packets.remove(token as usize);
        }
    }

    /// Moment from which the fabric can act on something that happens now or at a given time.
    pub(crate) fn cycle_from(&self, at: Time) -> fabric::Cycle {
        at.div_ceil(self.config.cycle)
    }
}
