//! Queues for small messages.
//!
//! A queue's name is its address at the receiver. So `elan_gallocQueue` gives a queue with one name
//! everywhere, and a process may send its own queue's address (`elan_allocQueue`) to others. One
//! process's messages come in call order. A message that the program has taken lies in the
//! library's memory until it takes the next one.

use super::event::{self, ElanEvent};
use super::layout::{ElanBase, ElanGroup, ElanState};
use super::memory::{alloc, galloc};
use super::putget::process;
use super::{complain, places, stop, until, within};
use derive::call;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr;

/// `sizeof(ELAN_QUEUE)`, and how it is aligned.
const QUEUE: usize = 64;

/// A queue's side: `ELAN_QUEUE_TX`, `ELAN_QUEUE_RX` or `ELAN_MAIN_QUEUE`.
pub struct Side {
    name: u64,
    slot: usize,
    /// The message that the program has.
    message: Vec<u8>,
}

fn side(name: *const c_void, slot: usize) -> *mut Side {
    Box::leak(Box::new(Side {
        name: name.expose_provenance() as u64,
        slot,
        message: Vec::new(),
    }))
}

/// Makes a queue for arriving messages.
fn receiving(call: &str, queue: *const c_void, slots: c_int, slot: c_int) -> *mut Side {
    let longest = places::longest_slot();
    if queue.is_null() || slots <= 0 || !(1..=longest).contains(&slot) {
        complain(
            call,
            &format!("a queue has slots, of 1 to {longest} bytes; not {slots} of {slot}"),
        );
        return ptr::null_mut();
    }
    let made = side(queue, slot as usize);
    native::queue(
        queue.expose_provenance() as u64,
        slots.cast_unsigned(),
        slot as usize,
    );
    made
}

impl Side {
    /// Whether a message is there that was reported to the process.
    fn has_message(&self) -> bool {
        native::queued(self.name) > 0
    }

    /// Waits for a message and takes it.
    fn take(&mut self) {
        until(|| self.has_message());
        self.message = native::dequeue(self.name).unwrap_or_default();
        // Programs may look at a whole slot.
        let slot = self.slot.max(self.message.len());
        self.message.resize(slot, 0);
    }

    /// Begins to send.
    ///
    /// # Safety
    /// The bytes must be valid.
    unsafe fn send(
        &self,
        call: &'static str,
        vp: c_uint,
        from: *const c_void,
        size: usize,
    ) -> native::Ticket {
        let (vp, longest) = (process(call, vp), places::longest_slot() as usize);
        if size > longest {
            stop(
                call,
                &format!("a message of {size} bytes is longer than a slot can be: {longest} bytes"),
            );
        }
        // SAFETY: the caller's word.
        let bytes = unsafe { native::Span::new(from.cast(), size) };
        native::enqueue(vp, self.name, bytes.bytes())
    }
}

// The callers of the functions below keep to the headers.

#[call]
unsafe extern "C" fn elan_gallocQueue(_base: *mut ElanBase, group: *mut ElanGroup) -> *mut c_void {
    // SAFETY: a group of this library, which are never freed.
    unsafe { galloc("elan_gallocQueue", group, true, QUEUE, QUEUE) }
}

#[call]
extern "C" fn elan_allocQueue(_state: *mut ElanState) -> *mut c_void {
    alloc("elan_allocQueue", true, QUEUE, QUEUE)
}

#[unsafe(no_mangle)]
extern "C" fn elan_queueMaxSlotSize(_state: *mut ElanState) -> c_int {
    places::longest_slot()
}

#[call]
extern "C" fn elan_queueRxInit(
    _state: *mut ElanState,
    queue: *mut c_void,
    slots: c_int,
    slot: c_int,
    _rail: c_int,
    _flags: c_uint,
) -> *mut Side {
    receiving("elan_queueRxInit", queue, slots, slot)
}

#[call]
extern "C" fn elan_queueTxInit(
    _state: *mut ElanState,
    queue: *mut c_void,
    _rail: c_int,
    _flags: c_uint,
) -> *mut Side {
    side(queue, 0)
}

#[call]
unsafe extern "C" fn elan_queueTx(
    queue: *const Side,
    vp: c_uint,
    buffer: *const c_void,
    size: usize,
    _rail: c_int,
) -> *mut ElanEvent {
    // SAFETY: a side that this library has leaked, and this many bytes of the program.
    let ticket = unsafe { (*queue).send("elan_queueTx", vp, buffer, size) };
    ElanEvent::of("elan_queueTx", ticket)
}

#[call]
unsafe extern "C" fn elan_queueRxPoll(queue: *const Side, how: c_long) -> c_int {
    // SAFETY: a side that this library has leaked.
    c_int::from(within(how, || unsafe { (*queue).has_message() }))
}

#[call]
unsafe extern "C" fn elan_queueRxWait(
    queue: *mut Side,
    buffer: *mut c_void,
    _how: c_long,
) -> *mut c_void {
    // SAFETY: a side that this library has leaked, and that one thread uses at a time.
    let queue = unsafe { &mut *queue };
    queue.take();
    if buffer.is_null() {
        return queue.message.as_mut_ptr().cast();
    }
    let bytes = queue.message.as_ptr();
    // SAFETY: the buffer has room for a slot, and the message has been filled up to one.
    unsafe {
        buffer
            .cast::<u8>()
            .copy_from_nonoverlapping(bytes, queue.slot);
    };
    buffer
}

/// The program needs the message no more.
#[unsafe(no_mangle)]
unsafe extern "C" fn elan_queueRxComplete(queue: *mut Side) {
    // SAFETY: a side that this library has leaked, and that one thread uses at a time.
    unsafe { (*queue).message.clear() };
}

#[call]
extern "C" fn elan_mainQueueInit(
    _state: *mut ElanState,
    queue: *mut c_void,
    slots: c_int,
    slot: c_int,
    _flags: c_uint,
) -> *mut Side {
    receiving("elan_mainQueueInit", queue, slots, slot)
}

/// Returns when the other queue has the message.
#[call]
unsafe extern "C" fn elan_queueReq(
    queue: *const Side,
    vp: c_uint,
    buffer: *const c_void,
    size: usize,
) {
    // SAFETY: a side that this library has leaked, and this many bytes of the program.
    let ticket = unsafe { (*queue).send("elan_queueReq", vp, buffer, size) };
    event::wait_for("elan_queueReq", ticket);
}

#[call]
unsafe extern "C" fn elan_queueHaveReq(queue: *const Side) -> c_int {
    // SAFETY: a side that this library has leaked.
    c_int::from(within(0, || unsafe { (*queue).has_message() }))
}

#[call]
unsafe extern "C" fn elan_queueWait(queue: *mut Side, buffer: *mut c_void, _how: c_long) {
    // SAFETY: a side that this library has leaked, and that one thread uses at a time.
    let queue = unsafe { &mut *queue };
    queue.take();
    let bytes = queue.message.as_ptr();
    // SAFETY: the buffer has room for a slot, and the message has been filled up to one.
    unsafe {
        buffer
            .cast::<u8>()
            .copy_from_nonoverlapping(bytes, queue.slot);
    };
}
