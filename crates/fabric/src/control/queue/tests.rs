//! Queues that share a store, against separate lists.

use super::{Offer, Offers, Queue};
use crate::topology::Destination;
use crate::{PacketSpec, Place, Priority};
use bytemuck::Zeroable;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A packet that is known by its token.
fn offer(token: u64) -> Offer {
    let node = Place::new(0);
    let spec = PacketSpec {
        source: node,
        destination: Destination::Node(node),
        flits: 1,
        priority: Priority::Low,
        traffic_class: 0,
        awaits_end: false,
        token,
    };
    Offer { spec, at: token }
}

proptest! {
    /// Packets leave in the order in which they came, high priority before all others,
    /// independently of other queues in the same store.
    #[test]
    fn packets_leave_in_their_order(
        steps in prop::collection::vec((0_usize..3, prop::option::of(any::<bool>())), 1..200),
    ) {
        let mut offers = Offers::default();
        let mut queues = [Queue::zeroed(); 3];
        let mut lists: [[VecDeque<u64>; 2]; 3] = Default::default();
        for (token, (number, pushed)) in (0..).zip(steps) {
            let (queue, list) = (&mut queues[number], &mut lists[number]);
            if let Some(is_high) = pushed {
                queue.push(&mut offers, is_high, offer(token));
                list[usize::from(!is_high)].push_back(token);
            } else {
                let expected = list.iter_mut().find_map(VecDeque::pop_front);
                let first = queue.first(&offers).map(|offer| offer.at);
                let popped = queue.pop(&mut offers).map(|offer| offer.spec.token);
                prop_assert_eq!((first, popped), (expected, expected));
            }
            let left: usize = list.iter().map(VecDeque::len).sum();
            prop_assert_eq!((queue.len(), queue.is_empty()), (left, left == 0));
        }
    }
}
