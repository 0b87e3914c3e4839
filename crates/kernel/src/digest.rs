//! A fingerprint of results, by which runs are compared.
//!
//! The digest is XXH3-128 over the fields in the given order: integers and floating-point bits as
//! eight bytes, little-endian; a string as its length in bytes, as an integer, and its bytes. The
//! digest does not depend on the machine. It distinguishes results; it does not protect against
//! forgery.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

/// A digest in the making.
#[derive(Clone)]
pub struct Digest {
    hash: Xxh3,
}

impl Digest {
    /// The empty digest.
    #[must_use]
    pub fn new() -> Self {
        Self { hash: Xxh3::new() }
    }

    /// Adds an integer.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.hash.update(&value.to_le_bytes());
        self
    }

    /// Adds several integers in one call, which is faster than one by one.
    #[inline]
    pub fn u64s<const COUNT: usize>(&mut self, values: [u64; COUNT]) -> &mut Self {
        self.hash
            .update(values.map(u64::to_le_bytes).as_flattened());
        self
    }

    /// Adds a floating-point number's bits; 0.0 and -0.0 differ.
    pub fn f64(&mut self, value: f64) -> &mut Self {
        self.u64(value.to_bits())
    }

    /// Adds a string.
    pub fn str(&mut self, text: &str) -> &mut Self {
        self.u64(text.len() as u64);
        self.hash.update(text.as_bytes());
        self
    }

    /// Adds bytes as they are, such as a file's contents.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.hash.update(bytes);
        self
    }

    /// The digest over all added fields, in 32 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:032x}", self.hash.digest128())
    }
}

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Digest").field(&self.hex()).finish()
    }
}
