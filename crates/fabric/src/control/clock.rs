//! The control plane's clock: the cycle to execute next, and the events that wait for theirs.

use super::calendar::Calendar;
use super::event::Event;
use crate::Cycle;

/// See the module essay.
pub(super) struct Clock {
    /// The next cycle to execute; within a cycle, the cycle itself.
    now: Cycle,
    calendar: Calendar<Event>,
    /// Events that have happened.
    events: u64,
    /// Room for a cycle's events, and for the same events in the order of their kinds.
    batches: [Vec<Event>; 2],
}

impl Clock {
    /// The clock for a network at rest, at cycle 0.
    pub fn new() -> Self {
        Clock {
            now: 0,
            calendar: Calendar::new(),
            events: 0,
            batches: Default::default(),
        }
    }

    #[inline]
    pub fn now(&self) -> Cycle {
        self.now
    }

    pub fn events(&self) -> u64 {
        self.events
    }

    /// Counts an event that the mover has reported immediately.
    #[inline]
    pub fn count(&mut self) {
        self.events += 1;
    }

    /// A scheduled event has happened.
    #[inline]
    pub fn happened(&mut self) {
        self.events += 1;
        self.calendar.let_go();
    }

    /// Enters an event for cycle `at`.
    #[inline]
    pub fn schedule(&mut self, at: Cycle, event: Event) {
        self.calendar.schedule(at, event, self.now);
    }

    /// Enters an event that may turn out void.
    #[inline]
    pub fn foresee(&mut self, at: Cycle, event: Event) {
        self.calendar.foresee(at, event);
    }

    /// Forgets void events in cycles before the next one.
    pub fn forget_void(&mut self) {
        self.calendar.pass(self.now);
    }

    /// Enters an event that may turn out void, between two cycles.
    pub fn foresee_between(&mut self, at: Cycle, event: Event) {
        self.calendar.foresee_between(at, event, self.now);
    }

    /// A channel is held from now on; foreseen events are valid until all are let go.
    #[inline]
    pub fn hold(&mut self) {
        self.calendar.hold(self.now);
    }

    /// A channel is held no longer.
    #[inline]
    pub fn let_go(&mut self) {
        self.calendar.let_go();
    }

    /// The next cycle with an event.
    #[inline]
    pub fn next(&self) -> Option<Cycle> {
        self.calendar.next()
    }

    /// Passes over cycles without events.
    pub fn skip_to(&mut self, cycle: Cycle) {
        self.now = self.now.max(cycle);
    }

    /// Begins a cycle.
    #[expect(clippy::inline_always, reason = "4% of the time, and a call otherwise")]
    #[inline(always)]
    pub fn begin(&mut self, cycle: Cycle) {
        self.now = cycle;
        self.calendar.begin(cycle);
    }

    /// Room for a cycle's events.
    #[expect(clippy::inline_always, reason = "as of `begin`")]
    #[inline(always)]
    pub fn room(&mut self) -> [Vec<Event>; 2] {
        std::mem::take(&mut self.batches)
    }

    /// Exchanges the cycle's events for an empty list, if there are any; ask again, since events
    /// may be entered meanwhile.
    #[inline]
    pub fn take(&mut self, list: &mut Vec<Event>) -> bool {
        self.calendar.take(self.now, list)
    }

    /// Takes back a list after its events have happened.
    #[inline]
    pub fn give_back(&mut self, list: &mut Vec<Event>) {
        self.calendar.give_back(list);
    }

    /// All events in the cycle have happened.
    #[inline]
    pub fn keep(&mut self, batches: [Vec<Event>; 2]) {
        self.batches = batches;
    }

    /// Ends the cycle.
    #[inline]
    pub fn end(&mut self) {
        self.now += 1;
    }
}
