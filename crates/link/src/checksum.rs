//! A payload's checksum: 64-bit XXH3.
//!
//! The checksum finds mistakes in this program, not attacks: two different payloads have the same
//! checksum once in 2^64. A message's payload need not lie in one piece; its checksum covers its
//! bytes one after the other. No payload has the checksum 0, which stands for no checksum: a
//! receiver that gets 0 does not compare.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// The checksum over bytes that come one after the other.
#[derive(Clone, Default)]
pub struct Checksum(Xxh3Default);

impl Checksum {
    /// Adds bytes to those so far.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum over all bytes so far.
    pub fn value(&self) -> u64 {
        some(self.0.digest())
    }
}

/// The checksum over bytes that lie in several pieces.
pub fn checksum<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    let Some(first) = pieces.next() else {
        return some(xxh3_64(&[]));
    };
    // Nearly all payloads lie in one piece, which needs no state.
    let Some(second) = pieces.next() else {
        return some(xxh3_64(first));
    };
    let mut checksum = Checksum::default();
    checksum.add(first);
    checksum.add(second);
    pieces.for_each(|piece| checksum.add(piece));
    checksum.value()
}

/// A checksum that is not 0.
fn some(checksum: u64) -> u64 {
    checksum.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_matter_how_the_bytes_are_cut() {
        let bytes: Vec<u8> = (0..1000_u32).map(|byte| (byte * 7) as u8).collect();
        for length in [0, 1, 8, 255, 256, 257, 1000] {
            let whole = checksum([&bytes[..length]]);
            for cut in [0, length / 3, length] {
                let (head, tail) = bytes[..length].split_at(cut);
                assert_eq!(checksum([head, &[], tail]), whole);
                let (middle, end) = tail.split_at(tail.len() / 2);
                assert_eq!(checksum([head, middle, end]), whole);
            }
        }
        assert_ne!(checksum([&bytes[..999]]), checksum([&bytes[..]]));
    }
}
