use super::{RegionTimes, read, write};

fn times(first: &[u64], later: &[u64]) -> RegionTimes {
    RegionTimes {
        first: first.to_vec(),
        later: later.to_vec(),
    }
}

#[test]
fn first_executions_are_in_order_and_later_ones_in_turn() {
    let all = times(&[5, 6], &[7, 8, 9]);
    let taken: Vec<_> = (0..7).map(|execution| all.of(execution)).collect();
    assert_eq!(taken, [5, 6, 7, 8, 9, 7, 8].map(Some));
    assert_eq!(times(&[5], &[]).of(0), Some(5));
    assert_eq!(times(&[5], &[]).of(1), None);
}

#[test]
fn a_rank_reads_the_lines_of_its_regions() {
    let mut text = String::new();
    write(1, "a > b", &times(&[1, 2], &[3]), &mut text);
    write(11, "a > b", &times(&[9], &[]), &mut text);
    write(1, "b > c", &times(&[], &[4]), &mut text);
    let found = read(1, &text);
    assert_eq!(found.len(), 2);
    assert_eq!(found["a > b"], times(&[1, 2], &[3]));
    assert_eq!(found["b > c"], times(&[], &[4]));
    assert_eq!(read(2, &text).len(), 0);
}
