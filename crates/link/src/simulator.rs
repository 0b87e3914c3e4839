//! The simulator's side of the link.

use crate::Settings;
use crate::area::{Area, BUSY, Departure, LinkDirection, RankPhase, StrayReason};
use crate::calls::number;
use crate::foul::Violation;
use crate::part::{Payload, Reassembly};
use crate::raw::Raw;
use crate::record::Record;
use crate::report::Delivery;
use crate::turn::{self, RANK, SharedWord};
use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::{Duration, Instant};

/// The simulator's endpoint for the links to all ranks.
pub struct Simulator {
    area: Area,
    file: File,
    /// How many ranks have been started: those with the first numbers.
    ranks: u32,
    /// The bytes of reports so far, for each rank.
    down: Vec<usize>,
    /// The payload so far for each rank's last order.
    up: Vec<PartialOrder>,
    /// Ranks that get their turn next.
    turns: Vec<u32>,
    /// Whether the simulator has a rank's turn: the rank's own word for that may change at any
    /// time.
    own: Vec<bool>,
}

/// A rank's MPI calls, at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankCalls {
    /// How many calls it has begun.
    pub count: u32,
    /// The latest one's number, which may have ended; 0 without a call.
    pub last: u32,
    /// The stack pointer at the latest call's entry point.
    pub frame: u64,
    /// How often the program has read a clock or waited with a time-out.
    pub readings: u32,
    /// The simulated time, in picoseconds, that has passed because it read clocks in a row.
    pub read: u64,
    /// In how many new states the program was while it was observed.
    pub novel: u32,
    /// The local time from which the rank continued last, in picoseconds.
    pub now: u64,
}

/// A rank's thread that looks in a call that blocks, by the rank's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looker {
    /// The thread's number in the kernel.
    pub thread: u32,
    /// The MPI call's number.
    pub call: u32,
    /// A number that the thread has in this call only.
    number: u32,
    /// How often it has looked in the call.
    looks: u32,
}

impl Looker {
    /// How often the thread has looked since another time, if it has been in the same call since.
    pub fn looks_since(&self, then: &Looker) -> Option<u32> {
        let same = (self.thread, self.number) == (then.thread, then.number);
        same.then(|| self.looks.wrapping_sub(then.looks))
    }
}

/// A rank's operations on files that took no simulated time, by its own word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntimedFiles {
    /// How many.
    pub operations: u64,
    /// Bytes that they read.
    pub read: u64,
    /// Bytes that they wrote.
    pub written: u64,
}

/// The bytes with room before a payload with this length has come: a length is only a rank's claim.
const READY: usize = 64 << 20;

/// An order with a payload in parts.
#[derive(Default)]
struct PartialOrder {
    reassembly: Reassembly<Raw>,
    bytes: Vec<u8>,
}

impl Simulator {
    /// Makes the shared memory for this many ranks.
    ///
    /// # Errors
    /// If the host has no memory for it.
    pub fn new(ranks: u32, settings: Settings) -> io::Result<Simulator> {
        Simulator::with_room(ranks, ranks, settings)
    }

    /// Makes the shared memory for this many ranks, and with room for ranks that start later, so
    /// that these are `room` in all.
    ///
    /// # Errors
    /// If the host has no memory for it.
    pub fn with_room(ranks: u32, room: u32, settings: Settings) -> io::Result<Simulator> {
        // Ranks open it by `Simulator::path`; started processes do not inherit it.
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create("elanite", flags)?);
        let area = Area::create(&file, room.max(ranks), settings)?;
        // A process that touches memory beyond a file's end is killed.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals)?;
        let mut simulator = Simulator {
            area,
            file,
            ranks: 0,
            down: Vec::new(),
            up: Vec::new(),
            turns: Vec::new(),
            own: Vec::new(),
        };
        simulator.start(ranks, 0);
        Ok(simulator)
    }

    /// Starts a world with this many ranks and this local time on their clocks. Returns the first
    /// one's number; `None` if there is no room.
    pub fn start(&mut self, count: u32, now: u64) -> Option<u32> {
        let first = self.ranks;
        let end = first.checked_add(count);
        let end = end.filter(|&end| count > 0 && end <= self.area.ranks())?;
        for rank in first..end {
            let slot = self.area.slot(rank);
            slot.now.store(now, Relaxed);
            slot.first.store(first, Relaxed);
            slot.size.store(count, Release);
        }
        self.ranks = end;
        self.down.resize(end as usize, 0);
        self.up.resize_with(end as usize, PartialOrder::default);
        self.own.resize(end as usize, false);
        Some(first)
    }

    /// The path by which ranks open the memory while this process lives.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Publishes the ranks' nodes to the ranks, also those for ranks that start later.
    pub fn place(&self, nodes: &[u32]) {
        for (rank, &node) in (0..self.area.ranks()).zip(nodes) {
            self.area.node(rank).store(node, Release);
        }
    }

    /// How many ranks have been started.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Waits until a rank has given its turn away, or this much host time is over. Returns whether
    /// the rank has.
    #[expect(
        clippy::disallowed_methods,
        reason = "how long real processes may take"
    )]
    pub fn wait(&self, rank: u32, patience: Duration) -> bool {
        let (turn, awaited) = (&self.area.slot(rank).turn, &self.area.head().awaited.0);
        let mut since = None;
        turn::await_simulator(turn, awaited, rank, || {
            let since = since.get_or_insert_with(Instant::now);
            patience.saturating_sub(since.elapsed())
        })
    }

    /// Whether a rank has given its turn away. Any word but a running rank's means so.
    pub fn has_turn(&self, rank: u32) -> bool {
        self.area.slot(rank).turn.take() != RANK
    }

    /// How far a rank has come.
    pub fn phase(&self, rank: u32) -> RankPhase {
        let slot = self.area.slot(rank);
        match RankPhase::of_word(slot.phase.load(Acquire)) {
            // A program may call MPI_Finalize when it exits already.
            RankPhase::Finished if slot.leaves.load(Acquire) != 0 => RankPhase::Gone,
            phase => phase,
        }
    }

    /// Waits until a rank that has left MPI comes back or exits, or this much host time is over.
    /// Returns its phase.
    pub fn wait_for_return(&self, rank: u32, patience: Duration) -> RankPhase {
        if self.phase(rank) == RankPhase::Finished {
            let phase = &self.area.slot(rank).phase;
            phase.sleep(RankPhase::Finished as u32, patience);
        }
        self.phase(rank)
    }

    /// An attached rank's process; `None` if the word is not a process number.
    pub fn pid(&self, rank: u32) -> Option<u32> {
        process(&self.area.slot(rank).pid)
    }

    /// The process that was started as this rank, whether it has attached or not; `None` if it does
    /// not load the ranks' library.
    pub fn started(&self, rank: u32) -> Option<u32> {
        process(&self.area.slot(rank).started)
    }

    /// Whether a process in this rank has written to the process manager.
    pub fn has_managed(&self, rank: u32) -> bool {
        self.area.slot(rank).managed.load(Acquire) != 0
    }

    /// Why a process in this rank has no part in the run, and the process. It finds that out when
    /// it initialises MPI: the word of a rank that has made other calls does not count.
    pub fn stray(&self, rank: u32) -> Option<(StrayReason, Option<u32>)> {
        const FIRST: [u32; 3] = [0, number("MPI_Init"), number("MPI_Init_thread")];
        let slot = self.area.slot(rank);
        let why = StrayReason::of_word(slot.stray.load(Acquire))?;
        let begins = FIRST.contains(&slot.last.load(Relaxed));
        begins.then(|| (why, process(&slot.stray_pid)))
    }

    /// The MPI call that a rank is in, by its number; 0 outside calls.
    pub fn call(&self, rank: u32) -> u32 {
        self.area.slot(rank).call.load(Acquire)
    }

    /// A rank's calls, by its own word. Any value may come from a rank that overwrites its memory.
    pub fn calls(&self, rank: u32) -> RankCalls {
        let slot = self.area.slot(rank);
        RankCalls {
            count: slot.calls.load(Relaxed),
            last: slot.last.load(Relaxed),
            frame: slot.frame.load(Relaxed),
            readings: slot.readings.load(Relaxed),
            read: slot.read.load(Relaxed),
            novel: slot.novel.load(Relaxed),
            now: slot.now.load(Relaxed),
        }
    }

    /// A rank's threads that look in calls that block, since the rank is observed. Any value may
    /// come from a rank that overwrites its memory.
    pub fn lookers(&self, rank: u32) -> Vec<Looker> {
        let words = self.area.slot(rank).lookers.iter();
        let lookers = words.map(|words| Looker {
            thread: words.thread.load(Acquire),
            call: words.call.load(Relaxed),
            number: words.number.load(Acquire),
            looks: words.looks.load(Relaxed),
        });
        lookers.filter(|looker| looker.thread != 0).collect()
    }

    /// A rank's operations on files that took no simulated time. Any value may come from a rank
    /// that overwrites its memory.
    pub fn untimed(&self, rank: u32) -> UntimedFiles {
        let [operations, read, written] = &self.area.slot(rank).untimed;
        UntimedFiles {
            operations: operations.load(Relaxed),
            read: read.load(Relaxed),
            written: written.load(Relaxed),
        }
    }

    /// Requests that all ranks report whether their programs repeat themselves, or stops this.
    pub fn observe(&self, on: bool) {
        for rank in 0..self.ranks() {
            self.area.slot(rank).observed.store(on.into(), Relaxed);
        }
    }

    /// Ranks that have announced how they leave, in the announcements' order.
    pub fn leaving(&self) -> Vec<(u32, Departure)> {
        let mut found: Vec<_> = (0..self.ranks())
            .filter_map(|rank| {
                let slot = self.area.slot(rank);
                let turn = slot.leaves.load(Acquire);
                let how = Departure::of_words(slot.how.load(Acquire), slot.code.load(Acquire));
                (turn != 0 && turn != BUSY).then_some((turn, rank, how))
            })
            .collect();
        found.sort_unstable_by_key(|&(turn, ..)| turn);
        found
            .into_iter()
            .map(|(_, rank, how)| (rank, how))
            .collect()
    }

    /// Takes records from a rank that has given its turn away, each with all bytes that belong to
    /// it, and appends them to others. Returns false if the rank has more to write: then the caller
    /// gives the rank its turn back without new reports ([`Simulator::give_turn`]), and takes its
    /// records again.
    ///
    /// # Errors
    /// If the rank has written an invalid record.
    pub fn take_records(
        &mut self,
        rank: u32,
        records: &mut Vec<(Record, Vec<u8>)>,
    ) -> Result<bool, Violation> {
        if !self.has_turn(rank) {
            return Err(Violation::Running);
        }
        self.own[rank as usize] = true;
        // Orders are taken once: a turn that comes back without the rank's doing has none.
        let length = self.area.slot(rank).up.swap(0, AcqRel);
        let up = &mut self.up[rank as usize];
        let (mut all, ranks) = (true, self.ranks);
        for record in self.area.records::<Raw>(rank, LinkDirection::Up, length)? {
            let (raw, part, bytes) = record?;
            if raw == Raw::MORE {
                all = false;
                continue;
            }
            up.reassembly.add(&raw, part)?;
            if part.at() == 0 {
                up.bytes.reserve_exact(part.whole().min(READY));
            }
            up.bytes.extend_from_slice(bytes);
            if part.is_last() {
                let mut bytes = std::mem::take(&mut up.bytes);
                let record = Record::parse(&raw, &mut bytes, ranks)?;
                records.push((record, bytes));
            }
        }
        if all && !up.reassembly.is_closed() {
            return Err(Violation::Within);
        }
        Ok(all)
    }

    /// Adds to the reports that a rank finds in its next turn. Returns false if there was no room
    /// for the whole payload: then the rank has to get its turn and take in the present part,
    /// before another call adds the rest of the payload.
    #[must_use]
    pub fn tell(&mut self, rank: u32, report: &Delivery, payload: &mut Payload) -> bool {
        assert!(self.own[rank as usize], "rank {rank} runs");
        let (way, down) = ((rank, LinkDirection::Down), &mut self.down[rank as usize]);
        let report = &report.raw();
        while !payload.is_written() {
            match self.area.append(way, *down, report, payload, 0) {
                Some(end) => *down = end,
                None => return false,
            }
        }
        true
    }

    /// Takes back a rank in the phase [`RankPhase::Returning`]; it waits for its turn.
    pub fn comes_back(&self, rank: u32) {
        let phase = &self.area.slot(rank).phase;
        phase.store(RankPhase::Attached as u32, Release);
    }

    /// Gives a rank its turn at the next [`Simulator::release`]: to continue with this local time,
    /// or only to take in the reports and to answer.
    pub fn give_turn(&mut self, rank: u32, resume: Option<u64>) {
        let slot = self.area.slot(rank);
        slot.resume.store(resume.is_some().into(), Release);
        if let Some(now) = resume {
            slot.now.store(now, Release);
        }
        let down = std::mem::take(&mut self.down[rank as usize]);
        slot.down.store(down as u64, Release);
        self.own[rank as usize] = false;
        self.turns.push(rank);
    }

    /// Lets all ranks run that have got their turn.
    pub fn release(&mut self) {
        let slot = |rank| self.area.slot(rank);
        turn::to_ranks(
            &self.turns,
            |rank| &slot(rank).turn,
            |rank| &slot(rank).wakes,
        );
        self.turns.clear();
    }

    /// Ends the run before its end: all ranks that wait, now or later, end their processes.
    pub fn end(&self) {
        self.area.head().over.store(1, SeqCst);
        for rank in 0..self.ranks() {
            self.area.slot(rank).turn.wake();
        }
    }
}

/// A word's process; `None` if the word is not a process number.
fn process(word: &AtomicU32) -> Option<u32> {
    let pid = word.load(Acquire);
    (1..=i32::MAX.cast_unsigned()).contains(&pid).then_some(pid)
}
