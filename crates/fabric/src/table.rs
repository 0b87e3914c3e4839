//! Record tables: a record for each link, channel, switch or adapter in the network, at places that
//! an identifier names.
//!
//! A large network's tables fill many thousands of pages, in an order that is unpredictable for the
//! processor, so that it waits for page addresses, too. Large pages of 2 MB spare this. Linux gives
//! large pages on request, at the first write. An allocator may hand out memory that earlier lists
//! have written to, such as those of a graph's searches: its small pages are given back first.

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

/// A table with `count` zeroed records, for a region in a network, which has records for few links.
/// Pages that are never written to take no room; a large page would have room for many regions.
pub(crate) fn blank<K, V: Zeroable>(count: usize) -> TiVec<K, V> {
    #[cfg(all(target_os = "linux", not(miri)))]
    if let Some(table) = untouched(count) {
        return table.into();
    }
    zeroed_vec(count).into()
}

/// A list of zeroed records in pages that the operating system provides when they are written to.
/// `None` for a short list, and if the system refuses. An allocator would write zeros to all.
#[cfg(all(target_os = "linux", not(miri)))]
fn untouched<V: Zeroable>(count: usize) -> Option<Vec<V>> {
    use rustix::mm::{Advice, madvise};
    /// Bytes in the largest usual page; shorter lists are not worth the calls.
    const PAGE: usize = 1 << 16;
    let mut list: Vec<V> = Vec::new();
    if count.saturating_mul(size_of::<V>()) < 4 * PAGE {
        return None;
    }
    list.reserve_exact(count);
    let room = &mut list.spare_capacity_mut()[..count];
    let (first, bytes) = (room.as_mut_ptr().cast::<u8>(), size_of_val(room));
    let skipped = first.align_offset(PAGE);
    let length = (bytes - skipped) / PAGE * PAGE;
    let pages = first.wrapping_add(skipped);
    #[expect(
        unsafe_code,
        reason = "the standard library has no safe name for memory that is not there yet"
    )]
    // SAFETY: `length` bytes from `pages` on, and the bytes before and behind them, are the room of
    // this list, which no reference reads. Allocators have private memory without a file behind it:
    // after `LinuxDontNeed` it reads as zeros. So all `count` records are zeros, which are records.
    unsafe {
        madvise(pages.cast(), length, Advice::LinuxNoHugepage).ok()?;
        madvise(pages.cast(), length, Advice::LinuxDontNeed).ok()?;
        first.write_bytes(0, skipped);
        pages.add(length).write_bytes(0, bytes - skipped - length);
        list.set_len(count);
    }
    Some(list)
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
            // SAFETY: The whole pages from `start` on are room of this list, which has no records
            // there. Allocators have private memory without a file behind it: after `LinuxDontNeed`
            // its content is zeros, and `LinuxHugepage` changes no content.
            let given = unsafe {
                let _ = madvise(start, pages * LARGE, Advice::LinuxDontNeed);
                madvise(start, pages * LARGE, Advice::LinuxHugepage)
            };
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
