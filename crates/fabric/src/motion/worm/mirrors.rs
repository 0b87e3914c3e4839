//! Mirrors: the room behind channels that leave a region ([`crate::regions`]), as their senders see
//! it.
//!
//! An outbound link's channel has a *mirror* downstream, a record behind the special channels. The
//! mirror has one line, `Q`, the credits that are back by a cycle: the line `S` that the channel
//! behind the border had `C - 1` cycles earlier, `C` being the credit delay. When that channel
//! starts or stops in cycle `t`, [`Event::Leaves`](crate::motion::Event::Leaves) or
//! [`Event::Stays`](crate::motion::Event::Stays) comes for `t + C`, the first cycle in which the
//! sender can see a difference. A line that starts or stops at `t + C - 1` has the same value in
//! that cycle before and after, so that the event is in time. A prediction that was made without
//! such a stop is lowered before links are evaluated. A worm that fits into the buffer needs no
//! credits, nor does a worm that has come over the border entirely.
//!
//! The previous worm's events may come after a grant. All its flits had left the buffer before the
//! grant, and no flit from the new worm leaves the buffer until after the grant: so the moments
//! differ.
//!
//! *Followed channels.* If the worm branches behind the border, the slowest branch's line `S`
//! counts, the least one. It turns when a branch starts or stops, and when it comes up to a branch
//! that stands. If a branch, or the only channel behind the border, lies on a slow link, its line
//! turns twice for each flit, unless two flits go in a row. The mover behind the border finds the
//! turns behind a cycle's changes (`credits`), and the sender sees one line.

use super::Records;
use super::line::Line;
use super::state::EndChannels;
use crate::{ChannelId, Config, Cycle, LinkId};
use std::collections::BTreeMap;

/// See the module essay.
pub(super) struct Mirrors {
    /// For each channel on an outbound link, the cycle in which it was granted last.
    granted: Vec<Cycle>,
    /// Whether there is a border.
    is_region: bool,
    /// Inbound channels with worms that branch or go on over slow links, each with the last news for
    /// its sender: whether the slowest branch moves.
    pub followed: BTreeMap<ChannelId, bool>,
    /// The subset that is to be looked at in this cycle.
    pub turned: Vec<ChannelId>,
}

impl Mirrors {
    /// The mirrors for a region with this many outbound links, or for a whole network.
    pub fn new(config: &Config, outbound: Option<usize>) -> Self {
        Mirrors {
            granted: vec![0; outbound.unwrap_or(0) * config.channels as usize],
            is_region: outbound.is_some(),
            followed: BTreeMap::new(),
            turned: Vec::new(),
        }
    }

    /// An inbound channel's worm branches, or goes on over a slow link.
    pub fn follow(&mut self, channel: ChannelId) {
        self.followed.insert(channel, false);
    }

    /// Another worm comes by an inbound channel.
    pub fn forget(&mut self, channel: ChannelId) {
        self.followed.remove(&channel);
    }

    /// Has the branches behind a channel looked at in this cycle, if it is followed. Returns whether
    /// it is.
    #[inline]
    pub fn turns(&mut self, channel: ChannelId) -> bool {
        let is_followed = !self.followed.is_empty() && self.followed.contains_key(&channel);
        if is_followed {
            self.turned.push(channel);
        }
        is_followed
    }

    /// Whether any are to be looked at.
    #[inline]
    pub fn have_turned(&self) -> bool {
        !self.turned.is_empty()
    }

    /// How many mirrors there are.
    pub fn count(&self) -> usize {
        self.granted.len()
    }

    /// Whether the mover serves one region, and other movers the others.
    #[inline]
    pub fn is_region(&self) -> bool {
        self.is_region
    }

    /// The mirror for channel `lane` on an outbound link begins with a worm: all credits are back.
    pub fn begin(
        &mut self,
        records: &mut Records,
        specials: EndChannels,
        (link, lane): (LinkId, u32),
        now: Cycle,
    ) -> ChannelId {
        let number = records.links[link].hop.mirror(lane);
        self.granted[number as usize] = now;
        let mirror = specials.mirror(number);
        records.channels[mirror].motion.sent = Line::standing(0);
        mirror
    }

    /// The mirror for channel `lane` on an outbound link, if a flit that left the buffer in this
    /// cycle belongs to its worm.
    pub fn of(
        &self,
        records: &Records,
        specials: EndChannels,
        (link, lane): (LinkId, u32),
        left: Cycle,
    ) -> Option<ChannelId> {
        let number = records.links[link].hop.mirror(lane);
        (left > self.granted[number as usize]).then(|| specials.mirror(number))
    }
}
