//! Numbers in libfabric's headers.

use std::ffi::c_int;

pub const fn fi_version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

// Capabilities and flags: fabric.h
pub const FI_MSG: u64 = 1 << 1;
pub const FI_RMA: u64 = 1 << 2;
pub const FI_TAGGED: u64 = 1 << 3;
pub const FI_ATOMIC: u64 = 1 << 4;
pub const FI_READ: u64 = 1 << 8;
pub const FI_WRITE: u64 = 1 << 9;
pub const FI_RECV: u64 = 1 << 10;
pub const FI_SEND: u64 = 1 << 11;
pub const FI_REMOTE_READ: u64 = 1 << 12;
pub const FI_REMOTE_WRITE: u64 = 1 << 13;
pub const FI_MULTI_RECV: u64 = 1 << 16;
pub const FI_REMOTE_CQ_DATA: u64 = 1 << 17;
pub const FI_PEEK: u64 = 1 << 19;
pub const FI_COMPLETION: u64 = 1 << 24;
pub const FI_DELIVERY_COMPLETE: u64 = 1 << 28;
pub const FI_MATCH_COMPLETE: u64 = 1 << 31;
pub const FI_LOCAL_COMM: u64 = 1 << 51;
pub const FI_REMOTE_COMM: u64 = 1 << 52;
pub const FI_SOURCE: u64 = 1 << 57;
pub const FI_DIRECTED_RECV: u64 = 1 << 59;

// Flags for single calls, which share bits with capabilities.
pub const FI_CLAIM: u64 = 1 << 59;
pub const FI_DISCARD: u64 = 1 << 58;
pub const FI_SELECTIVE_COMPLETION: u64 = 1 << 59;

pub const FI_ORDER_SAS: u64 = 1 << 8;

pub const FI_ADDR_UNSPEC: u64 = u64::MAX;
pub const FI_ADDR_NOTAVAIL: u64 = u64::MAX;

// enum values
pub const FI_FORMAT_UNSPEC: u32 = 0;
pub const FI_ADDR_STR: u32 = 9;
pub const FI_AV_TABLE: u32 = 2;
pub const FI_PROGRESS_MANUAL: u32 = 2;
pub const FI_THREAD_SAFE: u32 = 1;
pub const FI_RM_ENABLED: u32 = 2;
pub const FI_EP_UNSPEC: u32 = 0;
pub const FI_EP_RDM: u32 = 3;

pub const FI_CLASS_FABRIC: usize = 1;
pub const FI_CLASS_DOMAIN: usize = 2;
pub const FI_CLASS_EP: usize = 3;
pub const FI_CLASS_AV: usize = 11;
pub const FI_CLASS_MR: usize = 12;
pub const FI_CLASS_CQ: usize = 14;
pub const FI_CLASS_CNTR: usize = 15;

pub const FI_CQ_FORMAT_UNSPEC: u32 = 0;
pub const FI_CQ_FORMAT_CONTEXT: u32 = 1;
pub const FI_CQ_FORMAT_MSG: u32 = 2;
pub const FI_CQ_FORMAT_DATA: u32 = 3;
pub const FI_CQ_FORMAT_TAGGED: u32 = 4;

pub const FI_CNTR_EVENTS_COMP: u32 = 0;

pub const FI_ENABLE: c_int = 6;

pub const FI_OPT_ENDPOINT: c_int = 0;
pub const FI_OPT_MIN_MULTI_RECV: c_int = 0;

// Errors: fi_errno.h
pub const FI_EIO: c_int = libc::EIO;
pub const FI_EAGAIN: c_int = libc::EAGAIN;
pub const FI_EBUSY: c_int = libc::EBUSY;
pub const FI_ENODEV: c_int = libc::ENODEV;
pub const FI_EINVAL: c_int = libc::EINVAL;
pub const FI_ENOSYS: c_int = libc::ENOSYS;
pub const FI_ENOMSG: c_int = libc::ENOMSG;
pub const FI_ENODATA: c_int = libc::ENODATA;
pub const FI_EMSGSIZE: c_int = libc::EMSGSIZE;
pub const FI_ENOPROTOOPT: c_int = libc::ENOPROTOOPT;
pub const FI_ETIMEDOUT: c_int = libc::ETIMEDOUT;
pub const FI_ECANCELED: c_int = libc::ECANCELED;
pub const FI_EHOSTUNREACH: c_int = libc::EHOSTUNREACH;
pub const FI_EKEYREJECTED: c_int = libc::EKEYREJECTED;
pub const FI_EOPNOTSUPP: c_int = libc::EOPNOTSUPP;
pub const FI_ETOOSMALL: c_int = 257;
pub const FI_EOPBADSTATE: c_int = 258;
pub const FI_EAVAIL: c_int = 259;
pub const FI_ETRUNC: c_int = 265;
pub const FI_ENOKEY: c_int = 266;
