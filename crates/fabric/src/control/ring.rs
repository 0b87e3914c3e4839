//! Events by cycle, for the near future: a ring of lists.
//!
//! The lists share one pool of places, and a place that was left last is taken first: what is used at any time is as
//! small as the number of events that wait, and stays in the processor's nearest memory.

use crate::Cycle;

/// Cycles that a ring covers; a power of two.
pub(super) const SLOTS: u64 = 1024;

const WORDS: usize = SLOTS as usize / 64;

/// End of a list.
const END: u32 = u32::MAX;

/// Future events. Those of one cycle come out together, in no promised order.
pub(super) struct Ring<E> {
    /// First place of each slot's list.
    first: Box<[u32; SLOTS as usize]>,
    /// An event, and the next place of its list.
    places: Vec<(E, u32)>,
    /// First of the places that are free.
    free: u32,
    /// One bit per slot that holds something.
    taken: [u64; WORDS],
}

impl<E: Copy> Ring<E> {
    pub fn new() -> Self {
        Ring {
            first: Box::new([END; SLOTS as usize]),
            places: Vec::new(),
            free: END,
            taken: [0; WORDS],
        }
    }

    /// Enters an event for cycle `at`, less than [`SLOTS`] ahead of the earliest that is left.
    pub fn post(&mut self, at: Cycle, event: E) {
        let slot = (at % SLOTS) as usize;
        let next = std::mem::replace(&mut self.first[slot], self.free);
        let place = self.free;
        if let Some(entry) = self.places.get_mut(place as usize) {
            self.free = entry.1;
            *entry = (event, next);
        } else {
            self.first[slot] = self.places.len() as u32;
            self.places.push((event, next));
        }
        self.taken[slot / 64] |= 1 << (slot % 64);
    }

    /// Takes an event of cycle `now` out. None earlier may be left.
    pub fn pop(&mut self, now: Cycle) -> Option<E> {
        let slot = (now % SLOTS) as usize;
        let place = self.first[slot];
        let Some(entry) = self.places.get_mut(place as usize) else {
            self.taken[slot / 64] &= !(1 << (slot % 64));
            return None;
        };
        self.first[slot] = std::mem::replace(&mut entry.1, self.free);
        self.free = place;
        Some(entry.0)
    }

    /// Has the events of a cycle come out in the opposite order.
    pub fn reverse(&mut self, now: Cycle) {
        let mut events = Vec::new();
        events.extend(std::iter::from_fn(|| self.pop(now)));
        for event in events {
            self.post(now, event);
        }
    }

    /// The earliest cycle with an event, if none is before `from`.
    pub fn next(&self, from: Cycle) -> Option<Cycle> {
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
}
