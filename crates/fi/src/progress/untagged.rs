//! Untagged messages. The simulator brings them as they come. Here they go into the buffers that
//! the program has posted, in the order in which it posted them, or lie until it posts one.
//!
//! A buffer for several messages is filled from its beginning until its free end falls below a
//! least size (`FI_OPT_MIN_MULTI_RECV`), or does not hold the next message. Then the buffer goes
//! back to the program; a flag on its last completion marks this. A list of [`QueueEffect`]s has
//! the consequences for queues and counters, and for the simulator if a message was stored wrongly.

use super::completions::Binding;
use crate::abi::entries::{FiCqErrEntry, FiCqTaggedEntry};
use crate::abi::{
    FI_ADDR_UNSPEC, FI_ECANCELED, FI_ETRUNC, FI_MSG, FI_MULTI_RECV, FI_RECV, FI_REMOTE_CQ_DATA,
    Pointer,
};
use link::PayloadPart;
use rank::memory::Buffer;
use std::collections::VecDeque;

/// Messages lie in buffers at multiples of this alignment.
const ALIGNMENT: usize = 16;

/// A buffer that the program posted.
#[derive(Debug)]
pub struct PostedBuffer {
    pub context: Pointer,
    pub buffer: Buffer,
    /// The sender, or anybody.
    pub source: u64,
    /// For several messages: the least room for another one, and how much is filled.
    pub several: Option<(usize, usize)>,
    pub binding: Binding,
}

/// A message's sender, completion data and checksum.
#[derive(Clone, Copy, Debug)]
pub struct MessageInfo {
    /// The sender's address.
    pub source: u64,
    /// Completion data.
    pub data: Option<u32>,
    /// The checksum over its bytes, or 0.
    pub checksum: u64,
    /// Its number in the run.
    pub number: u64,
}

/// A message that came before its buffer.
#[derive(Debug)]
struct EarlyMessage {
    message: MessageInfo,
    bytes: Vec<u8>,
}

/// The effect of a message, or of a buffer that is posted or taken back.
pub enum QueueEffect {
    /// A receive is done; with the message's sender.
    Done(Binding, FiCqTaggedEntry, u64),
    /// A receive has failed.
    Failed(Binding, FiCqErrEntry),
    /// The bytes of the message with this number have another checksum in their buffer than the one
    /// that was sent.
    Differs(u64, Vec<u8>),
}

/// Posted buffers, and messages that came before theirs.
#[derive(Debug, Default)]
pub struct UntaggedQueue {
    posted: VecDeque<PostedBuffer>,
    early: VecDeque<EarlyMessage>,
    /// The next message's parts so far.
    begun: Vec<u8>,
}

impl UntaggedQueue {
    /// Takes in the next message's part.
    pub fn arrive(
        &mut self,
        message: MessageInfo,
        part: PayloadPart,
        bytes: &[u8],
    ) -> Vec<QueueEffect> {
        let mut whole = std::mem::take(&mut self.begun);
        let bytes = if part.at() == 0 && part.is_last() {
            bytes
        } else {
            assert_eq!(part.at(), whole.len(), "parts come in their order");
            whole.extend_from_slice(bytes);
            if !part.is_last() {
                self.begun = whole;
                return Vec::new();
            }
            &whole
        };
        let mut effects = Vec::new();
        if !self.store(message, bytes, &mut effects) {
            let bytes = bytes.to_vec();
            self.early.push_back(EarlyMessage { message, bytes });
        }
        effects
    }

    /// The program posts a buffer; messages that came early go into it.
    pub fn post(&mut self, posted: PostedBuffer) -> Vec<QueueEffect> {
        let mut effects = Vec::new();
        self.posted.push_back(posted);
        let mut left = VecDeque::new();
        for early in std::mem::take(&mut self.early) {
            if !self.store(early.message, &early.bytes, &mut effects) {
                left.push_back(early);
            }
        }
        self.early = left;
        effects
    }

    /// The program takes back a context's buffer, if there is one.
    pub fn cancel(&mut self, context: Pointer) -> Option<QueueEffect> {
        let mut all = self.posted.iter();
        let place = all.position(|posted| posted.context == context)?;
        let posted = self.posted.remove(place)?;
        let error = FiCqErrEntry {
            entry: FiCqTaggedEntry {
                op_context: context,
                flags: FI_MSG | FI_RECV,
                ..FiCqTaggedEntry::default()
            },
            err: FI_ECANCELED,
            ..FiCqErrEntry::default()
        };
        Some(QueueEffect::Failed(posted.binding, error))
    }

    /// Puts a message into the first buffer that takes it; returns whether there is one.
    fn store(
        &mut self,
        message: MessageInfo,
        bytes: &[u8],
        effects: &mut Vec<QueueEffect>,
    ) -> bool {
        let source = message.source;
        loop {
            let fits =
                |posted: &PostedBuffer| posted.source == FI_ADDR_UNSPEC || posted.source == source;
            let Some(place) = self.posted.iter().position(fits) else {
                return false;
            };
            let posted = &mut self.posted[place];
            let (least, filled) = posted.several.unwrap_or((usize::MAX, 0));
            let room = posted.buffer.length() - filled;
            let mut entry = FiCqTaggedEntry {
                op_context: posted.context,
                flags: FI_MSG | FI_RECV,
                len: bytes.len(),
                buf: posted.buffer.address() + filled,
                ..FiCqTaggedEntry::default()
            };
            if let Some(data) = message.data {
                entry.flags |= FI_REMOTE_CQ_DATA;
                entry.data = data.into();
            }
            if bytes.len() > room && filled > 0 {
                // The next buffer must take the message; this buffer goes back with an empty rest.
                entry.flags = FI_MULTI_RECV;
                (entry.len, entry.data) = (0, 0);
                effects.push(QueueEffect::Done(posted.binding, entry, source));
                self.posted.remove(place);
                continue;
            }
            if bytes.len() > room {
                let error = FiCqErrEntry {
                    entry: FiCqTaggedEntry { len: 0, ..entry },
                    olen: bytes.len() - room,
                    err: FI_ETRUNC,
                    src_addr: source,
                    ..FiCqErrEntry::default()
                };
                effects.push(QueueEffect::Failed(posted.binding, error));
                self.posted.remove(place);
                return true;
            }
            posted.buffer.store(filled, bytes);
            let stored = || posted.buffer.bytes(filled, bytes.len());
            if message.checksum != 0 && link::checksum(stored()) != message.checksum {
                let stored = stored().collect::<Vec<_>>().concat();
                effects.push(QueueEffect::Differs(message.number, stored));
            }
            let filled = (filled + bytes.len()).next_multiple_of(ALIGNMENT);
            let left = posted.buffer.length().saturating_sub(filled);
            let binding = posted.binding;
            if posted.several.is_some() && left >= least {
                posted.several = Some((least, filled));
            } else {
                if posted.several.is_some() {
                    entry.flags |= FI_MULTI_RECV;
                }
                self.posted.remove(place);
            }
            effects.push(QueueEffect::Done(binding, entry, source));
            return true;
        }
    }
}
