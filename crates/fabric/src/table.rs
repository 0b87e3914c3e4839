//! Tables of records: one for each link, channel, switch or adapter of the network, at places that an identifier names.
//!
//! The tables of a large network fill many thousands of pages, in no order that the processor could foresee, so that the
//! processor waits for the addresses of pages, too. Large pages of 2 MB spare this. Linux gives large pages to whoever asks for
//! them before the memory is written for the first time.

use bytemuck::{Zeroable, zeroed_vec};
use typed_index_collections::TiVec;

/// An empty table with room for `count` records.
pub(crate) fn with_room<K, V>(count: usize) -> TiVec<K, V> {
    let mut table = Vec::with_capacity(count);
    ask_for_large_pages(&mut table);
    table.into()
}

/// A table of the records that an iterator gives.
pub(crate) fn table<K, V>(records: impl ExactSizeIterator<Item = V>) -> TiVec<K, V> {
    let mut table = with_room(records.len());
    table.extend(records);
    table
}

/// A table of `count` equal records.
pub(crate) fn equal<K, V: Clone>(record: V, count: usize) -> TiVec<K, V> {
    table(std::iter::repeat_n(record, count))
}

/// A table of `count` records of zeros, for a region of a network, which has records of few links. Pages that are never written
/// to take no room where the allocator leaves fresh memory alone; that of the standard library writes to tables of records
/// that are aligned to more than 16 bytes. So there are no large pages.
pub(crate) fn blank<K, V: Zeroable>(count: usize) -> TiVec<K, V> {
    zeroed_vec(count).into()
}

/// Bytes of a large page, on all processors with pages of 4 KB.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Asks the operating system for large pages behind a list that is still empty.
fn ask_for_large_pages<V>(list: &mut Vec<V>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let room = list.spare_capacity_mut();
        let (first, bytes) = (room.as_mut_ptr().cast::<u8>(), size_of_val(room));
        let skipped = first.align_offset(LARGE);
        let pages = bytes.saturating_sub(skipped) / LARGE;
        if pages > 0 {
            let start = first.wrapping_add(skipped).cast();
            #[expect(
                unsafe_code,
                reason = "the standard library has no safe name for the advice"
            )]
            // SAFETY: The whole pages from `start` on are memory of this list. The advice changes no content of the memory.
            let given = unsafe { madvise(start, pages * LARGE, Advice::LinuxHugepage) };
            // Without large pages everything is as before, but slower.
            let _ = given;
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = list;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_holds_its_records() {
        for count in [0_usize, 1, 1000, 3 << 20] {
            let small: TiVec<usize, u16> = table((0..count).map(|place| place as u16));
            assert_eq!(small.len(), count);
            assert!(
                small
                    .iter_enumerated()
                    .all(|(place, &record)| record == place as u16)
            );
            let twins: TiVec<usize, u64> = equal(7, count);
            assert!(twins.len() == count && twins.iter().all(|&record| record == 7));
            let blank: TiVec<usize, u64> = blank(count);
            assert!(blank.len() == count && blank.iter().all(|&record| record == 0));
        }
    }
}
