//! Rank addresses, as MPI libraries exchange them: a short text with a fixed length,
//! `elanite-0000042` and a zero byte. And address vectors: tables with the ranks that a program has
//! inserted by address, by the numbers that the program got for them.

use crate::abi::FI_ADDR_NOTAVAIL;

/// The length of an address in bytes, with the zero byte.
pub const LENGTH: usize = 16;

const PREFIX: &[u8] = b"elanite-";

const DIGITS: usize = LENGTH - PREFIX.len() - 1;

/// A rank's address.
pub fn of(rank: u32) -> [u8; LENGTH] {
    let text = format!("elanite-{rank:0DIGITS$}\0");
    text.into_bytes()
        .try_into()
        .expect("there are fewer ranks than ten million")
}

/// The rank that an address names.
pub fn rank(address: &[u8]) -> Option<u32> {
    let digits = address.strip_prefix(PREFIX)?.strip_suffix(b"\0")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Each entry's rank; `None` for a removed entry.
#[derive(Default)]
pub struct AddressVector(Vec<Option<u32>>);

impl AddressVector {
    /// Adds an entry and returns its number.
    pub fn insert(&mut self, rank: u32) -> u64 {
        self.0.push(Some(rank));
        self.0.len() as u64 - 1
    }

    /// Removes an entry; false if no entry has this number.
    pub fn remove(&mut self, number: u64) -> bool {
        let entry = self.0.get_mut(number as usize);
        entry.map(|entry| *entry = None).is_some()
    }

    /// An entry's rank.
    pub fn rank(&self, number: u64) -> Option<u32> {
        self.0.get(number as usize).copied().flatten()
    }

    /// A rank's first number, or `FI_ADDR_NOTAVAIL`.
    pub fn number(&self, rank: u32) -> u64 {
        // Nearly always the entry with the same number.
        if self.rank(rank.into()) == Some(rank) {
            return rank.into();
        }
        let place = self.0.iter().position(|&entry| entry == Some(rank));
        place.map_or(FI_ADDR_NOTAVAIL, |place| place as u64)
    }
}
