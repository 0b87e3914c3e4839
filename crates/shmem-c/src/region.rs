//! The symmetric heap: memory at the same address in all ranks.
//!
//! | variable | |
//! |---|---|
//! | `SHMEM_SYMMETRIC_SIZE`, or the older `SMA_SYMMETRIC_SIZE` | the length of the heap in bytes; the letters K, M, G and T stand for powers of 1024 |
//!
//! Without them the heap has [`DEFAULT_SIZE`]. Its pages cost memory only when they are touched.

use super::heap::SymmetricHeap;
use super::{fail, shmem};

/// Where the heap begins in every rank, far from where systems put programs, libraries and stacks.
const BASE: usize = 0x20_0000_0000;

/// The length of the heap in bytes, unless the environment sets it.
const DEFAULT_SIZE: usize = 1 << 30;

/// The heap, once there is one.
#[derive(Default)]
pub struct Symmetric(Option<SymmetricHeap>);

impl Symmetric {
    pub const EMPTY: Symmetric = Symmetric(None);

    /// The heap, which is there from the start on.
    pub fn heap(&mut self) -> &mut SymmetricHeap {
        self.0.as_mut().expect("it is there from the start on")
    }
}

/// Maps the heap and lets others reach it.
pub fn open() {
    let size = wanted_size();
    // SAFETY: a new range of memory, which replaces no other.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::without_provenance_mut(BASE),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE
                | libc::MAP_ANONYMOUS
                | libc::MAP_NORESERVE
                | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    };
    if mapped.addr() != BASE {
        let error = std::io::Error::last_os_error();
        fail(format_args!(
            "there is no room for a symmetric heap of {size} bytes at address {BASE:#x}: {error}; \
            SHMEM_SYMMETRIC_SIZE says \
             how many bytes it has"
        ));
    }
    mapped.expose_provenance();
    native::memory::offer(BASE, size);
    shmem().symmetric.0 = Some(SymmetricHeap::new(BASE, size));
}

/// The heap size that the environment demands.
fn wanted_size() -> usize {
    const NAMES: [&str; 2] = ["SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"];
    for name in NAMES {
        let Ok(text) = std::env::var(name) else {
            continue;
        };
        match bytes_of(&text) {
            Some(size) if size > 0 => return size,
            _ => fail(format_args!(
                "{name} is {text:?}; it says how many bytes the symmetric heap has, such as 256M"
            )),
        }
    }
    DEFAULT_SIZE
}

/// Bytes: digits, with a fraction or without one, and a letter for a power of 1024.
fn bytes_of(text: &str) -> Option<usize> {
    const PAGE: usize = 4096;
    let text = text.trim();
    let (number, power) = match text.char_indices().last()? {
        (at, letter) if letter.is_ascii_alphabetic() => {
            let power = "kmgt".find(letter.to_ascii_lowercase())?;
            (&text[..at], power as u32 + 1)
        }
        _ => (text, 0),
    };
    let bytes = number.trim().parse::<f64>().ok()? * 1024_f64.powi(power.cast_signed());
    let inside = bytes >= 0.0 && bytes < 2_f64.powi(46);
    inside.then(|| (bytes as usize).next_multiple_of(PAGE))
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn sizes_have_letters() {
        assert_eq!(bytes_of("4096"), Some(4096));
        assert_eq!(bytes_of("1"), Some(4096));
        assert_eq!(bytes_of(" 1.5 M "), Some(3 << 19));
        assert_eq!(bytes_of("2g"), Some(2 << 30));
        assert_eq!(bytes_of("-1"), None);
        assert_eq!(bytes_of("1Q"), None);
        assert_eq!(bytes_of("99T"), None);
        assert_eq!(bytes_of(""), None);
    }
}
