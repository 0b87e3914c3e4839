//! Ranks as test threads: they use the link as the provider does.

use crate::options::CollectiveMode;
use crate::{Memory, NetworkMode, Options, Outcome, ProgramRun, Results};
use link::{
    Body, Complaint, EndKind, EndStatus, Envelope, MessageFilter, NEVER, OperationEnd, Order,
    Patience, Rank, RankWait, Record, RemoteMemory, Report,
};
use machine::Machine;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::Time;

/// A rank.
pub struct TestRank {
    link: Rank,
    path: String,
    /// Local time.
    pub now: u64,
    ids: u64,
    /// Reports that have come and that the program has not yet asked for.
    told: BTreeMap<u64, (OperationEnd, Vec<u8>)>,
    /// Untagged messages.
    pub messages: Vec<Vec<u8>>,
    /// The part of a report's payload that has arrived.
    coming: Vec<u8>,
    /// Whether the rank stores a wrong bit of the next payload, and reports it.
    pub spoils: bool,
    /// Whether the rank gives wrong checksums.
    pub misquotes: bool,
    /// Memory that others reach, by its key.
    pub memory: BTreeMap<u64, Vec<u8>>,
    /// Messages that have come into queues.
    pub queues: BTreeMap<u64, VecDeque<Vec<u8>>>,
}

/// The wait for a report or for a write into the rank's memory.
pub const FOR_WRITES: RankWait = RankWait::Report(Patience {
    writes: true,
    ..Patience::until(NEVER)
});

/// The wait for a report, without an end.
pub const FOR_REPORTS: RankWait = RankWait::Report(Patience::until(NEVER));

/// The message that an operation has brought.
pub fn message(end: EndKind) -> Envelope {
    match end {
        EndKind::Received(message) | EndKind::Found(message) => message,
        other => panic!("{other:?}"),
    }
}

impl TestRank {
    fn attach(path: &str, rank: u32) -> Self {
        let link = Rank::attach(path, rank).expect("there is a place");
        TestRank {
            now: link.now(),
            link,
            path: path.into(),
            ids: 0,
            told: BTreeMap::new(),
            messages: Vec::new(),
            coming: Vec::new(),
            spoils: false,
            misquotes: false,
            memory: BTreeMap::new(),
            queues: BTreeMap::new(),
        }
    }

    pub fn rank(&self) -> u32 {
        self.link.number()
    }

    /// Starts ranks that run a program; returns their threads, or `None` if there is no room.
    pub fn spawn(&mut self, count: u32, program: fn(&mut TestRank)) -> Option<Vec<JoinHandle<()>>> {
        let order = self.order(Order::Spawn { count }, &[]);
        let (status, _, bytes) = self.end_of(order);
        if status == EndStatus::Nothing {
            return None;
        }
        let first = bytes.try_into().expect("a number");
        let first = u32::from_ne_bytes(first);
        let ranks = (first..first + count).map(|rank| {
            let path = self.path.clone();
            std::thread::spawn(move || live(&path, rank, &program))
        });
        Some(ranks.collect())
    }

    pub fn order(&mut self, order: Order, bytes: &[u8]) -> u64 {
        self.ids += 1;
        self.order_as(self.ids, order, bytes)
    }

    /// Gives an order with another order's number.
    pub fn order_as(&mut self, id: u64, order: Order, bytes: &[u8]) -> u64 {
        if self.misquotes {
            let record = Record {
                time: self.now,
                checksum: link::checksum([bytes]) ^ 1,
                body: Body::Order(id, order),
            };
            self.link.write_raw(&record.raw(), &[bytes]);
        } else {
            self.link.order(self.now, id, order, &[bytes]);
        }
        id
    }

    pub fn send(&mut self, to: u32, tag: u64, bytes: &[u8]) -> u64 {
        let order = Order::Send {
            to,
            tag,
            data: Some(self.rank()),
            synchronous: false,
            request: false,
        };
        self.order(order, bytes)
    }

    /// Sends, and waits until the send has ended.
    pub fn send_and_wait(&mut self, to: u32, tag: u64, bytes: &[u8]) -> EndStatus {
        let send = self.send(to, tag, bytes);
        self.end_of(send).0
    }

    /// Receives, and waits until the receive has ended.
    pub fn receive_and_wait(
        &mut self,
        from: u32,
        tag: u64,
        room: u64,
    ) -> (EndStatus, Envelope, Vec<u8>) {
        let receive = self.receive(from, tag, room);
        let (status, end, bytes) = self.end_of(receive);
        (status, message(end), bytes)
    }

    /// Looks for a message from any rank, and waits until the look has ended; returns its number,
    /// too.
    pub fn peek(&mut self, claims: bool) -> (u64, EndStatus, Envelope) {
        let wanted = MessageFilter {
            from: None,
            tag: 0,
            mask: 0,
        };
        let id = self.order(Order::Peek { wanted, claims }, &[]);
        let (status, end, _) = self.end_of(id);
        (id, status, message(end))
    }

    /// Receives the message that a peek has claimed.
    pub fn claim(&mut self, id: u64, room: u64) -> (EndStatus, Envelope, Vec<u8>) {
        self.order_as(id, Order::Claim { room }, &[]);
        let (status, end, bytes) = self.end_of(id);
        (status, message(end), bytes)
    }

    pub fn send_untagged(&mut self, to: u32, bytes: &[u8]) -> u64 {
        self.order(Order::Untagged { to, data: None }, bytes)
    }

    pub fn wait_for_untagged(&mut self) {
        while self.messages.is_empty() {
            self.wait(FOR_REPORTS);
        }
    }

    /// Takes back a receive or probe.
    pub fn cancel(&mut self, id: u64) {
        self.order_as(id, Order::Cancel, &[]);
    }

    pub fn receive(&mut self, from: u32, tag: u64, room: u64) -> u64 {
        let order = Order::Receive {
            wanted: tagged(from, tag),
            room,
            request: false,
        };
        self.order(order, &[])
    }

    pub fn wait(&mut self, wait: RankWait) {
        let mut still = false;
        loop {
            let resumed = self.link.hand_over(self.now, wait, still);
            let (mut replies, mut complaint) = (Vec::new(), None);
            for (delivery, part, bytes) in self.link.reports() {
                match delivery.report {
                    Report::Write { place, size, .. } => {
                        let memory = self.memory.get_mut(&place.key).expect("it has a key");
                        let at = place.offset as usize + part.at();
                        if let Some(memory) = memory.get_mut(at..at + bytes.len()) {
                            memory.copy_from_slice(bytes);
                        } else {
                            let refuses = Complaint::Refuses {
                                by: place.rank,
                                offset: place.offset,
                                size,
                            };
                            complaint = Some((refuses, Vec::new()));
                        }
                        continue;
                    }
                    Report::Read { key, offset, size } => {
                        let part = offset as usize..(offset + size) as usize;
                        let part = self.memory[&key].get(part);
                        replies.push(part.unwrap_or_default().to_vec());
                        continue;
                    }
                    _ => {}
                }
                self.coming.extend(bytes);
                if !part.is_last() {
                    continue;
                }
                let mut whole = std::mem::take(&mut self.coming);
                if self.spoils && !whole.is_empty() {
                    let middle = whole.len() / 2;
                    whole[middle] ^= 1;
                }
                let brings = match delivery.report {
                    Report::Ended(ended) => {
                        let brings = matches!(ended.end, EndKind::Received(_) | EndKind::Got);
                        brings && ended.status == EndStatus::Done
                    }
                    report => matches!(report, Report::Untagged { .. }),
                };
                if brings && link::checksum([&whole[..]]) != delivery.checksum {
                    let message = delivery.message;
                    complaint = Some((Complaint::Differs { message }, whole.clone()));
                }
                match delivery.report {
                    Report::Ended(ended) => {
                        self.told.insert(ended.id, (ended, whole));
                    }
                    Report::Arrived { queue } => {
                        self.queues.entry(queue).or_default().push_back(whole);
                    }
                    _ => self.messages.push(whole),
                }
            }
            if let Some((complaint, stored)) = complaint {
                self.link.complain(self.now, complaint, &stored);
            }
            if let Some(now) = resumed {
                assert!(now >= self.now, "time goes on");
                self.now = now;
                return;
            }
            for part in replies {
                self.link.reply(self.now, &part);
            }
            still = true;
        }
    }

    /// Leaves, is outside for this long, and comes back.
    pub fn come_back_after(&mut self, time: Time) {
        self.link.finish(self.now);
        let now = self.link.come_back().expect("the simulation goes on");
        self.now = now.max(self.now + time.as_ps());
    }

    /// Waits at a meeting until this many ranks do.
    pub fn meet(&mut self, which: u64, ranks: u64) {
        let wait = RankWait::Meeting { which, ranks };
        let resumed = self.link.hand_over(self.now, wait, false);
        self.now = resumed.expect("it is asked nothing");
    }

    /// Waits until an operation has ended.
    pub fn end_of(&mut self, id: u64) -> (EndStatus, EndKind, Vec<u8>) {
        loop {
            if let Some((ended, bytes)) = self.told.remove(&id) {
                return (ended.status, ended.end, bytes);
            }
            self.wait(FOR_REPORTS);
        }
    }

    /// Looks whether an operation has ended within a time step.
    pub fn step(&mut self, step: Time) {
        let until = self.now + step.as_ps();
        self.wait(RankWait::Report(Patience::until(until)));
    }

    /// Looks for a message until it has come, and keeps it; returns the look's number, and the
    /// order that receives the message.
    pub fn found(&mut self, from: u32, tag: u64, step: Time) -> (u64, Order) {
        let wanted = tagged(from, tag);
        loop {
            let claims = true;
            let id = self.order(Order::Peek { wanted, claims }, &[]);
            let (status, end, _) = self.end_of(id);
            if status == EndStatus::Done {
                let room = message(end).size;
                return (id, Order::Claim { room });
            }
            self.step(step);
        }
    }

    /// Puts bytes into another rank's memory.
    pub fn put(&mut self, rank: u32, (key, offset): (u64, u64), bytes: &[u8]) -> u64 {
        let to = RemoteMemory { rank, key, offset };
        self.order(Order::Put { to, notice: 0 }, bytes)
    }

    /// Gets bytes from another rank's memory.
    pub fn get(&mut self, rank: u32, (key, offset): (u64, u64), size: u64) -> u64 {
        let from = RemoteMemory { rank, key, offset };
        self.order(Order::Get { from, size }, &[])
    }

    pub fn has_ended(&self, id: u64) -> bool {
        self.told.contains_key(&id)
    }

    pub fn sleep(&mut self, time: Time) {
        let until = self.now + time.as_ps();
        self.wait(RankWait::Sleep { until });
    }
}

/// A rank's messages with a tag.
pub fn tagged(from: u32, tag: u64) -> MessageFilter {
    MessageFilter {
        from: Some(from),
        tag,
        mask: u64::MAX,
    }
}

pub fn machine(name: &str) -> Machine {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
    let text = std::fs::read_to_string(format!("{root}/{name}.toml")).expect("it is shipped");
    Machine::parse(name, &text, &[]).expect("it is shipped")
}

pub fn options(ranks: u32) -> Options {
    Options {
        ranks,
        universe: 0,
        ranks_per_node: 1,
        placement: None,
        compute: "none".into(),
        sampled: None,
        network: NetworkMode::Machine,
        memory: Memory::Main,
        collectives: Some(CollectiveMode::Mpi),
        seed: 1,
        limit_time: None,
        timeline: false,
        record: false,
        calls: true,
        checksums: true,
        keep_going: false,
    }
}

/// Lives as a rank from its start to its end.
fn live(path: &str, rank: u32, program: &dyn Fn(&mut TestRank)) {
    let mut process = TestRank::attach(path, rank);
    process.wait(RankWait::Report(Patience::until(process.now)));
    program(&mut process);
    let now = process.now;
    process.link.finish(now);
    process.link.out_of_band().exits();
}

/// Runs a program on every rank. A rank that panics ends the run, and leaves the other ranks in
/// their waits.
pub fn play(
    machine: Machine,
    options: Options,
    longest: Time,
    program: impl Fn(&mut TestRank) + Send + Sync + 'static,
) -> (Outcome, Results) {
    let ranks = options.ranks;
    let run = ProgramRun::new(machine, options).expect("there is room");
    let (path, program) = (run.path(), Arc::new(program));
    let cancel = Arc::new(AtomicBool::new(false));
    for rank in 0..ranks {
        let (path, program, cancel) = (path.clone(), Arc::clone(&program), Arc::clone(&cancel));
        std::thread::spawn(move || {
            let all = || live(&path, rank, &*program);
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)).is_err() {
                cancel.store(true, Ordering::Relaxed);
            }
        });
    }
    let served = run.serve_within(&cancel, std::process::id(), longest);
    served.expect("there is room")
}
