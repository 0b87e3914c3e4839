//! A file that is read in small pieces from anywhere, through a bounded cache.
//!
//! A page has one place in the cache, by its number. So a file that is no longer than the cache is
//! read once.

use crate::nameless::TemporaryFile;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// Bytes per page.
const PAGE: u64 = 1 << 14;

/// Pages in the cache: 64 MB.
const PAGES: u64 = 1 << 12;

/// The file and its cache.
pub struct Pages {
    file: TemporaryFile,
    length: u64,
    /// The page number and bytes at each place.
    places: Vec<Option<(u64, Box<[u8]>)>>,
}

impl Pages {
    pub fn new(mut file: TemporaryFile) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let places = length.div_ceil(PAGE).min(PAGES);
        Ok(Pages {
            file,
            length,
            places: (0..places).map(|_| None).collect(),
        })
    }

    /// The file's bytes when it was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads bytes at an offset.
    pub fn read(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let end = at.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut done = 0;
        while done < bytes.len() {
            let (page, within) = ((at + done as u64) / PAGE, (at + done as u64) % PAGE);
            let found = self.page(page)?;
            let found = &found[within as usize..];
            let count = found.len().min(bytes.len() - done);
            bytes[done..done + count].copy_from_slice(&found[..count]);
            done += count;
        }
        Ok(())
    }

    fn page(&mut self, page: u64) -> io::Result<&[u8]> {
        let place = &mut self.places[(page % PAGES) as usize];
        match place {
            Some((number, _)) if *number == page => {}
            _ => {
                let begin = page * PAGE;
                let mut bytes = vec![0; PAGE.min(self.length - begin) as usize].into_boxed_slice();
                self.file.seek(SeekFrom::Start(begin))?;
                self.file.read_exact(&mut bytes)?;
                *place = Some((page, bytes));
            }
        }
        let (_, bytes) = place.as_ref().expect("it has just been read");
        Ok(bytes)
    }
}
