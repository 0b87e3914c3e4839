//! Completion queues and counters: where the program looks for what has ended, and where time passes while nothing has.
//!
//! A look at a queue that is empty, or at a counter that shows what it showed before while something is under way, is
//! how an MPI library waits. Simulated time then goes on to the next report, or by a step; see
//! [`Session::look`](crate::session::Session::look).

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiCntrAttr, FiCqAttr, FiCqErrEntry, FiCqTaggedEntry};
use crate::abi::objects::{FiOps, FiOpsCntr, FiOpsCq, Fid, FidCntr, FidCq, FidDomain};
use crate::abi::{
    FI_CLASS_CNTR, FI_CLASS_CQ, FI_CNTR_EVENTS_COMP, FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_DATA,
    FI_CQ_FORMAT_MSG, FI_CQ_FORMAT_TAGGED, FI_CQ_FORMAT_UNSPEC, FI_EAGAIN, FI_EAVAIL, FI_ENOSYS,
    FI_ETIMEDOUT, UNUSED,
};
use crate::fabric::{fid, give, no_bind, no_control, release, session};
use crate::progress::completions::Completion;
use link::{Flags, NEVER};
use std::ffi::{c_char, c_int, c_void};

static QUEUE_FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close: close_queue,
    bind: no_bind,
    control: no_control,
    ops_open: UNUSED,
    tostr: UNUSED,
    ops_set: UNUSED,
};

static QUEUE_OPS: FiOpsCq = FiOpsCq {
    size: size_of::<FiOpsCq>(),
    read,
    readfrom,
    readerr,
    sread: UNUSED,
    sreadfrom: UNUSED,
    signal: UNUSED,
    strerror,
};

static COUNTER_FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close: close_counter,
    bind: no_bind,
    control: no_control,
    ops_open: UNUSED,
    tostr: UNUSED,
    ops_set: UNUSED,
};

static COUNTER_OPS: FiOpsCntr = FiOpsCntr {
    size: size_of::<FiOpsCntr>(),
    read: counter_read,
    readerr: counter_readerr,
    add: counter_add,
    set: counter_set,
    wait: counter_wait,
};

/// A queue of ours: what the progress engine calls it, and how much of an entry the program wants.
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
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    // SAFETY: attributes are null or a structure.
    let format = unsafe { attr.as_ref() }.map_or(FI_CQ_FORMAT_UNSPEC, |attr| attr.format);
    let entry = match format {
        FI_CQ_FORMAT_CONTEXT => 8,
        FI_CQ_FORMAT_MSG => 24,
        FI_CQ_FORMAT_DATA => 40,
        FI_CQ_FORMAT_UNSPEC | FI_CQ_FORMAT_TAGGED => size_of::<FiCqTaggedEntry>(),
        _ => return -FI_ENOSYS,
    };
    let object = Queue {
        cq: FidCq {
            fid: fid(FI_CLASS_CQ, context, &QUEUE_FID_OPS),
            ops: &raw const QUEUE_OPS,
            number: session.lock().engine.completions.new_queue(),
        },
        entry,
    };
    // SAFETY: it is where the object goes.
    unsafe { give(cq, object) };
    0
}

unsafe extern "C" fn close_queue(fid: *mut Fid) -> c_int {
    // SAFETY: the program closes what it has opened, once.
    unsafe { release::<Queue>(fid) };
    0
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
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error as isize,
    };
    // SAFETY: it is a queue of ours.
    let (number, length) = unsafe {
        let queue = &*cq.cast::<Queue>();
        (queue.cq.number, queue.entry)
    };
    let mut state = session.lock();
    if state.engine.completions.first(number).is_none() {
        session.look(&mut state);
    }
    let completions = &mut state.engine.completions;
    let mut taken = 0;
    while taken < count {
        match completions.first(number) {
            Some(Completion::Done(entry, source)) => {
                // SAFETY: there is room for so many entries of the queue's format, whose layout is the beginning of the
                // longest one's, and for as many sources, if they are wanted.
                unsafe {
                    entries
                        .cast::<u8>()
                        .add(taken * length)
                        .copy_from_nonoverlapping((&raw const entry).cast(), length);
                    if !sources.is_null() {
                        sources.add(taken).write(source);
                    }
                }
                completions.take(number);
                taken += 1;
            }
            Some(Completion::Failed(_)) if taken == 0 => return -(FI_EAVAIL as isize),
            Some(Completion::Failed(_)) | None => break,
        }
    }
    if taken == 0 {
        -(FI_EAGAIN as isize)
    } else {
        taken.cast_signed()
    }
}

unsafe extern "C" fn readerr(cq: *mut FidCq, place: *mut FiCqErrEntry, _flags: u64) -> isize {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error as isize,
    };
    let mut state = session.lock();
    // SAFETY: it is a queue of ours, and there is room for an entry: in programs of older versions for one without its
    // last field. What the program says of its room for further data stays.
    unsafe {
        let Some(Completion::Failed(error)) = state.engine.completions.first((*cq).number) else {
            return -(FI_EAGAIN as isize);
        };
        let FiCqErrEntry {
            op_context,
            flags,
            len,
            buf,
            data,
            tag,
            olen,
            err,
            prov_errno,
            ..
        } = error;
        (*place).op_context = op_context;
        (*place).flags = flags;
        (*place).len = len;
        (*place).buf = buf;
        (*place).data = data;
        (*place).tag = tag;
        (*place).olen = olen;
        (*place).err = err;
        (*place).prov_errno = prov_errno;
        (*place).err_data_size = 0;
        state.engine.completions.take((*cq).number);
    }
    1
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
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    // SAFETY: attributes are null or a structure.
    if unsafe { attr.as_ref() }.is_some_and(|attr| attr.events != FI_CNTR_EVENTS_COMP) {
        return -FI_ENOSYS;
    }
    let object = FidCntr {
        fid: fid(FI_CLASS_CNTR, context, &COUNTER_FID_OPS),
        ops: &raw const COUNTER_OPS,
        number: session.lock().engine.completions.new_counter(),
    };
    // SAFETY: it is where the object goes.
    unsafe { give(cntr, object) };
    0
}

unsafe extern "C" fn close_counter(fid: *mut Fid) -> c_int {
    // SAFETY: the program closes what it has opened, once.
    unsafe { release::<FidCntr>(fid) };
    0
}

unsafe extern "C" fn counter_read(cntr: *mut FidCntr) -> u64 {
    let Ok(session) = session() else {
        return 0;
    };
    // SAFETY: it is a counter of ours.
    let number = unsafe { (*cntr).number };
    let mut state = session.lock();
    if state.engine.completions.looks_again(number) {
        session.look(&mut state);
    }
    state.engine.completions.show(number)
}

unsafe extern "C" fn counter_readerr(cntr: *mut FidCntr) -> u64 {
    let Ok(session) = session() else {
        return 0;
    };
    // SAFETY: it is a counter of ours.
    let number = unsafe { (*cntr).number };
    session.lock().engine.completions.count(number).1
}

unsafe extern "C" fn counter_add(cntr: *mut FidCntr, value: u64) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    // SAFETY: it is a counter of ours.
    let number = unsafe { (*cntr).number };
    let completions = &mut session.lock().engine.completions;
    completions.set(number, completions.count(number).0.wrapping_add(value));
    0
}

unsafe extern "C" fn counter_set(cntr: *mut FidCntr, value: u64) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    // SAFETY: it is a counter of ours.
    let number = unsafe { (*cntr).number };
    session.lock().engine.completions.set(number, value);
    0
}

/// Waits until a counter has come so far, for so many milliseconds of simulated time, or for ever if it is less than 0.
unsafe extern "C" fn counter_wait(cntr: *mut FidCntr, threshold: u64, timeout: c_int) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    // SAFETY: it is a counter of ours.
    let number = unsafe { (*cntr).number };
    let limit = u64::try_from(timeout).map_or(NEVER, |time| {
        session.now().saturating_add(time * 1_000_000_000)
    });
    let flags = match limit {
        NEVER => Flags::BLOCKING,
        _ => Flags::default(),
    };
    let mut state = session.lock();
    let (_, failed) = state.engine.completions.count(number);
    loop {
        let (done, failures) = state.engine.completions.count(number);
        if done >= threshold {
            return 0;
        }
        if failures > failed {
            return -FI_EAVAIL;
        }
        if session.now() >= limit {
            return -FI_ETIMEDOUT;
        }
        session.wait(&mut state, limit, flags);
    }
}
