//! Sends and receives that belong together.
//!
//! Messages of one rank to another with one tag are received in the order in which they were sent, by receives in the order in
//! which they were posted: also receives that take any peer or tag, as each of them would have taken any of these messages. A
//! long message may arrive after a short one that was sent later, so that the order of arrivals does not matter.

use crate::ledger::Way;
use foldhash::HashMap;

/// An operation, as its rank and its number there.
type Which = (u32, u32);

/// The calls of all ranks so far that send or receive.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    calls: u64,
    /// Sends: the way of the message, the place of the call among all calls, the operation's number.
    sends: Vec<(Way, u64, u32)>,
    /// The same of receives that have a message.
    receives: Vec<(Way, u64, u32)>,
    /// The places of the calls of the other receives.
    posted: HashMap<Which, u64>,
}

impl Pairs {
    /// The call of a send.
    pub fn sends(&mut self, way: Way, number: u32) {
        self.calls += 1;
        self.sends.push((way, self.calls, number));
    }

    /// The call of a receive.
    pub fn receives(&mut self, rank: u32, number: u32) {
        self.calls += 1;
        self.posted.insert((rank, number), self.calls);
    }

    /// A receive has a message of this way.
    pub fn received(&mut self, way: Way, number: u32) {
        let call = self.posted.remove(&(way.1, number));
        let call = call.expect("a receive is posted before it has a message");
        self.receives.push((way, call, number));
    }

    /// The send of each receive, after a replay in which every message was received.
    pub fn matched(mut self) -> HashMap<Which, Which> {
        self.sends.sort_unstable();
        self.receives.sort_unstable();
        let pairs = self.sends.iter().zip(&self.receives);
        pairs
            .map(|(&(sent, _, send), &(way, _, receive))| {
                assert_eq!(sent, way, "every message is received once");
                ((way.1, receive), (way.0, send))
            })
            .collect()
    }
}
