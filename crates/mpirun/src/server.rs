//! The time server's loop; see the crate's head.

mod ending;
mod rules;
mod standstill;
mod turns;
mod worlds;

use crate::agent::{Agent, AgentContext, Reader};
use crate::files::FileSystem;
use crate::groups::Groups;
use crate::outcome::{DeadRank, Outcome};
use crate::record::Recorder;
use crate::sent::MessagesInFlight;
use crate::trace::Trace;
use crate::watch::Watch;
use elan::Cluster;
use elan::series::MeterSeries;
use ending::LoopEnd;
use standstill::{EventCounts, Standstill};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
pub(crate) use turns::Link;
use turns::Turns;
use units::Time;
use workload::records::Baseline;

/// Serves one run's ranks.
pub(crate) struct Server {
    cluster: Cluster,
    baseline: Baseline,
    series: Option<MeterSeries>,
    lookahead: Time,
    shared: Rc<AgentContext>,
    turns: Rc<Turns>,
    /// Where messages lie and the limit on their room, for people.
    pub memory: String,
    /// Ranks that have died while the others go on.
    dead: RefCell<Vec<DeadRank>>,
    /// Whether the other ranks go on when a rank ends that has not left MPI.
    keep_going: bool,
    /// Ranks that have not been started.
    reserve: VecDeque<Rc<Agent>>,
    /// The ranks on hosts that a fault stops, and that have not stopped.
    mortal: Rc<RefCell<Vec<Rc<Agent>>>>,
    /// Since when only nudges have happened.
    still: Option<QuietPeriod>,
    standstill: Standstill,
    /// The part of the run that others may read meanwhile.
    pub seen: Arc<RunProgress>,
}

/// A run's progress, for observers.
#[derive(Debug, Default)]
pub(crate) struct RunProgress {
    /// Orders other than looks, and messages that were received.
    pub moves: AtomicU64,
    /// Messages that were sent.
    pub messages: AtomicU64,
}

/// A time without events in the simulated network.
struct QuietPeriod {
    /// How many orders had been carried out when this time began.
    orders_done: u64,
    /// How often all ranks have been nudged since then.
    rounds: u32,
    /// When, in real time, the first rank with threads was nudged.
    since: Option<Instant>,
}

/// How often all ranks look once more before a deadlock is reported. Each time they look twice as
/// often as the time before.
const ROUNDS: u32 = 12;

/// How long all ranks may wait, in real time, for their own threads; and how often the server looks
/// at them meanwhile.
const THREADS_PATIENCE: Duration = Duration::from_secs(2);
const THREADS_STEP: Duration = Duration::from_millis(1);

impl Server {
    /// The server for a run with ranks that may be ahead by a lookahead. Without one, several ranks
    /// share a node or hosts match: then messages may be under way without packets.
    pub fn new(
        link: Link,
        cluster: Cluster,
        watch: Watch,
        lookahead: Time,
        files: Option<FileSystem>,
    ) -> Self {
        let hidden = lookahead == Time::ZERO || cluster.config().faults.is_some();
        let (ranks, keep_going) = (link.lock().ranks(), watch.keep_going);
        let turns = Rc::new(Turns::new(link, watch));
        let read: Rc<dyn Reader> = Rc::clone(&turns) as _;
        Server {
            baseline: Baseline::take(&cluster),
            cluster,
            series: None,
            lookahead,
            shared: Rc::new(AgentContext {
                began: ranks,
                agents: RefCell::default(),
                ready: RefCell::default(),
                spawns: RefCell::default(),
                meetings: RefCell::default(),
                trace: RefCell::new(Trace::new(ranks)),
                recorder: RefCell::default(),
                orders_done: Cell::default(),
                moves: Cell::default(),
                remote: Cell::default(),
                in_flight: MessagesInFlight::default(),
                groups: Groups::default(),
                measured: RefCell::default(),
                no_room: RefCell::default(),
                lost: RefCell::default(),
                files,
                guessed: Cell::default(),
                read,
            }),
            turns,
            memory: String::new(),
            dead: RefCell::default(),
            keep_going,
            reserve: VecDeque::new(),
            mortal: Rc::default(),
            still: None,
            standstill: Standstill::new(hidden),
            seen: Arc::default(),
        }
    }

    /// The records that are kept: every MPI call, and how busy links, buses and thread processors
    /// were over time.
    pub fn keep(&mut self, calls: bool, timeline: bool) {
        self.shared.trace.borrow_mut().keep_calls = calls;
        self.series = timeline.then(|| MeterSeries::new(&self.cluster));
    }

    /// Records the run in GOAL; a call that makes a request takes this much additional processor
    /// time.
    pub fn record(&mut self, request: Time) {
        let ranks = self.turns.link.lock().ranks();
        *self.shared.recorder.borrow_mut() = Some(Recorder::new(ranks, request));
    }

    /// Serves until the end.
    pub fn run(&mut self) -> Outcome {
        loop {
            match self.round() {
                Ok(()) => {}
                Err(over) => return self.outcome(&over),
            }
        }
    }

    /// Simulates until ranks can go on, and lets them go on; or until orders are due, and takes
    /// them.
    fn round(&mut self) -> Result<(), LoopEnd> {
        self.turns.look_sometimes()?;
        if self.standstill.is_due() {
            self.look_for_standstill()?;
        }
        let ahead = self.lookahead.saturating_sub(Time::from_ps(1));
        let first = self.turns.first_out();
        let gate = self.turns.is_gate();
        let due = match first {
            Some(moment) if gate => moment,
            Some(moment) => moment.saturating_add(ahead),
            None => Time::MAX,
        };
        let (shared, turns) = (Rc::clone(&self.shared), Rc::clone(&self.turns));
        let no_room = || shared.no_room.borrow().is_some();
        let mortal = Rc::clone(&self.mortal);
        let stopped = || mortal.borrow().iter().any(|agent| agent.node.is_stopped());
        let stop = || {
            !shared.ready.borrow().is_empty()
                || !shared.spawns.borrow().is_empty()
                || turns.trouble.borrow().is_some()
                || no_room()
                || stopped()
        };
        self.run_until(due, !gate, &stop)?;
        if stopped() {
            return self.remove_stopped();
        }
        if stop() {
            // The rest of this moment: ranks that can continue at it continue together.
            self.run_until(self.cluster.now(), true, &|| false)?;
            self.turns.trouble()?;
            if no_room() {
                return Err(LoopEnd::NoRoom);
            }
            self.start_worlds();
            let mut ready = shared.ready.take();
            ready.sort_unstable();
            return self.let_go(&ready);
        }
        match first {
            Some(_) if gate => self.open_gate(),
            Some(moment) => self.take_orders(moment),
            None => match self.end() {
                LoopEnd::Deadlock if self.nudge()? => Ok(()),
                over => Err(over),
            },
        }
    }

    /// Notes how far the run has come, and whether anything can still happen.
    fn look_for_standstill(&mut self) -> Result<(), LoopEnd> {
        let (moves, remote) = (self.shared.moves.get(), self.shared.remote.get());
        let messages = self.shared.trace.borrow().messages.len() as u64;
        self.seen.moves.store(moves + remote, Ordering::Relaxed);
        self.seen.messages.store(messages, Ordering::Relaxed);
        let happened = EventCounts {
            moves,
            remote,
            packets: self.cluster.packets(),
        };
        let agents = self.shared.agents.borrow();
        let link = self.turns.link.lock();
        self.standstill.look(happened, &link, &agents)
    }

    /// Gives ranks their reports, and lets them continue, each at its moment.
    fn let_go(&self, ready: &[(Time, u32)]) -> Result<(), LoopEnd> {
        for &(moment, rank) in ready {
            let agent = Rc::clone(&self.shared.agents.borrow()[rank as usize]);
            self.turns.tell_writes(&agent, moment)?;
            self.turns.tell_reports(&agent)?;
            agent.goes_on(moment);
        }
        self.turns.let_go(ready);
        Ok(())
    }

    /// Lets a rank come back that left MPI a while ago. No rank comes back if the process exits.
    fn open_gate(&self) -> Result<(), LoopEnd> {
        if let Some(rank) = self.turns.open_gate()? {
            self.shared.agents.borrow()[rank as usize].comes_back();
        }
        Ok(())
    }

    /// Takes orders from the ranks that continue at a moment.
    fn take_orders(&self, moment: Time) -> Result<(), LoopEnd> {
        for (rank, turn) in self.turns.take_orders(moment)? {
            self.shared.note(&turn.orders);
            let agent = Rc::clone(&self.shared.agents.borrow()[rank as usize]);
            let node = agent.node.clone();
            node.serve("orders", agent.carry_out(turn));
        }
        self.remove_dead(moment);
        Ok(())
    }

    /// Removes ranks from the simulation whose processes have ended since the last call; returns
    /// whether there are any.
    fn remove_dead(&self, at: Time) -> bool {
        let ranks = self.turns.new_dead.take();
        let link = self.turns.link.lock();
        let mut dead = self.dead.borrow_mut();
        for &rank in &ranks {
            self.shared.agents.borrow()[rank as usize].dies(at);
            dead.push(DeadRank {
                rank,
                call: link.call(rank),
                last: link.calls(rank).last,
                time: at,
                stopped: false,
            });
        }
        !ranks.is_empty()
    }

    /// Removes ranks on stopped hosts from the simulation; ends the run unless the other ranks are
    /// to continue. These ranks' processes wait for the run's end: mpiexec would end all ranks if
    /// one were killed.
    fn remove_stopped(&self) -> Result<(), LoopEnd> {
        let now = self.cluster.now();
        let mut mortal = self.mortal.borrow_mut();
        let (stopped, others) = mortal.drain(..).partition(|agent| agent.node.is_stopped());
        *mortal = others;
        let stopped: Vec<Rc<Agent>> = stopped;
        // A rank that has left MPI does not care.
        let lost = stopped.iter().filter(|agent| !agent.is_finished());
        let link = self.turns.link.lock();
        let mut first = None;
        for agent in lost {
            let rank = agent.rank;
            first.get_or_insert(rank);
            self.dead.borrow_mut().push(DeadRank {
                rank,
                call: link.call(rank),
                last: link.calls(rank).last,
                time: now,
                stopped: true,
            });
            if self.keep_going {
                agent.dies(now);
                self.turns.give_up(rank);
            }
        }
        match first {
            Some(rank) if !self.keep_going => Err(LoopEnd::Stopped(rank)),
            _ => Ok(()),
        }
    }

    /// No event is left, and no rank continues.
    fn end(&self) -> LoopEnd {
        let finished = |agent: &Rc<Agent>| agent.is_finished();
        if !self.shared.agents.borrow().iter().all(finished) {
            // Other ranks may have died while they waited.
            self.turns.look_for_dead();
            self.remove_dead(self.cluster.now());
        }
        if !self.shared.agents.borrow().iter().all(finished) {
            LoopEnd::Deadlock
        } else if self.dead.borrow().is_empty() {
            LoopEnd::Finished
        } else {
            LoopEnd::Died
        }
    }

    /// No more events are possible in the simulated network. Lets all ranks look some times for
    /// messages outside the network, such as a rank's to itself. Then lets ranks look that have
    /// their own threads (in the C library to access files, or in the program), which takes real
    /// time. Returns whether there are such ranks, and still hope.
    #[expect(
        clippy::disallowed_methods,
        reason = "threads of real processes take real time"
    )]
    fn nudge(&mut self) -> Result<bool, LoopEnd> {
        let (now, orders_done) = (self.cluster.now(), self.shared.orders_done.get());
        let still = match &mut self.still {
            Some(still) if still.orders_done == orders_done => still,
            still => still.insert(QuietPeriod {
                orders_done,
                rounds: 0,
                since: None,
            }),
        };
        let all = still.rounds < ROUNDS;
        if all {
            still.rounds += 1;
        } else if still.since.get_or_insert_with(Instant::now).elapsed() > THREADS_PATIENCE {
            return Ok(false);
        }
        let agents = self.shared.agents.borrow();
        let nudged = agents.iter().filter(|agent| agent.nudge(now, all)).count();
        if nudged > 0 && !all {
            self.turns.look_sometimes()?;
            std::thread::sleep(THREADS_STEP);
        }
        Ok(nudged > 0)
    }

    /// Simulates to a moment or until `stop` returns true, and cuts the series on the way. With
    /// `arrive` the moment is the present then, even without a due event.
    fn run_until(
        &mut self,
        end: Time,
        arrive: bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), LoopEnd> {
        loop {
            let next = self.series.as_ref().map_or(Time::MAX, MeterSeries::next);
            let cluster = &mut self.cluster;
            let go_on = |now| !stop() && now < next;
            let due = if arrive {
                cluster.run_while(end, go_on)?
            } else {
                cluster.run_due(end, go_on)?
            };
            if !due || stop() {
                return Ok(());
            }
            if let Some(series) = &mut self.series {
                series.cut(&self.cluster);
            }
        }
    }
}
