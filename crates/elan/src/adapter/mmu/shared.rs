//! All processes' memory, as adapters and hosts reach it: the process's MMU translates every
//! access.

use super::context::{Context, ContextError, MOST_CONTEXTS};
use super::{Range, pages};
use crate::Place;
use crate::dma::{DmaError, Notify};
use crate::memory::{
    Access, AccessFault, Address, Capability, Contents, ContextId, EVENT_BLOCK, ElanAddr, EventId,
    EventNumber, MemoryError, Permissions, Placement, QueueNumber, Reason, Region,
};
use crate::transaction::{WORD, word_of};
use typed_index_collections::TiVec;
use units::Bytes;

/// The memory behind an access, and the bytes if it holds any.
type MemoryView = (Placement, Option<Box<[u8]>>);

/// One adapter's MMU: the contexts of its processes, and the objects in its memory.
#[derive(Default)]
pub(crate) struct Mmu {
    contexts: TiVec<ContextId, Option<Box<Context>>>,
    /// Adapter memory that is taken, in whole pages.
    used: Bytes,
    /// Where all contexts' events lie, unless they have been freed.
    events: TiVec<EventNumber, Option<Address>>,
    /// Numbers of freed events.
    free_events: Vec<EventNumber>,
}

impl Mmu {
    /// Removes some of a context's events.
    fn free_events(&mut self, gone: impl IntoIterator<Item = EventNumber>) {
        for index in gone {
            self.events[index] = None;
            self.free_events.push(index);
        }
    }
}

/// All adapters' MMUs.
pub(crate) struct Memory {
    mmus: TiVec<Place, Mmu>,
    /// Each adapter's memory.
    size: Bytes,
}

impl Memory {
    pub fn new(adapters: u32, size: Bytes) -> Self {
        Memory {
            mmus: (0..adapters).map(|_| Mmu::default()).collect(),
            size,
        }
    }

    /// Makes a context for a process on each given node, all different, with the lowest number that
    /// is free on all of them. Context 0 belongs to the open processes; it is made when it is first
    /// used.
    pub fn attach(
        &mut self,
        nodes: &[Place],
        capability: Capability,
    ) -> Result<ContextId, ContextError> {
        if capability == Capability::OPEN {
            return Ok(ContextId::default());
        }
        let taken = |node: Place, number| {
            let contexts = &self.mmus[node].contexts;
            contexts.get(number).is_some_and(Option::is_some)
        };
        let mut number = ContextId::new(1);
        while let Some(&node) = nodes.iter().find(|&&node| taken(node, number)) {
            number = ContextId::new(number.get() + 1);
            if number.get() == MOST_CONTEXTS {
                return Err(ContextError { node });
            }
        }
        for &node in nodes {
            let contexts = &mut self.mmus[node].contexts;
            if number >= contexts.next_key() {
                contexts.resize_with(usize::from(number) + 1, || None);
            }
            contexts[number] = Some(Box::new(Context::new(capability)));
        }
        Ok(number)
    }

    /// Ends a context: its ranges, events and queues are gone.
    pub fn detach(&mut self, process: Address, capability: Capability) {
        if self.context(process, capability).is_err() {
            return;
        }
        let mmu = &mut self.mmus[process.node];
        let context = mmu.contexts[process.context].take();
        let context = context.expect("it is attached");
        mmu.free_events(context.events.values().copied());
        let held = context.space.ranges().iter();
        mmu.used -= held.map(Range::adapter_memory).sum::<Bytes>();
    }

    /// A process's context, if a capability may address it.
    #[inline]
    pub fn context(&self, at: Address, capability: Capability) -> Result<&Context, Reason> {
        let contexts = &self.mmus[at.node].contexts;
        let context = contexts.get(at.context);
        let context = context
            .and_then(Option::as_deref)
            .ok_or(Reason::NoContext)?;
        if context.capability == capability {
            Ok(context)
        } else {
            Err(Reason::Stranger)
        }
    }

    /// The context with the ranges that decide about an access to a process's memory, and whether
    /// this context is at another adapter.
    #[inline]
    fn reach(&self, at: Address, capability: Capability) -> Result<(&Context, bool), Reason> {
        let context = self.context(at, capability)?;
        match context.home {
            None => Ok((context, false)),
            Some(home) => Ok((self.context(home, capability)?, true)),
        }
    }

    /// Lets the context at an adapter reach the main memory of the same process's context at
    /// another adapter.
    pub fn settle(&mut self, at: Address, home: Address, capability: Capability) {
        let context = self.context_mut(at, capability);
        context.expect("it is attached").home = Some(home);
    }

    pub fn context_mut(
        &mut self,
        at: Address,
        capability: Capability,
    ) -> Result<&mut Context, Reason> {
        let contexts = &mut self.mmus[at.node].contexts;
        if at.context == ContextId::default() && capability == Capability::OPEN {
            if contexts.is_empty() {
                contexts.push(None);
            }
            contexts[at.context].get_or_insert_with(|| Box::new(Context::new(capability)));
        }
        self.context(at, capability)?;
        let contexts = &mut self.mmus[at.node].contexts;
        contexts[at.context].as_deref_mut().ok_or(Reason::NoContext)
    }

    /// The memory behind an access, if the access is valid. Zero bytes touch no memory.
    #[inline]
    pub fn translate(
        &self,
        at: Address,
        length: Bytes,
        access: Access,
        capability: Capability,
    ) -> Result<Placement, AccessFault> {
        if length.is_zero() {
            return Ok(Placement::Adapter);
        }
        let fault = |reason| AccessFault::new(at, length, access, reason);
        let (context, far) = self.reach(at, capability).map_err(fault)?;
        let found = context.space.translate(at.elan, length, access);
        let (range, _) = found.map_err(fault)?;
        in_reach(range.placement, far).map_err(fault)
    }

    /// Translates an access and reads: returns the memory behind it, and the bytes if it holds any.
    pub fn fetch(
        &self,
        at: Address,
        length: Bytes,
        access: Access,
        capability: Capability,
    ) -> Result<MemoryView, AccessFault> {
        let fault = |reason| AccessFault::new(at, length, access, reason);
        let (context, far) = self.reach(at, capability).map_err(fault)?;
        let found = context.space.translate(at.elan, length, access);
        let (range, offset) = found.map_err(fault)?;
        in_reach(range.placement, far).map_err(fault)?;
        let contents = range.contents.as_ref();
        let bytes = contents.map(|contents| contents.load(offset, length));
        Ok((range.placement, bytes))
    }

    /// Translates an access and writes, if the range holds bytes.
    pub fn write(
        &mut self,
        at: Address,
        bytes: &[u8],
        access: Access,
        capability: Capability,
    ) -> Result<(), AccessFault> {
        let length = Bytes::new(bytes.len() as u64);
        let fault = |reason| AccessFault::new(at, length, access, reason);
        if bytes.is_empty() {
            return Ok(());
        }
        let home = self.context(at, capability).map_err(fault)?.home;
        let context = self.context_mut(home.unwrap_or(at), capability);
        let context = context.map_err(fault)?;
        let found = context.space.translate_mut(at.elan, length, access);
        let (range, offset) = found.map_err(fault)?;
        in_reach(range.placement, home.is_some()).map_err(fault)?;
        if let Some(contents) = &mut range.contents {
            contents.store(offset, bytes);
        }
        context.awaited.stored(at.elan, length);
        Ok(())
    }

    /// Translates an access and reads. Memory that holds no bytes reads as zeros.
    pub fn load(
        &self,
        at: Address,
        length: Bytes,
        access: Access,
        capability: Capability,
    ) -> Result<Box<[u8]>, AccessFault> {
        if length.is_zero() {
            return Ok(Box::default());
        }
        let (_, bytes) = self.fetch(at, length, access, capability)?;
        Ok(bytes.unwrap_or_else(|| vec![0; length.as_u64() as usize].into_boxed_slice()))
    }

    /// A context in which an address has been translated before.
    fn known(&mut self, at: Address) -> &mut Context {
        let context = self.mmus[at.node].contexts[at.context].as_deref_mut();
        context.expect("the address was translated")
    }

    /// A word at a translated address.
    pub fn load_word(&self, at: Address) -> u64 {
        let context = self.mmus[at.node].contexts[at.context].as_deref();
        let context = context.expect("the address was translated");
        let found = context.space.translate(at.elan, WORD, Access::Host);
        let (range, offset) = found.expect("the address was translated");
        let contents = range.contents.as_ref();
        contents.map_or(0, |contents| word_of(&contents.load(offset, WORD)))
    }

    /// Whether the owner still offers a get's bytes, to a process with a capability.
    pub fn check_offer(
        &self,
        bytes: Address,
        length: Bytes,
        withdrawn: Option<Address>,
        capability: Capability,
    ) -> Result<(), AccessFault> {
        let Some(word) = withdrawn else {
            return Ok(());
        };
        let access = Access::RemoteRead;
        self.translate(word, WORD, access, capability)?;
        match self.load_word(word) {
            0 => Ok(()),
            _ => Err(AccessFault::new(bytes, length, access, Reason::Withdrawn)),
        }
    }

    /// Stores a word at a translated address.
    pub fn store_word(&mut self, at: Address, word: u64) {
        let context = self.known(at);
        let found = context.space.translate_mut(at.elan, WORD, Access::Host);
        let (range, offset) = found.expect("the address was translated");
        if let Some(contents) = &mut range.contents {
            contents.store(offset, &word.to_le_bytes());
        }
        context.awaited.stored(at.elan, WORD);
    }

    /// Maps a range in a process's memory, at `process` or above.
    pub fn map(
        &mut self,
        process: Address,
        capability: Capability,
        (placement, bytes): (Placement, Bytes),
        permissions: Permissions,
        real: bool,
    ) -> Result<Region, MemoryError> {
        let error = |left| MemoryError {
            node: process.node,
            context: process.context,
            placement,
            bytes,
            left,
        };
        let left = self.size - self.mmus[process.node].used;
        let taken = if real && placement == Placement::Adapter {
            pages(bytes)
        } else {
            Bytes::ZERO
        };
        if taken > left {
            return Err(error(left));
        }
        let context = self.context_mut(process, capability);
        let context = context.map_err(|_| error(Bytes::ZERO))?;
        let contents = real.then(Contents::default);
        let start = context
            .space
            .map(process.elan, bytes, placement, permissions, contents);
        let elan = start.map_err(error)?;
        self.mmus[process.node].used += taken;
        Ok(Region {
            start: Address { elan, ..process },
            placement,
            bytes,
        })
    }

    /// Takes a range away, with the events in it.
    pub fn unmap(&mut self, region: Region, capability: Capability) -> Result<(), AccessFault> {
        let (start, bytes) = (region.start, region.bytes);
        let fault = |reason| AccessFault::new(start, bytes, Access::Host, reason);
        let context = self.context_mut(start, capability).map_err(fault)?;
        let range = context.space.unmap(start.elan, bytes);
        let range = range.ok_or_else(|| fault(Reason::Unmapped))?;
        let end = start.elan.offset(range.pages());
        context.queues.retain(|&at, _| at < start.elan || at >= end);
        self.mmus[start.node].used -= range.adapter_memory();
        self.remove_events(start, range.pages());
        Ok(())
    }

    /// Where an event lies; `None` if it has been freed.
    pub fn event_address(&self, event: EventId) -> Option<Address> {
        self.mmus[event.node].events[event.index]
    }

    /// Where the event that a descriptor names lies.
    pub fn notified(&self, notify: Notify) -> Option<Address> {
        match notify {
            Notify::Event(event) => self.event_address(event),
            Notify::At(at) => Some(at),
        }
    }

    /// A context's event at an address, if there is one and the access is valid.
    pub fn event_at(
        &self,
        at: Address,
        access: Access,
        capability: Capability,
    ) -> Result<EventId, AccessFault> {
        self.translate(at, EVENT_BLOCK, access, capability)?;
        let fault = |reason| AccessFault::new(at, EVENT_BLOCK, access, reason);
        let context = self.context(at, capability).map_err(fault)?;
        let index = context.events.get(&at.elan);
        let index = *index.ok_or_else(|| fault(Reason::Nothing))?;
        let node = at.node;
        Ok(EventId { node, index })
    }

    /// A place for an event at an address, or the place of the event that is there.
    pub fn add_event(
        &mut self,
        at: Address,
        capability: Capability,
    ) -> Result<EventId, AccessFault> {
        let placement = self.translate(at, EVENT_BLOCK, Access::Host, capability)?;
        if placement != Placement::Adapter {
            let (access, reason) = (Access::Host, Reason::NotAdapter);
            return Err(AccessFault::new(at, EVENT_BLOCK, access, reason));
        }
        let Mmu {
            contexts,
            events,
            free_events,
            ..
        } = &mut self.mmus[at.node];
        let context = contexts[at.context].as_mut();
        let known = &mut context.expect("the address was translated").events;
        let index = *known.entry(at.elan).or_insert_with(|| {
            let place = free_events.pop();
            place.unwrap_or_else(|| events.push_and_get_key(None))
        });
        events[index] = Some(at);
        let node = at.node;
        Ok(EventId { node, index })
    }

    /// Removes the events in an address range.
    pub fn remove_events(&mut self, from: Address, bytes: Bytes) {
        let mmu = &mut self.mmus[from.node];
        let Some(context) = mmu.contexts[from.context].as_mut() else {
            return;
        };
        let range = from.elan..from.elan.offset(bytes);
        let gone: Vec<ElanAddr> = context.events.range(range).map(|(&at, _)| at).collect();
        let gone = gone.iter().filter_map(|at| context.events.remove(at));
        let gone: Vec<EventNumber> = gone.collect();
        mmu.free_events(gone);
    }

    /// The queue at an address, if a message with this length may be put there.
    pub fn queue_at(
        &self,
        at: Address,
        length: Bytes,
        capability: Capability,
    ) -> Result<QueueNumber, AccessFault> {
        let access = Access::RemoteWrite;
        let fault = |reason| AccessFault::new(at, length, access, reason);
        self.translate(at, length.max(Bytes::new(1)), access, capability)?;
        let context = self.context(at, capability).map_err(fault)?;
        let index = context.queues.get(&at.elan);
        index.copied().ok_or_else(|| fault(Reason::Nothing))
    }

    /// The event at an address that has been examined.
    pub fn known_event(&mut self, at: Address) -> EventId {
        let (node, index) = (at.node, self.known(at).events[&at.elan]);
        EventId { node, index }
    }

    pub fn known_queue(&mut self, at: Address) -> QueueNumber {
        self.known(at).queues[&at.elan]
    }

    /// A process's capability, if its context has not ended.
    pub fn capability(&self, process: Address) -> Option<Capability> {
        let context = &self.mmus[process.node].contexts[process.context];
        context.as_ref().map(|context| context.capability)
    }

    /// Keeps an error without a waiter for its process.
    pub fn trap(&mut self, node: Place, context: ContextId, error: DmaError) {
        let contexts = &mut self.mmus[node].contexts;
        if let Some(Some(context)) = contexts.get_mut(context) {
            context.traps.push_back(error);
        }
    }
}

/// Whether an adapter reaches a range. The range may belong to the process's context at another
/// adapter (`far`).
#[inline]
fn in_reach(placement: Placement, far: bool) -> Result<Placement, Reason> {
    if far && placement == Placement::Adapter {
        Err(Reason::Unmapped)
    } else {
        Ok(placement)
    }
}
