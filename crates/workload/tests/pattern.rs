//! Patterns against their definitions in digits, against published examples, and against their
//! promises.

use elan::NodeId;
use kernel::random::Stream;
use proptest::prelude::*;
use workload::Pattern;
use workload::pattern::Destinations;

const PERMUTATIONS: [Pattern; 6] = [
    Pattern::Neighbor,
    Pattern::Butterfly,
    Pattern::Complement,
    Pattern::Shuffle,
    Pattern::Transpose,
    Pattern::BitReversal,
];

/// Permutations over any number of nodes.
const OF_ANY: [Pattern; 5] = [
    Pattern::Complement,
    Pattern::Tornado,
    Pattern::Shift(5),
    Pattern::Random(1),
    Pattern::Random(2),
];

/// All partners in a permutation over `count` ranks.
fn partners(pattern: &Pattern, count: u32) -> Vec<u32> {
    pattern.partners(count).expect("a permutation")
}

/// A rank's binary digits, `a(n-1)` first, rearranged.
fn by_digits(count: u32, rank: u32, rearrange: impl Fn(Vec<u32>) -> Vec<u32>) -> u32 {
    let digits = count.trailing_zeros();
    let written = (0..digits).rev().map(|digit| rank >> digit & 1).collect();
    let rearranged = rearrange(written);
    rearranged.iter().fold(0, |value, digit| value << 1 | digit)
}

/// Each permutation follows petrini2003 s4.4, digit by digit, on every node count that it admits.
#[test]
fn permutations_are_those_of_the_paper() {
    for digits in 0..=8 {
        let count = 1_u32 << digits;
        for rank in 0..count {
            let check = |pattern: Pattern, rearrange: fn(Vec<u32>) -> Vec<u32>| {
                let expected = by_digits(count, rank, rearrange);
                let partner = partners(&pattern, count)[rank as usize];
                assert_eq!(partner, expected, "{} of {count}", pattern.name());
            };
            check(Pattern::BitReversal, |mut a| {
                a.reverse();
                a
            });
            check(Pattern::Butterfly, |mut a| {
                if let [first, .., last] = &mut a[..] {
                    std::mem::swap(first, last);
                }
                a
            });
            check(Pattern::Complement, |a| {
                a.iter().map(|digit| 1 - digit).collect()
            });
            check(Pattern::Shuffle, |mut a| {
                let places = usize::from(!a.is_empty());
                a.rotate_left(places);
                a
            });
            if digits % 2 == 0 {
                check(Pattern::Transpose, |mut a| {
                    let half = a.len() / 2;
                    a.rotate_left(half);
                    a
                });
            }
            if digits > 0 {
                let partner = partners(&Pattern::Neighbor, count)[rank as usize];
                assert_eq!(partner, rank ^ 1);
            }
        }
    }
}

/// Examples worked out by hand on eight and sixteen nodes.
#[test]
fn examples() {
    assert_eq!(partners(&Pattern::Neighbor, 6), [1, 0, 3, 2, 5, 4]);
    assert_eq!(partners(&Pattern::Butterfly, 8), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(partners(&Pattern::Complement, 8), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(partners(&Pattern::Shuffle, 8), [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(partners(&Pattern::BitReversal, 8), [0, 4, 2, 6, 1, 5, 3, 7]);
    // A matrix with four rows, written row by row, and its transpose.
    let transpose: Vec<u32> = (0..16).map(|rank| rank % 4 * 4 + rank / 4).collect();
    assert_eq!(partners(&Pattern::Transpose, 16), transpose);
}

/// Permutations over rank counts that are not powers of two, worked out by hand.
#[test]
fn examples_of_any_number() {
    assert_eq!(partners(&Pattern::Complement, 5), [4, 3, 2, 1, 0]);
    assert_eq!(partners(&Pattern::Shift(2), 5), [2, 3, 4, 0, 1]);
    assert_eq!(partners(&Pattern::Shift(12), 5), [2, 3, 4, 0, 1]);
    // 2^32 - 1 is a multiple of 5, and arithmetic does not overflow.
    assert_eq!(partners(&Pattern::Shift(u32::MAX), 5), [0, 1, 2, 3, 4]);
    // Dally and Towles: rank + ceil(N / 2) - 1, by 3 of 8 ranks, by 2 of 5 and of 6.
    assert_eq!(partners(&Pattern::Tornado, 8), [3, 4, 5, 6, 7, 0, 1, 2]);
    assert_eq!(partners(&Pattern::Tornado, 5), [2, 3, 4, 0, 1]);
    assert_eq!(partners(&Pattern::Tornado, 6), [2, 3, 4, 5, 0, 1]);
}

/// A number's permutation is fixed permanently; other numbers draw others. Those over two,
/// three and four ranks come equally often: there are 1, 2 and 9 without a rank that is its own partner.
#[test]
fn random_permutations() {
    assert_eq!(
        partners(&Pattern::Random(7), 10),
        partners(&Pattern::Random(7), 10)
    );
    assert_ne!(
        partners(&Pattern::Random(7), 10),
        partners(&Pattern::Random(8), 10)
    );
    for (count, expected) in [(2, 1), (3, 2), (4, 9)] {
        let mut found = std::collections::BTreeMap::new();
        for number in 0..expected * 1000 {
            *found
                .entry(partners(&Pattern::Random(number), count))
                .or_insert(0_u32) += 1;
        }
        assert_eq!(found.len() as u32, expected, "of {count}");
        // Five standard deviations for a count with a mean of 1000.
        assert!(
            found.values().all(|&times| times.abs_diff(1000) < 160),
            "{found:?}"
        );
    }
    assert_eq!(
        partners(&Pattern::Random(1), 1),
        [0],
        "a single node has no other partner"
    );
}

/// All but the shuffle are their own inverse; a shuffle is one after as many steps as there are
/// digits.
#[test]
fn inverses() {
    for pattern in &PERMUTATIONS {
        let there = partners(pattern, 64);
        let twice: Vec<u32> = there.iter().map(|&rank| there[rank as usize]).collect();
        let itself: Vec<u32> = (0..64).collect();
        assert_eq!(
            twice == itself,
            *pattern != Pattern::Shuffle,
            "{}",
            pattern.name()
        );
    }
    let shuffle = partners(&Pattern::Shuffle, 64);
    for rank in 0..64 {
        let six = (0..6).fold(rank, |rank, _| shuffle[rank as usize]);
        assert_eq!(six, rank);
    }
}

/// The only destination.
fn one(node: u32) -> Destinations {
    Destinations::One(NodeId::new(node))
}

/// The count of 64 nodes that are their own partner: palindromes in bit reversal (petrini2003
/// s5.4), the diagonal in the transpose.
#[test]
fn silent_nodes() {
    let nodes: Vec<NodeId> = NodeId::all(64).collect();
    for (pattern, silent) in PERMUTATIONS.iter().zip([0, 32, 0, 2, 8, 8]) {
        let destinations = pattern.destinations(&nodes, &[]);
        let none = destinations.iter().filter(|there| there.is_none()).count();
        assert_eq!(none, silent, "{}", pattern.name());
    }
}

#[test]
fn what_patterns_need() {
    let admitted = |pattern: &Pattern| -> Vec<u32> {
        (1..=65).filter(|&count| pattern.admits(count)).collect()
    };
    let powers = [1, 2, 4, 8, 16, 32, 64];
    for pattern in &PERMUTATIONS {
        let expected = match pattern {
            Pattern::Neighbor => (1..=32).map(|half| 2 * half).collect(),
            Pattern::Transpose => vec![1, 4, 16, 64],
            Pattern::Complement => (1..=65).collect(),
            _ => powers.to_vec(),
        };
        assert_eq!(admitted(pattern), expected, "{}", pattern.name());
        let any = *pattern == Pattern::Complement;
        assert_eq!(pattern.needs().is_none(), any, "{}", pattern.name());
    }
    for pattern in &OF_ANY {
        assert_eq!(admitted(pattern).len(), 65, "{}", pattern.name());
    }
    let others = [
        Pattern::Uniform,
        Pattern::Blocks,
        Pattern::Cyclic,
        Pattern::Pairs(Vec::new()),
    ];
    for pattern in others {
        assert_eq!(admitted(&pattern).len(), 65, "{}", pattern.name());
        assert_eq!((pattern.needs(), pattern.partners(64)), (None, None));
    }
}

/// A permutation works on the job's nodes, with any numbers.
#[test]
fn permutations_of_any_nodes() {
    let nodes = [3, 5, 20, 21].map(NodeId::new);
    let destinations = Pattern::Complement.destinations(&nodes, &[]);
    assert_eq!(destinations, [21, 20, 5, 3].map(one));
}

/// Eight servers among 64 nodes in both mappings from petrini2003 s4.6, shared: all 64 nodes send,
/// and each server has eight clients, one more or less where a server that would be its own client
/// takes the next one. Dedicated: seven clients each.
#[test]
fn servers_are_shared_evenly() {
    let nodes: Vec<NodeId> = NodeId::all(64).collect();
    let last: Vec<NodeId> = nodes[56..].to_vec();
    for servers in [last.clone(), nodes.iter().copied().step_by(8).collect()] {
        let others = nodes.iter().copied().filter(|node| !servers.contains(node));
        let others: Vec<NodeId> = others.collect();
        for (pattern, nodes) in [
            (Pattern::Blocks, &nodes),
            (Pattern::Blocks, &others),
            (Pattern::Cyclic, &nodes),
            (Pattern::Cyclic, &others),
        ] {
            let name = pattern.name();
            let mut clients = [0_i32; 64];
            for (&node, there) in nodes.iter().zip(pattern.destinations(nodes, &servers)) {
                let Destinations::One(server) = there else {
                    panic!("{name}: node {node} of {} is silent", nodes.len());
                };
                assert!(server != node && servers.contains(&server), "{name}");
                clients[usize::from(server)] += 1;
            }
            let even = i32::try_from(nodes.len()).expect("few nodes") / 8;
            let slack = i32::from(nodes.len() == 64);
            for &server in &servers {
                let found = clients[usize::from(server)];
                assert!(
                    (found - even).abs() <= slack,
                    "{name}: {server} has {found}"
                );
            }
        }
    }
    let blocks = Pattern::Blocks.destinations(&nodes, &last);
    assert_eq!((&blocks[7], &blocks[8]), (&one(56), &one(57)));
    assert_eq!(
        (&blocks[62], &blocks[63]),
        (&one(63), &one(56)),
        "the last server would be its own client, and takes the first one"
    );
    let cyclic = Pattern::Cyclic.destinations(&nodes, &last);
    assert_eq!((&cyclic[7], &cyclic[8]), (&one(63), &one(56)));
}

/// The only server has no other server to turn to: it is silent.
#[test]
fn the_only_server_is_silent() {
    for pattern in [Pattern::Blocks, Pattern::Cyclic, Pattern::Uniform] {
        let destinations = pattern.destinations(&[3, 4, 5].map(NodeId::new), &[NodeId::new(4)]);
        let four = one(4);
        let expected = [four.clone(), Destinations::None, four];
        assert_eq!(destinations, expected, "{}", pattern.name());
    }
}

/// A hot-spot: all nodes but the hot one itself write there (petrini2003 s5.5).
#[test]
fn a_hot_spot() {
    let nodes: Vec<NodeId> = NodeId::all(64).collect();
    let destinations = Pattern::Uniform.destinations(&nodes, &[NodeId::new(0)]);
    assert!(destinations[0].is_none());
    assert!(destinations[1..].iter().all(|there| *there == one(0)));
}

/// The destinations that a node draws, and how often each, in a number of messages.
fn drawn(destinations: &Destinations, messages: u32) -> Vec<u32> {
    let mut stream = Stream::new(1, "test");
    let mut counts = vec![0; 64];
    for _ in 0..messages {
        counts[usize::from(destinations.draw(&mut stream))] += 1;
    }
    counts
}

/// Every other node is as likely as any, whether the node is a candidate itself or not.
#[test]
fn draws_are_uniform() {
    let nodes: Vec<NodeId> = NodeId::all(64).collect();
    let servers: Vec<NodeId> = nodes.iter().copied().step_by(8).collect();
    for (servers, node, others) in [(&[][..], 5, 63), (&servers, 5, 8), (&servers, 8, 7)] {
        let destinations = &Pattern::Uniform.destinations(&nodes, servers)[node];
        let counts = drawn(destinations, others * 1000);
        assert_eq!(counts[node], 0);
        let chosen: Vec<_> = counts.iter().filter(|&&count| count > 0).collect();
        assert_eq!(chosen.len(), others as usize);
        // Five standard deviations for a count with a mean of 1000.
        assert!(
            chosen.iter().all(|&&count| 840 < count && count < 1160),
            "{counts:?}"
        );
    }
}

#[test]
fn pairs() {
    let nodes: Vec<NodeId> = NodeId::all(64).collect();
    let pairs = [(1, 9), (2, 3), (2, 4), (3, 3), (5, 5), (5, 6)];
    let pairs = pairs.map(|(from, to)| (NodeId::new(from), NodeId::new(to)));
    let destinations = Pattern::Pairs(pairs.to_vec()).destinations(&nodes, &[]);
    assert_eq!(destinations[1], one(9));
    assert_eq!(destinations[5], one(6), "to itself is no traffic");
    assert!(destinations[0].is_none() && destinations[3].is_none());
    let counts = drawn(&destinations[2], 2000);
    assert_eq!(counts[3] + counts[4], 2000);
    assert!(counts[3].abs_diff(1000) < 120, "{counts:?}");
}

proptest! {
    /// A permutation reaches every rank once; no node sends to itself, and only the job's nodes are
    /// destinations.
    #[test]
    fn permutations_are_bijections(
        pattern in prop::sample::select(PERMUTATIONS.to_vec()),
        digits in 1_u32..=12,
        stride in 1_u32..4,
    ) {
        let count = 1 << digits;
        prop_assume!(pattern.admits(count));
        let mut reached = partners(&pattern, count);
        reached.sort_unstable();
        prop_assert!(reached.into_iter().eq(0..count));
        let nodes: Vec<NodeId> = (0..count).map(|rank| NodeId::new(7 + rank * stride)).collect();
        for (node, there) in nodes.iter().zip(pattern.destinations(&nodes, &[])) {
            if let Destinations::One(there) = there {
                prop_assert!(there != *node && nodes.binary_search(&there).is_ok());
            }
        }
    }
    /// The same holds for any number of nodes; a random permutation leaves no node silent.
    #[test]
    fn permutations_of_any_number_are_bijections(
        pattern in prop::sample::select(OF_ANY.to_vec()),
        count in 1_u32..300,
    ) {
        let there = partners(&pattern, count);
        if matches!(pattern, Pattern::Random(_)) && count > 1 {
            prop_assert!(there.iter().zip(0..).all(|(&partner, rank)| partner != rank));
        }
        let mut reached = there;
        reached.sort_unstable();
        prop_assert!(reached.into_iter().eq(0..count));
    }
}
