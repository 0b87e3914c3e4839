//! The loop: take the orders of the ranks, carry them out, let ranks go on.
//!
//! Each rank has its own queue of events. As nothing reaches another rank sooner than after the latency, all that happens
//! less than a latency after the first event of all can be done rank by rank; a rank that gets a report on the way goes on, and
//! the rest of its events wait until it has given its turn away again.

use crate::rank::{self, Asked, Doing, Envelope, Event, Key, Rank};
use link::{
    Compute, Flags, NEVER, Order, OrderKind, Payload, Report, ReportKind, Settings, Simulator,
    Status,
};
use std::time::Duration;

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Finished,
    /// The program was gone before all ranks had finished.
    Gone,
    Deadlock,
}

pub struct Server {
    link: Simulator,
    ranks: Vec<Rank>,
    latency: u64,
    /// Events so far, to number them.
    count: u64,
    pub messages: u64,
    pub rounds: u64,
    pub now: u64,
    /// Of all that ranks were told, and when.
    pub digest: u64,
}

impl Server {
    pub fn new(ranks: u32, latency: u64) -> Server {
        let settings = Settings {
            compute: Compute::None,
            tick: 100_000,
            longest_tick: 10_000_000,
            epoch: 1_000_000_000,
            calls: false,
            checksums: true,
        };
        Server {
            link: Simulator::new(ranks, settings).expect("shared memory"),
            ranks: (0..ranks).map(|_| Rank::default()).collect(),
            latency,
            count: 0,
            messages: 0,
            rounds: 0,
            now: 0,
            digest: 0xcbf2_9ce4_8422_2325,
        }
    }

    pub fn path(&self) -> String {
        self.link.path()
    }

    /// Runs until all ranks have finished, or the program is gone.
    pub fn run(&mut self, mut gone: impl FnMut() -> bool) -> End {
        loop {
            for rank in 0..self.link.ranks() {
                while !self.link.wait(rank, Duration::from_millis(200)) {
                    if gone() {
                        self.link.end();
                        return End::Gone;
                    }
                }
            }
            self.rounds += 1;
            for rank in 0..self.link.ranks() {
                if self.ranks[rank as usize].doing == Doing::Runs {
                    self.collect(rank);
                }
            }
            let Some(first) = self.ranks.iter().filter_map(Rank::next).min() else {
                return End::Finished;
            };
            if first == NEVER {
                eprintln!("loopback: all ranks wait for ever:");
                for rank in 0..self.link.ranks() {
                    let call = link::calls::name(self.link.call(rank));
                    let Rank {
                        posted, unexpected, ..
                    } = &self.ranks[rank as usize];
                    eprintln!("loopback: rank {rank} in {call}: {posted:x?}, {unexpected:x?}");
                }
                self.link.end();
                return End::Deadlock;
            }
            self.now = self.now.max(first);
            for rank in 0..self.link.ranks() {
                self.advance(rank, first + self.latency);
            }
            self.link.release();
        }
    }

    /// Takes the orders of a rank.
    fn collect(&mut self, number: u32) {
        for (order, bytes) in self.orders(number) {
            let rank = &mut self.ranks[number as usize];
            match order.kind().expect("an order of this build") {
                OrderKind::Wait => rank.waits(&order),
                OrderKind::Finish => {
                    rank.doing = Doing::Finished;
                    rank.events.clear();
                }
                OrderKind::Called => (),
                OrderKind::Differs => panic!("rank {number} has stored other bytes than were sent"),
                _ => self.put(number, order.time, number, Event::Order(order, bytes)),
            }
        }
    }

    /// The orders of a rank, as soon as it has given its turn away and all has come.
    fn orders(&mut self, number: u32) -> Vec<(Order, Vec<u8>)> {
        let mut orders = Vec::new();
        loop {
            let given = self.link.wait(number, Duration::from_secs(60));
            assert!(given, "rank {number} does not give its turn away");
            if self.link.take_orders(number, &mut orders) {
                return orders;
            }
            self.link.give_turn(number, None);
            self.link.release();
        }
    }

    /// Gives a rank the turn to take in what it has been told, and to answer; what it answers.
    fn serve(&mut self, number: u32) -> Vec<(Order, Vec<u8>)> {
        self.link.give_turn(number, None);
        self.link.release();
        self.orders(number)
    }

    /// Tells a rank something; what does not fit, in turns of its own.
    fn tell_now(&mut self, number: u32, report: &Report, bytes: &[u8]) {
        let pieces = [bytes];
        let mut payload = Payload::new(&pieces);
        while !self.link.tell(number, report, &mut payload) {
            self.serve(number);
        }
    }

    /// Asks a rank for bytes of its memory, which go back to who gets them.
    fn read(&mut self, number: u32, time: u64, asked: &Asked) {
        self.tell_now(number, &asked.report, &[]);
        let mut answers = self.serve(number).into_iter();
        let reply = answers.find(|(order, _)| order.kind() == Some(OrderKind::Reply));
        let (order, bytes) = reply.expect("it was asked for this");
        let later = time + self.latency;
        self.got(
            asked.from,
            asked.id,
            asked.report.size,
            later,
            bytes,
            order.checksum,
        );
    }

    /// The bytes of a get have come back.
    fn got(&mut self, rank: u32, id: u64, size: u64, time: u64, bytes: Vec<u8>, checksum: u64) {
        let whole = bytes.len() as u64 == size;
        let status = if whole { Status::Done } else { Status::Refused };
        let report = Report {
            size,
            checksum,
            ..Report::new(ReportKind::Got, status, time, id)
        };
        self.tell(rank, rank, report, bytes);
    }

    /// Puts an event into a rank's queue; by whom it happens settles the order of such at the same time.
    fn put(&mut self, rank: u32, time: u64, by: u32, event: Event) {
        self.count += 1;
        let rank = &mut self.ranks[rank as usize];
        if rank.doing != Doing::Finished {
            rank.events.insert((time, by, self.count), event);
        }
    }

    /// Lets a rank know something.
    fn tell(&mut self, rank: u32, by: u32, report: Report, bytes: Vec<u8>) {
        self.put(rank, report.time, by, Event::Report(report, bytes));
    }

    /// Does what happens to a rank before a moment, until it goes on.
    fn advance(&mut self, number: u32, horizon: u64) {
        loop {
            let rank = &mut self.ranks[number as usize];
            let Doing::Waits {
                since,
                until,
                sleeps,
            } = rank.doing
            else {
                return;
            };
            let limit = until.max(since);
            let wakes = rank.wakes;
            let next = rank.events.first_key_value().map(|(&key, _)| key);
            match next {
                Some(key)
                    if key.0 < horizon && key.0 <= limit && wakes.is_none_or(|at| key.0 <= at) =>
                {
                    let event = rank.events.remove(&key).expect("it was there");
                    match self.happen(number, key, event) {
                        Effect::None => (),
                        Effect::Report if sleeps => (),
                        Effect::Report => self.ranks[number as usize].wakes = Some(key.0),
                    }
                    continue;
                }
                _ => (),
            }
            let at = match wakes {
                Some(at) => at,
                None if limit < horizon => limit,
                None => return,
            };
            self.link.give_turn(number, Some(at.max(since)));
            rank.doing = Doing::Runs;
            rank.wakes = None;
            return;
        }
    }

    /// Lets one thing happen to a rank.
    fn happen(&mut self, number: u32, key: Key, event: Event) -> Effect {
        let time = key.0;
        match event {
            Event::Order(order, bytes) => self.carry_out(number, time, order, bytes),
            Event::Arrive(message) => self.arrive(number, time, message),
            Event::Report(report, bytes) => {
                self.tell_now(number, &report, &bytes);
                for word in [
                    time,
                    number.into(),
                    report.kind.into(),
                    report.id,
                    report.size,
                ] {
                    self.digest = (self.digest ^ word).wrapping_mul(0x0100_0000_01b3);
                }
                match report.kind() {
                    Some(ReportKind::Write) => Effect::None,
                    _ => Effect::Report,
                }
            }
            Event::Read(asked) => {
                self.read(number, time, &asked);
                Effect::None
            }
        }
    }

    fn carry_out(&mut self, number: u32, time: u64, order: Order, bytes: Vec<u8>) -> Effect {
        let rank = &mut self.ranks[number as usize];
        let later = time + self.latency;
        match order.kind().expect("an order of this build") {
            OrderKind::Send => {
                self.messages += 1;
                let synchronous = order.has(Flags::SYNCHRONOUS);
                let message = Envelope {
                    from: number,
                    tag: order.tag,
                    label: order.data,
                    checksum: order.checksum,
                    bytes,
                    untagged: order.has(Flags::UNTAGGED),
                    waits: synchronous.then_some(order.id),
                };
                self.put(order.peer, later, number, Event::Arrive(message));
                if order.id != 0 && !synchronous {
                    let report = Report::new(ReportKind::Sent, Status::Done, time, order.id);
                    self.tell(number, number, report, Vec::new());
                }
            }
            OrderKind::Receive => match rank.find(&order) {
                Some(place) => {
                    let message = rank.unexpected.remove(place);
                    self.received(number, time, &order, message);
                }
                None => rank.posted.push(order),
            },
            OrderKind::Peek => self.look(number, time, order),
            OrderKind::Claim => {
                let message = rank.claimed.remove(&order.id).expect("it was claimed");
                self.received(number, time, &order, message);
            }
            OrderKind::Cancel => {
                if let Some(place) = rank.probes.iter().position(|probe| probe.id == order.id) {
                    rank.probes.remove(place);
                    let report = Report::new(ReportKind::Found, Status::Cancelled, time, order.id);
                    self.tell(number, number, report, Vec::new());
                    return Effect::None;
                }
                let place = rank.posted.iter().position(|posted| posted.id == order.id);
                if let Some(place) = place {
                    rank.posted.remove(place);
                    let report =
                        Report::new(ReportKind::Received, Status::Cancelled, time, order.id);
                    self.tell(number, number, report, Vec::new());
                }
            }
            OrderKind::Put => {
                self.messages += 1;
                let report = Report {
                    peer: number,
                    key: order.key,
                    offset: order.offset,
                    size: order.size,
                    checksum: order.checksum,
                    ..Report::new(ReportKind::Write, Status::Done, later, 0)
                };
                self.tell(order.peer, number, report, bytes);
                let report = Report::new(
                    ReportKind::Stored,
                    Status::Done,
                    later + self.latency,
                    order.id,
                );
                self.tell(number, order.peer, report, Vec::new());
            }
            OrderKind::Get => {
                self.messages += 1;
                self.count += 1;
                let report = Report {
                    peer: number,
                    key: order.key,
                    offset: order.offset,
                    size: order.size,
                    ..Report::new(ReportKind::Read, Status::Done, later, self.count)
                };
                if self.ranks[order.peer as usize].doing == Doing::Finished {
                    let back = later + self.latency;
                    self.got(number, order.id, order.size, back, Vec::new(), 0);
                }
                let asked = Asked {
                    from: number,
                    id: order.id,
                    report,
                };
                self.put(order.peer, later, number, Event::Read(asked));
            }
            other => {
                unreachable!("{other:?} is not put into a queue")
            }
        }
        Effect::None
    }

    fn arrive(&mut self, number: u32, time: u64, message: Envelope) -> Effect {
        if message.untagged {
            self.matched(number, time, &message);
            let report = Report {
                peer: message.from,
                data: message.label,
                size: message.bytes.len() as u64,
                checksum: message.checksum,
                ..Report::new(ReportKind::Message, Status::Done, time, 0)
            };
            self.tell(number, message.from, report, message.bytes);
            return Effect::None;
        }
        let rank = &mut self.ranks[number as usize];
        if let Some(order) = rank.receive(&message) {
            self.received(number, time, &order, message);
        } else {
            let means = |probe: &mut Order| rank::means(probe, &message);
            let told: Vec<Order> = rank.probes.extract_if(.., means).collect();
            rank.unexpected.push(message);
            for probe in told {
                self.look(number, time, probe);
            }
        }
        Effect::None
    }

    /// Looks for a message, and waits for one if the order is a probe.
    fn look(&mut self, number: u32, time: u64, order: Order) {
        let rank = &mut self.ranks[number as usize];
        let mut report = Report::new(ReportKind::Found, Status::Nothing, time, order.id);
        if let Some(place) = rank.find(&order) {
            let message = &rank.unexpected[place];
            report.status = Status::Done as u32;
            (report.peer, report.tag) = (message.from, message.tag);
            (report.data, report.size) = (message.label, message.bytes.len() as u64);
            if order.has(Flags::CLAIM) {
                let message = rank.unexpected.remove(place);
                rank.claimed.insert(order.id, message);
            }
        } else if order.has(Flags::BLOCKING) {
            return rank.probes.push(order);
        }
        self.tell(number, number, report, Vec::new());
    }

    /// A message and its receive have met.
    fn received(&mut self, number: u32, time: u64, order: &Order, message: Envelope) {
        self.matched(number, time, &message);
        let size = message.bytes.len() as u64;
        let fits = size <= order.size;
        let status = if fits {
            Status::Done
        } else {
            Status::Truncated
        };
        let report = Report {
            peer: message.from,
            tag: message.tag,
            data: message.label,
            checksum: message.checksum,
            size,
            ..Report::new(ReportKind::Received, status, time, order.id)
        };
        let bytes = if fits { message.bytes } else { Vec::new() };
        self.tell(number, message.from, report, bytes);
    }

    fn matched(&mut self, number: u32, time: u64, message: &Envelope) {
        if let Some(id) = message.waits {
            let report = Report::new(ReportKind::Sent, Status::Done, time + self.latency, id);
            self.tell(message.from, number, report, Vec::new());
        }
    }
}

/// What an event means to its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    /// There is a report for it to go on with.
    Report,
}
