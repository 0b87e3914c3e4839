//! Memory that other ranks may reach, by a key that the program chose. Places count from the
//! beginning of the registered memory, which may be the whole address space.

use crate::abi::{FI_REMOTE_READ, FI_REMOTE_WRITE};
use link::{ADDRESS_SPACE, Checksum, Complaint, ELAN3_SPACE, PayloadPart, RemoteMemory};
use rank::library;
use rank::memory::Span;
use std::collections::BTreeMap;

/// Registered memory, by key.
#[derive(Default)]
pub struct RegisteredRegions {
    all: BTreeMap<u64, (Span, u64)>,
    /// The checksum over a put's bytes so far.
    coming: Checksum,
}

impl RegisteredRegions {
    /// Registers memory for some access kinds; false if the key is taken.
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

    /// The memory at a place, if it may be reached by this access kind.
    fn memory(&self, key: u64, offset: u64, length: u64, access: u64) -> Option<Span> {
        if [ADDRESS_SPACE, ELAN3_SPACE].contains(&key) {
            let writes = access == FI_REMOTE_WRITE;
            return (library::get()?.reach)(key, offset, length, writes);
        }
        let (memory, allowed) = self.all.get(&key)?;
        let part = memory.part(offset as usize, length as usize);
        part.filter(|_| allowed & access != 0)
    }

    /// Stores a part of another rank's put here, at a place that names that rank. Returns the
    /// checksum over all parts with the last one, if `checks`.
    ///
    /// # Errors
    /// The refusal for bytes at an address at which this rank has no memory for others.
    pub fn write(
        &mut self,
        place: RemoteMemory,
        checks: bool,
        part: PayloadPart,
        bytes: &[u8],
    ) -> Result<Option<u64>, Complaint> {
        let RemoteMemory { rank, key, offset } = place;
        let at = offset.wrapping_add(part.at() as u64);
        match self.memory(key, at, bytes.len() as u64, FI_REMOTE_WRITE) {
            Some(memory) => memory.store(0, bytes),
            None if [ADDRESS_SPACE, ELAN3_SPACE].contains(&key) => {
                return Err(Complaint::Refuses {
                    by: rank,
                    offset,
                    size: part.whole() as u64,
                });
            }
            None => eprintln!(
                "elanite: rank {rank} puts {} bytes to place {at} of memory {key:#x}, which this \
                rank does not offer",
                bytes.len(),
            ),
        }
        if !checks {
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

    /// The memory at a place to which another rank has put bytes, as it is now.
    pub fn content(&self, place: RemoteMemory, size: u64) -> Vec<u8> {
        let memory = self.memory(place.key, place.offset, size, FI_REMOTE_WRITE);
        memory.map_or(Vec::new(), |memory| memory.bytes().to_vec())
    }

    /// Another rank gets bytes from here: these, or an empty list if they may not be reached.
    pub fn read(&self, key: u64, offset: u64, size: u64) -> Vec<u8> {
        let memory = self.memory(key, offset, size, FI_REMOTE_READ);
        memory.map_or(Vec::new(), |memory| memory.bytes().to_vec())
    }
}
