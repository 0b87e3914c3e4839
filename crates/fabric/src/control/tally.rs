//! A tally: link traffic by packet group.
//!
//! A link's counters add up all packets. A tally divides them by a number from the packet's token,
//! which the adapters choose: the jobs that share a link, for example. It is kept only on request,
//! and does not change the simulation.
//!
//! A packet counts, with all its flits, on each link where it gets a channel. So the sums over the
//! groups equal the packets and flits in the link's counters once all packets have passed.

use super::Control;
use crate::motion::Motion;
use crate::topology::CompiledRouting;
use crate::{LinkId, PacketId};
use typed_index_collections::{TiVec, ti_vec};

/// A link's traffic from one packet group.
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

/// A packet's group, by its token.
pub type GroupFn = fn(u64) -> u8;

/// A group's packets and flits.
type Count = [u64; 2];

/// A tally under way.
pub(super) struct Tally {
    group: GroupFn,
    /// By link and group; a link's groups end with the last one that it has carried.
    counts: TiVec<LinkId, Vec<Count>>,
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// From here on counts by groups.
    pub fn tally(&mut self, group: GroupFn) {
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

    /// A packet has got a channel on a link.
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
