//! The channels of all links: which are free, which packet holds each, and how long packets waited for them.

use super::arbitration::Hop;
use super::classes::Classes;
use super::packet::PacketId;
use crate::motion::Lanes;
use crate::prefetch::prefetch;
use crate::topology::Wiring;
use crate::{ChannelId, Config, Cycle, LinkId, table};
use typed_index_collections::TiVec;

/// A link, as the control plane sees it; a cache line.
#[repr(align(64))]
struct Link {
    hop: Hop,
    /// Packets whose first flit the link has sent.
    packets: u64,
    /// Cycles that these packets waited to enter the link.
    waited: Cycle,
    /// Cycles that these packets waited since their injection, for this link and for the links before.
    delay: Cycle,
}

/// See the essay of the module.
pub(super) struct Channels {
    lanes: Lanes,
    classes: Classes,
    /// All channels of a link, as bits.
    all: u32,
    links: TiVec<LinkId, Link>,
    /// The free channels of each link, as bits.
    free: TiVec<LinkId, u32>,
    /// The packet that holds each channel; valid while the channel is taken.
    holders: TiVec<ChannelId, PacketId>,
}

impl Channels {
    /// All channels are free.
    pub fn new(config: &Config, wiring: &dyn Wiring, hops: TiVec<LinkId, Hop>) -> Self {
        let lanes = Lanes::new(config.channels);
        let all = ((1_u64 << config.channels) - 1) as u32;
        let links = hops.len();
        let link = |hop| Link {
            hop,
            packets: 0,
            waited: 0,
            delay: 0,
        };
        Channels {
            lanes,
            classes: Classes::new(config.channels, config.traffic_classes, wiring.classes()),
            all,
            links: table::table(hops.into_iter().map(link)),
            free: table::equal(all, links),
            holders: table::equal(PacketId::at(0), lanes.bound(links)),
        }
    }

    /// The link of a channel.
    #[inline]
    pub fn link(&self, channel: ChannelId) -> LinkId {
        self.lanes.link(channel)
    }

    /// The place of a channel on its link.
    #[inline]
    pub fn lane(&self, channel: ChannelId) -> u32 {
        self.lanes.lane(channel)
    }

    /// The channel of a link at a place.
    #[inline]
    pub fn channel(&self, link: LinkId, lane: u32) -> ChannelId {
        self.lanes.channel(link, lane)
    }

    /// All channels of a link.
    pub fn of(&self, link: LinkId) -> impl Iterator<Item = ChannelId> + Clone + use<> {
        self.lanes.of(link)
    }

    /// The number of channels of a link.
    pub fn per_link(&self) -> u32 {
        self.lanes.count
    }

    /// Where a link leads.
    #[inline]
    pub fn hop(&self, link: LinkId) -> &Hop {
        &self.links[link].hop
    }

    /// The free channels of a link, as bits.
    #[inline]
    pub fn free(&self, link: LinkId) -> u32 {
        self.free[link]
    }

    /// The free channels of all links.
    pub fn all_free(&self) -> impl Iterator<Item = (LinkId, u32)> {
        self.free
            .iter_enumerated()
            .map(|(link, &free)| (link, free))
    }

    /// All channels of a link, as bits.
    #[inline]
    pub fn all(&self) -> u32 {
        self.all
    }

    /// The channels of a traffic class, as bits; those of a class of the routing, if the routing names one.
    #[inline]
    pub fn of_class(&self, traffic_class: u8, class: Option<u32>) -> u32 {
        self.classes.lanes(traffic_class, class)
    }

    /// The packet that holds a channel, or has held it last.
    #[inline]
    pub fn holder(&self, channel: ChannelId) -> PacketId {
        self.holders[channel]
    }

    /// Takes the lowest free channel of a link among some channels.
    #[inline]
    pub fn take(&mut self, packet: PacketId, link: LinkId, lanes: u32) -> ChannelId {
        let number = (self.free[link] & lanes).trailing_zeros();
        self.free[link] &= !(1 << number);
        let channel = self.lanes.channel(link, number);
        self.holders[channel] = packet;
        channel
    }

    /// A channel falls free.
    #[inline]
    pub fn release(&mut self, channel: ChannelId) {
        self.free[self.lanes.link(channel)] |= 1 << self.lanes.lane(channel);
    }

    /// Bars all channels of a link. Returns those that were free.
    pub fn bar(&mut self, link: LinkId) -> u32 {
        std::mem::take(&mut self.free[link])
    }

    /// Some channels of a link that was barred are free again, and no others.
    pub fn reopen(&mut self, link: LinkId, free: u32) {
        self.free[link] = free;
    }

    /// Counts a packet whose first flit is sent over a channel, and how long it waited.
    #[inline]
    pub fn count(&mut self, channel: ChannelId, waited: Cycle, delay: Cycle) {
        let link = &mut self.links[self.lanes.link(channel)];
        link.packets += 1;
        link.waited += waited;
        link.delay += delay;
    }

    /// Packets, their waits for the link, and their waits since the injection.
    pub fn counts(&self, link: LinkId) -> [u64; 3] {
        let link = &self.links[link];
        [link.packets, link.waited, link.delay]
    }

    /// Sum of the header delays of the channels' links, in cycles.
    pub fn delay(&self, channels: &[ChannelId]) -> Cycle {
        let delay = |&channel: &ChannelId| self.hop(self.link(channel)).delay();
        channels.iter().map(delay).sum()
    }

    /// Has the processor fetch the record of a link.
    #[inline]
    pub fn fetch_link(&self, link: LinkId) {
        prefetch(self.links.get(link));
    }

    /// Has the processor fetch the free channels of a link.
    #[inline]
    pub fn fetch_free(&self, link: LinkId) {
        prefetch(self.free.get(link));
    }

    /// Has the processor fetch the holder of a channel.
    #[inline]
    pub fn fetch_holder(&self, channel: ChannelId) {
        prefetch(self.holders.get(channel));
    }
}
