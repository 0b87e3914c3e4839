//! Addresses of ranks, as MPI libraries exchange them: a short text of one length, `elanite-0000042` and a zero byte.

/// Bytes of an address, with the zero.
pub const LENGTH: usize = 16;

const PREFIX: &[u8] = b"elanite-";

const DIGITS: usize = LENGTH - PREFIX.len() - 1;

/// The address of a rank.
pub fn of(rank: u32) -> [u8; LENGTH] {
    let text = format!("elanite-{rank:0DIGITS$}\0");
    text.into_bytes()
        .try_into()
        .expect("there are fewer ranks than ten million")
}

/// The rank of an address.
pub fn rank(address: &[u8]) -> Option<u32> {
    let digits = address.strip_prefix(PREFIX)?.strip_suffix(b"\0")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}
