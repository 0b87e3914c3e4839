//! The event queue against a sorted reference.

use std::collections::BTreeSet;

use kernel::EventQueue;
use proptest::prelude::*;
use units::Time;

#[test]
fn simultaneous_events_are_ordered_by_key_then_by_scheduling() {
    let mut queue = EventQueue::new();
    let (now, later) = (Time::from_ns(1), Time::from_ns(2));
    for (at, key, name) in [
        (later, 0, "e"),
        (now, 7, "c"),
        (now, 3, "a"),
        (now, 7, "d"),
        (now, 3, "b"),
    ] {
        queue.schedule(at, key, name);
    }
    assert_eq!(queue.peek_time(), Some(now));
    let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
    assert_eq!(
        order,
        [(now, "a"), (now, "b"), (now, "c"), (now, "d"), (later, "e")]
    );
    assert_eq!((queue.now(), queue.events(), queue.len()), (later, 5, 0));
    assert_eq!(queue.peek_time(), None);
}

#[test]
#[should_panic(expected = "scheduled at 1 ns, in the past of 2 ns")]
fn the_past_is_closed() {
    let mut queue = EventQueue::new();
    queue.schedule(Time::from_ns(2), 0, ());
    queue.pop();
    queue.schedule(Time::from_ns(1), 0, ());
}

#[test]
#[should_panic(expected = "key 16777216 of event 0 is beyond the range")]
fn keys_have_a_bound() {
    EventQueue::new().schedule(Time::ZERO, 1 << 24, ());
}

#[derive(Clone, Debug)]
enum Step {
    Schedule { delay: u64, key: u64 },
    Pop,
}

/// Steps with a few delay lengths, so that ties are frequent, and that delays lie within a slot on
/// the queue's wheel, within a turn, around its end and beyond.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let unit = prop::sample::select(vec![
        1_u64,
        1 << 13,
        1 << 14,
        1 << 20,
        (1 << 22) - 1,
        1 << 30,
    ]);
    let units = prop::collection::vec(unit, 1..4);
    units.prop_flat_map(|units| {
        let delay = (0..5_u64, prop::sample::select(units)).prop_map(|(count, unit)| count * unit);
        let step = prop_oneof![
            3 => (delay, 0..3_u64).prop_map(|(delay, key)| Step::Schedule { delay, key }),
            2 => Just(Step::Pop),
        ];
        prop::collection::vec(step, 0..400)
    })
}

proptest! {
    #[test]
    fn pops_what_a_sorted_set_would(steps in steps()) {
        let mut queue = EventQueue::new();
        let mut reference = BTreeSet::new();
        let mut now = Time::ZERO;
        let mut pops = 0;
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Schedule { delay, key } => {
                    let at = now + Time::from_ps(delay);
                    queue.schedule(at, key, number);
                    reference.insert((at, key, number));
                }
                Step::Pop => {
                    let expected = reference.pop_first().map(|(at, _, number)| (at, number));
                    prop_assert_eq!(queue.peek_time(), expected.map(|(at, _)| at));
                    prop_assert_eq!(queue.pop(), expected);
                    if let Some((at, _)) = expected {
                        now = at;
                        pops += 1;
                    }
                }
            }
            prop_assert_eq!(queue.len(), reference.len());
            prop_assert_eq!((queue.now(), queue.events()), (now, pops));
        }
    }
}
