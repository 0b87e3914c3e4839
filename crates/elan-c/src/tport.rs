//! Tports: tagged messages.
//!
//! A receive's masks become bits that count ([`super::receive`]). A message goes into the
//! receiver's buffer; one that is longer than the buffer is an error, as no part of it is stored. A
//! receive without a buffer (`ELAN_TPORT_RXBUF`) waits for a message to come, and then gets a
//! buffer of its length from the library.

use super::event::{self, ElanEvent, EventSubject};
use super::layout::ElanState;
use super::putget::process;
use super::receive::{
    self, ElanTport, LABEL_BITS, LABEL_SHIFT, PORT_SHIFT, PORTS, TportReceive, count,
};
use super::{complain, stop, until, within};
use derive::call;
use native::Span;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

const SYNCHRONOUS: c_uint = 1;
const ANY: c_uint = 4;

// The callers of the functions below keep to the headers.

#[call]
extern "C" fn elan_tportInit(
    _state: *mut ElanState,
    _queue: *mut c_void,
    _slots: c_int,
    small: usize,
    _big: usize,
    _stripe: usize,
    _wait: c_long,
    _retries: c_int,
    _key: *mut c_int,
    _depth: c_int,
    _fragment: c_int,
    _flags: c_uint,
) -> *mut ElanTport {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    if number >= PORTS {
        complain(
            "elan_tportInit",
            &format!("a process has at most {PORTS} Tports"),
        );
        return ptr::null_mut();
    }
    Box::leak(Box::new(ElanTport {
        number,
        small,
        counts: [const { AtomicU64::new(0) }; count::ALL],
    }))
}

#[call]
unsafe extern "C" fn elan_tportTxStart(
    port: *const ElanTport,
    flags: c_uint,
    vp: c_uint,
    sender: c_int,
    tag: c_int,
    buffer: *const c_void,
    size: usize,
) -> *mut ElanEvent {
    let vp = process("elan_tportTxStart", vp);
    let label = sender.cast_unsigned();
    if label >> LABEL_BITS != 0 {
        let why = format!(
            "the sender's label {sender} does not lie between 0 and {}",
            (1 << LABEL_BITS) - 1
        );
        stop("elan_tportTxStart", &why);
    }
    // SAFETY: a port that this library has leaked; its counts are atomic.
    let port = unsafe { &*port };
    let synchronous = flags & SYNCHRONOUS != 0;
    let all = port.number << PORT_SHIFT
        | u64::from(label) << LABEL_SHIFT
        | u64::from(tag.cast_unsigned());
    // SAFETY: this many bytes of the program, which are copied before the call returns.
    let bytes = unsafe { Span::new(buffer.cast(), size) };
    let ticket = native::send(vp, all, synchronous, &[bytes.bytes()]);
    port.add(count::SENT, 1);
    port.add(count::SENT_BYTES, size as u64);
    port.add(count::SENT_BYTES_OF_RAIL, size as u64);
    port.add(count::BINS + size.checked_ilog2().unwrap_or(0) as usize, 1);
    port.add(
        match (size <= port.small, synchronous) {
            (true, _) => count::SENT_SMALL,
            (false, false) => count::SENT_BIG,
            (false, true) => count::SENT_BIG_SYNCHRONOUS,
        },
        1,
    );
    ElanEvent::of("elan_tportTxStart", ticket)
}

#[call]
unsafe extern "C" fn elan_tportRxStart(
    port: *const ElanTport,
    flags: c_uint,
    sendermask: c_int,
    sender: c_int,
    tagmask: c_int,
    tag: c_int,
    buffer: *mut c_void,
    size: usize,
) -> *mut ElanEvent {
    // SAFETY: a port that this library has leaked.
    let number = unsafe { (*port).number };
    let labels =
        |word: c_int| u64::from(word.cast_unsigned() & ((1 << LABEL_BITS) - 1)) << LABEL_SHIFT;
    let (mut mask, wanted) = (
        labels(sendermask) | u64::from(tagmask.cast_unsigned()),
        labels(sender) | u64::from(tag.cast_unsigned()),
    );
    if flags & ANY != 0 && sendermask == 0 && tagmask == 0 {
        mask = 0;
    }
    let label = (
        number << PORT_SHIFT | wanted & mask,
        0xf << PORT_SHIFT | mask,
    );
    let receive = TportReceive::begin(port, label, (buffer.cast(), size), flags);
    ElanEvent::make(EventSubject::Receive(Box::new(receive)))
}

/// Whether an event has occurred; it stays, and is freed much later, or by a wait.
unsafe fn test(event: *mut ElanEvent, how: c_long) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    let done = within(how, || unsafe { (*event).has_occurred() });
    c_int::from(done)
}

#[call]
unsafe extern "C" fn elan_tportTxDone(event: *mut ElanEvent) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    let done = unsafe { test(event, 0) };
    if done != 0 {
        event::seen(event);
    }
    done
}

#[call]
unsafe extern "C" fn elan_tportRxDone(event: *mut ElanEvent) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    unsafe { test(event, 0) }
}

#[call]
unsafe extern "C" fn elan_tportRxPoll(event: *mut ElanEvent, how: c_long) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    unsafe { test(event, how) }
}

#[call]
unsafe extern "C" fn elan_tportTxWait(event: *mut ElanEvent) {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    until(|| unsafe { (*event).has_occurred() });
    event::seen(event);
}

#[call]
unsafe extern "C" fn elan_tportRxWait(
    event: *mut ElanEvent,
    sender: *mut c_int,
    tag: *mut c_int,
    size: *mut usize,
) -> *mut c_void {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    until(|| unsafe { (*event).has_occurred() });
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    let Some(receive) = (unsafe { (*event).receive() }) else {
        stop("elan_tportRxWait", "this is no event of a receive");
    };
    let Some(end) = receive.end() else {
        stop("elan_tportRxWait", "the receive has not ended");
    };
    let label = (end.tag >> LABEL_SHIFT) as u32 & ((1 << LABEL_BITS) - 1);
    // SAFETY: null, or places of the program for the answers.
    unsafe {
        if !sender.is_null() {
            sender.write(label.cast_signed());
        }
        if !tag.is_null() {
            tag.write((end.tag as u32).cast_signed());
        }
        if !size.is_null() {
            size.write(end.size);
        }
    }
    let buffer = receive.buffer;
    // SAFETY: the event is the program's no more after this call.
    unsafe { event::release(event) };
    buffer.cast()
}

#[unsafe(no_mangle)]
extern "C" fn elan_tportBufFree(_port: *const ElanTport, buffer: *mut c_void) {
    receive::give_back(buffer.addr());
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_tportGetStats(port: *const ElanTport, place: *mut [u64; count::ALL]) {
    // SAFETY: a port that this library has leaked; its counts are atomic.
    let counts = unsafe { &(*port).counts };
    let now = std::array::from_fn(|index| counts[index].load(Ordering::Relaxed));
    // SAFETY: the program has a place for the numbers.
    unsafe { place.write(now) };
}
