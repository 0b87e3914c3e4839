//! One rank in the network: its messages, receives and waits.

use link::{Flags, Order};
use std::collections::BTreeMap;

/// A message.
#[derive(Debug)]
pub struct Envelope {
    pub from: u32,
    pub tag: u64,
    pub label: u32,
    pub checksum: u64,
    pub bytes: Vec<u8>,
    pub untagged: bool,
    /// The send, if it ends when this is matched.
    pub waits: Option<u64>,
}

/// What happens to a rank.
#[derive(Debug)]
pub enum Event {
    /// Its own order takes effect.
    Order(Order, Vec<u8>),
    /// It is to be told something.
    Report(link::Report, Vec<u8>),
    Arrive(Envelope),
    /// Another rank gets bytes from it.
    Read(Asked),
}

/// A get, at the rank from which it gets.
#[derive(Debug)]
pub struct Asked {
    /// Who gets, and which of his gets it is.
    pub from: u32,
    pub id: u64,
    /// What the rank is asked for.
    pub report: link::Report,
}

/// When, by whom, and which of his: the order of events.
pub type Key = (u64, u32, u64);

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Runs,
    /// It waits since a moment, at most until one.
    Waits {
        since: u64,
        until: u64,
        sleeps: bool,
    },
    Finished,
}

#[derive(Debug)]
pub struct Rank {
    pub doing: Doing,
    /// It has been told something with which it goes on at this moment.
    pub wakes: Option<u64>,
    pub events: BTreeMap<Key, Event>,
    pub posted: Vec<Order>,
    /// Peeks that wait.
    pub probes: Vec<Order>,
    pub unexpected: Vec<Envelope>,
    pub claimed: BTreeMap<u64, Envelope>,
}

impl Default for Rank {
    fn default() -> Rank {
        Rank {
            doing: Doing::Runs,
            wakes: None,
            events: BTreeMap::new(),
            posted: Vec::new(),
            probes: Vec::new(),
            unexpected: Vec::new(),
            claimed: BTreeMap::new(),
        }
    }
}

impl Rank {
    /// The moment of what comes next to a rank that waits.
    pub fn next(&self) -> Option<u64> {
        let Doing::Waits { since, until, .. } = self.doing else {
            return None;
        };
        let event = self.events.keys().next().map_or(link::NEVER, |key| key.0);
        let limit = self.wakes.unwrap_or(until.max(since));
        Some(event.min(limit))
    }

    /// It waits, as its last order says.
    pub fn waits(&mut self, order: &Order) {
        // In a barrier of the process manager's it waits there, in no simulated time.
        let until = if order.has(Flags::MEETING) {
            order.time
        } else {
            order.key
        };
        self.doing = Doing::Waits {
            since: order.time,
            until,
            sleeps: order.has(Flags::SLEEP),
        };
    }

    /// The first message that came unexpected and that a receive or peek means.
    pub fn find(&self, order: &Order) -> Option<usize> {
        self.unexpected
            .iter()
            .position(|message| means(order, message))
    }

    /// The first receive that means a message.
    pub fn receive(&mut self, message: &Envelope) -> Option<Order> {
        let place = self.posted.iter().position(|order| means(order, message));
        place.map(|place| self.posted.remove(place))
    }
}

pub fn means(order: &Order, message: &Envelope) -> bool {
    (order.peer == Order::ANYBODY || order.peer == message.from)
        && (order.tag ^ message.tag) & order.mask == 0
}
