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

use super::Records;
use super::line::Line;
use super::state::Specials;
use crate::{ChannelId, Config, Cycle, LinkId};

/// See the essay of the module.
pub(super) struct Mirrors {
    /// For each channel of an outbound link, the cycle in which it was granted last.
    granted: Vec<Cycle>,
    /// Whether there is a border.
    is_region: bool,
}

impl Mirrors {
    /// The mirrors of a region with a number of outbound links, or of a whole network.
    pub fn new(config: &Config, outbound: Option<usize>) -> Self {
        Mirrors {
            granted: vec![0; outbound.unwrap_or(0) * config.channels as usize],
            is_region: outbound.is_some(),
        }
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
