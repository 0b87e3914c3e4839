//! Messages without a receiver.
//!
//! Messages from one rank to another with one tag are received in the order in which they were
//! sent. So it is enough to count: if more are sent than received, the last ones are left over.

use crate::{Kind, Trace, TraceProblem};
use foldhash::HashMap;

/// A message's sender, receiver and tag.
pub type MessageKey = (u32, u32, u32);

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
        for ((source, to, tag), mut left) in ways {
            for number in (0..trace.count(source)).rev() {
                if left == 0 || sends.len() == most {
                    break;
                }
                let operation = trace.operation(source, number)?;
                if (operation.kind, operation.peer, operation.tag) == (Kind::Send, to, tag) {
                    sends.push((source, number));
                    left -= 1;
                }
            }
        }
        sends.sort_unstable();
        Ok((sends, total))
    }
}
