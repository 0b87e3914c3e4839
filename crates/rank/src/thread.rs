//! The calling thread's state: the MPI call that it is in, and the consequences for the rank.
//!
//! Only a thread's outermost call counts. Only some threads take the rank's time: those that call
//! MPI, and the process's first thread, unless another one has initialised MPI.

#![allow(unsafe_code)] // a flag in the C library

use crate::regions::Site;
use crate::{pending, system};
use link::calls::{CallKind, kind, name, number};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// A thread's state.
pub struct ThreadState {
    /// How many calls the thread is in, one in the other.
    pub depth: Cell<u32>,
    /// The outermost call's number.
    pub call: Cell<u32>,
    /// Whether the thread counts among the threads in calls.
    counted: Cell<bool>,
    /// When the outermost call began, in local time; 0 if there was no session yet.
    pub began: Cell<u64>,
    /// How many orders the thread has given since then.
    pub orders: Cell<u32>,
    /// Whether Elanlib carries out the call that the thread is in.
    pub served: Cell<bool>,
    /// The thread's processor time at the end of its last call, in nanoseconds, if computation is
    /// measured.
    pub computed: Cell<Option<u64>>,
    /// Where the thread has made its last call or read a clock, if computation is sampled.
    pub site: Cell<Site>,
    /// Whether the thread has called MPI or is the process's first; `None` while that is unknown.
    drives: Cell<Option<bool>>,
    /// Consecutive clock readings.
    pub readings: Cell<u32>,
    /// How often the thread has looked in its outermost call without success.
    pub looks: Cell<u32>,
    /// The thread's place among those that the simulator sees looking.
    pub place: Cell<Option<usize>>,
    /// The last outermost call's number, and how often the thread has made it with no other
    /// between.
    last: Cell<(u32, u32)>,
}

thread_local! {
    static THREAD: ThreadState = const { ThreadState {
        depth: Cell::new(0),
        call: Cell::new(0),
        counted: Cell::new(false),
        began: Cell::new(0),
        orders: Cell::new(0),
        served: Cell::new(false),
        computed: Cell::new(None),
        site: Cell::new(Site { call: 0, place: 0 }),
        drives: Cell::new(None),
        readings: Cell::new(0),
        looks: Cell::new(0),
        place: Cell::new(None),
        last: Cell::new((0, 0)),
    } };
}

/// This thread's state. The lookup is a good part of a call's cost, so a call does it once.
#[inline]
pub fn current() -> &'static ThreadState {
    let thread = THREAD.with(std::ptr::from_ref);
    // SAFETY: code that runs in a thread ends before the thread does, no code runs when the value
    // is dropped, and it cannot be sent to another thread.
    unsafe { &*thread }
}

impl ThreadState {
    /// The thread's outermost call begins.
    #[inline]
    pub fn enter(&self, call: u32) {
        self.call.set(call);
        self.looks.set(0);
        let (last, repeats) = self.last.get();
        self.last.set((
            call,
            if last == call {
                repeats.saturating_add(1)
            } else {
                0
            },
        ));
        if last != call {
            ends_polls();
        }
        if self.drives.replace(Some(true)) != Some(true) {
            CALLERS.fetch_add(1, Ordering::Relaxed);
        }
        if !one_thread() {
            self.counted.set(true);
            if repeats > 0 && allows_several() && kind(call) == Some(CallKind::Looks) {
                pending::lets_act();
            }
            // MPICH's ranks that are threads (MPIX_Threadcomm) need no thread level.
            if IN_CALLS.fetch_add(1, Ordering::Relaxed) > 0 {
                may_be_several();
                AT_ONCE.store(true, Ordering::Relaxed);
            }
            pending::calls(allows_several());
        }
    }

    /// Whether the thread counts among those in calls, or is the only one.
    pub fn may_look(&self) -> bool {
        self.counted.get() || one_thread()
    }

    /// The thread takes a place among those that the simulator sees looking, if there is one.
    pub fn looks_at(&self, place: Option<usize>) {
        self.place.set(place);
        LOOKING.fetch_add(u32::from(place.is_some()), Ordering::Relaxed);
    }

    /// The thread gives up its place among those that look; returns the place.
    pub fn stops_looking(&self) -> Option<usize> {
        let place = self.place.take()?;
        LOOKING.fetch_sub(1, Ordering::Relaxed);
        Some(place)
    }

    /// Whether the thread waits for a word in window memory: it synchronises its memory again and
    /// again, and makes no other call.
    pub fn polls_memory(&self) -> bool {
        const FREE: u32 = 16;
        let (call, repeats) = self.last.get();
        call == number("MPI_Win_sync") && repeats >= FREE
    }

    /// The thread's outermost call ends; returns its number.
    #[inline]
    pub fn leave(&self) -> u32 {
        if self.counted.replace(false) {
            if allows_several() {
                // It may have ended another thread's call: MPI passes a rank's messages to itself
                // on through its own memory.
                if matches!(
                    kind(self.call.get()),
                    Some(CallKind::Blocks | CallKind::Request)
                ) {
                    pending::progressed();
                }
                pending::goes_on();
            } else {
                pending::acted();
            }
            IN_CALLS.fetch_sub(1, Ordering::Relaxed);
        }
        self.call.replace(0)
    }
}

/// Whether the rank is in a blocking MPI call, so that the rank is idle until the next event.
pub fn blocks() -> bool {
    kind(current().call.get()) == Some(CallKind::Blocks)
}

/// Whether the thread is in a call that waits for others, but not for ever.
pub fn times_out() -> bool {
    kind(current().call.get()) == Some(CallKind::TimesOut)
}

/// Whether the thread is in a nonblocking call that makes a request.
pub fn makes_request() -> bool {
    kind(current().call.get()) == Some(CallKind::Request)
}

/// Whether the thread is in a call that sends one message and ends when the message's buffer is
/// free.
pub fn sends() -> bool {
    const SENDS: [u32; 4] = [
        number("MPI_Send"),
        number("MPI_Send_c"),
        number("MPI_Rsend"),
        number("MPI_Rsend_c"),
    ];
    SENDS.contains(&current().call.get())
}

/// Whether the thread is in a call that waits for a message, and leaves the message to a receive.
pub fn probes() -> bool {
    const PROBES: [u32; 2] = [number("MPI_Probe"), number("MPI_Mprobe")];
    PROBES.contains(&current().call.get())
}

/// Whether the thread is in a call that waits for one-sided communication.
pub fn one_sided() -> bool {
    name(current().call.get()).starts_with("MPI_Win_")
}

/// How many more looks take no time, since ranks meet outside the simulation.
static LOOKS_OUTSIDE: AtomicU32 = AtomicU32::new(0);

/// Open MPI's ranks begin or have ended a meeting at its process manager, outside the simulation,
/// in `MPI_Init` or `MPI_Finalize`. They look for messages meanwhile: these looks take no time, so
/// that simulated time does not depend on the ranks' order at the meeting.
///
/// Their number has a bound: a meeting that does need a message would wait for ever.
pub fn meets_outside(meets: bool) {
    const MOST: u32 = 1_000_000;
    LOOKS_OUTSIDE.store(if meets { MOST } else { 0 }, Ordering::Relaxed);
}

/// Counts a look; whether it belongs to a meeting outside, and takes no time.
pub fn looks_outside() -> bool {
    let left = LOOKS_OUTSIDE.load(Ordering::Relaxed);
    if left > 0 {
        LOOKS_OUTSIDE.store(left - 1, Ordering::Relaxed);
    }
    left > 0
}

/// Whether the thread is in `MPI_Finalize`.
pub fn finalises() -> bool {
    current().call.get() == number("MPI_Finalize")
}

/// Whether the thread is in a call that makes or ends an MPI session.
pub fn begins_or_ends() -> bool {
    const CALLS: [u32; 5] = [
        number("MPI_Init"),
        number("MPI_Init_thread"),
        number("MPI_Session_init"),
        number("MPI_Finalize"),
        number("MPI_Session_finalize"),
    ];
    CALLS.contains(&current().call.get())
}

/// How many threads have called MPI.
static CALLERS: AtomicU32 = AtomicU32::new(0);

/// A thread waits for a lock under which all threads run. Where several call MPI, the host decides
/// on their order, as for calls at once.
pub fn takes_turns() {
    if CALLERS.load(Ordering::Relaxed) > 1 {
        guesses();
    }
}

/// The host decides on the order of threads, and so on the run's times.
pub fn guesses() {
    AT_ONCE.store(true, Ordering::Relaxed);
}

/// Whether this rank has polled in vain beside a thread that computes, and no event has come since.
static POLLED: AtomicBool = AtomicBool::new(false);

/// The rank has polled in vain beside a thread that computes; or an event has come, which may end
/// the polls.
pub fn polls_beside(polls: bool) {
    if POLLED.load(Ordering::Relaxed) != polls {
        POLLED.store(polls, Ordering::Relaxed);
    }
}

/// The program polls no more; without an event, another thread has ended the polls.
fn ends_polls() {
    if POLLED.load(Ordering::Relaxed) {
        guesses();
    }
}

/// Whether another thread than this has called MPI.
pub fn others_have_called() -> bool {
    let own = current().drives.get() == Some(true);
    CALLERS.load(Ordering::Relaxed) > u32::from(own)
}

/// The thread looks for messages. Where it has called nothing, it is one of the MPI library's own
/// (MPICH's `MPIR_CVAR_ASYNC_PROGRESS`), which looks beside all calls.
pub fn looks_in_library() {
    if outside() && !drives_time() && !one_thread() {
        may_be_several();
        AT_ONCE.store(true, Ordering::Relaxed);
        if !pending::is_caller() {
            pending::goes_on();
        }
    }
}

/// Whether this thread is in no MPI call.
pub fn outside() -> bool {
    current().depth.get() == 0
}

/// The thread that has opened the provider; 0 before.
static DRIVER: AtomicU32 = AtomicU32::new(0);

/// Whether this thread's sleep and computation take the rank's time: it calls MPI, or is the
/// process's first, and no other has initialised MPI: naps of a first thread that only waits for the
/// others do not carry the rank away.
pub fn drives_time() -> bool {
    let drives = &current().drives;
    if drives.get().is_none() {
        let is_first = system::is_main_thread();
        match DRIVER.load(Ordering::Relaxed) {
            0 => return is_first,
            driver => drives.set(Some(is_first && driver == std::process::id())),
        }
    }
    drives.get() == Some(true)
}

/// This thread has opened the provider, so it calls MPI.
pub fn drives() {
    current().drives.set(Some(true));
    DRIVER.store(system::thread(), Ordering::Relaxed);
}

/// The thread that has initialised MPI, or the process's first.
pub fn driver() -> u32 {
    match DRIVER.load(Ordering::Relaxed) {
        0 => std::process::id(),
        driver => driver,
    }
}

/// This thread can only look again: it is in a call that waits for others.
pub fn waits() -> bool {
    blocks() || times_out()
}

/// This thread has given an order.
pub fn ordered() {
    pending::acted();
    let orders = &current().orders;
    orders.set(orders.get().saturating_add(1));
}

/// The thread has waited in simulated time, without a call: its work meanwhile is not computation.
pub fn waited() {
    let computed = &current().computed;
    if computed.get().is_some() {
        computed.set(Some(system::processor_time()));
    }
}

/// This thread has done something else than reading the clock.
pub fn acted() {
    current().readings.set(0);
}

/// Set when MPI lets several threads call it, or when several do.
static MULTIPLE: AtomicBool = AtomicBool::new(false);

/// How many threads are in calls, in a process that has several.
static IN_CALLS: AtomicU32 = AtomicU32::new(0);

/// How many threads have a place among those that look.
static LOOKING: AtomicU32 = AtomicU32::new(0);

/// Whether all threads that are in calls look.
pub fn all_look() -> bool {
    IN_CALLS.load(Ordering::Relaxed) <= LOOKING.load(Ordering::Relaxed)
}

/// Set when two threads have been in calls at once, or the host has decided on their order
/// otherwise.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Whether two threads have been in calls at once: the host decides on their order, and so on the
/// run's times.
pub fn were_at_once() -> bool {
    AT_ONCE.load(Ordering::Relaxed)
}

/// How many threads are in calls, in a process that has several.
pub fn in_calls() -> u32 {
    IN_CALLS.load(Ordering::Relaxed)
}

/// MPI lets several threads call it, or several do.
pub fn may_be_several() {
    MULTIPLE.store(true, Ordering::Relaxed);
}

/// Whether MPI lets several threads call it, or several do, also if there is only one yet.
pub fn allows_several() -> bool {
    MULTIPLE.load(Ordering::Relaxed)
}

/// Whether several threads may call MPI, so that one may wait for another. Many programs, all in
/// some languages, ask for several threads and then have only one.
pub fn several_threads() -> bool {
    allows_several() && !one_thread()
}

/// Whether the process has only one thread.
pub fn one_thread() -> bool {
    static FLAG: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    let mut flag = FLAG.load(Ordering::Relaxed);
    if flag.is_null() {
        let name = c"__libc_single_threaded";
        // SAFETY: the C library's one-byte flag; older ones have no such flag.
        flag = unsafe { system::symbol(libc::RTLD_DEFAULT, name) }.cast();
        FLAG.store(flag, Ordering::Relaxed);
    }
    // SAFETY: the C library's, for as long as there is a process.
    !flag.is_null() && unsafe { flag.read_volatile() } != 0
}
