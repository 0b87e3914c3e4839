//! The rank's side of the link.

use crate::area::{
    Area, BUSY, Departure, LinkDirection, LinkError, LookerWords, RankPhase, StrayReason, World,
    frame,
};
use crate::order::Order;
use crate::part::{Payload, Reassembly};
use crate::raw::Raw;
use crate::record::{Body, Complaint, FileAccess, RankWait, Record};
use crate::report::Delivery;
use crate::turn::{self, RANK, SharedWord};
use crate::{NEVER, PayloadPart, Settings, checksum};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

/// How often a waiting rank looks whether there is still a simulator.
const LOOK: Duration = Duration::from_millis(500);

const SOUND: &str = "the simulator's records are sound";

/// A rank's link endpoint.
pub struct Rank {
    area: Arc<Area>,
    number: u32,
    world: World,
    /// The bytes of orders so far in this turn.
    up: usize,
    reassembly: Reassembly<Raw>,
    settings: Settings,
    /// The simulator's process, to watch whether it lives.
    simulator: rustix::process::Pid,
}

impl Rank {
    /// Attaches this process as a rank.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn attach(path: &str, rank: u32) -> Result<Rank, LinkError> {
        let area = Area::open(path)?;
        let world = started(&area, rank)?;
        let phases = (RankPhase::Absent as u32, RankPhase::Attached as u32);
        let slot = area.slot(rank);
        let taken = slot
            .phase
            .compare_exchange(phases.0, phases.1, Acquire, Relaxed);
        if taken.is_err() {
            return Err(LinkError::Taken { rank });
        }
        slot.pid.store(std::process::id(), Release);
        let head = area.head();
        let simulator = rustix::process::Pid::from_raw(head.simulator.cast_signed());
        Ok(Rank {
            settings: head.settings.parse().expect(SOUND),
            simulator: simulator.expect("a simulator is a process"),
            area: Arc::new(area),
            number: rank,
            world,
            up: 0,
            reassembly: Reassembly::default(),
        })
    }

    /// The rank's number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// For how many ranks the run has room: initial ones, and those that start later.
    pub fn ranks(&self) -> u32 {
        self.area.ranks()
    }

    /// The ranks that started together with this one.
    pub fn world(&self) -> World {
        self.world
    }

    /// The local time at which the rank continued last; before its first turn, its start time.
    pub fn now(&self) -> u64 {
        self.area.slot(self.number).now.load(Acquire)
    }

    /// All ranks' simulated nodes.
    pub fn nodes(&self) -> Vec<u32> {
        nodes(&self.area)
    }

    /// The run's settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The rank's notices about itself, allowed at any time, on either side's turn.
    pub fn out_of_band(&self) -> OutOfBand {
        OutOfBand {
            area: Arc::clone(&self.area),
            number: self.number,
        }
    }

    /// Gives an order with its payload, which may lie in several pieces. Its number names it in
    /// reports; 0 for an order without a report.
    pub fn order(&mut self, time: u64, id: u64, order: Order, payload: &[&[u8]]) {
        let checksum = if order.carries() {
            self.checksum(payload)
        } else {
            0
        };
        let words: Vec<u8> = match &order {
            Order::Group { ranks, .. } => bytemuck::cast_slice(ranks).to_vec(),
            _ => Vec::new(),
        };
        let own = [&words[..]];
        let payload = if words.is_empty() { payload } else { &own };
        self.write(time, checksum, Body::Order(id, order), payload);
    }

    /// Answers a report that asks for bytes.
    pub fn reply(&mut self, time: u64, bytes: &[u8]) {
        let checksum = self.checksum(&[bytes]);
        self.write(time, checksum, Body::Reply, &[bytes]);
    }

    /// Reports why the run cannot continue. Does not return: the simulator ends the run, and with
    /// it this process.
    pub fn complain(&mut self, time: u64, complaint: Complaint, bytes: &[u8]) -> ! {
        self.write(time, 0, Body::Complaint(complaint), &[bytes]);
        loop {
            self.hand_over(time, RankWait::Sleep { until: NEVER }, false);
        }
    }

    fn checksum(&self, payload: &[&[u8]]) -> u64 {
        if self.settings.checksums {
            checksum(payload.iter().copied())
        } else {
            0
        }
    }

    fn write(&mut self, time: u64, checksum: u64, body: Body, payload: &[&[u8]]) {
        let record = Record {
            time,
            checksum,
            body,
        };
        self.write_raw(&record.raw(), payload);
    }

    /// Writes any record. When the area is full, the simulator takes its content, in no simulated
    /// time, and gives the turn back immediately.
    pub fn write_raw(&mut self, record: &Raw, payload: &[&[u8]]) {
        let mut payload = Payload::new(payload);
        while !payload.is_written() {
            // The record that gives the turn away must fit behind this one.
            let (way, free) = ((self.number, LinkDirection::Up), frame::<Raw>());
            let up = self.area.append(way, self.up, record, &mut payload, free);
            if let Some(up) = up {
                self.up = up;
            } else {
                self.end_turn(&Raw::MORE);
                self.await_turn();
            }
        }
    }

    /// Gives the turn to the simulator and waits until it comes back. Returns the local time with
    /// which the rank continues. Returns `None` if the rank got the turn only to take in the
    /// reports, to answer, and to hand over again, `still` in the same wait.
    ///
    /// When the run is over, or the simulator is gone, this process ends.
    pub fn hand_over(&mut self, time: u64, wait: RankWait, still: bool) -> Option<u64> {
        self.hand_over_raw(&Record::plain(time, Body::Wait(wait, still)).raw())
    }

    /// Hands the turn over like [`Rank::hand_over`], by any record.
    pub fn hand_over_raw(&mut self, last: &Raw) -> Option<u64> {
        self.end_turn(last);
        self.await_turn();
        let slot = self.area.slot(self.number);
        (slot.resume.load(Acquire) != 0).then(|| slot.now.load(Acquire))
    }

    /// Waits until the turn comes back.
    fn await_turn(&mut self) {
        let slot = self.area.slot(self.number);
        turn::await_rank(&slot.turn, LOOK, |late| {
            if self.area.head().over.load(Acquire) != 0
                || late && rustix::process::test_kill_process(self.simulator).is_err()
            {
                leave();
            }
        });
        turn::pass_on(&slot.wakes, |rank| &self.area.slot(rank).turn);
        self.up = 0;
    }

    /// The reports that came with the turn, each with a payload part. One payload's parts come one
    /// after the other.
    ///
    /// # Panics
    /// If the simulator's records are invalid: a broken invariant in the link.
    pub fn reports(&mut self) -> impl Iterator<Item = (Delivery, PayloadPart, &[u8])> {
        let down = self.area.slot(self.number).down.load(Acquire);
        let records = self.area.records(self.number, LinkDirection::Down, down);
        let reassembly = &mut self.reassembly;
        records.expect(SOUND).map(move |record| {
            let (raw, part, bytes) = record.expect(SOUND);
            reassembly.add(&raw, part).expect(SOUND);
            (Delivery::parse(&raw).expect(SOUND), part, bytes)
        })
    }

    /// Announces that this rank gives no more orders, unless it comes back.
    pub fn finish(&mut self, time: u64) {
        let slot = self.area.slot(self.number);
        slot.phase.store(RankPhase::Finished as u32, Release);
        self.end_turn(&Record::plain(time, Body::Finish).raw());
    }

    /// Comes back after [`Rank::finish`]: waits for the turn, and returns the present simulated
    /// time.
    ///
    /// # Errors
    /// [`LinkError::Over`].
    pub fn come_back(&mut self) -> Result<u64, LinkError> {
        let slot = self.area.slot(self.number);
        slot.phase.store(RankPhase::Returning as u32, SeqCst);
        if self.area.head().over.load(SeqCst) != 0 {
            return Err(LinkError::Over { rank: self.number });
        }
        slot.phase.wake();
        self.await_turn();
        Ok(self.area.slot(self.number).now.load(Acquire))
    }

    /// Gives the turn to the simulator, with a last order that has the reason.
    fn end_turn(&self, last: &Raw) {
        let (way, mut nothing) = ((self.number, LinkDirection::Up), Payload::new(&[]));
        let up = self.area.append(way, self.up, last, &mut nothing, 0);
        let up = up.expect("room was left for it");
        let (slot, head) = (self.area.slot(self.number), self.area.head());
        assert_eq!(slot.turn.take(), RANK, "the turn is this rank's");
        slot.up.store(up as u64, Release);
        turn::to_simulator(&slot.turn, &head.awaited.0, self.number);
    }
}

/// The slot part that a rank may write without the turn.
pub struct OutOfBand {
    area: Arc<Area>,
    number: u32,
}

impl OutOfBand {
    /// Sets the MPI call that the rank is in, by its number ([`crate::calls`]); 0 outside calls.
    pub fn in_call(&self, call: u32) {
        self.area.slot(self.number).call.store(call, Relaxed);
    }

    /// The program begins a call, from a frame that lies above this place on the stack.
    pub fn begins_call(&self, call: u32, frame: usize) {
        let slot = self.area.slot(self.number);
        // Only reports read these, so that simultaneous calls by two threads may count as one.
        slot.calls
            .store(slot.calls.load(Relaxed).wrapping_add(1), Relaxed);
        slot.frame.store(frame as u64, Relaxed);
        slot.last.store(call, Relaxed);
        slot.call.store(call, Relaxed);
    }

    /// How often the program has begun a call or read a clock.
    pub fn calls(&self) -> u32 {
        let slot = self.area.slot(self.number);
        let calls = slot.calls.load(Relaxed);
        calls.wrapping_add(slot.readings.load(Relaxed))
    }

    /// The program has read a clock, or waits with a time-out.
    pub fn reads_clock(&self) {
        let readings = &self.area.slot(self.number).readings;
        readings.store(readings.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// So many picoseconds have passed because the program read clocks in a row.
    pub fn passed_by_reading(&self, time: u64) {
        let read = &self.area.slot(self.number).read;
        read.store(read.load(Relaxed).saturating_add(time), Relaxed);
    }

    /// An operation on a file has taken no simulated time.
    pub fn untimed(&self, access: FileAccess) {
        let slot = self.area.slot(self.number);
        for (sum, more) in slot.untimed.iter().zip([1, access.read, access.written]) {
            sum.fetch_add(more, Relaxed);
        }
    }

    /// Whether the simulator wants to know if the program repeats itself.
    pub fn is_observed(&self) -> bool {
        self.area.slot(self.number).observed.load(Relaxed) != 0
    }

    /// The program is in a state in which it has not been since the simulator asked, or in one that
    /// is not known.
    pub fn is_new(&self) {
        self.area.slot(self.number).novel.fetch_add(1, Relaxed);
    }

    /// A thread begins to look in a call that blocks. Returns its place, if there is one.
    pub fn starts_looking(&self, thread: u32, call: u32) -> Option<usize> {
        let slot = self.area.slot(self.number);
        let free = |words: &LookerWords| {
            words
                .thread
                .compare_exchange(0, thread, AcqRel, Relaxed)
                .is_ok()
        };
        let place = slot.lookers.iter().position(free)?;
        let words = &slot.lookers[place];
        words.call.store(call, Relaxed);
        words.looks.store(0, Relaxed);
        let number = slot.places.fetch_add(1, Relaxed).wrapping_add(1);
        words.number.store(number, Release);
        Some(place)
    }

    /// The thread with this place has looked, and found no change.
    pub fn looks(&self, place: usize) {
        let words = &self.area.slot(self.number).lookers[place];
        words.looks.fetch_add(1, Relaxed);
    }

    /// The thread with this place leaves its call.
    pub fn looks_no_more(&self, place: usize) {
        let words = &self.area.slot(self.number).lookers[place];
        words.thread.store(0, Release);
    }

    /// Announces that the rank's process exits. If the rank has left MPI, it will not come back.
    pub fn exits(&self) {
        let (finished, gone) = (RankPhase::Finished as u32, RankPhase::Gone as u32);
        let phase = &self.area.slot(self.number).phase;
        if phase
            .compare_exchange(finished, gone, AcqRel, Relaxed)
            .is_ok()
        {
            phase.wake();
        }
    }

    /// Announces that the rank's process is about to end, and how. Only a rank's first notice
    /// counts.
    pub fn leaves(&self, how: Departure) {
        let (slot, head) = (self.area.slot(self.number), self.area.head());
        let first = slot.leaves.compare_exchange(0, BUSY, AcqRel, Relaxed);
        if first.is_err() {
            return;
        }
        let (how, code) = how.words();
        slot.code.store(code, Relaxed);
        slot.how.store(how, Relaxed);
        let turn = head.leaving.fetch_add(1, AcqRel) + 1;
        slot.leaves.store(turn, Release);
    }
}

/// A started rank's world.
fn started(area: &Area, rank: u32) -> Result<World, LinkError> {
    let ranks = area.ranks();
    let world = area.world(rank);
    world.ok_or(LinkError::NoSlot { rank, ranks })
}

fn nodes(area: &Area) -> Vec<u32> {
    let node = |rank| area.node(rank).load(Acquire);
    (0..area.ranks()).map(node).collect()
}

/// A rank's slot for its process before it has attached.
pub struct Starter {
    area: Area,
    number: u32,
}

impl Starter {
    /// Opens a rank's slot.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn open(path: &str, rank: u32) -> Result<Starter, LinkError> {
        let area = Area::open(path)?;
        started(&area, rank)?;
        Ok(Starter { area, number: rank })
    }

    /// All ranks' simulated nodes.
    pub fn nodes(&self) -> Vec<u32> {
        nodes(&self.area)
    }

    /// The run's settings.
    pub fn settings(&self) -> Settings {
        self.area.head().settings.parse().expect(SOUND)
    }

    /// Reports that this process was started as the rank. Only the first process counts: it may
    /// start others.
    pub fn starts(&self) {
        let started = &self.area.slot(self.number).started;
        let _ = started.compare_exchange(0, std::process::id(), AcqRel, Relaxed);
    }

    /// Reports that this process has written to the process manager.
    pub fn manages(&self) {
        self.area.slot(self.number).managed.store(1, Release);
    }

    /// Reports that this process has initialised MPI, and has no part in the run.
    pub fn strays(&self, why: StrayReason) {
        let slot = self.area.slot(self.number);
        slot.stray_pid.store(std::process::id(), Relaxed);
        slot.stray.store(why.word(), Release);
    }
}

/// Ends this process silently: the simulator has reported the reason, or has been killed.
fn leave() -> ! {
    // The program's handlers must not run: they would call MPI.
    let own = rustix::process::getpid();
    let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}
