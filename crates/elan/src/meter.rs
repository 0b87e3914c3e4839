//! Meters: how much payload has been stored, for whom.
//!
//! A DMA that names a meter ([`crate::Dma::metered`]) adds to it whatever of it is stored, packet by packet, wherever
//! that is; the cluster tells what a meter shows ([`crate::Cluster::metered`]). They measure and cost nothing.

/// A count of payload stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter(pub(crate) u32);

impl Meter {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
