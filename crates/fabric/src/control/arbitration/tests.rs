//! The essay's rules, against a second, independent implementation.

use super::*;
use crate::records::Sender;
use crate::topology::Climb;
use crate::{Ascent, Broadcast, FatTree, Wiring};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A header that has come as soon as it was injected.
fn header(input: u32, injected: Cycle, high: bool) -> PendingHeader {
    PendingHeader {
        packet: PacketId::at(input as usize),
        input,
        injected,
        ready: injected,
        high,
    }
}

/// The rule that all ages are equal.
const EQUAL: Ages = Ages { step: 1, full: 0 };

/// The essay, step by step: the headers with the highest priority; among these the oldest; then the
/// headers that have been as old at the switch for the longest time; then the first header on a
/// walk around the inputs.
fn brute_force(
    waiting: &[PendingHeader],
    first: u32,
    inputs: u32,
    ages: Option<Ages>,
    now: Cycle,
) -> u32 {
    let any_high = waiting.iter().any(|header| header.high);
    let mut class: Vec<_> = waiting
        .iter()
        .filter(|header| header.high == any_high)
        .collect();
    if let Some(Ages { step, full }) = ages {
        // An age grows after each step, until it is full.
        let age = |header: &PendingHeader, at: Cycle| {
            let grows = |cycle: &Cycle| (cycle - header.injected).is_multiple_of(step);
            let until = at.min(header.injected.saturating_add(full));
            (header.injected + 1..=until).filter(grows).count()
        };
        let greatest = class.iter().map(|header| age(header, now)).max();
        class.retain(|header| Some(age(header, now)) == greatest);
        // From now back to the first cycle with this age at the switch.
        let held = |header: &PendingHeader| {
            let before = (header.ready..=now).rev();
            before
                .take_while(|&at| age(header, at) == age(header, now))
                .count()
        };
        let longest = class.iter().map(|header| held(header)).max();
        class.retain(|header| Some(held(header)) == longest);
    }
    (first..inputs)
        .chain(0..first)
        .find(|&input| class.iter().any(|header| header.input == input))
        .expect("somebody wins")
}

/// The winner at a 12-input switch.
fn wins(waiting: &[PendingHeader], rotation: u32, ages: Option<Ages>, now: Cycle) -> PendingHeader {
    let headers = waiting.iter().copied();
    winner(headers, rotation, 12, ages, now).expect("somebody waits")
}

/// Headers at different inputs in any order, injected and arrived in few cycles, so that many are
/// equal.
fn waiting() -> impl Strategy<Value = Vec<PendingHeader>> {
    let times = (0_u64..50, 0_u64..50, any::<bool>());
    prop::collection::btree_map(0_u32..12, times, 1..8)
        .prop_map(|headers| {
            let header = |(input, (one, other, high)): (_, (Cycle, Cycle, _))| PendingHeader {
                ready: one.max(other),
                ..header(input, one.min(other), high)
            };
            headers.into_iter().map(header).collect()
        })
        .prop_shuffle()
}

proptest! {
    #[test]
    fn the_winner_is_the_one_of_the_essay(
        waiting in waiting(),
        first in 0_u32..12,
        bits in 1_u32..8,
        cap in prop_oneof![Just(0_u64), 1_u64..60, Just(u64::MAX)],
        count in any::<bool>(),
        now in 50_u64..100,
    ) {
        let ages = count.then(|| Ages::new(bits, cap));
        let header = wins(&waiting, first, ages, now);
        prop_assert_eq!(header.input, brute_force(&waiting, first, 12, ages, now));
    }

    /// The greatest age fits into its bits; it is reached at the cap, or as long before as the
    /// steps are not whole cycles.
    #[test]
    fn ages_fit_into_their_bits(bits in 1_u32..=32, cap in 0_u64..1_000_000) {
        let Ages { step, full } = Ages::new(bits, cap);
        let most = (1_u64 << bits) - 1;
        prop_assert!(full.is_multiple_of(step) && full / step <= most);
        prop_assert!(full <= cap && cap - full < most);
        prop_assert!(full / step == most || step == 1);
    }

    /// For every start the output is the first one with the most free channels, and as the start
    /// moves each such output is taken.
    #[test]
    fn the_least_loaded_link_is_taken(
        free in prop::collection::vec(prop_oneof![0_u32..4, any::<u32>()], 1..9)
    ) {
        let outputs: Vec<LinkId> = (100..100 + free.len()).map(LinkId::from).collect();
        let channels = |link: LinkId| free[usize::from(link) - 100].count_ones();
        let most = outputs.iter().map(|&link| channels(link)).max().expect("an output");
        let mut taken = BTreeSet::new();
        for start in 0..free.len() as u64 {
            let found = least_loaded(&outputs, || start, |link| free[usize::from(link) - 100]);
            if most == 0 {
                prop_assert_eq!(found, None);
                continue;
            }
            let (before, behind) = outputs.split_at(start as usize);
            let expected = behind.iter().chain(before).find(|&&link| channels(link) == most);
            prop_assert_eq!(found.as_ref(), expected);
            taken.extend(found);
        }
        let all = outputs.iter().filter(|&&link| most > 0 && channels(link) == most);
        prop_assert!(taken.iter().eq(all));
    }
}

#[test]
fn nobody_wins_if_nobody_waits() {
    assert!(winner(std::iter::empty(), 3, 12, Some(EQUAL), 10).is_none());
}

/// Grants one by one, as `Control::arbitrate` does; headers that are equal are served in turn.
#[test]
fn equal_headers_are_served_in_turn() {
    let ages = Some(Ages::new(4, 150));
    let mut waiting: Vec<_> = [7, 2, 11, 0, 5]
        .map(|input| header(input, 10, false))
        .into();
    let mut rotation = 3;
    let mut served = Vec::new();
    while !waiting.is_empty() {
        let input = wins(&waiting, rotation, ages, 20).input;
        waiting.retain(|header| header.input != input);
        served.push(input);
        rotation = (input + 1) % 12;
    }
    assert_eq!(served, [5, 7, 11, 0, 2]);
}

/// Inputs that always want the output get equal shares, and no input waits longer than a round.
#[test]
fn rotation_is_fair() {
    let waiting: Vec<_> = [4, 0, 9].map(|input| header(input, 0, false)).into();
    let mut rotation = 0;
    let mut served = Vec::new();
    for now in 0..300 {
        let input = wins(&waiting, rotation, None, now).input;
        served.push(input);
        rotation = (input + 1) % 12;
    }
    assert!(served.chunks(3).all(|round| round == [0, 4, 9]));
}

/// With 4 bits and a cap of 150, the age grows after each 10 cycles and is full, 15, after 150
/// cycles.
#[test]
fn of_equal_ages_the_first_wins() {
    let from_afar = PendingHeader {
        ready: 70,
        ..header(2, 0, false)
    };
    let wins = |other, now| {
        let waiting = [header(5, 55, false), other];
        wins(&waiting, 0, Some(Ages::new(4, 150)), now).input
    };
    assert_eq!(wins(from_afar, 70), 2, "7 against 1");
    assert_eq!(wins(from_afar, 204), 2, "15 against 14");
    assert_eq!(
        wins(from_afar, 205),
        2,
        "both are 15, since 205 and since 150"
    );
    let late = PendingHeader {
        ready: 210,
        ..header(2, 0, false)
    };
    assert_eq!(
        wins(late, 210),
        5,
        "both are 15, here since 205 and since 210"
    );
}

/// Packets that are less than a step apart differ in age only now and then; then the older one
/// wins.
#[test]
fn ages_are_coarse() {
    let older = PendingHeader {
        ready: 25,
        ..header(2, 6, false)
    };
    let waiting = [header(5, 14, false), older];
    let wins = |now| wins(&waiting, 0, Some(Ages::new(4, 150)), now).input;
    assert_eq!(wins(25), 5, "both are 1, since 24 and since 25");
    assert_eq!(wins(26), 2, "2 against 1");
    assert_eq!(wins(33), 2, "2 against 1");
    assert_eq!(wins(34), 2, "both are 2, since 34 and since 26");
}

/// A high priority beats any age.
#[test]
fn priority_comes_first() {
    let waiting = [
        header(0, 0, false),
        header(5, 99, true),
        header(3, 98, true),
    ];
    assert_eq!(wins(&waiting, 0, Some(Ages::new(4, 1500)), 100).input, 3);
}

/// Ties are spread evenly, both for one source's packets at one switch and for one packet at all
/// switches.
#[test]
fn the_hash_spreads_ties() {
    let outputs = [10, 11, 12, 13].map(LinkId::new);
    let share = |seeds: &mut dyn Iterator<Item = u64>| {
        let mut taken = [0_u32; 4];
        for seed in seeds {
            let link = least_loaded(&outputs, || seed, |_| 0b11).expect("all are free");
            taken[usize::from(link) - 10] += 1;
        }
        taken
    };
    let (any, many) = (SwitchId::new(3), 4000);
    for fixed in [0, 1, 17, 63] {
        let source = Place::new(fixed);
        let shares = [
            share(&mut (0..many).map(|sequence| spread(source, sequence, any))),
            share(&mut SwitchId::all(many).map(|switch| spread(source, 0, switch))),
            share(&mut Place::all(many).map(|source| spread(source, fixed, any))),
        ];
        for taken in shares.into_iter().flatten() {
            assert!((850..1150).contains(&taken), "{shares:?}");
        }
    }
}

/// A small tree's groups and ports, by name: two first-level switches with two links down and three
/// up.
#[test]
fn groups_of_a_crossbar() {
    let tree = FatTree::new(&[2, 2], &[3], 4).expect("within bounds");
    let [(adaptive, _), (fixed, _)] = crossbars(&tree);
    assert_eq!(adaptive.groups.len(), 2 * (2 + 1) + 3 * 2);
    assert_eq!(fixed.groups.len(), 2 * (2 + 3) + 3 * 2);
    every_step_names_its_outputs(&tree);
}

/// Groups and ports with four up-links to two parents: these have two children, by two links each.
#[test]
fn parallel_links_are_one_group() {
    let tree = FatTree::with_parallel_links(&[2, 2], &[4], &[2], 4).expect("within bounds");
    let [(adaptive, _), (fixed, _)] = crossbars(&tree);
    assert_eq!(adaptive.groups.len(), 2 * (2 + 1) + 2 * 2);
    assert_eq!(fixed.groups.len(), 2 * (2 + 4) + 2 * 2);
    every_step_names_its_outputs(&tree);
}

/// A tree's crossbars with adaptive and with deterministic ascent.
fn crossbars(tree: &FatTree) -> [(Crossbar, TiVec<LinkId, Hop>); 2] {
    let routing = |ascent| Climb::new(tree, ascent, Broadcast::Serialised);
    [Ascent::Adaptive, Ascent::Deterministic]
        .map(|ascent| Crossbar::new(&config(tree.clone()), &routing(ascent)))
        .map(|(crossbar, (hops, _))| (crossbar, hops))
}

/// Checks every step that a header takes, from every link into a switch.
fn every_step_names_its_outputs(tree: &FatTree) {
    let [(adaptive, hops), (fixed, fixed_hops)] = crossbars(tree);
    for link in LinkId::all(tree.links()) {
        let End::Switch { switch, port } = tree.ends(link).1 else {
            assert!(hops[link].ejects());
            continue;
        };
        let level = tree.switch_level(switch);
        let (down, up) = (tree.down_links(level), tree.up_links(level));
        let inputs = 2 * (down + up);
        let ups: Vec<_> = (down..down + up)
            .map(|port| tree.output(switch, port))
            .collect();
        for (crossbar, hops) in [(&adaptive, &hops), (&fixed, &fixed_hops)] {
            let hop = hops[link];
            assert_eq!(hop.input(1), 2 * port + 1);
            assert_eq!(hop.reverse, tree.reverse(link));
            assert_eq!(hop.delay(), 3 + tree.link_level(link) as u64);
            for child in 0..tree.children(level) {
                let group = hop.next_group(child);
                let (outputs, of, among) = crossbar.outputs(group);
                assert_eq!((of, among), (switch, inputs));
                let parallel = tree.parallel_links(level - 1);
                let ports = child * parallel..(child + 1) * parallel;
                let links = ports.map(|port| tree.output(switch, port));
                assert!(links.eq(outputs.iter().copied()));
                for &output in outputs {
                    assert_eq!(hops[output].group(), group);
                }
            }
        }
        if up > 0 {
            let group = hops[link].next_group(tree.children(level));
            assert_eq!(adaptive.outputs(group), (&ups[..], switch, inputs));
        }
        for (group, &output) in (tree.children(level)..).zip(&ups) {
            let group = fixed_hops[link].next_group(group);
            assert_eq!(fixed.outputs(group), (&[output][..], switch, inputs));
            assert_eq!(fixed_hops[output].group(), group);
        }
    }
    for place in Place::all(4) {
        let sender = hops[tree.injection(place)].sender();
        assert!(matches!(sender, Sender::Adapter(adapter) if adapter == place));
    }
}

/// Two channels, hop delays 3 and 4; the tree is replaced.
fn config(tree: FatTree) -> Config {
    Config {
        hop_delay: vec![3, 4],
        ..Config::new(tree)
    }
}
