//! Events by cycle, for the near future: a ring of lists.
//!
//! In a large network, a finished list is used again for the next cycle that needs a long list: the
//! memory in use is at any time proportional to the waiting events, and stays near the processor.

use crate::Cycle;

/// Cycles that a ring covers; a power of two.
pub(super) const SLOTS: usize = 1024;

const WORDS: usize = SLOTS / 64;

/// A list with room for more events than this is kept for the next cycle that needs a long list.
const SHORT: usize = 16;

/// Future events. A cycle's events come out in their entry order; phase 0 must not depend on this
/// order.
pub(super) struct Ring<E> {
    slots: Box<[Vec<E>; SLOTS]>,
    /// Finished long lists.
    spare: Vec<Vec<E>>,
    /// One bit per slot that holds something.
    taken: [u64; WORDS],
}

impl<E: Copy> Ring<E> {
    pub fn new() -> Self {
        let slots = vec![Vec::new(); SLOTS].into_boxed_slice().try_into();
        Ring {
            slots: slots.unwrap_or_else(|_| unreachable!("the array has this length")),
            spare: Vec::new(),
            taken: [0; WORDS],
        }
    }

    /// Enters an event for cycle `at`, less than [`SLOTS`] after the earliest event that is left.
    #[inline]
    pub fn post(&mut self, at: Cycle, event: E) {
        let number = at as usize % SLOTS;
        let list = &mut self.slots[number];
        if list.len() == list.capacity() {
            grow(list, &mut self.spare);
        }
        list.push(event);
        self.taken[number / 64] |= 1 << (number % 64);
    }

    /// Exchanges the events in cycle `now` for an empty list, if there are any.
    #[inline]
    pub fn take(&mut self, now: Cycle, list: &mut Vec<E>) -> bool {
        debug_assert!(list.is_empty());
        let number = now as usize % SLOTS;
        let (word, bit) = (number / 64, 1 << (number % 64));
        let is_taken = self.taken[word] & bit != 0;
        if is_taken {
            self.taken[word] &= !bit;
            std::mem::swap(&mut self.slots[number], list);
        }
        is_taken
    }

    /// Takes back a list after its events have happened.
    #[inline]
    pub fn give_back(&mut self, list: &mut Vec<E>) {
        list.clear();
        if list.capacity() > SHORT {
            self.spare.push(std::mem::take(list));
        }
    }

    /// The earliest cycle with an event, if there is no event before `from`.
    #[inline]
    pub fn next(&self, from: Cycle) -> Option<Cycle> {
        let start = from as usize % SLOTS;
        let upper = self.taken[start / 64] >> (start % 64);
        if upper != 0 {
            return Some(from + u64::from(upper.trailing_zeros()));
        }
        self.next_beyond(from, start)
    }

    /// [`Self::next`] among the slots behind slot `start`'s word.
    fn next_beyond(&self, from: Cycle, start: usize) -> Option<Cycle> {
        let (word, bit) = (start / 64, start % 64);
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

/// Makes room in a full list.
#[cold]
fn grow<E: Copy>(list: &mut Vec<E>, spare: &mut Vec<Vec<E>>) {
    match spare.pop() {
        Some(mut long) if long.capacity() > list.len() => {
            long.extend_from_slice(list);
            *list = long;
        }
        _ => list.reserve(SHORT.max(list.len())),
    }
}
