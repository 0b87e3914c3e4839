//! The process manager's loop: answers requests, and waits until ranks end.

use crate::manager::{Effect, Manager, ProcessPhase};
use crate::process::{EventSource, LaunchProgram, RankProcess, Start, name};
use crate::report::{LaunchEvent, Reporter};
use crate::space::Edition;
use crate::spawn::{ProgramRanks, Spawn};
use crate::stall::{self, Stall};
use crate::wire::{RankNumber, Reply};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How often the loop looks at a start.
const LOOK: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// Events that the loop takes at a time.
const BATCH: usize = 256;

/// A run's exit code if its ranks could not be started.
const UNSTARTED: i32 = 127;

/// A run's exit code if a rank has ended well, but without `MPI_Finalize`.
const UNFINISHED: i32 = 1;

/// A run's exit code if its start has stalled.
const STALLED: i32 = 1;

const KNOWN: &str = "a rank of the run";

/// A run: its ranks, and the state that they see.
struct Run {
    poll: OwnedFd,
    program: LaunchProgram,
    manager: Manager,
    processes: BTreeMap<RankNumber, RankProcess>,
    reporter: Reporter,
    stall: Stall,
    /// Whether ranks continue when one ends early.
    keep_going: bool,
    /// Processes that have not ended.
    alive: usize,
    /// The run's exit code, once it is known.
    code: Option<i32>,
    /// Whether all ranks are to end: they are killed, and the signal is not their own code.
    ends: bool,
}

/// Starts a program's ranks, and serves them until all have ended. `space` is their key-value
/// space's name. Returns the run's exit code: the code of the rank that ended all ranks, or else of
/// the first rank that failed, 128 and the signal if a signal killed it. If ranks continue without
/// others, it is the bitwise or over all exit codes. A start may make no progress for `patience`.
///
/// # Errors
///
/// If the system refuses a call for a reason outside the ranks.
pub fn serve(
    program: LaunchProgram,
    space: String,
    keep_going: bool,
    patience: Duration,
    reporter: Reporter,
) -> io::Result<i32> {
    let mut manager = Manager::new(program.ranks, program.room, space, Edition::new()?);
    manager.kinds.clone_from(&program.kinds);
    let mut run = Run {
        poll: epoll::create(CreateFlags::CLOEXEC)?,
        program,
        manager,
        processes: BTreeMap::new(),
        reporter,
        stall: Stall::new(patience),
        keep_going,
        alive: 0,
        code: None,
        ends: false,
    };
    run.start()?;
    run.work()?;
    Ok(run.code.unwrap_or(0))
}

impl Run {
    fn start(&mut self) -> io::Result<()> {
        let part = ProgramRanks {
            words: self.program.words.clone(),
            ranks: self.program.ranks,
            folder: None,
        };
        self.start_ranks(0, &[part])?;
        Ok(())
    }

    /// Starts a world's ranks, from the first one on. Returns whether all run; if not, all ranks
    /// end.
    fn start_ranks(&mut self, first: RankNumber, parts: &[ProgramRanks]) -> io::Result<bool> {
        let world = self.manager.world(first);
        let (world, space) = ((first, world.ranks), world.edition.path());
        let parts = parts.iter();
        let parts = parts.flat_map(|part| std::iter::repeat_n(part, part.ranks as usize));
        for (rank, part) in (first..).zip(parts) {
            let start = Start {
                rank,
                world,
                space: space.clone(),
                words: &part.words,
                folder: part.folder.as_deref(),
            };
            match RankProcess::start(&self.program, &start, &self.poll) {
                Ok(process) => {
                    self.processes.insert(rank, process);
                    self.alive += 1;
                }
                Err(error) => {
                    let why = format!("cannot start {}: {error}", name(&part.words));
                    self.reporter.report(&LaunchEvent::Failed { rank, why })?;
                    self.end_all(UNSTARTED);
                    return Ok(false);
                }
            }
        }
        self.stall.progress();
        Ok(true)
    }

    /// Starts the ranks that a rank wants.
    fn spawn(&mut self, rank: RankNumber, first: RankNumber, spawn: &Spawn) -> io::Result<()> {
        if self.ends || !self.start_ranks(first, &spawn.parts)? {
            return Ok(());
        }
        let reply = Reply::Spawn(Ok(())).to_string();
        let process = self.processes.get_mut(&rank).expect(KNOWN);
        process.reply(&reply, &self.poll)
    }

    fn work(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(BATCH);
        while self.alive > 0 {
            events.clear();
            match epoll::wait(&self.poll, spare_capacity(&mut events), Some(&LOOK)) {
                Ok(_) => {}
                Err(error) if error == rustix::io::Errno::INTR => continue,
                Err(error) => return Err(error.into()),
            }
            if events.is_empty() {
                self.look()?;
            }
            for event in &events {
                match EventSource::of(event.data) {
                    EventSource::Connection(rank) => self.hear(rank)?,
                    EventSource::End(rank) => self.ended(rank)?,
                }
            }
        }
        Ok(())
    }

    /// Answers a rank's requests.
    fn hear(&mut self, rank: RankNumber) -> io::Result<()> {
        let process = self.processes.get_mut(&rank).expect(KNOWN);
        process.flush(&self.poll)?;
        process.read()?;
        loop {
            let process = self.processes.get_mut(&rank).expect(KNOWN);
            let request = match process.next_request() {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(foul) => {
                    let why = format!("sent {foul}");
                    return self.reporter.report(&LaunchEvent::Failed { rank, why });
                }
            };
            self.stall.progress();
            let (processes, poll) = (&mut self.processes, &self.poll);
            let mut failed = Ok(());
            let answer = |to: RankNumber, reply: Reply| {
                let process = processes.get_mut(&to).expect(KNOWN);
                let sent = process.reply(&reply.to_string(), poll);
                if sent.is_err() {
                    failed = sent;
                }
            };
            let effect = self.manager.take(rank, request, answer);
            failed?;
            match effect {
                Some(Effect::Abort(code)) => {
                    self.reporter.report(&LaunchEvent::Aborted { rank, code })?;
                    self.end_all(code & 0xFF);
                }
                Some(Effect::Start(first, spawn)) => self.spawn(rank, first, &spawn)?,
                Some(Effect::Fail(why)) => {
                    let why = format!("cannot start more ranks: {why}");
                    self.reporter.report(&LaunchEvent::Failed { rank, why })?;
                    self.end_all(UNSTARTED);
                }
                None => {}
            }
        }
    }

    /// Records a rank's end, and ends the others if it was a bad one.
    fn ended(&mut self, rank: RankNumber) -> io::Result<()> {
        // A request that has come before the end counts.
        self.hear(rank)?;
        let process = self.processes.get_mut(&rank).expect(KNOWN);
        let status = process.reap(&self.poll)?;
        self.alive -= 1;
        self.stall.progress();
        let has_orphan = process.is_connected();
        self.reporter.report(&LaunchEvent::Ended { rank, status })?;
        if has_orphan && !self.ends && self.manager.phase(rank) == ProcessPhase::Started {
            self.reporter.report(&LaunchEvent::Orphan { rank })?;
        }
        let left = self.manager.phase(rank) == ProcessPhase::Initialised;
        let code = match (status & 0x7F, status >> 8 & 0xFF) {
            (0, 0) => UNFINISHED,
            (0, code) => code,
            (signal, _) => 128 + signal,
        };
        // Before MPI_Init and after MPI_Finalize an exit code is the rank's own affair, but a
        // signal is not.
        let killed = status & 0x7F != 0;
        if killed || left && !self.keep_going {
            if !self.ends {
                self.reporter.report(&LaunchEvent::Fatal { rank })?;
            }
            self.end_all(code);
        } else if status != 0 {
            self.fail(code);
        }
        Ok(())
    }

    /// A rank has failed with this code.
    fn fail(&mut self, code: i32) {
        if self.ends {
            return;
        }
        let so_far = self.code.get_or_insert(code);
        if self.keep_going {
            *so_far |= code;
        }
    }

    /// Ends all ranks because one has failed with this code.
    fn end_all(&mut self, code: i32) {
        self.fail(code);
        self.ends = true;
        self.processes.values().for_each(RankProcess::kill);
    }

    /// Looks whether the start makes progress.
    fn look(&mut self) -> io::Result<()> {
        let waiting: Vec<RankNumber> = self.manager.waiting_to_start().collect();
        if waiting.is_empty() {
            self.stall.progress();
            return Ok(());
        }
        let late = self.processes.iter();
        let late: Vec<(RankNumber, u32)> = late
            .filter(|&(&rank, process)| process.status().is_none() && self.manager.is_late(rank))
            .map(|(&rank, process)| (rank, process.pid()))
            .collect();
        if !self.stall.look(&late) {
            return Ok(());
        }
        let silent =
            |&&(rank, _): &&(RankNumber, u32)| self.manager.phase(rank) == ProcessPhase::Started;
        let what = if late.iter().all(|one| silent(&one)) {
            "called MPI_Init"
        } else {
            "come so far"
        };
        let stopped = late.iter().filter(|&&(_, pid)| stall::is_stopped(pid));
        let stopped = stopped.map(|(rank, pid)| {
            format!("; rank {rank} is stopped (T), to continue it: kill -CONT {pid}")
        });
        let stopped = stopped.take(1).collect::<String>();
        let late: Vec<RankNumber> = late.iter().map(|&(rank, _)| rank).collect();
        let several = |ranks: &[RankNumber]| ranks.len() > 1;
        let why = format!(
            "the start has made no progress for {} s: {} {} in MPI_Init for {}, which {} not \
            {what}{stopped}",
            self.stall.patience().as_secs(),
            stall::named(&waiting),
            if several(&waiting) { "wait" } else { "waits" },
            stall::named(&late),
            if several(&late) { "have" } else { "has" },
        );
        self.reporter.report(&LaunchEvent::Stalled { why })?;
        self.end_all(STALLED);
        Ok(())
    }
}
