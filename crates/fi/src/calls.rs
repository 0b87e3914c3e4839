//! The entry points of MPI: in which call the rank is.
//!
//! Every call that communicates or waits ([`link::calls`]) is defined here again, under its own name ([`entries`]), and
//! passes its arguments on to the MPI library ([`next`]). All its arguments are integers or pointers. Both conventions of
//! calling that matter, those of x86-64 and of aarch64 under Linux, pass each of these in one register or one place of 8
//! bytes on the stack, whatever its width; so they go on as words, unseen. That holds for both of MPICH's interfaces, its own
//! with integers for handles and the standard one of MPI 5 with pointers. Fortran's entry points call those of C.
//!
//! Around a call it is noted
//! - which call it is, for messages and for the provider: [`blocks`], [`makes_request`];
//! - how long the program has computed since the last one ([`link::Compute`]): local time goes on by as much;
//! - when it began and ended, if the run records calls ([`OrderKind::Called`]).
//!
//! Only the outermost call of a thread counts: collective operations may be made of other calls, and the program's own
//! functions that MPI calls may call MPI. A program that reaches the library by another way than these names runs all the
//! same; then nothing is known of its calls, and none of them blocks.

#![allow(unsafe_code)] // functions of C

mod entries;
mod next;

use crate::clock::{self, system};
use crate::session::{self, Session};
use link::calls::CallKind;
use link::{Compute, Order, OrderKind};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// What is known of a thread.
struct Thread {
    /// How many calls it is in, one in the other.
    depth: Cell<u32>,
    /// The number of the outermost one.
    call: Cell<u32>,
    /// Whether it counts among the threads in calls.
    counted: Cell<bool>,
    /// When that began, in local time; 0 if there was no session yet.
    began: Cell<u64>,
    /// Its processor time at the end of the last call, in nanoseconds, if that is measured.
    computed: Cell<Option<u64>>,
    /// Whether it has called MPI or is the first of the process; not known yet.
    drives: Cell<Option<bool>>,
}

thread_local! {
    static THREAD: Thread = const { Thread {
        depth: Cell::new(0),
        call: Cell::new(0),
        counted: Cell::new(false),
        began: Cell::new(0),
        computed: Cell::new(None),
        drives: Cell::new(None),
    } };
}

/// This thread's. Looking it up is a good part of what a call costs, so it is done once in a call.
#[inline]
fn thread() -> &'static Thread {
    let thread = THREAD.with(std::ptr::from_ref);
    // SAFETY: what runs in a thread ends before the thread does, nothing is done when it is dropped, and it cannot be sent
    // to another one.
    unsafe { &*thread }
}

/// Whether the rank is in a call of MPI that blocks, so that it does nothing before something happens.
pub fn blocks() -> bool {
    kind() == Some(CallKind::Blocks)
}

/// Whether it is in a call that waits for others, but not for ever.
pub fn times_out() -> bool {
    kind() == Some(CallKind::TimesOut)
}

/// Whether it is in a call that sends one message and ends when its buffer is free.
pub fn sends() -> bool {
    const SENDS: [u32; 4] = [
        link::calls::number("MPI_Send"),
        link::calls::number("MPI_Send_c"),
        link::calls::number("MPI_Rsend"),
        link::calls::number("MPI_Rsend_c"),
    ];
    SENDS.contains(&thread().call.get())
}

/// Whether it is in a call that waits for a message, and leaves it to a receive.
pub fn probes() -> bool {
    const PROBES: [u32; 2] = [
        link::calls::number("MPI_Probe"),
        link::calls::number("MPI_Mprobe"),
    ];
    PROBES.contains(&thread().call.get())
}

/// Whether it is in a call that does not block and makes a request.
pub fn makes_request() -> bool {
    kind() == Some(CallKind::Request)
}

/// Whether it is in a call that waits for one-sided communication.
pub fn one_sided() -> bool {
    let call = THREAD.with(|thread| thread.call.get());
    link::calls::name(call).starts_with("MPI_Win_")
}

fn kind() -> Option<CallKind> {
    link::calls::kind(thread().call.get())
}

/// Whether this thread is in no call of MPI.
pub fn outside() -> bool {
    thread().depth.get() == 0
}

/// Whether what this thread does takes the rank's time: it calls MPI, or is the first of the process.
pub fn drives_time() -> bool {
    let thread = thread();
    let known = thread.drives.get();
    known.unwrap_or_else(|| {
        let main = system::is_main_thread();
        thread.drives.set(Some(main));
        main
    })
}

/// This thread has opened the provider: so it calls MPI, in whatever way.
pub fn attached() {
    thread().drives.set(Some(true));
}

/// Set when MPI lets several threads call it at a time, or when they do.
static MULTIPLE: AtomicBool = AtomicBool::new(false);

/// How many threads are in calls, of a process that has several.
static IN_CALLS: AtomicU32 = AtomicU32::new(0);

/// Whether several threads may call MPI, so that what one waits for may depend on what another does. Many programs, all of
/// some languages, ask for that and then have one thread only.
pub fn several_threads() -> bool {
    MULTIPLE.load(Ordering::Relaxed) && !one_thread()
}

/// Whether the process has one thread only.
pub fn one_thread() -> bool {
    static FLAG: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    let mut flag = FLAG.load(Ordering::Relaxed);
    if flag.is_null() {
        let name = c"__libc_single_threaded";
        // SAFETY: the C library's flag, of a byte; older ones have none.
        flag = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.cast();
        FLAG.store(flag, Ordering::Relaxed);
    }
    // SAFETY: the C library's, for as long as there is a process.
    !flag.is_null() && unsafe { flag.read_volatile() } != 0
}

/// Brings local time up to date for a program that reads it: adds what this thread has computed since this was last asked,
/// where that is measured, and what its calls have taken of the simulated processor. Within a call of MPI nothing is: what
/// the library needs there is in the model.
#[inline]
pub fn settle(session: &Session) {
    let thread = thread();
    if thread.depth.get() == 0 {
        if let Compute::Measured(factor) = session.settings().compute {
            measure(session, thread, factor);
        }
        session.settle();
    }
}

fn measure(session: &Session, thread: &Thread, factor: f64) {
    let now = system::processor_time();
    if let Some(last) = thread.computed.replace(Some(now)) {
        session.compute(((now - last) as f64 * factor * 1000.0).round() as u64);
    }
}

/// Passes a call on.
#[inline(always)]
#[allow(clippy::inline_always)] // a call costs a few nanoseconds, and arguments in memory would double that
fn around(call: u32, pass: impl FnOnce() -> c_int) -> c_int {
    let thread = thread();
    let depth = thread.depth.get();
    thread.depth.set(depth + 1);
    if depth > 0 {
        let result = pass();
        thread.depth.set(depth);
        return result;
    }
    enter(thread, call);
    let result = pass();
    thread.depth.set(0);
    leave(thread);
    result
}

/// The outermost call of a thread begins.
#[inline]
fn enter(thread: &Thread, call: u32) {
    thread.call.set(call);
    thread.drives.set(Some(true));
    if !one_thread() {
        thread.counted.set(true);
        // MPICH's ranks that are threads (MPIX_Threadcomm) need no level of threads.
        if IN_CALLS.fetch_add(1, Ordering::Relaxed) > 0 {
            MULTIPLE.store(true, Ordering::Relaxed);
        }
    }
    match session::get() {
        Some(session) => begin(session, thread, call),
        // The call that begins a session, or the first one, began outside the simulation.
        None => thread.began.set(session::shown().map_or(0, Session::now)),
    }
}

/// It ends.
#[inline]
fn leave(thread: &Thread) {
    let call = thread.call.replace(0);
    if thread.counted.replace(false) {
        IN_CALLS.fetch_sub(1, Ordering::Relaxed);
    }
    if let Some(session) = session::get() {
        end(session, thread, call);
    }
}

/// The rank is about to leave the simulation, from within a call as a rule, which then ends here for the simulator.
pub fn concluded(session: &Session) {
    let thread = thread();
    if thread.depth.get() > 0 {
        record(session, thread, thread.call.replace(0));
    }
}

#[cold]
fn begin(session: &Session, thread: &Thread, call: u32) {
    match session.settings().compute {
        Compute::None => (),
        Compute::PerCall(time) => session.compute(time),
        Compute::Measured(factor) => measure(session, thread, factor),
    }
    clock::noted();
    if link::calls::kind(call) != Some(CallKind::Looks) {
        session.look_anew();
    }
    session.in_call(call);
    thread.began.set(session.now());
}

#[cold]
fn end(session: &Session, thread: &Thread, call: u32) {
    session.in_call(0);
    record(session, thread, call);
    if let Compute::Measured(_) = session.settings().compute {
        thread.computed.set(Some(system::processor_time()));
    }
}

/// Tells the simulator of a call that has ended, if it wants to know.
fn record(session: &Session, thread: &Thread, call: u32) {
    if session.settings().calls {
        let called = Order {
            id: call.into(),
            key: thread.began.get(),
            ..Order::new(OrderKind::Called, session.now())
        };
        session.order(&mut session.lock(), called, &[]);
    }
}
