//! The payload of operations.

/// Bytes that identify their origin: an operation's number is the seed for the bytes that it sends.
pub fn bytes(seed: impl Into<u64>, length: u64) -> Vec<u8> {
    let seed = seed.into();
    let byte = |index: u64| (seed * 151 + index * 31 + index / 256 * seed % 251 + 1) as u8;
    (0..length).map(byte).collect()
}
