//! The side of the simulator.

use crate::area::{Area, BUSY, Leaving, NOBODY, Phase, RANK, SIMULATOR, Way};
use crate::{News, Order, Settings};
use rustix::fs::MemfdFlags;
use rustix::thread::futex;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

/// The simulator's end of the links to all ranks.
pub struct Simulator {
    area: Area,
    file: File,
    /// Bytes of news for each rank so far.
    down: Vec<usize>,
    /// Ranks that get their turn next.
    turns: Vec<u32>,
}

impl Simulator {
    /// Makes the shared memory for so many ranks.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new(ranks: u32, settings: Settings) -> io::Result<Simulator> {
        // Ranks open it by the path of `Simulator::path`; started processes do not inherit it.
        let memory = rustix::fs::memfd_create("elanite", MemfdFlags::CLOEXEC)?;
        let file = File::from(memory);
        Ok(Simulator {
            area: Area::create(&file, ranks, settings)?,
            file,
            down: vec![0; ranks as usize],
            turns: Vec::new(),
        })
    }

    /// By which path ranks open the memory, while this process lives.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.area.ranks()
    }

    /// Waits until a rank has given its turn away, or some time of the host is over; whether it has.
    pub fn wait(&self, rank: u32, patience: Duration) -> bool {
        let (turn, awaited) = (&self.area.slot(rank).turn, &self.area.head().awaited.0);
        if self.has_turn(rank) {
            return true;
        }
        let end = std::time::Instant::now() + patience;
        let mut given = false;
        while !given {
            // Either the rank sees that it is waited for, or its turn is seen here.
            awaited.store(rank, SeqCst);
            given = turn.load(SeqCst) == SIMULATOR;
            let left = end.saturating_duration_since(std::time::Instant::now());
            if given || left.is_zero() {
                break;
            }
            let left = rustix::time::Timespec::try_from(left).expect("a short time");
            let _ = futex::wait(turn, futex::Flags::empty(), RANK, Some(&left));
        }
        awaited.store(NOBODY, Relaxed);
        given
    }

    /// Whether a rank has given its turn away.
    pub fn has_turn(&self, rank: u32) -> bool {
        self.area.slot(rank).turn.load(Acquire) == SIMULATOR
    }

    /// How far a rank has come.
    pub fn phase(&self, rank: u32) -> Phase {
        match self.area.slot(rank).phase.load(Acquire) {
            0 => Phase::Absent,
            1 => Phase::Attached,
            _ => Phase::Finished,
        }
    }

    /// The process of a rank that has attached.
    pub fn pid(&self, rank: u32) -> Option<u32> {
        let pid = self.area.slot(rank).pid.load(Acquire);
        (pid != 0).then_some(pid)
    }

    /// The MPI call that a rank is in, by its number; 0 in none.
    pub fn call(&self, rank: u32) -> u32 {
        self.area.slot(rank).call.load(Acquire)
    }

    /// Ranks that have said how they leave, in this order.
    pub fn leaving(&self) -> Vec<(u32, Leaving)> {
        let mut found: Vec<_> = (0..self.ranks())
            .filter_map(|rank| {
                let slot = self.area.slot(rank);
                let turn = slot.leaves.load(Acquire);
                let how = Leaving::of_words(slot.how.load(Acquire), slot.code.load(Acquire));
                (turn != 0 && turn != BUSY).then_some((turn, rank, how))
            })
            .collect();
        found.sort_unstable_by_key(|&(turn, ..)| turn);
        found
            .into_iter()
            .map(|(_, rank, how)| (rank, how))
            .collect()
    }

    /// The orders of a rank that has given its turn away.
    pub fn orders(&self, rank: u32) -> impl Iterator<Item = (Order, &[u8])> {
        assert!(self.has_turn(rank), "rank {rank} runs");
        let up = self.area.slot(rank).up.load(Acquire) as usize;
        self.area.records(rank, Way::Up, up)
    }

    /// Adds to the news that a rank finds in its next turn; false, and nothing done, if they do not fit.
    #[must_use]
    pub fn tell(&mut self, rank: u32, news: &News, payload: &[u8]) -> bool {
        assert!(self.has_turn(rank), "rank {rank} runs");
        let down = self.down[rank as usize];
        let down = self.area.append(rank, Way::Down, down, news, &[payload]);
        if let Some(down) = down {
            self.down[rank as usize] = down;
        }
        down.is_some()
    }

    /// Gives a rank its turn at the next [`Simulator::release`]: to go on with this local time, or only to take in the news
    /// and to answer.
    pub fn give_turn(&mut self, rank: u32, resume: Option<u64>) {
        let slot = self.area.slot(rank);
        slot.resume.store(resume.is_some().into(), Release);
        if let Some(now) = resume {
            slot.now.store(now, Release);
        }
        let down = std::mem::take(&mut self.down[rank as usize]);
        slot.down.store(down as u64, Release);
        self.turns.push(rank);
    }

    /// Lets all run that have got their turn. The simulator wakes the first, and each wakes two more: to wake a process takes
    /// longer than most of what it then does, and so it is done on all processors.
    pub fn release(&mut self) {
        for (place, &rank) in self.turns.iter().enumerate() {
            let slot = self.area.slot(rank);
            for (wakes, next) in slot.wakes.iter().zip(2 * place + 1..) {
                let next = self.turns.get(next).copied();
                wakes.store(next.unwrap_or(NOBODY), Release);
            }
        }
        // All of it is written before anybody runs.
        for &rank in &self.turns {
            self.area.slot(rank).turn.store(RANK, Release);
        }
        if let Some(&first) = self.turns.first() {
            self.area.wake(first);
        }
        self.turns.clear();
    }

    /// The run is over before its end: all ranks that wait, or will, end their processes.
    pub fn end(&self) {
        self.area.head().over.store(1, Release);
        for rank in 0..self.ranks() {
            self.area.wake(rank);
        }
    }
}
