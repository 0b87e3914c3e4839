//! Collective calls of random programs: what they are, how they are made, and what should come of them.
//!
//! All calls use the same two places of each process, one behind the other: they take from the first and leave their result
//! in the second. Calls that have only one place use the first. Before a call both hold bytes of the process's own, and
//! behind them lie some more bytes that no call touches.

use crate::common::{compose, pattern};
use elan::ElanAddr;
use libelan::Pe;
use libelan::elan::group::Group;
use libelan::elan::reduce::{Reduction, To};
use units::{Bytes, Time};

/// Length of each place, in main memory and in adapter memory.
pub const SPANS: [u64; 2] = [24_000, 9_000];

/// Bytes behind what a call uses.
const BEHIND: u64 = 16;

/// Memory for the places.
pub fn area(span: u64) -> Bytes {
    Bytes::new(2 * (span + BEHIND))
}

/// A call of all members of a group.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// Its number in the phase.
    pub serial: u32,
    pub group: usize,
    pub kind: Kind,
    /// Whether the places are in adapter memory.
    pub adapter: bool,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Barrier(Barrier),
    Broadcast {
        by: Broadcast,
        root: u32,
        length: u64,
    },
    Reduce {
        by: Reduce,
        words: u64,
    },
    /// Collects bytes of each member, of equal or different lengths.
    Collect {
        longest: u64,
        equal: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum Barrier {
    Software,
    Hardware,
    HardwareEvent,
    Shmem,
    Mpi,
}

#[derive(Clone, Copy, Debug)]
pub enum Broadcast {
    Software,
    Hardware,
    Shmem,
    Mpi,
}

#[derive(Clone, Copy, Debug)]
pub enum Reduce {
    One(u32),
    All,
    Shmem,
    MpiOne(u32),
    MpiAll,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Both places.
    Places(Vec<u8>, Vec<u8>),
    /// When a process came to a barrier and when it left it.
    Barrier(Time, Time),
}

impl Collective {
    /// How much of each place is used.
    fn lengths(&self, members: u64) -> [u64; 2] {
        match self.kind {
            Kind::Barrier(_) => [0, 0],
            Kind::Broadcast { length, .. } => [length, length],
            Kind::Reduce { words, .. } => [8 * words, 8 * words],
            Kind::Collect { longest, .. } => [longest, longest * members],
        }
    }

    /// What a member has in both places before.
    fn before(&self, rank: u32, members: u64) -> [Vec<u8>; 2] {
        let [first, second] = self.lengths(members).map(|length| length + BEHIND);
        // There are 256 patterns; those of all members differ.
        let seed = self.seed + u64::from(rank);
        [pattern(seed, first), pattern(seed + 64, second)]
    }

    /// How many bytes a member gives to be collected.
    fn part(longest: u64, equal: bool, rank: u32) -> u64 {
        if equal {
            longest
        } else {
            (longest + 1) * u64::from(rank % 5) / 5
        }
    }

    /// Makes the call. `area` is where the places are, in main memory and in adapter memory.
    pub async fn call(&self, pe: &Pe, group: &Group, area: [ElanAddr; 2]) -> Outcome {
        if let Kind::Barrier(barrier) = self.kind {
            let came = pe.now();
            match barrier {
                Barrier::Software => group.gsync().await.unwrap(),
                Barrier::Hardware => group.hgsync().await.unwrap(),
                Barrier::HardwareEvent => group.hgsyncevent().await.unwrap(),
                Barrier::Shmem => pe.shmem().barrier(group).await.unwrap(),
                Barrier::Mpi => pe.mpi().barrier().await.unwrap(),
            }
            return Outcome::Barrier(came, pe.now());
        }
        let (elan3, which) = (pe.elan3(), usize::from(self.adapter));
        let (first, members) = (area[which], u64::from(group.size()));
        let second = first.offset(Bytes::new(SPANS[which] + BEHIND));
        let before = self.before(group.rank(), members);
        for (at, bytes) in [first, second].into_iter().zip(&before) {
            elan3.store(at, bytes).unwrap();
        }
        match self.kind {
            Kind::Barrier(_) => unreachable!("it was made above"),
            Kind::Broadcast { by, root, length } => {
                let (size, shmem) = (Bytes::new(length), pe.shmem());
                match by {
                    Broadcast::Software => group.bcast(first, size, root).await.unwrap(),
                    Broadcast::Hardware => group.hbcast(first, size, root).await.unwrap(),
                    Broadcast::Mpi => pe.mpi().bcast(first, size, root).await.unwrap(),
                    Broadcast::Shmem => {
                        let done = shmem.broadcast(second, first, size, root, group).await;
                        done.unwrap();
                    }
                }
            }
            Kind::Reduce { by, words } => {
                let operation = Reduction {
                    size: Bytes::new(8),
                    combine: &compose,
                };
                let (shmem, mpi) = (pe.shmem(), pe.mpi());
                let to = |to| group.reduce(first, second, words, &operation, to);
                match by {
                    Reduce::One(root) => to(To::Root(root)).await.unwrap(),
                    Reduce::All => to(To::All).await.unwrap(),
                    Reduce::Shmem => {
                        let word = |one: u64, other: u64| {
                            let mut other = other.to_le_bytes();
                            compose(&one.to_le_bytes(), &mut other);
                            u64::from_le_bytes(other)
                        };
                        let done = shmem.to_all(second, first, words, word, group).await;
                        done.unwrap();
                    }
                    Reduce::MpiOne(root) => {
                        let done = mpi.reduce(first, second, words, &operation, root).await;
                        done.unwrap();
                    }
                    Reduce::MpiAll => {
                        let done = mpi.allreduce(first, second, words, &operation).await;
                        done.unwrap();
                    }
                }
            }
            Kind::Collect { longest, equal } => {
                let size = Bytes::new(Collective::part(longest, equal, group.rank()));
                let shmem = pe.shmem();
                let done = if equal {
                    shmem.fcollect(second, first, size, group).await
                } else {
                    shmem.collect(second, first, size, group).await
                };
                done.unwrap();
            }
        }
        let load = |at, bytes: &Vec<u8>| elan3.load(at, Bytes::new(bytes.len() as u64));
        let [one, other] = [(first, &before[0]), (second, &before[1])].map(|(at, bytes)| {
            let found = load(at, bytes);
            found.unwrap().into_vec()
        });
        Outcome::Places(one, other)
    }

    /// Whether the outcomes, by rank, are as they should be.
    pub fn check(&self, outcomes: &[&Outcome]) -> Result<(), String> {
        let members = outcomes.len() as u64;
        if let Kind::Barrier(_) = self.kind {
            let (mut last, mut first) = (Time::ZERO, Time::MAX);
            for outcome in outcomes {
                let Outcome::Barrier(came, left) = outcome else {
                    return Err("it was no barrier".to_string());
                };
                (last, first) = (last.max(*came), first.min(*left));
            }
            let early = || format!("one left at {first}, before another came at {last}");
            return (last <= first).then_some(()).ok_or_else(early);
        }
        let before: Vec<[Vec<u8>; 2]> = (0..members as u32)
            .map(|rank| self.before(rank, members))
            .collect();
        for (rank, outcome) in (0..).zip(outcomes) {
            let mut places = before[rank as usize].clone();
            let mut replace = |place: usize, bytes: &[u8]| {
                places[place][..bytes.len()].copy_from_slice(bytes);
            };
            match self.kind {
                Kind::Barrier(_) => unreachable!("it was looked at above"),
                Kind::Broadcast { by, root, length } => {
                    let sent = &before[root as usize][0][..length as usize];
                    match by {
                        Broadcast::Shmem if rank == root => {}
                        Broadcast::Shmem => replace(1, sent),
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
                    let part = |rank: u32| Collective::part(longest, equal, rank) as usize;
                    let parts = (0..).zip(&before);
                    let all = parts.flat_map(|(rank, [own, _])| own[..part(rank)].to_vec());
                    replace(1, &all.collect::<Vec<u8>>());
                }
            }
            let [first, second] = places;
            if **outcome != Outcome::Places(first, second) {
                return Err(format!("rank {rank} has other bytes"));
            }
        }
        Ok(())
    }
}
