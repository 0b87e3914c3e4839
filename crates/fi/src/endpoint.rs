//! The endpoint that libfabric opens, binds, asks for options, and closes.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::info::FiInfo;
use crate::abi::objects::{FiOps, FiOpsCm, FiOpsEp, Fid, FidAv, FidCntr, FidCq, FidDomain, FidEp};
use crate::abi::{
    FI_ADDR_UNSPEC, FI_CLASS_AV, FI_CLASS_CNTR, FI_CLASS_CQ, FI_CLASS_EP, FI_EBUSY, FI_EINVAL,
    FI_ENABLE, FI_ENOPROTOOPT, FI_ENOSYS, FI_EOPBADSTATE, FI_ETOOSMALL, FI_OPT_ENDPOINT,
    FI_OPT_MIN_MULTI_RECV, Pointer, UNUSED,
};
use crate::object::{self, answer, fid, fid_ops, give, in_session, session};
use crate::operation::call;
use crate::progress::HasEngine;
use crate::progress::bindings::Bindings;
use crate::{address, messages, rma};
use link::Order;
use std::ffi::{c_int, c_void};

static FID_OPS: FiOps = FiOps {
    bind,
    control,
    ..fid_ops(close)
};

static OPS: FiOpsEp = FiOpsEp {
    size: size_of::<FiOpsEp>(),
    cancel,
    getopt,
    setopt,
    others: [UNUSED; 4],
};

static CM_OPS: FiOpsCm = FiOpsCm {
    size: size_of::<FiOpsCm>(),
    setname: UNUSED,
    getname,
    others: [UNUSED; 7],
};

/// Opens the endpoint.
pub unsafe extern "C" fn open(
    _domain: *mut FidDomain,
    info: *mut FiInfo,
    ep: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    in_session(|session| {
        let mut state = session.lock();
        let endpoint = &mut state.engine().endpoint;
        if endpoint.is_some() {
            return Err(-FI_EBUSY);
        }
        // SAFETY: the information is null or a structure, whose parts are null or structures.
        let (tx_flags, rx_flags) = unsafe {
            let info = info.as_ref();
            let tx = info.and_then(|info| info.tx_attr.as_ref());
            let rx = info.and_then(|info| info.rx_attr.as_ref());
            (
                tx.map_or(0, |tx| tx.op_flags),
                rx.map_or(0, |rx| rx.op_flags),
            )
        };
        *endpoint = Some(Bindings::new(tx_flags, rx_flags));
        let object = FidEp {
            fid: fid(FI_CLASS_EP, context, &FID_OPS),
            ops: &raw const OPS,
            cm: &raw const CM_OPS,
            msg: &raw const messages::OPS,
            rma: &raw const rma::OPS,
            tagged: &raw const messages::TAGGED_OPS,
            atomic: &raw const rma::atomics::OPS,
            collective: std::ptr::null(),
        };
        // SAFETY: it is where the object goes.
        unsafe { give(ep, object) };
        Ok(0)
    })
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    if let Ok(session) = session() {
        session.lock().engine().close_endpoint();
    }
    // SAFETY: the program closes what it has opened, once.
    unsafe { object::close::<FidEp>(fid) }
}

unsafe extern "C" fn bind(_fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    in_session(|session| {
        let mut state = session.lock();
        let endpoint = &mut state.engine().endpoint;
        let bindings = endpoint.as_mut().ok_or(-FI_EOPBADSTATE)?;
        // SAFETY: the bound object is one of this provider, and its class identifies it.
        unsafe {
            match (*other).class {
                FI_CLASS_AV => bindings.vector = Some((*other.cast::<FidAv>()).number),
                FI_CLASS_CQ => bindings.bind_queue((*other.cast::<FidCq>()).number, flags),
                FI_CLASS_CNTR => bindings.bind_counter((*other.cast::<FidCntr>()).number, flags),
                _ => return Err(-FI_ENOSYS),
            }
        }
        Ok(0)
    })
}

unsafe extern "C" fn control(_fid: *mut Fid, command: c_int, _arg: *mut c_void) -> c_int {
    if command == FI_ENABLE { 0 } else { -FI_ENOSYS }
}

unsafe extern "C" fn cancel(_fid: *mut Fid, context: Pointer) -> isize {
    answer(call(FI_ADDR_UNSPEC).map(|mut call| {
        if let Some(id) = call.state.engine().cancel(context) {
            call.say(id, Order::Cancel);
        }
        0
    }))
}

/// Whether an option is the only one that the endpoint has.
fn known(level: c_int, option: c_int) -> Result<(), c_int> {
    let known = (level, option) == (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV);
    if known { Ok(()) } else { Err(-FI_ENOPROTOOPT) }
}

unsafe extern "C" fn getopt(
    _fid: *mut Fid,
    level: c_int,
    option: c_int,
    value: *mut c_void,
    length: *mut usize,
) -> c_int {
    answer(call(FI_ADDR_UNSPEC).and_then(|call| {
        known(level, option)?;
        // SAFETY: there is room for this many bytes.
        unsafe {
            if *length < size_of::<usize>() {
                return Err(-FI_ETOOSMALL);
            }
            let value = value.cast::<usize>();
            value.write_unaligned(call.bindings().least_room);
            *length = size_of::<usize>();
        }
        Ok(0)
    }))
}

unsafe extern "C" fn setopt(
    _fid: *mut Fid,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: usize,
) -> c_int {
    in_session(|session| {
        known(level, option)?;
        if length != size_of::<usize>() {
            return Err(-FI_EINVAL);
        }
        let mut state = session.lock();
        let endpoint = &mut state.engine().endpoint;
        let bindings = endpoint.as_mut().ok_or(-FI_EOPBADSTATE)?;
        // SAFETY: this many bytes lie there.
        bindings.least_room = unsafe { value.cast::<usize>().read_unaligned() };
        Ok(0)
    })
}

unsafe extern "C" fn getname(_fid: *mut Fid, place: *mut c_void, length: *mut usize) -> c_int {
    in_session(|session| {
        let own = address::of(session.rank().0);
        // SAFETY: there is room for this many bytes, and the length receives how many there are.
        unsafe {
            let room = std::mem::replace(&mut *length, own.len());
            if room < own.len() {
                return Err(-FI_ETOOSMALL);
            }
            let place = place.cast::<u8>();
            place.copy_from_nonoverlapping(own.as_ptr(), own.len());
        }
        Ok(0)
    })
}
