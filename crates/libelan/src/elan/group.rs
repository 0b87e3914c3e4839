//! # Groups: processes that act together (petrini2003 s3.2)
//!
//! A [`Group`] is a list of a job's processes, in any order: a process's place in the list is its
//! *rank*. All the job's processes are the group [`crate::elan::Elan::all_group`];
//! [`crate::elan::Elan::group`] makes other groups. A group's calls:
//!
//! | call | here | by |
//! |---|---|---|
//! | `elan_gsync` | [`Group::gsync`] | point-to-point messages in a balanced tree (`barrier.rs`) |
//! | `elan_hgsync`, `elan_hgsyncevent` | [`Group::hgsync`], [`Group::hgsyncevent`] | the network conditional (`hardware.rs`) |
//! | `elan_bcast` | [`Group::bcast`] | messages in a tree, or a chain if there is much to send (`group/bcast.rs`) |
//! | `elan_hbcast` | [`Group::hbcast`] | broadcast packets (`hardware.rs`) |
//! | `elan_reduce` | [`Group::reduce`] | messages in the tree, combined by the hosts (`reduce.rs`) |
//!
//! All these calls block, and all members make the same calls in the same order. If a process makes
//! a second call meanwhile, it waits for the first. Barriers and broadcasts can be posted instead
//! (`group/posted.rs`). A member that never comes causes a deadlock; its report names the calls.
//!
//! *Nodes.* The members on one node are a *team*. They meet in shared memory, where each step costs
//! `shared`. The first one, the *leader*, acts for all. *Hardware* serves a group with teams on
//! adjacent nodes and leaders in contexts with one number (petrini2001). For other groups the
//! hardware calls act as the software calls.
//!
//! *Faults.* Where machine parts fail, hardware calls fall back to the software tree, and a group
//! that has lost a member reports it in all its calls (`group/recovery.rs`).
//!
//! *Memory.* A group has global memory blocks in each member, at the same address everywhere:
//! events and the network conditional's counter in adapter memory, slots for partial results in
//! main memory (`block.rs`).

mod bcast;
mod lanes;
pub mod posted;
pub(super) mod recovery;
mod relay;
pub(crate) mod span;
pub(super) mod team;

use super::block::{Block, Slot};
use super::courier::{Courier, Delivery};
use super::detour::Detours;
use super::layout::{GroupRank, Layout, TeamId};
use super::tree::{Spot, balanced};
use super::words;
use crate::cpu::{Cpu, Turn};
use crate::elan3::{AllocError, Context};
use elan::{
    Action, Address, DmaError, ElanAddr, EventId, HostCpu, MemoryError, Node, ProcessId, Region,
    Transfer, WaitMode,
};
use kernel::Label;
use recovery::Recovery;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use team::{NodeMeeting, NodeMeetings};
use thiserror::Error;
use units::Bytes;

/// A process group, as one member sees it (`ELAN_GROUP`). Clones stand for the same group.
#[derive(Clone)]
pub struct Group {
    pub(super) inner: Rc<GroupState>,
}

/// Why there is no such group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// The group has no members.
    #[error("a group has at least one member")]
    Empty,
    /// The parent group lacks a member.
    #[error("process {0} is not in the group that the new one should be a part of")]
    NoMember(ProcessId),
    /// A process is in the list twice.
    #[error("process {0} is in the group twice")]
    Twice(ProcessId),
    /// There is no memory for the group.
    #[error(transparent)]
    NoMemory(#[from] AllocError),
    /// The processes could not agree on the group's addresses.
    #[error(transparent)]
    Failed(#[from] DmaError),
}

pub(super) struct GroupState {
    pub context: Context,
    pub cpu: Cpu,
    label: Label,
    /// How calls wait if their names do not fix it.
    pub waits: WaitMode,
    pub layout: Rc<Layout>,
    pub rank: GroupRank,
    /// This process's team.
    pub team: TeamId,
    pub local: Rc<NodeMeeting>,
    /// The meeting places of all teams' members, and how this process sends to them.
    pub locals: NodeMeetings,
    pub courier: Courier,
    pub block: Block,
    /// The group's events, by slot index.
    events: Vec<EventId>,
    /// The team's place in the tree that has the first team as its root.
    pub spot: Spot,
    /// The process's knowledge about failures, where the machine lists faults.
    pub recovery: Option<Recovery>,
    /// This process's calls to the group.
    pub calls: Cpu,
    /// The group's running threads.
    pub threads: Threads,
    /// Hardware barriers so far, and the last one's error.
    pub epoch: Rc<Cell<u64>>,
    pub failed: Rc<Cell<Option<DmaError>>>,
    /// The work of the thread that sends on.
    pub work: Rc<RefCell<VecDeque<relay::Job>>>,
}

/// A group's threads on one adapter. Each is started when it is first needed; its stack is mapped
/// before, in all members, so that their later mappings have the same addresses everywhere.
pub(super) struct Threads {
    pub barrier: Cell<Option<Region>>,
    pub conditional: Cell<Option<Region>>,
    pub relay: Cell<Option<Region>>,
}

impl Threads {
    fn new(node: &Node) -> Result<Self, MemoryError> {
        let stack = || node.stack().map(|stack| Cell::new(Some(stack)));
        Ok(Threads {
            barrier: stack()?,
            conditional: stack()?,
            relay: stack()?,
        })
    }
}

/// A process's contribution to each of its groups.
#[derive(Clone)]
pub(crate) struct Member {
    pub context: Context,
    pub cpu: Cpu,
    /// The process's detours, if its machine has several rails.
    pub detours: Option<Detours>,
    pub label: Label,
    pub locals: NodeMeetings,
    /// How the process waits.
    pub waits: WaitMode,
}

impl Group {
    /// A process's view of a group with an allocated block.
    pub(super) fn new(
        member: &Member,
        layout: Rc<Layout>,
        block: Block,
    ) -> Result<Self, AllocError> {
        let (context, node) = (&member.context, member.context.node());
        let vp = context.process();
        let rank = layout.members.position(|&other| other == vp);
        let rank = rank.expect("a process knows only groups that it is in");
        let team = layout.team_of[rank];
        let leader = layout.leaders[team];
        let ratio = node.config().group.branching;
        let spot = balanced(layout.leaders.len() as u32, ratio, team.get());
        let others = layout.teams[team].len() as u64 - 1;
        let local = {
            let mut locals = member.locals.borrow_mut();
            let local = locals.entry((block.elan, leader));
            let local = local.or_insert_with(|| Rc::new(NodeMeeting::new(others)));
            Rc::clone(local)
        };
        let children = spot.children.len() as u32;
        let make = |slot| {
            let (count, action) = match slot {
                Slot::Ready => (children + 1, Action::None),
                Slot::Ask | Slot::Told | Slot::Work | Slot::Arrived(_) | Slot::Room(_) => {
                    (1, Action::None)
                }
                Slot::Credit => (0, Action::Copy),
                _ => (1, Action::Copy),
            };
            let event = node.event_at(block.at(slot), count, action);
            event.expect("the block lies in adapter memory of the process")
        };
        let events = Slot::events(ratio).map(make).collect();
        let group = Group {
            inner: Rc::new(GroupState {
                events,
                context: context.clone(),
                cpu: member.cpu.clone(),
                label: member.label.clone(),
                waits: member.waits,
                rank,
                team,
                local,
                locals: Rc::clone(&member.locals),
                courier: Courier {
                    context: context.clone(),
                    detours: member.detours.clone(),
                },
                block,
                calls: Cpu::new(node, HostCpu::default()),
                threads: Threads::new(node)?,
                epoch: Rc::default(),
                failed: Rc::default(),
                work: Rc::default(),
                spot,
                layout,
                recovery: Recovery::new(context, block),
            }),
        };
        group.start_watch();
        Ok(group)
    }

    /// This process's rank (`self`).
    pub fn rank(&self) -> u32 {
        self.inner.rank.get()
    }

    /// How many members the group has.
    pub fn size(&self) -> u32 {
        self.inner.layout.members.len() as u32
    }

    /// The virtual process id of a member (`lookupFn`); `None` if the group has no such rank.
    pub fn lookup(&self, rank: u32) -> Option<ProcessId> {
        self.inner.layout.members.get(GroupRank::new(rank)).copied()
    }

    /// Whether hardware serves the group: its nodes are adjacent.
    pub fn has_hardware(&self) -> bool {
        self.inner.layout.contiguous.is_some()
    }

    pub(super) fn node(&self) -> &Node {
        self.inner.context.node()
    }

    /// One of the group's events.
    pub(super) fn event(&self, slot: Slot) -> EventId {
        self.inner.events[slot.index() as usize]
    }

    /// Waits for one of the group's events, in the job's way.
    pub(super) async fn wait(&self, slot: Slot) {
        let event = self.event(slot);
        self.node().wait_by(event, self.inner.waits).await;
    }

    /// Waits for an occurrence of one of the group's events, in the job's way, and consumes it.
    pub(super) async fn consume(&self, slot: Slot) {
        let event = self.event(slot);
        self.node().consume_by(event, self.inner.waits).await;
    }

    /// Waits for the end of a DMA, in the job's way.
    pub(super) async fn over(&self, transfer: Transfer) -> Result<(), DmaError> {
        self.node().wait_for(transfer, self.inner.waits).await
    }

    /// Posts a delivery and waits for its end, in the job's way.
    pub(super) async fn bring(&self, one: Delivery) -> Result<(), DmaError> {
        let courier = &self.inner.courier;
        let sent = self.node().dma(courier.dma(one));
        courier.end(self.over(sent), one).await
    }

    /// Makes one of the group's events again, with the given action.
    pub(super) fn event_with(&self, slot: Slot, count: u32, action: Action) -> EventId {
        let at = self.inner.block.at(slot);
        let event = self.node().event_at(at, count, action);
        event.expect("the block lies in adapter memory of the process")
    }

    /// An address in the group's block in another process.
    pub(super) fn there(&self, vp: ProcessId, at: ElanAddr) -> Address {
        let address = self.inner.context.address(vp, at);
        address.expect("members are processes of the job")
    }

    /// Enters a call, after the calls that the process has made before.
    pub(super) async fn enter(&self) -> Turn {
        let turn = self.inner.calls.turn();
        turn.work(self.node(), units::Time::ZERO).await;
        let call = self.node().config().host.call;
        self.inner.cpu.work(self.node(), call).await;
        turn
    }

    /// Names the call in deadlock reports. A lost group's call fails.
    pub(super) async fn during(
        &self,
        call: &'static str,
        act: impl Future<Output = Result<(), DmaError>>,
    ) -> Result<(), DmaError> {
        let (label, size) = (&self.inner.label, self.size());
        label.begin(words(move |f| write!(f, "{call} of {size} processes")));
        let outcome = self.unless_lost(act).await;
        label.end();
        outcome
    }

    /// The processor copies, or combines, so many bytes.
    pub(super) async fn copy(&self, bytes: Bytes) {
        let time = self.node().config().host.copy.time(bytes);
        self.inner.cpu.work(self.node(), time).await;
    }

    /// Starts one of the group's threads, unless it runs.
    pub(super) fn thread(
        &self,
        stack: &Cell<Option<Region>>,
        name: &'static str,
        program: impl AsyncFnOnce(elan::Thread) + 'static,
    ) {
        if let Some(stack) = stack.take() {
            self.node().run_on(stack, name, program);
        }
    }
}
