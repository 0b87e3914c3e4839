//! Ranks that leave, come back, or exit.

use link::{Compute, LinkError, Phase, Rank, Settings, Simulator};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_rank_leaves_and_comes_back_until_it_exits() {
    let settings = Settings {
        compute: Compute::None,
        tick: 1,
        longest_tick: 1,
        epoch: 0,
        calls: false,
        checksums: true,
    };
    let mut simulator = Simulator::new(1, settings).expect("there is memory");
    let path = simulator.path();
    assert_eq!(simulator.phase(0), Phase::Absent);
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
        assert_eq!(simulator.wait_for_return(0, LONG), Phase::Returning);
        assert!(simulator.phase(0).is_out());
        simulator.comes_back(0);
        assert_eq!(simulator.phase(0), Phase::Attached);
        simulator.give_turn(0, Some(100 * round));
        simulator.release();
    }
    assert!(simulator.wait(0, LONG));
    assert_eq!(simulator.wait_for_return(0, LONG), Phase::Gone);
    let mut rank = process.join().expect("it ends well");
    simulator.end();
    assert!(matches!(rank.come_back(), Err(LinkError::Over { rank: 0 })));
}
