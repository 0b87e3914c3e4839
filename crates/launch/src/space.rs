//! The key-value space as ranks read it: a file in memory, which the process manager writes.
//!
//! After the first barrier each rank gets all others' addresses. A request for each would be `n²`
//! requests with two process switches each, which take most of the start of a thousand ranks. So
//! the process manager writes the whole space before it lets ranks out of a barrier, and the ranks'
//! library answers from there. A key that is not there is asked for in the usual way.
//!
//! *Layout.* The file begins with the current *edition*'s place and length, as two 64-bit numbers.
//! An edition never changes: a later one is written behind it. It has its entry count, each entry's
//! end in the edition, and the entries in key order, `key=value` each, as 32-bit numbers and bytes.

#![expect(
    unsafe_code,
    reason = "a mapping of a file that another process has written"
)]

use memmap2::{Mmap, MmapOptions};
use rustix::fs::MemfdFlags;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// The variable with the file's path.
pub const VARIABLE: &str = "ELANITE_SPACE";

/// The bytes before the first edition.
const HEAD: u64 = 16;

/// The bytes of a number in an edition.
const WORD: usize = 4;

/// The writer's side.
#[derive(Debug)]
pub struct Edition {
    file: File,
    end: u64,
}

impl Edition {
    /// A file without an edition.
    ///
    /// # Errors
    ///
    /// If the system has no more memory, or this process too many open files.
    pub fn new() -> io::Result<Self> {
        let file = rustix::fs::memfd_create(c"elanite-space", MemfdFlags::CLOEXEC)?;
        let file = File::from(file);
        file.write_all_at(&[0; HEAD as usize], 0)?;
        Ok(Edition { file, end: HEAD })
    }

    /// Where the processes that this one starts find the file.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Writes an edition.
    ///
    /// # Errors
    ///
    /// If the system has no more memory.
    pub fn write(&mut self, space: &HashMap<String, String>) -> io::Result<()> {
        let mut keys: Vec<&String> = space.keys().collect();
        keys.sort_unstable();
        let mut ends = Vec::with_capacity(WORD * (keys.len() + 1));
        ends.extend((keys.len() as u32).to_le_bytes());
        let mut entries = Vec::new();
        for key in keys {
            entries.extend(format!("{key}={}", space[key]).into_bytes());
            let end = WORD * (space.len() + 1) + entries.len();
            ends.extend((end as u32).to_le_bytes());
        }
        let place = self.end;
        let length = (ends.len() + entries.len()) as u64;
        self.file.write_all_at(&ends, place)?;
        self.file
            .write_all_at(&entries, place + ends.len() as u64)?;
        self.end = place + length;
        let head = [place.to_le_bytes(), length.to_le_bytes()].concat();
        self.file.write_all_at(&head, 0)
    }
}

/// A reader's side.
#[derive(Debug)]
pub struct Reader {
    file: File,
    /// The mapped edition's place.
    place: u64,
    map: Option<Mmap>,
}

impl Reader {
    /// # Errors
    ///
    /// If there is no file at this path.
    pub fn open(path: &str) -> io::Result<Self> {
        Ok(Reader {
            file: File::open(path)?,
            place: 0,
            map: None,
        })
    }

    /// Turns to the current edition.
    ///
    /// # Errors
    ///
    /// If the system cannot read or map the file.
    pub fn renew(&mut self) -> io::Result<()> {
        let mut head = [0; HEAD as usize];
        self.file.read_exact_at(&mut head, 0)?;
        let (place, length) = head.split_at(size_of::<u64>());
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        let (place, length) = (number(place), number(length));
        if place == self.place || length == 0 {
            return Ok(());
        }
        let mut options = MmapOptions::new();
        options.offset(place).len(length as usize);
        // SAFETY: an edition does not change, and the file is never cut.
        self.map = Some(unsafe { options.map(&self.file) }?);
        self.place = place;
        Ok(())
    }

    /// A key's value in this edition.
    pub fn get(&self, key: &str) -> Option<&str> {
        let map = self.map.as_deref()?;
        let word = |place: usize| -> Option<usize> {
            let bytes = map.get(WORD * place..WORD * (place + 1))?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
        };
        let count = word(0)?;
        let entry = |number: usize| -> Option<(&str, &str)> {
            let start = if number == 0 {
                WORD * (count + 1)
            } else {
                word(number)?
            };
            let bytes = map.get(start..word(number + 1)?)?;
            std::str::from_utf8(bytes).ok()?.split_once('=')
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            let (found, value) = entry(middle)?;
            match found.cmp(key) {
                std::cmp::Ordering::Equal => return Some(value),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}
