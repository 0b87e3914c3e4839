//! # The sending side: the DMA queue and the DMA engine
//!
//! One engine, among several on an Elan4, works through a descriptor queue, first in, first out.
//! The engine takes up a descriptor, cuts the DMA in packets after `dma_start`, and hands the
//! packets to the fabric, which injects while fewer than `packets_in_flight` are unacknowledged.
//! The engine keeps that many packets prepared, so reading payload across the bus and sending
//! overlap. Several engines share the queue and take turns packet by packet.
//!
//! A time slice is a time (petrini2003 s2.1: the engine "time-slices large DMAs so that small DMAs
//! are not adversely blocked"; the headers of the Elan4 give its slices in microseconds). It begins
//! when the engine takes the DMA up, and sends at least one packet. Between packets, whenever one
//! has left or been answered and whenever a descriptor arrives, the engine compares the time: after
//! its slice a DMA goes to the queue's end if others wait. A DMA alone keeps its engine; the next
//! descriptor has its turn immediately if the slice is over. The packets already prepared go first.
//! Packets that wait for the network shorten the part that a slice of a long DMA sends, not the
//! slice. A short DMA waits for a slice only if all engines work on long DMAs.
//!
//! The command processor checks a descriptor, its whole source included, before queueing it
//! (petrini2003 figure 6). The engine translates each packet's source again when it cuts the
//! packet, since a process may have unmapped the source meanwhile.
//!
//! The destination's answers: *accepted* counts towards completion. *Discarded* means that the
//! destination was not ready: the packet is sent again after `retry_delay`, `retries` times, and
//! from then on after `trap_delay` (the hardware traps and the operating system backs off).
//! Meanwhile the DMA is parked: its packets are not cut, and other DMAs continue. *Error* ends the
//! DMA; packets already under way finish.

use super::packets::{check_rail, check_range};
use super::recovery::RecoveryStep;
use super::{AdapterEvent, EngineNumber, Wires};
use crate::config::AdapterPart;
use crate::dma::{Dma, DmaError};
use crate::in_flight::{DmaId, Get, Kind, Landing, PacketNumber, Progress, Report, Stage, Token};
use crate::memory::{Access, AccessFault, Address, Reason};
use fabric::{Ack, PacketId};
use std::collections::VecDeque;
use typed_index_collections::{TiVec, ti_vec};
use units::Time;

/// A DMA's time slice.
#[derive(Clone, Copy)]
struct Slice {
    /// When the engine took the DMA up.
    since: Time,
    /// Whether a packet has been prepared since.
    used: bool,
}

/// One engine of those that share the queue.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// The DMA that is being cut, and its time slice.
    current: Option<(DmaId, Slice)>,
    /// Whether `dma_start` is running.
    starting: bool,
}

/// The result of an engine's turn.
enum Turn {
    /// The engine has no work now.
    Idle,
    /// The engine has given its DMA up and may take another.
    Over,
    /// The engine has prepared a packet.
    Cut,
    /// The engine's DMA has failed; if the DMA was a message to a queue, the queue's address.
    Failed(Option<Address>),
}

/// One adapter's DMA queue and engines.
pub(crate) struct DmaEngine {
    queue: VecDeque<DmaId>,
    lanes: TiVec<EngineNumber, Lane>,
    /// The engine that has the turn.
    turn: EngineNumber,
    /// Get requests that the inputter has accepted and still works on.
    announced: u32,
    /// For each queue with a message under way, the messages that wait for its end; and the total
    /// count of these messages.
    held: Vec<(Address, VecDeque<DmaId>)>,
    held_back: u32,
}

impl DmaEngine {
    /// As many engines as the machine has, or one.
    pub fn new(parts: &[AdapterPart]) -> Self {
        let engines = parts.iter().find_map(|part| match *part {
            AdapterPart::DmaEngines { count } => Some(count),
            _ => None,
        });
        DmaEngine {
            queue: VecDeque::new(),
            lanes: ti_vec![Lane::default(); engines.unwrap_or(1) as usize],
            turn: EngineNumber::default(),
            announced: 0,
            held: Vec::new(),
            held_back: 0,
        }
    }

    /// Descriptors that wait, and descriptors that requests have announced.
    pub fn waiting(&self) -> u32 {
        self.queue.len() as u32 + self.announced + self.held_back
    }

    /// Descriptors that engines work on.
    pub fn working(&self) -> u32 {
        let lanes = self.lanes.iter();
        lanes.filter(|lane| lane.current.is_some()).count() as u32
    }

    /// Whether a DMA is being cut or waits to be cut.
    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.queue.is_empty() || self.lanes.iter().any(|lane| lane.current.is_some())
    }

    /// The adapter has died: no message to a queue waits any more.
    pub fn release_all(&mut self) {
        self.held.clear();
        self.held_back = 0;
    }

    /// Ends a DMA that has failed, wherever it stands: its number may soon belong to another DMA.
    pub fn forget(&mut self, id: DmaId) {
        self.queue.retain(|&other| other != id);
        for lane in &mut self.lanes {
            lane.current.take_if(|(current, _)| *current == id);
        }
    }

    /// The command processor, a thread or an event has a descriptor for the queue. Returns whether
    /// the descriptor may go now: a wrong descriptor is refused, and a message to a queue waits for
    /// the message before it.
    pub fn accept(&mut self, wires: &mut Wires, down: bool, id: DmaId) -> bool {
        match self.check(wires, down, id) {
            Ok(get) => {
                let progress = wires.flight.dma_mut(id);
                if get {
                    progress.get = Some(Get::Asking { stored: false });
                }
                if progress.dma.last.is_some() {
                    let count = progress.dma.destination().count() as usize;
                    progress.landings = vec![Landing::default(); count].into();
                }
                self.enter(wires, id)
            }
            Err(error) => {
                wires.flight.dma_mut(id).end(error);
                wires.complete(id);
                false
            }
        }
    }

    /// Whether a descriptor is valid as far as its own adapter can check; if so, whether it is a
    /// get.
    fn check(&self, wires: &Wires, down: bool, id: DmaId) -> Result<bool, DmaError> {
        let progress = wires.flight.dma(id);
        let (dma, capability, memory) = (&progress.dma, progress.capability, &wires.memory);
        let (node, context) = (wires.node, progress.context);
        let own = |address: Address| (address.node, address.context) == (node, context);
        let put = own(dma.from);
        let get = !put && own(dma.to) && !dma.queue && dma.last.is_none();
        let source = if put { dma.from } else { dma.to };
        let lies = |at: Option<Address>, with: Address| at.is_some_and(|at| at.is_with(with));
        let notified = |notify| lies(memory.notified(notify), dma.to);
        let done = |event| lies(memory.event_address(event), source);
        if !(put || get) || !dma.notify.is_none_or(notified) || !dma.done.is_none_or(done) {
            return Err(DmaError::Misdirected { node, context });
        }
        check_rail(wires.fabric, dma.from.node, dma.to.node)?;
        let length = dma.length;
        if down {
            let access = Access::RemoteWrite;
            return Err(AccessFault::new(dma.to, length, access, Reason::Down).into());
        }
        check_range(wires.fabric, dma.destination())?;
        if put {
            memory.translate(dma.from, length, Access::LocalRead, capability)?;
        } else {
            memory.translate(dma.to, length, Access::RemoteWrite, capability)?;
        }
        if dma.queue && length > wires.config.packet.payload {
            return Err(DmaError::TooLong { length });
        }
        let queue = wires.config.adapter.queue;
        if self.waiting() >= queue && !is_for_the_sten(wires, dma) {
            return Err(DmaError::QueueFull { node, queue });
        }
        Ok(get)
    }

    /// An accepted descriptor enters. Returns whether it may go: a message to a queue waits for the
    /// message before it.
    fn enter(&mut self, wires: &mut Wires, id: DmaId) -> bool {
        let progress = wires.flight.dma_mut(id);
        progress.stage = Stage::Queued;
        let to = progress.dma.to;
        if progress.dma.queue {
            if let Some((_, held)) = self.held.iter_mut().find(|(queue, _)| *queue == to) {
                held.push_back(id);
                self.held_back += 1;
                return false;
            }
            self.held.push((to, VecDeque::new()));
        }
        true
    }

    /// A message to a queue is over: returns the next message to this queue, which may go.
    pub fn release(&mut self, to: Address) -> Option<DmaId> {
        let place = self.held.iter().position(|(queue, _)| *queue == to)?;
        let next = self.held[place].1.pop_front();
        if next.is_some() {
            self.held_back -= 1;
        } else {
            self.held.swap_remove(place);
        }
        next
    }

    /// A descriptor may go: puts it into the queue.
    pub fn push(&mut self, id: DmaId) {
        self.queue.push_back(id);
    }

    /// A get request has come from the network; `refusing` if the node accepts no packets.
    pub fn requested(
        &mut self,
        wires: &mut Wires,
        refusing: bool,
        packet: PacketId,
        token: PacketNumber,
    ) {
        if wires.repeats(packet, token) {
            return;
        }
        let get = wires.flight.packet(token).dma;
        let progress = wires.flight.dma(get);
        let (dma, capability) = (progress.dma, progress.capability);
        let access = Access::RemoteRead;
        let memory = &wires.memory;
        let readable = memory.translate(dma.from, dma.length, access, capability);
        let offered = memory.check_offer(dma.from, dma.length, dma.withdrawn, capability);
        if let Err(fault) = readable.and(offered) {
            wires.flight.packet_mut(token).fault = Some(Box::new(fault));
            wires.answer_for_good(packet, token, Ack::Error);
        } else if refusing || self.waiting() >= wires.config.adapter.queue {
            wires.answer(packet, Ack::Discarded);
        } else {
            self.announced += 1;
            wires.answer_for_good(packet, token, Ack::Accepted);
            wires.flight.packet_mut(token).pending -= 1;
            wires.flight.drop_packet_if_done(wires.now, token);
            let asking = wires.flight.dma_mut(get);
            asking.unstored -= 1;
            asking.served = true;
            let owner = (wires.node, dma.from.context);
            let mut serving = Progress::new(dma, owner, capability, Report::Nobody);
            serving.get = Some(Get::Serving(get));
            let serving = wires.flight.add_dma(serving);
            let announced = AdapterEvent::Announced(wires.node, serving);
            wires.schedule(wires.now + wires.config.adapter.input, announced);
        }
    }

    /// The inputter is done with a request; returns as [`DmaEngine::accept`] does.
    pub fn announced(&mut self, wires: &mut Wires, serving: DmaId) -> bool {
        self.announced -= 1;
        self.enter(wires, serving)
    }

    /// An engine has taken up its descriptor.
    pub fn started(&mut self, number: EngineNumber) {
        self.lanes[number].starting = false;
    }

    /// Lets the engines take up a DMA, prepare packets and yield, as far as they can. Stops where a
    /// message to a queue has failed, and returns that queue: the caller releases it.
    pub fn run(&mut self, wires: &mut Wires) -> Option<Address> {
        let lanes = self.lanes.len();
        let (mut idle, mut failed) = (0, None);
        while idle < lanes && failed.is_none() {
            match self.run_lane(self.turn, wires) {
                Turn::Over => {
                    idle = 0;
                    continue;
                }
                Turn::Cut => idle = 0,
                Turn::Failed(queue) => (idle, failed) = (0, queue),
                Turn::Idle => idle += 1,
            }
            let next = usize::from(self.turn) + 1;
            self.turn = if next == lanes { 0 } else { next }.into();
        }
        failed
    }

    #[inline]
    fn run_lane(&mut self, number: EngineNumber, wires: &mut Wires) -> Turn {
        let lane = &mut self.lanes[number];
        if lane.starting {
            return Turn::Idle;
        }
        let Some((id, slice)) = lane.current else {
            if let Some(id) = self.queue.pop_front() {
                let (since, used) = (wires.now, false);
                lane.current = Some((id, Slice { since, used }));
                lane.starting = true;
                let started = AdapterEvent::Started(wires.node, number);
                wires.schedule(wires.now + wires.config.adapter.dma_start, started);
            }
            return Turn::Idle;
        };
        let progress = wires.flight.dma(id);
        let parked = progress.refused > 0;
        let length = wires.config.adapter.time_slice;
        let expired = slice.used && wires.now - slice.since >= length;
        let prepared = || wires.interface.reading() as usize + wires.fabric.queued(wires.node);
        if progress.cut_all {
            lane.current = None;
            Turn::Over
        } else if (parked || expired) && !self.queue.is_empty() {
            lane.current = None;
            self.queue.push_back(id);
            Turn::Over
        } else if !parked && prepared() < wires.config.fabric.packets_in_flight as usize {
            if wires.cut(id) {
                let over = wires.flight.dma(id).cut_all;
                let slice = Slice {
                    used: true,
                    ..slice
                };
                lane.current = (!over).then_some((id, slice));
                Turn::Cut
            } else {
                self.forget(id);
                Turn::Failed(wires.complete(id))
            }
        } else {
            Turn::Idle
        }
    }

    /// The destination's answer has arrived; returns as [`Wires::complete`] does.
    pub fn answered(
        &mut self,
        wires: &mut Wires,
        token: PacketNumber,
        ack: Ack,
    ) -> Option<Address> {
        let packet = wires.flight.packet(token);
        let (id, refusals) = (packet.dma, packet.refusals);
        match ack {
            Ack::Accepted => {}
            Ack::Discarded if wires.flight.dma(id).lost => return wires.abandon(token),
            Ack::Discarded => {
                let packet = wires.flight.packet_mut(token);
                packet.refusals += 1;
                if let Some(trouble) = &mut packet.trouble {
                    trouble.pass();
                }
                wires.flight.dma_mut(id).refused += 1;
                let at = wires.now + wires.config.adapter.retry_after(refusals);
                wires.schedule(at, AdapterEvent::Retried(wires.node, Token::Dma(token)));
                return None;
            }
            Ack::TestFailed => unreachable!("the packets of a DMA carry no test that could fail"),
            Ack::Corrupted | Ack::Unreachable | Ack::TimedOut => {
                match wires.refused(token, ack) {
                    RecoveryStep::Again => return None,
                    RecoveryStep::Over => {}
                    RecoveryStep::Lost(id) => self.forget(id),
                }
                return wires.abandon(token);
            }
            Ack::Error => {
                let packet = wires.flight.packet_mut(token);
                let fault = packet.fault.take().expect("a destination has said why");
                let stores = packet.kind != Kind::Broadcast;
                packet.pending -= u32::from(stores);
                self.forget(id);
                let progress = wires.flight.dma_mut(id);
                let serves = matches!(progress.get, Some(Get::Serving(_)));
                if fault.reason == Reason::Down && (serves || progress.dma.stored) {
                    // Its process is notified when no more bytes can be stored: they may then go
                    // over another rail.
                    progress.lose((*fault).into());
                } else {
                    progress.end((*fault).into());
                }
                progress.missed = true;
                progress.unstored -= u32::from(stores);
                let dma = progress.dma;
                if dma.queue && fault.reason == Reason::Down {
                    self.fail_held(wires, dma.to, (*fault).into());
                }
            }
        }
        wires.settle(token)
    }

    /// The rail has failed under a message to a queue: the messages behind it fail, too. If the
    /// rail has returned meanwhile, they would come before the message when that goes again over
    /// another rail.
    fn fail_held(&mut self, wires: &mut Wires, to: Address, error: DmaError) {
        let Some((_, held)) = self.held.iter_mut().find(|(queue, _)| *queue == to) else {
            return;
        };
        for id in std::mem::take(held) {
            self.held_back -= 1;
            wires.flight.dma_mut(id).end(error);
            wires.complete(id);
        }
    }
}

/// Whether a message goes by the short transaction engine, which has no descriptors: it needs no
/// place in the DMA queue.
fn is_for_the_sten(wires: &Wires, dma: &Dma) -> bool {
    let mut parts = wires.config.parts.iter();
    dma.short && parts.any(|part| matches!(part, AdapterPart::Sten { .. }))
}
