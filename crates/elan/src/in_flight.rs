//! # Operations in flight: DMAs, packets, and their bytes
//!
//! Both ends of a transfer work on the same DMA: the engine at its source, the inputter at its
//! destination. The tables here record each end's remaining work. The end that finishes last
//! removes the DMA or the packet.

mod trouble;

pub(crate) use trouble::PacketFaults;
pub use trouble::Recoveries;

use crate::Place;
use crate::busy::AdapterLoad;
use crate::dma::{Completion, Dma, DmaError, Transfer};
use crate::memory::{AccessFault, Address, Capability, ContextId};
use crate::meter::Meter;
use crate::transaction::{Answer, Transaction};
use derive::Identifier;
use fabric::{Ack, Destination, Priority};
use kernel::Signal;
use slab::Slab;
use std::collections::VecDeque;
use std::rc::Rc;
use typed_index_collections::{TiVec, ti_vec};
use units::{Bytes, Time};

/// The receiver of a DMA's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The process, through main memory.
    Host,
    /// A thread on the adapter.
    Thread,
    /// No receiver; an error is a trap.
    Nobody,
}

/// A DMA's number in the table; re-used once it is over at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DmaId(u32);

/// How far a DMA is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Not yet accepted, or refused.
    Posted,
    /// Accepted into the DMA queue.
    Queued,
    /// Its completion is on the way to the process.
    Completed,
    /// The process has been notified.
    Reported,
}

/// A DMA in progress.
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
pub(crate) struct Progress {
    pub dma: Dma,
    /// The node with the engine that works on the DMA, for one of the node's processes.
    pub node: Place,
    pub context: ContextId,
    /// The right by which the DMA reaches memory elsewhere.
    pub capability: Capability,
    pub report: Report,
    /// The DMA's part in a get, if it belongs to one.
    pub get: Option<Get>,
    /// For a get: whether another DMA serves it.
    pub served: bool,
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
    /// Whether the DMA's bytes have arrived in part.
    pub landing: bool,
    /// For a broadcast: how far each destination is.
    pub landings: Box<[Landing]>,
    /// Why the DMA failed, if it did.
    pub failed: Option<DmaError>,
    /// Whether it failed by a network fault or its adapter's death: it sends no more packets.
    pub lost: bool,
    /// Whether one of its packets has not been delivered, and never will be.
    pub missed: bool,
    /// The completion that the posting process awaits, if it does.
    completion: Option<Rc<Completion>>,
    pub stage: Stage,
}

impl Progress {
    /// A DMA before its first step.
    pub fn new(
        dma: Dma,
        (node, context): (Place, ContextId),
        capability: Capability,
        report: Report,
    ) -> Self {
        Progress {
            dma,
            node,
            context,
            capability,
            report,
            get: None,
            served: false,
            cut: Bytes::ZERO,
            cut_all: false,
            open: 0,
            refused: 0,
            unstored: 0,
            landing: false,
            landings: Box::default(),
            failed: None,
            lost: false,
            missed: false,
            completion: None,
            stage: Stage::Posted,
        }
    }

    /// Whether all steps are done that the DMA's process waits for. A process is notified of a
    /// rail's failure when no more of the DMA's bytes can be stored: the same bytes may then go
    /// over another rail.
    pub fn complete(&self) -> bool {
        let data = self.get == Some(Get::Asking { stored: false }) && self.failed.is_none();
        let quiet = !self.lost || (self.unstored == 0 && !self.served);
        self.acknowledged_all() && !data && quiet
    }

    /// Whether all packets of a complete DMA have been delivered, although the DMA may have been
    /// lost meanwhile. Unknown for a get and a broadcast.
    pub fn has_been_delivered(&self) -> bool {
        !self.missed && self.get.is_none() && self.dma.last.is_none()
    }

    /// Whether the DMA has failed with the adapter or the rail at one of its ends, and without any
    /// other fault.
    pub fn died(&self) -> bool {
        self.lost && self.failed.is_some_and(|error| error.is_rail_down())
    }

    /// Whether the other end has all bytes, and lets their event occur. This also holds if the
    /// DMA's adapter has died, but all packets were accepted: its process is notified accordingly.
    pub fn has_landed(&self) -> bool {
        let good = self.failed.is_none() || self.died() && self.has_been_delivered();
        self.cut_all && self.unstored == 0 && good
    }

    /// Whether the source is done with all packets.
    pub fn acknowledged_all(&self) -> bool {
        self.cut_all && self.open == 0
    }

    /// Whether a lost DMA's process still awaits its notice, due after the DMA's last packet.
    pub fn waits_for_its_end(&self) -> bool {
        self.lost && self.stage < Stage::Completed
    }

    /// The node, or the node range, that the DMA's packet goes to.
    pub fn destination_of(&self, kind: Kind) -> Destination {
        match kind {
            Kind::Request => self.dma.from.node.into(),
            Kind::Data | Kind::Broadcast | Kind::Trap => self.dma.destination(),
        }
    }

    /// Lets the DMA fail, unless it has failed already: the first error is reported.
    pub fn fail(&mut self, error: DmaError) {
        self.failed.get_or_insert(error);
    }

    /// Lets the DMA fail, so that no further packets are cut.
    pub fn end(&mut self, error: DmaError) {
        self.fail(error);
        self.cut_all = true;
    }

    /// Ends the DMA for a network fault or its adapter's death: no more packets are sent.
    pub fn lose(&mut self, error: DmaError) {
        self.end(error);
        self.lost = true;
    }

    /// A lost packet has arrived late, and no loss has been reported.
    pub fn find(&mut self) {
        self.lost = false;
        self.failed = None;
    }

    /// The process that posted the DMA has seen its end.
    pub fn tell(&mut self) {
        self.stage = Stage::Reported;
        if let Some(completion) = &self.completion {
            completion.tell(self.failed.map_or(Ok(()), Err));
        }
    }
}

/// The kind of a DMA's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Payload blocks; a DMA's last one also notifies.
    Data,
    /// Payload blocks for a node range.
    Broadcast,
    /// A descriptor for the other end's engine.
    Request,
    /// The owner could not read a get's bytes.
    Trap,
}

/// A DMA's packet, from its cutting to its last use at either end.
pub(crate) struct Packet {
    pub dma: DmaId,
    pub kind: Kind,
    pub offset: Bytes,
    pub length: Bytes,
    pub payload: Option<Box<[u8]>>,
    /// Why the other end refuses the packet permanently, or the owner cannot read a get's bytes.
    pub fault: Option<Box<AccessFault>>,
    /// Refusals so far.
    pub refusals: u32,
    /// Destinations that have still to store the packet, or to receive its end.
    pub pending: u32,
    /// Whether the source needs the packet no more.
    pub acknowledged: bool,
    /// Whether the packet was in the network when its rail failed.
    pub lost: bool,
    /// The answer that the destination has finally given, or will give once there is room for the
    /// payload.
    pub answered: Option<Ack>,
    /// The network's refusals of the packet, if there were any.
    pub trouble: Option<Box<PacketFaults>>,
    /// For a broadcast: how far each destination is.
    pub landed: Box<[LandingState]>,
}

impl Packet {
    /// Whether the destination, if there is only one, has taken the packet.
    pub fn is_accepted(&self) -> bool {
        self.answered == Some(Ack::Accepted)
    }
}

/// How far one destination of a broadcast is with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LandingState {
    /// The packet has not come, or was refused.
    #[default]
    No,
    /// The payload has been taken.
    Taken,
    /// The payload is in its place.
    Stored,
}

/// Number of a DMA packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct PacketNumber(u32);

/// Number of a thread's packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Identifier)]
pub struct ThreadPacketNumber(u32);

/// A packet, of either kind, as the fabric carries it for the adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Dma(PacketNumber),
    Thread(ThreadPacketNumber),
}

/// The bit in a token's fabric number that marks a thread's packet.
const BY_THREAD: u64 = 1 << 63;

impl From<u64> for Token {
    fn from(number: u64) -> Self {
        match number & BY_THREAD {
            0 => Token::Dma(PacketNumber::new(number as u32)),
            _ => Token::Thread(ThreadPacketNumber::new(number as u32)),
        }
    }
}

/// The share's place among the bits of a token's fabric number.
const SHARE: u32 = 32;

impl Token {
    /// The fabric number of a token with a packet that counts to a share of each link.
    pub fn of_share(self, share: u8) -> u64 {
        let number = match self {
            Token::Dma(number) => number.get().into(),
            Token::Thread(number) => u64::from(number.get()) | BY_THREAD,
        };
        number | u64::from(share) << SHARE
    }
}

/// The share that a packet counts to, by its token's fabric number.
pub(crate) fn share(number: u64) -> u8 {
    (number >> SHARE) as u8
}

/// How far one destination of a broadcast DMA is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Landing {
    /// Packets stored there.
    pub packets: u64,
    /// Whether the last packet has ended well.
    pub ended: bool,
    /// Whether the destination has been notified.
    pub notified: bool,
}

/// The part that a DMA has in a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Get {
    /// The asker's DMA; `stored` once all bytes are there.
    Asking { stored: bool },
    /// The DMA that the bytes' owner executes for the asker's DMA.
    Serving(DmaId),
}

/// A transaction packet that a thread has made.
pub(crate) struct ThreadPacket {
    pub source: Place,
    pub to: Address,
    /// A broadcast's last node.
    pub last: Option<Place>,
    pub capability: Capability,
    pub transactions: Box<[Transaction]>,
    pub priority: Priority,
    pub refusals: u32,
    /// Whether the packet was in the network when its rail failed.
    pub lost: bool,
    /// The answer that the destination has finally given.
    pub answered: Option<Ack>,
    /// The network's refusals of the packet, if there were any.
    pub trouble: Option<Box<PacketFaults>>,
    /// For a broadcast: whether the packet ends when the network first loses it.
    pub once: bool,
    /// A broadcast's destinations that have still to receive the packet's end.
    pub ends: u32,
    /// Whether the packet's thread has taken the answer.
    pub taken: bool,
    pub result: Option<Result<Answer, DmaError>>,
    /// The signal that the packet's thread waits for, if it waits for the answer.
    pub done: Option<Signal>,
}

impl ThreadPacket {
    /// The node, or the node range, that the packet goes to.
    pub fn destination(&self) -> Destination {
        let first = self.to.node;
        match self.last {
            Some(last) => Destination::range(first, last),
            None => first.into(),
        }
    }
}

/// The tables of everything in flight.
pub(crate) struct FlightTables {
    dmas: Slab<Progress>,
    packets: Slab<Packet>,
    thread_packets: Slab<ThreadPacket>,
    /// Completions from finished DMAs, reused once no process holds them, to save allocations.
    completions: VecDeque<Rc<Completion>>,
    /// By node: the messages of its adapter, received ones as DMAs that have arrived in part.
    busy: TiVec<Place, AdapterLoad>,
    meters: Vec<Bytes>,
    /// By node: the adapter's measures against faults.
    recoveries: TiVec<Place, Recoveries>,
}

impl FlightTables {
    /// Empty tables for free adapters.
    pub fn new(adapters: u32, free: AdapterLoad) -> Self {
        FlightTables {
            dmas: Slab::new(),
            packets: Slab::new(),
            thread_packets: Slab::new(),
            completions: VecDeque::new(),
            busy: ti_vec![free; adapters as usize],
            meters: Vec::new(),
            recoveries: ti_vec![Recoveries::default(); adapters as usize],
        }
    }

    /// An adapter's measures against faults.
    pub fn recoveries(&mut self, node: Place) -> &mut Recoveries {
        &mut self.recoveries[node]
    }

    /// The DMAs that an adapter's engines work on or have in their queues.
    pub fn queued_at(&self, node: Place) -> Vec<DmaId> {
        let dmas = self.dmas.iter();
        let queued =
            dmas.filter(|(_, one)| one.node == node && one.stage == Stage::Queued && !one.lost);
        queued.map(|(number, _)| DmaId(number as u32)).collect()
    }

    /// A broadcast's packet has come to a destination, which will receive its end.
    pub fn expect_end(&mut self, token: Token) {
        match token {
            Token::Dma(token) => self.packet_mut(token).pending += 1,
            Token::Thread(token) => self.thread_packet(token).ends += 1,
        }
    }

    /// A new DMA, not yet posted.
    #[inline]
    pub fn add_dma(&mut self, progress: Progress) -> DmaId {
        DmaId(self.dmas.insert(progress) as u32)
    }

    /// A new DMA, as [`add_dma`](Self::add_dma), and the transfer by which its process awaits it.
    pub fn add_awaited(&mut self, mut progress: Progress) -> (DmaId, Transfer) {
        let spare = self.completions.pop_front().and_then(|mut completion| {
            *Rc::get_mut(&mut completion)? = Completion::default();
            Some(completion)
        });
        let completion = spare.unwrap_or_default();
        let transfer = Transfer::of(&completion);
        progress.completion = Some(completion);
        (self.add_dma(progress), transfer)
    }

    #[inline]
    pub fn add_packet(&mut self, packet: Packet) -> PacketNumber {
        self.packets.insert(packet).into()
    }

    pub fn add_thread_packet(&mut self, packet: ThreadPacket) -> ThreadPacketNumber {
        self.thread_packets.insert(packet).into()
    }

    #[inline]
    pub fn dma(&self, id: DmaId) -> &Progress {
        &self.dmas[id.0 as usize]
    }

    #[inline]
    pub fn dma_mut(&mut self, id: DmaId) -> &mut Progress {
        &mut self.dmas[id.0 as usize]
    }

    #[inline]
    pub fn packet(&self, token: PacketNumber) -> &Packet {
        &self.packets[token.into()]
    }

    #[inline]
    pub fn packet_mut(&mut self, token: PacketNumber) -> &mut Packet {
        &mut self.packets[token.into()]
    }

    /// The DMA that a packet belongs to.
    pub fn dma_of(&self, token: PacketNumber) -> &Progress {
        self.dma(self.packet(token).dma)
    }

    /// Whether a packet is the last in a DMA that notifies its destination.
    pub fn notifies(&self, token: PacketNumber) -> bool {
        let (packet, dma) = (self.packet(token), &self.dma_of(token).dma);
        dma.notify.is_some() && packet.offset + packet.length == dma.length
    }

    pub fn thread_packet(&mut self, token: ThreadPacketNumber) -> &mut ThreadPacket {
        &mut self.thread_packets[token.into()]
    }

    /// The first bytes of a DMA have arrived at its destination.
    pub fn landing(&mut self, now: Time, id: DmaId) {
        let progress = &mut self.dmas[id.0 as usize];
        if !std::mem::replace(&mut progress.landing, true) {
            self.busy[progress.dma.to.node].begin_receiving(now);
        }
    }

    /// No more bytes of a DMA will arrive.
    pub fn landed_all(&mut self, now: Time, id: DmaId) {
        let progress = &mut self.dmas[id.0 as usize];
        if std::mem::replace(&mut progress.landing, false) {
            self.busy[progress.dma.to.node].end_receiving(now);
        }
    }

    /// An adapter's messages.
    pub fn busy_at(&self, node: Place) -> &AdapterLoad {
        &self.busy[node]
    }

    /// As [`busy_at`](Self::busy_at).
    pub fn busy_at_mut(&mut self, node: Place) -> &mut AdapterLoad {
        &mut self.busy[node]
    }

    /// Some adapters' network fails: packets that they have sent are lost, unless they have
    /// arrived. Packets that have not been sent yet are marked, too; sending takes the mark away.
    pub fn lose(&mut self, of: impl Fn(Place) -> bool) {
        for (_, packet) in &mut self.packets {
            packet.lost |= of(self.dmas[packet.dma.0 as usize].node);
        }
        for (_, packet) in &mut self.thread_packets {
            packet.lost |= of(packet.source);
        }
    }

    /// Whether a packet was in the network when its rail failed. A broadcast is all or nothing:
    /// once one destination has seen its last packet's end, no earlier packet is lost.
    #[inline]
    pub fn is_lost(&self, token: Token) -> bool {
        match token {
            Token::Dma(token) => {
                let packet = self.packet(token);
                packet.lost && !self.dma(packet.dma).landings.iter().any(|one| one.ended)
            }
            Token::Thread(token) => self.thread_packets[usize::from(token)].lost,
        }
    }

    /// Forgets a DMA that is over at both ends, and also the DMA that it serves if that is over.
    pub fn drop_dma_if_over(&mut self, now: Time, id: DmaId) {
        let progress = self.dma(id);
        if progress.stage == Stage::Reported && progress.unstored == 0 && !progress.served {
            self.landed_all(now, id);
            let progress = self.dmas.remove(id.0 as usize);
            if let Some(completion) = progress.completion {
                self.completions.push_back(completion);
            }
            if let Some(Get::Serving(get)) = progress.get {
                self.dma_mut(get).served = false;
                self.drop_dma_if_over(now, get);
            }
        }
    }

    /// Forgets a packet that both ends are done with.
    pub fn drop_packet_if_done(&mut self, now: Time, token: PacketNumber) {
        let packet = self.packet(token);
        if packet.pending == 0 && packet.acknowledged {
            let packet = self.packets.remove(token.into());
            if packet.kind == Kind::Broadcast {
                self.dma_mut(packet.dma).unstored -= 1;
                self.drop_dma_if_over(now, packet.dma);
            }
        }
    }

    /// Forgets a thread's packet that both ends are done with.
    pub fn drop_thread_packet_if_done(&mut self, token: ThreadPacketNumber) {
        let packet = self.thread_packet(token);
        if packet.taken && packet.ends == 0 {
            self.thread_packets.remove(token.into());
        }
    }

    /// Takes the answer to a thread's packet.
    pub fn take_answer(&mut self, token: ThreadPacketNumber) -> Result<Answer, DmaError> {
        let packet = self.thread_packet(token);
        packet.taken = true;
        let result = packet.result.expect("it has been answered");
        self.drop_thread_packet_if_done(token);
        result
    }

    /// DMAs, their packets, and thread packets.
    pub fn census(&self) -> [usize; 3] {
        [
            self.dmas.len(),
            self.packets.len(),
            self.thread_packets.len(),
        ]
    }

    /// A new meter, at zero.
    pub fn add_meter(&mut self) -> Meter {
        self.meters.push(Bytes::ZERO);
        Meter(self.meters.len() as u32 - 1)
    }

    pub fn metered(&self, meter: Meter) -> Bytes {
        self.meters[meter.index()]
    }

    /// A DMA's bytes have been stored.
    pub fn count(&mut self, dma: &Dma, length: Bytes) {
        if let Some(meter) = dma.meter {
            self.meters[meter.index()] += length;
        }
    }
}
