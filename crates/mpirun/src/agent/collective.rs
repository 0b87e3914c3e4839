//! Groups of ranks, and their collective calls.

use super::about::About;
use super::{Agent, Role};
use crate::combine::combine;
use crate::endpoint::{Combine, GroupCall, Reducer};
use crate::groups::NoGroup;
use link::collective::{CollectiveKind, OWN_FUNCTION, Reduction};
use link::{Flags, Foul, Order, Report, ReportKind, Status};
use std::rc::Rc;
use units::{Bytes, Time};

/// The `mask` of calls by hardware.
const HARDWARE: u64 = 1;

impl Agent {
    fn ranks(&self) -> u32 {
        self.shared.agents.borrow().len() as u32
    }

    /// The rank names a group, or leaves it.
    pub(super) fn group(&self, order: &Order, bytes: &[u8]) {
        let groups = &self.shared.groups;
        let (words, rest) = bytes.as_chunks();
        let ranks: Vec<u32> = words.iter().map(|&word| u32::from_ne_bytes(word)).collect();
        let done = if !rest.is_empty() {
            Err(NoGroup::Wrong)
        } else if ranks.is_empty() {
            groups.leave(order.key, self.rank)
        } else {
            groups.join(order.key, self.rank, &ranks, self.ranks(), &*self.endpoint)
        };
        let status = match done {
            Ok(()) => Status::Done,
            Err(NoGroup::NoRoom) => Status::Nothing,
            Err(NoGroup::Wrong) => {
                let foul = Foul::Group { key: order.key };
                return self.shared.read.blame(self.rank, foul);
            }
        };
        if order.id != 0 {
            self.answer(Report::new(
                ReportKind::Collected,
                status,
                order.time,
                order.id,
            ));
        }
    }

    /// The rank gets a report at once.
    fn answer(&self, report: Report) {
        let mut state = self.state.borrow_mut();
        state.reports.push_back((report, Box::default()));
        state.bell.fire();
    }

    /// The rank calls a collective operation.
    pub(super) fn collective(self: &Rc<Self>, order: &Order, bytes: Vec<u8>) {
        let blame = |foul| self.shared.read.blame(self.rank, foul);
        let groups = &self.shared.groups;
        let group = groups.find(order.key, self.ranks(), &*self.endpoint);
        let place = group.as_ref().and_then(|group| group.place(self.rank));
        let (Some(group), Some(place)) = (group, place) else {
            return blame(Foul::Group { key: order.key });
        };
        let reducer = self.reducer(order);
        let call = call_of(order, bytes, place, group.size(), reducer);
        let Some(call) = call.filter(|call| group.takes(call)) else {
            return blame(Foul::Collective { tag: order.tag });
        };
        let hardware = group.is_by_hardware(&call);
        self.shared.trace.borrow_mut().collected(hardware);
        let about = About::Collective {
            kind: call.kind,
            size: call.size,
            root: group.rank(call.root),
            ranks: group.size(),
            hardware,
            posted: call.posted,
        };
        match group.call(Time::from_ps(order.time), place, call) {
            Some(operation) => {
                self.start(order.id, Role::Collective, operation, about);
            }
            None => self.answer(Report::new(
                ReportKind::Collected,
                Status::Truncated,
                order.time,
                order.id,
            )),
        }
    }
}

impl Agent {
    /// How the vectors of an order are combined, if there is such a way.
    fn reducer(self: &Rc<Self>, order: &Order) -> Option<Reducer> {
        let element = Bytes::new(order.offset);
        let (element, by): (Bytes, Combine) = if order.data == OWN_FUNCTION {
            let agent = Rc::clone(self);
            let ask = move |one: &[u8], other: &mut [u8]| {
                agent.shared.read.combine(&agent, one, other);
            };
            (element, Rc::new(ask))
        } else {
            let reduction = Reduction::of_word(order.data)?;
            let known = Bytes::new(reduction.element.size());
            (
                known,
                Rc::new(move |one, other| combine(reduction, one, other)),
            )
        };
        let right = element.as_u64() == order.offset && !element.is_zero();
        right.then_some(Reducer {
            word: order.data,
            element,
            combine: by,
        })
    }
}

/// The call of an order, if it makes sense for the member at a place of a group.
fn call_of(
    order: &Order,
    bytes: Vec<u8>,
    place: u32,
    members: u32,
    reducer: Option<Reducer>,
) -> Option<GroupCall> {
    let kind = CollectiveKind::of_tag(order.tag)?;
    let (root, size) = (order.peer, Bytes::new(order.size));
    let reduction = if kind.combines() {
        let whole = |one: &Reducer| order.size.is_multiple_of(one.element.as_u64());
        Some(reducer.filter(whole)?)
    } else {
        None
    };
    let gives = match kind {
        CollectiveKind::Barrier => false,
        CollectiveKind::Broadcast => root == place,
        CollectiveKind::Reduce | CollectiveKind::AllReduce => true,
    };
    let given = if gives { order.size } else { 0 };
    let right = root < members && given == bytes.len() as u64;
    right.then_some(GroupCall {
        kind,
        hardware: order.mask == HARDWARE,
        posted: order.has(Flags::REQUEST),
        root,
        reduction,
        size,
        bytes,
    })
}
