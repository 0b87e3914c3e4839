//! # Packets that wait at their adapters
//!
//! The packets of all adapters are in one store, and a queue is a list in it, first in, first out. A place of the store that has
//! fallen free is taken by the next packet that comes: at any time the store is as large as the packets that waited together at most,
//! and where few wait it stays near the processor, however many adapters there are.

use super::packet::PacketSpec;
use crate::Cycle;
use crate::prefetch::prefetch;
use slab::Slab;

/// A packet that waits, since the cycle of its offer.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    pub spec: PacketSpec,
    pub at: Cycle,
}

/// The packets that wait at all adapters, each with the place of the packet behind it in its list. The place of a last packet is
/// not valid.
#[derive(Default)]
pub(super) struct Offers(Slab<(Offer, u32)>);

/// Packets that wait for the same, in the order of their offers.
#[derive(Clone, Copy, Default)]
struct List {
    /// Places in the store, valid unless the list is empty.
    first: u32,
    last: u32,
    length: u32,
}

/// The packets of a traffic class at an adapter.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Queue {
    /// High priority, low priority.
    lists: [List; 2],
    /// Packets injected and not yet acknowledged.
    pub outstanding: u32,
}

const _: () = assert!(size_of::<Queue>() == 32, "half a cache line");

impl Queue {
    /// Puts a packet behind those of its priority.
    pub fn push(&mut self, offers: &mut Offers, is_high: bool, offer: Offer) {
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

    /// The next packet: the first one of high priority, or else of low priority.
    pub fn first(&self, offers: &Offers) -> Option<Offer> {
        let list = self.lists.iter().find(|list| list.length > 0)?;
        Some(offers.0[list.first as usize].0)
    }

    /// Takes the next packet out of the queue.
    pub fn pop(&mut self, offers: &mut Offers) -> Option<Offer> {
        let list = self.lists.iter_mut().find(|list| list.length > 0)?;
        let (offer, behind) = offers.0.remove(list.first as usize);
        list.first = behind;
        list.length -= 1;
        Some(offer)
    }

    pub fn len(&self) -> usize {
        self.lists.iter().map(|list| list.length as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.length == 0)
    }

    /// Has the processor fetch the record of the next packet.
    #[inline]
    pub fn fetch_first(&self, offers: &Offers) {
        if let Some(list) = self.lists.iter().find(|list| list.length > 0) {
            prefetch(offers.0.get(list.first as usize));
        }
    }
}

#[cfg(test)]
mod tests;
