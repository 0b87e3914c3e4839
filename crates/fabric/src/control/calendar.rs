//! Events by cycle: a ring of slots for the near future, an ordered map for the rest.

use crate::Cycle;
use std::collections::BTreeMap;

/// Slots of the ring. Nearly all delays (hops, turnaround, circuits) are shorter.
const SLOTS: usize = 1024;
const WORDS: usize = SLOTS / 64;

/// Future events. Those of one cycle come out together, in no promised order: phase 0 must not depend on it.
pub(super) struct Calendar<E> {
    /// Every event of the ring is due in `from .. from + SLOTS`.
    from: Cycle,
    slots: Vec<Vec<E>>,
    /// One bit per slot that holds something.
    taken: [u64; WORDS],
    later: BTreeMap<Cycle, Vec<E>>,
    /// The first cycle of `later`, or one that never comes.
    first_later: Cycle,
}

impl<E> Calendar<E> {
    pub fn new() -> Self {
        Calendar {
            from: 0,
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            taken: [0; WORDS],
            later: BTreeMap::new(),
            first_later: Cycle::MAX,
        }
    }

    /// Adds an event that is due in cycle `at`, not before the last cycle taken.
    pub fn schedule(&mut self, at: Cycle, event: E) {
        assert!(at >= self.from, "an event is scheduled in the past");
        if at - self.from < SLOTS as u64 {
            let slot = at as usize % SLOTS;
            self.slots[slot].push(event);
            self.taken[slot / 64] |= 1 << (slot % 64);
        } else {
            self.first_later = self.first_later.min(at);
            self.later.entry(at).or_default().push(event);
        }
    }

    /// Moves the events of cycle `now` to `due`. No earlier event may be left.
    pub fn take(&mut self, now: Cycle, due: &mut Vec<E>) {
        self.from = now;
        let slot = now as usize % SLOTS;
        due.append(&mut self.slots[slot]);
        self.taken[slot / 64] &= !(1 << (slot % 64));
        if now >= self.first_later {
            if let Some(mut events) = self.later.remove(&now) {
                due.append(&mut events);
            }
            self.first_later = self.later.keys().next().copied().unwrap_or(Cycle::MAX);
        }
    }

    /// The earliest cycle with an event.
    pub fn next(&self) -> Option<Cycle> {
        let later = (self.first_later != Cycle::MAX).then_some(self.first_later);
        match (self.next_in_ring(), later) {
            (Some(near), Some(later)) => Some(near.min(later)),
            (near, later) => near.or(later),
        }
    }

    fn next_in_ring(&self) -> Option<Cycle> {
        let start = self.from as usize % SLOTS;
        // The word of `start` is looked at twice: its upper bits first, its lower bits, a lap later, last.
        (0..=WORDS).find_map(|step| {
            let word = (start / 64 + step) % WORDS;
            let mask = match step {
                0 => u64::MAX << (start % 64),
                WORDS => !(u64::MAX << (start % 64)),
                _ => u64::MAX,
            };
            let bits = self.taken[word] & mask;
            (bits != 0).then(|| {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                self.from + ((slot + SLOTS - start) % SLOTS) as u64
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list: every event comes out in its cycle, and `next` names that cycle.
        #[test]
        fn events_come_out_in_their_cycle(steps in prop::collection::vec((0_u64..3000, 1_usize..4), 1..60)) {
            let mut calendar = Calendar::new();
            let mut reference: BTreeMap<Cycle, usize> = BTreeMap::new();
            let mut now = 0;
            for (delay, count) in steps {
                for _ in 0..count {
                    calendar.schedule(now + delay, ());
                }
                *reference.entry(now + delay).or_default() += count;
                prop_assert_eq!(calendar.next(), reference.keys().next().copied());
                let (cycle, expected) = reference.pop_first().expect("just filled");
                let mut due = Vec::new();
                calendar.take(cycle, &mut due);
                prop_assert_eq!(due.len(), expected);
                now = cycle;
            }
        }
    }
}
