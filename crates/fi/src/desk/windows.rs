//! Memory that other ranks may reach, by a key that the program chose. Places count from the beginning of the memory that
//! was registered; all of the address space may be.

use crate::abi::{FI_REMOTE_READ, FI_REMOTE_WRITE};
use crate::memory::Span;
use link::{Checksum, Kind, News, Order, Part};
use std::collections::BTreeMap;

/// What is registered, by key.
#[derive(Default)]
pub struct Windows {
    all: BTreeMap<u64, (Span, u64)>,
    /// Of what has come of a put.
    coming: Checksum,
}

impl Windows {
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

    /// The memory that news mean, if it may be reached in this way.
    fn memory(&self, news: &News, length: u64, access: u64) -> Option<Span> {
        let (memory, allowed) = self.all.get(&news.key)?;
        let part = memory.part(news.offset as usize, length as usize);
        part.filter(|_| allowed & access != 0)
    }

    /// A part of what another rank has put here; with the last one, the checksum of all that came,
    /// if the news have one.
    pub fn write(&mut self, news: &News, part: Part, bytes: &[u8]) -> Option<u64> {
        let place = News {
            offset: news.offset.wrapping_add(part.at() as u64),
            ..*news
        };
        match self.memory(&place, bytes.len() as u64, FI_REMOTE_WRITE) {
            Some(memory) => memory.store(0, bytes),
            None => eprintln!(
                "elanite: rank {} puts {} bytes to place {} of memory {:#x}, which this rank does not offer",
                news.peer,
                bytes.len(),
                place.offset,
                news.key,
            ),
        }
        if news.checksum == 0 {
            return None;
        }
        if part.at() == 0 && part.is_last() {
            return Some(link::checksum([bytes]));
        }
        if part.at() == 0 {
            self.coming = Checksum::default();
        }
        self.coming.add(bytes);
        part.is_last().then(|| self.coming.value())
    }

    /// What the memory holds that some news have written.
    pub fn content(&self, news: &News) -> Vec<u8> {
        let memory = self.memory(news, news.size, FI_REMOTE_WRITE);
        memory.map_or(Vec::new(), |memory| memory.bytes().to_vec())
    }

    /// Another rank gets bytes from here: the reply with them, or one with none.
    pub fn read(&self, news: &News) -> (Order, Vec<u8>) {
        let memory = self.memory(news, news.size, FI_REMOTE_READ);
        let bytes = memory.map_or(Vec::new(), |memory| memory.bytes().to_vec());
        let order = Order {
            id: news.id,
            size: bytes.len() as u64,
            ..Order::new(Kind::Reply, 0)
        };
        (order, bytes)
    }
}
