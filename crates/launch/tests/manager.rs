//! A run's state: key-value space, barriers, names.

use launch::manager::{Effect, Manager, ProcessPhase};
use launch::space::Edition;
use launch::spawn::{ProgramRanks, Spawn};
use launch::wire::{KEY, RankNumber, RankRequest, Reply, VALUE};

fn manager(ranks: u32) -> Manager {
    Manager::new(
        ranks,
        ranks + 3,
        "space".into(),
        Edition::new().expect("a file"),
    )
}

/// Requests by ranks, and all replies.
fn ask(manager: &mut Manager, rank: RankNumber, request: RankRequest) -> Vec<(RankNumber, Reply)> {
    let mut replies = Vec::new();
    let effect = manager.take(rank, request, |to, reply| replies.push((to, reply)));
    assert_eq!(effect, None);
    replies
}

fn put(key: &str, value: &str) -> RankRequest {
    RankRequest::Put {
        key: key.into(),
        value: value.into(),
    }
}

fn get(key: &str) -> RankRequest {
    RankRequest::Get { key: key.into() }
}

fn barrier(group: &str) -> RankRequest {
    RankRequest::Barrier {
        group: group.into(),
    }
}

#[test]
fn values_are_seen_by_all() {
    let mut manager = self::manager(3);
    assert_eq!(
        ask(&mut manager, 1, put("k", "v")),
        [(1, Reply::Put(Ok(())))]
    );
    assert_eq!(
        ask(&mut manager, 2, get("k")),
        [(2, Reply::Get(Some("v".into())))]
    );
    assert_eq!(ask(&mut manager, 2, get("l")), [(2, Reply::Get(None))]);
    let mapping = Reply::Get(Some("(vector,(0,1,3))".into()));
    assert_eq!(
        ask(&mut manager, 0, get("PMI_process_mapping")),
        [(0, mapping)]
    );
    let kinds = "PMI_mpi_memory_alloc_kinds";
    assert_eq!(ask(&mut manager, 0, get(kinds)), [(0, Reply::Get(None))]);
    manager.kinds = Some("mpi:alloc_mem".into());
    let requested = Reply::Get(Some("mpi:alloc_mem".into()));
    assert_eq!(ask(&mut manager, 0, get(kinds)), [(0, requested)]);
    let name = Reply::SpaceName("space".into());
    assert_eq!(ask(&mut manager, 0, RankRequest::SpaceName), [(0, name)]);
}

#[test]
fn a_barrier_waits_for_its_group() {
    let mut manager = self::manager(4);
    let out = |ranks: &[RankNumber]| -> Vec<_> {
        ranks
            .iter()
            .map(|&rank| (rank, Reply::BarrierOut))
            .collect()
    };
    assert_eq!(ask(&mut manager, 3, barrier("")), []);
    assert_eq!(manager.waiting_to_start().collect::<Vec<_>>(), [3]);
    assert_eq!(ask(&mut manager, 0, barrier("0,1:5")), []);
    assert_eq!(ask(&mut manager, 1, barrier("0,1:5")), out(&[0, 1]));
    assert_eq!(ask(&mut manager, 0, barrier("")), []);
    assert_eq!(ask(&mut manager, 2, barrier("")), []);
    assert_eq!(ask(&mut manager, 1, barrier("")), out(&[3, 0, 2, 1]));
    // A later barrier is not a start.
    assert_eq!(ask(&mut manager, 1, barrier("")), []);
    assert_eq!(manager.waiting_to_start().count(), 0);
}

#[test]
fn the_space_has_bounds() {
    let mut manager = self::manager(1);
    let long = Reply::Put(Err("too_long"));
    assert_eq!(
        ask(&mut manager, 0, put(&"k".repeat(KEY), "v")),
        [(0, long.clone())]
    );
    assert_eq!(
        ask(&mut manager, 0, put("k", &"v".repeat(VALUE))),
        [(0, long)]
    );
    let value = "v".repeat(VALUE - 1);
    let taken = (0..1_000).take_while(|number| {
        let replies = ask(&mut manager, 0, put(&number.to_string(), &value));
        replies == [(0, Reply::Put(Ok(())))]
    });
    assert_eq!(taken.count(), 63, "64 KB a rank");
}

#[test]
fn names_are_published_once() {
    let mut manager = self::manager(2);
    let publish = || RankRequest::Publish {
        service: "s".into(),
        port: "p".into(),
    };
    let look_up = || RankRequest::LookUp {
        service: "s".into(),
    };
    let unpublish = || RankRequest::Unpublish {
        service: "s".into(),
    };
    let replies = [
        (look_up(), Reply::LookUp(None)),
        (publish(), Reply::Publish(Ok(()))),
        (publish(), Reply::Publish(Err("already_published"))),
        (look_up(), Reply::LookUp(Some("p".into()))),
        (unpublish(), Reply::Unpublish(Ok(()))),
        (unpublish(), Reply::Unpublish(Err("not_published"))),
    ];
    for (request, reply) in replies {
        assert_eq!(ask(&mut manager, 1, request), [(1, reply)]);
    }
}

#[test]
fn phases_follow_the_requests() {
    let mut manager = self::manager(2);
    assert_eq!(manager.phase(1), ProcessPhase::Started);
    ask(&mut manager, 1, RankRequest::Init);
    assert_eq!(manager.phase(1), ProcessPhase::Initialised);
    ask(&mut manager, 1, RankRequest::Finalize);
    assert_eq!(
        (manager.phase(0), manager.phase(1)),
        (ProcessPhase::Started, ProcessPhase::Finalized)
    );
    assert_eq!(
        manager.take(0, RankRequest::Abort { code: 9 }, |_, _| {}),
        Some(Effect::Abort(9))
    );
}

/// A request for one rank with a program and two with another, with a value.
fn spawn() -> Spawn {
    let part = |word: &str, ranks| ProgramRanks {
        words: vec![word.into()],
        ranks,
        folder: None,
    };
    Spawn {
        parts: vec![part("a", 1), part("b", 2)],
        values: vec![("port".into(), "p".into())],
    }
}

#[test]
fn a_rank_starts_a_world_of_its_own() {
    let mut manager = self::manager(2);
    let refused = "there_is_no_room:_elanite_mpirun_--universe_N";
    let reply = |why| [(1, Reply::Spawn(Err(why)))];
    assert_eq!(
        ask(&mut manager, 1, RankRequest::Spawn(spawn())),
        reply(refused)
    );
    let first = 2;
    assert_eq!(ask(&mut manager, 1, RankRequest::Places { first }), []);
    let effect = manager.take(1, RankRequest::Spawn(spawn()), |_, _| panic!("a reply"));
    assert_eq!(effect, Some(Effect::Start(first, spawn())));
    // The world has its own values, size and barriers.
    assert_eq!(
        ask(&mut manager, 4, get("port")),
        [(4, Reply::Get(Some("p".into())))]
    );
    assert_eq!(ask(&mut manager, 0, get("port")), [(0, Reply::Get(None))]);
    let mapping = Reply::Get(Some("(vector,(0,1,3))".into()));
    assert_eq!(
        ask(&mut manager, 2, get("PMI_process_mapping")),
        [(2, mapping)]
    );
    let name = Reply::SpaceName("space_2".into());
    assert_eq!(ask(&mut manager, 3, RankRequest::SpaceName), [(3, name)]);
    let number = Reply::ApplicationNumber(1);
    assert_eq!(
        ask(&mut manager, 3, RankRequest::ApplicationNumber),
        [(3, number)]
    );
    assert_eq!(
        ask(&mut manager, 0, RankRequest::UniverseSize),
        [(0, Reply::UniverseSize(5))]
    );
    assert_eq!(ask(&mut manager, 0, barrier("")), []);
    assert_eq!(ask(&mut manager, 2, barrier("")), []);
    assert_eq!(ask(&mut manager, 4, barrier("")), []);
    assert_eq!(manager.waiting_to_start().collect::<Vec<_>>(), [0, 2, 4]);
    assert!(manager.is_late(1) && manager.is_late(3) && !manager.is_late(4));
    let out = [2, 4, 3].map(|rank| (rank, Reply::BarrierOut));
    assert_eq!(ask(&mut manager, 3, barrier("")), out);
    // Places serve once, and are not others' places.
    assert_eq!(
        ask(&mut manager, 1, RankRequest::Spawn(spawn())),
        reply(refused)
    );
    assert_eq!(ask(&mut manager, 1, RankRequest::Places { first: 3 }), []);
    let effect = manager.take(1, RankRequest::Spawn(spawn()), |_, _| panic!("a reply"));
    assert_eq!(effect, Some(Effect::Fail("their places are taken")));
}
