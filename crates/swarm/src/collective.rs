//! Collective calls in random programs: their parameters, how they are made, and their expected
//! results.
//!
//! All calls use the same two places in each process, one behind the other: they take from the
//! first and leave their result in the second. Calls with only one place use the first. Before a
//! call both hold the process's own bytes, and some more bytes behind them are not touched by any
//! call.

use crate::bytes::bytes;
use elan::ElanAddr;
use libelan::Pe;
use libelan::elan::group::Group;
use libelan::elan::reduce::{Receivers, Reduction};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use units::{Bytes, Time};

/// Each place's length, in main memory and in adapter memory.
pub const SPANS: [u64; 2] = [24_000, 9_000];

/// Bytes behind a call's range.
const BEHIND: u64 = 16;

/// Memory for the places.
pub fn area(span: u64) -> Bytes {
    Bytes::new(2 * (span + BEHIND))
}

/// A call by all members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupCollective {
    /// The group, by its place among all groups.
    pub group: usize,
    /// The call.
    pub kind: Kind,
    /// Whether the places are in adapter memory.
    pub adapter: bool,
    /// The seed for the members' bytes before the call, below 2^32.
    pub seed: u64,
}

/// The call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Kind {
    /// Waits for all.
    Barrier(Barrier),
    /// Sends the bytes of one member to all.
    Broadcast {
        /// The library and the way.
        by: BroadcastMethod,
        /// The member.
        root: u32,
        /// Its bytes.
        length: u64,
    },
    /// Combines vectors.
    Reduce {
        /// The library, and the members with the result.
        by: Reduce,
        /// Elements per vector.
        words: u64,
    },
    /// Collects bytes from each member, with equal or different lengths.
    Collect {
        /// A member's most bytes.
        longest: u64,
        /// Whether all members have as many.
        equal: bool,
    },
}

impl Kind {
    /// Names only ranks in a group with this member count.
    pub fn bound(&mut self, members: u32) {
        let (Kind::Broadcast { root, .. }
        | Kind::Reduce {
            by: Reduce::One(root) | Reduce::MpiOne(root),
            ..
        }) = self
        else {
            return;
        };
        *root = (*root).min(members - 1);
    }
}

/// The library for a barrier, and its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Barrier {
    /// Elanlib, by an event tree.
    Software,
    /// Elanlib, by broadcasts.
    Hardware,
    /// The same, for processes that block.
    HardwareEvent,
    /// Shmem.
    Shmem,
    /// MPI.
    Mpi,
}

/// The library for a broadcast, and its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BroadcastMethod {
    /// Elanlib, by a tree with puts.
    Software,
    /// Elanlib, by the switches.
    Hardware,
    /// Shmem.
    Shmem,
    /// MPI.
    Mpi,
}

/// The library for a reduction, and its receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Elanlib, for one member.
    One(u32),
    /// Elanlib, for all.
    All,
    /// Shmem, for all.
    Shmem,
    /// MPI, for one.
    MpiOne(u32),
    /// MPI, for all.
    MpiAll,
}

/// A call's outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// Both places.
    Places(Vec<u8>, Vec<u8>),
    /// When a process came to a barrier and when it left it.
    Barrier(Time, Time),
}

/// An error in words.
fn words(error: impl Display) -> String {
    error.to_string()
}

/// Composition of maps `x -> a x + b` on 32-bit numbers, in vectors: associative, but not
/// commutative.
fn compose(first: &[u8], then: &mut [u8]) {
    let map = |bytes: &[u8]| {
        let part = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        (part(0), part(4))
    };
    for (first, then) in first.chunks(8).zip(then.chunks_mut(8)) {
        let ((a, b), (c, d)) = (map(first), map(then));
        let (a, b) = (c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(d));
        then[..4].copy_from_slice(&a.to_le_bytes());
        then[4..].copy_from_slice(&b.to_le_bytes());
    }
}

/// Makes a reduction.
async fn reduce(
    pe: &Pe,
    group: &Group,
    by: Reduce,
    [first, second]: [ElanAddr; 2],
    words_each: u64,
) -> Result<(), String> {
    let operation = Reduction {
        size: Bytes::new(8),
        combine: &compose,
    };
    let (shmem, mpi) = (pe.shmem(), pe.mpi());
    let to = |to| group.reduce(first, second, words_each, &operation, to);
    match by {
        Reduce::One(root) => to(Receivers::Root(root)).await.map_err(words),
        Reduce::All => to(Receivers::All).await.map_err(words),
        Reduce::Shmem => {
            let word = |one: u64, other: u64| {
                let mut other = other.to_le_bytes();
                compose(&one.to_le_bytes(), &mut other);
                u64::from_le_bytes(other)
            };
            let done = shmem.to_all(second, first, words_each, word, group).await;
            done.map_err(words)
        }
        Reduce::MpiOne(root) => {
            let done = mpi
                .reduce(first, second, words_each, &operation, root)
                .await;
            done.map_err(words)
        }
        Reduce::MpiAll => {
            let done = mpi.allreduce(first, second, words_each, &operation).await;
            done.map_err(words)
        }
    }
}

impl GroupCollective {
    /// The used length of each place.
    fn lengths(&self, members: u64) -> [u64; 2] {
        match self.kind {
            Kind::Barrier(_) => [0, 0],
            Kind::Broadcast { length, .. } => [length, length],
            Kind::Reduce { words, .. } => [8 * words, 8 * words],
            Kind::Collect { longest, .. } => [longest, longest * members],
        }
    }

    /// Whether Shmem makes the call, and first waits for the process's puts.
    pub fn is_by_shmem(&self) -> bool {
        matches!(
            self.kind,
            Kind::Barrier(Barrier::Shmem)
                | Kind::Broadcast {
                    by: BroadcastMethod::Shmem,
                    ..
                }
                | Kind::Reduce {
                    by: Reduce::Shmem,
                    ..
                }
                | Kind::Collect { .. }
        )
    }

    /// Size in bytes of the longest transfer in a group with this member count.
    pub fn longest(&self, members: u64) -> u64 {
        let [one, other] = self.lengths(members);
        one.max(other)
    }

    /// A member's bytes in both places before the call.
    fn before(&self, rank: u32, members: u64) -> [Vec<u8>; 2] {
        let [first, second] = self.lengths(members).map(|length| length + BEHIND);
        // There are 256 patterns; all members have different ones.
        let seed = self.seed + u64::from(rank);
        [bytes(seed, first), bytes(seed + 64, second)]
    }

    /// The bytes that a member contributes to a collection.
    fn part(longest: u64, equal: bool, rank: u32) -> u64 {
        if equal {
            longest
        } else {
            (longest + 1) * u64::from(rank % 5) / 5
        }
    }

    /// Makes the call. `area` is where the places are, in main memory and in adapter memory.
    ///
    /// # Errors
    /// The call's error, in words.
    pub async fn call(
        &self,
        pe: &Pe,
        group: &Group,
        area: [ElanAddr; 2],
    ) -> Result<CallOutcome, String> {
        let (elan3, shmem, mpi) = (pe.elan3(), pe.shmem(), pe.mpi());
        if let Kind::Barrier(barrier) = self.kind {
            let came = pe.now();
            match barrier {
                Barrier::Software => group.gsync().await.map_err(words)?,
                Barrier::Hardware => group.hgsync().await.map_err(words)?,
                Barrier::HardwareEvent => group.hgsyncevent().await.map_err(words)?,
                Barrier::Shmem => shmem.barrier(group).await.map_err(words)?,
                Barrier::Mpi => mpi.barrier().await.map_err(words)?,
            }
            return Ok(CallOutcome::Barrier(came, pe.now()));
        }
        let which = usize::from(self.adapter);
        let (first, members) = (area[which], u64::from(group.size()));
        let second = first.offset(Bytes::new(SPANS[which] + BEHIND));
        let before = self.before(group.rank(), members);
        for (at, bytes) in [first, second].into_iter().zip(&before) {
            elan3.store(at, bytes).map_err(words)?;
        }
        match self.kind {
            Kind::Barrier(_) => unreachable!("it was made above"),
            Kind::Broadcast { by, root, length } => {
                let size = Bytes::new(length);
                match by {
                    BroadcastMethod::Software => {
                        group.bcast(first, size, root).await.map_err(words)?;
                    }
                    BroadcastMethod::Hardware => {
                        group.hbcast(first, size, root).await.map_err(words)?;
                    }
                    BroadcastMethod::Mpi => mpi.bcast(first, size, root).await.map_err(words)?,
                    BroadcastMethod::Shmem => {
                        let done = shmem.broadcast(second, first, size, root, group).await;
                        done.map_err(words)?;
                    }
                }
            }
            Kind::Reduce { by, words } => reduce(pe, group, by, [first, second], words).await?,
            Kind::Collect { longest, equal } => {
                let size = Bytes::new(GroupCollective::part(longest, equal, group.rank()));
                let done = if equal {
                    shmem.fcollect(second, first, size, group).await
                } else {
                    shmem.collect(second, first, size, group).await
                };
                done.map_err(words)?;
            }
        }
        let load = |at, bytes: &Vec<u8>| elan3.load(at, Bytes::new(bytes.len() as u64));
        let one = load(first, &before[0]).map_err(words)?.into_vec();
        let other = load(second, &before[1]).map_err(words)?.into_vec();
        Ok(CallOutcome::Places(one, other))
    }

    /// Whether the outcomes, by rank, are as they should be. A member without an outcome is
    /// unknown.
    ///
    /// # Errors
    /// The problem.
    pub fn check(&self, outcomes: &[Option<&CallOutcome>]) -> Result<(), String> {
        let members = outcomes.len() as u64;
        if let Kind::Barrier(_) = self.kind {
            return check_barrier(outcomes);
        }
        let before: Vec<[Vec<u8>; 2]> = (0..members as u32)
            .map(|rank| self.before(rank, members))
            .collect();
        for (rank, outcome) in (0..).zip(outcomes) {
            let Some(outcome) = outcome else {
                continue;
            };
            let [first, second] = self.after(rank, &before);
            if **outcome != CallOutcome::Places(first, second) {
                return Err(format!("rank {rank} has other bytes"));
            }
        }
        Ok(())
    }

    /// A member's bytes in both places after the call, given all members' bytes before.
    fn after(&self, rank: u32, before: &[[Vec<u8>; 2]]) -> [Vec<u8>; 2] {
        let mut places = before[rank as usize].clone();
        let mut replace = |place: usize, bytes: &[u8]| {
            places[place][..bytes.len()].copy_from_slice(bytes);
        };
        match self.kind {
            Kind::Barrier(_) => unreachable!("it has no places"),
            Kind::Broadcast { by, root, length } => {
                let sent = &before[root as usize][0][..length as usize];
                match by {
                    BroadcastMethod::Shmem if rank == root => {}
                    BroadcastMethod::Shmem => replace(1, sent),
                    _ => replace(0, sent),
                }
            }
            Kind::Reduce { by, words } => {
                let wanted = match by {
                    Reduce::One(root) | Reduce::MpiOne(root) => rank == root,
                    Reduce::All | Reduce::Shmem | Reduce::MpiAll => true,
                };
                if wanted {
                    let used = 8 * words as usize;
                    let vectors = before.iter().map(|[own, _]| own[..used].to_vec());
                    let all = vectors.reduce(|one, mut other| {
                        compose(&one, &mut other);
                        other
                    });
                    replace(1, &all.expect("a group has members"));
                }
            }
            Kind::Collect { longest, equal } => {
                let part = |rank: u32| GroupCollective::part(longest, equal, rank) as usize;
                let parts = (0..).zip(before);
                let all = parts.flat_map(|(rank, [own, _])| own[..part(rank)].to_vec());
                replace(1, &all.collect::<Vec<u8>>());
            }
        }
        places
    }
}

/// No member leaves a barrier before all have come; so if one has left, all have come, also those
/// that were not notified.
fn check_barrier(outcomes: &[Option<&CallOutcome>]) -> Result<(), String> {
    let (mut last, mut first) = (Time::ZERO, Time::MAX);
    for outcome in outcomes.iter().flatten() {
        let CallOutcome::Barrier(came, left) = outcome else {
            return Err("it was no barrier".to_string());
        };
        (last, first) = (last.max(*came), first.min(*left));
    }
    let early = || format!("one left at {first}, before another came at {last}");
    (last <= first).then_some(()).ok_or_else(early)
}
