//! # Groups: processes that act together (000 s3.2)
//!
//! A [`Group`] is a list of processes of a job, in any order: a process's place in it is its *rank*. All processes of the
//! job are the group [`crate::elan::Elan::all_group`]; [`crate::elan::Elan::group`] makes others. What a group does together:
//!
//! | call | here | by |
//! |---|---|---|
//! | `elan_gsync` | [`Group::gsync`] | point-to-point messages in a balanced tree (`barrier.rs`) |
//! | `elan_hgsync`, `elan_hgsyncevent` | [`Group::hgsync`], [`Group::hgsyncevent`] | the network conditional (`hardware.rs`) |
//! | `elan_bcast` | [`Group::bcast`] | messages in a tree, or a chain if there is much to send (`bcast.rs`) |
//! | `elan_hbcast` | [`Group::hbcast`] | broadcast packets (`hardware.rs`) |
//! | `elan_reduce` | [`Group::reduce`] | messages in the tree, combined by the hosts (`reduce.rs`) |
//!
//! All of them block, and all members make the same calls in the same order; a second call that a process makes meanwhile
//! waits for the first. What never comes is told as a deadlock, by the names of the calls.
//!
//! *Nodes.* The members on one node are a *team*. They meet in shared memory, each step of which costs `shared`; the first of
//! them, the *leader*, acts for all. *Hardware* serves a group whose teams are on nodes next to each other, with the
//! leaders in contexts of one number (002); for others the hardware calls are the software ones.
//!
//! *Memory.* A group has blocks of global memory in each member, at the same address everywhere: its events and the counter
//! of the network conditional in adapter memory, slots for partial results in main memory.

use super::bcast::{SLOTS, segment};
use super::tree::{Spot, balanced};
use crate::cpu::{Cpu, Turn};
use crate::elan3::{AllocError, Context, Heap};
use elan::{
    Action, Address, Dma, DmaError, ElanAddr, EventId, MemoryError, Node, NodeId, Region, Transfer,
    Wait,
};
use kernel::{Label, Signal};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use thiserror::Error;
use units::Bytes;

/// A group of processes, as one of them knows it (`ELAN_GROUP`). Clones are the same group.
#[derive(Clone)]
pub struct Group {
    pub(super) inner: Rc<Inner>,
}

/// Why there is no such group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// It has no members.
    #[error("a group has at least one member")]
    Empty,
    /// The group that it should be a part of lacks a member.
    #[error("process {0} is not in the group that the new one should be a part of")]
    NoMember(u32),
    /// A process is in it twice.
    #[error("process {0} is in the group twice")]
    Twice(u32),
    /// There is no memory for it.
    #[error(transparent)]
    NoMemory(#[from] AllocError),
    /// The processes could not agree on its addresses.
    #[error(transparent)]
    Failed(#[from] DmaError),
}

pub(super) struct Inner {
    pub context: Context,
    pub cpu: Cpu,
    label: Label,
    /// How calls wait that do not say it themselves.
    pub waits: Wait,
    pub layout: Rc<Layout>,
    pub rank: u32,
    /// The team of this process, by its number.
    pub team: u32,
    pub local: Rc<Local>,
    pub block: Block,
    /// By the index of their slots.
    events: Vec<EventId>,
    /// The place of the team in the tree that has the first team as its root.
    pub spot: Spot,
    /// Calls of this process to the group.
    calls: Cpu,
    /// Which of its threads run.
    pub threads: Threads,
    /// Hardware barriers so far, and the error of the last.
    pub epoch: Rc<Cell<u64>>,
    pub failed: Rc<Cell<Option<DmaError>>>,
    /// What the thread that sends on has to do.
    pub work: Rc<RefCell<VecDeque<super::relay::Work>>>,
    /// The hardware broadcasts that the thread has to send.
    pub send: Rc<Cell<Vec<Dma>>>,
}

/// Threads of a group on one adapter, which are started when they are first needed: their stacks until then, mapped in all
/// members, so that what these map afterwards has the same addresses in all of them.
pub(super) struct Threads {
    pub barrier: Cell<Option<Region>>,
    pub conditional: Cell<Option<Region>>,
    pub hardware: Cell<Option<Region>>,
    pub relay: Cell<Option<Region>>,
}

impl Threads {
    fn new(node: &Node) -> Result<Self, MemoryError> {
        let stack = || node.stack().map(|stack| Cell::new(Some(stack)));
        Ok(Threads {
            barrier: stack()?,
            conditional: stack()?,
            hardware: stack()?,
            relay: stack()?,
        })
    }
}

/// Who is where.
pub(super) struct Layout {
    /// By rank.
    pub members: Vec<u32>,
    /// Ranks of each team, in order; the teams are in the order of their first ranks.
    pub teams: Vec<Vec<u32>>,
    /// By rank.
    pub team_of: Vec<u32>,
    /// The leader of each team.
    pub leaders: Vec<u32>,
    /// Whether the ranks of each team follow one on the other.
    pub in_order: bool,
    /// The leaders in the order of their nodes, if hardware serves the group.
    pub contiguous: Option<Vec<u32>>,
}

impl Layout {
    pub fn new(context: &Context, members: Vec<u32>) -> Self {
        let address = |vp: u32| {
            let at = context.address(vp, ElanAddr::NOWHERE);
            at.expect("members are processes of the job")
        };
        let (mut teams, mut team_of) = (Vec::<Vec<u32>>::new(), Vec::new());
        let mut by_node = BTreeMap::<NodeId, u32>::new();
        for (rank, &vp) in (0..).zip(&members) {
            let team = *by_node
                .entry(address(vp).node)
                .or_insert(teams.len() as u32);
            if team as usize == teams.len() {
                teams.push(Vec::new());
            }
            teams[team as usize].push(rank);
            team_of.push(team);
        }
        let leaders: Vec<u32> = teams.iter().map(|team| members[team[0] as usize]).collect();
        let in_order = teams.iter().all(|team| {
            let mut pairs = team.windows(2);
            pairs.all(|pair| pair[0] + 1 == pair[1])
        });
        let nodes = by_node.len() as u32;
        let (first, last) = (by_node.keys().next(), by_node.keys().next_back());
        let closed = first.is_some_and(|first| last.is_some_and(|last| last - first + 1 == nodes));
        let number = address(leaders[0]).context;
        let one = leaders.iter().all(|&vp| address(vp).context == number);
        let sorted = by_node.values().map(|&team| leaders[team as usize]);
        let contiguous = (closed && one).then(|| sorted.collect());
        Layout {
            members,
            teams,
            team_of,
            leaders,
            in_order,
            contiguous,
        }
    }
}

/// The memory of a group in each member: see the offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub elan: ElanAddr,
    pub main: ElanAddr,
}

/// Bytes that a reduction combines at a time, and so of a slot for partial results: what is assumed of `elan_reduce`.
pub(super) const CHUNK: Bytes = Bytes::from_kb(2);

/// Events of the block, 64 bytes each. After the last of them lie two words: how many hardware barriers this process has
/// come to, and since which of them it shall tell the root that it has. Then comes the stage of software broadcasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// All below in the tree, and this process, are ready.
    Ready,
    /// The software barrier is over.
    Release,
    /// The network conditional is to be asked.
    Ask,
    /// The hardware barrier is over.
    Go,
    /// There is something to send on.
    Work,
    /// It has been sent on.
    Sent,
    /// A segment of a broadcast has come: one of even, one of odd number.
    Arrived(u32),
    /// The place above has taken the last partial result.
    Credit,
    /// A process has come to a hardware barrier after the root had given up asking.
    Told,
    /// A hardware broadcast is to be sent.
    Send,
    /// A child has room for another segment of a broadcast.
    Room(u32),
    /// The partial result of a child has come.
    Partial(u32),
}

impl Slot {
    fn index(self) -> u32 {
        match self {
            Slot::Ready => 0,
            Slot::Release => 1,
            Slot::Ask => 2,
            Slot::Go => 3,
            Slot::Work => 4,
            Slot::Sent => 5,
            Slot::Arrived(parity) => 6 + parity,
            Slot::Credit => 8,
            Slot::Told => 9,
            Slot::Send => 10,
            Slot::Room(child) => 11 + 2 * child,
            Slot::Partial(child) => 12 + 2 * child,
        }
    }

    /// The slots of a group whose tree has a branching ratio.
    fn events(ratio: u32) -> impl Iterator<Item = Slot> {
        let first = [
            Slot::Ready,
            Slot::Release,
            Slot::Ask,
            Slot::Go,
            Slot::Work,
            Slot::Sent,
            Slot::Arrived(0),
            Slot::Arrived(1),
            Slot::Credit,
            Slot::Told,
            Slot::Send,
        ];
        let of_children = (0..ratio).flat_map(|child| [Slot::Room(child), Slot::Partial(child)]);
        first.into_iter().chain(of_children)
    }
}

impl Block {
    /// No address is lower.
    pub const ANYWHERE: Block = Block {
        elan: ElanAddr::new(0),
        main: ElanAddr::new(0),
    };

    /// A block of a process's global heaps, no lower than at some addresses.
    pub fn alloc(
        node: &Node,
        elan: &RefCell<Heap>,
        main: &RefCell<Heap>,
        from: Block,
    ) -> Result<Block, AllocError> {
        let at = elan
            .borrow_mut()
            .alloc_from(from.elan, 64, Block::elan_size(node))?;
        let size = Block::main_size(node.group_config().branching);
        let main = main.borrow_mut().alloc_from(from.main, 64, size);
        if main.is_err() {
            elan.borrow_mut().free(at)?;
        }
        Ok(Block {
            elan: at,
            main: main?,
        })
    }

    /// Adapter memory of a block.
    pub fn elan_size(node: &Node) -> Bytes {
        Block::events_size(node) + elan::event::EVENT_BLOCK + segment(node) * SLOTS
    }

    /// Adapter memory of its events.
    fn events_size(node: &Node) -> Bytes {
        let count = Slot::events(node.group_config().branching).count();
        elan::event::EVENT_BLOCK * count as u64
    }

    /// The words of a block.
    pub fn words(self, node: &Node) -> [ElanAddr; 2] {
        let first = self.elan.offset(Block::events_size(node));
        [first, first.offset(elan::message::WORD)]
    }

    /// Its stage.
    pub fn stage(self, node: &Node) -> ElanAddr {
        let words = elan::event::EVENT_BLOCK;
        self.elan.offset(Block::events_size(node) + words)
    }

    /// Main memory of a block: partial results of the children, the own one, and the result.
    pub fn main_size(ratio: u32) -> Bytes {
        CHUNK * u64::from(ratio + 2)
    }

    pub fn at(self, slot: Slot) -> ElanAddr {
        let offset = elan::event::EVENT_BLOCK * u64::from(slot.index());
        self.elan.offset(offset)
    }

    pub fn partial(self, child: u32) -> ElanAddr {
        self.main.offset(CHUNK * u64::from(child + 2))
    }

    pub fn own(self) -> ElanAddr {
        self.main
    }

    pub fn result(self) -> ElanAddr {
        self.main.offset(CHUNK)
    }
}

/// Where the members of one node meet.
pub(crate) struct Local {
    /// Fired once by each member but the leader.
    gathered: Signal,
    /// Fired by the leader.
    released: Signal,
    /// What went wrong, for all of them.
    pub failed: Cell<Option<DmaError>>,
    /// What members pass to the leader, by rank, and the leader to them.
    pub passed: RefCell<BTreeMap<u32, Vec<u8>>>,
    pub result: RefCell<Vec<u8>>,
}

/// The meeting places of all groups of a job: by the group's block and the team's leader.
pub(crate) type Locals = Rc<RefCell<BTreeMap<(ElanAddr, u32), Rc<Local>>>>;

/// What a process brings to each of its groups.
#[derive(Clone)]
pub(crate) struct Member {
    pub context: Context,
    pub cpu: Cpu,
    pub label: Label,
    pub locals: Locals,
    /// How it waits.
    pub waits: Wait,
}

impl Group {
    /// A process's view of a group whose block has been allocated.
    pub(super) fn new(
        member: &Member,
        layout: Rc<Layout>,
        block: Block,
    ) -> Result<Self, AllocError> {
        let (context, node) = (&member.context, member.context.node());
        let vp = context.process();
        let mut members = (0..).zip(&layout.members);
        let rank = members.find(|&(_, &other)| other == vp);
        let rank: u32 = rank.expect("a process knows only groups that it is in").0;
        let team = layout.team_of[rank as usize];
        let leader = layout.leaders[team as usize];
        let ratio = node.group_config().branching;
        let spot = balanced(layout.leaders.len() as u32, ratio, team);
        let others = layout.teams[team as usize].len() as u64 - 1;
        let local = {
            let mut locals = member.locals.borrow_mut();
            let local = locals.entry((block.elan, leader)).or_insert_with(|| {
                Rc::new(Local {
                    gathered: Signal::counted(others),
                    released: Signal::new(),
                    failed: Cell::new(None),
                    passed: RefCell::default(),
                    result: RefCell::default(),
                })
            });
            Rc::clone(local)
        };
        let children = spot.children.len() as u32;
        let make = |slot| {
            let (count, action) = match slot {
                Slot::Ready => (children + 1, Action::None),
                Slot::Ask
                | Slot::Told
                | Slot::Send
                | Slot::Work
                | Slot::Arrived(_)
                | Slot::Room(_) => (1, Action::None),
                Slot::Credit => (0, Action::Copy),
                _ => (1, Action::Copy),
            };
            let event = node.event_at(block.at(slot), count, action);
            event.expect("the block lies in adapter memory of the process")
        };
        let events = Slot::events(ratio).map(make).collect();
        Ok(Group {
            inner: Rc::new(Inner {
                events,
                context: context.clone(),
                cpu: member.cpu.clone(),
                label: member.label.clone(),
                waits: member.waits,
                rank,
                team,
                local,
                block,
                calls: Cpu::default(),
                threads: Threads::new(node)?,
                epoch: Rc::default(),
                failed: Rc::default(),
                work: Rc::default(),
                send: Rc::default(),
                spot,
                layout,
            }),
        })
    }

    /// This process's rank (`self`).
    pub fn rank(&self) -> u32 {
        self.inner.rank
    }

    /// How many members it has.
    pub fn size(&self) -> u32 {
        self.inner.layout.members.len() as u32
    }

    /// The virtual process id of a member (`lookupFn`); none if the group has no such rank.
    pub fn lookup(&self, rank: u32) -> Option<u32> {
        self.inner.layout.members.get(rank as usize).copied()
    }

    /// Whether hardware serves it: its nodes are next to each other.
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

    /// Waits for one of the group's events, in the way of the job.
    pub(super) async fn wait(&self, slot: Slot) {
        let event = self.event(slot);
        self.node().wait_by(event, self.inner.waits).await;
    }

    /// Waits for the end of a DMA, the same way.
    pub(super) async fn over(&self, transfer: Transfer) -> Result<(), DmaError> {
        self.node().wait_for(transfer, self.inner.waits).await
    }

    /// Makes one of the group's events anew, with an action of choice.
    pub(super) fn event_with(&self, slot: Slot, count: u32, action: Action) -> EventId {
        let at = self.inner.block.at(slot);
        let event = self.node().event_at(at, count, action);
        event.expect("the block lies in adapter memory of the process")
    }

    /// An address of the group's block in another process.
    pub(super) fn there(&self, vp: u32, at: ElanAddr) -> Address {
        let address = self.inner.context.address(vp, at);
        address.expect("members are processes of the job")
    }

    /// Enters a call: after those that the process has made before.
    pub(super) async fn enter(&self) -> Turn {
        let turn = self.inner.calls.turn();
        turn.work(self.node(), units::Time::ZERO).await;
        let call = self.node().host_config().call;
        self.inner.cpu.work(self.node(), call).await;
        turn
    }

    /// Names the call in reports of deadlocks.
    pub(super) async fn during<T>(&self, call: &str, act: impl Future<Output = T>) -> T {
        let label = &self.inner.label;
        let before = label.text();
        label.set(format!("{before}: {call} of {} processes", self.size()));
        let output = act.await;
        label.set(before);
        output
    }

    /// Whether this process acts for its node.
    pub(super) fn leads(&self) -> bool {
        self.inner.layout.teams[self.inner.team as usize][0] == self.inner.rank
    }

    /// Whether its node has other members.
    pub(super) fn has_team(&self) -> bool {
        self.inner.layout.teams[self.inner.team as usize].len() > 1
    }

    /// The leader waits until the rest of the team has come.
    pub(super) async fn gather(&self) {
        if self.has_team() {
            let local = &self.inner.local;
            local.gathered.wait().await;
            local.gathered.reset();
        }
    }

    /// The leader lets the others go on.
    pub(super) fn release(&self, outcome: Result<(), DmaError>) -> Result<(), DmaError> {
        let local = &self.inner.local;
        local.failed.set(outcome.err());
        local.released.fire();
        local.released.reset();
        outcome
    }

    /// A member that does not lead tells the leader that it has come.
    pub(super) async fn come(&self) {
        let shared = self.node().host_config().shared;
        self.node().sleep(shared).await;
        self.inner.local.gathered.fire();
    }

    /// The same, and waits until the leader lets it go on.
    pub(super) async fn join(&self) -> Result<(), DmaError> {
        self.come().await;
        self.inner.local.released.wait().await;
        let shared = self.node().host_config().shared;
        self.node().sleep(shared).await;
        self.inner.local.failed.get().map_or(Ok(()), Err)
    }

    /// The processor copies, or combines, so many bytes.
    pub(super) async fn copy(&self, bytes: Bytes) {
        let time = self.node().host_config().copy.time(bytes);
        self.inner.cpu.work(self.node(), time).await;
    }

    /// Starts a thread of the group, unless it runs.
    pub(super) fn thread<F: Future<Output = ()> + 'static>(
        &self,
        stack: &Cell<Option<Region>>,
        name: &str,
        program: impl FnOnce(elan::Thread) -> F + 'static,
    ) {
        if let Some(stack) = stack.take() {
            self.node().run_on(stack, name, program);
        }
    }
}
