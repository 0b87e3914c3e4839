//! Events by cycle: a ring for the near future, an ordered map for the rest.

use super::ring::{self, Ring};
use crate::Cycle;
use crate::motion::HORIZON;
use std::collections::BTreeMap;

/// Cycles that the ring covers.
const SLOTS: Cycle = ring::SLOTS as Cycle;

const _: () = assert!(HORIZON < SLOTS, "what is foreseen has room in the ring");

/// Future events. A cycle's events come out together, in no promised order: phase 0 must not depend
/// on the order.
///
/// An event that is *foreseen* need not happen: the mover enters the cycle in which a link may have
/// to be looked at. Scheduled events and held channels are *live*. Foreseen events are void once
/// there are no live ones, so that the fabric comes to rest regardless.
pub(super) struct Calendar<E> {
    /// Every event in the ring is due in `from .. from + SLOTS`. Nearly all delays (hops,
    /// turnaround, circuits) are shorter.
    from: Cycle,
    ring: Ring<E>,
    later: BTreeMap<Cycle, Vec<E>>,
    /// The first cycle in `later`, or a cycle that never comes.
    first_later: Cycle,
    /// Events that are scheduled, and channels that are held.
    live: usize,
}

impl<E: Copy> Calendar<E> {
    pub fn new() -> Self {
        Calendar {
            from: 0,
            ring: Ring::new(),
            later: BTreeMap::new(),
            first_later: Cycle::MAX,
            live: 0,
        }
    }

    /// Adds an event that is due in cycle `at`, not before the present cycle `now`.
    pub fn schedule(&mut self, at: Cycle, event: E, now: Cycle) {
        self.hold(now);
        assert!(at >= self.from, "an event is scheduled in the past");
        if at - self.from < SLOTS {
            self.ring.post(at, event);
        } else {
            self.schedule_later(at, event);
        }
    }

    #[cold]
    fn schedule_later(&mut self, at: Cycle, event: E) {
        self.first_later = self.first_later.min(at);
        self.later.entry(at).or_default().push(event);
    }

    /// Adds an event that may turn out void, for a cycle less than [`SLOTS`] after the present one.
    pub fn foresee(&mut self, at: Cycle, event: E) {
        debug_assert!(
            (self.from..self.from + SLOTS).contains(&at),
            "an event is foreseen beyond the ring"
        );
        self.ring.post(at, event);
    }

    /// Cycle `now` is the next one: foreseen events in earlier cycles, if there are any, are void.
    pub fn pass(&mut self, now: Cycle) {
        if self.live == 0 {
            self.wake(now);
        }
    }

    /// Adds an event that may turn out void, between two cycles: cycle `now` is the next one. The
    /// event is void in a fabric at rest.
    pub fn foresee_between(&mut self, at: Cycle, event: E, now: Cycle) {
        if self.live > 0 {
            // All events in earlier cycles have come out.
            self.from = now;
            self.foresee(at, event);
        }
    }

    /// A channel is held, or an event scheduled, from cycle `now` on: foreseen events are valid
    /// while it lives.
    pub fn hold(&mut self, now: Cycle) {
        if self.live == 0 {
            self.wake(now);
        }
        self.live += 1;
    }

    /// Something is live again: events foreseen for cycles that have been passed over are void.
    #[cold]
    fn wake(&mut self, now: Cycle) {
        let mut void = Vec::new();
        while let Some(cycle) = self.ring.next(self.from)
            && cycle < now
        {
            self.ring.take(cycle, &mut void);
            self.ring.give_back(&mut void);
        }
        self.from = now;
    }

    /// A held channel is let go, or a scheduled event has happened.
    pub fn let_go(&mut self) {
        self.live -= 1;
    }

    /// Begins cycle `now`. No earlier event may be left.
    pub fn begin(&mut self, now: Cycle) {
        self.from = now;
        if now >= self.first_later {
            for event in self.later.remove(&now).unwrap_or_default() {
                self.ring.post(now, event);
            }
            self.first_later = self.later.keys().next().copied().unwrap_or(Cycle::MAX);
        }
    }

    /// Exchanges the events in cycle `now` for an empty list, if there are any. Events may be
    /// entered for this cycle meanwhile: ask again.
    #[inline]
    pub fn take(&mut self, now: Cycle, list: &mut Vec<E>) -> bool {
        self.ring.take(now, list)
    }

    /// Takes back a list after its events have happened.
    #[inline]
    pub fn give_back(&mut self, list: &mut Vec<E>) {
        self.ring.give_back(list);
    }

    /// The earliest cycle with an event that is not void.
    pub fn next(&self) -> Option<Cycle> {
        if self.live == 0 {
            return None;
        }
        let near = self.ring.next(self.from).unwrap_or(Cycle::MAX);
        let next = near.min(self.first_later);
        (next != Cycle::MAX).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list: every event comes out in its cycle, and `next` names that cycle.
        #[test]
        fn events_come_out_in_their_cycle(
            steps in prop::collection::vec((0_u64..3000, 1_usize..40), 1..60),
        ) {
            let mut calendar = Calendar::new();
            let mut reference: BTreeMap<Cycle, Vec<usize>> = BTreeMap::new();
            let mut now = 0;
            for (number, (delay, count)) in steps.into_iter().enumerate() {
                for _ in 0..count {
                    calendar.schedule(now + delay, number, now);
                    reference.entry(now + delay).or_default().push(number);
                }
                prop_assert_eq!(calendar.next(), reference.keys().next().copied());
                let (cycle, mut expected) = reference.pop_first().expect("just filled");
                calendar.begin(cycle);
                let mut found: Vec<usize> = Vec::new();
                prop_assert!(calendar.take(cycle, &mut found));
                for _ in &found {
                    calendar.let_go();
                }
                found.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
                now = cycle;
            }
        }
    }

    #[test]
    fn what_is_foreseen_is_void_when_nothing_is_live() {
        let mut calendar = Calendar::new();
        calendar.hold(5);
        calendar.foresee(9, 'a');
        calendar.foresee(700, 'b');
        assert_eq!(calendar.next(), Some(9));
        calendar.let_go();
        assert_eq!(calendar.next(), None);
        // Much later the same slots are used again; events that lie ahead are still foreseen.
        calendar.schedule(9 + SLOTS, 'c', 650);
        assert_eq!(calendar.next(), Some(700));
        calendar.begin(700);
        let mut events = Vec::new();
        assert!(calendar.take(700, &mut events));
        assert_eq!(events, ['b']);
        assert_eq!(calendar.next(), Some(9 + SLOTS));
    }
}
