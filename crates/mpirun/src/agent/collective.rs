//! Rank groups and their collective calls.

use super::Agent;
use super::operation::Operation;
use crate::combine::combine;
use crate::endpoint::{Combine, GroupCall, Reducer};
use crate::groups::GroupFailure;
use link::{CollectiveCall, CollectiveKind, Combiner, EndKind, EndStatus, Violation};
use std::rc::Rc;
use units::{Bytes, Time};

impl Agent {
    fn ranks(&self) -> u32 {
        self.shared.agents.borrow().len() as u32
    }

    /// The rank names a group, or leaves it.
    pub(super) fn group(&self, id: u64, key: u64, ranks: &[u32]) {
        let groups = &self.shared.groups;
        let done = if ranks.is_empty() {
            groups.leave(key, self.rank)
        } else {
            groups.join(key, self.rank, ranks, self.ranks(), &*self.endpoint)
        };
        let status = match done {
            Ok(()) => EndStatus::Done,
            Err(GroupFailure::NoRoom) => EndStatus::Nothing,
            Err(GroupFailure::Wrong) => {
                return self.shared.read.blame(self.rank, Violation::Group { key });
            }
        };
        if id != 0 {
            self.answer(id, status, EndKind::Collected { size: 0 });
        }
    }

    /// The rank calls a group's collective operation.
    pub(super) fn collective(
        self: &Rc<Self>,
        at: Time,
        id: u64,
        order: CollectiveCall,
        bytes: Vec<u8>,
    ) {
        let key = order.group;
        let call = GroupCall {
            kind: order.kind,
            hardware: order.hardware,
            posted: order.posted,
            root: order.root,
            reduction: order.combiner.map(|combiner| self.reducer(combiner)),
            size: Bytes::new(order.size),
            bytes,
        };
        let blame = |foul| self.shared.read.blame(self.rank, foul);
        let groups = &self.shared.groups;
        let group = groups.find(key, self.shared.began, &*self.endpoint);
        let place = group.as_ref().and_then(|group| group.place(self.rank));
        let (Some(group), Some(place)) = (group, place) else {
            return blame(Violation::Group { key });
        };
        let gives = match call.kind {
            CollectiveKind::Barrier => false,
            CollectiveKind::Broadcast => call.root == place,
            CollectiveKind::Reduce | CollectiveKind::AllReduce => true,
        };
        let given = if gives { call.size.as_u64() } else { 0 };
        let right = call.root < group.size() && given == call.bytes.len() as u64;
        if !right || !group.takes(&call) {
            let kind = call.kind as u32;
            return blame(Violation::Collective { kind });
        }
        let hardware = group.is_by_hardware(&call);
        self.shared.trace.borrow_mut().collected(hardware);
        let operation = Operation::Collective {
            kind: call.kind,
            size: call.size,
            root: group.rank(call.root),
            ranks: group.size(),
            hardware,
            posted: call.posted,
        };
        match group.call(at, place, call) {
            Some(network) => {
                self.start(id, operation, network);
            }
            None => self.answer(id, EndStatus::Truncated, EndKind::Collected { size: 0 }),
        }
    }

    /// The function that combines an order's vectors.
    fn reducer(self: &Rc<Self>, combiner: Combiner) -> Reducer {
        let combine: Combine = match combiner {
            Combiner::Own { .. } => {
                let agent = Rc::clone(self);
                Rc::new(move |one, other| agent.shared.read.combine(&agent, one, other))
            }
            Combiner::Known(reduction) => Rc::new(move |one, other| combine(reduction, one, other)),
        };
        Reducer { combiner, combine }
    }
}
