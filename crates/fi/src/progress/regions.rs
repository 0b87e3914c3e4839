//! Memory that other ranks may reach, by a key that the program chose. Places count from the beginning of the memory that was
//! registered, which may be all of the address space.

use crate::abi::{FI_REMOTE_READ, FI_REMOTE_WRITE};
use crate::memory::Span;
use crate::{elan, native};
use link::{ADDRESS_SPACE, Checksum, ELAN3_SPACE, Order, OrderKind, Part, Report};
use std::collections::BTreeMap;

/// Registered memory, by key.
#[derive(Default)]
pub struct Regions {
    all: BTreeMap<u64, (Span, u64)>,
    /// The checksum of what has come of a put.
    coming: Checksum,
}

impl Regions {
    /// Registers memory for access of some kinds; false if the key is taken.
    #[must_use]
    pub fn open(&mut self, key: u64, memory: Span, access: u64) -> bool {
        let free = !self.all.contains_key(&key);
        if free {
            self.all.insert(key, (memory, access));
        }
        free
    }

    /// Ends a registration.
    pub fn close(&mut self, key: u64) {
        self.all.remove(&key);
    }

    /// The memory that a report means, if it may be reached by this kind of access.
    fn memory(&self, report: &Report, length: u64, access: u64) -> Option<Span> {
        if report.key == ADDRESS_SPACE {
            return native::memory::reach(report.offset, length, access == FI_REMOTE_WRITE);
        }
        if report.key == ELAN3_SPACE {
            return elan::reach(report.offset, length, access == FI_REMOTE_WRITE);
        }
        let (memory, allowed) = self.all.get(&report.key)?;
        let part = memory.part(report.offset as usize, length as usize);
        part.filter(|_| allowed & access != 0)
    }

    /// Stores a part of what another rank puts here. Returns the checksum of all parts with the last one, if the report has
    /// one.
    ///
    /// # Errors
    /// The order that refuses bytes for an address at which this rank has no memory for others.
    pub fn write(
        &mut self,
        report: &Report,
        part: Part,
        bytes: &[u8],
    ) -> Result<Option<u64>, Order> {
        let place = Report {
            offset: report.offset.wrapping_add(part.at() as u64),
            ..*report
        };
        match self.memory(&place, bytes.len() as u64, FI_REMOTE_WRITE) {
            Some(memory) => memory.store(0, bytes),
            None if [ADDRESS_SPACE, ELAN3_SPACE].contains(&report.key) => {
                return Err(Order {
                    id: report.message,
                    peer: report.peer,
                    key: report.key,
                    offset: report.offset,
                    size: report.size,
                    ..Order::new(OrderKind::Refuses, 0)
                });
            }
            None => eprintln!(
                "elanite: rank {} puts {} bytes to place {} of memory {:#x}, which this rank does not offer",
                report.peer,
                bytes.len(),
                place.offset,
                report.key,
            ),
        }
        if report.checksum == 0 {
            return Ok(None);
        }
        if part.at() == 0 && part.is_last() {
            return Ok(Some(link::checksum([bytes])));
        }
        if part.at() == 0 {
            self.coming = Checksum::default();
        }
        self.coming.add(bytes);
        Ok(part.is_last().then(|| self.coming.value()))
    }

    /// The memory that a report has written, as it is now.
    pub fn content(&self, report: &Report) -> Vec<u8> {
        let memory = self.memory(report, report.size, FI_REMOTE_WRITE);
        memory.map_or(Vec::new(), |memory| memory.bytes().to_vec())
    }

    /// Another rank gets bytes from here: the reply with these bytes, or a reply without any.
    pub fn read(&self, report: &Report) -> (Order, Vec<u8>) {
        let memory = self.memory(report, report.size, FI_REMOTE_READ);
        let bytes = memory.map_or(Vec::new(), |memory| memory.bytes().to_vec());
        let order = Order {
            id: report.id,
            size: bytes.len() as u64,
            ..Order::new(OrderKind::Reply, 0)
        };
        (order, bytes)
    }
}
