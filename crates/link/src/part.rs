//! Payload in parts: any number of bytes crosses an area with a fixed length, and no byte can end
//! up in the wrong place.
//!
//! A record's payload is written to an area in as many parts as it needs, one after the other. Each
//! part follows a copy of the record and a [`PayloadPart`], which has the place of the bytes and
//! the whole length. Only [`Payload`], which counts the written bytes, makes a `PayloadPart`, so no
//! other code can forget the place. The reading side passes every part through a [`Reassembly`]. It
//! checks that a record's parts make up the whole, each byte once: each part begins where the one
//! before ended, all bear the same record and the same length, and no other record comes between
//! them. A rank with other parts is at fault, regardless of its memory; the simulator's parts are
//! the simulator's own.
//!
//! A record without payload has one empty part.

use crate::foul::Violation;
use bytemuck::{Pod, Zeroable};

/// Where the bytes of a part belong in their payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PayloadPart {
    at: u64,
    length: u64,
    whole: u64,
}

impl PayloadPart {
    /// The place in the whole where the part's first byte belongs.
    pub fn at(self) -> usize {
        self.at as usize
    }

    /// How many bytes the part has.
    pub fn length(self) -> usize {
        self.length as usize
    }

    /// How many bytes the whole payload has.
    pub fn whole(self) -> usize {
        self.whole as usize
    }

    /// Whether the payload ends with this part.
    pub fn is_last(self) -> bool {
        self.at.checked_add(self.length) == Some(self.whole)
    }
}

/// Bytes on their way into an area: the memory pieces that hold them, and how many have been
/// written.
pub struct Payload<'a> {
    pieces: &'a [&'a [u8]],
    whole: usize,
    gone: usize,
    /// Whether any part has been written: even an empty payload has one.
    begun: bool,
}

impl<'a> Payload<'a> {
    /// The bytes in several memory pieces, one after the other.
    pub fn new(pieces: &'a [&'a [u8]]) -> Self {
        Payload {
            pieces,
            whole: pieces.iter().map(|piece| piece.len()).sum(),
            gone: 0,
            begun: false,
        }
    }

    /// Whether it is completely written.
    pub fn is_written(&self) -> bool {
        self.begun && self.gone == self.whole
    }

    /// The next part, with at most `most` bytes.
    pub(crate) fn next(&self, most: usize) -> PayloadPart {
        PayloadPart {
            at: self.gone as u64,
            length: (self.whole - self.gone).min(most) as u64,
            whole: self.whole as u64,
        }
    }

    /// The memory pieces that hold the next part's bytes.
    pub(crate) fn bytes(&self, part: PayloadPart) -> impl Iterator<Item = &'a [u8]> {
        let (mut skip, mut left) = (part.at(), part.length());
        self.pieces.iter().map(move |piece| {
            let from = skip.min(piece.len());
            let bytes = &piece[from..][..left.min(piece.len() - from)];
            skip -= from;
            left -= bytes.len();
            bytes
        })
    }

    /// Takes the next part out, with at most `most` bytes: to pass a payload on without an area, as
    /// tests do.
    pub fn take(&mut self, most: usize) -> Option<(PayloadPart, Vec<u8>)> {
        if self.is_written() {
            return None;
        }
        let part = self.next(most);
        let bytes = self.bytes(part).collect::<Vec<_>>().concat();
        self.written(part);
        Some((part, bytes))
    }

    /// Takes note that the next part has been written.
    pub(crate) fn written(&mut self, part: PayloadPart) {
        assert_eq!(part.at(), self.gone, "parts are written in their order");
        self.begun = true;
        self.gone += part.length();
    }
}

/// The reading side's state for an incomplete payload: its record, and the latest part.
pub(crate) struct Reassembly<R> {
    open: Option<(R, PayloadPart)>,
}

impl<R> Default for Reassembly<R> {
    fn default() -> Self {
        Reassembly { open: None }
    }
}

impl<R: Copy + PartialEq> Reassembly<R> {
    /// Records a part of a record's payload.
    ///
    /// # Errors
    /// [`Violation::Part`], if the part is not the one that must come next.
    pub fn add(&mut self, record: &R, part: PayloadPart) -> Result<(), Violation> {
        let begins = match self.open {
            None => part.at == 0,
            Some((open, before)) => {
                open == *record
                    && before.whole == part.whole
                    && before.at.checked_add(before.length) == Some(part.at)
            }
        };
        let fits = part.at.checked_add(part.length);
        let fits = fits.is_some_and(|end| end <= part.whole);
        if !(begins && fits) {
            return Err(Violation::Part);
        }
        self.open = (!part.is_last()).then_some((*record, part));
        Ok(())
    }

    /// Whether the parts so far make up whole payloads.
    pub fn is_closed(&self) -> bool {
        self.open.is_none()
    }
}

#[cfg(test)]
mod tests;
