//! Events by cycle: a ring for the near future, an ordered map for the rest.

use crate::Cycle;
use crate::ring::{Ring, SLOTS};
use std::collections::BTreeMap;

/// Future events. Those of one cycle come out together, in no promised order: phase 0 must not depend on it.
pub(super) struct Calendar<E> {
    /// Every event of the ring is due in `from .. from + SLOTS`. Nearly all delays (hops, turnaround, circuits) are
    /// shorter.
    from: Cycle,
    ring: Ring<E>,
    later: BTreeMap<Cycle, Vec<E>>,
    /// The first cycle of `later`, or one that never comes.
    first_later: Cycle,
}

impl<E: Copy> Calendar<E> {
    pub fn new() -> Self {
        Calendar {
            from: 0,
            ring: Ring::new(),
            later: BTreeMap::new(),
            first_later: Cycle::MAX,
        }
    }

    /// Adds an event that is due in cycle `at`, not before the last cycle taken.
    pub fn schedule(&mut self, at: Cycle, event: E) {
        assert!(at >= self.from, "an event is scheduled in the past");
        if at - self.from < SLOTS {
            self.ring.post(at, event);
        } else {
            self.first_later = self.first_later.min(at);
            self.later.entry(at).or_default().push(event);
        }
    }

    /// Moves the events of cycle `now` to `due`. No earlier event may be left.
    pub fn take(&mut self, now: Cycle, due: &mut Vec<E>) {
        self.from = now;
        self.ring.take(now, due);
        if now >= self.first_later {
            due.append(&mut self.later.remove(&now).unwrap_or_default());
            self.first_later = self.later.keys().next().copied().unwrap_or(Cycle::MAX);
        }
    }

    /// The earliest cycle with an event.
    pub fn next(&self) -> Option<Cycle> {
        let later = (self.first_later != Cycle::MAX).then_some(self.first_later);
        match (self.ring.next(self.from), later) {
            (Some(near), Some(later)) => Some(near.min(later)),
            (near, later) => near.or(later),
        }
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
