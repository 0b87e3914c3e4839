//! The cut: the region of each adapter, switch and link.

use crate::topology::{End, Wiring};
use crate::{Circuit, Config, Cycle, LinkId, Place, SwitchId, table};
use std::collections::BTreeMap;
use typed_index_collections::TiVec;

/// The window for regions that no cable joins.
const LONGEST: Cycle = 1 << 20;

/// Switches of a block. With a tree's four links up each, they fill a page of link records.
const BLOCK: u32 = 16;

/// No region yet.
const NONE: u16 = u16::MAX;

/// The region of each adapter and switch, and of both link ends. See the essay of
/// [`regions`](crate::regions).
pub(crate) struct Cut {
    regions: usize,
    places: TiVec<Place, u16>,
    ends: TiVec<LinkId, [u16; 2]>,
    window: Cycle,
}

impl Cut {
    /// Cuts a network into at most `regions` regions. An adapter and its switch are in one region.
    ///
    /// Adapters near each other have numbers near each other: the switches that have adapters are
    /// taken in this order, and cut into ranges with equally many adapters. Any other switch
    /// belongs to the region with which it has the most cables, among equals to the one with the
    /// fewest ports so far. In a large network this choice holds for all switches with the same
    /// equals above [`BLOCK`] neighbouring switches, so that the links of a region have
    /// neighbouring records.
    pub fn new(wiring: &dyn Wiring, regions: u32) -> Self {
        let mut switches: TiVec<SwitchId, u16> = table::equal(NONE, wiring.switches() as usize);
        let leaf_of = |place| match wiring.ends(wiring.injection(place)).1 {
            End::Switch { switch, .. } => switch,
            End::Node(_) => unreachable!("an adapter is joined to a switch"),
        };
        let mut leaves: Vec<SwitchId> = Vec::new();
        let mut adapters: TiVec<SwitchId, u64> = table::equal(0, wiring.switches() as usize);
        for place in Place::all(wiring.places()) {
            let leaf = leaf_of(place);
            if adapters[leaf] == 0 {
                leaves.push(leaf);
            }
            adapters[leaf] += 1;
        }
        let (total, mut before) = (u64::from(wiring.places()), 0);
        // Each region's weight so far.
        let mut weights: Vec<u64> = Vec::new();
        let mut last = None;
        for leaf in leaves {
            let middle = 2 * before + adapters[leaf];
            let stretch = middle * u64::from(regions) / (2 * total);
            if last.replace(stretch) != Some(stretch) {
                weights.push(0);
            }
            before += adapters[leaf];
            let region = weights.len() - 1;
            switches[leaf] = region as u16;
            weights[region] += u64::from(wiring.ports(leaf));
        }
        let mut cut = Cut {
            regions: weights.len(),
            places: TiVec::new(),
            ends: TiVec::new(),
            window: 1,
        };
        cut.assign_others(wiring, &mut switches, &mut weights);
        cut.places = table::table(
            Place::all(wiring.places())
                .map(|place| switches[leaf_of(place)])
                .collect::<Vec<_>>()
                .into_iter(),
        );
        let region = |end| match end {
            End::Node(place) => switches[leaf_of(place)],
            End::Switch { switch, .. } => switches[switch],
        };
        let links: Vec<[u16; 2]> = LinkId::all(wiring.links())
            .map(|link| <[End; 2]>::from(wiring.ends(link)).map(region))
            .collect();
        cut.ends = table::table(links.into_iter());
        cut
    }

    /// Assigns the switches without adapters.
    fn assign_others(
        &self,
        wiring: &dyn Wiring,
        switches: &mut TiVec<SwitchId, u16>,
        weights: &mut [u64],
    ) {
        let mut others: Vec<SwitchId> = SwitchId::all(wiring.switches())
            .filter(|&switch| switches[switch] == NONE)
            .collect();
        others.sort_by_key(|&switch| wiring.switch_level(switch));
        let is_large = wiring.switches() as usize >= BLOCK as usize * BLOCK as usize * self.regions;
        let mut blocks: BTreeMap<(u32, Vec<usize>), usize> = BTreeMap::new();
        let mut cables = vec![0_u32; self.regions];
        while !others.is_empty() {
            let left = others.len();
            others.retain(|&switch| {
                cables.fill(0);
                let mut first = None;
                for port in 0..wiring.ports(switch) {
                    if let End::Switch { switch: next, .. } =
                        wiring.ends(wiring.output(switch, port)).1
                        && switches[next] != NONE
                    {
                        cables[usize::from(switches[next])] += 1;
                        first.get_or_insert(next);
                    }
                }
                let most = cables.iter().copied().max().filter(|&most| most > 0);
                let equals = (0..self.regions).filter(|&region| Some(cables[region]) == most);
                let mut best = equals.clone().min_by_key(|&region| weights[region]);
                if is_large && let (Some(first), Some(lightest)) = (first, best) {
                    let block = (first.get() / BLOCK, equals.collect());
                    best = Some(*blocks.entry(block).or_insert(lightest));
                }
                if let Some(region) = best {
                    switches[switch] = region as u16;
                    weights[region] += u64::from(wiring.ports(switch));
                }
                best.is_none()
            });
            if others.len() == left {
                // Switches that no cable joins to an adapter.
                for switch in others.drain(..) {
                    switches[switch] = 0;
                }
            }
        }
    }

    /// The region count.
    pub fn regions(&self) -> usize {
        self.regions
    }

    /// An adapter's region.
    #[inline]
    pub fn of_place(&self, place: Place) -> usize {
        self.places[place].into()
    }

    /// How many links begin in a region and end in another one.
    pub fn outbound(&self, region: usize) -> usize {
        let leaves = |[from, to]: &&[u16; 2]| from != to && usize::from(*from) == region;
        self.ends.iter().filter(leaves).count()
    }

    /// Cycles that regions execute between two meetings: each message comes at least this many
    /// cycles later.
    #[inline]
    pub fn window(&self) -> Cycle {
        self.window
    }

    /// Finds the longest window: the least header delay and credit delay on the links between
    /// regions, and no more than the EOP takes to the first such link. Where all channels on a path
    /// fall free a cycle after the delivery, it is a cycle.
    pub fn open(mut self, config: &Config) -> Self {
        let links = LinkId::all(config.topology.links());
        let border = links.filter(|&link| self.ends[link][0] != self.ends[link][1]);
        let delays = border.flat_map(|link| [config.delay_of(link), config.credit_delay_of(link)]);
        let injections =
            Place::all(config.topology.places()).map(|place| config.topology.injection(place));
        let first = injections.map(|link| config.delay_of(link)).min();
        let end = Cycle::from(first.expect("there are adapters")) + 1;
        self.window = match config.circuit {
            Circuit::UntilDelivered => 1,
            _ => delays.min().map_or(LONGEST, |delay| end.min(delay.into())),
        };
        self
    }

    /// The regions where a link begins and where it ends.
    #[inline]
    pub fn ends(&self, link: LinkId) -> [usize; 2] {
        self.ends[link].map(usize::from)
    }
}

#[cfg(test)]
mod tests;
