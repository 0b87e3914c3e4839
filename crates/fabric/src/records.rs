//! # Link records: one cache line each
//!
//! A run of a large network waits for memory. A packet crosses some ten links; both planes look at
//! each link several times, and meanwhile the processor's nearest memory has evicted it. So one
//! record of 64 bytes, a cache line, holds all link data that the control plane and the mover need
//! for each packet, and a half-line record holds the same for a channel.
//!
//! *Small numbers.* Cycles have 32 bits ([`Moment`]): they are less than 2^31 cycles away from the
//! last executed cycle, as the mover makes sure. Counts have 32 bits, and a count that would run
//! over continues in a table for such links ([`Records::count`]). Data for some topologies or for
//! broadcasts alone is kept elsewhere.
//!
//! *Owner.* A record belongs to the link's sending end, a switch or an adapter. Grants, releases
//! and the choice of the moving channel happen there. The receiving end
//!
//! * reads `hop` and `holder` when a header arrives, and `arrived` and `sent` for the next link;
//! * writes `arrived` when flits begin or cease to arrive, and `down` when the header is granted a
//!   channel;
//! * lowers the link's prediction if the buffer fills, and charges tokens to the opposite link.
//!
//! The sending end reads one value in the next record, the downstream channel's `sent`. Reads of
//! `sent` and `arrived` do not depend on changes in the same cycle. The changes by the receiving
//! end are due at least a cycle later, or are known one link delay ahead. So a network that is cut
//! into parts can keep each record with its sending end, and send these changes as messages. Where
//! credits take longer than a cycle, the sending end reads a line of returned credits instead,
//! which belongs to it; each change is known the credit delay ahead.

mod hop;
mod lanes;

pub(crate) use hop::{EJECTS, Hop, Sender};
pub use lanes::Lanes;

use crate::id::PacketId;
use crate::prefetch::prefetch;
use crate::{ChannelId, Cycle, LinkId, table};
use bytemuck::Zeroable;
use std::collections::BTreeMap;
use typed_index_collections::TiVec;

/// A cycle less than 2^31 cycles from a known one, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
pub(crate) struct Moment(u32);

impl Moment {
    /// A cycle's record.
    #[inline]
    pub fn new(cycle: Cycle) -> Self {
        Moment(cycle as u32)
    }

    /// The cycle, if it is less than 2^31 cycles from cycle `near`.
    #[inline]
    pub fn by(self, near: Cycle) -> Cycle {
        near.wrapping_add_signed(self.ahead(near).into())
    }

    /// Whether the cycle is not after cycle `near`.
    #[inline]
    pub fn has_come(self, near: Cycle) -> bool {
        self.ahead(near) <= 0
    }

    /// Whether this is a cycle.
    #[inline]
    pub fn is(self, cycle: Cycle) -> bool {
        self == Moment::new(cycle)
    }

    /// By how many cycles the cycle is after cycle `near`.
    #[inline]
    fn ahead(self, near: Cycle) -> i32 {
        self.0.wrapping_sub(near as u32).cast_signed()
    }
}

/// A link's counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    /// Packets of which the link has sent the first flit.
    Packets,
    /// Cycles that these packets waited to enter the link.
    Waited,
    /// Cycles that these packets waited since their injection, for this link and for the links
    /// before.
    Delay,
    /// Flits, for movers that do not count each.
    Flits,
    /// Tokens, as well.
    Tokens,
}

/// How many counts a link has.
const COUNTS: usize = 5;

/// A directed link, as the control plane and the mover see it.
#[derive(Clone, Copy, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Link<L> {
    pub hop: Hop,
    /// The free channels, as bits.
    pub free: u32,
    /// By [`Count`].
    counts: [u32; COUNTS],
    pub motion: L,
}

impl<L> Link<L> {
    /// A link at rest, with all channels free.
    fn at_rest<M: State<Link = L>>(motion: &M, lanes: Lanes, number: LinkId, hop: Hop) -> Self {
        Link {
            hop,
            free: ((1_u64 << lanes.count) - 1) as u32,
            counts: [0; COUNTS],
            motion: motion.at_rest(number, &hop),
        }
    }
}

/// A virtual channel.
#[derive(Clone, Copy, Zeroable)]
#[repr(C, align(32))]
pub(crate) struct Channel<C> {
    pub motion: C,
    /// The packet that holds the channel, or has held it last.
    pub holder: Option<PacketId>,
}

/// A mover's state, as the records hold it.
pub(crate) trait State {
    /// The state of a link, in its record.
    type Link: Copy + Send + Sync + Zeroable;

    /// The state of a channel, in its record.
    type Channel: Copy + Send + Sync + Zeroable;

    /// A link at rest.
    fn at_rest(&self, link: LinkId, hop: &Hop) -> Self::Link;

    /// A channel that is free.
    fn closed(&self) -> Self::Channel;

    /// Records behind those of the link channels, for the mover's own use.
    fn ends(&self) -> Vec<Self::Channel> {
        Vec::new()
    }
}

/// All links and channels in a network, with a mover's state. See the module essay.
pub(crate) struct Records<M: State> {
    pub links: TiVec<LinkId, Link<M::Link>>,
    pub channels: TiVec<ChannelId, Channel<M::Channel>>,
    /// The carries from a link's counts.
    over: BTreeMap<LinkId, [u64; COUNTS]>,
    /// Each link's credit delay in cycles; empty if all are one cycle.
    credit_delays: TiVec<LinkId, u16>,
}

impl<M: State> Records<M> {
    /// Records at rest for some links in a whole network, for a region, and blank ones for all
    /// others: see [`Hop::is_blank`].
    pub fn of_some(
        motion: &M,
        lanes: Lanes,
        hops: &TiVec<LinkId, Hop>,
        links: impl Iterator<Item = LinkId>,
        credit_delay: Option<&impl Fn(LinkId) -> u16>,
    ) -> Self {
        let (ends, holder) = (motion.ends(), None);
        let bound = lanes.bound(hops.len());
        let delays = credit_delay.is_some();
        let mut records = Records {
            links: table::blank(hops.len()),
            channels: table::blank(bound + ends.len()),
            over: BTreeMap::new(),
            credit_delays: table::blank(if delays { hops.len() } else { 0 }),
        };
        for link in links {
            records.links[link] = Link::at_rest(motion, lanes, link, hops[link]);
            for channel in lanes.of(link) {
                let motion = motion.closed();
                records.channels[channel] = Channel { motion, holder };
            }
            if let Some(delay) = credit_delay {
                records.credit_delays[link] = delay(link);
            }
        }
        for (place, motion) in ends.into_iter().enumerate() {
            records.channels[ChannelId::new((bound + place) as u32)] = Channel { motion, holder };
        }
        records
    }

    /// Links at rest, with all channels free. No credit delay list stands for one-cycle delays.
    pub fn new(
        motion: &M,
        lanes: Lanes,
        hops: TiVec<LinkId, Hop>,
        credit_delays: TiVec<LinkId, u16>,
    ) -> Self {
        let count = hops.len();
        let mut links = table::with_room(count);
        let hops = hops.into_iter_enumerated();
        links.extend(hops.map(|(number, hop)| Link::at_rest(motion, lanes, number, hop)));
        let record = |motion| Channel {
            motion,
            holder: None,
        };
        let ends = motion.ends();
        let bound = lanes.bound(count);
        let mut channels = table::with_room(bound + ends.len());
        channels.resize(bound, record(motion.closed()));
        channels.extend(ends.into_iter().map(record));
        Records {
            links,
            channels,
            over: BTreeMap::new(),
            credit_delays,
        }
    }

    /// A link's credit delay, in cycles.
    #[inline]
    pub fn credit_delay(&self, link: LinkId) -> Cycle {
        self.credit_delays.get(link).copied().map_or(1, Cycle::from)
    }

    /// Counts a packet as the link sends its first flit, and its wait.
    #[inline]
    pub fn count_packet(&mut self, link: LinkId, waited: Cycle, delay: Cycle) {
        let [packets, all_waited, all_delay, ..] = &mut self.links[link].counts;
        let sums = [
            u64::from(*packets) + 1,
            u64::from(*all_waited) + waited,
            u64::from(*all_delay) + delay,
        ];
        // One branch for all.
        if (sums[0] | sums[1] | sums[2]) > u32::MAX.into() {
            return self.run_over(link, &[1, waited, delay]);
        }
        *packets = sums[0] as u32;
        *all_waited = sums[1] as u32;
        *all_delay = sums[2] as u32;
    }

    /// Adds to a link's count.
    #[inline]
    pub fn count(&mut self, link: LinkId, count: Count, more: u64) {
        let total = &mut self.links[link].counts[count as usize];
        let sum = u64::from(*total) + more;
        if sum > u32::MAX.into() {
            let mut all = [0; COUNTS];
            all[count as usize] = more;
            return self.run_over(link, &all);
        }
        *total = sum as u32;
    }

    /// Adds to a link's first counts, one of which would run over.
    #[cold]
    fn run_over(&mut self, link: LinkId, more: &[u64]) {
        let over = self.over.entry(link).or_default();
        let counts = &mut self.links[link].counts;
        for ((over, count), more) in over.iter_mut().zip(counts).zip(more) {
            *over += u64::from(std::mem::take(count)) + more;
        }
    }

    /// A link's count.
    pub fn counted(&self, link: LinkId, count: Count) -> u64 {
        let over = self.over.get(&link).map_or(0, |over| over[count as usize]);
        over + u64::from(self.links[link].counts[count as usize])
    }

    /// Prefetches a link's record.
    #[inline]
    pub fn fetch_link(&self, link: LinkId) {
        prefetch(self.links.get(link));
    }

    /// Prefetches a channel's record.
    #[inline]
    pub fn fetch_channel(&self, channel: ChannelId) {
        prefetch(self.channels.get(channel));
    }
}

#[cfg(test)]
mod tests;
