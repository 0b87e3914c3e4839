//! Ranks as threads of the test: they speak the link as the provider does.

use crate::options::Collectives;
use crate::{Memory, Network, Options, Outcome, Results, Run};
use link::{Flags, NEVER, Order, OrderKind, Rank, Report, ReportKind, Status};
use machine::Machine;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;

/// A rank.
pub struct Process {
    link: Rank,
    /// Local time.
    pub now: u64,
    ids: u64,
    /// Reports that have come and that the program has not yet asked for.
    told: BTreeMap<u64, (Report, Vec<u8>)>,
    /// Untagged messages.
    pub messages: Vec<Vec<u8>>,
    /// What has come of the payload of a report.
    coming: Vec<u8>,
    /// Whether the rank stores a wrong bit of the next payload, and says so.
    pub spoils: bool,
    /// Whether the rank gives wrong checksums.
    pub misquotes: bool,
    /// Memory that others reach, by its key.
    pub memory: BTreeMap<u64, Vec<u8>>,
    /// Messages that have come into queues.
    pub queues: BTreeMap<u64, VecDeque<Vec<u8>>>,
}

pub const ANYBODY: u32 = Order::ANYBODY;

impl Process {
    fn attach(path: &str, rank: u32) -> Self {
        Process {
            link: Rank::attach(path, rank).expect("there is a place"),
            now: 0,
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

    pub fn order(&mut self, kind: OrderKind, order: Order, bytes: &[u8]) -> u64 {
        self.ids += 1;
        let id = if order.id == 0 { self.ids } else { order.id };
        let order = Order {
            id,
            kind: kind as u32,
            time: self.now,
            checksum: link::checksum([bytes]) ^ u64::from(self.misquotes),
            ..order
        };
        self.link.order(&order, &[bytes]);
        id
    }

    pub fn send(&mut self, to: u32, tag: u64, bytes: &[u8]) -> u64 {
        let order = Order {
            peer: to,
            tag,
            data: self.rank(),
            size: bytes.len() as u64,
            ..Order::default()
        };
        self.order(OrderKind::Send, order, bytes)
    }

    /// Sends, and waits for the end of the send.
    pub fn send_and_wait(&mut self, to: u32, tag: u64, bytes: &[u8]) -> Status {
        let send = self.send(to, tag, bytes);
        self.end_of(send).0
    }

    /// Receives, and waits for the end of the receive.
    pub fn receive_and_wait(
        &mut self,
        from: u32,
        tag: u64,
        room: u64,
    ) -> (Status, Report, Vec<u8>) {
        let receive = self.receive(from, tag, room);
        self.end_of(receive)
    }

    /// Looks for a message of anybody, and waits for the end of the look; returns its number, too.
    pub fn peek(&mut self, flags: Flags) -> (u64, Status, Report) {
        let order = Order {
            peer: ANYBODY,
            flags: flags.0,
            ..Order::default()
        };
        let id = self.order(OrderKind::Peek, order, &[]);
        let (status, report, _) = self.end_of(id);
        (id, status, report)
    }

    /// Receives the message that a peek has claimed.
    pub fn claim(&mut self, id: u64, size: u64) -> (Status, Report, Vec<u8>) {
        let order = Order {
            id,
            size,
            ..Order::default()
        };
        self.order(OrderKind::Claim, order, &[]);
        self.end_of(id)
    }

    pub fn send_untagged(&mut self, to: u32, bytes: &[u8]) -> u64 {
        let order = Order {
            peer: to,
            flags: Flags::UNTAGGED.0,
            ..Order::default()
        };
        self.order(OrderKind::Send, order, bytes)
    }

    pub fn wait_for_untagged(&mut self) {
        while self.messages.is_empty() {
            self.wait(NEVER, Flags::BLOCKING);
        }
    }

    /// Takes back a receive or probe.
    pub fn cancel(&mut self, id: u64) {
        let order = Order {
            id,
            ..Order::default()
        };
        self.order(OrderKind::Cancel, order, &[]);
    }

    pub fn receive(&mut self, from: u32, tag: u64, room: u64) -> u64 {
        let order = Order {
            peer: from,
            tag,
            mask: u64::MAX,
            size: room,
            ..Order::default()
        };
        self.order(OrderKind::Receive, order, &[])
    }

    pub fn wait(&mut self, until: u64, mut flags: Flags) {
        loop {
            let resumed = self.link.hand_over(self.now, until, flags);
            let (mut replies, mut wrong, mut refused) = (Vec::new(), None, None);
            for (report, part, bytes) in self.link.reports() {
                let at = report.offset as usize + part.at();
                let kind = report.kind().expect("it is known");
                match kind {
                    ReportKind::Write => {
                        let memory = self.memory.get_mut(&report.key).expect("it has a key");
                        match memory.get_mut(at..at + bytes.len()) {
                            Some(place) => place.copy_from_slice(bytes),
                            None => refused = Some(report),
                        }
                    }
                    ReportKind::Read => {
                        let memory = &self.memory[&report.key];
                        let part = memory.get(at..at + report.size as usize);
                        let part = part.unwrap_or_default().to_vec();
                        replies.push((report.id, part));
                    }
                    _ => {
                        self.coming.extend(bytes);
                        if !part.is_last() {
                            continue;
                        }
                        let mut whole = std::mem::take(&mut self.coming);
                        if self.spoils && !whole.is_empty() {
                            whole[report.size as usize / 2] ^= 1;
                        }
                        let carries = [ReportKind::Received, ReportKind::Got, ReportKind::Untagged];
                        let done = report.status() == Status::Done && carries.contains(&kind);
                        if done && link::checksum([&whole[..]]) != report.checksum {
                            wrong = Some((report.message, whole.clone()));
                        }
                        if kind == ReportKind::Untagged {
                            self.messages.push(whole);
                        } else if kind == ReportKind::Arrived {
                            self.queues.entry(report.key).or_default().push_back(whole);
                        } else {
                            self.told.insert(report.id, (report, whole));
                        }
                    }
                }
            }
            if let Some(Report {
                peer, offset, size, ..
            }) = refused
            {
                let order = Order {
                    peer,
                    offset,
                    size,
                    ..Order::default()
                };
                self.order(OrderKind::Refuses, order, &[]);
                self.link.hand_over(self.now, NEVER, Flags::BLOCKING);
            }
            if let Some((message, whole)) = wrong {
                let order = Order {
                    id: message,
                    ..Order::default()
                };
                self.spoils = false;
                self.order(OrderKind::Differs, order, &whole);
                self.link.hand_over(self.now, NEVER, Flags::BLOCKING);
            }
            if let Some(now) = resumed {
                assert!(now >= self.now, "time goes on");
                self.now = now;
                return;
            }
            for (id, part) in replies {
                let order = Order {
                    id,
                    size: part.len() as u64,
                    ..Order::default()
                };
                self.order(OrderKind::Reply, order, &part);
            }
            flags = flags.with(Flags::STILL);
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
        let wait = Order {
            id: which,
            key: NEVER,
            size: ranks,
            flags: Flags::MEETING.0,
            ..Order::new(OrderKind::Wait, self.now)
        };
        self.now = self.link.hand_over_by(&wait).expect("it is asked nothing");
    }

    /// Waits for the end of something.
    pub fn end_of(&mut self, id: u64) -> (Status, Report, Vec<u8>) {
        loop {
            if let Some((report, bytes)) = self.told.remove(&id) {
                return (report.status(), report, bytes);
            }
            self.wait(NEVER, Flags::BLOCKING);
        }
    }

    /// Looks whether something has ended by the end of a step of time.
    pub fn step(&mut self, step: Time) {
        self.wait(self.now + step.as_ps(), Flags::default());
    }

    /// Looks for a message until it has come, and keeps it; returns the order that receives it.
    pub fn found(&mut self, from: u32, tag: u64, step: Time) -> Order {
        let mut order = Order {
            peer: from,
            tag,
            mask: u64::MAX,
            flags: Flags::CLAIM.0,
            ..Order::default()
        };
        loop {
            order.id = self.order(OrderKind::Peek, Order { id: 0, ..order }, &[]);
            let (status, report, _) = self.end_of(order.id);
            if status == Status::Done {
                (order.size, order.flags) = (report.size, 0);
                return order;
            }
            self.step(step);
        }
    }

    /// Puts bytes into the memory of another rank, or gets them from there.
    pub fn copy(
        &mut self,
        kind: OrderKind,
        peer: u32,
        (key, offset, size): (u64, u64, u64),
        bytes: &[u8],
    ) -> u64 {
        let order = Order {
            peer,
            key,
            offset,
            size,
            ..Order::default()
        };
        self.order(kind, order, bytes)
    }

    pub fn has_ended(&self, id: u64) -> bool {
        self.told.contains_key(&id)
    }

    pub fn sleep(&mut self, time: Time) {
        self.wait(self.now + time.as_ps(), Flags::SLEEP);
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
        ranks_per_node: 1,
        placement: None,
        compute: "none".into(),
        network: Network::Machine,
        memory: Memory::Main,
        collectives: Some(Collectives::Mpi),
        seed: 1,
        limit_time: None,
        timeline: false,
        record: false,
        calls: true,
        checksums: true,
        keep_going: false,
    }
}

/// Runs a program on every rank. A rank that panics ends the run, and leaves the other ranks in their waits.
pub fn play(
    machine: Machine,
    options: Options,
    longest: Time,
    program: impl Fn(&mut Process) + Send + Sync + 'static,
) -> (Outcome, Results) {
    let ranks = options.ranks;
    let run = Run::new(machine, options).expect("there is room");
    let (path, program) = (run.path(), Arc::new(program));
    let cancel = Arc::new(AtomicBool::new(false));
    for rank in 0..ranks {
        let (path, program, cancel) = (path.clone(), Arc::clone(&program), Arc::clone(&cancel));
        std::thread::spawn(move || {
            let all = || {
                let mut process = Process::attach(&path, rank);
                process.wait(0, Flags::default());
                program(&mut process);
                let now = process.now;
                process.link.finish(now);
                process.link.out_of_band().exits();
            };
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)).is_err() {
                cancel.store(true, Ordering::Relaxed);
            }
        });
    }
    let served = run.serve_within(&cancel, std::process::id(), longest);
    served.expect("there is room")
}
