//! The fabric's only hash. Its bits decide results, and belong to the model.

/// Scatters a number: `SplitMix64`'s finaliser (Steele, Lea and Flood, 2014).
pub(crate) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
