//! The mover's future: a ring of slots, one per cycle.

use crate::motion::ChannelId;
use crate::{Cycle, LinkId};

/// What was foreseen for a cycle. The table in the essay of the module says what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Flits begin to arrive at the end of the channel.
    Starts(ChannelId),
    /// Flits cease to arrive at the end of the channel, in mid-worm.
    Stops(ChannelId),
    /// The link's prediction, valid if it is still the latest.
    Due(LinkId),
    /// A place has fallen free in the buffer of the channel, which was full.
    Room(ChannelId),
    /// A pause of the adapter begins or ends, if both its links want to move.
    Turn(u32),
}

/// Cycles that the ring covers; a power of two.
const SLOTS: u64 = 1024;

/// Nothing is entered further ahead than this. A prediction may always be too early: it is made again then.
pub(super) const HORIZON: u64 = SLOTS - 1;

const WORDS: usize = SLOTS as usize / 64;

pub(super) struct Ring {
    slots: Vec<Vec<Event>>,
    /// One bit per slot that holds something.
    taken: [u64; WORDS],
}

impl Ring {
    pub fn new() -> Self {
        Ring {
            slots: vec![Vec::new(); SLOTS as usize],
            taken: [0; WORDS],
        }
    }

    /// Enters an event for cycle `at`, at most [`HORIZON`] ahead of the cycle taken last.
    pub fn post(&mut self, at: Cycle, event: Event) {
        let slot = (at % SLOTS) as usize;
        self.slots[slot].push(event);
        self.taken[slot / 64] |= 1 << (slot % 64);
    }

    /// Swaps the events of cycle `now` with an empty list. None earlier may be left.
    pub fn take(&mut self, now: Cycle, due: &mut Vec<Event>) {
        let slot = (now % SLOTS) as usize;
        std::mem::swap(&mut self.slots[slot], due);
        self.taken[slot / 64] &= !(1 << (slot % 64));
    }

    /// The earliest cycle after `now` with an event.
    pub fn next(&self, now: Cycle) -> Option<Cycle> {
        let from = now + 1;
        let start = (from % SLOTS) as usize;
        let (word, bit) = (start / 64, start % 64);
        let upper = self.taken[word] >> bit;
        if upper != 0 {
            return Some(from + u64::from(upper.trailing_zeros()));
        }
        let mut passed = 64 - bit;
        for step in 1..=WORDS {
            let bits = self.taken[(word + step) % WORDS];
            if bits != 0 {
                // The last step sees the first word again: its lower bits, a lap later.
                return Some(from + passed as u64 + u64::from(bits.trailing_zeros()));
            }
            passed += 64;
        }
        None
    }

    /// Forgets everything. Whether there was anything.
    pub fn clear(&mut self) -> bool {
        let mut any = false;
        for (word, taken) in self.taken.iter_mut().enumerate() {
            while *taken != 0 {
                self.slots[64 * word + taken.trailing_zeros() as usize].clear();
                *taken &= *taken - 1;
                any = true;
            }
        }
        any
    }
}
