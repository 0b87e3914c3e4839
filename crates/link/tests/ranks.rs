//! The ranks' data about themselves, on either side's turn; and ranks that leave, come back, or
//! exit.

use link::{
    Collectives, Compute, Departure, LinkError, Rank, RankPhase, Settings, Simulator, Starter,
    StrayReason, World,
};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_rank_leaves_and_comes_back_until_it_exits() {
    let mut simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let path = simulator.path();
    assert_eq!(simulator.phase(0), RankPhase::Absent);
    let process = std::thread::spawn(move || {
        let mut rank = Rank::attach(&path, 0).expect("there is a place");
        for round in 1..3 {
            rank.finish(round);
            assert_eq!(rank.come_back().expect("it goes on"), 100 * round);
        }
        rank.out_of_band().exits(); // it is in the simulation
        rank.finish(3);
        rank.out_of_band().exits();
        rank
    });
    for round in 1..3 {
        assert!(simulator.wait(0, LONG));
        assert_eq!(simulator.wait_for_return(0, LONG), RankPhase::Returning);
        assert!(simulator.phase(0).is_out());
        simulator.comes_back(0);
        assert_eq!(simulator.phase(0), RankPhase::Attached);
        simulator.give_turn(0, Some(100 * round));
        simulator.release();
    }
    assert!(simulator.wait(0, LONG));
    assert_eq!(simulator.wait_for_return(0, LONG), RankPhase::Gone);
    let mut rank = process.join().expect("it ends well");
    simulator.end();
    assert!(matches!(rank.come_back(), Err(LinkError::Over { rank: 0 })));
}

#[test]
fn the_first_word_of_a_rank_counts_and_so_does_their_order() {
    let simulator = Simulator::new(4, Settings::DEFAULT).expect("there is memory");
    let path = simulator.path();
    let attach = |rank| Rank::attach(&path, rank).expect("there is a place");
    let ranks: Vec<Rank> = (0..4).map(attach).collect();
    assert_eq!(simulator.leaving(), []);
    ranks[2].out_of_band().leaves(Departure::Exit);
    ranks[1].out_of_band().leaves(Departure::Abort(-7));
    ranks[1].out_of_band().leaves(Departure::Exit);
    ranks[0].out_of_band().leaves(Departure::Error);
    ranks[2].out_of_band().leaves(Departure::Error);
    let said = [
        (2, Departure::Exit),
        (1, Departure::Abort(-7)),
        (0, Departure::Error),
    ];
    assert_eq!(simulator.leaving(), said);
    ranks[3].out_of_band().in_call(5);
    assert_eq!((simulator.call(3), simulator.call(0)), (5, 0));
}

#[test]
fn threads_that_look_are_seen_in_the_call_in_which_they_look() {
    let simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let rank = Rank::attach(&simulator.path(), 0).expect("there is a place");
    let words = rank.out_of_band();
    assert_eq!(simulator.lookers(0), []);
    let places = [(70, 5), (71, 6)].map(|(thread, call)| words.starts_looking(thread, call));
    assert_eq!(places, [Some(0), Some(1)]);
    let before = simulator.lookers(0);
    let seen: Vec<_> = before.iter().map(|one| (one.thread, one.call)).collect();
    assert_eq!(seen, [(70, 5), (71, 6)]);
    words.looks(1);
    words.looks(1);
    let now = simulator.lookers(0);
    assert_eq!(now[1].looks_since(&before[1]), Some(2));
    assert_eq!(now[0].looks_since(&before[0]), Some(0));
    assert_eq!(now[0].looks_since(&before[1]), None);
    // The same thread, in another call of the same kind.
    words.looks_no_more(1);
    assert_eq!(simulator.lookers(0).len(), 1);
    assert_eq!(words.starts_looking(71, 6), Some(1));
    assert_eq!(simulator.lookers(0)[1].looks_since(&before[1]), None);
    for thread in 72..86 {
        assert!(words.starts_looking(thread, 5).is_some());
    }
    assert_eq!(words.starts_looking(86, 5), None);
}

#[test]
fn processes_that_do_not_attach_report_about_themselves() {
    let simulator = Simulator::new(2, Settings::DEFAULT).expect("there is memory");
    simulator.place(&[4, 7]);
    let open = |rank| Starter::open(&simulator.path(), rank);
    assert!(matches!(
        open(2).err(),
        Some(LinkError::NoSlot { rank: 2, ranks: 2 })
    ));
    let starter = open(1).expect("there is a place");
    assert_eq!(starter.nodes(), [4, 7]);
    assert_eq!((simulator.started(1), simulator.stray(1)), (None, None));
    starter.starts();
    starter.manages();
    let own = Some(std::process::id());
    assert_eq!((simulator.started(0), simulator.started(1)), (None, own));
    assert!(simulator.has_managed(1) && !simulator.has_managed(0));
    for why in [
        StrayReason::Unreached,
        StrayReason::World(0),
        StrayReason::World(1),
    ] {
        starter.strays(why);
        assert_eq!(simulator.stray(1), Some((why, own)));
    }
    assert_eq!(
        (simulator.phase(1), simulator.pid(1)),
        (RankPhase::Absent, None)
    );
    // A rank that makes other calls is in the run.
    let rank = Rank::attach(&simulator.path(), 1).expect("there is a place");
    for (call, strays) in [("MPI_Init", true), ("MPI_Send", false)] {
        let call = link::calls::number(call);
        rank.out_of_band().begins_call(call, 0);
        assert_eq!(simulator.stray(1).is_some(), strays, "{call}");
    }
}

#[test]
fn ranks_start_later_where_there_is_room() {
    let mut simulator = Simulator::with_room(2, 4, Settings::DEFAULT).expect("there is memory");
    let path = simulator.path();
    assert_eq!(simulator.ranks(), 2);
    assert!(matches!(
        Rank::attach(&path, 2).err(),
        Some(LinkError::NoSlot { rank: 2, ranks: 4 })
    ));
    assert_eq!(simulator.start(0, 7), None);
    assert_eq!(simulator.start(3, 7), None);
    assert_eq!(simulator.start(2, 7), Some(2));
    assert_eq!((simulator.ranks(), simulator.start(1, 7)), (4, None));
    let worlds = [0, 3].map(|rank| {
        let rank = Rank::attach(&path, rank).expect("there is a place");
        (rank.world(), rank.now(), rank.ranks())
    });
    let world = |first| World { first, size: 2 };
    assert_eq!(worlds, [(world(0), 0, 4), (world(2), 7, 4)]);
}

/// A run with the greatest numbers in its settings has room for them, and ranks read these
/// settings.
#[test]
fn a_rank_reads_the_settings_of_the_run() {
    let most = Settings {
        compute: Compute::PerCall(u64::MAX),
        tick: u64::MAX,
        longest_tick: u64::MAX,
        epoch: u64::MAX,
        calls: true,
        regions: true,
        checksums: false,
        faults: true,
        collectives: Collectives::Hardware,
        atomics: true,
        files: true,
        processors: u32::MAX,
        nodes: u32::MAX,
    };
    for settings in [Settings::DEFAULT, most] {
        let simulator = Simulator::new(1, settings).expect("there is memory");
        let rank = Rank::attach(&simulator.path(), 0).expect("there is a place");
        assert_eq!(rank.settings(), settings);
    }
}
