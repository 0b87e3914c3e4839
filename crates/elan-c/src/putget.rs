//! Put and get, between addresses in this process and in others.
//!
//! `elan_put` is over when the other adapter has accepted the bytes. Its source may be used again
//! immediately, as for the original library's puts up to `putget_smallputsize` bytes: the bytes are
//! copied at the call. A control block adds no data to the machine's.

use super::event::{ElanEvent, EventSubject};
use super::layout::ElanState;
use super::pending::{GETS, PUTS};
use super::{hold, stop, until};
use derive::call;
use link::ADDRESS_SPACE;
use native::{RemoteMemory, Span, Ticket};
use std::collections::BTreeSet;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// `ELAN_PUTGETSTATS`: puts, gets, and their bytes.
struct Statistics {
    puts: AtomicU64,
    gets: AtomicU64,
    put_bytes: AtomicU64,
    get_bytes: AtomicU64,
}

static STATISTICS: Statistics = Statistics {
    puts: AtomicU64::new(0),
    gets: AtomicU64::new(0),
    put_bytes: AtomicU64::new(0),
    get_bytes: AtomicU64::new(0),
};

/// A process that there is.
pub fn process(call: &str, vp: c_uint) -> u32 {
    if vp >= native::ranks() {
        stop(
            call,
            &format!(
                "there is no process {vp}; the last one is {}",
                native::ranks() - 1
            ),
        );
    }
    vp
}

/// An address in a process.
fn place(rank: u32, at: usize) -> RemoteMemory {
    RemoteMemory {
        rank,
        key: ADDRESS_SPACE,
        offset: at as u64,
    }
}

/// Begins a put; `notice` is an event's address at the destination, or 0.
///
/// # Safety
/// The bytes must be valid.
pub unsafe fn put(vp: u32, from: *const c_void, to: usize, size: usize, notice: u64) -> Ticket {
    // SAFETY: the caller's word.
    let bytes = unsafe { Span::new(from.cast(), size) };
    let ticket = native::put_and_notice(place(vp, to), &[bytes.bytes()], notice);
    STATISTICS.puts.fetch_add(1, Ordering::Relaxed);
    STATISTICS
        .put_bytes
        .fetch_add(size as u64, Ordering::Relaxed);
    hold(&PUTS).insert(ticket);
    ticket
}

/// Begins a get.
///
/// # Safety
/// The memory must be valid until the end.
pub unsafe fn get(vp: u32, from: usize, to: *mut c_void, size: usize) -> Ticket {
    // SAFETY: the caller's word.
    let buffer = unsafe { Span::new(to.cast_const().cast(), size) };
    let ticket = native::get(vp, from, buffer.into());
    STATISTICS.gets.fetch_add(1, Ordering::Relaxed);
    STATISTICS
        .get_bytes
        .fetch_add(size as u64, Ordering::Relaxed);
    hold(&GETS).insert(ticket);
    ticket
}

/// Waits until all these are over. Their ends stay for their events.
fn wait_all(under_way: &Mutex<BTreeSet<Ticket>>) {
    until(|| {
        let all: Vec<Ticket> = hold(under_way).iter().copied().collect();
        let over = all.iter().all(|&ticket| native::has_ended(ticket));
        if over {
            hold(under_way).clear();
        }
        over
    });
}

/// The event for a program call's put; `notice` as in [`put`].
///
/// # Safety
/// As in the headers.
unsafe fn put_event(
    call: &'static str,
    (from, to): (*const c_void, *mut c_void),
    size: usize,
    vp: c_uint,
    notice: u64,
) -> *mut ElanEvent {
    if size == 0 && notice == 0 {
        return ElanEvent::make(EventSubject::Nothing);
    }
    let vp = process(call, vp);
    // SAFETY: the caller's word.
    ElanEvent::of(call, unsafe { put(vp, from, to.addr(), size, notice) })
}

/// The event for a program call's get.
///
/// # Safety
/// As in the headers.
unsafe fn get_event(
    call: &'static str,
    (from, to): (*const c_void, *mut c_void),
    size: usize,
    vp: c_uint,
) -> *mut ElanEvent {
    if size == 0 {
        return ElanEvent::make(EventSubject::Nothing);
    }
    let vp = process(call, vp);
    // SAFETY: the caller's word.
    ElanEvent::of(call, unsafe { get(vp, from.addr(), to, size) })
}

// The callers of the functions below keep to the headers.

#[call]
unsafe extern "C" fn elan_put(
    _state: *mut ElanState,
    from: *const c_void,
    to: *mut c_void,
    size: usize,
    vp: c_uint,
) -> *mut ElanEvent {
    // SAFETY: memory of this many bytes, which the program leaves alone until the event.
    unsafe { put_event("elan_put", (from, to), size, vp, 0) }
}

#[call]
unsafe extern "C" fn elan_get(
    _state: *mut ElanState,
    from: *const c_void,
    to: *mut c_void,
    size: usize,
    vp: c_uint,
) -> *mut ElanEvent {
    // SAFETY: memory of this many bytes, which the program leaves alone until the event.
    unsafe { get_event("elan_get", (from, to), size, vp) }
}

/// `ELAN_PGCTRL`, which is opaque to programs.
#[unsafe(no_mangle)]
extern "C" fn elan_putgetInit(
    _state: *mut ElanState,
    _memory: *mut c_void,
    _small: usize,
    _stripe_puts: usize,
    _stripe_gets: usize,
    _throttle: c_int,
    _flags: c_uint,
) -> *mut c_void {
    std::ptr::from_mut(Box::leak(Box::new(0_u64))).cast()
}

#[call]
unsafe extern "C" fn elan_doput(
    _control: *mut c_void,
    from: *const c_void,
    to: *mut c_void,
    event: u64,
    size: usize,
    vp: c_uint,
    _rail: c_int,
) -> *mut ElanEvent {
    // SAFETY: memory of this many bytes, which the program leaves alone until the event.
    unsafe { put_event("elan_doput", (from, to), size, vp, event) }
}

#[call]
unsafe extern "C" fn elan_doget(
    _control: *mut c_void,
    from: *const c_void,
    to: *mut c_void,
    size: usize,
    vp: c_uint,
    _rail: c_int,
) -> *mut ElanEvent {
    // SAFETY: memory of this many bytes, which the program leaves alone until the event.
    unsafe { get_event("elan_doget", (from, to), size, vp) }
}

#[call]
extern "C" fn elan_putWaitAll(_state: *mut ElanState, _how: c_long) {
    wait_all(&PUTS);
}

#[call]
extern "C" fn elan_getWaitAll(_state: *mut ElanState, _how: c_long) {
    wait_all(&GETS);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_putgetGetStats(_state: *mut ElanState, place: *mut [u64; 4]) {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let all = [
        &STATISTICS.puts,
        &STATISTICS.gets,
        &STATISTICS.put_bytes,
        &STATISTICS.get_bytes,
    ];
    // SAFETY: the program has a place for the numbers.
    unsafe { place.write(all.map(read)) };
}
