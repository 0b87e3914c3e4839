//! The fabric and the domain, and with them this process' part in the simulation: opening a domain makes the process a
//! rank, closing it ends that, until it is opened once more. There is one domain at a time, and one endpoint in it, as a rank is one.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::info::FiFabricAttr;
use crate::abi::info::FiInfo;
use crate::abi::objects::{FiOps, FiOpsFabric, Fid, FidDomain, FidFabric};
use crate::abi::{
    FI_CLASS_DOMAIN, FI_CLASS_FABRIC, FI_EBUSY, FI_ENODEV, FI_ENOSYS, FI_EOPBADSTATE, UNUSED,
};
use crate::calls;
use crate::domain;
use crate::session::{self, Session};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// The variables by which the usual starters of MPI programs tell a process its rank.
const RANKS: [&str; 3] = ["PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"];

/// The rank of this process.
pub fn rank() -> Option<u32> {
    let mut values = RANKS.iter().filter_map(|name| std::env::var(name).ok());
    values.find_map(|value| value.parse().ok())
}

/// The session, or the error number to return without one.
pub fn session() -> Result<&'static Session, c_int> {
    session::get().ok_or(-FI_EOPBADSTATE)
}

static FABRIC_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close: close_fabric,
    bind: no_bind,
    control: no_control,
    ops_open: UNUSED,
    tostr: UNUSED,
    ops_set: UNUSED,
};

static OPS: FiOpsFabric = FiOpsFabric {
    size: size_of::<FiOpsFabric>(),
    domain: open_domain,
    passive_ep: UNUSED,
    eq_open: UNUSED,
    wait_open: UNUSED,
    trywait: UNUSED,
};

static DOMAIN_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close: close_domain,
    bind: no_bind,
    control: no_control,
    ops_open: UNUSED,
    tostr: UNUSED,
    ops_set: UNUSED,
};

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

unsafe extern "C" fn close_fabric(fid: *mut Fid) -> c_int {
    // SAFETY: libfabric closes what it has opened, once.
    unsafe { release::<FidFabric>(fid) };
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
    if let Err(error) = join() {
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
    // SAFETY: libfabric closes what it has opened, once.
    unsafe { release::<FidDomain>(fid) };
    if let Some(session) = session::get() {
        calls::concluded(session);
        session.finish();
    }
    OPEN.store(false, Ordering::Release);
    0
}

/// Makes this process a rank of the simulation.
fn join() -> Result<(), String> {
    let path = std::env::var(link::PATH_VARIABLE)
        .map_err(|_| format!("{} is not set", link::PATH_VARIABLE))?;
    let rank = rank().ok_or_else(|| format!("none of {} is set", RANKS.join(", ")))?;
    session::attach(&path, rank).map_err(|error| error.to_string())?;
    leave_children_alone();
    Ok(())
}

/// Takes this library out of the environment, so that programs which the rank starts do without it.
fn leave_children_alone() {
    const PRELOAD: &str = "LD_PRELOAD";
    let Ok(all) = std::env::var(PRELOAD) else {
        return;
    };
    let others: Vec<&str> = all
        .split([':', ' '])
        .filter(|path| !path.is_empty() && !path.ends_with("libelanite-fi.so"))
        .collect();
    // SAFETY: MPI libraries open the domain while they are initialised, in the thread that does it; they read and change
    // the environment then, too.
    unsafe {
        if others.is_empty() {
            std::env::remove_var(PRELOAD);
        } else {
            std::env::set_var(PRELOAD, others.join(":"));
        }
    }
}

/// The beginning of an object.
pub fn fid(class: usize, context: *mut c_void, ops: &'static FiOps) -> Fid {
    Fid {
        class,
        context,
        ops: std::ptr::from_ref(ops),
    }
}

/// Gives an object to the program.
///
/// # Safety
/// It must begin with its [`Fid`], and the place must be one for a pointer.
pub unsafe fn give<T>(place: *mut *mut Fid, object: T) {
    // SAFETY: the caller's word.
    unsafe { *place = Box::into_raw(Box::new(object)).cast() };
}

/// Takes an object back that was given to the program.
///
/// # Safety
/// It must be one of this type, and the last to be heard of it.
pub unsafe fn release<T>(fid: *mut Fid) {
    // SAFETY: the caller's word.
    drop(unsafe { Box::from_raw(fid.cast::<T>()) });
}

/// For objects to which nothing is bound.
pub unsafe extern "C" fn no_bind(_fid: *mut Fid, _other: *mut Fid, _flags: u64) -> c_int {
    -FI_ENOSYS
}

/// For objects that are not controlled.
pub unsafe extern "C" fn no_control(_fid: *mut Fid, _command: c_int, _arg: *mut c_void) -> c_int {
    -FI_ENOSYS
}
