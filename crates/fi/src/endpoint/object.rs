//! The endpoint as libfabric knows it: opened, bound, asked for options, closed.

#![allow(unsafe_code)] // the interface is one of C pointers

use super::{Endpoint, call};
use crate::abi::info::FiInfo;
use crate::abi::objects::{FiOps, FiOpsCm, FiOpsEp, Fid, FidAv, FidCntr, FidCq, FidDomain, FidEp};
use crate::abi::{
    Address, FI_CLASS_AV, FI_CLASS_CNTR, FI_CLASS_CQ, FI_CLASS_EP, FI_EBUSY, FI_EINVAL, FI_ENABLE,
    FI_ENOPROTOOPT, FI_ENOSYS, FI_EOPBADSTATE, FI_ETOOSMALL, FI_OPT_ENDPOINT,
    FI_OPT_MIN_MULTI_RECV, FI_READ, FI_RECV, FI_SELECTIVE_COMPLETION, FI_SEND, FI_WRITE, UNUSED,
};
use crate::fabric::{fid, give, release, session};
use crate::{address, message, rma, tagged};
use link::{Order, OrderKind};
use std::ffi::{c_int, c_void};

static FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close,
    bind,
    control,
    ops_open: UNUSED,
    tostr: UNUSED,
    ops_set: UNUSED,
};

static OPS: FiOpsEp = FiOpsEp {
    size: size_of::<FiOpsEp>(),
    cancel,
    getopt,
    setopt,
    tx_ctx: UNUSED,
    rx_ctx: UNUSED,
    rx_size_left: UNUSED,
    tx_size_left: UNUSED,
};

static CM_OPS: FiOpsCm = FiOpsCm {
    size: size_of::<FiOpsCm>(),
    setname: UNUSED,
    getname,
    getpeer: UNUSED,
    connect: UNUSED,
    listen: UNUSED,
    accept: UNUSED,
    reject: UNUSED,
    shutdown: UNUSED,
    join: UNUSED,
};

pub unsafe extern "C" fn open(
    _domain: *mut FidDomain,
    info: *mut FiInfo,
    ep: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    let mut state = session.lock();
    if state.engine.endpoint.is_some() {
        return -FI_EBUSY;
    }
    // SAFETY: the information is null or a structure, whose parts are null or structures.
    let (tx_flags, rx_flags) = unsafe {
        info.as_ref().map_or((0, 0), |info| {
            (
                info.tx_attr.as_ref().map_or(0, |tx| tx.op_flags),
                info.rx_attr.as_ref().map_or(0, |rx| rx.op_flags),
            )
        })
    };
    let mut endpoint = Endpoint::default();
    endpoint.transmit.flags = tx_flags;
    endpoint.receive.flags = rx_flags;
    state.engine.endpoint = Some(endpoint);
    let object = FidEp {
        fid: fid(FI_CLASS_EP, context, &FID_OPS),
        ops: &raw const OPS,
        cm: &raw const CM_OPS,
        msg: &raw const message::OPS,
        rma: &raw const rma::OPS,
        tagged: &raw const tagged::OPS,
        atomic: std::ptr::null(),
        collective: std::ptr::null(),
    };
    // SAFETY: it is where the object goes.
    unsafe { give(ep, object) };
    0
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    if let Ok(session) = session() {
        session.lock().engine.close_endpoint();
    }
    // SAFETY: the program closes what it has opened, once.
    unsafe { release::<FidEp>(fid) };
    0
}

unsafe extern "C" fn bind(_fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    let mut state = session.lock();
    let Some(endpoint) = state.engine.endpoint.as_mut() else {
        return -FI_EOPBADSTATE;
    };
    let has = |flag| flags & flag != 0;
    // SAFETY: what is bound is an object of this provider, whose class says which.
    unsafe {
        match (*other).class {
            FI_CLASS_AV => endpoint.vector = Some((*other.cast::<FidAv>()).number),
            FI_CLASS_CQ => {
                let queue = Some((*other.cast::<FidCq>()).number);
                let selective = has(FI_SELECTIVE_COMPLETION);
                if has(FI_SEND) {
                    endpoint.transmit.queue = queue;
                    endpoint.transmit.selective = selective;
                }
                if has(FI_RECV) {
                    endpoint.receive.queue = queue;
                    endpoint.receive.selective = selective;
                }
            }
            FI_CLASS_CNTR => {
                let counter = Some((*other.cast::<FidCntr>()).number);
                for (flag, place) in [
                    (FI_SEND, &mut endpoint.send_counter),
                    (FI_RECV, &mut endpoint.receive_counter),
                    (FI_READ, &mut endpoint.read_counter),
                    (FI_WRITE, &mut endpoint.write_counter),
                ] {
                    if has(flag) {
                        *place = counter;
                    }
                }
            }
            _ => return -FI_ENOSYS,
        }
    }
    0
}

unsafe extern "C" fn control(_fid: *mut Fid, command: c_int, _arg: *mut c_void) -> c_int {
    if command == FI_ENABLE { 0 } else { -FI_ENOSYS }
}

unsafe extern "C" fn cancel(_fid: *mut Fid, context: Address) -> isize {
    let mut call = match call(crate::abi::FI_ADDR_UNSPEC) {
        Ok(call) => call,
        Err(error) => return error as isize,
    };
    let engine = &mut call.state.engine;
    if engine.untagged.cancel(context, &mut engine.completions) {
        return 0;
    }
    if let Some(id) = engine.find(context) {
        call.say(Order {
            id,
            ..Order::new(OrderKind::Cancel, 0)
        });
    }
    0
}

unsafe extern "C" fn getopt(
    _fid: *mut Fid,
    level: c_int,
    option: c_int,
    value: *mut c_void,
    length: *mut usize,
) -> c_int {
    let call = match call(crate::abi::FI_ADDR_UNSPEC) {
        Ok(call) => call,
        Err(error) => return error,
    };
    if (level, option) != (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV) {
        return -FI_ENOPROTOOPT;
    }
    // SAFETY: there is room for so many bytes.
    unsafe {
        if *length < size_of::<usize>() {
            return -FI_ETOOSMALL;
        }
        value
            .cast::<usize>()
            .write_unaligned(call.endpoint().least_room);
        *length = size_of::<usize>();
    }
    0
}

unsafe extern "C" fn setopt(
    _fid: *mut Fid,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: usize,
) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    if (level, option) != (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV) {
        return -FI_ENOPROTOOPT;
    }
    if length != size_of::<usize>() {
        return -FI_EINVAL;
    }
    let mut state = session.lock();
    let Some(endpoint) = state.engine.endpoint.as_mut() else {
        return -FI_EOPBADSTATE;
    };
    // SAFETY: so many bytes lie there.
    endpoint.least_room = unsafe { value.cast::<usize>().read_unaligned() };
    0
}

unsafe extern "C" fn getname(_fid: *mut Fid, place: *mut c_void, length: *mut usize) -> c_int {
    let session = match session() {
        Ok(session) => session,
        Err(error) => return error,
    };
    let own = address::of(session.rank().0);
    // SAFETY: there is room for so many bytes, and it is told how many there are.
    unsafe {
        let room = std::mem::replace(&mut *length, own.len());
        if room < own.len() {
            return -FI_ETOOSMALL;
        }
        place
            .cast::<u8>()
            .copy_from_nonoverlapping(own.as_ptr(), own.len());
    }
    0
}
