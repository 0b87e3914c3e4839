//! The memory of all processes, as adapters and hosts reach it: every access is translated by its process's MMU.

use super::World;
use crate::NodeId;
use crate::context::{Capability, Context, ContextId, MOST_CONTEXTS, NoContext};
use crate::memory::{Address, Contents, Placement, Region};
use crate::message::WORD;
use crate::mmu::{Access, Fault, MemoryError, Permissions, Range, Reason, pages};
use units::Bytes;

/// What lies behind an access, and the bytes if there are any.
type Found = (Placement, Option<Box<[u8]>>);

impl World {
    /// Makes contexts for a process on each of some different nodes, of the lowest number that is free on all of them.
    /// Context 0 is that of the open processes, made when it is first used.
    pub fn attach(
        &mut self,
        nodes: &[NodeId],
        capability: Capability,
    ) -> Result<ContextId, NoContext> {
        if capability == Capability::OPEN {
            return Ok(ContextId::default());
        }
        let taken = |&&node: &&NodeId, place: usize| {
            let contexts = &self.adapters[node as usize].contexts;
            contexts.get(place).is_some_and(Option::is_some)
        };
        let mut place = 1;
        while let Some(&node) = nodes.iter().find(|node| taken(node, place)) {
            place += 1;
            if place == MOST_CONTEXTS {
                return Err(NoContext { node });
            }
        }
        for &node in nodes {
            let contexts = &mut self.adapters[node as usize].contexts;
            if place >= contexts.len() {
                contexts.resize_with(place + 1, || None);
            }
            contexts[place] = Some(Box::new(Context::new(capability)));
        }
        Ok(ContextId(place as u16))
    }

    /// Ends a context: its ranges, events and queues are gone.
    pub fn detach(&mut self, process: Address, capability: Capability) {
        if self.context(process, capability).is_err() {
            return;
        }
        let adapter = &mut self.adapters[process.node as usize];
        let context = adapter.contexts[process.context.0 as usize].take();
        let context = context.expect("it is attached");
        for &index in context.events.values() {
            adapter.events[index as usize].at = None;
            adapter.free_events.push(index);
        }
        let held = context.mmu.ranges().iter();
        adapter.memory_used -= held.map(Range::adapter_memory).sum::<Bytes>();
    }

    /// The context of a process, for one that has a capability.
    #[inline]
    pub fn context(&self, at: Address, capability: Capability) -> Result<&Context, Reason> {
        let contexts = &self.adapters[at.node as usize].contexts;
        let context = contexts.get(at.context.0 as usize);
        let context = context
            .and_then(Option::as_deref)
            .ok_or(Reason::NoContext)?;
        if context.capability == capability {
            Ok(context)
        } else {
            Err(Reason::Stranger)
        }
    }

    /// The context whose ranges an access to a process's memory goes by, and whether another adapter has it.
    #[inline]
    fn reach(&self, at: Address, capability: Capability) -> Result<(&Context, bool), Reason> {
        let context = self.context(at, capability)?;
        match context.home {
            None => Ok((context, false)),
            Some(home) => Ok((self.context(home, capability)?, true)),
        }
    }

    /// Makes the context at an adapter one that reaches the main memory of another, which is the same process's.
    pub fn settle(&mut self, at: Address, home: Address, capability: Capability) {
        let context = self.context_mut(at, capability);
        context.expect("it is attached").home = Some(home);
    }

    pub fn context_mut(
        &mut self,
        at: Address,
        capability: Capability,
    ) -> Result<&mut Context, Reason> {
        let contexts = &mut self.adapters[at.node as usize].contexts;
        if at.context == ContextId::default() && capability == Capability::OPEN {
            if contexts.is_empty() {
                contexts.push(None);
            }
            contexts[0].get_or_insert_with(|| Box::new(Context::new(capability)));
        }
        self.context(at, capability)?;
        let contexts = &mut self.adapters[at.node as usize].contexts;
        contexts[at.context.0 as usize]
            .as_deref_mut()
            .ok_or(Reason::NoContext)
    }

    /// What lies behind an access, if it is right. Zero bytes touch nothing.
    #[inline]
    pub fn translate(
        &self,
        at: Address,
        length: Bytes,
        access: Access,
        capability: Capability,
    ) -> Result<Placement, Fault> {
        if length.is_zero() {
            return Ok(Placement::Adapter);
        }
        let fault = |reason| Fault::new(at, length, access, reason);
        let (context, far) = self.reach(at, capability).map_err(fault)?;
        let found = context.mmu.translate(at.elan, length, access);
        let (range, _) = found.map_err(fault)?;
        in_reach(range.placement, far).map_err(fault)
    }

    /// Translates an access and reads: what lies behind it, and the bytes if there are any.
    pub fn fetch(
        &self,
        at: Address,
        length: Bytes,
        access: Access,
        capability: Capability,
    ) -> Result<Found, Fault> {
        let fault = |reason| Fault::new(at, length, access, reason);
        let (context, far) = self.reach(at, capability).map_err(fault)?;
        let found = context.mmu.translate(at.elan, length, access);
        let (range, offset) = found.map_err(fault)?;
        in_reach(range.placement, far).map_err(fault)?;
        let contents = range.contents.as_ref();
        let bytes = contents.map(|contents| contents.load(offset, length));
        Ok((range.placement, bytes))
    }

    /// Stores bytes that have been admitted, if they still may be, and if the range holds any.
    pub fn deposit(
        &mut self,
        at: Address,
        bytes: &[u8],
        capability: Capability,
    ) -> Result<(), Fault> {
        self.write(at, bytes, Access::RemoteWrite, capability)
    }

    /// Translates an access and writes, if the range holds bytes.
    pub fn write(
        &mut self,
        at: Address,
        bytes: &[u8],
        access: Access,
        capability: Capability,
    ) -> Result<(), Fault> {
        let length = Bytes::new(bytes.len() as u64);
        let fault = |reason| Fault::new(at, length, access, reason);
        if bytes.is_empty() {
            return Ok(());
        }
        let home = self.context(at, capability).map_err(fault)?.home;
        let context = self.context_mut(home.unwrap_or(at), capability);
        let context = context.map_err(fault)?;
        let found = context.mmu.translate_mut(at.elan, length, access);
        let (range, offset) = found.map_err(fault)?;
        in_reach(range.placement, home.is_some()).map_err(fault)?;
        if let Some(contents) = &mut range.contents {
            contents.store(offset, bytes);
        }
        context.stored(at.elan, length);
        Ok(())
    }

    /// Translates an access and reads; what holds no bytes reads as zeros.
    pub fn load(
        &self,
        at: Address,
        length: Bytes,
        access: Access,
        capability: Capability,
    ) -> Result<Box<[u8]>, Fault> {
        if length.is_zero() {
            return Ok(Box::default());
        }
        let (_, bytes) = self.fetch(at, length, access, capability)?;
        Ok(bytes.unwrap_or_else(|| vec![0; length.as_u64() as usize].into_boxed_slice()))
    }

    /// A word whose address has been translated.
    pub fn load_word(&self, at: Address) -> u64 {
        let context = self.adapters[at.node as usize].contexts[at.context.0 as usize].as_ref();
        let mmu = &context.expect("the address was translated").mmu;
        let found = mmu.translate(at.elan, WORD, Access::Host);
        let (range, offset) = found.expect("the address was translated");
        range.contents.as_ref().map_or(0, |contents| {
            let bytes = contents.load(offset, WORD);
            u64::from_le_bytes(bytes[..].try_into().expect("a word has 8 bytes"))
        })
    }

    /// Stores a word whose address has been translated.
    pub fn store_word(&mut self, at: Address, word: u64) {
        let context = self.adapters[at.node as usize].contexts[at.context.0 as usize].as_mut();
        let context = context.expect("the address was translated");
        let found = context.mmu.translate_mut(at.elan, WORD, Access::Host);
        let (range, offset) = found.expect("the address was translated");
        if let Some(contents) = &mut range.contents {
            contents.store(offset, &word.to_le_bytes());
        }
        context.stored(at.elan, WORD);
    }

    /// Maps a range of a process's memory.
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
        let adapter = &self.adapters[process.node as usize];
        let left = self.config.adapter.memory - adapter.memory_used;
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
        let start = context.mmu.map(bytes, placement, permissions, contents);
        let elan = start.map_err(error)?;
        self.adapters[process.node as usize].memory_used += taken;
        Ok(Region {
            start: Address { elan, ..process },
            placement,
            bytes,
        })
    }

    /// Takes a range away, with the events in it.
    pub fn unmap(&mut self, region: Region, capability: Capability) -> Result<(), Fault> {
        let (start, bytes) = (region.start, region.bytes);
        let fault = |reason| Fault::new(start, bytes, Access::Host, reason);
        let context = self.context_mut(start, capability).map_err(fault)?;
        let range = context.mmu.unmap(start.elan, bytes);
        let range = range.ok_or_else(|| fault(Reason::Unmapped))?;
        let end = start.elan.offset(range.pages());
        context.queues.retain(|&at, _| at < start.elan || at >= end);
        let adapter = &mut self.adapters[start.node as usize];
        adapter.memory_used -= range.adapter_memory();
        self.remove_events(start, range.pages());
        Ok(())
    }
}

/// Whether an adapter reaches a range, which may be that of a process's context at another one.
#[inline]
fn in_reach(placement: Placement, far: bool) -> Result<Placement, Reason> {
    if far && placement == Placement::Adapter {
        Err(Reason::Unmapped)
    } else {
        Ok(placement)
    }
}
