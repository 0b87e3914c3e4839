//! Livelocks: the ranks make calls for ever, and no call can succeed.
//!
//! A run in which all ranks wait is a deadlock, which the server sees immediately. A rank that
//! polls does not wait, and each look is an event; so the server would run for ever. This module
//! decides, now and then, whether such a run can still change.
//!
//! *When it looks.* All orders were looks and one-sided communication, and no message was received,
//! for [`QUIET`] in host time. Then the ranks are [observed](link::Simulator::observe) for
//! [`WINDOW`], or [`LONG_WINDOW`] if threads look, and the run is a livelock if all that time, for
//! each rank,
//!
//! | a rank that | has |
//! |---|---|
//! | waits | been in one call that blocks |
//! | looks, in any threads | looked [`LEAST`] times in each open call, and begun no other |
//! | polls | made [`LEAST`] calls, in known program states (`rank::repeats`), with the same answers |
//! | has left MPI | no part in it |
//!
//! and no packet was in the network but those for the polls, no clock was read, no rank sleeps for
//! a time or waits for the machine's file system, no rank has read from a file, a pipe or a
//! terminal, and all other threads of the ranks wait without an end for their own process: for a
//! lock, a condition, or the end of a thread.
//!
//! A rank in which several threads may call MPI looks where others wait, since one thread's call
//! may be the other's event.
//!
//! *Why this is no guess.* A rank that computes, sleeps or is stopped is in no blocking call, and
//! makes no calls that repeat: as long as there is one, there is no livelock, however long it
//! takes. The ranks that poll or look cannot even run ahead of one that computes, since the server
//! waits for its turn. A rank with a thread that computes, sleeps, or waits for a file, a socket or
//! another process is none that only looks. A rank that gives up after a time reads a clock; one
//! that gives up after some looks counts them, and is in a new state at each. The remaining
//! programs all get the same answers in the same states, while no pending operation could change an
//! answer. The one exception is described in `rank::repeats`: a program that counts its looks on
//! the heap alone.
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
use link::{Looker, RankCalls, Simulator};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The quiet time before ranks are observed.
const QUIET: Duration = Duration::from_secs(1);

/// How long they are observed.
const WINDOW: Duration = Duration::from_millis(1500);

/// The same if a rank only looks: its MPI library may work, at each look, for messages from the
/// rank to itself, which the simulator does not see.
const LONG_WINDOW: Duration = Duration::from_millis(2500);

/// How often the server looks.
const STEP: Duration = Duration::from_millis(250);

/// Calls that a rank that polls has made meanwhile at least, and looks of a thread in a call.
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
    /// Whether the ranks are observed; a window opens a step later, since the first observed states
    /// are all new.
    observes: bool,
    window: Option<Window>,
    /// Whether messages may be under way without packets.
    hidden: bool,
}

/// What the ranks have done in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Finding {
    /// The same again and again, often enough.
    Repeats,
    /// The same, and too seldom for a conclusion: the host is busy.
    Few,
    /// Something else.
    Changes,
}

impl Finding {
    /// The finding on calls or looks that repeat, by their number.
    fn of(count: u32) -> Finding {
        if count >= LEAST {
            Finding::Repeats
        } else {
            Finding::Few
        }
    }
}

struct Window {
    begun: Instant,
    happened: EventCounts,
    ranks: Vec<Mark>,
}

/// A rank at a window's beginning.
struct Mark {
    calls: RankCalls,
    lookers: Vec<Looker>,
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
            observes: false,
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
            self.window = None;
            if std::mem::take(&mut self.observes) {
                link.observe(false);
            }
            return Ok(());
        }
        match &self.window {
            None if self.since.elapsed() < QUIET => {}
            None if !self.observes => {
                link.observe(true);
                self.observes = true;
            }
            None => {
                self.window = Some(Window::open(happened, link, agents));
            }
            Some(window) if window.begun.elapsed() >= Window::length(link, agents) => {
                match window.finding(happened, self.hidden, link, agents) {
                    Finding::Repeats => return Err(LoopEnd::Livelock),
                    Finding::Few => {}
                    Finding::Changes => self.window = Some(Window::open(happened, link, agents)),
                }
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
            lookers: link.lookers(agent.rank),
            started: agent.started(),
            process: link.pid(agent.rank).and_then(ProcessMark::take),
        };
        Window {
            begun: Instant::now(),
            happened,
            ranks: agents.iter().map(mark).collect(),
        }
    }

    /// How long the ranks are observed.
    fn length(link: &Simulator, agents: &[Rc<Agent>]) -> Duration {
        let looks = |agent: &Rc<Agent>| !link.lookers(agent.rank).is_empty();
        if agents.iter().any(looks) {
            LONG_WINDOW
        } else {
            WINDOW
        }
    }

    fn finding(
        &self,
        happened: EventCounts,
        hidden: bool,
        link: &Simulator,
        agents: &[Rc<Agent>],
    ) -> Finding {
        let remote = happened.remote != self.happened.remote;
        let mut ranks = agents.iter().zip(&self.ranks);
        let under_way = |(agent, mark): (&Rc<Agent>, &Mark)| agent.has_outgoing(mark.started);
        if (remote || hidden) && ranks.any(under_way)
            || !remote && happened.packets != self.happened.packets
            || agents.iter().any(|agent| agent.is_in_file())
        {
            return Finding::Changes;
        }
        let active = agents.iter().zip(&self.ranks);
        let active = active.filter(|(agent, _)| !agent.is_finished());
        let found = active.filter_map(|(agent, mark)| mark.finding(agent, link));
        // If all ranks wait, the server sees the deadlock itself.
        found.max().unwrap_or(Finding::Changes)
    }
}

impl Mark {
    /// What a rank has done since; `None` if it waits in one call.
    fn finding(&self, agent: &Agent, link: &Simulator) -> Option<Finding> {
        let rank = agent.rank;
        let calls = link.calls(rank);
        let made = calls.count.wrapping_sub(self.calls.count);
        let lookers = self.lookers_in(&link.lookers(rank));
        let looks = lookers.iter().map(|&(_, looks)| looks).min();
        let looks = looks.filter(|_| made == 0);
        let lookers: Vec<u32> = lookers.into_iter().map(|(thread, _)| thread).collect();
        let others = usize::from(looks.is_none());
        let process = link.pid(rank).zip(self.process.as_ref());
        let calm = process.is_some_and(|(pid, mark)| {
            ProcessMark::take(pid).is_some_and(|now| now.is_calm_since(pid, mark, &lookers, others))
        });
        let no_clock = calls.readings == self.calls.readings;
        // A thread may sleep beside one that waits; a rank that polls may sleep between its polls.
        let asleep = agent.sleeps() && made < LEAST;
        match looks {
            _ if !calm || asleep => Some(Finding::Changes),
            Some(looks) if no_clock => Some(Finding::of(looks)),
            None if made == 0 && agent.awaits_timer() => Some(Finding::Changes),
            None if made == 0 && kind(link.call(rank)) == Some(CallKind::Blocks) => None,
            None if made > 0 && no_clock && calls.novel == self.calls.novel => {
                Some(Finding::of(made))
            }
            _ => Some(Finding::Changes),
        }
    }

    /// The threads that have been in one call since and looked there, each with its looks.
    fn lookers_in(&self, now: &[Looker]) -> Vec<(u32, u32)> {
        let since = |now: &Looker| {
            let mut looks = self.lookers.iter().filter_map(|then| now.looks_since(then));
            Some((now.thread, looks.next().filter(|&looks| looks > 0)?))
        };
        now.iter().filter_map(since).collect()
    }
}
