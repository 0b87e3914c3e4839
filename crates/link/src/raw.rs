//! Orders and reports as they lie in the shared memory: records of 80 bytes, each with its payload behind it.
//!
//! One form serves all kinds, and a field that a kind does not use is 0. Code says which fields a kind uses: that of
//! [`record`](crate::record) and [`order`](crate::order) for what ranks write, of [`report`](crate::report) for what the
//! simulator writes. Only these modules, and tests of what a rank may write, read a field.

use bytemuck::{CheckedBitPattern, Pod, Zeroable};

/// Bytes of a slot's area in each direction; untouched pages take no memory.
pub const BATCH: usize = 1 << 20;

/// No rank in particular.
pub const ANYBODY: u32 = u32::MAX;

/// The kinds of records that ranks write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
#[allow(missing_docs)] // `crate::order` and `crate::record` have a variant for each
pub enum OrderKind {
    Send = 1,
    Untagged = 2,
    Receive = 3,
    Peek = 4,
    Probe = 5,
    Claim = 6,
    Cancel = 7,
    Put = 8,
    Get = 9,
    Atomic = 10,
    Queue = 11,
    Enqueue = 12,
    Dequeued = 13,
    Group = 14,
    Collective = 15,
    Called = 16,
    Reply = 17,
    Differs = 18,
    Refuses = 19,
    /// The area is full, and the rank has more orders: it wants the turn back at once.
    More = 20,
    Sleep = 21,
    Wait = 22,
    Meet = 23,
    Finish = 24,
    Computed = 25,
    Spawn = 26,
}

/// The kinds of records that the simulator writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
#[allow(missing_docs)] // `crate::report` has a variant for each
pub enum ReportKind {
    Sent = 1,
    Received = 2,
    Found = 3,
    Stored = 4,
    Got = 5,
    Fetched = 6,
    Enqueued = 7,
    Collected = 8,
    Untagged = 9,
    Write = 10,
    Read = 11,
    Combine = 12,
    Arrived = 13,
}

/// The sum of the flags that are set.
pub(crate) fn flags<const N: usize>(all: [(bool, u32); N]) -> u32 {
    let set = all.into_iter().filter(|(is, _)| *is);
    set.map(|(_, flag)| flag).sum()
}

/// Flags of orders, one bit each.
pub mod flag {
    #![allow(missing_docs)] // the fields of `crate::Order` and `crate::Wait` with these names
    pub const SYNCHRONOUS: u32 = 1;
    pub const REQUEST: u32 = 2;
    pub const CLAIMS: u32 = 4;
    pub const HARDWARE: u32 = 8;
    pub const SERVED: u32 = 16;
    pub const THREADS: u32 = 32;
    pub const WRITES: u32 = 64;
    pub const GUESSED: u32 = 128;
    pub const STILL: u32 = 256;
}

/// A record that a rank writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs)] // see the head of the module
pub struct RawOrder {
    pub kind: u32,
    pub flags: u32,
    pub time: u64,
    pub id: u64,
    pub tag: u64,
    pub mask: u64,
    pub key: u64,
    pub offset: u64,
    pub size: u64,
    pub peer: u32,
    pub data: u32,
    pub checksum: u64,
}

impl RawOrder {
    /// A record of this kind.
    pub(crate) fn of(kind: OrderKind) -> RawOrder {
        RawOrder {
            kind: kind as u32,
            ..RawOrder::default()
        }
    }
}

/// A record that the simulator writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs)] // see the head of the module
pub struct RawReport {
    pub kind: u32,
    pub status: u32,
    pub id: u64,
    pub tag: u64,
    pub key: u64,
    pub offset: u64,
    pub size: u64,
    pub peer: u32,
    pub data: u32,
    pub checksum: u64,
    pub message: u64,
    pub unused: u64,
}

impl RawReport {
    /// A report of this kind.
    pub(crate) fn of(kind: ReportKind) -> RawReport {
        RawReport {
            kind: kind as u32,
            ..RawReport::default()
        }
    }
}

const _: () = assert!(size_of::<RawOrder>() == 80 && size_of::<RawReport>() == 80);
