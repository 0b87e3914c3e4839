//! What is opened in a domain beside endpoints: address vectors and registrations of memory.
//!
//! An address vector is a table (`FI_AV_TABLE`): the number of an address is its place. Registration is "scalable": the
//! program chooses the key, places count from the beginning of the memory, and buffers of the program's own need none.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiAvAttr, FiMrAttr, IoVec};
use crate::abi::objects::{FiOps, FiOpsAv, FiOpsDomain, FiOpsMr, Fid, FidAv, FidDomain, FidMr};
use crate::abi::{
    FI_ADDR_NOTAVAIL, FI_CLASS_AV, FI_CLASS_MR, FI_EINVAL, FI_ENOKEY, FI_ENOSYS, UNUSED,
};
use crate::fabric::{fid, give, no_bind, no_control, release, session};
use crate::memory::Span;
use crate::{address, completion, endpoint};
use std::ffi::{c_char, c_int, c_void};

pub static OPS: FiOpsDomain = FiOpsDomain {
    size: size_of::<FiOpsDomain>(),
    av_open,
    cq_open: completion::open_queue,
    endpoint: endpoint::open,
    scalable_ep: UNUSED,
    cntr_open: completion::open_counter,
    poll_open: UNUSED,
    stx_ctx: UNUSED,
    srx_ctx: UNUSED,
    query_atomic: UNUSED,
    query_collective: UNUSED,
};

pub static MEMORY_OPS: FiOpsMr = FiOpsMr {
    size: size_of::<FiOpsMr>(),
    reg,
    regv,
    regattr,
};

static AV_FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close: av_close,
    bind: no_bind,
    control: no_control,
    ops_open: UNUSED,
    tostr: UNUSED,
    ops_set: UNUSED,
};

static AV_OPS: FiOpsAv = FiOpsAv {
    size: size_of::<FiOpsAv>(),
    insert: av_insert,
    insertsvc: UNUSED,
    insertsym: UNUSED,
    remove: av_remove,
    lookup: av_lookup,
    straddr: av_straddr,
};

static MR_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close: mr_close,
    bind: mr_bind,
    control: mr_control,
    ops_open: UNUSED,
    tostr: UNUSED,
    ops_set: UNUSED,
};

/// The rank of an entry that was removed.
const NOBODY: u32 = u32::MAX;

unsafe extern "C" fn av_open(
    _domain: *mut FidDomain,
    attr: *mut FiAvAttr,
    av: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    // SAFETY: attributes are null or a structure. Tables with names would be shared between processes.
    if unsafe { attr.as_ref() }.is_some_and(|attr| attr.name != 0) {
        return -FI_ENOSYS;
    }
    let mut state = session.lock();
    state.engine.vectors.push(Vec::new());
    let object = FidAv {
        fid: fid(FI_CLASS_AV, context, &AV_FID_OPS),
        ops: &raw const AV_OPS,
        number: state.engine.vectors.len() - 1,
    };
    // SAFETY: it is where the object goes.
    unsafe { give(av, object) };
    0
}

unsafe extern "C" fn av_close(fid: *mut Fid) -> c_int {
    // SAFETY: the program closes what it has opened, once.
    unsafe { release::<FidAv>(fid) };
    0
}

unsafe extern "C" fn av_insert(
    av: *mut FidAv,
    addresses: *const c_void,
    count: usize,
    numbers: *mut u64,
    _flags: u64,
    _context: *mut c_void,
) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    let mut state = session.lock();
    // SAFETY: so many addresses of our length lie there, and there is room for as many numbers, or none is wanted.
    let (vector, addresses) = unsafe {
        let addresses = std::slice::from_raw_parts(addresses.cast::<u8>(), count * address::LENGTH);
        (&mut state.engine.vectors[(*av).number], addresses)
    };
    let mut inserted = 0;
    for (place, text) in addresses.chunks(address::LENGTH).enumerate() {
        let mut number = FI_ADDR_NOTAVAIL;
        if let Some(rank) = address::rank(text) {
            number = vector.len() as u64;
            vector.push(rank);
            inserted += 1;
        }
        if !numbers.is_null() {
            // SAFETY: as above.
            unsafe { numbers.add(place).write(number) };
        }
    }
    inserted
}

unsafe extern "C" fn av_remove(
    av: *mut FidAv,
    numbers: *mut u64,
    count: usize,
    _flags: u64,
) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    let mut state = session.lock();
    // SAFETY: so many numbers lie there.
    let (vector, numbers) = unsafe {
        let numbers = std::slice::from_raw_parts(numbers, count);
        (&mut state.engine.vectors[(*av).number], numbers)
    };
    for &number in numbers {
        match vector.get_mut(number as usize) {
            Some(entry) => *entry = NOBODY,
            None => return -FI_EINVAL,
        }
    }
    0
}

unsafe extern "C" fn av_lookup(
    av: *mut FidAv,
    number: u64,
    text: *mut c_void,
    length: *mut usize,
) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    let state = session.lock();
    // SAFETY: it is an address vector of ours.
    let vector = unsafe { &state.engine.vectors[(*av).number] };
    let rank = vector.get(number as usize).filter(|&&rank| rank != NOBODY);
    let Some(&rank) = rank else {
        return -FI_EINVAL;
    };
    // SAFETY: there is room for as many bytes as `length` says, and it is told how many there would be.
    unsafe {
        let bytes = address::of(rank);
        let now = bytes.len().min(*length);
        text.cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), now);
        *length = bytes.len();
    }
    0
}

unsafe extern "C" fn av_straddr(
    _av: *mut FidAv,
    text: *const c_void,
    buffer: *mut c_char,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: an address is a text already; there is room for as many bytes as `length` says.
    unsafe {
        let now = address::LENGTH.min(*length);
        buffer.copy_from_nonoverlapping(text.cast(), now);
        if now > 0 {
            *buffer.add(now - 1) = 0;
        }
        *length = address::LENGTH;
    }
    buffer
}

unsafe extern "C" fn reg(
    _domain: *mut Fid,
    start: *const u8,
    length: usize,
    access: u64,
    _offset: u64,
    key: u64,
    _flags: u64,
    mr: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    // SAFETY: the memory is the program's to register, until it closes the registration.
    let memory = unsafe { Span::new(start, length) };
    if !session.lock().engine.regions.open(key, memory, access) {
        return -FI_ENOKEY;
    }
    let object = FidMr {
        fid: fid(FI_CLASS_MR, context, &MR_OPS),
        mem_desc: std::ptr::null_mut(),
        key,
    };
    // SAFETY: it is where the object goes.
    unsafe { give(mr, object) };
    0
}

unsafe extern "C" fn regv(
    domain: *mut Fid,
    list: *const IoVec,
    count: usize,
    access: u64,
    offset: u64,
    key: u64,
    flags: u64,
    mr: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    if count != 1 {
        return -FI_EINVAL;
    }
    // SAFETY: there is one entry; the rest is passed on.
    unsafe {
        let IoVec { base, length } = *list;
        reg(
            domain, base, length, access, offset, key, flags, mr, context,
        )
    }
}

unsafe extern "C" fn regattr(
    domain: *mut Fid,
    attr: *const FiMrAttr,
    flags: u64,
    mr: *mut *mut Fid,
) -> c_int {
    // SAFETY: there is a structure; the rest is passed on.
    unsafe {
        let attr = &*attr;
        let context = std::ptr::with_exposed_provenance_mut(attr.context);
        regv(
            domain,
            attr.mr_iov,
            attr.iov_count,
            attr.access,
            attr.offset,
            attr.requested_key,
            flags,
            mr,
            context,
        )
    }
}

unsafe extern "C" fn mr_close(fid: *mut Fid) -> c_int {
    // SAFETY: it is a registration of ours, which the program closes once.
    unsafe {
        if let Ok(session) = session() {
            session
                .lock()
                .engine
                .regions
                .close((*fid.cast::<FidMr>()).key);
        }
        release::<FidMr>(fid);
    }
    0
}

/// A registration is for all endpoints and tells no counter.
unsafe extern "C" fn mr_bind(_fid: *mut Fid, _other: *mut Fid, _flags: u64) -> c_int {
    0
}

/// A registration is there as soon as it is opened.
unsafe extern "C" fn mr_control(_fid: *mut Fid, _command: c_int, _arg: *mut c_void) -> c_int {
    0
}
