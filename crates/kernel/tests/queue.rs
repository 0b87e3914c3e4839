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

#[derive(Clone, Debug)]
enum Step {
    Schedule { delay: u64, key: u64 },
    Pop,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..5_u64, 0..3_u64).prop_map(|(delay, key)| Step::Schedule { delay, key }),
        2 => Just(Step::Pop),
    ]
}

proptest! {
    /// Few distinct times and keys, so that ties are frequent.
    #[test]
    fn pops_what_a_sorted_set_would(steps in prop::collection::vec(step(), 0..400)) {
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
