//! What ranks say of themselves, whoever has the turn.

use link::{Compute, Leaving, Rank, Settings, Simulator};

#[test]
fn the_first_word_of_a_rank_counts_and_so_does_their_order() {
    let settings = Settings {
        compute: Compute::None,
        tick: 1,
        longest_tick: 1,
        epoch: 0,
        calls: false,
        checksums: true,
    };
    let simulator = Simulator::new(4, settings).expect("there is memory");
    let path = simulator.path();
    let attach = |rank| Rank::attach(&path, rank).expect("there is a place");
    let ranks: Vec<Rank> = (0..4).map(attach).collect();
    assert_eq!(simulator.leaving(), []);
    ranks[2].out_of_band().leaves(Leaving::Exit);
    ranks[1].out_of_band().leaves(Leaving::Abort(-7));
    ranks[1].out_of_band().leaves(Leaving::Exit);
    ranks[0].out_of_band().leaves(Leaving::Error);
    ranks[2].out_of_band().leaves(Leaving::Error);
    let said = [
        (2, Leaving::Exit),
        (1, Leaving::Abort(-7)),
        (0, Leaving::Error),
    ];
    assert_eq!(simulator.leaving(), said);
    ranks[3].out_of_band().in_call(5);
    assert_eq!((simulator.call(3), simulator.call(0)), (5, 0));
}
