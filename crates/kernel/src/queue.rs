//! The event queue: future events, in a total order.
//!
//! Events are ordered by time, then by a key, then by scheduling order. The key belongs to the
//! layer above: it encodes the event's meaning (component, kind), so that simultaneous events
//! happen in an order that the model defines. Only events with the same time and key follow the
//! scheduling order, which is itself a function of the events before.
//!
//! Most events are due soon, and they lie in a *wheel*: a ring of lists, each for the events in 16
//! ns. A list is sorted when its time comes, and its events then leave it one by one. So an event
//! costs a few steps at any queue length. Events beyond the wheel's turn, which is 2.1 us, lie in a
//! binary heap, at O(log n).
//!
//! The queue is unbounded; [`Limits`](crate::Limits) bounds the run. Scheduling into the past is a
//! broken invariant and panics.

use std::array;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use units::Time;

/// A wheel slot's time, as a power of two in picoseconds.
const SLOT: u32 = 14;

/// The wheel's slots.
const SLOTS: usize = 128;

/// Entries for which a list keeps its memory when it is empty.
const KEPT: usize = 64;

/// Bits in an entry's rank for the scheduling order; the key has the others.
const SEQUENCE: u32 = 40;

/// Future events with type `E`; see the order in the crate's documentation.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// The events in the slots up to `slot`, the next one last.
    due: Vec<Entry<E>>,
    /// The slot up to which the wheel has been turned, counted from time zero.
    slot: u64,
    /// The events in the slots behind `slot`, up to a wheel turn.
    slots: Box<[Vec<Entry<E>>; SLOTS]>,
    /// The wheel slots that have events.
    taken: [u64; SLOTS / 64],
    /// Events that were beyond the wheel's turn when they were scheduled.
    far: BinaryHeap<Reverse<Entry<E>>>,
    /// The next event's time, if there is one.
    next: Time,
    now: Time,
    scheduled: u64,
    popped: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    at: Time,
    /// The key, then the scheduling order.
    rank: u64,
    event: E,
}

impl<E> Entry<E> {
    fn order(&self) -> u128 {
        u128::from(self.at.as_ps()) << 64 | u128::from(self.rank)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.order() < other.order()
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

fn slot_of(at: Time) -> u64 {
    at.as_ps() >> SLOT
}

/// The place of a slot on the wheel.
fn place_of(slot: u64) -> usize {
    slot as usize % SLOTS
}

impl<E> EventQueue<E> {
    /// An empty queue at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            due: Vec::new(),
            slot: 0,
            slots: Box::new(array::from_fn(|_| Vec::new())),
            taken: [0; _],
            far: BinaryHeap::new(),
            next: Time::MAX,
            now: Time::ZERO,
            scheduled: 0,
            popped: 0,
        }
    }

    /// Lets `event` happen `at` a time that is not before the last popped event's. Among events at
    /// the same time, the event with the smallest `key` is first.
    ///
    /// # Panics
    /// If `at` is in the past, or the key is 2^24 or more, or after 2^40 events.
    #[inline]
    pub fn schedule(&mut self, at: Time, key: u64, event: E) {
        let beyond = key >> (u64::BITS - SEQUENCE) | self.scheduled >> SEQUENCE;
        if at < self.now || beyond != 0 {
            self.refuse(at, key);
        }
        let rank = key << SEQUENCE | self.scheduled;
        self.scheduled += 1;
        if at < self.next {
            self.next = at;
        }
        let entry = Entry { at, rank, event };
        let slot = slot_of(at);
        if slot <= self.slot {
            self.insert(entry);
        } else if slot - self.slot < SLOTS as u64 {
            let place = place_of(slot);
            self.slots[place].push(entry);
            self.taken[place / 64] |= 1 << (place % 64);
        } else {
            self.far.push(Reverse(entry));
        }
    }

    #[cold]
    fn refuse(&self, at: Time, key: u64) -> ! {
        let (now, number) = (self.now, self.scheduled);
        assert!(
            at >= now,
            "an event was scheduled at {at}, in the past of {now}"
        );
        panic!("key {key} of event {number} is beyond the range")
    }

    /// An event is due before the wheel is turned on.
    fn insert(&mut self, entry: Entry<E>) {
        let place = self.due.partition_point(|other| *other > entry);
        self.due.insert(place, entry);
    }

    /// Takes the next event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        if self.due.is_empty() {
            self.turn();
        }
        let entry = match self.far.peek() {
            Some(Reverse(far)) if self.due.last().is_none_or(|near| far < near) => {
                self.far.pop().map(|Reverse(far)| far)
            }
            _ => self.due.pop(),
        };
        let Entry { at, event, .. } = entry?;
        self.now = at;
        self.popped += 1;
        let near = match self.due.last() {
            Some(near) => near.at,
            None => self.first_on_wheel(),
        };
        self.next = match self.far.peek() {
            Some(Reverse(far)) => near.min(far.at),
            None => near,
        };
        Some((at, event))
    }

    /// The wheel's first slot with events, if there is one.
    fn first_slot(&self) -> Option<u64> {
        let start = self.slot + 1;
        let [low, high] = self.taken.map(u128::from);
        let taken = (high << 64 | low).rotate_right(place_of(start) as u32);
        (taken != 0).then(|| start + u64::from(taken.trailing_zeros()))
    }

    /// The time of the first event on the wheel, if there is one.
    fn first_on_wheel(&self) -> Time {
        let Some(slot) = self.first_slot() else {
            return Time::MAX;
        };
        let entries = self.slots[place_of(slot)].iter();
        entries.map(|entry| entry.at).min().unwrap_or(Time::MAX)
    }

    /// Turns the wheel to the next event's slot. The event is among those that are due then, or it
    /// is a far one.
    fn turn(&mut self) {
        let wheel = self.first_slot();
        if let Some(Reverse(far)) = self.far.peek()
            && wheel.is_none_or(|wheel| slot_of(far.at) < wheel)
        {
            self.slot = self.slot.max(slot_of(far.at));
            return;
        }
        let Some(slot) = wheel else {
            return;
        };
        let place = place_of(slot);
        self.slot = slot;
        self.taken[place / 64] &= !(1 << (place % 64));
        // A list that was very long once gives its memory back.
        if self.due.capacity() > KEPT {
            self.due = Vec::new();
        }
        std::mem::swap(&mut self.due, &mut self.slots[place]);
        if self.due.len() > 1 {
            self.due.sort_unstable_by(|one, other| other.cmp(one));
        }
    }

    /// The next event's time.
    #[must_use]
    #[inline]
    pub fn peek_time(&self) -> Option<Time> {
        (!self.is_empty()).then_some(self.next)
    }

    /// The last popped event's time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many events were popped: the work done so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.popped
    }

    /// How many events are still to come.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.scheduled - self.popped) as usize
    }

    /// Whether no event is to come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scheduled == self.popped
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}
