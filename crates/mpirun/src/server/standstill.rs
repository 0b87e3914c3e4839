//! Livelocks: the ranks make calls for ever, and no call can succeed.
//!
//! A run in which all ranks wait is a deadlock, which the server sees immediately. A rank that
//! polls does not wait, and each look is an event; so the server would run for ever. This module
//! decides, now and then, whether such a run can still change.
//!
//! *When it looks.* All orders were looks and one-sided communication, and no message was received,
//! for [`QUIET`] in host time. Then the ranks are [observed](link::Simulator::observe) for
//! [`WINDOW`], and the run is a livelock if all that time, for each rank,
//!
//! | a rank that | has |
//! |---|---|
//! | waits | been in one call that blocks |
//! | polls | made [`LEAST`] calls, in known program states (`rank::repeats`), with the same answers |
//! | has left MPI | no part in it |
//!
//! and no packet was in the network but those for the polls, no clock was read, no rank thread has
//! run beside the one that calls MPI, no rank sleeps for a time or waits for the machine's file
//! system, and no rank has read from a file, a pipe or a terminal.
//!
//! *Why this is no guess.* A rank that computes, sleeps or is stopped is in no blocking call, and
//! makes no calls that repeat: as long as there is one, there is no livelock, however long it
//! takes. The ranks that poll cannot even run ahead of one that computes, since the server waits
//! for its turn. A rank that gives up after a time reads a clock; one that gives up after some
//! looks counts them, and is in a new state at each. The remaining programs all get the same
//! answers in the same states, while no pending operation could change an answer. The one exception
//! is described in `rank::repeats`: a program that counts its looks on the heap alone.
//!
//! Failing parts of the machine, and several ranks on a node, make messages slow in ways that show
//! no packets. There no message that was sent before may be under way at all.
//!
//! A run with only looks for a long time is still named on standard error, and continues
//! (`elanite.mpirun.oversight`).

#![expect(clippy::disallowed_methods, reason = "processes live in real time")]

use super::ending::LoopEnd;
use crate::agent::Agent;
use crate::watch::processes::ProcessMark;
use link::calls::{CallKind, kind};
use link::{RankCalls, Simulator};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The quiet time before ranks are observed.
const QUIET: Duration = Duration::from_secs(1);

/// How long they are observed.
const WINDOW: Duration = Duration::from_millis(1500);

/// How often the server looks.
const STEP: Duration = Duration::from_millis(250);

/// Calls that a rank that polls has made meanwhile at least.
const LEAST: u32 = 200;

/// A run's events so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct EventCounts {
    /// Orders other than looks and one-sided communication, and messages that were received.
    pub moves: u64,
    /// Orders for one-sided communication.
    pub remote: u64,
    /// Packets in the network.
    pub packets: u64,
}

/// The watch for livelocks.
pub(super) struct Standstill {
    last: Instant,
    since: Instant,
    moves: u64,
    window: Option<Window>,
    /// Whether messages may be under way without packets.
    hidden: bool,
}

struct Window {
    begun: Instant,
    happened: EventCounts,
    ranks: Vec<Mark>,
}

/// A rank at a window's beginning.
struct Mark {
    calls: RankCalls,
    started: u64,
    process: Option<ProcessMark>,
}

impl Standstill {
    pub fn new(hidden: bool) -> Self {
        let now = Instant::now();
        Standstill {
            last: now,
            since: now,
            moves: 0,
            window: None,
            hidden,
        }
    }

    /// Whether it is time to look.
    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= STEP
    }

    /// Looks whether anything can still happen.
    pub fn look(
        &mut self,
        happened: EventCounts,
        link: &Simulator,
        agents: &[Rc<Agent>],
    ) -> Result<(), LoopEnd> {
        self.last = Instant::now();
        if happened.moves != self.moves {
            (self.moves, self.since) = (happened.moves, self.last);
            if self.window.take().is_some() {
                link.observe(false);
            }
            return Ok(());
        }
        match &self.window {
            None if self.since.elapsed() >= QUIET => {
                link.observe(true);
                self.window = Some(Window::open(happened, link, agents));
            }
            Some(window) if window.begun.elapsed() >= WINDOW => {
                if window.repeats(happened, self.hidden, link, agents) {
                    return Err(LoopEnd::Livelock);
                }
                self.window = Some(Window::open(happened, link, agents));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Window {
    fn open(happened: EventCounts, link: &Simulator, agents: &[Rc<Agent>]) -> Window {
        let mark = |agent: &Rc<Agent>| Mark {
            calls: link.calls(agent.rank),
            started: agent.started(),
            process: link.pid(agent.rank).and_then(ProcessMark::take),
        };
        Window {
            begun: Instant::now(),
            happened,
            ranks: agents.iter().map(mark).collect(),
        }
    }

    fn repeats(
        &self,
        happened: EventCounts,
        hidden: bool,
        link: &Simulator,
        agents: &[Rc<Agent>],
    ) -> bool {
        let remote = happened.remote != self.happened.remote;
        let mut ranks = agents.iter().zip(&self.ranks);
        let under_way = |(agent, mark): (&Rc<Agent>, &Mark)| agent.has_outgoing(mark.started);
        if (remote || hidden) && ranks.any(under_way) {
            return false;
        }
        if !remote && happened.packets != self.happened.packets {
            return false;
        }
        if agents.iter().any(|agent| agent.is_in_file()) {
            return false;
        }
        let mut ranks = agents.iter().zip(&self.ranks);
        let mut polls = false;
        let all = ranks.all(|(agent, mark)| {
            if agent.is_finished() {
                return true;
            }
            let calls = link.calls(agent.rank);
            let made = calls.count.wrapping_sub(mark.calls.count);
            let stays = made == 0 && kind(link.call(agent.rank)) == Some(CallKind::Blocks);
            let repeats = made >= LEAST && calls.novel == mark.calls.novel;
            polls |= repeats;
            let process = link.pid(agent.rank).zip(mark.process.as_ref());
            let calm = process.is_some_and(|(pid, mark)| {
                ProcessMark::take(pid).is_some_and(|now| now.is_calm_since(pid, mark))
            });
            calm && (stays || repeats && calls.readings == mark.calls.readings)
        });
        all && polls
    }
}
