//! A long run's processes: they send, take and compare.

use super::plan::{Kind, LONGEST, MessagePlan};
use super::{NODES, PES, REST, words};
use elan::{ElanAddr, EventId, ProcessId};
use libelan::Pe;
use libelan::elan::putget::Remote;
use libelan::elan::queue::RxQueue;
use libelan::elan::tport::{Mode, Room, Select, Tx};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::Display;
use units::Bytes;

/// Messages that a process has under way at a time, and receives that it has posted.
const OPEN: usize = 8;

/// Capacity of a queue in messages.
const SLOTS: u32 = 32;

/// The processes' shared state, beside the network.
pub struct Stage {
    plan: MessagePlan,
    senders: RefCell<Vec<Sender>>,
    /// The processes that have not ended, and the messages that have.
    pub playing: Cell<u32>,
    pub ended: Cell<u64>,
    /// The problem, if any.
    pub wrong: RefCell<Option<String>>,
}

/// A process that has sent all its messages.
struct Sender {
    node: u32,
    own: Process,
    /// The round of its last put into each node's memory.
    last: Vec<Option<u32>>,
}

/// A process, with memory at the same addresses in all.
struct Process {
    pe: Pe,
    /// A place for each node's puts.
    places: ElanAddr,
    /// The word that others add to.
    word: ElanAddr,
    /// The event for puts.
    notified: (ElanAddr, EventId),
    queue: RxQueue,
    /// Room for messages under way.
    buffers: ElanAddr,
}

/// The process at a node that takes part.
fn process(node: u32, part: u32) -> ProcessId {
    ProcessId::new(node * PES + part)
}

/// A message that is under way.
struct PendingMessage {
    round: u32,
    to: u32,
    buffer: ElanAddr,
    by: SendMethod,
}

enum SendMethod {
    /// A put, or a message into a queue.
    Remote(Remote),
    /// A get for these bytes.
    Get(Remote, Vec<u8>),
    Tport(Tx),
}

impl Stage {
    pub fn new(plan: MessagePlan) -> Self {
        Stage {
            plan,
            senders: RefCell::default(),
            playing: Cell::new(NODES * PES),
            ended: Cell::new(0),
            wrong: RefCell::default(),
        }
    }

    pub async fn play(&self, pe: Pe) {
        let (node, part) = (pe.vp().get() / PES, pe.vp().get() % PES);
        let played = match self.process(&pe) {
            Err(why) => Err(why),
            Ok(process) => match part {
                0 => self.send(node, process).await,
                1 => self.take_from_queue(node, &process).await,
                _ => self.take_from_tport(node, &process).await,
            },
        };
        if let Err(why) = played {
            self.wrong
                .borrow_mut()
                .get_or_insert(format!("at {}: {why}", pe.now()));
        }
        self.playing.set(self.playing.get() - 1);
    }

    fn count(&self) {
        self.ended.set(self.ended.get() + 1);
    }

    fn process(&self, pe: &Pe) -> Result<Process, String> {
        let elan = pe.elan();
        let main = |count: u64| {
            elan.galloc_main(64, Bytes::new(count * LONGEST))
                .map_err(words)
        };
        let puts = self.plan.of(Kind::Put).count() as u32;
        let notified = elan
            .galloc_elan(64, elan::memory::EVENT_BLOCK)
            .map_err(words)?;
        Ok(Process {
            places: main(NODES.into())?,
            word: elan.galloc_elan(64, Bytes::new(8)).map_err(words)?,
            notified: (
                notified,
                pe.elan3()
                    .init_event(notified, puts.max(1))
                    .map_err(words)?,
            ),
            queue: elan.queue_rx(SLOTS, Bytes::new(320)).map_err(words)?,
            buffers: main(OPEN as u64)?,
            pe: pe.clone(),
        })
    }

    /// Sends all of a node's messages, some at a time.
    async fn send(&self, node: u32, own: Process) -> Result<(), String> {
        let mut last: Vec<Option<u32>> = vec![None; NODES as usize];
        let mut open: VecDeque<PendingMessage> = VecDeque::new();
        let mut free: Vec<ElanAddr> = (0..OPEN as u64).map(|place| own.buffer(place)).collect();
        for round in 0..self.plan.rounds.len() as u32 {
            let to = self.plan.to(node, round);
            // Two messages under way may overtake each other: only one per place is under way.
            while free.is_empty() || open.iter().any(|sent| sent.to == to) {
                let sent = open.pop_front().expect("a buffer is in use");
                free.push(sent.buffer);
                self.end(node, &own, sent).await?;
            }
            if self.plan.kind(round) == Kind::Add {
                let shmem = own.pe.shmem();
                let added = shmem.fadd(own.word, self.plan.key(node, round), process(to, 0).get());
                added
                    .await
                    .map_err(|error| self.told(node, round, &error))?;
                self.count();
                continue;
            }
            let buffer = free.pop().expect("one is free");
            let by = self.begin(&own, node, round, buffer, &mut last[to as usize])?;
            open.push_back(PendingMessage {
                round,
                to,
                buffer,
                by,
            });
        }
        for sent in open {
            self.end(node, &own, sent).await?;
        }
        self.senders.borrow_mut().push(Sender { node, own, last });
        Ok(())
    }

    fn told(&self, node: u32, round: u32, error: &dyn Display) -> String {
        let (kind, to) = (self.plan.kind(round), self.plan.to(node, round));
        format!("{kind:?} {round} from node {node} to node {to}: {error}")
    }

    /// Starts a message that is not an addition.
    fn begin(
        &self,
        own: &Process,
        node: u32,
        round: u32,
        buffer: ElanAddr,
        last: &mut Option<u32>,
    ) -> Result<SendMethod, String> {
        let (elan, elan3) = (own.pe.elan(), own.pe.elan3());
        let (kind, to) = (self.plan.kind(round), self.plan.to(node, round));
        let place = own.place(node);
        if kind == Kind::Get {
            let there = last.map_or_else(|| vec![0; 16], |round| self.plan.bytes(node, round));
            let size = Bytes::new(there.len() as u64);
            let remote = elan.get(process(to, 0), place, buffer, size);
            return Ok(SendMethod::Get(remote, there));
        }
        let bytes = self.plan.bytes(node, round);
        let size = Bytes::new(bytes.len() as u64);
        elan3.store(buffer, &bytes).map_err(words)?;
        Ok(match kind {
            Kind::Put => {
                *last = Some(round);
                let event = own.notified.0;
                SendMethod::Remote(elan.put_notify(process(to, 0), buffer, place, size, event))
            }
            Kind::Queue => {
                SendMethod::Remote(elan.queue_tx(process(to, 1), own.queue.at(), buffer, size))
            }
            Kind::Tport => {
                let (tport, as_whom) = (elan.tport(), (node, u64::from(round)));
                SendMethod::Tport(tport.tx_start(
                    Mode::Standard,
                    process(to, 2),
                    as_whom,
                    buffer,
                    size,
                ))
            }
            Kind::Get | Kind::Add => unreachable!("these have no bytes of their own"),
        })
    }

    /// Waits for a message's end. The receivers count those into queues and Tports.
    async fn end(&self, node: u32, own: &Process, sent: PendingMessage) -> Result<(), String> {
        let (elan, round) = (own.pe.elan(), sent.round);
        match sent.by {
            SendMethod::Tport(tx) => {
                let over = elan.tport().tx_wait(tx).await;
                over.map_err(|error| self.told(node, round, &error))?;
            }
            SendMethod::Remote(remote) => {
                let over = elan.wait(remote).await;
                over.map_err(|error| self.told(node, round, &error))?;
                if self.plan.kind(round) == Kind::Put {
                    self.count();
                }
            }
            SendMethod::Get(remote, there) => {
                let over = elan.wait(remote).await;
                over.map_err(|error| self.told(node, round, &error))?;
                if own.load(sent.buffer, there.len() as u64)[..] != there[..] {
                    return Err(self.told(node, round, &"the bytes are not those that were put"));
                }
                self.count();
            }
        }
        Ok(())
    }

    /// Notes a message that has come.
    fn take(
        &self,
        node: u32,
        kind: Kind,
        bytes: &[u8],
        taken: &mut [bool],
    ) -> Result<(u32, u32), String> {
        let (from, round) = self.plan.message(node, kind, bytes)?;
        if std::mem::replace(&mut taken[round as usize], true) {
            return Err(self.told(from, round, &"it comes a second time"));
        }
        self.count();
        Ok((from, round))
    }

    async fn take_from_queue(&self, node: u32, own: &Process) -> Result<(), String> {
        let mut taken = vec![false; self.plan.rounds.len()];
        for _ in self.plan.of(Kind::Queue) {
            let bytes = own.queue.wait().await;
            self.take(node, Kind::Queue, &bytes, &mut taken)?;
        }
        own.pe.compute(REST).await;
        if own.queue.is_empty() {
            Ok(())
        } else {
            Err(format!("the queue of node {node} has messages too many"))
        }
    }

    async fn take_from_tport(&self, node: u32, own: &Process) -> Result<(), String> {
        let mut taken = vec![false; self.plan.rounds.len()];
        let mut last: Vec<Option<u32>> = vec![None; NODES as usize];
        let tport = own.pe.elan().tport();
        let mut posted = VecDeque::new();
        let count = self.plan.of(Kind::Tport).count() as u64;
        let post = |place: u64| {
            let buffer = own.buffer(place % OPEN as u64);
            let room = Room::Buffer(buffer, Bytes::new(LONGEST));
            (tport.rx_start(Select::ANY, room), buffer)
        };
        posted.extend((0..count.min(OPEN as u64)).map(post));
        for place in 0..count {
            let (rx, buffer) = posted.pop_front().expect("as many as are missing");
            let received = tport.rx_wait(rx).await.map_err(words)?;
            let bytes = own.load(buffer, received.size.as_u64());
            let (from, round) = self.take(node, Kind::Tport, &bytes, &mut taken)?;
            let tells = (received.process, received.sender, received.tag);
            if tells != (process(from, 0), from, round.into()) {
                return Err(self.told(from, round, &format!("it is said to be {received:?}")));
            }
            if last[from as usize].replace(round) > Some(round) {
                return Err(self.told(from, round, &"it has been overtaken"));
            }
            if place + (OPEN as u64) < count {
                posted.push_back(post(place));
            }
        }
        own.pe.compute(REST).await;
        match tport.peek(Select::ANY).await {
            Ok(None) => Ok(()),
            Ok(Some(more)) => Err(format!("node {node} has a message too many: {more:?}")),
            Err(error) => Err(words(error)),
        }
    }

    /// Looks at all nodes' memory, when all is over.
    pub fn check(&self) -> Result<(), String> {
        let senders = self.senders.borrow();
        for Sender { node, own, .. } in &*senders {
            let sum = own.load(own.word, 8);
            let added = self.plan.of(Kind::Add);
            let wanted = added.fold(0_u64, |sum, round| {
                sum.wrapping_add(self.plan.key(self.plan.from(*node, round), round))
            });
            if sum[..] != wanted.to_le_bytes() {
                return Err(format!("the sum of node {node} is wrong"));
            }
            let missing = u32::from(self.plan.of(Kind::Put).next().is_none());
            let occurred = own.pe.node().occurrences(own.notified.1);
            if occurred != (missing, 0) {
                let (fewer, more) = occurred;
                return Err(format!(
                    "node {node} was notified {fewer} times less and {more} times more often than \
                    was put"
                ));
            }
            for Sender {
                node: from, last, ..
            } in &*senders
            {
                let there = match last[*node as usize] {
                    Some(round) => self.plan.bytes(*from, round),
                    None => vec![0; 16],
                };
                if own.load(own.place(*from), there.len() as u64)[..] != there[..] {
                    return Err(format!(
                        "node {node} does not have what node {from} has put last"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Process {
    fn place(&self, node: u32) -> ElanAddr {
        self.places.offset(Bytes::new(LONGEST * u64::from(node)))
    }

    fn buffer(&self, place: u64) -> ElanAddr {
        self.buffers.offset(Bytes::new(LONGEST * place))
    }

    fn load(&self, at: ElanAddr, length: u64) -> Box<[u8]> {
        let bytes = self.pe.elan3().load(at, Bytes::new(length));
        bytes.expect("it is the process's own")
    }
}
