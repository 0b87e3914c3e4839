//! Mirrors: the room behind channels that leave a region ([`crate::regions`]), as their senders see
//! it.
//!
//! A channel of an outbound link has a *mirror* downstream, a record behind the special channels.
//! The mirror has one line, `Q`, the credits that are back by a cycle: line `S` of the channel
//! behind the border as it was `C - 1` cycles earlier, `C` being the credit delay. When that
//! channel starts or stops in cycle `t`, [`Event::Leaves`](crate::motion::Event::Leaves) or
//! [`Event::Stays`](crate::motion::Event::Stays) comes for `t + C`, the first cycle in which the
//! sender can see a difference. A line that starts or stops at `t + C - 1` has the same value in
//! that cycle before and after, so that the event is in time. A prediction that was made without
//! such a stop is lowered before links are evaluated. A worm that fits into the buffer needs no
//! credits, nor does a worm whose flits have all come over the border.
//!
//! Events of the worm before may come after a grant. All flits of that worm had left the buffer
//! before the grant, and no flit of the new worm leaves the buffer until after the grant: so the
//! moments differ.
//!
//! *Branches.* If the worm branches behind the border, line `S` of the slowest branch counts, the least of
//! all. It turns when a branch starts or stops, and when it comes up to a branch that stands. The mover of
//! the region behind the border finds its turns behind the changes of a cycle
//! (`credits`), and the sender sees one line.

use super::Records;
use super::line::Line;
use super::state::Specials;
use crate::{ChannelId, Config, Cycle, LinkId};
use std::collections::BTreeMap;

/// See the essay of the module.
pub(super) struct Mirrors {
    /// For each channel of an outbound link, the cycle in which it was granted last.
    granted: Vec<Cycle>,
    /// Whether there is a border.
    is_region: bool,
    /// Inbound channels whose worm branches, each with the last news for its sender: whether the slowest
    /// branch moves.
    pub branched: BTreeMap<ChannelId, bool>,
    /// Those of them that are to be looked at in this cycle.
    pub turned: Vec<ChannelId>,
}

impl Mirrors {
    /// The mirrors of a region with a number of outbound links, or of a whole network.
    pub fn new(config: &Config, outbound: Option<usize>) -> Self {
        Mirrors {
            granted: vec![0; outbound.unwrap_or(0) * config.channels as usize],
            is_region: outbound.is_some(),
            branched: BTreeMap::new(),
            turned: Vec::new(),
        }
    }

    /// The worm of an inbound channel branches.
    pub fn branches(&mut self, channel: ChannelId) {
        self.branched.insert(channel, false);
    }

    /// Another worm comes by an inbound channel.
    pub fn forget(&mut self, channel: ChannelId) {
        self.branched.remove(&channel);
    }

    /// Has the branches behind a channel looked at in this cycle, if it is inbound and its worm branches.
    /// Returns whether it is so.
    #[inline]
    pub fn turns(&mut self, channel: ChannelId) -> bool {
        let branches = !self.branched.is_empty() && self.branched.contains_key(&channel);
        if branches {
            self.turned.push(channel);
        }
        branches
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

    /// Whether the mover moves a region of a network, and other movers the other regions.
    #[inline]
    pub fn is_region(&self) -> bool {
        self.is_region
    }

    /// The mirror of channel `lane` of an outbound link begins with a worm: all credits are back.
    pub fn begin(
        &mut self,
        records: &mut Records,
        specials: Specials,
        (link, lane): (LinkId, u32),
        now: Cycle,
    ) -> ChannelId {
        let number = records.links[link].hop.mirror(lane);
        self.granted[number as usize] = now;
        let mirror = specials.mirror(number);
        records.channels[mirror].motion.sent = Line::standing(0);
        mirror
    }

    /// The mirror of channel `lane` of an outbound link, if it has the worm some flit of which left
    /// the buffer in a cycle.
    pub fn of(
        &self,
        records: &Records,
        specials: Specials,
        (link, lane): (LinkId, u32),
        left: Cycle,
    ) -> Option<ChannelId> {
        let number = records.links[link].hop.mirror(lane);
        (left > self.granted[number as usize]).then(|| specials.mirror(number))
    }
}
