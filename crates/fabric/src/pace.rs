//! # Pace: links that are slower than a flit a cycle
//!
//! The fabric's cycle is a flit at the rate of the fastest link. A link with [`Pace`] `p / q` moves
//! `p` flits in `q` cycles: it is busy with each flit for `q / p` cycles, in which it moves no
//! other flit and pays no token.
//!
//! * *Spacing.* After a flit or a token in cycle `t` the link is *ready* again in `t + n`, with `n`
//!   one of the two whole numbers next to `q / p`. The division's rest is carried to the next flit,
//!   so that a link that is never idle moves exactly `p` flits in each `q` cycles. A link that has
//!   stood ready for a cycle or more has no carry: the first flit after a rest goes immediately, as
//!   over any link. With `p = 1` each flit takes `q` cycles.
//! * *Delay.* The far end has a flit when its last bit is there, [`Pace::serialisation`] cycles
//!   later than over a link with the same cable at full pace: the link's header delay is that much
//!   longer. So a flit that leaves a slow link for a fast one has arrived before it goes on, and no
//!   part of a worm overtakes another one. On the fast link the worm has *bubbles*, cycles in which
//!   the next flit is not there yet, and the link's other channels use them. From a fast link to a
//!   slow one, flits wait in the buffer between the two, and the fast link stands when the buffer
//!   is full.
//! * *Credits* go back in the cable's other direction, and take their credit delay at any pace:
//!   they are short.
//! * *Tokens*, the acknowledgements and EOPs, take a slot on the link as a flit does.
//! * *Choice.* A link chooses when it is ready, by the rule of `motion`, among the channels that
//!   can move then. A channel that is chosen as soon as the link is ready goes on, before tokens
//!   are paid. A link that is not ready wants to move nevertheless, for the partner that shares its
//!   adapter's memory port.
//!
//! So a packet alone with `F` flits over links with whole paces 1 / n and header delays D takes the
//! sum of `D + n - 1` over the links, and `(F - 1) max(n)` cycles for the flits behind the first
//! one (`tests/paces.rs`).

use crate::Cycle;
use std::cmp::Ordering;

/// The slowest link takes this many cycles for a flit.
pub const MAX_CYCLES_PER_FLIT: u32 = 512;

/// The most cycles in which a pace counts its flits.
pub const MAX_PACE_CYCLES: u32 = 4096;

/// A number of flits in a number of cycles; see the module essay. No more flits than cycles, and no
/// common divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    flits: u32,
    cycles: u32,
}

impl Pace {
    /// A flit in each cycle.
    pub const FULL: Pace = Pace {
        flits: 1,
        cycles: 1,
    };

    /// The pace nearest to a fraction of the full rate; `None` if the part is above 1, or below 1 /
    /// [`MAX_CYCLES_PER_FLIT`]. Exact if the reduced denominator is at most [`MAX_PACE_CYCLES`];
    /// else the error is at most one part in [`MAX_PACE_CYCLES`].
    pub fn nearest(part: u64, whole: u64) -> Option<Pace> {
        if part > whole || u128::from(part) * u128::from(MAX_CYCLES_PER_FLIT) < u128::from(whole) {
            return None;
        }
        // The continued fraction: each step has a convergent with a larger denominator, nearer to
        // the fraction.
        let (mut dividend, mut divisor) = (part, whole);
        let [mut before, mut last] = [(0, 1), (1, 0)];
        while divisor != 0 {
            let term = dividend / divisor;
            let most = (u64::from(MAX_PACE_CYCLES) - before.1)
                .checked_div(last.1)
                .unwrap_or(u64::MAX);
            let next = |term: u64| (term * last.0 + before.0, term * last.1 + before.1);
            if term > most {
                // Between two convergents lie fractions with smaller denominators, and the last one
                // may be nearer.
                let between = next(most);
                last = nearer(part, whole, last, between);
                break;
            }
            (before, last) = (last, next(term));
            (dividend, divisor) = (divisor, dividend % divisor);
        }
        Some(Pace {
            flits: last.0 as u32,
            cycles: last.1 as u32,
        })
    }

    /// Flits that the link moves in [`cycles`](Self::cycles).
    pub fn flits(self) -> u32 {
        self.flits
    }

    /// Cycles in which the link moves [`flits`](Self::flits).
    pub fn cycles(self) -> u32 {
        self.cycles
    }

    /// The flit fraction that the link moves in a cycle, from 0 to 1.
    pub fn per_cycle(self) -> f64 {
        f64::from(self.flits) / f64::from(self.cycles)
    }

    /// Cycles that flits take a link, in whole ones.
    pub fn time(self, flits: u64) -> u64 {
        let cycles = u128::from(flits) * u128::from(self.cycles) / u128::from(self.flits);
        cycles as u64
    }

    /// Cycles from a flit's first bit on the link to its last one, beyond those on a link at full
    /// pace.
    pub fn serialisation(self) -> u32 {
        self.cycles.div_ceil(self.flits) - 1
    }
}

/// The fraction nearer to `part / whole`; the first if both are equally near.
fn nearer(part: u64, whole: u64, one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    // |part / whole - a / b| by cross-multiplication, with the common factor 1 / whole left out.
    let off = |(a, b): (u64, u64)| {
        (u128::from(part) * u128::from(b)).abs_diff(u128::from(whole) * u128::from(a))
    };
    let [of_one, of_other] = [
        off(one) * u128::from(other.1),
        off(other) * u128::from(one.1),
    ];
    match of_one.cmp(&of_other) {
        Ordering::Less | Ordering::Equal => one,
        Ordering::Greater => other,
    }
}

/// A link's slots: when it may move a flit or pay a token next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slots {
    /// The first cycle in which the link is ready.
    pub ready: Cycle,
    /// The remainder from the division of cycles by flits, if the link goes on without a rest.
    carry: u32,
}

impl Slots {
    /// The link moves a flit or pays a token in a cycle in which it is ready.
    pub fn take(&mut self, pace: Pace, now: Cycle) {
        self.rest_until(now);
        let cycles = pace.cycles + self.carry;
        self.ready = now + Cycle::from(cycles / pace.flits);
        self.carry = cycles % pace.flits;
    }

    /// The link has been idle before a cycle.
    pub fn rest_until(&mut self, now: Cycle) {
        if self.ready < now {
            self.ready = now;
            self.carry = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admissible_rates_are_exact() {
        for (part, whole, flits, cycles) in [
            (25, 100, 1, 4),
            (40, 100, 2, 5),
            (100, 100, 1, 1),
            (3_125_000_000, 12_500_000_000, 1, 4),
            (1, 512, 1, 512),
            (4095, 4096, 4095, 4096),
        ] {
            let pace = Pace::nearest(part, whole).expect("within bounds");
            assert_eq!((pace.flits(), pace.cycles()), (flits, cycles));
        }
        assert_eq!(Pace::nearest(101, 100), None);
        assert_eq!(Pace::nearest(1, 513), None);
        assert_eq!(Pace::nearest(0, 1), None);
    }

    #[test]
    fn other_rates_are_nearly_so() {
        for part in [1_000_003, 999_983, 123_457, 7_919, 3_907] {
            let whole = 2_000_003;
            let Some(pace) = Pace::nearest(part, whole) else {
                assert!(part * 512 < whole);
                continue;
            };
            assert!(pace.cycles() <= MAX_PACE_CYCLES && pace.flits() <= pace.cycles());
            let exact = part as f64 / whole as f64;
            let error = (pace.per_cycle() / exact - 1.0).abs();
            assert!(error <= 1.0 / f64::from(MAX_PACE_CYCLES), "{part}: {error}");
        }
    }

    #[test]
    fn a_link_without_a_rest_keeps_its_pace_to_the_flit() {
        let pace = Pace::nearest(2, 5).expect("within bounds");
        let mut slots = Slots::default();
        let sent: Vec<Cycle> = (0..5)
            .map(|_| {
                let now = slots.ready;
                slots.take(pace, now);
                now
            })
            .collect();
        assert_eq!(sent, [0, 2, 5, 7, 10]);
        // After a rest there is no carry.
        slots.take(pace, 13);
        assert_eq!(slots.ready, 15);
    }
}
