//! # Traffic classes: separate channels
//!
//! Every link's channels are divided into *traffic classes*
//! ([`Config::traffic_classes`](crate::Config::traffic_classes)): all equally large, or the first
//! ones larger by one. Each traffic class is divided by the same rule into the classes that the
//! routing needs ([`Wiring::classes`](crate::topology::Wiring::classes)). A packet takes channels
//! in its traffic class from the adapter to the node, and so never waits for a channel that another
//! traffic class's packet holds: virtual networks, or `InfiniBand`'s virtual lanes where each
//! service level has separate lanes.
//!
//! *A traffic class has for itself*: its channels with their buffers; at each adapter, the queue
//! for an injection channel, and a window of `packets_in_flight`.
//!
//! *Traffic classes share*: the link cycles. A link serves the flits of all classes by one rule
//! ([`Multiplexing`](crate::Multiplexing)), which looks at priorities and ages, or takes turns, and
//! never looks at classes. Strict precedence for a class therefore means high priority for its
//! packets. Acknowledgements are unaffected. A switch sets up broadcasts in all classes one after
//! the other (`control::broadcast`).
//!
//! *Adaptive choices.* Where a step leaves several links, a packet takes the one with the fewest
//! busy channels in its own class. The load that UGAL-L compares counts the packets of all classes,
//! since these share the link.
//!
//! *No deadlock.* Packets wait for channels in their own traffic class only, and these are divided
//! for the routing as if there were no others. So the channel dependency graph is the graph of one
//! traffic class, as many times as there are traffic classes, without an edge between two copies:
//! checking one ([`find_cycle`](crate::find_cycle)) checks all. The proof for broadcasts follows
//! links and not channels, and holds unchanged.

use std::ops::Range;

/// The channels that packets may take, by their traffic class and the class that the routing names.
#[derive(Clone)]
pub(super) struct Classes {
    /// Bits: for each traffic class all its channels, then those in each routing class.
    lanes: Vec<u32>,
    /// Entries for each traffic class.
    stride: usize,
}

impl Classes {
    /// Divides `channels` channels into traffic classes, and each traffic class into routing
    /// classes.
    pub fn new(channels: u32, traffic_classes: u32, classes: u32) -> Self {
        let mut lanes = Vec::new();
        for number in 0..traffic_classes {
            let own = part(&(0..channels), number, traffic_classes);
            lanes.push(bits(&own));
            lanes.extend((0..classes).map(|class| bits(&part(&own, class, classes))));
        }
        Classes {
            lanes,
            stride: 1 + classes as usize,
        }
    }

    /// The channels of a traffic class, as bits; those of a class of the routing, if the routing
    /// names one.
    #[inline]
    pub fn lanes(&self, traffic_class: u8, class: Option<u32>) -> u32 {
        let class = class.map_or(0, |class| 1 + class as usize);
        self.lanes[usize::from(traffic_class) * self.stride + class]
    }
}

/// One part of a divided range; the first parts may be longer by one.
fn part(range: &Range<u32>, number: u32, parts: u32) -> Range<u32> {
    let length = range.end - range.start;
    let (each, longer) = (length / parts, length % parts);
    let bound = |number: u32| range.start + number * each + number.min(longer);
    bound(number)..bound(number + 1)
}

/// A range's numbers, as bits.
fn bits(range: &Range<u32>) -> u32 {
    ((1_u64 << range.end) - (1_u64 << range.start)) as u32
}

#[cfg(test)]
mod tests {
    use super::Classes;
    use crate::config::MAX_CHANNELS;

    /// Each channel belongs to one traffic class and, within it, to one routing class; the first
    /// parts of a whole may have one channel more, and no part is empty.
    #[test]
    fn classes_part_the_channels() {
        let is_fair = |parts: &[u32], whole: u32| {
            let union = parts.iter().fold(0, |union, part| union | part);
            let sizes = parts.iter().map(|part| part.count_ones());
            let (first, last) = (parts[0].count_ones(), parts[parts.len() - 1].count_ones());
            union == whole
                && sizes.clone().sum::<u32>() == whole.count_ones()
                && sizes.rev().is_sorted()
                && last >= 1
                && first <= last + 1
        };
        for channels in 1..=MAX_CHANNELS {
            let all = u32::MAX >> (32 - channels);
            for classes in 1..=3 {
                for traffic_classes in 1..=channels / classes {
                    let made = Classes::new(channels, traffic_classes, classes);
                    let numbers = 0..traffic_classes as u8;
                    let whole = numbers.clone().map(|number| made.lanes(number, None));
                    assert!(is_fair(&whole.collect::<Vec<_>>(), all));
                    for number in numbers {
                        let parts = (0..classes).map(|class| made.lanes(number, Some(class)));
                        let whole = made.lanes(number, None);
                        assert!(is_fair(&parts.collect::<Vec<_>>(), whole));
                    }
                }
            }
        }
    }
}
