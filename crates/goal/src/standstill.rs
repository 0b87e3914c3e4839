//! Why a replay stands still: an operation that waits forever has no partner, or its partner waits
//! behind another operation.
//!
//! A receive waits for a send, and a long send for its receive. The partner may be in the trace and
//! yet never start: an operation in front of it waits, too. From each waiting operation leads one
//! step to the operation that keeps its partner from starting. A path of such steps ends at an
//! operation without a partner in the trace, or it returns to itself: a deadlock. Rings in which
//! all ranks send first are the usual case, where sends are long and are not buffered.
//!
//! A receive from any source has no certain partner, and its path ends there. If more than [`MOST`]
//! operations in a trace have not started, no path is searched.

use crate::progress::RankProgress;
use crate::trace::Edge;
use crate::{ANY, Kind, Operation, Trace, TraceProblem};
use foldhash::HashMap;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The most operations that have not started among which partners are looked for.
const MOST: usize = 1 << 22;

/// A rank's operation, by its number.
pub type RankOperation = (u32, u32);

/// The operations that have not started.
#[derive(Debug, Default)]
pub struct Standstill {
    /// For each rank: an operation that has not started, and the waiting one in front of it.
    behind: Vec<BTreeMap<u32, u32>>,
}

impl Standstill {
    /// Looks at where all ranks stand.
    pub fn of(trace: &mut Trace, progress: &[RankProgress]) -> Result<Standstill, TraceProblem> {
        let mut behind = Vec::with_capacity(progress.len());
        let mut total = 0;
        for (rank, progress) in (0..).zip(progress) {
            let mut found = BTreeMap::new();
            let mut later = Vec::new();
            for number in progress.unfinished() {
                let mut front = vec![number];
                while let Some(one) = front.pop() {
                    let node = trace.node(rank, one)?;
                    later.clear();
                    trace.later(rank, &node, Edge::End, &mut later)?;
                    // Dependents on the start of a waiting operation have been released.
                    if one != number {
                        trace.later(rank, &node, Edge::Start, &mut later)?;
                    }
                    for &next in &later {
                        if let Entry::Vacant(entry) = found.entry(next) {
                            entry.insert(number);
                            front.push(next);
                        }
                    }
                }
                if total + found.len() > MOST {
                    return Ok(Standstill::default());
                }
            }
            total += found.len();
            behind.push(found);
        }
        Ok(Standstill { behind })
    }

    /// The first operation that has not started and would be the partner of this one, which waits.
    pub fn partner(
        &self,
        trace: &mut Trace,
        rank: u32,
        waiting: Operation,
    ) -> Result<Option<RankOperation>, TraceProblem> {
        let Some(behind) = self.behind.get(waiting.peer as usize) else {
            return Ok(None);
        };
        for &number in behind.keys() {
            let other = trace.operation(waiting.peer, number)?;
            let fits = |given: u32, own: u32| given == own || given == ANY;
            let partner = match waiting.kind {
                Kind::Send => {
                    other.kind == Kind::Recv
                        && fits(other.peer, rank)
                        && fits(other.tag, waiting.tag)
                }
                Kind::Recv | Kind::Probe | Kind::Poll => {
                    other.kind == Kind::Send && other.peer == rank && fits(waiting.tag, other.tag)
                }
                Kind::Active => {
                    (other.kind, other.peer, other.tag) == (Kind::Handle, rank, waiting.tag)
                }
                Kind::Handle => {
                    (other.kind, other.peer, other.tag) == (Kind::Active, rank, waiting.tag)
                }
                Kind::Await => {
                    (other.kind, other.peer, other.tag) == (Kind::Put, rank, waiting.tag)
                }
                Kind::Calc | Kind::Put | Kind::Get | Kind::Atomic | Kind::Swap => false,
            };
            if partner {
                return Ok(Some((waiting.peer, number)));
            }
        }
        Ok(None)
    }

    /// The waiting operation in front of one that has not started.
    pub fn in_front(&self, (rank, number): RankOperation) -> RankOperation {
        (rank, self.behind[rank as usize][&number])
    }

    /// Waiting operations, in a circle: each one keeps the previous one's partner from starting.
    pub fn circle(
        &self,
        trace: &mut Trace,
        progress: &[RankProgress],
    ) -> Result<Option<Vec<RankOperation>>, TraceProblem> {
        // The walk in which an operation was met, by the number of its first operation, and the
        // place there.
        let mut seen = HashMap::default();
        let mut walks = 0;
        for (rank, one) in (0..).zip(progress) {
            for number in one.unfinished() {
                let mut path = Vec::new();
                let mut next = Some((rank, number));
                walks += 1;
                while let Some(which) = next {
                    if let Some(&(walk, place)) = seen.get(&which) {
                        if walk == walks {
                            return Ok(Some(path.split_off(place)));
                        }
                        break;
                    }
                    seen.insert(which, (walks, path.len()));
                    path.push(which);
                    let (operation, _) = progress[which.0 as usize].operation(which.1);
                    let partner = self.partner(trace, which.0, operation)?;
                    next = partner.map(|partner| self.in_front(partner));
                }
            }
        }
        Ok(None)
    }
}
