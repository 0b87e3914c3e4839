//! Tports and their receives.
//!
//! | bits in the simulated message's tag | are |
//! |---|---|
//! | 0 to 31 | the tag |
//! | 32 to 57 | the sender's label, the `sender` of `elan_tportTxStart` |
//! | 58 to 61 | the Tport, by the order in which the process made its Tports |
//!
//! Each process makes its Tports in the same order.

use super::{fail, hold, stop};
use native::{CallEnd, OperationFailure, Span, Ticket};
use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const OWN_BUFFER: c_uint = 2;
const PROBE: c_uint = 8;

/// The bits of a sender's label.
pub const LABEL_BITS: u32 = 26;
/// The place of the label in a tag.
pub const LABEL_SHIFT: u32 = 32;
/// The place of the Tport's number in a tag.
pub const PORT_SHIFT: u32 = 58;
/// A program's Tports; the last of the 16 is the library's own.
pub const PORTS: u64 = 15;

/// The tag of the library's own message ([`super::exchange`]).
pub fn own_tag(tag: u32) -> u64 {
    PORTS << PORT_SHIFT | u64::from(tag)
}

/// All tag bits.
pub const EXACTLY: u64 = (1 << 62) - 1;

/// A Tport's counts, in `ELAN_TPORTSTATS` order.
pub mod count {
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
pub struct ElanTport {
    pub number: u64,
    pub small: usize,
    pub counts: [AtomicU64; count::ALL],
}

impl ElanTport {
    /// Adds to a count.
    pub fn add(&self, what: usize, more: u64) {
        self.counts[what].fetch_add(more, Ordering::Relaxed);
    }
}

/// A receive.
pub struct TportReceive {
    port: *const ElanTport,
    way: ReceiveProgress,
    pub buffer: *mut u8,
    room: usize,
}

/// How far a receive is.
enum ReceiveProgress {
    /// It looks for a message, which stays where it is.
    Probes(Ticket),
    /// It looks for a message for which it then makes room.
    Seeks(Ticket),
    /// It waits for its message.
    Receives(Ticket),
    /// It has its message, or has seen it.
    Has(CallEnd),
}

impl TportReceive {
    /// Whether the message is there; takes no time.
    pub fn has_ended(&mut self) -> bool {
        let ticket = match self.way {
            ReceiveProgress::Probes(ticket)
            | ReceiveProgress::Seeks(ticket)
            | ReceiveProgress::Receives(ticket) => ticket,
            ReceiveProgress::Has(_) => return true,
        };
        let end = match native::ended(ticket) {
            None => return false,
            Some(Ok(end)) => end,
            Some(Err(OperationFailure::Truncated(size))) => stop(
                "elan_tportRxStart",
                &format!(
                    "a message of {size} bytes has come, and the buffer has {}",
                    self.room
                ),
            ),
            Some(Err(why)) => fail("elan_tportRxStart", why),
        };
        if let ReceiveProgress::Seeks(_) = self.way {
            let (buffer, size) = (system_buffer(end.size), end.size);
            (self.buffer, self.room) = (buffer, size);
            // SAFETY: the buffer lives until the program gives it back.
            let into = unsafe { Span::new(buffer, size) };
            let ticket = native::receive(Some(end.from), end.tag, EXACTLY, into.into());
            self.way = ReceiveProgress::Receives(ticket);
            // SAFETY: Tports live until the process ends.
            let port = unsafe { &*self.port };
            port.add(count::BUFFERS, 1);
            port.add(count::BUFFER_BYTES, size as u64);
            return self.has_ended();
        }
        if let ReceiveProgress::Receives(_) = self.way {
            // SAFETY: as above.
            let port = unsafe { &*self.port };
            let own = hold(&BUFFERS).contains_key(&self.buffer.addr());
            let (messages, bytes) = if own {
                (count::BUFFERED, count::BUFFERED_BYTES)
            } else {
                (count::DIRECT, count::DIRECT_BYTES)
            };
            port.add(messages, 1);
            port.add(bytes, end.size as u64);
        }
        self.way = ReceiveProgress::Has(end);
        true
    }

    /// Begins to receive a message into the program's buffer, or into the library's if there is no
    /// such buffer.
    pub fn begin(
        port: *const ElanTport,
        (tag, mask): (u64, u64),
        (buffer, room): (*mut u8, usize),
        flags: c_uint,
    ) -> TportReceive {
        let way = if flags & PROBE != 0 {
            ReceiveProgress::Probes(native::probe(None, tag, mask, true))
        } else if flags & OWN_BUFFER != 0 && buffer.is_null() {
            ReceiveProgress::Seeks(native::probe(None, tag, mask, true))
        } else {
            // SAFETY: the program leaves the buffer to the receive until its end.
            let into = unsafe { Span::new(buffer, room) };
            ReceiveProgress::Receives(native::receive(None, tag, mask, into.into()))
        };
        TportReceive {
            port,
            way,
            buffer,
            room,
        }
    }

    /// The message, once it is there.
    pub fn end(&self) -> Option<CallEnd> {
        match self.way {
            ReceiveProgress::Has(end) => Some(end),
            _ => None,
        }
    }
}

/// The library's buffers that programs have, by their addresses.
static BUFFERS: Mutex<BTreeMap<usize, Box<[u8]>>> = Mutex::new(BTreeMap::new());

fn system_buffer(size: usize) -> *mut u8 {
    let mut buffer = vec![0_u8; size.max(1)].into_boxed_slice();
    let pointer = buffer.as_mut_ptr();
    hold(&BUFFERS).insert(pointer.expose_provenance(), buffer);
    pointer
}

/// The program gives a library buffer back.
pub fn give_back(buffer: usize) {
    hold(&BUFFERS).remove(&buffer);
}
