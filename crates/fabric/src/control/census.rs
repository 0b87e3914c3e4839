//! Link and packet counters.

use super::Control;
use super::packet::Flight;
use crate::motion::{FlitCensus, FlitFate, Motion};
use crate::topology::CompiledRouting;
use crate::{ChannelId, LinkId, Place};
use std::ops::AddAssign;

/// A link's counters since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets of which the link has sent the first flit.
    pub packets: u64,
    /// Packet flits.
    pub flits: u64,
    /// Acknowledgements and EOPs.
    pub tokens: u64,
    /// Cycles in which the link was busy with flits and tokens: as many, but for a slow link, which
    /// takes several for each.
    pub busy: u64,
    /// Cycles that packets waited to enter the link: from the header's arrival at the switch (or
    /// the offer, at an adapter) to the packet's first flit on the link.
    pub waiting: u64,
    /// Cycles that these packets have waited since their injection, at the adapter and at all
    /// switches on their way, when their headers come in at the link's end: the waits for this link
    /// and for the links before it, but not the time before a packet took its injection channel,
    /// which is the adapter's backlog.
    pub delay: u64,
    /// Packets, packet headers and acknowledgements that bit errors have damaged on the link.
    pub errors: u64,
    /// Cycles in which the link's cable was dead.
    pub down: u64,
}

/// Packets by their state: `offered = queued + under_way + acknowledged`, at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCensus {
    /// Handed to the fabric so far.
    pub offered: u64,
    /// Waiting at adapters.
    pub queued: u64,
    /// Injected and not yet acknowledged.
    pub under_way: u64,
    /// Acknowledged: their life is over.
    pub acknowledged: u64,
}

impl AddAssign for PacketCensus {
    fn add_assign(&mut self, other: Self) {
        self.offered += other.offered;
        self.queued += other.queued;
        self.under_way += other.under_way;
        self.acknowledged += other.acknowledged;
    }
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    pub fn queued(&self, node: Place) -> usize {
        let classes = self.traffic_classes();
        classes
            .map(|class| self.queues.len(self.queue(node, class)))
            .sum()
    }

    pub fn counters(&self, motion: &M, link: LinkId) -> LinkCounters {
        let carried = motion.carried(&self.channels.records, link, self.clock.now());
        let [packets, waiting, delay] = self.channels.counts(link);
        LinkCounters {
            packets,
            flits: carried.flits,
            tokens: carried.tokens,
            busy: self
                .config
                .pace_of(link)
                .time(carried.flits + carried.tokens),
            waiting,
            delay,
            errors: self.faults.as_ref().map_or(0, |faults| faults.errors(link)),
            down: self
                .faults
                .as_ref()
                .map_or(0, |faults| faults.down(link, self.clock.now())),
        }
    }

    /// Flits by state. Those that were sent over outbound links are looked up in the regions behind
    /// these.
    pub fn flit_census(&self, motion: &M, behind: &dyn Fn(ChannelId) -> FlitFate) -> FlitCensus {
        motion.census(&self.channels.records, self.clock.now(), behind)
    }

    /// The fate of the flits that have come over an inbound channel.
    pub fn passed(&self, motion: &M, channel: ChannelId) -> FlitFate {
        motion.passed(&self.channels.records, channel, self.clock.now())
    }

    /// A channel's link.
    pub fn link(&self, channel: ChannelId) -> LinkId {
        self.channels.link(channel)
    }

    pub fn events(&self) -> u64 {
        self.clock.events()
    }

    pub fn packet_census(&self) -> PacketCensus {
        self.queues.census()
    }

    /// Channels on all links that are not free, nor will be free after their cable's repair.
    pub fn taken(&self) -> u64 {
        let kept = |link| self.faults.as_ref().map_or(0, |faults| faults.kept(link));
        let links = self.channels.all_free();
        let taken =
            |(link, free): (LinkId, u32)| self.config.channels - (free | kept(link)).count_ones();
        links.map(taken).map(u64::from).sum()
    }

    pub fn flits_under_way(&self) -> u64 {
        let counts = |flight: &&Flight<R::Path>| {
            !flight.spec.destination.is_broadcast() && flight.delivered == 0
        };
        let flights = self.flights.iter();
        let flights = flights
            .filter(|(packet, _)| !self.is_visitor(*packet))
            .map(|(_, flight)| flight);
        let packets = flights
            .filter(counts)
            .map(|flight| u64::from(flight.spec.flits));
        let broadcasts = self
            .broadcasts
            .undelivered()
            .map(|(root, nodes)| u64::from(self.flights.get(root).spec.flits) * u64::from(nodes));
        packets.chain(broadcasts).sum()
    }
}
