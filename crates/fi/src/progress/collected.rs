//! Pending blocking collective calls: the room for the bytes due to the rank, and how each ended.
//! Nonblocking ones are the MPI library's operations ([`crate::stand_in`]).

use link::{EndStatus, OperationEnd, PayloadPart};
use rank::memory::Buffer;
use std::collections::BTreeMap;

/// Calls with unseen ends.
#[derive(Default)]
pub struct CollectedCalls {
    under_way: BTreeMap<u64, PendingCall>,
}

struct PendingCall {
    buffer: Buffer,
    ended: Option<EndStatus>,
}

impl CollectedCalls {
    /// Takes down a call by its number, with room for its result.
    pub fn begin(&mut self, id: u64, buffer: Buffer) {
        let ended = None;
        self.under_way.insert(id, PendingCall { buffer, ended });
    }

    /// Takes in a part of a result; the bytes of a lost call are the reason.
    pub fn report(&mut self, ended: OperationEnd, part: PayloadPart, bytes: &[u8]) {
        if let Some(call) = self.under_way.get_mut(&ended.id) {
            if !matches!(ended.status, EndStatus::Lost { .. }) {
                call.buffer.store(part.at(), bytes);
            }
            if part.is_last() {
                call.ended = Some(ended.status);
            }
        }
    }

    /// Whether a call has ended.
    pub fn has_ended(&self, id: u64) -> bool {
        let call = self.under_way.get(&id);
        call.is_none_or(|call| call.ended.is_some())
    }

    /// How a call has ended, if it has; asked once.
    pub fn take(&mut self, id: u64) -> Option<EndStatus> {
        let ended = self.under_way.get(&id)?.ended?;
        self.under_way.remove(&id);
        Some(ended)
    }
}

#[cfg(test)]
mod tests;
