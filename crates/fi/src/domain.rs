//! A domain's objects besides endpoints: address vectors and memory registrations.
//!
//! An address vector is a table (`FI_AV_TABLE`): an address's number is its place. Registration is
//! "scalable": the program chooses the key, places count from the beginning of the memory, and the
//! program's own buffers need no registration.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiAvAttr, FiMrAttr, IoVec};
use crate::abi::objects::{FiOps, FiOpsAv, FiOpsDomain, FiOpsMr, Fid, FidAv, FidDomain, FidMr};
use crate::abi::{
    FI_ADDR_NOTAVAIL, FI_CLASS_AV, FI_CLASS_MR, FI_EINVAL, FI_ENOKEY, FI_ENOSYS, UNUSED,
};
use crate::address::{self, AddressVector};
use crate::object::{close, fid, fid_ops, give, in_session, session};
use crate::progress::HasEngine;
use crate::{completion, endpoint};
use rank::memory::Span;
use std::ffi::{c_char, c_int, c_void};

pub static OPS: FiOpsDomain = FiOpsDomain {
    size: size_of::<FiOpsDomain>(),
    av_open,
    cq_open: completion::open_queue,
    endpoint: endpoint::open,
    scalable_ep: UNUSED,
    cntr_open: completion::open_counter,
    others: [UNUSED; 5],
};

pub static MEMORY_OPS: FiOpsMr = FiOpsMr {
    size: size_of::<FiOpsMr>(),
    reg,
    regv,
    regattr,
};

static AV_FID_OPS: FiOps = fid_ops(close::<FidAv>);

static AV_OPS: FiOpsAv = FiOpsAv {
    size: size_of::<FiOpsAv>(),
    insert: av_insert,
    inserts: [UNUSED; 2],
    remove: av_remove,
    lookup: av_lookup,
    straddr: av_straddr,
};

static MR_OPS: FiOps = FiOps {
    bind: mr_bind,
    control: mr_control,
    ..fid_ops(mr_close)
};

unsafe extern "C" fn av_open(
    _domain: *mut FidDomain,
    attr: *mut FiAvAttr,
    av: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    in_session(|session| {
        // SAFETY: attributes are null or a structure. Tables with names would be shared between
        // processes.
        if unsafe { attr.as_ref() }.is_some_and(|attr| attr.name != 0) {
            return Err(-FI_ENOSYS);
        }
        let mut state = session.lock();
        let vectors = &mut state.engine().vectors;
        vectors.push(AddressVector::default());
        let object = FidAv {
            fid: fid(FI_CLASS_AV, context, &AV_FID_OPS),
            ops: &raw const AV_OPS,
            number: vectors.len() - 1,
        };
        // SAFETY: it is where the object goes.
        unsafe { give(av, object) };
        Ok(0)
    })
}

/// Calls a function with our address vector.
unsafe fn with_vector(
    av: *mut FidAv,
    act: impl FnOnce(&mut AddressVector) -> Result<c_int, c_int>,
) -> c_int {
    in_session(|session| {
        let mut state = session.lock();
        // SAFETY: the caller's word.
        act(&mut state.engine().vectors[unsafe { (*av).number }])
    })
}

unsafe extern "C" fn av_insert(
    av: *mut FidAv,
    addresses: *const c_void,
    count: usize,
    numbers: *mut u64,
    _flags: u64,
    _context: *mut c_void,
) -> c_int {
    // SAFETY: it is an address vector; this many addresses of our length lie there, and there is
    // room for as many numbers, or no numbers are wanted.
    unsafe {
        let addresses = std::slice::from_raw_parts(addresses.cast::<u8>(), count * address::LENGTH);
        with_vector(av, |vector| {
            let mut inserted = 0;
            for (place, text) in addresses.chunks(address::LENGTH).enumerate() {
                let number = address::rank(text).map(|rank| vector.insert(rank));
                inserted += c_int::from(number.is_some());
                if !numbers.is_null() {
                    numbers.add(place).write(number.unwrap_or(FI_ADDR_NOTAVAIL));
                }
            }
            Ok(inserted)
        })
    }
}

unsafe extern "C" fn av_remove(
    av: *mut FidAv,
    numbers: *mut u64,
    count: usize,
    _flags: u64,
) -> c_int {
    // SAFETY: it is an address vector, and this many numbers lie there.
    unsafe {
        let mut numbers = std::slice::from_raw_parts(numbers, count).iter();
        with_vector(av, |vector| {
            let all = numbers.all(|&number| vector.remove(number));
            if all { Ok(0) } else { Err(-FI_EINVAL) }
        })
    }
}

unsafe extern "C" fn av_lookup(
    av: *mut FidAv,
    number: u64,
    text: *mut c_void,
    length: *mut usize,
) -> c_int {
    // SAFETY: it is an address vector; there is room for `length` bytes, and `length` receives how
    // many there would be.
    unsafe {
        with_vector(av, |vector| {
            let bytes = address::of(vector.rank(number).ok_or(-FI_EINVAL)?);
            let now = bytes.len().min(*length);
            let text = text.cast::<u8>();
            text.copy_from_nonoverlapping(bytes.as_ptr(), now);
            *length = bytes.len();
            Ok(0)
        })
    }
}

unsafe extern "C" fn av_straddr(
    _av: *mut FidAv,
    text: *const c_void,
    buffer: *mut c_char,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: an address is a text already; there is room for `length` bytes.
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
    in_session(|session| {
        // SAFETY: the memory is the program's to register, until it closes the registration.
        let memory = unsafe { Span::new(start, length) };
        if !session.lock().engine().regions.open(key, memory, access) {
            return Err(-FI_ENOKEY);
        }
        let object = FidMr {
            fid: fid(FI_CLASS_MR, context, &MR_OPS),
            mem_desc: std::ptr::null_mut(),
            key,
        };
        // SAFETY: it is where the object goes.
        unsafe { give(mr, object) };
        Ok(0)
    })
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
        let &FiMrAttr {
            mr_iov,
            iov_count,
            access,
            offset,
            requested_key: key,
            context,
        } = &*attr;
        let context = std::ptr::with_exposed_provenance_mut(context);
        regv(
            domain, mr_iov, iov_count, access, offset, key, flags, mr, context,
        )
    }
}

unsafe extern "C" fn mr_close(fid: *mut Fid) -> c_int {
    // SAFETY: it is a registration of ours, which the program closes once.
    unsafe {
        if let Ok(session) = session() {
            let key = (*fid.cast::<FidMr>()).key;
            session.lock().engine().regions.close(key);
        }
        close::<FidMr>(fid)
    }
}

/// Refuses: a registration is for all endpoints and notifies no counter.
unsafe extern "C" fn mr_bind(_fid: *mut Fid, _other: *mut Fid, _flags: u64) -> c_int {
    0
}

/// Does no work: a registration is valid as soon as it is opened.
unsafe extern "C" fn mr_control(_fid: *mut Fid, _command: c_int, _arg: *mut c_void) -> c_int {
    0
}
