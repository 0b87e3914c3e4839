//! The key-value space in a file.

use launch::manager::Manager;
use launch::space::{Edition, Reader};
use launch::wire::RankRequest;
use proptest::prelude::*;
use std::collections::HashMap;

proptest! {
    #[test]
    fn a_reader_finds_what_was_written(
        editions in prop::collection::vec(
            prop::collection::hash_map("[a-z-]{0,3}[0-9]{0,4}", "[A-F0-9=]{0,40}", 0..50),
            1..5,
        ),
        other in "[a-z-]{0,3}[0-9]{0,4}",
    ) {
        let mut edition = Edition::new().expect("a file");
        let mut reader = Reader::open(&edition.path()).expect("a file");
        reader.renew().expect("no edition");
        prop_assert_eq!(reader.get(&other), None);
        let mut before = HashMap::new();
        for space in editions {
            edition.write(&space).expect("memory");
            prop_assert_eq!(reader.get(&other), before.get(&other).map(String::as_str));
            reader.renew().expect("an edition");
            let entries: Vec<(&String, &String)> = space.iter().collect();
            for (key, value) in entries {
                prop_assert_eq!(reader.get(key), Some(value.as_str()));
            }
            prop_assert_eq!(reader.get(&other), space.get(&other).map(String::as_str));
            before = space;
        }
    }
}

#[test]
fn a_barrier_publishes_what_was_put_before() {
    let edition = Edition::new().expect("a file");
    let mut reader = Reader::open(&edition.path()).expect("a file");
    let mut manager = Manager::new(2, 2, "space".into(), edition);
    let mut put = |value: &str, ranks: u32| {
        let (key, value) = ("k".into(), value.into());
        manager.take(0, RankRequest::Put { key, value }, |_, _| {});
        for rank in 0..ranks {
            let group = String::new();
            manager.take(rank, RankRequest::Barrier { group }, |_, _| {});
        }
        reader.renew().expect("an edition");
        reader.get("k").map(String::from)
    };
    assert_eq!(put("v", 0), None);
    assert_eq!(put("w", 2), Some("w".into()));
    assert_eq!(put("x", 0), Some("w".into()), "no barrier");
    assert_eq!(put("y", 2), Some("y".into()));
}
