//! Completion queues and counters: the program looks there for ended operations, and simulated time
//! passes while there is no such end.
//!
//! An MPI library waits by looking at an empty queue, or at a counter that has not changed while
//! something is under way. Simulated time then advances to the next report, or by a step; see
//! [`Session::look`](rank::session::Session::look).

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiCntrAttr, FiCqAttr, FiCqErrEntry, FiCqTaggedEntry};
use crate::abi::objects::{FiOps, FiOpsCntr, FiOpsCq, Fid, FidCntr, FidCq, FidDomain};
use crate::abi::{
    FI_CLASS_CNTR, FI_CLASS_CQ, FI_CNTR_EVENTS_COMP, FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_DATA,
    FI_CQ_FORMAT_MSG, FI_CQ_FORMAT_TAGGED, FI_CQ_FORMAT_UNSPEC, FI_EAGAIN, FI_EAVAIL, FI_ENOSYS,
    FI_ETIMEDOUT, UNUSED,
};
use crate::object::{answer, close, fid, fid_ops, give, in_session, session};
use crate::progress::HasEngine;
use crate::progress::completions::Completion;
use link::{NEVER, RankWait};
use rank::session::{Session, SessionState};
use rank::thread;
use std::ffi::{c_char, c_int, c_void};

static QUEUE_FID_OPS: FiOps = fid_ops(close::<Queue>);

static QUEUE_OPS: FiOpsCq = FiOpsCq {
    size: size_of::<FiOpsCq>(),
    read,
    readfrom,
    readerr,
    waits: [UNUSED; 3],
    strerror,
};

static COUNTER_FID_OPS: FiOps = fid_ops(close::<FidCntr>);

static COUNTER_OPS: FiOpsCntr = FiOpsCntr {
    size: size_of::<FiOpsCntr>(),
    read: counter_read,
    readerr: counter_readerr,
    add: counter_add,
    set: counter_set,
    wait: counter_wait,
};

/// Our queue: its number in the progress engine, and the part of an entry that the program wants.
#[repr(C)]
struct Queue {
    cq: FidCq,
    entry: usize,
}

pub unsafe extern "C" fn open_queue(
    _domain: *mut FidDomain,
    attr: *mut FiCqAttr,
    cq: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    in_session(|session| {
        // SAFETY: attributes are null or a structure.
        let format = unsafe { attr.as_ref() }.map_or(FI_CQ_FORMAT_UNSPEC, |attr| attr.format);
        let entry = match format {
            FI_CQ_FORMAT_CONTEXT => 8,
            FI_CQ_FORMAT_MSG => 24,
            FI_CQ_FORMAT_DATA => 40,
            FI_CQ_FORMAT_UNSPEC | FI_CQ_FORMAT_TAGGED => size_of::<FiCqTaggedEntry>(),
            _ => return Err(-FI_ENOSYS),
        };
        let object = Queue {
            cq: FidCq {
                fid: fid(FI_CLASS_CQ, context, &QUEUE_FID_OPS),
                ops: &raw const QUEUE_OPS,
                number: session.lock().engine().completions.new_queue(),
            },
            entry,
        };
        // SAFETY: it is where the object goes.
        unsafe { give(cq, object) };
        Ok(0)
    })
}

/// Rings timers that are due, if the thread's call waits for an end.
fn ring(session: &Session) {
    if thread::blocks() {
        session.ring();
    }
}

unsafe extern "C" fn read(cq: *mut FidCq, entries: *mut c_void, count: usize) -> isize {
    // SAFETY: passed on.
    unsafe { readfrom(cq, entries, count, std::ptr::null_mut()) }
}

unsafe extern "C" fn readfrom(
    cq: *mut FidCq,
    entries: *mut c_void,
    count: usize,
    sources: *mut u64,
) -> isize {
    in_session(|session| {
        // SAFETY: it is a queue of ours.
        let (number, length) = unsafe {
            let queue = &*cq.cast::<Queue>();
            (queue.cq.number, queue.entry)
        };
        ring(session);
        let mut state = session.lock();
        if state.engine().completions.first(number).is_none() {
            session.look(&mut state);
        }
        let completions = &mut state.engine().completions;
        let mut taken = 0;
        while taken < count {
            match completions.first(number) {
                Some(Completion::Done(entry, source)) => {
                    // SAFETY: there is room for this many entries in the queue's format, whose
                    // layout is the beginning of the longest one's, and for as many sources, if
                    // they are wanted.
                    unsafe {
                        let place = entries.cast::<u8>().add(taken * length);
                        place.copy_from_nonoverlapping((&raw const entry).cast(), length);
                        if !sources.is_null() {
                            sources.add(taken).write(source);
                        }
                    }
                    completions.take(number);
                    taken += 1;
                }
                Some(Completion::Failed(_)) if taken == 0 => return Err(-FI_EAVAIL),
                Some(Completion::Failed(_)) | None => break,
            }
        }
        if taken == 0 {
            return Err(-FI_EAGAIN);
        }
        Ok(taken.cast_signed())
    })
}

unsafe extern "C" fn readerr(cq: *mut FidCq, place: *mut FiCqErrEntry, _flags: u64) -> isize {
    in_session(|session| {
        let mut state = session.lock();
        let completions = &mut state.engine().completions;
        // SAFETY: it is our queue, and there is room for an entry: in programs of older versions
        // for one without its last field. The program's value for its room for further data stays.
        unsafe {
            let Some(Completion::Failed(error)) = completions.first((*cq).number) else {
                return Err(-FI_EAGAIN);
            };
            (*place).entry = error.entry;
            (*place).olen = error.olen;
            (*place).err = error.err;
            (*place).prov_errno = error.prov_errno;
            (*place).err_data_size = 0;
            completions.take((*cq).number);
        }
        Ok(1)
    })
}

unsafe extern "C" fn strerror(
    _cq: *mut FidCq,
    _error: c_int,
    _data: *const c_void,
    _buffer: *mut c_char,
    _length: usize,
) -> *const c_char {
    c"an operation failed in the simulation".as_ptr()
}

pub unsafe extern "C" fn open_counter(
    _domain: *mut FidDomain,
    attr: *mut FiCntrAttr,
    cntr: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    in_session(|session| {
        // SAFETY: attributes are null or a structure.
        if unsafe { attr.as_ref() }.is_some_and(|attr| attr.events != FI_CNTR_EVENTS_COMP) {
            return Err(-FI_ENOSYS);
        }
        let object = FidCntr {
            fid: fid(FI_CLASS_CNTR, context, &COUNTER_FID_OPS),
            ops: &raw const COUNTER_OPS,
            number: session.lock().engine().completions.new_counter(),
        };
        // SAFETY: it is where the object goes.
        unsafe { give(cntr, object) };
        Ok(0)
    })
}

/// Calls a function with the session, its lock, and the number of one of our counters.
unsafe fn with_counter<R>(
    cntr: *mut FidCntr,
    act: impl FnOnce(&Session, &mut SessionState, usize) -> R,
) -> Result<R, c_int> {
    let session = session()?;
    // SAFETY: the caller's word.
    let number = unsafe { (*cntr).number };
    Ok(act(session, &mut session.lock(), number))
}

unsafe extern "C" fn counter_read(cntr: *mut FidCntr) -> u64 {
    if let Ok(session) = session() {
        ring(session);
    }
    // SAFETY: it is a counter of ours.
    let shown = unsafe {
        with_counter(cntr, |session, state, number| {
            if state.engine().completions.looks_again(number) {
                session.look(state);
            }
            state.engine().completions.show(number)
        })
    };
    shown.unwrap_or(0)
}

unsafe extern "C" fn counter_readerr(cntr: *mut FidCntr) -> u64 {
    // SAFETY: it is a counter of ours.
    let count = unsafe {
        with_counter(cntr, |_, state, number| {
            state.engine().completions.count(number)
        })
    };
    count.map_or(0, |(_, failed)| failed)
}

unsafe extern "C" fn counter_add(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: it is a counter of ours.
    answer(unsafe {
        with_counter(cntr, |_, state, number| {
            let completions = &mut state.engine().completions;
            let (done, _) = completions.count(number);
            completions.set(number, done.wrapping_add(value));
            0
        })
    })
}

unsafe extern "C" fn counter_set(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: it is a counter of ours.
    answer(unsafe {
        with_counter(cntr, |_, state, number| {
            state.engine().completions.set(number, value);
            0
        })
    })
}

/// Waits until a counter reaches a threshold, for `timeout` ms in simulated time, or for ever if
/// `timeout` is negative.
unsafe extern "C" fn counter_wait(cntr: *mut FidCntr, threshold: u64, timeout: c_int) -> c_int {
    let wait = |session: &Session, state: &mut SessionState, number| {
        let limit = u64::try_from(timeout).map_or(NEVER, |time| {
            session.now().saturating_add(time * 1_000_000_000)
        });
        let (_, failed) = state.engine().completions.count(number);
        loop {
            let (done, failures) = state.engine().completions.count(number);
            if done >= threshold {
                return 0;
            }
            if failures > failed {
                return -FI_EAVAIL;
            }
            if session.now() >= limit {
                return -FI_ETIMEDOUT;
            }
            session.wait(state, RankWait::report(limit));
        }
    };
    // SAFETY: it is a counter of ours.
    answer(unsafe { with_counter(cntr, wait) })
}
