//! The rank groups and their collective calls.
//!
//! A group is made when its first member names it. All members make the same calls in the same
//! order, so the n-th calls of all members belong together; a call that differs from the first with
//! its number is not one of theirs, and ends as an error. A group that all its members have left is
//! kept for the next one with the same ranks, since the machine has room for a limited number of
//! groups, and a group's memory is never freed.

use crate::endpoint::{Endpoint, GroupCall, NetworkGroup, NetworkOp};
use link::collective::ALL_RANKS;
use link::{CollectiveKind, Combiner};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use units::{Bytes, Time};

/// How often each way was taken, in calls by ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CarrierCounts {
    /// By the hardware barrier or broadcast.
    pub hardware: u64,
    /// By Elanlib's software trees.
    pub elan: u64,
    /// Barriers, broadcasts and reductions that the MPI library carried out.
    pub mpi: u64,
}

/// A run's groups.
#[derive(Default)]
pub(crate) struct Groups {
    by_key: RefCell<BTreeMap<u64, Rc<RankGroup>>>,
    /// Groups that have been left, by their ranks.
    idle: RefCell<BTreeMap<Vec<u32>, Vec<Network>>>,
}

type Network = Rc<dyn NetworkGroup>;

/// A rank group.
pub(crate) struct RankGroup {
    ranks: Vec<u32>,
    network: Network,
    /// Members that have left.
    left: RefCell<BTreeSet<u32>>,
    /// How many calls each member has made.
    made: RefCell<Vec<u64>>,
    /// Calls that some members have not made, and how many calls came before them.
    open: RefCell<VecDeque<OpenCall>>,
    closed: Cell<u64>,
}

/// A call that a member has made.
struct OpenCall {
    what: CallProperties,
    members: usize,
}

/// The properties that all members' calls have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CallProperties {
    kind: CollectiveKind,
    hardware: bool,
    /// MPI matches calls that block with each other only, and so those that do not.
    posted: bool,
    root: u32,
    reduction: Option<Combiner>,
    size: Bytes,
}

/// Why a rank cannot name a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupFailure {
    /// The machine has no room for it.
    NoRoom,
    /// The members are not ranks in the run, or differ from those that another member has named, or
    /// do not include the rank.
    Wrong,
}

impl Groups {
    /// A rank names a group, by all its members. `all` is the run's rank count.
    pub fn join(
        &self,
        key: u64,
        rank: u32,
        ranks: &[u32],
        all: u32,
        endpoint: &dyn Endpoint,
    ) -> Result<(), GroupFailure> {
        if let Some(group) = self.by_key.borrow().get(&key) {
            let known = group.ranks == ranks && ranks.contains(&rank);
            return if known {
                Ok(())
            } else {
                Err(GroupFailure::Wrong)
            };
        }
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let exist = sorted.last().is_some_and(|&last| last < all);
        if !exist || sorted.len() < ranks.len() || !ranks.contains(&rank) || key == ALL_RANKS {
            return Err(GroupFailure::Wrong);
        }
        self.make(key, ranks, endpoint)
    }

    fn make(&self, key: u64, ranks: &[u32], endpoint: &dyn Endpoint) -> Result<(), GroupFailure> {
        let idle = self.idle.borrow_mut().get_mut(ranks).and_then(Vec::pop);
        let network = idle.or_else(|| endpoint.group(ranks));
        let group = RankGroup {
            ranks: ranks.to_vec(),
            network: network.ok_or(GroupFailure::NoRoom)?,
            left: RefCell::default(),
            made: RefCell::new(vec![0; ranks.len()]),
            open: RefCell::default(),
            closed: Cell::new(0),
        };
        self.by_key.borrow_mut().insert(key, Rc::new(group));
        Ok(())
    }

    /// A rank announces that it makes no more calls in a group.
    pub fn leave(&self, key: u64, rank: u32) -> Result<(), GroupFailure> {
        let mut by_key = self.by_key.borrow_mut();
        let group = by_key.get(&key).filter(|group| group.place(rank).is_some());
        let group = Rc::clone(group.ok_or(GroupFailure::Wrong)?);
        let mut left = group.left.borrow_mut();
        left.insert(rank);
        if left.len() == group.ranks.len() {
            by_key.remove(&key);
            // The calls of a member that leaves early still run to their ends.
            if group.open.borrow().is_empty() {
                let mut idle = self.idle.borrow_mut();
                let same = idle.entry(group.ranks.clone()).or_default();
                same.push(Rc::clone(&group.network));
            }
        }
        Ok(())
    }

    /// The group with a name. The group `all`, the run's initial ranks, need not be named.
    pub fn find(&self, key: u64, all: u32, endpoint: &dyn Endpoint) -> Option<Rc<RankGroup>> {
        if key == ALL_RANKS && !self.by_key.borrow().contains_key(&key) {
            let ranks: Vec<u32> = (0..all).collect();
            self.make(key, &ranks, endpoint).ok()?;
        }
        self.by_key.borrow().get(&key).cloned()
    }
}

impl RankGroup {
    /// A rank's place in the group, unless the rank has left it.
    pub fn place(&self, rank: u32) -> Option<u32> {
        if self.left.borrow().contains(&rank) {
            return None;
        }
        let place = self.ranks.iter().position(|&one| one == rank);
        place.map(|place| place as u32)
    }

    /// How many ranks the group has.
    pub fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The rank at a place.
    pub fn rank(&self, place: u32) -> u32 {
        self.ranks[place as usize]
    }

    /// Whether a call is carried out by the hardware.
    pub fn is_by_hardware(&self, call: &GroupCall) -> bool {
        call.hardware && !call.kind.combines() && self.network.has_hardware()
    }

    /// Whether the group can carry out a call in this way.
    pub fn takes(&self, call: &GroupCall) -> bool {
        !call.posted || self.network.may_post(call.kind)
    }

    /// Begins a member's call; `None` if it is not the call that the others make.
    pub fn call(&self, at: Time, place: u32, call: GroupCall) -> Option<Rc<dyn NetworkOp>> {
        let number = {
            let mut made = self.made.borrow_mut();
            let made = &mut made[place as usize];
            *made += 1;
            *made - 1
        };
        let what = CallProperties {
            kind: call.kind,
            hardware: call.hardware,
            posted: call.posted,
            root: call.root,
            reduction: call.reduction.as_ref().map(|reduction| reduction.combiner),
            size: call.size,
        };
        {
            let mut open = self.open.borrow_mut();
            let index = (number - self.closed.get()) as usize;
            if index == open.len() {
                open.push_back(OpenCall { what, members: 0 });
            }
            let first = &mut open[index];
            first.members += 1;
            let same = first.what == what;
            while open
                .front()
                .is_some_and(|first| first.members == self.ranks.len())
            {
                open.pop_front();
                self.closed.update(|closed| closed + 1);
            }
            if !same {
                return None;
            }
        }
        Some(self.network.call(at, place, number, call))
    }
}
