//! Prefetching: the records of the links that are looked at in a cycle come from memory before they
//! are needed.

use super::WormMover;
use crate::motion::Witness;
use crate::prefetch::{at_stage, prefetch};

impl WormMover {
    /// Prefetches the records that the marked links need when they are looked at, in stages: the record of the link at `place`,
    /// and for links before it the records named by those in the stage before.
    #[inline(never)]
    pub(super) fn look_at_link(&self, place: usize, witness: &impl Witness<Self>) {
        let records = witness.records();
        let marked = |stage| at_stage(&self.marked, place, stage);
        let first = |stage: usize| {
            let link = marked(stage)?;
            let unsent = records.links[link].motion.unsent;
            (unsent != 0).then(|| self.lanes.channel(link, unsent.trailing_zeros()))
        };
        let adapter = |stage: usize| {
            let link = marked(stage)?;
            let shares = records.links[link].motion.shares();
            shares.then(|| self.adapter_of(link).0)
        };
        if let Some(link) = marked(0) {
            records.fetch_link(link);
        }
        if let Some(channel) = first(1) {
            records.fetch_channel(channel);
        }
        if let Some(adapter) = adapter(1) {
            prefetch(self.adapters.get(adapter));
        }
        if let Some(adapter) = adapter(2) {
            let both = &self.adapters[adapter].links;
            for &link in both {
                records.fetch_link(link);
            }
        }
        if let Some(channel) = first(2) {
            let this = &records.channels[channel].motion;
            records.fetch_channel(this.up);
            records.fetch_channel(this.down);
            witness.fetch_packet(channel);
        }
    }
}
