//! Meters: how much payload has been stored, by purpose.
//!
//! A DMA that names a meter ([`crate::Dma::metered`]) adds each packet's payload to the meter when
//! the packet is stored. [`crate::Cluster::metered`] reads a meter. Meters take no simulated time.

/// A count of stored payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter(pub(crate) u32);

impl Meter {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
