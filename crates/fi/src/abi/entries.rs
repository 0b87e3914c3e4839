//! The functions' inputs and outputs: messages, completions, and attributes of the objects that a
//! program opens.

use super::Pointer;
pub use rank::memory::IoVec;

#[repr(C)]
pub struct FiMsg {
    pub msg_iov: *const IoVec,
    pub desc: Pointer,
    pub iov_count: usize,
    pub addr: u64,
    pub context: Pointer,
    pub data: u64,
}

#[repr(C)]
pub struct FiMsgTagged {
    pub msg_iov: *const IoVec,
    pub desc: Pointer,
    pub iov_count: usize,
    pub addr: u64,
    pub tag: u64,
    pub ignore: u64,
    pub context: Pointer,
    pub data: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct FiRmaIov {
    pub addr: u64,
    pub len: usize,
    pub key: u64,
}

#[repr(C)]
pub struct FiMsgRma {
    pub msg_iov: *const IoVec,
    pub desc: Pointer,
    pub iov_count: usize,
    pub addr: u64,
    pub rma_iov: *const FiRmaIov,
    pub rma_iov_count: usize,
    pub context: Pointer,
    pub data: u64,
}

/// The program's words.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FiIoc {
    pub addr: *const u8,
    pub count: usize,
}

/// Another rank's words.
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
    pub desc: Pointer,
    pub iov_count: usize,
    pub addr: u64,
    pub rma_iov: *const FiRmaIoc,
    pub rma_iov_count: usize,
    pub datatype: u32,
    pub op: u32,
    pub context: Pointer,
    pub data: u64,
}

/// The longest completion kind. The shorter kinds are its beginnings, and errors begin with it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FiCqTaggedEntry {
    pub op_context: Pointer,
    pub flags: u64,
    pub len: usize,
    pub buf: Pointer,
    pub data: u64,
    pub tag: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FiCqErrEntry {
    pub entry: FiCqTaggedEntry,
    pub olen: usize,
    pub err: i32,
    pub prov_errno: i32,
    pub err_data: Pointer,
    pub err_data_size: usize,
    pub src_addr: u64,
}

#[repr(C)]
pub struct FiCqAttr {
    pub size: usize,
    pub flags: u64,
    pub format: u32,
    pub wait_obj: u32,
}

#[repr(C)]
pub struct FiCntrAttr {
    pub events: u32,
    pub wait_obj: u32,
}

#[repr(C)]
pub struct FiAvAttr {
    pub kind: u32,
    pub rx_ctx_bits: i32,
    pub count: usize,
    pub ep_per_node: usize,
    pub name: Pointer,
    pub map_addr: Pointer,
    pub flags: u64,
}

#[repr(C)]
pub struct FiMrAttr {
    pub mr_iov: *const IoVec,
    pub iov_count: usize,
    pub access: u64,
    pub offset: u64,
    pub requested_key: u64,
    pub context: Pointer,
}

const _: () = assert!(size_of::<IoVec>() == 16);
const _: () = assert!(size_of::<FiMsg>() == 48);
const _: () = assert!(size_of::<FiMsgTagged>() == 64);
const _: () = assert!(size_of::<FiRmaIov>() == 24);
const _: () = assert!(size_of::<FiMsgRma>() == 64);
const _: () = assert!(size_of::<FiMsgAtomic>() == 72);
const _: () = assert!(size_of::<FiCqTaggedEntry>() == 48);
const _: () = assert!(size_of::<FiCqErrEntry>() == 88);
const _: () = assert!(size_of::<FiAvAttr>() == 48);
