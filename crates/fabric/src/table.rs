//! Record tables: a record for each link, channel, switch or adapter in the network, at places that an identifier names.
//!
//! A large network's tables fill many thousands of pages, in an order that is unpredictable for the processor, so that it waits
//! for page addresses, too. Large pages of 2 MB spare this. Linux gives large pages on request before the memory is written for
//! the first time.

use bytemuck::{Zeroable, zeroed_vec};
use typed_index_collections::TiVec;

/// An empty table with room for `count` records.
pub(crate) fn with_room<K, V>(count: usize) -> TiVec<K, V> {
    let mut table = Vec::with_capacity(count);
    ask_for_large_pages(&mut table);
    table.into()
}

/// A table with the records from an iterator.
pub(crate) fn table<K, V>(records: impl ExactSizeIterator<Item = V>) -> TiVec<K, V> {
    let mut table = with_room(records.len());
    table.extend(records);
    table
}

/// A table with `count` equal records.
pub(crate) fn equal<K, V: Clone>(record: V, count: usize) -> TiVec<K, V> {
    table(std::iter::repeat_n(record, count))
}

/// A table with `count` zeroed records, for a region in a network, which has records for few links. Pages that are never
/// written to take no room where the allocator leaves fresh memory alone; the standard library's allocator writes to tables
/// with records aligned to more than 16 bytes. So there are no large pages.
pub(crate) fn blank<K, V: Zeroable>(count: usize) -> TiVec<K, V> {
    zeroed_vec(count).into()
}

/// Bytes in a large page, on all processors with 4 KB pages.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Requests large pages from the operating system behind a list that is still empty.
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
            // SAFETY: The whole pages from `start` on are this list's memory. The advice changes no memory content.
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
