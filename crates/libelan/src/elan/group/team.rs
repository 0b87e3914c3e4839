//! Teams: a group's members on one node, which meet in shared memory. The first one, the leader,
//! acts for all.

use super::Group;
use crate::elan::layout::{GroupRank, TeamId};
use elan::{DmaError, ElanAddr, ProcessId};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The meeting place of one node's members.
pub(crate) struct NodeMeeting {
    /// Fired once by each member but the leader.
    gathered: Signal,
    /// Fired by the leader.
    released: Signal,
    /// The error from the leader's act, for all team members.
    pub failed: Cell<Option<DmaError>>,
    /// Why the group is lost, if it is, and the signal for it ([`super::recovery`]).
    pub lost: Cell<Option<DmaError>>,
    pub gone: Signal,
    /// The members' data for the leader, and the leader's for them, by rank.
    pub passed: RefCell<BTreeMap<GroupRank, Vec<u8>>>,
    pub result: RefCell<Vec<u8>>,
    /// Where the first leader is: the barrier to which each team has come, as far as detours have
    /// reported it; and a signal that is fired with each such notice.
    pub came: RefCell<BTreeMap<TeamId, u64>>,
    pub noted: Signal,
}

/// The meeting places of all groups in a job: by the group's block and the team's leader.
pub(crate) type NodeMeetings = Rc<RefCell<BTreeMap<(ElanAddr, ProcessId), Rc<NodeMeeting>>>>;

impl NodeMeeting {
    /// A meeting place for the leader and so many others.
    pub fn new(others: u64) -> Self {
        NodeMeeting {
            gathered: Signal::counted(others),
            released: Signal::new(),
            failed: Cell::new(None),
            lost: Cell::new(None),
            gone: Signal::new(),
            passed: RefCell::default(),
            result: RefCell::default(),
            came: RefCell::default(),
            noted: Signal::new(),
        }
    }
}

impl Group {
    /// Whether this process acts for its node.
    pub(in crate::elan) fn leads(&self) -> bool {
        self.inner.layout.teams[self.inner.team][0] == self.inner.rank
    }

    /// Whether its node has other members.
    pub(in crate::elan) fn has_team(&self) -> bool {
        self.inner.layout.teams[self.inner.team].len() > 1
    }

    /// The leader waits until the team's other members have come.
    pub(in crate::elan) async fn gather(&self) {
        if self.has_team() {
            let local = &self.inner.local;
            local.gathered.wait().await;
            local.gathered.reset();
        }
    }

    /// The leader releases the other members.
    pub(in crate::elan) fn release(&self, outcome: Result<(), DmaError>) -> Result<(), DmaError> {
        let local = &self.inner.local;
        local.failed.set(outcome.err());
        local.released.fire();
        local.released.reset();
        outcome
    }

    /// A member that does not lead notifies the leader that it has come.
    pub(in crate::elan) async fn come(&self) {
        let shared = self.node().config().host.shared;
        self.node().sleep(shared).await;
        self.inner.local.gathered.fire();
    }

    /// A member notifies the leader that it has come, and waits until the leader releases it.
    pub(in crate::elan) async fn join(&self) -> Result<(), DmaError> {
        self.come().await;
        self.inner.local.released.wait().await;
        let shared = self.node().config().host.shared;
        self.node().sleep(shared).await;
        self.inner.local.failed.get().map_or(Ok(()), Err)
    }
}
