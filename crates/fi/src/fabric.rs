//! The fabric and the domain. A process that opens the domain becomes a rank in the simulation. It
//! leaves the simulation when it closes the domain, and may open the domain once more. There is one
//! domain at a time, and one endpoint in it.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::info::{FiFabricAttr, FiInfo};
use crate::abi::objects::{FiOps, FiOpsFabric, Fid, FidDomain, FidFabric};
use crate::abi::{FI_CLASS_DOMAIN, FI_CLASS_FABRIC, FI_EBUSY, FI_ENODEV, UNUSED};
use crate::object::{close, fid, fid_ops, give};
use crate::{attach, domain};
use rank::{record, session};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

static FABRIC_OPS: FiOps = fid_ops(close::<FidFabric>);

static OPS: FiOpsFabric = FiOpsFabric {
    size: size_of::<FiOpsFabric>(),
    domain: open_domain,
    others: [UNUSED; 4],
};

static DOMAIN_OPS: FiOps = fid_ops(close_domain);

/// Opens the fabric.
pub unsafe extern "C" fn open(
    _attr: *mut FiFabricAttr,
    fabric: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    let object = FidFabric {
        fid: fid(FI_CLASS_FABRIC, context, &FABRIC_OPS),
        ops: &raw const OPS,
        api_version: 0,
    };
    // SAFETY: it is where the object goes.
    unsafe { give(fabric, object) };
    0
}

static OPEN: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn open_domain(
    _fabric: *mut FidFabric,
    _info: *mut FiInfo,
    domain: *mut *mut Fid,
    context: *mut c_void,
) -> c_int {
    if OPEN.swap(true, Ordering::AcqRel) {
        return -FI_EBUSY;
    }
    if let Err(error) = attach::join() {
        eprintln!("elanite: {error}");
        OPEN.store(false, Ordering::Release);
        return -FI_ENODEV;
    }
    let object = FidDomain {
        fid: fid(FI_CLASS_DOMAIN, context, &DOMAIN_OPS),
        ops: &raw const domain::OPS,
        mr: &raw const domain::MEMORY_OPS,
    };
    // SAFETY: it is where the object goes.
    unsafe { give(domain, object) };
    0
}

unsafe extern "C" fn close_domain(fid: *mut Fid) -> c_int {
    if let Some(session) = session::get() {
        record::concluded(session);
        // Our own libraries stay in the simulation until the process ends.
        if !session::is_kept() {
            session.finish();
        }
    }
    OPEN.store(false, Ordering::Release);
    // SAFETY: libfabric closes what it has opened, once.
    unsafe { close::<FidDomain>(fid) }
}
