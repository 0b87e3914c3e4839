//! The operations of a rank that may start.
//!
//! An operation with no remaining dependencies is *free*. Among operations that become free at the
//! same time, sends start first, then receives, then computations, and each kind in trace order:
//! `LogGOPSim` sorts them so, too.

use crate::binary::OperationRecord;
use crate::trace::Edge;
use crate::{Operation, Trace, TraceProblem};
use foldhash::HashMap;
use units::Time;

/// An operation that may start.
#[derive(Clone, Copy, Debug)]
pub struct ReadyOperation {
    /// Its number in its rank.
    pub number: u32,
    /// Its kind.
    pub operation: Operation,
    /// Whether others wait for its start.
    pub tells_start: bool,
    node: OperationRecord,
}

impl ReadyOperation {
    fn of(trace: &mut Trace, rank: u32, number: u32) -> Result<ReadyOperation, TraceProblem> {
        let node = trace.node(rank, number)?;
        Ok(ReadyOperation {
            number,
            operation: node.operation,
            tells_start: node.later[Edge::Start as usize].0 > 0,
            node,
        })
    }
}

/// Where a rank stands.
#[derive(Debug, Default)]
pub struct RankProgress {
    /// Operations with some dependencies met: the number that remains.
    partly: HashMap<u32, u32>,
    /// Operations that were free and have not ended, and since when they were free.
    under_way: HashMap<u32, (OperationRecord, Time)>,
    /// Operations that have ended.
    pub ended: u32,
    /// Room for numbers.
    later: Vec<u32>,
}

impl RankProgress {
    /// The operations that may start first.
    pub fn begin(trace: &mut Trace, rank: u32) -> Result<Vec<ReadyOperation>, TraceProblem> {
        let mut free = Vec::new();
        for place in 0..trace.roots(rank) {
            let root = trace.root(rank, place)?;
            free.push(ReadyOperation::of(trace, rank, root)?);
        }
        sort(&mut free);
        Ok(free)
    }

    /// An operation that is free now is under way: it will start, and end.
    pub fn under_way(&mut self, free: &ReadyOperation, now: Time) {
        self.under_way.insert(free.number, (free.node, now));
    }

    /// Operations that have started and not ended, in trace order.
    pub fn unfinished(&self) -> Vec<u32> {
        let mut unfinished: Vec<u32> = self.under_way.keys().copied().collect();
        unfinished.sort_unstable();
        unfinished
    }

    /// The kind of an operation under way, and since when it was free.
    pub fn operation(&self, number: u32) -> (Operation, Time) {
        let (node, free) = &self.under_way[&number];
        (node.operation, *free)
    }

    /// An operation has started; adds the operations that are free now.
    pub fn started(
        &mut self,
        trace: &mut Trace,
        rank: u32,
        number: u32,
        free: &mut Vec<ReadyOperation>,
    ) -> Result<(), TraceProblem> {
        let (node, _) = self.under_way[&number];
        self.settle(trace, rank, &node, Edge::Start, free)
    }

    /// An operation has ended; adds the operations that are free now.
    pub fn ended(
        &mut self,
        trace: &mut Trace,
        rank: u32,
        number: u32,
        free: &mut Vec<ReadyOperation>,
    ) -> Result<(), TraceProblem> {
        let (node, _) = self.under_way.remove(&number).expect("it ends once");
        self.ended += 1;
        self.settle(trace, rank, &node, Edge::End, free)
    }

    fn settle(
        &mut self,
        trace: &mut Trace,
        rank: u32,
        node: &OperationRecord,
        edge: Edge,
        free: &mut Vec<ReadyOperation>,
    ) -> Result<(), TraceProblem> {
        if node.later[edge as usize].0 == 0 {
            return Ok(());
        }
        let mut later = std::mem::take(&mut self.later);
        later.clear();
        trace.later(rank, node, edge, &mut later)?;
        for &number in &later {
            let waits = match self.partly.get(&number) {
                Some(&left) => left,
                None => trace.node(rank, number)?.waits,
            };
            match waits - 1 {
                0 => {
                    self.partly.remove(&number);
                    free.push(ReadyOperation::of(trace, rank, number)?);
                }
                left => {
                    self.partly.insert(number, left);
                }
            }
        }
        self.later = later;
        sort(free);
        Ok(())
    }
}

fn sort(free: &mut [ReadyOperation]) {
    free.sort_unstable_by_key(|free| (free.operation.kind, free.number));
}
