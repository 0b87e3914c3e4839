//! Sends and receives that belong together.
//!
//! Messages from one rank to another with one tag are received in the order in which they were
//! sent, by receives in the order in which they were posted: also receives that take any peer or
//! tag, as each of them would have taken any of these messages. A long message may arrive after a
//! short one that was sent later, so that the arrival order does not matter.

use crate::ledger::MessageKey;
use foldhash::HashMap;

/// An operation, as its rank and its number there.
type OperationKey = (u32, u32);

/// All ranks' sends and receives so far.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    calls: u64,
    /// Sends: the message's way, the call's place among all calls, the operation's number.
    sends: Vec<(MessageKey, u64, u32)>,
    /// The same for receives that have a message.
    receives: Vec<(MessageKey, u64, u32)>,
    /// The places of the other receives' calls.
    posted: HashMap<OperationKey, u64>,
}

impl Pairs {
    /// The call of a send.
    pub fn sends(&mut self, way: MessageKey, number: u32) {
        self.calls += 1;
        self.sends.push((way, self.calls, number));
    }

    /// The call of a receive.
    pub fn receives(&mut self, rank: u32, number: u32) {
        self.calls += 1;
        self.posted.insert((rank, number), self.calls);
    }

    /// A receive has a message from this way.
    pub fn received(&mut self, way: MessageKey, number: u32) {
        let call = self.posted.remove(&(way.1, number));
        let call = call.expect("a receive is posted before it has a message");
        self.receives.push((way, call, number));
    }

    /// The send of each receive that has a message. `takes` returns whether a receive without a
    /// message may have one under way that came by this way: the sends of receives behind it are
    /// then unknown, and left out.
    pub fn matched(
        mut self,
        takes: impl Fn(OperationKey, MessageKey) -> bool,
    ) -> HashMap<OperationKey, OperationKey> {
        self.sends.sort_unstable();
        self.receives.sort_unstable();
        let mut open: HashMap<u32, Vec<(u64, OperationKey)>> = HashMap::default();
        let mut posted: Vec<_> = self
            .posted
            .drain()
            .map(|(which, call)| (call, which))
            .collect();
        posted.sort_unstable();
        for (call, which) in posted {
            open.entry(which.0).or_default().push((call, which));
        }
        let mut pairs = HashMap::default();
        for receives in self.receives.chunk_by(|one, next| one.0 == next.0) {
            let way = receives[0].0;
            let here = open.get(&way.1).map_or(&[][..], Vec::as_slice);
            let unsure = here.iter().find(|&&(_, which)| takes(which, way));
            let unsure = unsure.map_or(u64::MAX, |&(call, _)| call);
            let first = self.sends.partition_point(|send| send.0 < way);
            for (&(sent, _, send), &(_, call, receive)) in self.sends[first..].iter().zip(receives)
            {
                assert_eq!(sent, way, "every message is received once");
                if call < unsure {
                    pairs.insert((way.1, receive), (way.0, send));
                }
            }
        }
        pairs
    }
}
