//! # Packets that wait at their adapters
//!
//! The packets of all adapters are in one store, and a queue is a list in it, first in, first out.
//! The next packet takes a free place: at any time the store is as large as the maximum that waited
//! together, and where few wait it stays near the processor, regardless of the adapter count.

use super::census::PacketCensus;
use super::packet::PacketSpec;
use crate::id::QueueId;
use crate::prefetch::prefetch;
use crate::{Cycle, Place, table};
use bytemuck::Zeroable;
use slab::Slab;
use typed_index_collections::TiVec;

/// A waiting packet, since the cycle of its offer.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    pub spec: PacketSpec,
    pub at: Cycle,
}

/// The packets that wait at all adapters, each with the place of the packet behind it in its list.
/// A last packet's place is not valid.
#[derive(Default)]
struct Offers(Slab<(Offer, u32)>);

/// An adapter's sending side, as the fabric sees it.
#[derive(Clone, Zeroable)]
struct Port {
    /// Packets injected so far.
    sequence: u32,
    /// Whether the adapter is on this cycle's list.
    flagged: bool,
}

/// The packets of all adapters from their offer to their end, as numbers, and those that wait.
pub(super) struct Queues {
    ports: TiVec<Place, Port>,
    /// Adapter by adapter, one queue per traffic class.
    classes: TiVec<QueueId, Queue>,
    /// The packets in these queues.
    offers: Offers,
    /// The adapters that inject in this cycle.
    flagged: Vec<Place>,
    offered: u64,
    acknowledged: u64,
}

impl Queues {
    /// Empty queues, one for each traffic class at an adapter.
    pub fn new(places: u32, traffic_classes: u32) -> Self {
        let queues = (places * traffic_classes) as usize;
        Queues {
            ports: table::equal(Port::zeroed(), places as usize),
            classes: table::equal(Queue::zeroed(), queues),
            offers: Offers::default(),
            flagged: Vec::new(),
            offered: 0,
            acknowledged: 0,
        }
    }

    /// The same for a region, which uses the places of its adapters.
    pub fn of_region(places: u32, traffic_classes: u32) -> Self {
        Queues {
            ports: table::blank(places as usize),
            classes: table::blank((places * traffic_classes) as usize),
            ..Self::new(0, 0)
        }
    }

    /// Puts a packet into a queue.
    #[inline]
    pub fn push(&mut self, queue: QueueId, is_high: bool, offer: Offer) {
        self.offered += 1;
        self.classes[queue].push(&mut self.offers, is_high, offer);
    }

    /// A queue's next packet.
    pub fn first(&self, queue: QueueId) -> Option<Offer> {
        self.classes[queue].first(&self.offers)
    }

    /// A queue's next packet leaves it, and is under way for its adapter. Returns it with its
    /// number there.
    #[inline]
    pub fn begin(&mut self, queue: QueueId, node: Place) -> Option<(Offer, u32)> {
        let queue = &mut self.classes[queue];
        let offer = queue.pop(&mut self.offers)?;
        queue.outstanding += 1;
        let port = &mut self.ports[node];
        let sequence = port.sequence;
        port.sequence = sequence.wrapping_add(1);
        Some((offer, sequence))
    }

    /// A queue's packet is acknowledged.
    #[inline]
    pub fn end(&mut self, queue: QueueId) {
        self.acknowledged += 1;
        self.classes[queue].outstanding -= 1;
    }

    /// A queue's packets that are injected and not yet acknowledged.
    #[inline]
    pub fn outstanding(&self, queue: QueueId) -> u32 {
        self.classes[queue].outstanding
    }

    /// Packets injected by an adapter so far.
    pub fn sequence(&self, node: Place) -> u32 {
        self.ports[node].sequence
    }

    pub fn len(&self, queue: QueueId) -> usize {
        self.classes[queue].len()
    }

    #[inline]
    pub fn is_empty(&self, queue: QueueId) -> bool {
        self.classes[queue].is_empty()
    }

    /// Has an adapter inject in this cycle.
    #[inline]
    pub fn flag(&mut self, node: Place) {
        if !std::mem::replace(&mut self.ports[node].flagged, true) {
            self.flagged.push(node);
        }
    }

    /// An adapter has its turn to inject.
    #[inline]
    pub fn unflag(&mut self, node: Place) {
        self.ports[node].flagged = false;
    }

    /// The adapters that inject in this cycle. The list does not grow during the loop.
    #[inline]
    pub fn flagged(&self) -> &[Place] {
        &self.flagged
    }

    pub fn reverse(&mut self) {
        self.flagged.reverse();
    }

    /// All adapters on the list have had their turn.
    #[inline]
    pub fn clear(&mut self) {
        self.flagged.clear();
    }

    pub fn census(&self) -> PacketCensus {
        let queues = &self.classes;
        PacketCensus {
            offered: self.offered,
            queued: queues.iter().map(|queue| queue.len() as u64).sum(),
            under_way: queues
                .iter()
                .map(|queue| u64::from(queue.outstanding))
                .sum(),
            acknowledged: self.acknowledged,
        }
    }

    /// Prefetches a queue's record.
    #[inline]
    pub fn fetch(&self, queue: QueueId) {
        prefetch(self.classes.get(queue));
    }

    /// Prefetches an adapter's record.
    #[inline]
    pub fn fetch_port(&self, node: Place) {
        prefetch(self.ports.get(node));
    }

    /// Prefetches a queue's next packet.
    #[inline]
    pub fn fetch_first(&self, queue: QueueId) {
        self.classes[queue].fetch_first(&self.offers);
    }
}

/// Packets that wait for the same, in offer order.
#[derive(Clone, Copy, Zeroable)]
struct List {
    /// Places in the store, valid unless the list is empty.
    first: u32,
    last: u32,
    length: u32,
}

/// The packets of a traffic class at an adapter.
#[derive(Clone, Copy, Zeroable)]
#[repr(align(32))]
struct Queue {
    /// High priority, low priority.
    lists: [List; 2],
    /// Packets injected and not yet acknowledged.
    outstanding: u32,
}

const _: () = assert!(size_of::<Queue>() == 32, "half a cache line");

impl Queue {
    /// Puts a packet behind those with its priority.
    fn push(&mut self, offers: &mut Offers, is_high: bool, offer: Offer) {
        let place = offers.0.insert((offer, 0)) as u32;
        let list = &mut self.lists[usize::from(!is_high)];
        if list.length == 0 {
            list.first = place;
        } else {
            offers.0[list.last as usize].1 = place;
        }
        list.last = place;
        list.length += 1;
    }

    /// The next packet: the first high-priority one, or else the first low-priority one.
    fn first(&self, offers: &Offers) -> Option<Offer> {
        let list = self.lists.iter().find(|list| list.length > 0)?;
        Some(offers.0[list.first as usize].0)
    }

    /// Removes the next packet from the queue.
    fn pop(&mut self, offers: &mut Offers) -> Option<Offer> {
        let list = self.lists.iter_mut().find(|list| list.length > 0)?;
        let (offer, behind) = offers.0.remove(list.first as usize);
        list.first = behind;
        list.length -= 1;
        Some(offer)
    }

    fn len(&self) -> usize {
        self.lists.iter().map(|list| list.length as usize).sum()
    }

    fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.length == 0)
    }

    /// Prefetches the next packet's record.
    #[inline]
    fn fetch_first(&self, offers: &Offers) {
        if let Some(list) = self.lists.iter().find(|list| list.length > 0) {
            prefetch(offers.0.get(list.first as usize));
        }
    }
}

#[cfg(test)]
mod tests;
