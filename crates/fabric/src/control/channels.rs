//! The channels of all links: which are free, which packet holds each, and how long packets waited
//! for them.

use super::classes::Classes;
use crate::PacketId;
use crate::motion::{Lanes, Motion};
use crate::records::Hop;
use crate::records::{Count, Records};
use crate::topology::Wiring;
use crate::{ChannelId, Config, Cycle, LinkId, SwitchId};
use std::sync::Arc;
use typed_index_collections::TiVec;

/// See the module essay.
pub(super) struct Channels<M: Motion> {
    lanes: Lanes,
    classes: Classes,
    /// All channels on a link, as bits.
    all: u32,
    /// The link and channel records, shared with the mover.
    pub records: Records<M>,
    /// The switch where each link ends, or 0 if the link ends in a node: some routings need it.
    switches: Arc<TiVec<LinkId, SwitchId>>,
}

/// The credit delay of a link, if any link's credits take longer than a cycle.
fn credit_delay(config: &Config) -> Option<impl Fn(LinkId) -> u16> {
    let delay = |link| config.credit_delay_of(link) as u16;
    config.has_late_credits().then_some(delay)
}

impl<M: Motion> Channels<M> {
    /// All channels are free.
    pub fn new(
        config: &Config,
        wiring: &dyn Wiring,
        (hops, switches): (TiVec<LinkId, Hop>, TiVec<LinkId, SwitchId>),
        motion: &M,
    ) -> Self {
        let credits = credit_delay(config).map_or_else(TiVec::new, |delay| {
            LinkId::all(wiring.links()).map(delay).collect()
        });
        let records = Records::new(motion, Lanes::new(config.channels), hops, credits);
        Self::with(config, wiring, Arc::new(switches), records)
    }

    /// The channels of some links, for a region.
    pub fn of_some(
        config: &Config,
        wiring: &dyn Wiring,
        (hops, switches): (&TiVec<LinkId, Hop>, Arc<TiVec<LinkId, SwitchId>>),
        motion: &M,
        links: impl Iterator<Item = LinkId>,
    ) -> Self {
        let lanes = Lanes::new(config.channels);
        let credits = credit_delay(config);
        let records = Records::of_some(motion, lanes, hops, links, credits.as_ref());
        Self::with(config, wiring, switches, records)
    }

    fn with(
        config: &Config,
        wiring: &dyn Wiring,
        switches: Arc<TiVec<LinkId, SwitchId>>,
        records: Records<M>,
    ) -> Self {
        Channels {
            lanes: Lanes::new(config.channels),
            classes: Classes::new(config.channels, config.traffic_classes, wiring.classes()),
            all: ((1_u64 << config.channels) - 1) as u32,
            switches,
            records,
        }
    }

    /// A channel's link.
    #[inline]
    pub fn link(&self, channel: ChannelId) -> LinkId {
        self.lanes.link(channel)
    }

    /// The place of a channel on its link.
    #[inline]
    pub fn lane(&self, channel: ChannelId) -> u32 {
        self.lanes.lane(channel)
    }

    /// The channel at a place on a link.
    #[inline]
    pub fn channel(&self, link: LinkId, lane: u32) -> ChannelId {
        self.lanes.channel(link, lane)
    }

    /// All channels on a link.
    pub fn of(&self, link: LinkId) -> impl Iterator<Item = ChannelId> + Clone + use<M> {
        self.lanes.of(link)
    }

    /// The channel count per link.
    pub fn per_link(&self) -> u32 {
        self.lanes.count
    }

    /// Where a link leads.
    #[inline]
    pub fn hop(&self, link: LinkId) -> &Hop {
        &self.records.links[link].hop
    }

    /// The switch where a link ends; 0 if it ends in a node.
    #[inline]
    pub fn switch(&self, link: LinkId) -> SwitchId {
        self.switches.get(link).copied().unwrap_or_default()
    }

    /// A link's free channels, as bits.
    #[inline]
    pub fn free(&self, link: LinkId) -> u32 {
        self.records.links[link].free
    }

    /// The free channels on all links that begin here.
    pub fn all_free(&self) -> impl Iterator<Item = (LinkId, u32)> {
        let links = self.records.links.iter_enumerated();
        let own = links.filter(|(_, link)| !link.hop.is_inbound() && !link.hop.is_blank());
        own.map(|(number, link)| (number, link.free))
    }

    /// All channels on a link, as bits.
    #[inline]
    pub fn all(&self) -> u32 {
        self.all
    }

    /// The channels of a traffic class, as bits; those in a routing class, if the routing names
    /// one.
    #[inline]
    pub fn of_class(&self, traffic_class: u8, class: Option<u32>) -> u32 {
        self.classes.lanes(traffic_class, class)
    }

    /// The packet that holds a channel, or has held it last.
    #[inline]
    pub fn holder(&self, channel: ChannelId) -> PacketId {
        let holder = self.records.channels[channel].holder;
        holder.unwrap_or(PacketId::FIRST)
    }

    /// Takes a link's lowest free channel among some channels.
    #[inline]
    pub fn take(&mut self, packet: PacketId, link: LinkId, lanes: u32) -> ChannelId {
        let free = &mut self.records.links[link].free;
        let number = (*free & lanes).trailing_zeros();
        *free &= !(1 << number);
        let channel = self.lanes.channel(link, number);
        self.records.channels[channel].holder = Some(packet);
        channel
    }

    /// A channel falls free.
    #[inline]
    pub fn release(&mut self, channel: ChannelId) {
        self.records.links[self.lanes.link(channel)].free |= 1 << self.lanes.lane(channel);
    }

    /// Bars all channels on a link. Returns those that were free.
    pub fn bar(&mut self, link: LinkId) -> u32 {
        std::mem::take(&mut self.records.links[link].free)
    }

    /// On a barred link these channels are free again, and no others.
    pub fn reopen(&mut self, link: LinkId, free: u32) {
        self.records.links[link].free = free;
    }

    /// Counts a packet as its first flit is sent over a channel, and its wait.
    #[inline]
    pub fn count(&mut self, channel: ChannelId, waited: Cycle, delay: Cycle) {
        let link = self.lanes.link(channel);
        self.records.count_packet(link, waited, delay);
    }

    /// Packets, their waits for the link, and their waits since the injection.
    pub fn counts(&self, link: LinkId) -> [u64; 3] {
        let counts = [Count::Packets, Count::Waited, Count::Delay];
        counts.map(|count| self.records.counted(link, count))
    }

    /// Sum of the header delays on the links of these channels, in cycles.
    pub fn delay(&self, channels: &[ChannelId]) -> Cycle {
        let delay = |&channel: &ChannelId| self.hop(self.link(channel)).delay();
        channels.iter().map(delay).sum()
    }
}
