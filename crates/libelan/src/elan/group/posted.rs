//! # Group calls that do not block
//!
//! MPI-3's nonblocking barrier and broadcast; the adapter's part follows petrini2001.
//!
//! Elanlib's group calls block. But in a barrier, and in a broadcast, the hosts' processors are
//! idle once their processes have called: events, the network conditional, and threads on the
//! adapters do the rest. So an adapter can carry out such a call while its host computes. A process
//! *posts* the call ([`Group::post_call`]): it pays for the call, and its adapter gets the call.
//! The process sees the end in main memory, as for a DMA.
//!
//! | call | by the host | by the adapter |
//! |---|---|---|
//! | barrier | reports that it has come, as in the call that blocks | the adapter's part in the call that blocks |
//! | broadcast | hands the call to the group's broadcast thread, by a command | the thread waits for the barrier, and then does the host's part in the call that blocks: it hands over the root's DMA, or sends segments on |
//!
//! *Order.* All members make the same group calls in the same order, whether the calls block or
//! not. A process's calls to a group are carried out one after the other: a posted call that comes
//! while an earlier one is under way begins when that one has ended, and so does a call that
//! blocks. The adapter keeps the posted ones meanwhile.
//!
//! *Not posted* are reductions, because the hosts combine: the adapter has no floating point. Calls
//! to groups with several members on a node are not posted either, because these meet in shared
//! memory, where the hosts copy.
//!
//! *Simplifications.* The thread notices the end of the barrier when a polling host would. A call
//! that has waited for an earlier one crosses the bus once more when it begins. On several rails, a
//! posted broadcast by hardware takes the home rail. Where the network fails, the recovery is the
//! same as for the calls that block, and takes no host processor either.

use super::Group;
use super::relay::{Broadcast, Job};
use super::span::{Carrier, Span};
use crate::cpu::Turn;
use crate::elan::block::Slot;
use crate::elan::layout::GroupRank;
use elan::{DmaError, ElanAddr, ProcessId};
use units::{Bytes, Time};

/// A posted group call that has reached its turn. Until this is dropped, the process's later calls
/// to the group wait.
pub struct PostedCall {
    group: Group,
    _place: Turn,
}

impl Group {
    /// Whether group calls may be posted: each member is on its own node.
    pub fn may_post(&self) -> bool {
        self.inner.layout.leaders.len() == self.inner.layout.members.len()
    }

    /// Posts a call: the process pays for it. The returned future is ready when the calls that the
    /// process has made before have ended.
    ///
    /// # Panics
    /// If the group has several members on a node.
    pub fn post_call(&self) -> impl Future<Output = PostedCall> + use<> {
        assert!(self.may_post(), "members of one node meet by their hosts");
        let group = self.clone();
        let (place, work) = (self.inner.calls.turn(), self.inner.cpu.turn());
        async move {
            let node = group.node();
            let call = node.config().host.call;
            work.work(node, call).await;
            drop(work);
            place.work(node, Time::ZERO).await;
            PostedCall {
                group,
                _place: place,
            }
        }
    }
}

impl PostedCall {
    /// A barrier in software, as [`Group::gsync`].
    ///
    /// # Errors
    /// As there.
    pub async fn gsync(&self) -> Result<(), DmaError> {
        let group = &self.group;
        let sync = async {
            group.tree_barrier(group.inner.waits).await;
            Ok(())
        };
        group.unless_lost(sync).await
    }

    /// A barrier by hardware if the group has it, as [`Group::hgsync`].
    ///
    /// # Errors
    /// As there.
    pub async fn hgsync(&self) -> Result<(), DmaError> {
        let group = &self.group;
        let sync = async { group.barrier(group.inner.waits, || {}).await.map(drop) };
        group.unless_lost(sync).await
    }

    /// A broadcast in software, as [`Group::bcast`].
    ///
    /// # Errors
    /// As there.
    pub async fn bcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> Result<(), DmaError> {
        self.broadcast(Span::new(buffer, size), root, Carrier::Software)
            .await
    }

    /// A broadcast by hardware if the group has it, as [`Group::hbcast`].
    ///
    /// # Errors
    /// As there.
    pub async fn hbcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> Result<(), DmaError> {
        let way = if self.group.has_hardware() {
            Carrier::Hardware
        } else {
            Carrier::Software
        };
        self.broadcast(Span::new(buffer, size), root, way).await
    }

    async fn broadcast(&self, span: Span, root: u32, way: Carrier) -> Result<(), DmaError> {
        let group = &self.group;
        let process = ProcessId::new(root);
        let team = group
            .inner
            .layout
            .team_of
            .get(GroupRank::new(root))
            .copied();
        let span = Span {
            posted: true,
            ..span
        };
        let call = Broadcast {
            group: group.clone(),
            span,
            root: team.ok_or(DmaError::NoProcess { process })?,
            way,
        };
        let spread = async {
            group.node().prime(group.event(Slot::Sent), 1);
            group.relay(Job::Broadcast(call)).await
        };
        group.unless_lost(spread).await
    }
}
