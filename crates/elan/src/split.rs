//! # Reads of main memory, at once or as split transactions
//!
//! The adapter reads payload to send. On the PCI bus of an Elan3 the bus is taken while main memory answers, which is part
//! of `bus.burst_overhead`. On the PCI-X bus of an Elan4 (003 s2) a read is *split*: the adapter's request crosses the bus
//! in a short transaction of its own; the bridge takes `elan4.split` to find the data, during which others use the bus;
//! then it sends the data in bursts as long as the bus allows. The bus stays one for both directions, so a request and its
//! data each turn it if something else goes the other way.
//!
//! As many reads may be open as the adapter prepares packets, `adapter.packets_in_flight`, and data come in the order of
//! the requests. What processors store in the adapter and what the adapter writes are posted writes on either bus.

use crate::NodeId;
use crate::bus::Direction;
use crate::cluster::{Happening, World};
use crate::dma::Token;
use units::Bytes;

/// The address and the attributes of a request: a phase of the bus each, of 4 bytes.
pub const REQUEST: Bytes = Bytes::new(8);

impl World {
    /// Reads the payload of a packet; then it is [`Happening::Read`].
    pub(crate) fn read_main(&mut self, node: NodeId, token: Token) {
        if self.config.elan4.is_some() {
            let asked = Happening::Asked(node, token);
            self.transfer(node, Direction::ToMain, REQUEST, asked);
        } else {
            self.found(node, token);
        }
    }

    /// A request has crossed the bus.
    pub(crate) fn asked(&mut self, node: NodeId, token: Token) {
        let elan4 = self.config.elan4.expect("only an Elan4 asks");
        let found = Happening::Found(node, token);
        self.schedule(self.now() + elan4.split, node, found);
    }

    /// The payload asks for the bus.
    pub(crate) fn found(&mut self, node: NodeId, token: Token) {
        let (length, read) = (
            self.packets[token as usize].length,
            Happening::Read(node, token),
        );
        self.transfer(node, Direction::ToAdapter, length, read);
    }
}
