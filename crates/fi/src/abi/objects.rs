//! The objects that a program opens, and their function tables.
//!
//! An object begins with a [`Fid`]: class, the program's context, and the functions that all
//! objects have. Behind the interface's fields, each of our objects has a number by which the
//! [progress engine](crate::progress) knows it.

use super::entries::{
    FiAvAttr, FiCntrAttr, FiCqAttr, FiCqErrEntry, FiIoc, FiMrAttr, FiMsg, FiMsgAtomic, FiMsgRma,
    FiMsgTagged, IoVec,
};
pub use super::fid::{FiOps, Fid};
use super::info::FiInfo;
use super::{Pointer, UnusedEntry};
use std::ffi::{c_char, c_int, c_void};

/// Opens an object in another object, by attributes. Arguments: that object, attributes, place for
/// the new one, context.
pub type OpenFn<P, A> = unsafe extern "C" fn(*mut P, *mut A, *mut *mut Fid, *mut c_void) -> c_int;

/// Registers memory. Arguments: domain, start or list, length, access, offset, key, flags, place
/// for the object, context.
pub type Register<B> = unsafe extern "C" fn(
    *mut Fid,
    B,
    usize,
    u64,
    u64,
    u64,
    u64,
    *mut *mut Fid,
    *mut c_void,
) -> c_int;

/// An endpoint function with a buffer (its start, length and descriptor) or a piece list (its
/// start, a descriptor and the piece count), one word that names the peer, and the program's
/// context.
pub type OneWordFn<B> = unsafe extern "C" fn(*mut FidEp, B, usize, usize, u64, Pointer) -> isize;

/// Such a function with two words.
pub type TwoWordFn<B> =
    unsafe extern "C" fn(*mut FidEp, B, usize, usize, u64, u64, Pointer) -> isize;

/// Such a function with three words.
pub type ThreeWordFn<B> =
    unsafe extern "C" fn(*mut FidEp, B, usize, usize, u64, u64, u64, Pointer) -> isize;

/// An endpoint function that takes a structure and flags.
pub type MessageFn<M> = unsafe extern "C" fn(*mut FidEp, *const M, u64) -> isize;

#[repr(C)]
pub struct FiOpsFabric {
    pub size: usize,
    pub domain: OpenFn<FidFabric, FiInfo>,
    /// `passive_ep`, `eq_open`, `wait_open`, `trywait`.
    pub others: [UnusedEntry; 4],
}

#[repr(C)]
pub struct FidFabric {
    pub fid: Fid,
    pub ops: *const FiOpsFabric,
    /// libfabric writes it.
    pub api_version: u32,
}

#[repr(C)]
pub struct FiOpsDomain {
    pub size: usize,
    pub av_open: OpenFn<FidDomain, FiAvAttr>,
    pub cq_open: OpenFn<FidDomain, FiCqAttr>,
    pub endpoint: OpenFn<FidDomain, FiInfo>,
    pub scalable_ep: UnusedEntry,
    pub cntr_open: OpenFn<FidDomain, FiCntrAttr>,
    /// `poll_open`, `stx_ctx`, `srx_ctx`, `query_atomic`, `query_collective`.
    pub others: [UnusedEntry; 5],
}

#[repr(C)]
pub struct FiOpsMr {
    pub size: usize,
    pub reg: Register<*const u8>,
    pub regv: Register<*const IoVec>,
    pub regattr: unsafe extern "C" fn(*mut Fid, *const FiMrAttr, u64, *mut *mut Fid) -> c_int,
}

#[repr(C)]
pub struct FidDomain {
    pub fid: Fid,
    pub ops: *const FiOpsDomain,
    pub mr: *const FiOpsMr,
}

#[repr(C)]
pub struct FidMr {
    pub fid: Fid,
    pub mem_desc: *mut c_void,
    pub key: u64,
}

#[repr(C)]
pub struct FiOpsAv {
    pub size: usize,
    pub insert:
        unsafe extern "C" fn(*mut FidAv, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int,
    /// `insertsvc`, `insertsym`.
    pub inserts: [UnusedEntry; 2],
    pub remove: unsafe extern "C" fn(*mut FidAv, *mut u64, usize, u64) -> c_int,
    pub lookup: unsafe extern "C" fn(*mut FidAv, u64, *mut c_void, *mut usize) -> c_int,
    pub straddr:
        unsafe extern "C" fn(*mut FidAv, *const c_void, *mut c_char, *mut usize) -> *const c_char,
}

#[repr(C)]
pub struct FidAv {
    pub fid: Fid,
    pub ops: *const FiOpsAv,
    pub number: usize,
}

#[repr(C)]
pub struct FiOpsCq {
    pub size: usize,
    pub read: unsafe extern "C" fn(*mut FidCq, *mut c_void, usize) -> isize,
    pub readfrom: unsafe extern "C" fn(*mut FidCq, *mut c_void, usize, *mut u64) -> isize,
    pub readerr: unsafe extern "C" fn(*mut FidCq, *mut FiCqErrEntry, u64) -> isize,
    /// `sread`, `sreadfrom`, `signal`.
    pub waits: [UnusedEntry; 3],
    pub strerror:
        unsafe extern "C" fn(*mut FidCq, c_int, *const c_void, *mut c_char, usize) -> *const c_char,
}

#[repr(C)]
pub struct FidCq {
    pub fid: Fid,
    pub ops: *const FiOpsCq,
    pub number: usize,
}

#[repr(C)]
pub struct FiOpsCntr {
    pub size: usize,
    pub read: unsafe extern "C" fn(*mut FidCntr) -> u64,
    pub readerr: unsafe extern "C" fn(*mut FidCntr) -> u64,
    pub add: unsafe extern "C" fn(*mut FidCntr, u64) -> c_int,
    pub set: unsafe extern "C" fn(*mut FidCntr, u64) -> c_int,
    pub wait: unsafe extern "C" fn(*mut FidCntr, u64, c_int) -> c_int,
}

#[repr(C)]
pub struct FidCntr {
    pub fid: Fid,
    pub ops: *const FiOpsCntr,
    pub number: usize,
}

#[repr(C)]
pub struct FiOpsEp {
    pub size: usize,
    pub cancel: unsafe extern "C" fn(*mut Fid, Pointer) -> isize,
    pub getopt: unsafe extern "C" fn(*mut Fid, c_int, c_int, *mut c_void, *mut usize) -> c_int,
    pub setopt: unsafe extern "C" fn(*mut Fid, c_int, c_int, *const c_void, usize) -> c_int,
    /// `tx_ctx`, `rx_ctx`, `rx_size_left`, `tx_size_left`.
    pub others: [UnusedEntry; 4],
}

#[repr(C)]
pub struct FiOpsCm {
    pub size: usize,
    pub setname: UnusedEntry,
    pub getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
    /// `getpeer`, and the connection functions: `connect`, `listen`, `accept`, `reject`,
    /// `shutdown`, `join`.
    pub others: [UnusedEntry; 7],
}

#[repr(C)]
pub struct FidEp {
    pub fid: Fid,
    pub ops: *const FiOpsEp,
    pub cm: *const FiOpsCm,
    pub msg: *const FiOpsMsg,
    pub rma: *const FiOpsRma,
    pub tagged: *const FiOpsTagged,
    pub atomic: *const FiOpsAtomic,
    pub collective: *const c_void,
}

/// Untagged messages. Arguments: buffer, length, descriptor, peer, context; `data`, where a
/// function has it, before the peer.
#[repr(C)]
pub struct FiOpsMsg {
    pub size: usize,
    pub recv: OneWordFn<*mut u8>,
    pub recvv: OneWordFn<*const IoVec>,
    pub recvmsg: MessageFn<FiMsg>,
    pub send: OneWordFn<*const u8>,
    pub sendv: OneWordFn<*const IoVec>,
    pub sendmsg: MessageFn<FiMsg>,
    pub inject: unsafe extern "C" fn(*mut FidEp, *const u8, usize, u64) -> isize,
    pub senddata: TwoWordFn<*const u8>,
    pub injectdata: unsafe extern "C" fn(*mut FidEp, *const u8, usize, u64, u64) -> isize,
}

/// Tagged messages. Arguments: as above, with the tag (and its bits to ignore) behind the peer.
#[repr(C)]
pub struct FiOpsTagged {
    pub size: usize,
    pub recv: ThreeWordFn<*mut u8>,
    pub recvv: ThreeWordFn<*const IoVec>,
    pub recvmsg: MessageFn<FiMsgTagged>,
    pub send: TwoWordFn<*const u8>,
    pub sendv: TwoWordFn<*const IoVec>,
    pub sendmsg: MessageFn<FiMsgTagged>,
    pub inject: unsafe extern "C" fn(*mut FidEp, *const u8, usize, u64, u64) -> isize,
    pub senddata: ThreeWordFn<*const u8>,
    pub injectdata: unsafe extern "C" fn(*mut FidEp, *const u8, usize, u64, u64, u64) -> isize,
}

/// Access to others' memory. Arguments: buffer, length, descriptor, peer, place, key, context.
#[repr(C)]
pub struct FiOpsRma {
    pub size: usize,
    pub read: ThreeWordFn<*mut u8>,
    pub readv: ThreeWordFn<*const IoVec>,
    pub readmsg: MessageFn<FiMsgRma>,
    pub write: ThreeWordFn<*const u8>,
    pub writev: ThreeWordFn<*const IoVec>,
    pub writemsg: MessageFn<FiMsgRma>,
    pub inject: unsafe extern "C" fn(*mut FidEp, *const u8, usize, u64, u64, u64) -> isize,
    /// `writedata`, `injectdata`.
    pub with_data: [UnusedEntry; 2],
}

/// Whether there is an operation on a type, and how many words it has at most.
pub type Valid = unsafe extern "C" fn(*mut FidEp, u32, u32, *mut usize) -> c_int;

/// Arguments: operand, word count, descriptor; word to compare with, its descriptor; result, its
/// descriptor; peer, place, key, type, operation, context.
#[repr(C)]
pub struct FiOpsAtomic {
    pub size: usize,
    pub write: unsafe extern "C" fn(
        *mut FidEp,
        *const u8,
        usize,
        Pointer,
        u64,
        u64,
        u64,
        u32,
        u32,
        Pointer,
    ) -> isize,
    pub writev: UnusedEntry,
    pub writemsg: unsafe extern "C" fn(*mut FidEp, *const FiMsgAtomic, u64) -> isize,
    pub inject:
        unsafe extern "C" fn(*mut FidEp, *const u8, usize, u64, u64, u64, u32, u32) -> isize,
    pub readwrite: unsafe extern "C" fn(
        *mut FidEp,
        *const u8,
        usize,
        Pointer,
        *const u8,
        Pointer,
        u64,
        u64,
        u64,
        u32,
        u32,
        Pointer,
    ) -> isize,
    pub readwritev: UnusedEntry,
    pub readwritemsg: unsafe extern "C" fn(
        *mut FidEp,
        *const FiMsgAtomic,
        *const FiIoc,
        Pointer,
        usize,
        u64,
    ) -> isize,
    pub compwrite: unsafe extern "C" fn(
        *mut FidEp,
        *const u8,
        usize,
        Pointer,
        *const u8,
        Pointer,
        *const u8,
        Pointer,
        u64,
        u64,
        u64,
        u32,
        u32,
        Pointer,
    ) -> isize,
    pub compwritev: UnusedEntry,
    pub compwritemsg: unsafe extern "C" fn(
        *mut FidEp,
        *const FiMsgAtomic,
        *const FiIoc,
        Pointer,
        usize,
        *const FiIoc,
        Pointer,
        usize,
        u64,
    ) -> isize,
    pub writevalid: Valid,
    pub readwritevalid: Valid,
    pub compwritevalid: Valid,
}

const _: () = assert!(size_of::<Fid>() == 24);
const _: () = assert!(size_of::<FiOpsAtomic>() == 112);
const _: () = assert!(size_of::<FiOps>() == 56);
const _: () = assert!(size_of::<FiOpsFabric>() == 48);
const _: () = assert!(size_of::<FiOpsDomain>() == 88);
const _: () = assert!(size_of::<FiOpsMr>() == 32);
const _: () = assert!(size_of::<FidDomain>() == 40);
const _: () = assert!(size_of::<FidMr>() == 40);
const _: () = assert!(size_of::<FiOpsAv>() == 56);
const _: () = assert!(size_of::<FiOpsCq>() == 64);
const _: () = assert!(size_of::<FiOpsCntr>() == 48);
const _: () = assert!(size_of::<FiOpsEp>() == 64);
const _: () = assert!(size_of::<FiOpsCm>() == 80);
const _: () = assert!(size_of::<FidEp>() == 80);
const _: () = assert!(size_of::<FiOpsMsg>() == 80);
const _: () = assert!(size_of::<FiOpsTagged>() == 80);
const _: () = assert!(size_of::<FiOpsRma>() == 80);
