//! A tally: what each link carries, apart for groups of packets.
//!
//! Counters of a link add up all packets. A tally parts them by a number from the packet's token, which the adapters choose: the
//! jobs that share a link, for example. It is kept only if somebody asks for it, and changes nothing of what happens.
//!
//! A packet counts, with all of its flits, on each link of which it gets a channel. So the sums over the groups are the packets and
//! flits of the link's counters once all packets have passed.

use super::Control;
use crate::motion::Motion;
use crate::topology::Compiled;
use crate::{LinkId, PacketId};
use typed_index_collections::{TiVec, ti_vec};

/// What a link has carried of one group of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The link.
    pub link: LinkId,
    /// The group.
    pub group: u8,
    /// Packets.
    pub packets: u64,
    /// Flits of these packets.
    pub flits: u64,
}

/// The group of a packet, by its token.
pub type Group = fn(u64) -> u8;

/// Packets and flits of a group.
type Count = [u64; 2];

/// A tally under way.
pub(super) struct Tally {
    group: Group,
    /// By link and group; the groups of a link end with the last one that it has carried.
    counts: TiVec<LinkId, Vec<Count>>,
}

impl<R: Compiled + ?Sized, M: Motion> Control<R, M> {
    /// From here on counts by groups.
    pub fn tally(&mut self, group: Group) {
        let counts = ti_vec![Vec::new(); self.wiring().links() as usize];
        self.tally = Some(Box::new(Tally { group, counts }));
    }

    /// The counts so far, by link and group.
    pub fn tallied(&self) -> Vec<Share> {
        let tally = self.tally.iter();
        let links = tally.flat_map(|tally| tally.counts.iter_enumerated());
        let shares = links.flat_map(|(link, groups)| {
            let groups = (0..=u8::MAX).zip(groups);
            groups.map(move |(group, &[packets, flits])| Share {
                link,
                group,
                packets,
                flits,
            })
        });
        shares.filter(|share| share.packets > 0).collect()
    }

    /// A packet has got a channel of a link.
    #[cold]
    pub(super) fn note_taken(&mut self, packet: PacketId, link: LinkId) {
        let spec = self.flights.get(packet).spec;
        let Some(tally) = &mut self.tally else {
            return;
        };
        let group = usize::from((tally.group)(spec.token));
        let counts = &mut tally.counts[link];
        if counts.len() <= group {
            counts.resize(group + 1, [0, 0]);
        }
        let [packets, flits] = &mut counts[group];
        *packets += 1;
        *flits += u64::from(spec.flits);
    }
}
