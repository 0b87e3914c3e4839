//! # Graph families: networks that a few numbers describe
//!
//! | family | switches | links per switch | diameter |
//! |---|---|---|---|
//! | *Slim Fly* for a prime q = 4w + δ, δ = ±1 (Besta and Hoefler, SC 2014): the graphs by `McKay`, Miller and Siran | 2 q² | (3 q - δ) / 2 | 2 |
//! | *`PolarFly`* for a prime q (Lakhotia et al., SC 2022): the polarity graphs by Erdős and Rényi | q² + q + 1 | q + 1, at q + 1 switches q | 2 |
//! | *Jellyfish* (Singla et al., NSDI 2012): a random graph with equal degrees | any | the degree | by the draw |
//! | *Xpander* (Valadarsky et al., `CoNEXT` 2016): d + 1 groups, a random matching between each two | a multiple of d + 1 | d | by the draw |
//! | *Megafly* (Flajslik et al., ISC 2018), also Dragonfly+: groups with leaves below spines, the spines joined to other groups | 2 a g | a at a leaf, a + h at a spine | 3 between leaves |
//!
//! *Slim Fly.* Switches are (0, x, y) and (1, m, c) with coordinates modulo q. With a primitive
//! root ξ and two sets X and X' with its powers, (0, x, y) and (0, x, y') are joined if y - y' is
//! in X, (1, m, c) and (1, m, c') if c - c' is in X', and (0, x, y) and (1, m, c) if y = m x + c.
//! *`PolarFly`.* Switches are the points in the projective plane over q; two are joined if the
//! product of their coordinates is 0. Prime powers are left out.
//!
//! *Jellyfish.* Cable ends are paired at random; pairs that join a switch to itself, or two
//! switches a second time, are crossed with other cables at random. Draws that are in several parts
//! are drawn again. The draws come from `SplitMix64`, by a seed, and belong to the model.
//! *Megafly.* A group's links to other groups are shared out evenly, as in a dragonfly.

use super::super::error::TopologyError;
use super::{MAX_SWITCHES, Plan, distances, joined};
use crate::hash::mixed;
use std::collections::BTreeSet;

/// A family, and a member's numbers; see the module essay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// For a prime of at least 3.
    SlimFly {
        /// The prime.
        order: u32,
    },
    /// For a prime.
    PolarFly {
        /// The prime.
        order: u32,
    },
    /// A random graph.
    Jellyfish {
        /// Switches.
        switches: u32,
        /// Links per switch to others.
        degree: u32,
        /// The seed for the draws.
        seed: u64,
    },
    /// Random matchings.
    Xpander {
        /// Switches, a multiple of the degree plus 1.
        switches: u32,
        /// Links per switch to others.
        degree: u32,
        /// The seed for the draws.
        seed: u64,
    },
    /// Groups with leaves and spines.
    Megafly {
        /// Leaves per group, and spines.
        group: u32,
        /// Links per spine to other groups.
        global: u32,
        /// Groups.
        groups: u32,
    },
}

/// Most random graph draws until one is connected.
const MOST_DRAWS: u64 = 1000;

impl Family {
    /// The graph with `terminals` nodes at each switch, in a Megafly at each leaf.
    ///
    /// # Errors
    /// If there is no such member, with the number's key.
    pub fn plan(self, terminals: u32) -> Result<Plan, TopologyError> {
        let (switches, cables) = match self {
            Family::SlimFly { order } => slim_fly(order)?,
            Family::PolarFly { order } => polar_fly(order)?,
            Family::Jellyfish {
                switches,
                degree,
                seed,
            } => {
                check_random(switches, degree)?;
                if switches % 2 == 1 && degree % 2 == 1 {
                    let message = format!(
                        "{switches} switches of degree {degree} have an odd number of ends of \
                        cables"
                    );
                    return Err(TopologyError::new("degree", message, "")
                        .hint("make one of both numbers even"));
                }
                drawn(switches, |draw| jellyfish(switches, degree, draw), seed)?
            }
            Family::Xpander {
                switches,
                degree,
                seed,
            } => {
                check_random(switches, degree)?;
                if !switches.is_multiple_of(degree + 1) {
                    let message = format!(
                        "{switches} switches are no multiple of degree + 1 = {}",
                        degree + 1
                    );
                    return Err(TopologyError::new("switches", message, ""));
                }
                drawn(switches, |draw| Some(xpander(switches, degree, draw)), seed)?
            }
            Family::Megafly {
                group,
                global,
                groups,
            } => megafly(group, global, groups)?,
        };
        let is_seat = |&switch: &u32| match self {
            Family::Megafly { group, .. } => switch / group % 2 == 0,
            _ => true,
        };
        let seats = (0..switches.len() as u32).filter(is_seat);
        Ok(Plan {
            seats: seats
                .flat_map(|switch| (0..terminals).map(move |_| switch))
                .collect(),
            switches,
            cables,
            ..Plan::default()
        })
    }
}

/// Switch names, and cables.
type NamedGraph = (Vec<String>, Vec<(u32, u32)>);

fn wrong<T>(key: &str, message: String, allowed: impl Into<String>) -> Result<T, TopologyError> {
    Err(TopologyError::new(key, message, allowed))
}

/// Checks that a number is a prime of at least 3, and so small that a graph with `switches` is
/// within the graph limits.
fn check_prime(noun: &str, q: u32, switches: impl Fn(u32) -> u32) -> Result<(), TopologyError> {
    let is_prime = |q: u32| q > 2 && (2..q).all(|divisor| !q.is_multiple_of(divisor));
    let fits = |q: u32| q < 64 && switches(q) as usize <= MAX_SWITCHES && is_prime(q);
    if fits(q) {
        return Ok(());
    }
    let primes: Vec<String> = (0..64)
        .filter(|&q| fits(q))
        .map(|q| q.to_string())
        .collect();
    wrong(
        "order",
        format!("no {noun} is made of {q} here"),
        primes.join(", "),
    )
}

fn slim_fly(q: u32) -> Result<NamedGraph, TopologyError> {
    check_prime("Slim Fly", q, |q| 2 * q * q)?;
    let powers = |root: u32| -> Vec<u32> {
        let next = |&power: &u32| Some(power * root % q);
        let all = std::iter::successors(Some(1), next);
        all.take(q as usize - 1).collect()
    };
    let is_primitive = |&root: &u32| powers(root).iter().filter(|&&power| power == 1).count() == 1;
    let root = (2..q).find(is_primitive).expect("a prime has one");
    // The even powers; for q = 4w - 1 odd ones from the middle on, so that the set has each
    // member's negative.
    let is_in = |exponent: &usize| {
        let is_odd = q % 4 == 3 && *exponent >= q as usize / 2;
        exponent % 2 == usize::from(is_odd)
    };
    let powers = powers(root);
    let set = (0..powers.len()).filter(is_in);
    let set: Vec<u32> = set.map(|exponent| powers[exponent]).collect();
    let other: Vec<u32> = set.iter().map(|power| power * root % q).collect();
    let number = |side: u32, column: u32, row: u32| (side * q + column) * q + row % q;
    let mut cables = Vec::new();
    for (column, row) in (0..q).flat_map(|column| (0..q).map(move |row| (column, row))) {
        for (side, set) in (0..).zip([&set, &other]) {
            let ends = set
                .iter()
                .map(|step| (number(side, column, row), number(side, column, row + step)));
            // The set has each member's negative: each cable comes from both ends.
            cables.extend(ends.filter(|(a, b)| a < b));
        }
        let across = (0..q).map(|m| (number(0, column, row), number(1, m, row + (q - m) * column)));
        cables.extend(across);
    }
    let name = |number: u32| {
        let half = if number < q * q { "a" } else { "b" };
        format!("{half}{}.{}", number / q % q, number % q)
    };
    Ok(((0..2 * q * q).map(name).collect(), cables))
}

fn polar_fly(q: u32) -> Result<NamedGraph, TopologyError> {
    check_prime("PolarFly", q, |q| q * q + q + 1)?;
    // Points with the first coordinate that is not 0 equal to 1.
    let plane = (0..q).flat_map(|y| (0..q).map(move |z| [1, y, z]));
    let points: Vec<[u32; 3]> = plane
        .chain((0..q).map(|z| [0, 1, z]))
        .chain([[0, 0, 1]])
        .collect();
    let product = |a: &[u32; 3], b: &[u32; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<u32>() % q;
    let mut cables = Vec::new();
    for (number, point) in (0..).zip(&points) {
        let others = (number + 1..).zip(&points[number as usize + 1..]);
        cables.extend(
            others
                .filter(|(_, other)| product(point, other) == 0)
                .map(|(other, _)| (number, other)),
        );
    }
    let name = |[x, y, z]: &[u32; 3]| format!("{x}.{y}.{z}");
    Ok((points.iter().map(name).collect(), cables))
}

fn check_random(switches: u32, degree: u32) -> Result<(), TopologyError> {
    if !(4..=MAX_SWITCHES as u32).contains(&switches) {
        let allowed = format!("4 to {MAX_SWITCHES}");
        return wrong(
            "switches",
            format!("{switches} switches are out of range"),
            allowed,
        );
    }
    if !(3..switches).contains(&degree) {
        let allowed = format!("3 to {}", switches - 1);
        return wrong(
            "degree",
            format!("{degree} links of a switch are out of range"),
            allowed,
        );
    }
    Ok(())
}

/// Draws cables until they join all switches.
fn drawn(
    switches: u32,
    draw: impl Fn(&mut Draws) -> Option<Vec<(u32, u32)>>,
    seed: u64,
) -> Result<NamedGraph, TopologyError> {
    for round in 0..MOST_DRAWS {
        let mut draws = Draws(mixed(seed ^ round << 32));
        let Some(mut cables) = draw(&mut draws) else {
            continue;
        };
        cables.sort_unstable();
        let far = distances(&joined(switches as usize, &cables), &[0]);
        if !far.contains(&u32::MAX) {
            return Ok((
                (0..switches).map(|switch| format!("s{switch}")).collect(),
                cables,
            ));
        }
    }
    wrong(
        "degree",
        "no draw of the graph is connected".into(),
        "a greater number",
    )
}

/// A number stream: `SplitMix64`.
struct Draws(u64);

impl Draws {
    /// A number below another one.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        ((u128::from(mixed(self.0)) * end as u128) >> 64) as usize
    }

    /// Numbers in random order.
    fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

fn jellyfish(switches: u32, degree: u32, draws: &mut Draws) -> Option<Vec<(u32, u32)>> {
    if 2 * degree > switches - 1 {
        // In a dense graph nearly all crossings are in vain: draw the cables that it lacks.
        let lacks: BTreeSet<_> = sparse(switches, switches - 1 - degree, draws)?
            .into_iter()
            .collect();
        let pairs = (0..switches).flat_map(|a| (a + 1..switches).map(move |b| (a, b)));
        return Some(pairs.filter(|pair| !lacks.contains(pair)).collect());
    }
    sparse(switches, degree, draws)
}

fn sparse(switches: u32, degree: u32, draws: &mut Draws) -> Option<Vec<(u32, u32)>> {
    let mut ends: Vec<u32> = (0..switches)
        .flat_map(|switch| (0..degree).map(move |_| switch))
        .collect();
    draws.shuffle(&mut ends);
    let pair = |a: u32, b: u32| (a.min(b), a.max(b));
    let mut cables: Vec<(u32, u32)> = ends.chunks(2).map(|ends| pair(ends[0], ends[1])).collect();
    let mut known = BTreeSet::new();
    let is_new = |cable: &(u32, u32)| cable.0 != cable.1 && known.insert(*cable);
    let mut bad: Vec<usize> = Vec::new();
    let fresh: Vec<bool> = cables.iter().map(is_new).collect();
    bad.extend((0..cables.len()).filter(|&number| !fresh[number]));
    let mut tries = 1000 * (1 + bad.len());
    while let Some(&number) = bad.last() {
        tries = tries.checked_sub(1)?;
        let other = draws.below(cables.len());
        if bad.contains(&other) {
            continue;
        }
        let ((a, b), (c, d)) = (cables[number], cables[other]);
        let (one, two) = (pair(a, c), pair(b, d));
        if one.0 == one.1
            || two.0 == two.1
            || one == two
            || known.contains(&one)
            || known.contains(&two)
        {
            continue;
        }
        known.remove(&cables[other]);
        known.extend([one, two]);
        (cables[number], cables[other]) = (one, two);
        bad.pop();
    }
    Some(cables)
}

fn xpander(switches: u32, degree: u32, draws: &mut Draws) -> Vec<(u32, u32)> {
    let size = switches / (degree + 1);
    let mut cables = Vec::new();
    for (a, b) in (0..=degree).flat_map(|a| (a + 1..=degree).map(move |b| (a, b))) {
        let mut partners: Vec<u32> = (0..size).collect();
        draws.shuffle(&mut partners);
        cables.extend(
            (0..)
                .zip(partners)
                .map(|(own, other)| (a * size + own, b * size + other)),
        );
    }
    cables
}

fn megafly(group: u32, global: u32, groups: u32) -> Result<NamedGraph, TopologyError> {
    let most = MAX_SWITCHES as u32;
    for (key, number, least) in [
        ("group", group, 1),
        ("global", global, 1),
        ("groups", groups, 2),
    ] {
        if !(least..=most).contains(&number) {
            return wrong(
                key,
                format!("{number} is out of range"),
                format!("{least} to {most}"),
            );
        }
    }
    let outside = u64::from(group) * u64::from(global);
    if 2 * u64::from(group) * u64::from(groups) > u64::from(most) {
        let message = format!("{groups} groups of 2 x {group} switches are too many switches");
        return wrong("groups", message, format!("at most {}", most / (2 * group)));
    }
    if !outside.is_multiple_of(u64::from(groups) - 1) {
        let message = format!(
            "the {outside} links of a group to others cannot be shared out among {} groups",
            groups - 1
        );
        let divisors = (1..=outside).filter(|links| outside.is_multiple_of(*links));
        let counts: Vec<String> = divisors.map(|links| (links + 1).to_string()).collect();
        return wrong("groups", message, counts.join(", "));
    }
    let leaf = |of: u32, number: u32| of * 2 * group + number;
    let spine = |of: u32, number: u32| leaf(of, group + number);
    let mut cables = Vec::new();
    for here in 0..groups {
        for own in 0..group {
            cables.extend((0..group).map(|other| (leaf(here, own), spine(here, other))));
        }
        for end in 0..outside as u32 {
            let (link, other) = (end / (groups - 1), end % (groups - 1));
            let there = if other < here { other } else { other + 1 };
            if here < there {
                let back = link * (groups - 1) + here;
                cables.push((spine(here, end / global), spine(there, back / global)));
            }
        }
    }
    let name = |switch: u32| {
        let (of, number) = (switch / (2 * group), switch % (2 * group));
        let kind = if number < group { "leaf" } else { "spine" };
        format!("{of}.{kind}{}", number % group)
    };
    Ok(((0..2 * group * groups).map(name).collect(), cables))
}
