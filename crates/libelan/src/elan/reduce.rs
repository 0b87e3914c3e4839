//! # Reductions (`elan_reduce`)
//!
//! The hosts combine the members' vectors up the balanced tree, 2 KB at a time: the thread
//! processor has no floating point. Each process puts its partial result into its own slot of the
//! process above, when that process has taken the last one (*credit*). The first leader's result
//! goes to one process by a DMA, or to all by the software broadcast. This broadcast needs no
//! barrier, since a process's next chunk shows that the process has taken the last result. On a
//! machine with several rails, the policy picks the rails for partial results and results
//! ([`super::group`]).
//!
//! A function that does not commute gets the vectors in rank order. Most groups' teams are rank
//! runs, and the tree keeps their order. For other groups, every process stands for itself in the
//! tree, and processes on one node send each other messages as well.
//!
//! Combining bytes costs as much as copying them.

use super::block::{CHUNK, Slot};
use super::courier::Delivery;
use super::group::Group;
use super::group::span::Span;
use super::layout::{GroupRank, TeamId};
use super::tree::{Spot, balanced};
use elan::transaction::word_of;
use elan::{DmaError, ElanAddr, ProcessId};
use units::Bytes;

/// How vectors are combined: elements of `size` bytes, and a function on two vectors that replaces
/// the second by the result (`fn(in, inout, count, handle)`).
pub struct Reduction<'a> {
    /// Bytes per element, up to [`MOST_ELEMENT`].
    pub size: Bytes,
    /// The function; its arguments are whole elements, equally many in both.
    pub combine: &'a dyn Fn(&[u8], &mut [u8]),
}

/// Turns a function on 8-byte words into a function on word vectors.
pub fn of_words(function: impl Fn(u64, u64) -> u64) -> impl Fn(&[u8], &mut [u8]) {
    move |one, other| {
        for (one, other) in one.chunks(8).zip(other.chunks_mut(8)) {
            let result = function(word_of(one), word_of(other));
            other.copy_from_slice(&result.to_le_bytes());
        }
    }
}

/// The longest element in a reduction.
pub const MOST_ELEMENT: Bytes = CHUNK;

/// The receivers of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// One member, by its rank.
    Root(u32),
    /// All members (`ELAN_RESULT_ALL`).
    All,
}

impl Group {
    /// Combines `count` elements at each member's `source` into `target` (`elan_reduce`), as if in
    /// rank order. `source` and `target` belong to the call until it ends; only members that get
    /// the result need a `target`.
    ///
    /// # Errors
    /// If this process has no such vectors, there is no such root, or an element is too long.
    pub async fn reduce(
        &self,
        source: ElanAddr,
        target: ElanAddr,
        count: u64,
        operation: &Reduction<'_>,
        to: Receivers,
    ) -> Result<(), DmaError> {
        let _turn = self.enter().await;
        let call = async {
            let element = operation.size;
            if element.is_zero() || element > MOST_ELEMENT {
                return Err(DmaError::TooLong { length: element });
            }
            if let Receivers::Root(root) = to
                && root >= self.size()
            {
                let process = ProcessId::new(root);
                return Err(DmaError::NoProcess { process });
            }
            let wanted = to == Receivers::All || to == Receivers::Root(self.rank());
            let step = CHUNK / element;
            for from in (0..count).step_by(step as usize) {
                let offset = element * from;
                let length = element * step.min(count - from);
                let own = self.inner.context.load(source.offset(offset), length)?;
                let result = self.reduce_chunk(own.into(), operation, to).await?;
                if wanted {
                    self.copy(length).await;
                    self.inner.context.store(target.offset(offset), &result)?;
                }
            }
            Ok(())
        };
        self.during("reduce", call).await
    }

    /// Combines one chunk. Returns the result to members that get it; other members' return value
    /// has no meaning.
    async fn reduce_chunk(
        &self,
        mut own: Vec<u8>,
        operation: &Reduction<'_>,
        to: Receivers,
    ) -> Result<Vec<u8>, DmaError> {
        let layout = &self.inner.layout;
        let (length, local) = (Bytes::new(own.len() as u64), &self.inner.local);
        let leads = self.leads();
        if leads {
            self.prepare_result(length, to);
        }
        if layout.in_order {
            if !leads {
                local.passed.borrow_mut().insert(self.inner.rank, own);
                self.join().await?;
                return Ok(local.result.borrow().clone());
            }
            self.gather().await;
            let passed = std::mem::take(&mut *local.passed.borrow_mut());
            for mut next in passed.into_values() {
                self.combine(operation, &own, &mut next).await;
                own = next;
            }
            own = self
                .climb(own, operation, &self.inner.spot, &layout.leaders.raw)
                .await?;
        } else {
            let ratio = self.node().config().group.branching;
            let spot = balanced(self.size(), ratio, self.rank());
            own = self
                .climb(own, operation, &spot, &layout.members.raw)
                .await?;
            if !leads {
                self.join().await?;
                return Ok(local.result.borrow().clone());
            }
            self.gather().await;
        }
        let outcome = self.deliver(&mut own, to).await;
        local.result.replace(own.clone());
        self.release(outcome)?;
        Ok(own)
    }

    /// Combines two partial results; the smaller ranks' one comes first.
    async fn combine(&self, operation: &Reduction<'_>, before: &[u8], after: &mut [u8]) {
        (operation.combine)(before, after);
        self.copy(Bytes::new(after.len() as u64)).await;
    }

    /// Takes the children's partial results, passes the combined result to the place above, and
    /// returns it.
    async fn climb(
        &self,
        mut own: Vec<u8>,
        operation: &Reduction<'_>,
        spot: &Spot,
        vps: &[ProcessId],
    ) -> Result<Vec<u8>, DmaError> {
        let (node, block, context) = (self.node(), self.inner.block, &self.inner.context);
        let length = Bytes::new(own.len() as u64);
        for (index, &child) in (0..).zip(&spot.children) {
            self.wait(Slot::Partial(index)).await;
            node.prime(self.event(Slot::Partial(index)), 1);
            let mut next = context.load(block.partial(index), length)?.into_vec();
            self.post(self.signal(vps[child as usize], Slot::Credit));
            self.combine(operation, &own, &mut next).await;
            own = next;
        }
        if let Some((parent, index)) = spot.parent {
            self.wait(Slot::Credit).await;
            node.prime(self.event(Slot::Credit), 1);
            context.store(block.own(), &own)?;
            let partial = Delivery {
                vp: vps[parent as usize],
                from: block.own(),
                to: block.partial(index),
                length,
                event: block.at(Slot::Partial(index)),
                short: false,
            };
            self.bring_by_rails(partial).await?;
        }
        Ok(own)
    }

    /// The team that gets the result from the first team's leader, if the result goes to one other
    /// team.
    fn single(&self, to: Receivers) -> Option<TeamId> {
        match to {
            Receivers::Root(root) => Some(self.inner.layout.team_of[GroupRank::new(root)]),
            Receivers::All => None,
        }
    }

    /// Prepares a leader for the result, before the leader's partial result can have gone up.
    fn prepare_result(&self, length: Bytes, to: Receivers) {
        match self.single(to) {
            Some(team) if team == self.inner.team => {
                let count = u32::from(team != TeamId::FIRST);
                self.event_with(Slot::Arrived(0), count, elan::Action::Copy);
            }
            Some(_) => {}
            None => {
                let span = Span::new(self.inner.block.result(), length);
                self.prepare_spread(span, TeamId::FIRST);
            }
        }
    }

    /// The result goes from the first leader to the leaders of the receiving members.
    async fn deliver(&self, own: &mut Vec<u8>, to: Receivers) -> Result<(), DmaError> {
        let (context, at) = (&self.inner.context, self.inner.block.result());
        let (team, length) = (self.inner.team, Bytes::new(own.len() as u64));
        if team == TeamId::FIRST {
            context.store(at, own)?;
        }
        match self.single(to) {
            None => self.spread(Span::new(at, length), TeamId::FIRST).await?,
            Some(single) if team == TeamId::FIRST && single != team => {
                let result = Delivery {
                    vp: self.inner.layout.leaders[single],
                    from: at,
                    to: at,
                    length,
                    event: self.inner.block.at(Slot::Arrived(0)),
                    short: false,
                };
                self.bring_by_rails(result).await?;
            }
            Some(single) if team == single => {
                self.wait(Slot::Arrived(0)).await;
            }
            Some(_) => return Ok(()),
        }
        *own = context.load(at, length)?.into_vec();
        Ok(())
    }
}
