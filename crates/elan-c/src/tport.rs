//! Tports: tagged messages.
//!
//! | bits of the simulated message's tag | are |
//! |---|---|
//! | 0 to 31 | the tag |
//! | 32 to 57 | the sender's label, the `sender` of `elan_tportTxStart` |
//! | 58 to 61 | the Tport, by the order in which the process made its Tports |
//!
//! Each process makes its Tports in the same order. Masks of a receive become bits that count. A message goes into the
//! receiver's buffer; one that is longer than the buffer is an error, as nothing of it is stored. A receive without a buffer
//! (`ELAN_TPORT_RXBUF`) waits for a message to come, and then gets a buffer of its length from the library.

use super::event::{self, Event, What, fail};
use super::layout::State;
use super::putget::process;
use super::{complain, lock, stop, until, within};
use derive::call;
use native::{Ended, Failure, Span, Ticket};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const SYNCHRONOUS: c_uint = 1;
const OWN_BUFFER: c_uint = 2;
const ANY: c_uint = 4;
const PROBE: c_uint = 8;

const LABEL_BITS: u32 = 26;
const LABEL_SHIFT: u32 = 32;
const PORT_SHIFT: u32 = 58;
/// Tports of a program; the last one of the 16 is the library's own.
const PORTS: u64 = 15;

/// The tag of a message of the library itself ([`super::exchange`]).
pub fn own_tag(tag: u32) -> u64 {
    PORTS << PORT_SHIFT | u64::from(tag)
}

/// All bits of a tag.
pub const EXACTLY: u64 = (1 << 62) - 1;

/// What a Tport has done, in the order of `ELAN_TPORTSTATS`.
mod count {
    pub const DIRECT_BYTES: usize = 0;
    pub const BUFFERED_BYTES: usize = 1;
    pub const SENT_BYTES: usize = 2;
    pub const SENT_BYTES_OF_RAIL: usize = 3;
    pub const DIRECT: usize = 5;
    pub const BUFFERED: usize = 6;
    pub const SENT: usize = 7;
    pub const BUFFERS: usize = 16;
    pub const BUFFER_BYTES: usize = 17;
    pub const SENT_SMALL: usize = 21;
    pub const SENT_BIG: usize = 22;
    pub const SENT_BIG_SYNCHRONOUS: usize = 23;
    pub const BINS: usize = 27;
    pub const ALL: usize = BINS + 64;
}

/// `ELAN_TPORT`.
pub struct Tport {
    number: u64,
    small: usize,
    counts: [AtomicU64; count::ALL],
}

impl Tport {
    fn add(&self, what: usize, more: u64) {
        self.counts[what].fetch_add(more, Ordering::Relaxed);
    }
}

/// A receive.
pub struct Receive {
    port: *const Tport,
    way: Way,
    tag: u64,
    mask: u64,
    buffer: *mut u8,
    room: usize,
}

/// How far a receive is.
enum Way {
    /// It looks for a message, which stays where it is.
    Probes(Ticket),
    /// It looks for a message for which it then makes room.
    Seeks(Ticket),
    /// It waits for its message.
    Receives(Ticket),
    /// It has its message, or has seen it.
    Has(Ended),
}

impl Receive {
    /// Whether the message is there; takes no time.
    pub fn has_ended(&mut self) -> bool {
        let ticket = match self.way {
            Way::Probes(ticket) | Way::Seeks(ticket) | Way::Receives(ticket) => ticket,
            Way::Has(_) => return true,
        };
        let end = match native::ended(ticket) {
            None => return false,
            Some(Ok(end)) => end,
            Some(Err(Failure::Truncated(size))) => stop(
                "elan_tportRxStart",
                &format!(
                    "a message of {size} bytes has come, and the buffer has {}",
                    self.room
                ),
            ),
            Some(Err(why)) => fail("elan_tportRxStart", why),
        };
        if let Way::Seeks(_) = self.way {
            let (buffer, size) = (system_buffer(end.size), end.size);
            (self.buffer, self.room) = (buffer, size);
            // SAFETY: the buffer lives until the program gives it back.
            let into = unsafe { Span::new(buffer, size) };
            let ticket = native::receive(Some(end.from), end.tag, EXACTLY, into.into());
            self.way = Way::Receives(ticket);
            // SAFETY: Tports live until the process ends.
            let port = unsafe { &*self.port };
            port.add(count::BUFFERS, 1);
            port.add(count::BUFFER_BYTES, size as u64);
            return self.has_ended();
        }
        if let Way::Receives(_) = self.way {
            // SAFETY: as above.
            let port = unsafe { &*self.port };
            let own = lock(&BUFFERS).contains_key(&self.buffer.addr());
            let (messages, bytes) = if own {
                (count::BUFFERED, count::BUFFERED_BYTES)
            } else {
                (count::DIRECT, count::DIRECT_BYTES)
            };
            port.add(messages, 1);
            port.add(bytes, end.size as u64);
        }
        self.way = Way::Has(end);
        true
    }

    /// Begins.
    fn begin(&mut self, flags: c_uint) {
        self.way = if flags & PROBE != 0 {
            Way::Probes(native::probe(None, self.tag, self.mask, true))
        } else if flags & OWN_BUFFER != 0 && self.buffer.is_null() {
            Way::Seeks(native::probe(None, self.tag, self.mask, true))
        } else {
            // SAFETY: the program leaves the buffer to the receive until its end.
            let into = unsafe { Span::new(self.buffer, self.room) };
            Way::Receives(native::receive(None, self.tag, self.mask, into.into()))
        };
    }
}

/// Buffers of the library that programs have, by their addresses.
static BUFFERS: Mutex<BTreeMap<usize, Box<[u8]>>> = Mutex::new(BTreeMap::new());

fn system_buffer(size: usize) -> *mut u8 {
    let mut buffer = vec![0_u8; size.max(1)].into_boxed_slice();
    let pointer = buffer.as_mut_ptr();
    lock(&BUFFERS).insert(pointer.expose_provenance(), buffer);
    pointer
}

// The callers of the functions below keep to the headers.

#[call]
extern "C" fn elan_tportInit(
    _state: *mut State,
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
) -> *mut Tport {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    if number >= PORTS {
        complain(
            "elan_tportInit",
            &format!("a process has at most {PORTS} Tports"),
        );
        return ptr::null_mut();
    }
    Box::leak(Box::new(Tport {
        number,
        small,
        counts: [const { AtomicU64::new(0) }; count::ALL],
    }))
}

#[call]
unsafe extern "C" fn elan_tportTxStart(
    port: *const Tport,
    flags: c_uint,
    vp: c_uint,
    sender: c_int,
    tag: c_int,
    buffer: *const c_void,
    size: usize,
) -> *mut Event {
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
    // SAFETY: so many bytes of the program, which are copied before the call returns.
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
    Event::of("elan_tportTxStart", ticket)
}

#[call]
unsafe extern "C" fn elan_tportRxStart(
    port: *const Tport,
    flags: c_uint,
    sendermask: c_int,
    sender: c_int,
    tagmask: c_int,
    tag: c_int,
    buffer: *mut c_void,
    size: usize,
) -> *mut Event {
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
    let mut receive = Receive {
        port,
        way: Way::Has(Ended::default()),
        tag: number << PORT_SHIFT | wanted & mask,
        mask: 0xf << PORT_SHIFT | mask,
        buffer: buffer.cast(),
        room: size,
    };
    receive.begin(flags);
    Event::make(What::Receive(Box::new(receive)))
}

/// Whether an event has occurred; it stays, and is freed much later, or by a wait.
unsafe fn test(event: *mut Event, how: c_long) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    let done = within(how, || unsafe { (*event).has_occurred() });
    c_int::from(done)
}

#[call]
unsafe extern "C" fn elan_tportTxDone(event: *mut Event) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    let done = unsafe { test(event, 0) };
    if done != 0 {
        event::seen(event);
    }
    done
}

#[call]
unsafe extern "C" fn elan_tportRxDone(event: *mut Event) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    unsafe { test(event, 0) }
}

#[call]
unsafe extern "C" fn elan_tportRxPoll(event: *mut Event, how: c_long) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    unsafe { test(event, how) }
}

#[call]
unsafe extern "C" fn elan_tportTxWait(event: *mut Event) {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    until(|| unsafe { (*event).has_occurred() });
    event::seen(event);
}

#[call]
unsafe extern "C" fn elan_tportRxWait(
    event: *mut Event,
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
    let Way::Has(end) = receive.way else {
        unreachable!("the receive has ended")
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
extern "C" fn elan_tportBufFree(_port: *const Tport, buffer: *mut c_void) {
    lock(&BUFFERS).remove(&buffer.addr());
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_tportGetStats(port: *const Tport, place: *mut [u64; count::ALL]) {
    // SAFETY: a port that this library has leaked; its counts are atomic.
    let counts = unsafe { &(*port).counts };
    let now = std::array::from_fn(|index| counts[index].load(Ordering::Relaxed));
    // SAFETY: the program has a place for the numbers.
    unsafe { place.write(now) };
}
