//! Patterns: schedules for collective operations, made rank by rank, for runs without a trace file.
//!
//! They equal those of `elanite goal`, operation for operation: in each call a rank begins with a
//! zero-length computation, on which all of the call's operations depend, and the next call waits
//! for all of this one. Combining vectors takes no time. A group's ranks have consecutive numbers.
//! S is the size, p the rank count, g a group's rank count, m = p / g.
//!
//! | pattern | messages per call | bytes per call |
//! |---|---|---|
//! | all-reduce, ring | 2 p (p - 1) | 2 (p - 1) S |
//! | all-reduce, hierarchical | 2 p (g - 1) + 2 p (m - 1) | 2 m (g - 1) S + 2 (m - 1) S |
//! | all-reduce across the groups | 2 p (m - 1) | 2 g (m - 1) S |
//! | all-to-all, in each group | p (g - 1) | S of each |
//! | all-to-all across the groups | p (m - 1) | S of each |
//!
//! *Across the groups*: the ranks with the same place in their groups do it among themselves. If a
//! group is a host, whose ranks reach each other by faster links than the network's, these are the
//! messages between hosts.
//!
//! Source of the algorithms: Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009); Thakur,
//! Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19 (2005).

use crate::{Operation, Schedule};

/// Which collective operation, and by which algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectivePattern {
    /// An all-reduce by one ring over all ranks: reduce-scatter and all-gather.
    AllReduceRing,
    /// An all-reduce by levels: reduce-scatter in each group, an all-reduce of each part across the
    /// groups, all-gather in each group.
    AllReduceHierarchical,
    /// All-reduces by rings across the groups: among the ranks with the same place in their groups,
    /// each with its own vector.
    AllReduceAcross,
    /// An all-to-all in each group: in step k each rank sends to the k-th after it.
    AllToAll,
    /// All-to-alls across the groups: among the ranks with the same place in their groups.
    AllToAllAcross,
}

/// Calls to a pattern, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    /// The called pattern.
    pub pattern: CollectivePattern,
    /// Ranks, at least 1.
    pub ranks: u32,
    /// Ranks per group, a divisor of the rank count. A ring has no groups.
    pub group: u32,
    /// Bytes in a rank's vector; for an all-to-all, from each rank to each other.
    pub size: u64,
    /// How many calls.
    pub calls: u32,
}

/// A rank in a group: the numbers of the group's ranks are `first + stride * place`.
#[derive(Clone, Copy)]
struct Group {
    first: u32,
    stride: u32,
    count: u32,
    me: u32,
}

impl Group {
    fn rank(self, place: u32) -> u32 {
        self.first + self.stride * (place % self.count)
    }

    /// The place a number of steps before this one.
    fn before(self, steps: u32) -> u32 {
        (self.me + self.count - steps) % self.count
    }
}

impl Calls {
    /// A rank's schedule.
    ///
    /// # Panics
    /// If the group size does not divide the rank count, or there is no such rank.
    pub fn schedule(&self, rank: u32) -> Schedule {
        assert!(self.group > 0 && self.ranks.is_multiple_of(self.group) && rank < self.ranks);
        let mut maker = ScheduleBuilder::default();
        let mut last = Vec::new();
        for _ in 0..self.calls {
            let begin = maker.add(Operation::calc(0), &last);
            last = self.call(rank, &mut maker, vec![begin]);
        }
        maker.schedule
    }

    fn call(&self, rank: u32, maker: &mut ScheduleBuilder, after: Vec<u32>) -> Vec<u32> {
        let (which, me) = (rank / self.group, rank % self.group);
        let inside = Group {
            first: which * self.group,
            stride: 1,
            count: self.group,
            me,
        };
        let across = Group {
            first: me,
            stride: self.group,
            count: self.ranks / self.group,
            me: which,
        };
        match self.pattern {
            CollectivePattern::AllReduceRing => {
                let all = Group {
                    first: 0,
                    stride: 1,
                    count: self.ranks,
                    me: rank,
                };
                maker.all_reduce(all, self.size, after)
            }
            CollectivePattern::AllReduceHierarchical => {
                let sizes = parts(self.size, self.group);
                let after = maker.ring(inside, &sizes, 0, after);
                let share = sizes[((me + 1) % self.group) as usize];
                let after = maker.all_reduce(across, share, after);
                maker.ring(inside, &sizes, 1, after)
            }
            CollectivePattern::AllReduceAcross => maker.all_reduce(across, self.size, after),
            CollectivePattern::AllToAll => maker.all_to_all(inside, self.size, after),
            CollectivePattern::AllToAllAcross => maker.all_to_all(across, self.size, after),
        }
    }

    /// Bytes that a rank sends per call, counted like NCCL's tests: the *bus bandwidth* is this
    /// over the call's duration. For an all-reduce 2 (p - 1) / p of the vector, for any algorithm;
    /// for an all-to-all the bytes to the group's other ranks.
    pub fn bus_bytes(&self) -> f64 {
        let size = self.size as f64;
        let ring = |ranks: u32| 2.0 * f64::from(ranks - 1) / f64::from(ranks) * size;
        let groups = self.ranks / self.group;
        match self.pattern {
            CollectivePattern::AllReduceRing | CollectivePattern::AllReduceHierarchical => {
                ring(self.ranks)
            }
            CollectivePattern::AllReduceAcross => ring(groups),
            CollectivePattern::AllToAll => f64::from(self.group - 1) * size,
            CollectivePattern::AllToAllAcross => f64::from(groups - 1) * size,
        }
    }
}

/// A vector's bytes in parts that are as equal as possible; the first ones are longer.
fn parts(size: u64, count: u32) -> Vec<u64> {
    let (short, rest) = (size / u64::from(count), size % u64::from(count));
    (0..u64::from(count))
        .map(|place| short + u64::from(place < rest))
        .collect()
}

/// A rank's schedule under construction.
#[derive(Default)]
struct ScheduleBuilder {
    schedule: Schedule,
}

impl ScheduleBuilder {
    /// Adds an operation that waits for others to end; it names each of them once.
    fn add(&mut self, operation: Operation, after: &[u32]) -> u32 {
        let number = self.schedule.add(operation);
        for (place, &other) in after.iter().enumerate() {
            if !after[..place].contains(&other) {
                self.schedule.requires(number, other);
            }
        }
        number
    }

    /// A ring's turn: in step k rank i sends part i + start - k to the right. Returns the last
    /// operations.
    fn ring(&mut self, group: Group, sizes: &[u64], start: u32, after: Vec<u32>) -> Vec<u32> {
        let (count, me) = (group.count, group.me);
        let (left, right) = (group.rank(group.before(1)), group.rank(me + 1));
        let (mut sent, mut received) = (after.clone(), after);
        for step in 0..count - 1 {
            let part = (group.before(step) + start) % count;
            let came = (part + count - 1) % count;
            // A step sends the part that came in the step before.
            let waits = [&sent[..], &received[..]].concat();
            let send = Operation::send(sizes[part as usize], right, 0);
            let now = vec![self.add(send, &waits)];
            let recv = Operation::recv(sizes[came as usize], left, 0);
            received = vec![self.add(recv, &received)];
            sent = now;
        }
        [sent, received].concat()
    }

    fn all_reduce(&mut self, group: Group, size: u64, after: Vec<u32>) -> Vec<u32> {
        let sizes = parts(size, group.count);
        let after = self.ring(group, &sizes, 0, after);
        self.ring(group, &sizes, 1, after)
    }

    fn all_to_all(&mut self, group: Group, size: u64, after: Vec<u32>) -> Vec<u32> {
        let mut last = after;
        for step in 1..group.count {
            let to = group.rank(group.me + step);
            let from = group.rank(group.before(step));
            let send = self.add(Operation::send(size, to, 0), &last);
            let recv = self.add(Operation::recv(size, from, 0), &last);
            last = vec![send, recv];
        }
        last
    }
}
