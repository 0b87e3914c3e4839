//! Static rail allocation: coll2003's matrices, the bound, and that no node is left out.

use elan::{NodeId, Rail};
use proptest::prelude::*;
use rails::allocation::{Allocation, check, logarithmic_rails, most_nodes, optimal_rails};

/// Figure 3: 6 rails and 8 nodes using algorithm 1.
const FIGURE_3: [&str; 6] = [
    "10101010", "11001100", "11110000", "01010101", "00110011", "00001111",
];

/// Figure 4: 6 rails and 20 nodes using algorithm 2. Our copy of the paper shows 19 columns, though
/// its caption has 20. They are the algorithm's first 19, in its order; among all columns with
/// three ones a single one is missing (`nineteen_columns_leave_one`), and that is the algorithm's
/// last. So the last column was lost.
const FIGURE_4: [&str; 6] = [
    "1111111111000000000",
    "1111000000111111000",
    "1000111000111000111",
    "0100100110100110110",
    "0010010101010101101",
    "0001001011001011011",
];
const LAST_OF_FIGURE_4: [&str; 6] = ["0", "0", "0", "1", "1", "1"];

fn rows(allocation: &Allocation) -> Vec<String> {
    let row = |rail| -> String {
        let nodes = NodeId::all(allocation.nodes());
        let digit = |node| char::from(b'0' + u8::from(allocation.transmits(rail, node)));
        nodes.map(digit).collect()
    };
    Rail::all(allocation.rails()).map(row).collect()
}

#[test]
fn figure_3() {
    assert_eq!(rows(&Allocation::logarithmic(8)), FIGURE_3);
}

#[test]
fn figure_4() {
    let figure = FIGURE_4.iter().zip(LAST_OF_FIGURE_4);
    let figure = figure.map(|(row, last)| format!("{row}{last}"));
    assert!(rows(&Allocation::optimal(20)).into_iter().eq(figure));
}

/// Figure 4's lost column is this one and no other.
#[test]
fn nineteen_columns_leave_one() {
    let mut others: Vec<u32> = (0..1 << 6)
        .filter(|column: &u32| column.count_ones() == 3)
        .collect();
    for node in 0..FIGURE_4[0].len() {
        let column: String = FIGURE_4.iter().map(|row| &row[node..=node]).collect();
        let column = u32::from_str_radix(&column, 2).unwrap();
        others.retain(|&other| other != column);
    }
    let last = u32::from_str_radix(&LAST_OF_FIGURE_4.concat(), 2).unwrap();
    assert_eq!(others, [last]);
}

/// Section 2.1: two rails connect two nodes; four nodes need four.
#[test]
fn smallest_allocations() {
    for (nodes, rails) in [(1, 0), (2, 2), (3, 3), (4, 4), (6, 4), (7, 5)] {
        assert_eq!(optimal_rails(nodes), rails, "{nodes} nodes");
        assert_eq!(Allocation::optimal(nodes).rails(), rails);
    }
    for (nodes, rails) in [
        (1, 0),
        (2, 2),
        (3, 4),
        (4, 4),
        (5, 6),
        (8, 6),
        (9, 8),
        (1000, 20),
    ] {
        assert_eq!(logarithmic_rails(nodes), rails, "{nodes} nodes");
        assert_eq!(Allocation::logarithmic(nodes).rails(), rails);
    }
    let two = Allocation::optimal(2);
    let [zero, one] = [0, 1].map(NodeId::new);
    assert!(two.rails_between(zero, one).eq([Rail::new(0)]));
    assert!(two.rails_between(one, zero).eq([Rail::new(1)]));
    assert_eq!(two.rails_between(one, one).count(), 0);
}

/// The bound against Pascal's triangle, and where it saturates.
#[test]
fn the_bound_is_a_binomial_coefficient() {
    let mut row: Vec<u128> = vec![1];
    for rails in 0..=67 {
        assert_eq!(
            u128::from(most_nodes(rails)),
            row[rails as usize / 2],
            "{rails} rails"
        );
        let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
        row = [1].into_iter().chain(inner).chain([1]).collect();
    }
    assert_eq!(most_nodes(68), u64::MAX, "C(68, 34) has 65 bits");
    assert_eq!(most_nodes(u32::MAX), u64::MAX);
    assert_eq!(optimal_rails(u32::MAX), 35);
    assert_eq!(logarithmic_rails(u32::MAX), 64);
}

/// Algorithm 2 reaches the bound, and one node more needs one rail more.
#[test]
fn the_bound_is_reached() {
    for rails in 1..=12 {
        let most = u32::try_from(most_nodes(rails)).unwrap();
        let allocation = Allocation::with_rails(most, rails).unwrap();
        assert_eq!((allocation.rails(), allocation.nodes()), (rails, most));
        assert!(allocation.is_connected(), "{rails} rails");
        assert!(check(most + 1, rails).is_err());
        assert_eq!(optimal_rails(most + 1), rails + 1);
    }
}

/// Algorithm 1 connects 2^(r/2) nodes with r rails.
#[test]
fn algorithm_1_reaches_a_power_of_two() {
    for half in 1..=16 {
        assert_eq!(logarithmic_rails(1 << half), 2 * half);
        assert_eq!(logarithmic_rails((1 << half) + 1), 2 * half + 2);
    }
}

/// No set of columns is larger than the bound. The search goes through all connected sets; there
/// are as many of them as antichains (Dedekind's numbers).
#[test]
fn nothing_connects_more_nodes() {
    for rails in 0..=6 {
        let columns = 0..1_u64 << rails;
        let apart = |one: u64, other: u64| one & !other != 0 && other & !one != 0;
        // For each column the larger ones that may stand beside it.
        let reach = columns.clone().map(|one| {
            let others = columns.clone().filter(|&other| other > one);
            let others = others.filter(|&other| apart(one, other));
            others.fold(0, |word, other| word | 1 << other)
        });
        let reach: Vec<u64> = reach.collect();
        let all = columns.fold(0, |word, column| word | 1 << column);
        let (most, sets) = largest(all, &reach);
        assert_eq!(u64::from(most), most_nodes(rails), "{rails} rails");
        assert_eq!(sets, [2, 3, 6, 20, 168, 7581, 7_828_354][rails as usize]);
    }
}

/// The size of the largest column set in `free` with columns that may all stand beside each other,
/// and the number of such sets.
fn largest(mut free: u64, reach: &[u64]) -> (u32, u64) {
    let (mut most, mut sets) = (0, 1);
    while free != 0 {
        let column = free.trailing_zeros();
        free &= free - 1;
        let (more, beside) = largest(free & reach[column as usize], reach);
        most = most.max(more + 1);
        sets += beside;
    }
    (most, sets)
}

#[test]
fn a_rail_too_few_is_an_error_for_people() {
    let error = Allocation::with_rails(20, 5).unwrap_err();
    assert_eq!(error.to_string(), "20 nodes need 6 rails; you have 5");
    let error = Allocation::with_rails(20, 65).unwrap_err();
    let text = "65 rails are more than the 64 of an allocation";
    assert_eq!(error.to_string(), text);
    assert!(Allocation::with_rails(20, 64).unwrap().is_connected());
}

fn any_allocation() -> impl Strategy<Value = Allocation> {
    (1..600_u32, 0..8_u32).prop_flat_map(|(nodes, more)| {
        prop_oneof![
            Just(Allocation::logarithmic(nodes)),
            Just(Allocation::optimal(nodes)),
            Just(Allocation::with_rails(nodes, optimal_rails(nodes) + more).unwrap()),
        ]
    })
}

/// The nodes that a rail's failure parts, against the definition: two nodes with no other rail
/// between them.
#[test]
fn a_rail_without_which_two_are_parted() {
    let mut parted = [0, 0];
    for rails in 2..=8 {
        for nodes in 1..=most_nodes(rails).min(40) as u32 {
            let allocation = Allocation::with_rails(nodes, rails).expect("there are enough rails");
            for rail in Rail::all(rails) {
                let only = |from, to| allocation.rails_between(from, to).eq([rail]);
                let found = allocation.parted_without(rail);
                let all = || NodeId::all(nodes);
                let mut pairs = all().flat_map(|from| all().map(move |to| (from, to)));
                assert_eq!(
                    found.is_some(),
                    pairs.any(|(from, to)| only(from, to)),
                    "{nodes} nodes without rail {rail} of {rails}"
                );
                assert!(found.is_none_or(|(from, to)| only(from, to)));
                parted[usize::from(found.is_some())] += 1;
            }
        }
    }
    assert!(parted[0] > 20 && parted[1] > 100, "{parted:?}");
}

proptest! {
    /// Every node reaches every other on a rail on which it transmits and the other receives, in
    /// every allocation.
    #[test]
    fn every_node_reaches_every_other(allocation in any_allocation(), ends in any::<(u32, u32)>()) {
        prop_assert!(allocation.is_connected());
        let [from, to] = [ends.0, ends.1].map(|end| NodeId::new(end % allocation.nodes()));
        let rails: Vec<Rail> = allocation.rails_between(from, to).collect();
        prop_assert_eq!(rails.is_empty(), from == to);
        for rail in Rail::all(allocation.rails()) {
            let leads = allocation.transmits(rail, from) && !allocation.transmits(rail, to);
            prop_assert_eq!(rails.contains(&rail), leads);
        }
    }

    /// With the fewest rails, the nodes are more than the bound for one rail less.
    #[test]
    fn no_rail_is_to_spare(nodes in 2..u32::MAX) {
        let rails = optimal_rails(nodes);
        prop_assert!(most_nodes(rails) >= u64::from(nodes));
        prop_assert!(most_nodes(rails - 1) < u64::from(nodes));
        prop_assert!(rails <= logarithmic_rails(nodes));
    }
}
