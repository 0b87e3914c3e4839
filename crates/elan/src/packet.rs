//! Packets as the Elan forms them: a header with the routing tags, then *transactions* with up to
//! 64 bytes of payload, each with its own header, address and CRC (petrini2003 s2.2.1, figure 3).

use crate::transaction::{INSERTED, MOST_TRANSACTIONS, WORD};
use std::iter::repeat_n;
use units::Bytes;

/// Packet sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFormat {
    /// Most payload in a packet (petrini2003 s2.2.1: 320 bytes).
    pub payload: Bytes,
    /// Most payload in a transaction (petrini2003 s2.2.1: 64 bytes).
    pub transaction: Bytes,
    /// A packet's bytes outside its transactions.
    pub header: Bytes,
    /// A transaction's bytes besides its payload.
    pub transaction_overhead: Bytes,
    /// Bytes per flit.
    pub flit: Bytes,
}

impl PacketFormat {
    /// Wire bytes of a packet with some payload, which must fit. A packet without payload carries
    /// one transaction, which sets the event.
    #[inline]
    pub fn wire(&self, payload: Bytes) -> Bytes {
        assert!(
            payload <= self.payload,
            "{payload} of payload do not fit in a packet"
        );
        let transactions = payload.as_u64().div_ceil(self.transaction.as_u64()).max(1);
        self.header + self.transaction_overhead * transactions + payload
    }

    /// Length of a packet with some payload, in flits.
    #[inline]
    pub fn flits(&self, payload: Bytes) -> u32 {
        self.in_flits(self.wire(payload))
    }

    /// Length of a packet that carries a message into a queue, in flits.
    pub fn queue_flits(&self, payload: Bytes) -> u32 {
        self.in_flits(self.queue_wire(payload))
    }

    /// Wire bytes of a packet that carries a message into a queue: one more transaction claims the
    /// slot.
    pub fn queue_wire(&self, payload: Bytes) -> Bytes {
        let claim = if payload.is_zero() {
            Bytes::ZERO
        } else {
            self.transaction_overhead
        };
        self.wire(payload) + claim
    }

    /// Length of a transaction packet, in flits, if each transaction carries so many bytes.
    pub fn flits_of(&self, transactions: impl Iterator<Item = Bytes>) -> u32 {
        let transactions = transactions.map(|data| self.transaction_overhead + data);
        self.in_flits(self.header + transactions.sum::<Bytes>())
    }

    /// Length of an adapter's longest packet, in flits: one that carries a message into a queue, or
    /// a thread's packet.
    pub fn longest(&self) -> u32 {
        let inserts = repeat_n(WORD * INSERTED as u64, MOST_TRANSACTIONS);
        self.queue_flits(self.payload).max(self.flits_of(inserts))
    }

    fn in_flits(&self, wire: Bytes) -> u32 {
        wire.as_u64().div_ceil(self.flit.as_u64()) as u32
    }

    /// A message's packets; at least one.
    pub fn packets(&self, message: Bytes) -> u64 {
        message.as_u64().div_ceil(self.payload.as_u64()).max(1)
    }

    /// A whole message's wire bytes.
    pub fn message_wire(&self, message: Bytes) -> Bytes {
        let last = message.as_u64() - (self.packets(message) - 1) * self.payload.as_u64();
        self.wire(self.payload) * (self.packets(message) - 1) + self.wire(Bytes::new(last))
    }
}
