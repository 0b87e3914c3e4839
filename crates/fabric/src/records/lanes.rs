//! Virtual channel numbers.

use crate::{ChannelId, LinkId};

/// The virtual channel numbering: lane `c` on link `l` has number `l 2^k + c`, with the least `k`
/// that suffices, so that link and lane are found without a division.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    /// Channels on a link.
    pub count: u32,
    bits: u32,
    mask: u32,
}

impl Lanes {
    /// The numbering for links with `count` channels each.
    pub fn new(count: u32) -> Self {
        let room = count.next_power_of_two();
        Lanes {
            count,
            bits: room.trailing_zeros(),
            mask: room - 1,
        }
    }

    /// A channel's link.
    pub fn link(self, channel: ChannelId) -> LinkId {
        LinkId::new(channel.get().wrapping_shr(self.bits))
    }

    /// The place of a channel on its link.
    pub fn lane(self, channel: ChannelId) -> u32 {
        channel.get() & self.mask
    }

    /// The channel at a place on a link.
    pub fn channel(self, link: LinkId, lane: u32) -> ChannelId {
        ChannelId::new(link.get().wrapping_shl(self.bits) | lane)
    }

    /// All channels on a link.
    pub fn of(self, link: LinkId) -> impl Iterator<Item = ChannelId> + Clone {
        let first = self.channel(link, 0).get();
        (first..first + self.count).map(ChannelId::new)
    }

    /// The bound for channel numbers, some of which are unused.
    pub fn bound(self, links: usize) -> usize {
        links << self.bits
    }
}
