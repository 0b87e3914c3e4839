//! A hint to the processor: the records that will be needed soon.
//!
//! The records of a large network do not fit into the processor's nearest memory, and most of the time of a run is spent
//! waiting for them. The events of a cycle are known as a list, so that the records of the next events can be asked for while
//! the present one is worked off. A hint changes no result.

/// From this number of links on the records of a network do not fit into a second-level cache of 2 MB; with 1,024 nodes they do.
pub(crate) const FAR: usize = 1 << 15;

/// How many records of a list one stage of their fetching is ahead of the next, where the records of a stage name those of the
/// next.
pub(crate) const STAGE: usize = 6;

/// What a stage of fetching looks at while the first stage looks at `place` of a list: an entry before it, if there is one.
#[inline]
pub(crate) fn at_stage<T: Copy>(list: &[T], place: usize, stage: usize) -> Option<T> {
    list.get(place.wrapping_sub(stage * STAGE)).copied()
}

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Has the processor fetch the cache lines of a record, if there is such a record.
#[inline]
pub(crate) fn prefetch<T>(record: Option<&T>) {
    prefetch_front(record, size_of::<T>());
}

/// Has the processor fetch the cache lines of the first bytes of a record, if there is such a record.
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
            // SAFETY: The instruction neither reads nor writes memory as far as a program can tell; any address is allowed.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line * LINE));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (record, bytes);
}
