//! Messages without a receiver.
//!
//! Messages from one rank to another with one tag are received in the order in which they were
//! sent. So it is enough to count: if more are sent than received, the last ones are left over.

use crate::operation::Arrival;
use crate::{Kind, Operation, Trace, TraceProblem};
use foldhash::HashMap;

/// A message's sender, receiver and tag; each kind of arrival has its own tags.
pub type MessageKey = (u32, u32, u64);

/// A tag among those of all arrivals.
pub fn tag(tag: u32, arrival: Arrival) -> u64 {
    (arrival as u64) << 32 | u64::from(tag)
}

/// The message that a rank's operation sends, if it sends one that another operation takes.
pub fn way(rank: u32, operation: &Operation) -> Option<MessageKey> {
    let tag = tag(operation.tag, operation.kind.arrival());
    matches!(operation.kind, Kind::Send | Kind::Active).then_some((rank, operation.peer, tag))
}

/// Messages that were sent and not received so far, by their ways.
#[derive(Debug, Default)]
pub struct Ledger {
    left: HashMap<MessageKey, i64>,
}

impl Ledger {
    /// A send has started.
    pub fn sent(&mut self, way: MessageKey) {
        self.count(way, 1);
    }

    /// A message has been received, perhaps before its send is counted.
    pub fn received(&mut self, way: MessageKey) {
        self.count(way, -1);
    }

    fn count(&mut self, way: MessageKey, by: i64) {
        let left = self.left.entry(way).or_insert(0);
        *left += by;
        if *left == 0 {
            self.left.remove(&way);
        }
    }

    /// Sends without a receiver, up to a given number, as rank and operation; and their count.
    pub fn unreceived(
        &self,
        trace: &mut Trace,
        most: usize,
    ) -> Result<(Vec<(u32, u32)>, u64), TraceProblem> {
        let ways = self.left.iter().filter(|&(_, &left)| left > 0);
        let mut ways: Vec<(MessageKey, u64)> =
            ways.map(|(&way, &left)| (way, left as u64)).collect();
        ways.sort_unstable();
        let total = ways.iter().map(|(_, left)| left).sum();
        let mut sends = Vec::new();
        for (key, mut left) in ways {
            let source = key.0;
            for number in (0..trace.count(source)).rev() {
                if left == 0 || sends.len() == most {
                    break;
                }
                let operation = trace.operation(source, number)?;
                if way(source, &operation) == Some(key) {
                    sends.push((source, number));
                    left -= 1;
                }
            }
        }
        sends.sort_unstable();
        Ok((sends, total))
    }
}
