//! The call list.

use link::calls::{COUNT, CallKind, kind, name, number};

#[test]
fn numbers_and_names_belong_together() {
    let names: Vec<&str> = (1..=COUNT as u32).map(name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "in order, and each once");
    for (place, name) in names.iter().enumerate() {
        assert_eq!(number(name) as usize, place + 1);
    }
    for none in [0, COUNT as u32 + 1, u32::MAX] {
        assert_eq!((name(none), kind(none)), ("no call of MPI", None));
    }
}

#[test]
fn kinds_follow_from_names() {
    for call in 1..=COUNT as u32 {
        let (name, kind) = (name(call), kind(call));
        if let Some(short) = name.strip_suffix("_c") {
            assert_eq!(
                kind,
                link::calls::kind(number(short)),
                "{name} and its short form"
            );
        }
        let rest = &name["MPI_".len()..];
        if rest.starts_with("Test") || rest.starts_with("Request_get_status") {
            assert_eq!(kind, Some(CallKind::Looks), "{name}");
        }
        if let Some(start) = rest
            .strip_prefix('I')
            .filter(|_| kind == Some(CallKind::Request))
        {
            let (first, more) = start.split_at(1);
            let blocking = format!("MPI_{}{more}", first.to_uppercase());
            if blocking.starts_with("MPI_Bsend") {
                continue; // the buffered send ends immediately
            }
            assert_eq!(
                link::calls::kind(number(&blocking)),
                Some(CallKind::Blocks),
                "{blocking}"
            );
        }
    }
}
