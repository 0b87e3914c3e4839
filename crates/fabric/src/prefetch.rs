//! A hint to the processor: the records that will be needed soon.
//!
//! The records of a large network do not fit into the processor's nearest memory, and a run spends
//! most time waiting for them. The events of a cycle are known as a list, so that the records of
//! the next events can be requested while the present one is handled. A hint changes no result.

/// From this link count on a network's records do not fit into a second-level cache of 2 MB; with
/// 1,024 nodes they do.
pub(crate) const FAR: usize = 1 << 15;

/// The distance in a list between one prefetch stage and the next, where one stage's records name
/// those for the next.
pub(crate) const STAGE: usize = 6;

/// The entry that a prefetch stage looks at while the first stage looks at `place` in a list: an
/// entry before it, if there is one.
#[inline]
pub(crate) fn at_stage<T: Copy>(list: &[T], place: usize, stage: usize) -> Option<T> {
    list.get(place.wrapping_sub(stage * STAGE)).copied()
}

/// Bytes in a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches a record's cache lines, if there is such a record.
#[inline]
pub(crate) fn prefetch<T>(record: Option<&T>) {
    prefetch_front(record, size_of::<T>());
}

/// Prefetches the cache lines with a record's first bytes, if there is such a record.
#[inline]
pub(crate) fn prefetch_front<T>(record: Option<&T>, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(record) = record {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(record).cast::<i8>();
        for line in 0..bytes.min(size_of::<T>()).div_ceil(LINE) {
            #[expect(
                unsafe_code,
                reason = "the standard library has no safe name for the instruction"
            )]
            // SAFETY: The instruction has no visible effect on memory, reads or writes; any address
            // is allowed.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line * LINE));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (record, bytes);
}
