//! The loop of the process manager: answers requests, and waits for the ends of ranks.

use crate::manager::{Manager, Phase};
use crate::process::{Process, Program, Source, name};
use crate::report::{Event, Reporter};
use crate::space::{Edition, VARIABLE};
use crate::stall::{self, Stall};
use crate::wire::{Rank, Reply};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How often the loop looks at a start.
const LOOK: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// Events that the loop takes at once.
const BATCH: usize = 256;

/// The exit code of a run whose ranks could not be started.
const UNSTARTED: i32 = 127;

/// The exit code of a run of which a rank has ended well, but without `MPI_Finalize`.
const UNFINISHED: i32 = 1;

/// The exit code of a run whose start has stalled.
const STALLED: i32 = 1;

/// A run: its ranks, and what they know.
struct Run {
    poll: OwnedFd,
    program: Program,
    manager: Manager,
    processes: Vec<Process>,
    reporter: Reporter,
    stall: Stall,
    /// Whether ranks go on when one of them ends early.
    keep_going: bool,
    /// Processes that have not ended.
    alive: usize,
    /// The exit code of the run, once it is known.
    code: Option<i32>,
    /// Whether all ranks are to end: they are killed, and the signal is no code of theirs.
    ends: bool,
}

/// Starts the ranks of a program, and serves them until all have ended. `space` is the name of their
/// key-value space. Returns the exit code of the run: that of the rank that ended all ranks, or else
/// of the first rank that failed, 128 and the signal if a signal killed it. If ranks go on without
/// others, it is the bitwise or of all exit codes. A start may make no progress for `patience`.
///
/// # Errors
///
/// If the system refuses what no rank is the cause of.
pub fn serve(
    mut program: Program,
    space: String,
    keep_going: bool,
    patience: Duration,
    reporter: Reporter,
) -> io::Result<i32> {
    let edition = Edition::new()?;
    program
        .variables
        .push((VARIABLE.into(), edition.path().into()));
    let manager = Manager::new(program.ranks, space, edition);
    let mut run = Run {
        poll: epoll::create(CreateFlags::CLOEXEC)?,
        program,
        manager,
        processes: Vec::new(),
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
        for rank in 0..self.program.ranks {
            match Process::start(&self.program, rank, &self.poll) {
                Ok(process) => {
                    self.processes.push(process);
                    self.alive += 1;
                }
                Err(error) => {
                    let why = format!("cannot start {}: {error}", name(&self.program.words));
                    self.reporter.report(&Event::Failed { rank, why })?;
                    self.end_all(UNSTARTED);
                    break;
                }
            }
        }
        self.stall.progress();
        Ok(())
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
                match Source::of(event.data) {
                    Source::Connection(rank) => self.hear(rank)?,
                    Source::End(rank) => self.ended(rank)?,
                }
            }
        }
        Ok(())
    }

    /// Answers the requests of a rank.
    fn hear(&mut self, rank: Rank) -> io::Result<()> {
        let process = &mut self.processes[rank as usize];
        process.flush(&self.poll)?;
        process.read()?;
        loop {
            let request = match self.processes[rank as usize].next_request() {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(foul) => {
                    let why = format!("sent {foul}");
                    return self.reporter.report(&Event::Failed { rank, why });
                }
            };
            self.stall.progress();
            let (processes, poll) = (&mut self.processes, &self.poll);
            let mut failed = Ok(());
            let answer = |to: Rank, reply: Reply| {
                let sent = processes[to as usize].reply(&reply.to_string(), poll);
                if sent.is_err() {
                    failed = sent;
                }
            };
            let aborted = self.manager.take(rank, request, answer);
            failed?;
            if let Some(code) = aborted {
                self.reporter.report(&Event::Aborted { rank, code })?;
                self.end_all(code & 0xFF);
            }
        }
    }

    /// Takes note of the end of a rank, and ends the others if it was a bad one.
    fn ended(&mut self, rank: Rank) -> io::Result<()> {
        // A request that has come before the end counts.
        self.hear(rank)?;
        let status = self.processes[rank as usize].reap(&self.poll)?;
        self.alive -= 1;
        self.stall.progress();
        self.reporter.report(&Event::Ended { rank, status })?;
        let left = self.manager.phase(rank) == Phase::Initialised;
        let code = match (status & 0x7F, status >> 8 & 0xFF) {
            (0, 0) => UNFINISHED,
            (0, code) => code,
            (signal, _) => 128 + signal,
        };
        // Before MPI_Init and after MPI_Finalize an exit code is the rank's own affair, and a signal is none.
        let killed = status & 0x7F != 0;
        if killed || left && !self.keep_going {
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
        self.processes.iter().for_each(Process::kill);
    }

    /// Looks whether the start makes progress.
    fn look(&mut self) -> io::Result<()> {
        let waiting: Vec<Rank> = self.manager.waiting_to_start().collect();
        if waiting.is_empty() {
            self.stall.progress();
            return Ok(());
        }
        let late: Vec<(Rank, u32)> = (0..)
            .zip(&self.processes)
            .filter(|(rank, process)| process.status().is_none() && !waiting.contains(rank))
            .map(|(rank, process)| (rank, process.pid()))
            .collect();
        if !self.stall.look(&late) {
            return Ok(());
        }
        let silent = |&&(rank, _): &&(Rank, u32)| self.manager.phase(rank) == Phase::Started;
        let what = if late.iter().all(|one| silent(&one)) {
            "have not called MPI_Init"
        } else {
            "have not come so far"
        };
        let late = late.iter().map(|&(rank, _)| rank);
        let why = format!(
            "the start has made no progress for {} s: ranks {} wait in MPI_Init for ranks {}, which {what}",
            self.stall.patience().as_secs(),
            stall::listed(waiting),
            stall::listed(late),
        );
        self.reporter.report(&Event::Stalled { why })?;
        self.end_all(STALLED);
        Ok(())
    }
}
