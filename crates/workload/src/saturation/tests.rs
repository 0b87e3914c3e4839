use super::{Search, bisect};
use std::convert::Infallible;
use units::Rate;

/// Searches a network that saturates above a load, from 1 to 100 MB/s: the result, the records (the
/// load itself) and the loads that were tried.
fn search(limit: f64, resolution: f64) -> (f64, f64, Vec<f64>) {
    let mb = Rate::from_mb_per_second;
    let mut tried = Vec::new();
    let trial = |load: Rate| {
        tried.push(load.as_mb_per_second_f64());
        Ok::<_, Infallible>(load.as_mb_per_second_f64())
    };
    let highest = mb(100);
    let search = Search {
        highest,
        resolution,
    };
    let (load, records) = bisect(mb(1), search, trial, |&load| load > limit).unwrap();
    (load.as_mb_per_second_f64(), records, tried)
}

#[test]
fn the_interval_is_halved_until_it_is_short() {
    let (load, records, tried) = search(30.0, 0.1);
    assert_eq!(tried, [50.5, 25.75, 38.125, 31.9375]);
    assert_eq!((load, records), (31.9375, 25.75));
    let (load, records, tried) = search(30.0, 0.001);
    assert!(records <= 30.0 && 30.0 < load && load - records <= 0.1);
    assert_eq!(tried.len(), 10);
}

#[test]
fn a_resolution_finer_than_a_byte_per_second_ends() {
    let (load, records, _) = search(30.0, 1e-30);
    assert_eq!((load, records), (30.000_001, 30.0));
}

#[test]
fn ends_that_do_not_enclose_the_point_are_the_result() {
    let tried = vec![50.5, 25.75, 13.375, 7.1875, 1.0];
    assert_eq!(search(0.5, 0.1), (1.0, 1.0, tried));
    let tried = vec![50.5, 75.25, 87.625, 93.8125, 100.0];
    assert_eq!(search(200.0, 0.1), (100.0, 100.0, tried));
}

/// Ends that do enclose the point, next to it.
#[test]
fn the_last_intervals_are_judged_by_their_ends() {
    let tried = vec![50.5, 25.75, 13.375, 7.1875, 1.0];
    assert_eq!(search(5.0, 0.1), (7.1875, 1.0, tried));
    let tried = vec![50.5, 75.25, 87.625, 93.8125, 100.0];
    assert_eq!(search(95.0, 0.1), (100.0, 93.8125, tried));
}
