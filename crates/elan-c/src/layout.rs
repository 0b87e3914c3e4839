//! Structures with fields that programs read, as in the headers.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;

/// `ELAN_CAPABILITY`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ElanCapability {
    pub userkey: [c_uint; 4],
    pub version: c_int,
    pub kind: c_uint,
    pub lowcontext: c_int,
    pub highcontext: c_int,
    pub mycontext: c_int,
    pub lownode: c_int,
    pub highnode: c_int,
    pub railmask: c_uint,
    pub bitmap: [c_uint; 16],
}

/// `ELAN_LOCATION`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ElanLocation {
    pub node: c_int,
    pub context: c_int,
}

/// `ELAN_RAIL`.
#[repr(C)]
pub struct ElanRail {
    pub index: c_int,
    pub context: *mut c_void,
}

/// `ELAN_STATE`.
#[repr(C)]
pub struct ElanState {
    pub version: *mut c_char,
    pub attached: c_int,
    pub vp: c_uint,
    pub nvp: c_uint,
    pub ctx: *mut c_void,
    pub estate: *mut c_void,
    pub cap: *mut ElanCapability,
    pub alloc_base: *mut c_void,
    pub alloc_size: usize,
    pub alloc_elan_base: *mut c_void,
    pub alloc_elan_size: usize,
    pub debug_flags: c_int,
    pub local_id: c_int,
    pub max_local_ids: c_int,
    pub local_count: c_int,
    pub local_ids: *mut c_int,
    pub nrails: c_int,
    pub rail: *mut *mut ElanRail,
}

/// `ELAN_GROUP`.
#[repr(C)]
pub struct ElanGroup {
    pub own: c_uint,
    pub size: c_uint,
    pub lookup: extern "C" fn(*mut c_void, c_uint) -> c_uint,
    pub handle: *mut c_void,
    /// The library's own data about the group ([`super::group::GroupData`]).
    pub inside: *mut c_void,
    pub reserved: [*mut c_void; 3],
}

/// `ELAN_BASE`.
#[repr(C)]
pub struct ElanBase {
    pub init: c_int,
    pub state: *mut ElanState,
    pub all_group: *mut ElanGroup,
    pub galloc: *mut c_void,
    pub capabilities: *mut ElanCapability,
    pub dma_type: c_int,
    pub retry_count: c_int,
    pub wait_type: c_long,
    pub flags: c_uint,
    pub group_flags: c_uint,
    pub group_branch: c_int,
    pub group_rbufsize: c_int,
    pub group_cbufsize: c_int,
    pub group_maxsegs: c_int,
    pub group_hwbcast: c_int,
    pub tport_nslots: c_int,
    pub tport_flags: c_uint,
    pub tport_nqxd: c_int,
    pub tport_smallmsg: usize,
    pub tport_bigmsg: usize,
    pub tport_stripemsg: usize,
    pub tport_fragsize: usize,
    pub putget_flags: c_uint,
    pub putget_smallputsize: usize,
    pub putget_stripeputsize: usize,
    pub putget_stripegetsize: usize,
    pub putget_throttle: c_int,
    pub mqueue_flags: c_uint,
    pub mqueue_slotsize: c_int,
    pub mqueue_nslots: c_int,
    pub lock_flags: c_uint,
    pub galloc_flags: c_uint,
    pub galloc_size: usize,
    pub galloc_elan_size: usize,
    pub shm_flags: c_uint,
    pub shm_key: c_int,
    pub shm_fifodepth: c_int,
    pub shm_fragsize: c_int,
    pub shm_bigmsg: c_int,
}

/// `ELAN_HWBCAST`.
pub const HARDWARE: c_uint = 1;

/// This process's one base, once it has been made.
pub static BASE: AtomicPtr<ElanBase> = AtomicPtr::new(ptr::null_mut());
