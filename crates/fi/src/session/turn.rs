//! What a rank does in its turn: it orders, and gives the turn away to wait.

use super::{HOLDS, LEFT, Session, State, VISITS};
use crate::thread;
use link::{Flags, LinkError, NEVER, Order, OrderKind, ReportKind};
use std::sync::atomic::Ordering;

/// How often MPI may look in a call that blocks, without having done anything else, before it counts as waiting: it looks
/// before it knows whether there is anything to wait for.
const GLANCES: u32 = 2;

/// [`GLANCES`] for calls of one-sided communication, and how often MPI then looks on, in steps: MPICH looks there once for each
/// message of the rank to itself, which nobody else knows.
const ONE_SIDED_GLANCES: u32 = 32;
const ONE_SIDED_STEPS: u32 = 4096;

/// How many further looks a request without an order allows. MPICH passes messages of a rank to itself through memory of its
/// own, one piece at each look, which the provider does not see. More looks cost only real time. Where they are too few, the
/// rank looks again when nothing else can happen ([`FIRST_LAST_LOOKS`]).
const LOOKS_OF_A_REQUEST: u32 = 4;

/// How often MPI may look when the simulator knows of nothing that can still happen: at first, and at most. The number doubles
/// each time that the simulator lets the rank go on.
const FIRST_LAST_LOOKS: u32 = 64;
const MOST_LAST_LOOKS: u32 = 131_072;

/// How often a rank may look in all before time goes on, whatever it calls: programs that wait for what others put into their
/// memory call functions that have nothing to do.
const IDLE: u32 = 1024;

/// The longest step of time, in picoseconds, in a call that gives up after a time (of seconds as a rule).
const LONGEST_OF_TIMED: u64 = 10_000_000_000;

impl Session {
    /// A report has come, or an order was given.
    fn progressed(&self) {
        self.looks.store(0, Ordering::Relaxed);
        self.idle.store(0, Ordering::Relaxed);
        self.last_looks.store(0, Ordering::Relaxed);
    }

    /// A call has made this many requests without an order: their messages do not reach the network.
    pub fn requested_without_order(&self, requests: u32) {
        let looks = requests.saturating_mul(LOOKS_OF_A_REQUEST);
        let spare = self.spare_looks.load(Ordering::Relaxed);
        let spare = spare.saturating_add(looks).min(MOST_LAST_LOOKS);
        self.spare_looks.store(spare, Ordering::Relaxed);
    }

    /// Gives an order at the present, with all bytes that belong to it; fills in `time` and `checksum`.
    pub fn order(&self, state: &mut State, order: Order, payload: &[&[u8]]) {
        let kind = order.kind();
        // The record of a call is no progress: a program may call again and again, and nothing happens.
        if kind != Some(OrderKind::Called) {
            thread::acted();
            self.progressed();
            thread::ordered();
        }
        if let Some(id) = state.engine.probe.give_up(&order, thread::probes()) {
            let cancel = Order {
                id,
                ..Order::new(OrderKind::Cancel, 0)
            };
            self.order(state, cancel, &[]);
        }
        let carries = matches!(
            kind,
            Some(
                OrderKind::Send
                    | OrderKind::Put
                    | OrderKind::Reply
                    | OrderKind::Enqueue
                    | OrderKind::Collective
            )
        );
        let checksum = if carries && self.settings.checksums {
            link::checksum(payload.iter().copied())
        } else {
            0
        };
        let order = Order {
            time: self.now(),
            checksum,
            ..order
        };
        if kind != Some(OrderKind::Called) {
            self.at_work.store(true, Ordering::Relaxed);
        }
        state.link.order(&order, payload);
    }

    /// Waits in simulated time: for a report, at most until a moment. The progress engine has then got all reports up to the
    /// new present. With [`Flags::SLEEP`] the wait lasts until that moment, and reports stay with the simulator. Returns
    /// whether something of the rank's own has ended or come; what others read or write in its memory does not count.
    pub fn wait(&self, state: &mut State, until: u64, flags: Flags) -> bool {
        let wait = Order {
            key: until,
            flags: flags.0,
            ..Order::new(OrderKind::Wait, 0)
        };
        self.wait_by(state, wait)
    }

    /// Waits, outside the simulation, until this many ranks wait at a meeting of this name. All of them go on from the moment
    /// at which the last one has come.
    pub fn meet(&self, which: u64, ranks: u32) {
        if HOLDS.get() {
            return;
        }
        let wait = Order {
            id: which,
            key: NEVER,
            size: ranks.into(),
            flags: Flags::MEETING.0,
            ..Order::new(OrderKind::Wait, 0)
        };
        self.wait_by(&mut self.lock(), wait);
    }

    fn wait_by(&self, state: &mut State, wait: Order) -> bool {
        let mut flags = Flags(wait.flags);
        let mut ended = false;
        self.at_work.store(false, Ordering::Relaxed);
        if !flags.has(Flags::SLEEP) {
            self.slept.store(false, Ordering::Relaxed);
        }
        loop {
            let resumed = state.link.hand_over_by(&Order {
                time: self.now(),
                flags: flags.0,
                ..wait
            });
            let mut replies = Vec::new();
            for (report, part, bytes) in state.link.reports() {
                self.look_anew();
                self.progressed();
                ended |= !matches!(report.kind(), Some(ReportKind::Read | ReportKind::Write));
                replies.extend(state.engine.report(&report, part, bytes));
            }
            if let Some((order, bytes)) = state.engine.wrong.take() {
                self.order(state, order, &[&bytes]);
                loop {
                    // The simulator ends the run, and with it this process.
                    state.link.hand_over(self.now(), NEVER, Flags::BLOCKING);
                }
            }
            if let Some(now) = resumed {
                assert!(replies.is_empty(), "who goes on is asked nothing");
                self.now.fetch_max(now, Ordering::AcqRel);
                return ended;
            }
            for (order, bytes) in replies {
                self.order(state, order, &[&bytes]);
            }
            flags = flags.with(Flags::STILL);
        }
    }

    /// The program, or MPI for it, has looked and found nothing. In a call that blocks, once MPI has looked a few times, time
    /// goes on to the next report; else by a step that grows. After a sleep, the first look finds what has come by now: some
    /// calls look only once, and a program that waits by them and sleeps between them would never hear of a message.
    pub fn look(&self, state: &mut State) {
        thread::acted();
        self.looks_in_all.fetch_add(1, Ordering::Relaxed);
        if self.slept.load(Ordering::Relaxed) {
            self.wait(state, self.now(), Flags::default());
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
            let hears = !thread::probes() || state.engine.probe.is_there();
            if looks >= glances + steps && hears {
                let flags = if thread::one_thread() {
                    Flags::BLOCKING
                } else {
                    Flags::BLOCKING.with(Flags::THREADS)
                };
                if !self.wait(state, NEVER, flags) {
                    // The simulator lets all ranks go on before it reports that they wait for each other for ever.
                    let more = (2 * last_looks).clamp(FIRST_LAST_LOOKS, MOST_LAST_LOOKS);
                    self.last_looks.store(more, Ordering::Relaxed);
                    self.looks.store(0, Ordering::Relaxed);
                }
                return;
            }
        }
        self.step(state);
    }

    /// The program reads the clock, which shows no time before the simulated processor is done with the calls so far.
    pub fn settle(&self) {
        if self.at_work.load(Ordering::Relaxed)
            && !LEFT.load(Ordering::Relaxed)
            && let Some(mut state) = self.try_lock()
        {
            self.wait(&mut state, self.now(), Flags::SLEEP);
        }
    }

    /// The program reads the clock again and again: a step of time in which MPI does not look.
    pub fn pass(&self, state: &mut State) {
        self.step_by(state, Flags::SLEEP);
        self.slept.store(true, Ordering::Relaxed);
    }

    /// Time goes on by a step that grows.
    pub fn step(&self, state: &mut State) {
        self.step_by(state, Flags::default());
    }

    /// The same; the step ends early when others write into the rank's memory.
    pub fn step_to_write(&self, state: &mut State) {
        self.step_by(state, Flags::WRITES);
    }

    fn step_by(&self, state: &mut State, flags: Flags) {
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
            self.wait(state, self.now() + tick, flags);
        }
        // Unless there was a report.
        let (new, old) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.tick.compare_exchange(tick, longer, new, old);
    }

    /// Sleeps until a moment. A signal's handler that interrupts the provider's work does not sleep.
    pub fn sleep_until(&self, until: u64) {
        if HOLDS.get() {
            return;
        }
        let mut state = self.lock();
        if LEFT.load(Ordering::Relaxed) {
            self.now.fetch_max(until, Ordering::AcqRel);
        } else if self.now() < until {
            self.wait(&mut state, until, Flags::SLEEP);
            self.slept.store(true, Ordering::Relaxed);
        }
    }

    /// The rank leaves the simulation.
    pub fn finish(&self) {
        let mut state = self.lock();
        LEFT.store(true, Ordering::Relaxed);
        state.link.finish(self.now());
    }

    /// The rank leaves the simulation, unless a thread holds the lock: then the rank waits for something, and never will.
    pub fn leave_if_free(&self) {
        if let Some(mut state) = self.try_lock() {
            LEFT.store(true, Ordering::Relaxed);
            state.link.finish(self.now());
        }
    }

    /// The rank comes back, if it has left.
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
