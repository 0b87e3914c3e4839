//! Records as they lie in the shared memory: each takes [`Raw`], with its payload behind it.
//!
//! The bytes are in `postcard`'s encoding, and the rest is 0. The types of
//! [`record`](crate::record), [`order`](crate::order) and [`report`](crate::report) have the
//! fields; no other code knows a field's place. A run's [`Settings`](crate::Settings) lie in the
//! head in the same way.

use bytemuck::{Pod, Zeroable, bytes_of, bytes_of_mut};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes of a slot's area in each direction; untouched pages take no memory.
pub const BATCH: usize = 1 << 20;

/// The bytes of a record. Each whole number in the longest one is written in its greatest length,
/// which `record/tests.rs` and `report/tests.rs` compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Raw {
    words: [u64; 10],
}

impl Raw {
    /// A turn's end within orders, not a record: the area is full, and the rank wants the turn back
    /// immediately.
    pub const MORE: Raw = Raw {
        words: [u64::MAX; 10],
    };

    /// The bytes of a record.
    pub(crate) fn of(record: &impl Serialize) -> Raw {
        let mut raw = Raw::zeroed();
        let written = postcard::to_slice(record, bytes_of_mut(&mut raw));
        written.expect("the longest record fits");
        raw
    }

    /// The record that these bytes encode, if any.
    pub(crate) fn parse<R: DeserializeOwned>(&self) -> Option<R> {
        postcard::from_bytes(bytes_of(self)).ok()
    }
}
