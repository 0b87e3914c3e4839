//! Memory that other ranks may reach, by a key that the program chose. Places count from the beginning of the memory that
//! was registered; all of the address space may be.

use crate::abi::{FI_REMOTE_READ, FI_REMOTE_WRITE};
use crate::memory::Span;
use link::{Kind, News, Order};
use std::collections::BTreeMap;

/// What is registered, by key.
#[derive(Debug, Default)]
pub struct Windows {
    all: BTreeMap<u64, (Span, u64)>,
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

    /// Another rank has put bytes here.
    pub fn write(&self, news: &News, bytes: &[u8]) {
        match self.memory(news, bytes.len() as u64, FI_REMOTE_WRITE) {
            Some(memory) => memory.store(0, bytes),
            None => eprintln!(
                "elanite: rank {} puts {} bytes to place {} of memory {:#x}, which this rank does not offer",
                news.peer,
                bytes.len(),
                news.offset,
                news.key,
            ),
        }
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
