//! Untagged messages. The simulator brings them as they come; here they go into the buffers that the program has posted, in
//! the order in which it posted them, or lie until it posts one.
//!
//! A buffer for several messages is filled from its beginning until what is left falls below a least size
//! (`FI_OPT_MIN_MULTI_RECV`), or does not hold the next message; then it goes back to the program, which a flag on its last
//! completion says.

use super::completions::{Binding, Completions, NO_DATA};
use crate::abi::entries::{FiCqErrEntry, FiCqTaggedEntry};
use crate::abi::{
    Address, FI_ADDR_UNSPEC, FI_ECANCELED, FI_ETRUNC, FI_MSG, FI_MULTI_RECV, FI_RECV,
    FI_REMOTE_CQ_DATA,
};
use crate::memory::Buffer;
use link::{Part, Report};
use std::collections::VecDeque;

/// Messages lie in buffers at multiples of this.
const ALIGNMENT: usize = 16;

/// A buffer that the program posted.
#[derive(Debug)]
pub struct Posted {
    pub context: Address,
    pub buffer: Buffer,
    /// From whom, or anybody.
    pub source: u64,
    /// For several messages: the least room to go on with, and how much is filled.
    pub several: Option<(usize, usize)>,
    pub binding: Binding,
}

/// A message that came before its buffer.
#[derive(Debug)]
struct Early {
    source: u64,
    report: Report,
    bytes: Vec<u8>,
}

/// Buffers, messages.
#[derive(Debug, Default)]
pub struct Untagged {
    posted: VecDeque<Posted>,
    early: VecDeque<Early>,
    /// What has come of the next message.
    begun: Vec<u8>,
    /// A message whose bytes in its buffer have another checksum than it was sent with, and these bytes.
    pub wrong: Option<(Report, Vec<u8>)>,
}

impl Untagged {
    /// A part of the next message.
    pub fn arrive(
        &mut self,
        report: &Report,
        part: Part,
        bytes: &[u8],
        source: u64,
        completions: &mut Completions,
    ) {
        let mut whole = std::mem::take(&mut self.begun);
        let bytes = if part.at() == 0 && part.is_last() {
            bytes
        } else {
            assert_eq!(part.at(), whole.len(), "parts come in their order");
            whole.extend_from_slice(bytes);
            if !part.is_last() {
                self.begun = whole;
                return;
            }
            &whole
        };
        assert_eq!(bytes.len() as u64, report.size, "the payload of {report:?}");
        if !self.store(source, report, bytes, completions) {
            self.early.push_back(Early {
                source,
                report: *report,
                bytes: bytes.to_vec(),
            });
        }
    }

    /// The program posts a buffer, into which goes what came early.
    pub fn post(&mut self, posted: Posted, completions: &mut Completions) {
        completions.begin(posted.binding);
        self.posted.push_back(posted);
        let mut left = VecDeque::new();
        for early in std::mem::take(&mut self.early) {
            if !self.store(early.source, &early.report, &early.bytes, completions) {
                left.push_back(early);
            }
        }
        self.early = left;
    }

    /// The program takes back the buffer of a context.
    pub fn cancel(&mut self, context: Address, completions: &mut Completions) -> bool {
        let mut all = self.posted.iter();
        let place = all.position(|posted| posted.context == context);
        let Some(posted) = place.and_then(|place| self.posted.remove(place)) else {
            return false;
        };
        let error = FiCqErrEntry {
            op_context: context,
            flags: FI_MSG | FI_RECV,
            err: FI_ECANCELED,
            ..FiCqErrEntry::default()
        };
        completions.failed(posted.binding, error);
        true
    }

    /// Puts a message into the first buffer for it; whether there is one.
    fn store(
        &mut self,
        source: u64,
        report: &Report,
        bytes: &[u8],
        completions: &mut Completions,
    ) -> bool {
        loop {
            let fits = |posted: &Posted| posted.source == FI_ADDR_UNSPEC || posted.source == source;
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
            if report.data != NO_DATA {
                entry.flags |= FI_REMOTE_CQ_DATA;
                entry.data = report.data.into();
            }
            if bytes.len() > room && filled > 0 {
                // The next one must have it; this one goes back with nothing in its rest.
                entry.flags = FI_MULTI_RECV;
                (entry.len, entry.data) = (0, 0);
                completions.done(posted.binding, entry, source);
                self.posted.remove(place);
                continue;
            }
            if bytes.len() > room {
                let error = FiCqErrEntry {
                    op_context: entry.op_context,
                    flags: entry.flags,
                    buf: entry.buf,
                    data: entry.data,
                    olen: bytes.len() - room,
                    err: FI_ETRUNC,
                    src_addr: source,
                    ..FiCqErrEntry::default()
                };
                completions.failed(posted.binding, error);
                self.posted.remove(place);
                return true;
            }
            posted.buffer.store(filled, bytes);
            let stored = || posted.buffer.bytes(filled, bytes.len());
            if report.checksum != 0 && link::checksum(stored()) != report.checksum {
                let stored = stored().collect::<Vec<_>>().concat();
                self.wrong.get_or_insert((*report, stored));
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
            completions.done(binding, entry, source);
            return true;
        }
    }
}
