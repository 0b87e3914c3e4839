//! The contents of Tport queues: envelopes, and messages between threads.

use super::message::{Received, TportError};
use crate::elan::rails::MOST_TOLD;
use elan::config::ENVELOPE;
use elan::memory::EVENT_BLOCK;
use elan::transaction::WORD;
use elan::{ElanAddr, ProcessId};
use units::Bytes;

/// A message's envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    /// The sending process.
    pub source: ProcessId,
    /// The sender's label.
    pub sender: u32,
    pub tag: u64,
    pub size: Bytes,
    /// Whether the message's bytes come with the envelope.
    pub here: bool,
    /// Where the bytes lie at the sender.
    pub from: ElanAddr,
    /// The sender's event to set after the match; [`ElanAddr::NOWHERE`] if the sender does not
    /// wait.
    pub event: ElanAddr,
    /// Whether the sender waits for the match, even if the message is buffered.
    pub synchronous: bool,
    /// Whether the bytes lie in adapter memory.
    pub near: bool,
    /// The rails that are free at the sender, as bits; see [`crate::elan::rails`].
    pub free: u32,
    /// Where messages may overtake each other, the message's place among the sender's messages to
    /// the receiver, modulo [`ORDERS`].
    pub order: u32,
}

/// The place, beside a send's event, of the word that marks the sender's message as withdrawn.
pub(super) fn withdrawn(event: ElanAddr) -> ElanAddr {
    event.offset(EVENT_BLOCK - WORD)
}

impl Envelope {
    /// The message as its receiver sees it.
    pub fn received(&self, at: Option<ElanAddr>) -> Received {
        Received {
            process: self.source,
            sender: self.sender,
            tag: self.tag,
            size: self.size,
            at,
        }
    }

    /// The error for a message that does not fit in a buffer of this length.
    pub fn truncated(&self, room: Bytes) -> TportError {
        TportError::Truncated {
            sender: self.sender,
            tag: self.tag,
            size: self.size,
            room,
        }
    }
}

/// A message between threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// An envelope. The bytes follow, or stay at the sender.
    Envelope(Envelope),
    /// The process has used up so many of the reader's small messages.
    Credit { from: ProcessId, count: u32 },
    /// The process could not take the reader's message; `event` is the message's event.
    Refused { by: ProcessId, event: ElanAddr },
}

const SHORT: u32 = 1;
const LONG: u32 = 2;
const CREDIT: u32 = 3;
const REFUSED: u32 = 4;
const SYNCHRONOUS: u32 = 0x80;
const NEAR: u32 = 0x40;
const KIND: u32 = 0x3f;
/// The rails are above these, and the order above the rails.
const FREE: u32 = u8::BITS;
const ORDER: u32 = FREE + MOST_TOLD;
/// The places in the message order: many more than a sender has messages under way.
pub(super) const ORDERS: u32 = 1 << (u32::BITS - ORDER);

impl Wire {
    /// The message's 32 bytes.
    pub fn encode(self) -> [u8; ENVELOPE.as_u64() as usize] {
        let (process, kind, words) = match self {
            Wire::Envelope(envelope) => {
                let flag = |is: bool, flag| if is { flag } else { 0 };
                let flags = flag(envelope.synchronous, SYNCHRONOUS) | flag(envelope.near, NEAR);
                let kind = if envelope.here { SHORT } else { LONG };
                let kind = kind | flags | envelope.free << FREE | envelope.order << ORDER;
                let (from, event) = (envelope.from.as_u32(), envelope.event.as_u32());
                let (low, high) = (envelope.tag as u32, (envelope.tag >> 32) as u32);
                let size = u32::try_from(envelope.size.as_u64());
                let size = size.expect("it lies in a memory whose addresses have 32 bits");
                let words = [envelope.sender, low, from, event, size, high];
                (envelope.source, kind, words)
            }
            Wire::Credit { from, count } => (from, CREDIT, [count, 0, 0, 0, 0, 0]),
            Wire::Refused { by, event } => (by, REFUSED, [0, 0, 0, event.as_u32(), 0, 0]),
        };
        let mut bytes = [0; ENVELOPE.as_u64() as usize];
        let head = [process.get(), kind].into_iter().chain(words);
        for (place, word) in bytes.chunks_exact_mut(4).zip(head) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes a message; the payload, if there is any, follows its first 32 bytes.
    pub fn decode(bytes: &[u8]) -> Wire {
        let word = |index: usize| {
            let word = bytes[4 * index..4 * index + 4].try_into();
            u32::from_le_bytes(word.expect("4 bytes"))
        };
        let (process, event) = (ProcessId::new(word(0)), ElanAddr::new(word(5)));
        let kind = word(1) & KIND;
        match kind {
            CREDIT => Wire::Credit {
                from: process,
                count: word(2),
            },
            REFUSED => Wire::Refused { by: process, event },
            _ => Wire::Envelope(Envelope {
                source: process,
                sender: word(2),
                tag: u64::from(word(7)) << 32 | u64::from(word(3)),
                size: Bytes::new(word(6).into()),
                here: kind == SHORT,
                from: ElanAddr::new(word(4)),
                event,
                synchronous: word(1) & SYNCHRONOUS != 0,
                near: word(1) & NEAR != 0,
                free: word(1) >> FREE & ((1 << MOST_TOLD) - 1),
                order: word(1) >> ORDER,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
