//! The words by which a rank and the simulator hand the turn to each other.
//!
//! Each rank's slot has a *turn*, which is [`RANK`] or [`SIMULATOR`]. The side that has the turn
//! owns the rest of the slot, both areas included. Storing the other value gives the slot away (a
//! release); reading that value takes it over (an acquire). One word for all ranks, *awaited*,
//! names the rank for which the simulator sleeps, so that other ranks need not wake it.
//!
//! | side | gives the turn | takes the turn |
//! |---|---|---|
//! | a rank | [`to_simulator`] | [`await_rank`]: sleeps while its turn is the simulator's |
//! | the simulator | [`to_ranks`]: wakes the first, and each wakes two more | [`await_simulator`]: stores the rank, looks, sleeps |
//!
//! *No wake is lost.* A rank stores its turn and then reads *awaited*; the simulator stores
//! *awaited* and then reads the turn. A full fence stands between the two steps of either side, so
//! at least one side sees the other's store: the rank wakes the simulator, or the simulator does
//! not sleep. A sleep ends immediately if the word no longer has the expected value. The ranks that
//! a rank wakes are named in its slot, which it owns from its turn on, and they have got their
//! turns before.
//!
//! All functions are written over a [`SharedWord`], so that `tests/loom.rs` can explore their
//! interleavings with its own words.

use std::time::Duration;

/// The turn's value while it is the rank's.
pub const RANK: u32 = 0;
/// The turn's value while it is the simulator's.
pub const SIMULATOR: u32 = 1;
/// No rank.
pub const NOBODY: u32 = u32::MAX;

/// A word that two sides share; a process can sleep on its value.
pub trait SharedWord {
    /// The value; all that was written before it was stored becomes visible.
    fn take(&self) -> u32;
    /// Stores a value, and makes all earlier writes visible to the side that takes it.
    fn give(&self, value: u32);
    /// Orders memory: all stores before the fence are visible to everyone before the reads that
    /// follow it.
    fn fence();
    /// Sleeps while the word has this value; the sleep may end sooner. Returns whether it ended
    /// before the time was over.
    fn sleep(&self, value: u32, at_most: Duration) -> bool;
    /// Wakes one process that sleeps on the word.
    fn wake(&self);
}

/// A rank gives its turn away.
pub fn to_simulator<W: SharedWord>(turn: &W, awaited: &W, rank: u32) {
    turn.give(SIMULATOR);
    W::fence();
    if awaited.take() == rank {
        turn.wake();
    }
}

/// A rank waits until its turn comes back. Before each sleep period it calls `go_on`, which ends
/// the process if the wait has no purpose; the argument is whether a whole period has passed.
pub fn await_rank<W: SharedWord>(turn: &W, period: Duration, mut go_on: impl FnMut(bool)) {
    let mut late = false;
    while turn.take() == SIMULATOR {
        go_on(late);
        late = !turn.sleep(SIMULATOR, period);
    }
}

/// The simulator waits until a rank has given its turn away, or `left` reports that no time is
/// left. Returns whether the rank has.
pub fn await_simulator<W: SharedWord>(
    turn: &W,
    awaited: &W,
    rank: u32,
    mut left: impl FnMut() -> Duration,
) -> bool {
    // Any value but the rank's own gives the turn away: a rank that writes another value need not
    // be awaited.
    if turn.take() != RANK {
        return true;
    }
    let given = loop {
        awaited.give(rank);
        W::fence();
        if turn.take() != RANK {
            break true;
        }
        let left = left();
        if left.is_zero() {
            break false;
        }
        turn.sleep(RANK, left);
    };
    awaited.give(NOBODY);
    given
}

/// The simulator gives ranks their turns, by slot places. It wakes the first, and each wakes two
/// more: to wake a process takes longer than most of its work afterwards, and so all processors
/// share the work.
pub fn to_ranks<'a, W: SharedWord + 'a>(
    ranks: &[u32],
    turn: impl Fn(u32) -> &'a W,
    wakes: impl Fn(u32) -> &'a [W; 2],
) {
    for (place, &rank) in ranks.iter().enumerate() {
        for (word, next) in wakes(rank).iter().zip(2 * place + 1..) {
            word.give(ranks.get(next).copied().unwrap_or(NOBODY));
        }
    }
    // The last rank first: a rank that is awake may continue immediately, and the ranks that it
    // wakes must have their turns by then.
    for &rank in ranks.iter().rev() {
        turn(rank).give(RANK);
    }
    if let Some(&first) = ranks.first() {
        turn(first).wake();
    }
}

/// A rank that has got its turn wakes those that got their turns with it.
pub fn pass_on<'a, W: SharedWord + 'a>(wakes: &[W; 2], turn: impl Fn(u32) -> &'a W) {
    for rank in wakes.each_ref().map(W::take) {
        if rank != NOBODY {
            turn(rank).wake();
        }
    }
}
