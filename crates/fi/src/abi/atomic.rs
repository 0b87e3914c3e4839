//! Atomic operations: `fi_atomic.h`.

use super::objects::FidEp;
use super::{Address, Unused};
use std::ffi::c_int;

/// Words of the program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FiIoc {
    pub addr: *const u8,
    pub count: usize,
}

/// Words of another rank.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FiRmaIoc {
    pub addr: u64,
    pub count: usize,
    pub key: u64,
}

#[repr(C)]
pub struct FiMsgAtomic {
    pub msg_iov: *const FiIoc,
    pub desc: Address,
    pub iov_count: usize,
    pub addr: u64,
    pub rma_iov: *const FiRmaIoc,
    pub rma_iov_count: usize,
    pub datatype: u32,
    pub op: u32,
    pub context: Address,
    pub data: u64,
}

/// Whether there is an operation on a type, and how many words it has at most.
pub type Valid = unsafe extern "C" fn(*mut FidEp, u32, u32, *mut usize) -> c_int;

/// Arguments: operand, number of words, descriptor; word to compare with, its descriptor; result, its descriptor; peer, place, key,
/// type, operation, context.
#[repr(C)]
pub struct FiOpsAtomic {
    pub size: usize,
    pub write: unsafe extern "C" fn(
        *mut FidEp,
        *const u8,
        usize,
        Address,
        u64,
        u64,
        u64,
        u32,
        u32,
        Address,
    ) -> isize,
    pub writev: Unused,
    pub writemsg: unsafe extern "C" fn(*mut FidEp, *const FiMsgAtomic, u64) -> isize,
    pub inject:
        unsafe extern "C" fn(*mut FidEp, *const u8, usize, u64, u64, u64, u32, u32) -> isize,
    pub readwrite: unsafe extern "C" fn(
        *mut FidEp,
        *const u8,
        usize,
        Address,
        *const u8,
        Address,
        u64,
        u64,
        u64,
        u32,
        u32,
        Address,
    ) -> isize,
    pub readwritev: Unused,
    pub readwritemsg: unsafe extern "C" fn(
        *mut FidEp,
        *const FiMsgAtomic,
        *const FiIoc,
        Address,
        usize,
        u64,
    ) -> isize,
    pub compwrite: unsafe extern "C" fn(
        *mut FidEp,
        *const u8,
        usize,
        Address,
        *const u8,
        Address,
        *const u8,
        Address,
        u64,
        u64,
        u64,
        u32,
        u32,
        Address,
    ) -> isize,
    pub compwritev: Unused,
    pub compwritemsg: unsafe extern "C" fn(
        *mut FidEp,
        *const FiMsgAtomic,
        *const FiIoc,
        Address,
        usize,
        *const FiIoc,
        Address,
        usize,
        u64,
    ) -> isize,
    pub writevalid: Valid,
    pub readwritevalid: Valid,
    pub compwritevalid: Valid,
}

const _: () = assert!(size_of::<FiMsgAtomic>() == 72);
const _: () = assert!(size_of::<FiOpsAtomic>() == 112);
