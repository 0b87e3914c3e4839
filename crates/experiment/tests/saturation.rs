//! Searches for a job's saturation point.

use crate::common;

use common::{keys, planned};
use experiment::{JobsPoint, Point, Workload, simulate};
use units::Rate;
use workload::Records;

const SATURATION: &str = include_str!("saturation.toml");

fn points(overrides: &[&str]) -> Vec<Point> {
    planned("saturation.toml", SATURATION, overrides)
}

fn is_saturated(records: &Records) -> bool {
    records.value("saturated") > 0.5
}

fn traffic(point: &mut Point) -> &mut JobsPoint {
    match &mut point.workload {
        Workload::Jobs(traffic) => traffic,
        other => panic!("{other:?}"),
    }
}

/// The same job at one load.
fn at(point: &Point, load: Rate) -> Records {
    let mut point = point.clone();
    let traffic = traffic(&mut point);
    traffic.saturation = None;
    traffic.jobs.get_mut("traffic").expect("it is there").load = load;
    simulate(&point, None).unwrap()
}

fn mb(load: f64) -> Rate {
    Rate::from_bytes_per_second((load * 1e6).round() as u64)
}

#[test]
fn the_result_is_a_saturated_load_and_the_records_are_of_one_that_is_not() {
    let point = points(&[]).remove(0);
    let records = simulate(&point, None).unwrap();
    let load = records.value("saturation");
    assert!((100.0..300.0).contains(&load), "{load}");
    assert!(is_saturated(&at(&point, mb(load))));
    // Halving 20 to 340 MB/s until the interval is at most a twentieth of 340: 10 MB/s.
    let below = at(&point, mb(load - 10.0));
    assert!(!is_saturated(&below));
    assert_eq!(below.packets, records.packets);
    assert_eq!(
        below.tables.rows[..],
        records.tables.rows[..below.tables.rows.len()]
    );
    let added: Vec<_> = records.tables.rows[below.tables.rows.len()..].to_vec();
    let [row] = &added[..] else {
        panic!("{added:?}")
    };
    let words = (row.job.as_deref(), row.metric, row.unit, row.batch);
    assert_eq!(words, (Some("traffic"), "saturation", "MB/s", None));
    assert_ne!(below.digest, records.digest, "what was added is part of it");
    assert_eq!(simulate(&point, None).unwrap(), records);
}

#[test]
fn a_search_between_loads_that_do_not_saturate_ends_at_the_highest() {
    let [point, _] = &points(&["series.search.saturation.highest=60 MB/s"])[..] else {
        panic!("two loads")
    };
    let records = simulate(point, None).unwrap();
    assert_eq!(mb(records.value("saturation")), mb(60.0));
    assert!(!is_saturated(&records));
}

#[test]
fn where_and_how_finely_is_searched_is_part_of_a_key() {
    let keys = |overrides: &[&str]| -> Vec<String> {
        let points = points(overrides);
        let again = points.iter().map(|point| {
            let text = serde_json::to_string(point).unwrap();
            serde_json::from_str::<Point>(&text).unwrap().key()
        });
        let keys = keys(&points);
        assert_eq!(again.collect::<Vec<_>>(), keys);
        keys
    };
    let before = keys(&[]);
    for change in ["highest=300 MB/s", "resolution=0.1"] {
        let after = keys(&[&format!("series.search.saturation.{change}")]);
        assert!(before.iter().zip(&after).all(|(one, other)| one != other));
    }
    let direct = points(&[]).into_iter().map(|mut point| {
        traffic(&mut point).saturation = None;
        point.key()
    });
    assert!(before.iter().zip(direct).all(|(one, other)| *one != other));
}
