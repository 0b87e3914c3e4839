//! Program memory that the provider was requested to read or to fill. Only this module turns the
//! program's addresses into bytes.
//!
//! libfabric's rule is that such memory is valid, and the program leaves it alone, from the call
//! that names it until the program has read the completion. The progress engine forgets an
//! operation's memory when the operation ends, and memory that others may reach when its
//! registration is closed.

#![allow(unsafe_code)] // bytes at addresses that the program gave

/// `struct iovec`: a memory piece, as lists in C name it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IoVec {
    /// Where it begins.
    pub base: *const u8,
    /// Its bytes.
    pub length: usize,
}

/// A memory piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub address: usize,
    /// Its bytes.
    pub length: usize,
}

impl Span {
    /// Names a piece in the program's memory.
    ///
    /// # Safety
    /// The memory must follow libfabric's rule for as long as this value or a copy of it is used.
    /// It must be writable if it is given to be filled.
    pub unsafe fn new(pointer: *const u8, length: usize) -> Span {
        Span {
            address: pointer.expose_provenance(),
            length,
        }
    }

    /// The bytes of the memory.
    pub fn bytes(&self) -> &[u8] {
        if self.length == 0 {
            return &[]; // regardless of the address
        }
        let pointer = std::ptr::with_exposed_provenance(self.address);
        // SAFETY: the contract of `new`.
        unsafe { std::slice::from_raw_parts(pointer, self.length) }
    }

    /// Stores bytes at a place in the memory.
    pub fn store(&self, at: usize, bytes: &[u8]) {
        assert!(
            at.checked_add(bytes.len())
                .is_some_and(|end| end <= self.length),
            "bytes beyond the end of a buffer"
        );
        if bytes.is_empty() {
            return;
        }
        let pointer = std::ptr::with_exposed_provenance_mut::<u8>(self.address);
        // SAFETY: the contract of `new`; the bytes come from the link's memory or from our own,
        // never from the program's.
        unsafe {
            pointer
                .add(at)
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }

    /// A part in this memory.
    pub fn part(&self, at: usize, length: usize) -> Option<Span> {
        let end = at.checked_add(length)?;
        (end <= self.length).then(|| Span {
            address: self.address.wrapping_add(at),
            length,
        })
    }
}

/// A buffer with one or several pieces.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    first: Span,
    more: Vec<Span>,
}

impl From<Span> for Buffer {
    fn from(first: Span) -> Buffer {
        Buffer {
            first,
            more: Vec::new(),
        }
    }
}

impl Buffer {
    /// The buffer that a list names, as the list is passed in C.
    ///
    /// # Safety
    /// The list must have this many entries, and each must name memory as for [`Span::new`].
    pub unsafe fn new(list: *const IoVec, count: usize) -> Buffer {
        if list.is_null() || count == 0 {
            return Buffer::default();
        }
        // SAFETY: passed on to the caller.
        let (first, more) = unsafe {
            let span = |entry: &IoVec| Span::new(entry.base, entry.length);
            let list = std::slice::from_raw_parts(list, count);
            (span(&list[0]), list[1..].iter().map(span).collect())
        };
        Buffer { first, more }
    }

    /// A buffer from some pieces, one after the other.
    pub fn of(mut pieces: Vec<Span>) -> Buffer {
        if pieces.is_empty() {
            return Buffer::default();
        }
        let first = pieces.remove(0);
        Buffer {
            first,
            more: pieces,
        }
    }

    /// The first byte's address.
    pub fn address(&self) -> usize {
        self.first.address
    }

    /// How many bytes the buffer has.
    pub fn length(&self) -> usize {
        self.first.length + self.more.iter().map(|span| span.length).sum::<usize>()
    }

    /// The buffer's pieces, in order.
    pub fn spans(&self) -> impl Iterator<Item = &Span> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// A range in the buffer's bytes, piece by piece.
    ///
    /// # Panics
    /// If the buffer has no such part.
    pub fn bytes(&self, mut at: usize, mut length: usize) -> impl Iterator<Item = &[u8]> {
        let end = at.checked_add(length);
        let inside = end.is_some_and(|end| end <= self.length());
        assert!(inside, "bytes beyond the end of a buffer");
        self.spans().map(move |span| {
            let from = at.min(span.length);
            let now = length.min(span.length - from);
            at -= from;
            length -= now;
            &span.bytes()[from..][..now]
        })
    }

    /// Stores bytes at a place in the buffer.
    pub fn store(&self, mut at: usize, mut bytes: &[u8]) {
        for span in self.spans() {
            let now = bytes.len().min(span.length.saturating_sub(at));
            let (head, rest) = bytes.split_at(now);
            if now > 0 {
                span.store(at, head);
            }
            at = at.saturating_sub(span.length);
            bytes = rest;
        }
        assert!(bytes.is_empty(), "bytes beyond the end of a buffer");
    }
}
