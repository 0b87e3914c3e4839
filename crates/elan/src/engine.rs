//! # The sending side: the DMA queue and the DMA engine
//!
//! One engine, on an Elan4 one of several, works through a queue of descriptors, first in, first out. It takes one up, after `dma_start` cuts it in
//! packets, and hands them to the fabric, which injects while fewer than `packets_in_flight` are unacknowledged. The
//! engine keeps that many packets prepared: reading payload across the bus and sending overlap. A DMA that has sent a
//! time slice's worth while others wait goes to the end of the queue (000 s2.1: the engine "time-slices large DMAs so
//! that small DMAs are not adversely blocked"). Several engines share the queue, and take turns packet by packet; a short
//! DMA then has to wait for a time slice only where all of them have long ones.
//!
//! The command processor checks a descriptor, its whole source included, before it enters the queue (000 figure 6); the
//! engine translates the source of each packet again when it cuts it, since a process may have unmapped it meanwhile.
//!
//! The destination's answers: *accepted* counts towards completion. *Discarded*, the destination was not ready, sends
//! the packet again after `retry_delay`, `retries` times, from then on after `trap_delay` (the hardware traps and the
//! operating system backs off); meanwhile the DMA is parked: nothing more of it is cut, and others go on. *Error* ends the
//! DMA; packets already under way finish.

use crate::NodeId;
use crate::broadcast::Landing;
use crate::cluster::{Happening, World};
use crate::dma::{Dma, DmaError, DmaId, Kind, Notify, Packet, Progress, Report, Stage, Token};
use crate::event::News;
use crate::get::{DESCRIPTOR, Get};
use crate::memory::{Address, Placement};
use crate::message::MESSAGE;
use crate::mmu::{Access, Fault, Reason};
use fabric::{Ack, PacketSpec};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// One of the engines that share the queue.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// The DMA that is being cut, and what it has sent in this time slice.
    current: Option<(DmaId, Bytes)>,
    /// Whether `dma_start` is running.
    starting: bool,
}

/// What a lane did with its turn.
enum Turn {
    /// It can do nothing now.
    Idle,
    /// It has given its DMA up and may take another.
    Over,
    /// It has prepared a packet.
    Cut,
}

/// The queue and the engines of one adapter.
pub(crate) struct Engine {
    queue: VecDeque<DmaId>,
    lanes: Box<[Lane]>,
    /// The lane whose turn it is.
    turn: usize,
    /// Packets whose payload is being read, in order of the bus.
    reading: u32,
    /// Requests of gets that the inputter has accepted and still works on.
    pub announced: u32,
    /// For each queue to which a message is under way, those that wait for its end; and how many these are in all.
    held: BTreeMap<Address, VecDeque<DmaId>>,
    held_back: u32,
}

impl Engine {
    pub fn new(engines: u32) -> Self {
        Engine {
            queue: VecDeque::new(),
            lanes: vec![Lane::default(); engines as usize].into(),
            turn: 0,
            reading: 0,
            announced: 0,
            held: BTreeMap::new(),
            held_back: 0,
        }
    }

    /// Descriptors that wait, and those that requests have announced.
    pub fn waiting(&self) -> u32 {
        self.queue.len() as u32 + self.announced + self.held_back
    }

    /// Whether a DMA is being cut, or waits for that.
    pub fn is_busy(&self) -> bool {
        !self.queue.is_empty() || self.lanes.iter().any(|lane| lane.current.is_some())
    }

    /// Ends a DMA that has failed, wherever it stands: its number may soon be another's.
    fn forget(&mut self, id: DmaId) {
        self.queue.retain(|&other| other != id);
        for lane in &mut self.lanes {
            lane.current.take_if(|(current, _)| *current == id);
        }
    }
}

impl World {
    /// A new DMA of a process, not yet posted.
    pub(crate) fn new_dma(&mut self, progress: Progress) -> DmaId {
        self.dmas.insert(progress) as DmaId
    }

    /// Starts a DMA that an event or a thread of the adapter posts, without the command port.
    pub(crate) fn start_chained(&mut self, process: Address, dma: Dma) {
        let contexts = &self.adapters[process.node as usize].contexts;
        let Some(context) = &contexts[process.context.0 as usize] else {
            return;
        };
        let owner = (process.node, process.context);
        let id = self.new_dma(Progress::new(
            dma,
            owner,
            context.capability,
            Report::Nobody,
        ));
        self.enqueue(process.node, id);
    }

    /// The descriptor enters the queue, or is refused.
    pub(crate) fn enqueue(&mut self, node: NodeId, id: DmaId) {
        match self.check(node, id) {
            Ok(get) => {
                if get {
                    self.dmas[id as usize].get = Some(Get::Asking { stored: false });
                }
                let progress = &mut self.dmas[id as usize];
                if progress.dma.last.is_some() {
                    let count = progress.dma.destination().count() as usize;
                    progress.landings = vec![Landing::default(); count].into();
                }
                self.enter_queue(node, id);
            }
            Err(error) => {
                let progress = &mut self.dmas[id as usize];
                progress.fail(error);
                progress.cut_all = true;
                self.complete_if_done(id);
            }
        }
    }

    /// Whether a descriptor is right as far as its own adapter can tell; if so, whether it is a get.
    fn check(&self, node: NodeId, id: DmaId) -> Result<bool, DmaError> {
        let progress = &self.dmas[id as usize];
        let (dma, capability) = (progress.dma, progress.capability);
        let (context, queue) = (progress.context, self.config.adapter.queue);
        let own = |address: Address| (address.node, address.context) == (node, context);
        let (put, get) = (own(dma.from), !own(dma.from) && own(dma.to));
        let notified = dma.notify.map(|notify| self.notified(notify));
        let done = dma.done.map(|event| self.notified(Notify::Event(event)));
        let lies = |event: Option<Option<Address>>, with: Address| {
            event.is_none_or(|at| at.is_some_and(|at| at.is_with(with)))
        };
        let source = if put { dma.from } else { dma.to };
        let broadcast = dma.last.is_some();
        if !put && (!get || dma.queue || broadcast)
            || !lies(notified, dma.to)
            || !lies(done, source)
        {
            return Err(DmaError::Misdirected { node, context });
        }
        self.check_rail(dma.from.node, dma.to.node)?;
        if self.adapters[node as usize].down.is_set() {
            let access = Access::RemoteWrite;
            return Err(Fault::new(dma.to, dma.length, access, Reason::Down).into());
        }
        self.check_range(dma.destination())?;
        if put {
            self.translate(dma.from, dma.length, Access::LocalRead, capability)?;
        } else {
            self.translate(dma.to, dma.length, Access::RemoteWrite, capability)?;
        }
        let length = dma.length;
        if dma.queue && length > self.config.packet.payload {
            return Err(DmaError::TooLong { length });
        }
        if self.adapters[node as usize].engine.waiting() >= queue {
            return Err(DmaError::QueueFull { node, queue });
        }
        Ok(get)
    }

    /// Whether two adapters are on one rail.
    pub(crate) fn check_rail(&self, from: NodeId, to: NodeId) -> Result<(), DmaError> {
        let rail = |place: NodeId| self.fabric.topology().rail_and_node(place.into()).0;
        if rail(from) == rail(to) {
            Ok(())
        } else {
            Err(DmaError::Apart { from, to })
        }
    }

    /// Where the event of a descriptor lies; nowhere if it has been freed.
    pub(crate) fn notified(&self, notify: Notify) -> Option<Address> {
        match notify {
            Notify::Event(event) => {
                self.adapters[event.node as usize].events[event.index as usize].at
            }
            Notify::At(at) => Some(at),
        }
    }

    /// A descriptor that has been accepted enters the queue, or waits for the message to the same queue before it.
    pub(crate) fn enter_queue(&mut self, node: NodeId, id: DmaId) {
        let engine = &mut self.adapters[node as usize].engine;
        let progress = &mut self.dmas[id as usize];
        progress.stage = Stage::Queued;
        let dma = progress.dma;
        if dma.queue {
            if let Some(held) = engine.held.get_mut(&dma.to) {
                held.push_back(id);
                engine.held_back += 1;
                return;
            }
            engine.held.insert(dma.to, VecDeque::new());
        }
        self.line_up(node, id);
    }

    /// A descriptor may go: it waits for an engine of its kind.
    fn line_up(&mut self, node: NodeId, id: DmaId) {
        if self.is_short(id) {
            self.adapters[node as usize].sten.queue.push_back(id);
            self.run_sten(node);
        } else {
            self.adapters[node as usize].engine.queue.push_back(id);
            self.run_engine(node);
        }
    }

    /// A message to a queue is over: the next one to it may go.
    fn release(&mut self, node: NodeId, to: Address) {
        let engine = &mut self.adapters[node as usize].engine;
        let Some(held) = engine.held.get_mut(&to) else {
            return;
        };
        match held.pop_front() {
            Some(next) => {
                engine.held_back -= 1;
                self.line_up(node, next);
            }
            None => {
                engine.held.remove(&to);
            }
        }
    }

    /// An engine has taken up its descriptor.
    pub(crate) fn started(&mut self, node: NodeId, number: u32) {
        let lane = &mut self.adapters[node as usize].engine.lanes[number as usize];
        lane.starting = false;
        self.run_engine(node);
    }

    /// Lets the engines do what they can: take up a DMA, prepare packets, yield.
    pub(crate) fn run_engine(&mut self, node: NodeId) {
        let lanes = self.adapters[node as usize].engine.lanes.len();
        let mut idle = 0;
        while idle < lanes {
            let turn = self.adapters[node as usize].engine.turn;
            match self.run_lane(node, turn) {
                Turn::Over => {
                    idle = 0;
                    continue;
                }
                Turn::Cut => idle = 0,
                Turn::Idle => idle += 1,
            }
            self.adapters[node as usize].engine.turn = (turn + 1) % lanes;
        }
    }

    fn run_lane(&mut self, node: NodeId, number: usize) -> Turn {
        let engine = &mut self.adapters[node as usize].engine;
        let prepared = engine.reading as usize + self.fabric.queued(node);
        let others_wait = !engine.queue.is_empty();
        let lane = &mut engine.lanes[number];
        if lane.starting {
            return Turn::Idle;
        }
        let Some((id, sent)) = lane.current else {
            if let Some(id) = engine.queue.pop_front() {
                lane.current = Some((id, Bytes::ZERO));
                lane.starting = true;
                let at = self.now() + self.config.adapter.dma_start;
                self.schedule(at, node, Happening::Started(node, number as u32));
            }
            return Turn::Idle;
        };
        let parked = self.dmas[id as usize].refused > 0;
        if self.dmas[id as usize].cut_all {
            lane.current = None;
            Turn::Over
        } else if (parked || sent >= self.config.adapter.time_slice) && others_wait {
            lane.current = None;
            engine.queue.push_back(id);
            Turn::Over
        } else if !parked && prepared < self.config.fabric.packets_in_flight as usize {
            let cut = self.cut_packet(node, id);
            let lane = &mut self.adapters[node as usize].engine.lanes[number];
            if let Some(current) = &mut lane.current {
                current.1 = sent + cut;
            }
            Turn::Cut
        } else {
            Turn::Idle
        }
    }

    /// Cuts the next packet of a DMA, or of a get its only one, and has its payload read; returns its payload's length.
    /// A source that is no longer mapped ends the DMA.
    pub(crate) fn cut_packet(&mut self, node: NodeId, id: DmaId) -> Bytes {
        let progress = &self.dmas[id as usize];
        let (dma, offset, serving) = (progress.dma, progress.cut, progress.get);
        let mut kind = Kind::Data;
        let mut length = (dma.length - offset).min(self.config.packet.payload);
        let (mut placement, mut payload, mut fault) = (Placement::Adapter, None, None);
        if dma.last.is_some() {
            kind = Kind::Broadcast;
        }
        if matches!(serving, Some(Get::Asking { .. })) {
            kind = Kind::Request;
            length = Bytes::ZERO;
        } else if !length.is_zero() {
            let (at, capability) = (dma.from.offset(offset), progress.capability);
            let access = if serving.is_some() {
                Access::RemoteRead
            } else {
                Access::LocalRead
            };
            match self.fetch(at, length, access, capability) {
                Ok(found) => (placement, payload) = found,
                Err(error) if serving.is_none() => {
                    self.adapters[node as usize].engine.forget(id);
                    let progress = &mut self.dmas[id as usize];
                    progress.fail(error.into());
                    progress.cut_all = true;
                    self.complete_if_done(id);
                    return Bytes::ZERO;
                }
                Err(error) => {
                    kind = Kind::Trap;
                    length = Bytes::ZERO;
                    fault = Some(Box::new(error));
                }
            }
        }
        if placement == Placement::Main
            && let Some(payload) = payload.as_deref_mut()
        {
            self.read_behind(dma.from.offset(offset), payload);
        }
        let progress = &mut self.dmas[id as usize];
        progress.cut += length;
        let sends = matches!(kind, Kind::Data | Kind::Broadcast);
        progress.cut_all = !sends || progress.cut == dma.length;
        progress.open += 1;
        progress.unstored += 1;
        let packet = Packet {
            dma: id,
            kind,
            offset,
            length,
            payload,
            fault,
            refusals: 0,
            pending: u32::from(kind != Kind::Broadcast),
            acknowledged: false,
            landed: self.landed(id),
        };
        let token = self.packets.insert(packet) as Token;
        if placement == Placement::Main {
            self.adapters[node as usize].engine.reading += 1;
            self.read_main(node, token);
        } else {
            self.send(token);
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
    fn send(&mut self, token: Token) {
        let packet = &self.packets[token as usize];
        let progress = &self.dmas[packet.dma as usize];
        let (dma, format) = (progress.dma, &self.config.packet);
        let (destination, flits) = match packet.kind {
            Kind::Request => (dma.from.node.into(), format.flits(DESCRIPTOR)),
            Kind::Data if dma.queue => (dma.to.node.into(), format.queue_flits(packet.length)),
            _ => (dma.destination(), format.flits(packet.length)),
        };
        let spec = PacketSpec {
            source: progress.node.into(),
            destination,
            flits,
            priority: dma.priority,
            awaits_end: packet.kind == Kind::Broadcast && self.notifies_at_end(token),
            token,
        };
        if spec.awaits_end {
            self.packets[token as usize].pending += destination.count();
        }
        let cycle = self.cycle_from(self.now());
        self.fabric.offer(cycle, spec);
    }

    /// A refused packet goes out again.
    pub(crate) fn retry(&mut self, token: Token) {
        if token & MESSAGE != 0 {
            return self.offer_message(token);
        }
        let id = self.packets[token as usize].dma;
        let progress = &mut self.dmas[id as usize];
        progress.refused -= 1;
        let node = progress.node;
        self.send(token);
        self.run_engine(node);
    }

    /// The destination's answer has arrived.
    pub(crate) fn answered(&mut self, token: Token, ack: Ack) {
        if token & MESSAGE != 0 {
            return self.message_answered(token, ack);
        }
        let packet = &mut self.packets[token as usize];
        let (id, refusals) = (packet.dma, packet.refusals);
        let node = self.dmas[id as usize].node;
        match ack {
            Ack::Accepted => self.settled(id, token),
            Ack::Discarded => {
                packet.refusals += 1;
                self.dmas[id as usize].refused += 1;
                let at = self.now() + self.config.adapter.retry_after(refusals);
                self.schedule(at, node, Happening::Retried(token));
            }
            Ack::TestFailed => unreachable!("the packets of a DMA carry no test that could fail"),
            Ack::Error => {
                let fault = packet.fault.take().expect("a destination has said why");
                let stores = packet.kind != Kind::Broadcast;
                packet.pending -= u32::from(stores);
                self.adapters[node as usize].engine.forget(id);
                let progress = &mut self.dmas[id as usize];
                progress.fail((*fault).into());
                progress.cut_all = true;
                progress.unstored -= u32::from(stores);
                self.settled(id, token);
            }
        }
        self.run_engine(node);
    }

    /// A packet of a DMA needs nothing more from the source.
    fn settled(&mut self, id: DmaId, token: Token) {
        self.packets[token as usize].acknowledged = true;
        self.dmas[id as usize].open -= 1;
        self.complete_if_done(id);
        self.drop_packet_if_done(token);
    }

    /// Sets the source event of a DMA whose last packet is settled. Nobody awaits that of what serves a get.
    pub(crate) fn complete_if_done(&mut self, id: DmaId) {
        let progress = &mut self.dmas[id as usize];
        if !progress.complete() || progress.stage >= Stage::Completed {
            return;
        }
        let (node, dma) = (progress.node, progress.dma);
        let ordered = dma.queue && progress.stage == Stage::Queued;
        if matches!(progress.get, Some(Get::Serving(_))) {
            progress.stage = Stage::Reported;
            self.drop_dma_if_over(id);
        } else {
            progress.stage = Stage::Completed;
            let at = self.now() + self.config.adapter.event;
            self.schedule(at, node, Happening::Occurred(News::Completed(node, id)));
            if ordered {
                self.release(node, dma.to);
            }
        }
    }

    /// Forgets a DMA that is over at both ends, and with it what it serves if that is over, too.
    pub(crate) fn drop_dma_if_over(&mut self, id: DmaId) {
        let progress = &self.dmas[id as usize];
        if progress.stage == Stage::Reported && progress.unstored == 0 && !progress.served {
            self.landed_all(id);
            let progress = self.dmas.remove(id as usize);
            if let Some(Get::Serving(get)) = progress.get {
                self.dmas[get as usize].served = false;
                self.drop_dma_if_over(get);
            }
        }
    }

    /// Forgets a packet that neither end needs.
    pub(crate) fn drop_packet_if_done(&mut self, token: Token) {
        let packet = &self.packets[token as usize];
        if packet.pending == 0 && packet.acknowledged {
            let packet = self.packets.remove(token as usize);
            if packet.kind == Kind::Broadcast {
                self.dmas[packet.dma as usize].unstored -= 1;
                self.drop_dma_if_over(packet.dma);
            }
        }
    }

    /// Moment from which the fabric can act on something that happens now or at a given time.
    pub(crate) fn cycle_from(&self, at: Time) -> fabric::Cycle {
        at.div_ceil(self.config.cycle)
    }
}
