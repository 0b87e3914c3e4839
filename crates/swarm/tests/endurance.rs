//! A share of the long run in `make endurance`: each kind of failing cables, with bit errors
//! frequent enough to exercise all recovery.

use swarm::endurance::{Cables, Course};
use units::Time;

#[test]
fn messages_come_once_whole_and_unaltered() {
    for (seed, cables) in [(1, Cables::BetweenSwitches), (2, Cables::All)] {
        let course = Course {
            rounds: 150,
            bit_error_rate: 1e-5,
            cables,
            mtbf: Time::from_us(100_000),
            mttr: Time::from_us(1000),
            seed,
        };
        let tally = course
            .run()
            .unwrap_or_else(|why| panic!("{cables:?}: {why}"));
        let recovered = tally.recovered;
        assert_eq!((tally.messages, recovered.given_up), (9600, 0));
        assert!(
            tally.failures > 10 && recovered.corrupted > 100,
            "{tally:?}"
        );
        assert!(recovered.timed_out > 0, "{tally:?}");
        // Adaptive ascents avoid a dead cable between switches most of the time; a node's dead
        // cable cannot be avoided.
        let refused = recovered.unreachable;
        assert!(
            cables == Cables::BetweenSwitches || refused > 0,
            "{tally:?}"
        );
    }
}
