//! Sizes: messages and packets in bytes, buffers and link occupation in flits.

use crate::arithmetic::arithmetic;
use derive::Quantity;

/// A size in bytes. In text, KB is 1024 bytes, as for message sizes in the papers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Quantity)]
#[scale(SIZE)]
pub struct Bytes(u64);

impl Bytes {
    /// `bytes` bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// `kb` times 1024 bytes.
    #[must_use]
    pub const fn from_kb(kb: u64) -> Self {
        Self(kb * (1 << 10))
    }

    /// `mb` times 1024^2 bytes.
    #[must_use]
    pub const fn from_mb(mb: u64) -> Self {
        Self(mb * (1 << 20))
    }

    /// The size in bytes.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

arithmetic!(Bytes, u64);

/// A flit count; flits are the units of flow control: the capacity of a buffer, the length of a
/// packet, or the time for which a link is occupied, in its cycles. A flit's size in bytes is a
/// link property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Quantity)]
#[scale(FLITS)]
pub struct Flits(u32);

impl Flits {
    /// `flits` flits.
    #[must_use]
    pub const fn new(flits: u32) -> Self {
        Self(flits)
    }

    /// The flit count as an integer.
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.0
    }
}

arithmetic!(Flits, u32);
