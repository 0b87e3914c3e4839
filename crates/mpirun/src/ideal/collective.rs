//! Groups on the ideal network: a call is over [`LATENCY`] after the last member that it waits for
//! has called.
//!
//! Barriers and reductions for all wait for all members. A reduction's root waits for all, the
//! others do not wait; in a broadcast all others wait for the root. A member that does not wait
//! continues after [`CALL`].

use super::{CALL, LATENCY, PendingOperation};
use crate::endpoint::{GroupCall, NetworkGroup, NetworkOp, OperationResult, Reducer};
use elan::Node;
use link::EndStatus;
use link::collective::CollectiveKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use units::{Bytes, Time};

/// A rank group.
pub(super) struct IdealGroup {
    members: Vec<Node>,
    calls: RefCell<BTreeMap<u64, Meeting>>,
}

/// A call, as far as members have made it.
struct Meeting {
    /// The bytes that each member gave.
    given: Vec<Option<Vec<u8>>>,
    /// Operations that wait.
    waiting: Vec<Rc<PendingOperation>>,
    called: usize,
}

impl IdealGroup {
    pub fn new(members: Vec<Node>) -> Self {
        IdealGroup {
            members,
            calls: RefCell::default(),
        }
    }
}

/// Lets an operation end at a moment, or now if that is past.
fn end_at(operation: &Rc<PendingOperation>, at: Time, bytes: Box<[u8]>) {
    let (operation, node) = (Rc::clone(operation), operation.node.clone());
    node.clone().serve("ideal network", async move {
        node.sleep_until(at).await;
        operation.end(OperationResult {
            size: Bytes::new(bytes.len() as u64),
            bytes,
            ..OperationResult::of(EndStatus::Done)
        });
    });
}

/// The combination of all members' vectors, in their order.
fn combined(given: &[Option<Vec<u8>>], reduction: Option<&Reducer>) -> Vec<u8> {
    let mut vectors = given.iter().flatten();
    let mut result = vectors.next().cloned().unwrap_or_default();
    for vector in vectors {
        let mut next = vector.clone();
        if let Some(reduction) = reduction {
            (reduction.combine)(&result, &mut next);
        }
        result = next;
    }
    result
}

impl NetworkGroup for IdealGroup {
    fn has_hardware(&self) -> bool {
        true
    }

    fn may_post(&self, _kind: CollectiveKind) -> bool {
        true
    }

    fn call(&self, at: Time, place: u32, number: u64, call: GroupCall) -> Rc<dyn NetworkOp> {
        let node = &self.members[place as usize];
        let operation = PendingOperation::new(node, None);
        let mut calls = self.calls.borrow_mut();
        let meeting = calls.entry(number).or_insert_with(|| Meeting {
            given: vec![None; self.members.len()],
            waiting: Vec::new(),
            called: 0,
        });
        meeting.called += 1;
        let all = meeting.called == self.members.len();
        let is_root = place == call.root;
        let over = at + LATENCY;
        match call.kind {
            CollectiveKind::Broadcast => {
                if is_root {
                    end_at(&operation, at + CALL, Box::default());
                    for other in meeting.waiting.drain(..) {
                        end_at(&other, over, call.bytes[..].into());
                    }
                    meeting.given[place as usize] = Some(call.bytes);
                } else if let Some(bytes) = &meeting.given[call.root as usize] {
                    end_at(&operation, over, bytes[..].into());
                } else {
                    meeting.waiting.push(Rc::clone(&operation));
                }
            }
            CollectiveKind::Barrier | CollectiveKind::Reduce | CollectiveKind::AllReduce => {
                meeting.given[place as usize] = Some(call.bytes);
                if call.kind == CollectiveKind::Reduce && !is_root {
                    end_at(&operation, at + CALL, Box::default());
                } else {
                    meeting.waiting.push(Rc::clone(&operation));
                }
                if all {
                    let result = combined(&meeting.given, call.reduction.as_ref());
                    for one in meeting.waiting.drain(..) {
                        end_at(&one, over, result[..].into());
                    }
                }
            }
        }
        if all {
            calls.remove(&number);
        }
        operation
    }
}
