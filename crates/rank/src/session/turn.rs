//! A rank's turn: it gives orders, and gives the turn away to wait.

use super::{HOLDS, LEFT, Session, SessionState, VISITS};
use crate::regions::Site;
use crate::{concurrency, pending, rings, sleepers, thread};
use link::{EndStatus, FileAccess, LinkError, Order, Patience, RankWait, Report};
use std::sync::atomic::Ordering;

/// How often MPI may look in a call that blocks, without having done anything else, before it
/// counts as waiting: it looks before it knows whether there is anything to wait for.
const GLANCES: u32 = 2;

/// [`GLANCES`] for calls in one-sided communication, and how often MPI then looks on, in steps:
/// MPICH looks there once for each message from the rank to itself, which is invisible outside
/// MPICH.
const ONE_SIDED_GLANCES: u32 = 32;
const ONE_SIDED_STEPS: u32 = 4096;

/// How many further looks a request without an order allows. MPICH passes messages from a rank to
/// itself through its own memory, one piece at each look, which the provider does not see. More
/// looks cost only real time. Where they are too few, the rank looks again when no other event is
/// possible ([`FIRST_LAST_LOOKS`]).
const LOOKS_OF_A_REQUEST: u32 = 4;

/// How often MPI may look when the simulator has no more possible events: at first, and at most.
/// The number doubles each time that the simulator lets the rank continue.
const FIRST_LAST_LOOKS: u32 = 64;
const MOST_LAST_LOOKS: u32 = 131_072;

/// How often a rank may look in all before time advances, in any calls: programs that wait for
/// others' puts into their memory call functions that have no work.
const IDLE: u32 = 1024;

/// The longest time step, in picoseconds, in a call that gives up after a time (seconds as a rule).
const LONGEST_OF_TIMED: u64 = 10_000_000_000;

/// Whether a report may end the program's polls; the end of a look in vain does not.
fn brings(report: &Report) -> bool {
    match report {
        Report::Ended(ended) => ended.status == EndStatus::Done,
        report => !matches!(report, Report::Read { .. }),
    }
}

impl Session {
    /// A report has come, or an order was given.
    fn progressed(&self) {
        self.looks.store(0, Ordering::Relaxed);
        self.idle.store(0, Ordering::Relaxed);
        self.last_looks.store(0, Ordering::Relaxed);
        rings::acted();
    }

    /// A call has made this many requests without an order: their messages do not reach the
    /// network.
    pub fn requested_without_order(&self, requests: u32) {
        let looks = requests.saturating_mul(LOOKS_OF_A_REQUEST);
        let spare = self.spare_looks.load(Ordering::Relaxed);
        let spare = spare.saturating_add(looks).min(MOST_LAST_LOOKS);
        self.spare_looks.store(spare, Ordering::Relaxed);
    }

    /// The rank does something else than to look.
    fn acts(&self) {
        thread::acted();
        self.progressed();
        thread::ordered();
        self.at_work.store(true, Ordering::Relaxed);
    }

    /// Gives an order at the present, with all bytes that belong to it.
    pub fn order(&self, state: &mut SessionState, id: u64, order: Order, payload: &[&[u8]]) {
        // A call record is no progress: a program may call again and again, without any event.
        if !order.is_record() {
            self.acts();
            if !order.is_look() {
                pending::progressed();
            }
        }
        if let Some(probe) = state.engine.give_up_probe(&order, thread::probes()) {
            self.order(state, probe, Order::Cancel, &[]);
        }
        state.link.order(self.now(), id, order, payload);
    }

    /// Waits in simulated time. The progress engine has then got all reports up to the new present;
    /// those that come in a sleep stay with the simulator. Returns whether the rank's own operation
    /// has ended or a message has come; others' reads and writes in its memory do not count.
    pub fn wait(&self, state: &mut SessionState, mut wait: RankWait) -> bool {
        if let RankWait::Report(patience) = &mut wait {
            patience.guessed |= thread::were_at_once();
        }
        let (mut still, mut ended) = (false, false);
        self.at_work.store(false, Ordering::Relaxed);
        if !matches!(wait, RankWait::Sleep { .. }) {
            self.slept.store(false, Ordering::Relaxed);
        }
        loop {
            self.waits.store(true, Ordering::Relaxed);
            let resumed = state.link.hand_over(self.now(), wait, still);
            self.waits.store(false, Ordering::Relaxed);
            let mut replies = Vec::new();
            for (delivery, part, bytes) in state.link.reports() {
                self.look_anew();
                self.progressed();
                pending::progressed();
                if brings(&delivery.report) {
                    thread::polls_beside(false);
                }
                ended |= !matches!(delivery.report, Report::Read { .. } | Report::Write { .. });
                self.repeats.hears(&delivery.report, bytes);
                replies.extend(state.engine.report(&delivery, part, bytes));
            }
            if let Some((complaint, bytes)) = state.engine.complaint() {
                state.link.complain(self.now(), complaint, &bytes);
            }
            if let Some(now) = resumed {
                assert!(replies.is_empty(), "who goes on is asked nothing");
                self.now.fetch_max(now, Ordering::AcqRel);
                for (id, order) in state.engine.next_orders() {
                    self.order(state, id, order, &[]);
                }
                return ended;
            }
            for bytes in replies {
                self.acts();
                state.link.reply(self.now(), &bytes);
            }
            still = true;
        }
    }

    /// Waits, outside the simulation, until this many ranks wait at a meeting with this name. All
    /// continue at the moment at which the last one has come.
    pub fn meet(&self, which: u64, ranks: u32) {
        if HOLDS.get() {
            return;
        }
        let ranks = ranks.into();
        self.wait(&mut self.lock(), RankWait::Meeting { which, ranks });
    }

    /// The program, or MPI for it, has looked without success. In a blocking call, once MPI has
    /// looked a few times, time advances to the next report; else by a growing step. After a sleep,
    /// the first look finds the messages that have come by now: some calls look only once, and a
    /// program that waits by them and sleeps between them would never receive a message.
    pub fn look(&self, state: &mut SessionState) {
        thread::acted();
        thread::looks_in_library();
        self.looks_in_all.fetch_add(1, Ordering::Relaxed);
        if thread::looks_outside() {
            std::thread::yield_now();
            return;
        }
        if self.slept.load(Ordering::Relaxed) {
            self.wait(state, RankWait::report(self.now()));
            return;
        }
        let found_nothing = self.found_nothing.load(Ordering::Relaxed);
        if thread::blocks() && !thread::several_threads() && !found_nothing {
            let idle = self.idle.fetch_add(1, Ordering::Relaxed);
            let last_looks = self.last_looks.load(Ordering::Relaxed);
            let (glances, steps) = if last_looks > 0 {
                (last_looks, 0)
            } else if thread::one_sided() {
                (ONE_SIDED_GLANCES, ONE_SIDED_STEPS)
            } else {
                (GLANCES, 0)
            };
            let spare = self.spare_looks.load(Ordering::Relaxed);
            let looks = if last_looks == 0 && spare > 0 {
                self.spare_looks.store(spare - 1, Ordering::Relaxed);
                0
            } else {
                self.looks.fetch_add(1, Ordering::Relaxed)
            };
            if looks < glances && (last_looks > 0 || idle < IDLE) {
                return;
            }
            let hears = !thread::probes() || state.engine.has_probe();
            if looks >= glances + steps && hears {
                let until = rings::until(self.now());
                let patience = Patience {
                    threads: !thread::one_thread(),
                    ..Patience::until(until)
                };
                if !self.wait(state, RankWait::Report(patience)) && self.now() < until {
                    // The simulator lets all ranks go on before it reports that they wait for each
                    // other for ever.
                    let more = (2 * last_looks).clamp(FIRST_LAST_LOOKS, MOST_LAST_LOOKS);
                    self.last_looks.store(more, Ordering::Relaxed);
                    self.looks.store(0, Ordering::Relaxed);
                }
                return;
            }
        }
        self.step(state);
    }

    /// The program reads the clock, which shows no time before the simulated processor is done with
    /// the calls so far; a call of another thread that has not ended is none of these.
    pub fn settle(&self) {
        if self.at_work.load(Ordering::Relaxed)
            && !(thread::outside() && thread::in_calls() > 0)
            && !LEFT.load(Ordering::Relaxed)
            && let Some(mut state) = self.try_lock()
        {
            let until = self.now();
            self.wait(&mut state, RankWait::Sleep { until });
        }
    }

    /// The program reads the clock again and again: a time step in which MPI does not look. Where
    /// another thread has called MPI, too, the host decides how far that one has come by then.
    pub fn pass(&self, state: &mut SessionState) {
        let before = self.now();
        self.step_by(state, before, |until| {
            if thread::others_have_called() {
                RankWait::Report(Patience {
                    guessed: true,
                    ..Patience::until(until)
                })
            } else {
                RankWait::Sleep { until }
            }
        });
        self.slept.store(true, Ordering::Relaxed);
        self.out_of_band.passed_by_reading(self.now() - before);
    }

    /// The calling thread looks in vain: time advances by a step that grows.
    pub fn step(&self, state: &mut SessionState) {
        self.has_looked();
        if !thread::waits() {
            concurrency::polls();
        }
        self.step_by(state, thread::current().began.get(), RankWait::report);
    }

    /// The same; the step ends early when others write into the rank's memory.
    pub fn step_to_write(&self, state: &mut SessionState) {
        self.has_looked();
        self.step_by(state, thread::current().began.get(), |until| {
            RankWait::Report(Patience {
                writes: true,
                ..Patience::until(until)
            })
        });
    }

    /// Time does not advance while a thread is about to act. The looks have begun at a moment.
    fn step_by(&self, state: &mut SessionState, begun: u64, wait: impl FnOnce(u64) -> RankWait) {
        if self.is_held_up() {
            return;
        }
        let tick = self.tick.load(Ordering::Relaxed);
        let longest = if thread::times_out() {
            LONGEST_OF_TIMED
        } else {
            self.settings.longest_tick
        };
        let longer = (2 * tick).min(longest);
        if LEFT.load(Ordering::Relaxed) {
            self.compute(tick);
        } else {
            let now = self.now();
            self.wait(state, wait(sleepers::cut(begun, now, now + tick)));
            pending::stepped();
            if sleepers::wake(self.now()) {
                self.look_anew();
                return;
            }
        }
        // Unless there was a report.
        let (new, old) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.tick.compare_exchange(tick, longer, new, old);
    }

    /// This thread has looked in vain. Whether time must not take a step for it, since another one
    /// is about to act, or waits for the lock.
    fn is_held_up(&self) -> bool {
        pending::acted();
        let several = thread::allows_several();
        if several {
            pending::looks(thread::waits());
        }
        // In a call, only threads that may call MPI matter.
        (thread::outside() || several) && pending::holds_up(|| self.is_wanted())
    }

    /// Waits until the machine's file system has carried out an operation. Returns whether that
    /// took simulated time: not where the thread is at work for the simulator, and not after the
    /// rank has left the simulation.
    pub fn access(&self, access: FileAccess) -> bool {
        if HOLDS.get() || LEFT.load(Ordering::Relaxed) {
            return false;
        }
        self.wait(&mut self.lock(), RankWait::File(access));
        self.slept.store(true, Ordering::Relaxed);
        true
    }

    /// The program waits for another process, which may need time: time advances by a step that
    /// grows. Returns whether it has.
    pub fn step_outside(&self) -> bool {
        if HOLDS.get() || LEFT.load(Ordering::Relaxed) {
            return false;
        }
        let mut state = self.lock();
        self.step_by(&mut state, thread::current().began.get(), |until| {
            RankWait::Report(Patience {
                guessed: true,
                ..Patience::until(until)
            })
        });
        self.slept.store(true, Ordering::Relaxed);
        true
    }

    /// Lets time advance to a moment, since the program seems to wait for it; for signal handlers.
    /// Returns whether it has.
    pub fn guess_until(&self, until: u64) -> bool {
        let Some(mut state) = self.try_lock().filter(|_| !LEFT.load(Ordering::Relaxed)) else {
            return false;
        };
        while self.now() < until {
            let patience = Patience {
                guessed: true,
                ..Patience::until(until)
            };
            self.wait(&mut state, RankWait::Report(patience));
        }
        true
    }

    /// Reports computation that the host has measured to the simulator.
    pub fn report_computed(&self, state: &mut SessionState) {
        for (computed, name) in self.regions.reports() {
            self.order(state, 0, computed, &[name.as_bytes()]);
        }
    }

    /// Reports to the recording that the program has just executed a region. Does nothing within
    /// the session's own work.
    pub fn executed(&self, from: Site, to: Site, time: u64) {
        if time == 0 || LEFT.load(Ordering::Relaxed) {
            return;
        }
        if let Some(mut state) = self.try_lock()
            && let Some((region, name)) = self.regions.executed(from, to)
        {
            let executed = Order::Executed { region, time };
            self.order(&mut state, 0, executed, &[name.as_bytes()]);
        }
    }

    /// The rank leaves the simulation.
    pub fn finish(&self) {
        let mut state = self.lock();
        self.report_computed(&mut state);
        LEFT.store(true, Ordering::Relaxed);
        state.link.finish(self.now());
    }

    /// The rank leaves the simulation, unless a thread holds the lock: then the rank waits for
    /// something, and never will.
    pub fn leave_if_free(&self) {
        if let Some(mut state) = self.try_lock() {
            self.report_computed(&mut state);
            LEFT.store(true, Ordering::Relaxed);
            state.link.finish(self.now());
        }
    }

    /// The rank comes back, if it has left.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn come_back(&self) -> Result<(), LinkError> {
        let mut state = self.lock();
        if LEFT.load(Ordering::Relaxed) {
            let now = state.link.come_back()?;
            VISITS.fetch_add(1, Ordering::Relaxed);
            self.now.fetch_max(now, Ordering::AcqRel);
            self.look_anew();
            self.progressed();
            LEFT.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}
