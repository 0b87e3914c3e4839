use super::*;
use crate::raw::Raw;
use crate::record::{Body, Record};

fn order(time: u64) -> Raw {
    Record::plain(time, Body::Reply).raw()
}

/// A payload's parts, with at most `most` bytes in the next one, as the reading side finds them.
fn cut(pieces: &[&[u8]], most: impl Fn(usize) -> usize) -> Vec<(PayloadPart, Vec<u8>)> {
    let mut payload = Payload::new(pieces);
    let mut parts = Vec::new();
    while let Some((part, bytes)) = payload.take(most(parts.len())) {
        assert_eq!(bytes.len(), part.length());
        parts.push((part, bytes));
    }
    parts
}

#[test]
fn parts_are_the_whole_however_it_is_cut() {
    let bytes: Vec<u8> = (0..100).collect();
    for step in 1..=101 {
        for split in [0, 1, 50, 99, 100] {
            let (head, tail) = bytes.split_at(split);
            let parts = cut(&[head, &[], tail], |number| step + number % 3);
            let mut reassembly = Reassembly::default();
            let mut whole: Vec<u8> = Vec::new();
            for (part, bytes) in &parts {
                assert_eq!((part.at(), part.whole()), (whole.len(), 100));
                let order = order(7);
                reassembly.add(&order, *part).expect("it comes next");
                whole.extend(bytes);
                assert_eq!(part.is_last(), reassembly.is_closed());
            }
            assert_eq!(whole, bytes);
        }
    }
}

#[test]
fn nothing_is_one_part_of_nothing() {
    for pieces in [&[][..], &[&[][..]], &[&[][..], &[]]] {
        let parts = cut(pieces, |_| 10);
        assert_eq!(parts.len(), 1);
        assert!(parts[0].0.is_last() && parts[0].1.is_empty());
    }
}

/// The result of joining ten-byte parts in an order, each with its record's time.
fn join(parts: &[(usize, u64)]) -> Result<bool, Violation> {
    let bytes = [0; 30];
    let all = cut(&[&bytes], |_| 10);
    let mut reassembly = Reassembly::default();
    for &(number, time) in parts {
        reassembly.add(&order(time), all[number].0)?;
    }
    Ok(reassembly.is_closed())
}

#[test]
fn a_part_that_is_lost_or_comes_twice_or_early_or_with_another_record_is_found() {
    assert_eq!(
        join(&[(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)]),
        Ok(true)
    );
    for wrong in [
        &[(0, 1), (2, 1)][..],
        &[(1, 1), (2, 1)],
        &[(0, 1), (0, 1), (1, 1), (2, 1)],
        &[(0, 1), (1, 1), (1, 1), (2, 1)],
        &[(0, 1), (2, 1), (1, 1)],
        &[(0, 1), (1, 2), (2, 1)],
        &[(0, 1), (0, 2), (1, 1), (1, 2)],
    ] {
        assert_eq!(join(wrong), Err(Violation::Part), "{wrong:?}");
    }
    assert_eq!(join(&[(0, 1), (1, 1)]), Ok(false));
}

#[test]
fn a_part_whose_numbers_pass_the_range_is_found() {
    let order = order(1);
    let add = |parts: &[(u64, u64, u64)]| {
        let mut reassembly = Reassembly::default();
        let mut parts = parts
            .iter()
            .map(|&(at, length, whole)| PayloadPart { at, length, whole });
        parts.try_for_each(|part| reassembly.add(&order, part))
    };
    let most = u64::MAX;
    assert_eq!(add(&[(0, most, most)]), Ok(()));
    assert_eq!(add(&[(0, 5, 4)]), Err(Violation::Part));
    assert_eq!(add(&[(most, 1, 0)]), Err(Violation::Part));
    assert_eq!(add(&[(0, 4, most), (4, most, most)]), Err(Violation::Part));
}
