//! A network's interface for a rank's agent.
//!
//! Orders carry the moment at which they were given, which may lie a little before the present (see
//! the crate).

use link::{CollectiveKind, Combiner, EndStatus, MessageFilter};
use std::fmt::Display;
use std::pin::Pin;
use std::rc::Rc;
use units::{Bytes, Time};

/// The number that a message has on its way; it is used again when it is no longer needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageNumber(pub u32);

/// A message to be sent.
pub struct OutgoingMessage {
    /// To which rank.
    pub to: u32,
    /// The message's tag.
    pub tag: u64,
    /// The message's number, by which it is known where it arrives.
    pub number: MessageNumber,
    /// Whether the send ends no sooner than it is matched.
    pub synchronous: bool,
    /// Whether the program gave it in a call that makes a request.
    pub request: bool,
    /// The message's bytes.
    pub bytes: Rc<Vec<u8>>,
}

/// An operation's outcome; fields that do not apply are 0 or empty.
#[derive(Clone, Debug)]
pub struct OperationResult {
    /// How the operation ended.
    pub status: EndStatus,
    /// The message's sender.
    pub from: u32,
    /// The message's tag.
    pub tag: u64,
    /// The message's number.
    pub number: Option<MessageNumber>,
    /// The message's length.
    pub size: Bytes,
    /// The bytes that the message or the get has brought.
    pub bytes: Box<[u8]>,
    /// Why failed parts of the machine have lost it, if they have.
    pub loss: Option<String>,
}

impl OperationResult {
    /// An outcome without a message.
    pub fn of(status: EndStatus) -> Self {
        OperationResult {
            status,
            from: 0,
            tag: 0,
            number: None,
            size: Bytes::ZERO,
            bytes: Box::default(),
            loss: None,
        }
    }

    /// The outcome of an error: failed parts of the machine if `lost`, else lack of room.
    pub fn failed(error: &impl Display, lost: bool) -> Self {
        if lost {
            let loss = Some(error.to_string());
            OperationResult {
                loss,
                ..OperationResult::of(EndStatus::Lost { peer: None })
            }
        } else {
            OperationResult::of(EndStatus::Refused)
        }
    }
}

/// The process's work when it sees that an operation has ended.
pub type Finish = Pin<Box<dyn Future<Output = OperationResult>>>;

/// The end of an operation: the moment when the process can see it, which may lie a little before
/// the present.
pub type EndFuture = Pin<Box<dyn Future<Output = Time>>>;

/// An operation under way.
pub trait NetworkOp {
    /// Waits until the operation has ended.
    fn ended(&self) -> EndFuture;

    /// Lets the process see the end at a moment; called once.
    fn finish(&self, at: Time) -> Finish;

    /// Whether the operation, which has ended, has had no effect.
    fn is_lost(&self) -> bool {
        false
    }

    /// Takes the operation back, if it is a receive or probe without a message.
    fn cancel(self: Rc<Self>, _at: Time) {}
}

/// The network as one rank sees it.
pub trait Endpoint {
    /// Lets the rank compute, or sleep, for this long; returns when that is over.
    fn compute(&self, at: Time, time: Time) -> EndFuture;

    /// Starts to send.
    fn send(&self, at: Time, message: OutgoingMessage) -> Rc<dyn NetworkOp>;

    /// Starts to receive a message that fits into this buffer length; `request` if the program does
    /// so in a call that makes a request.
    fn receive(
        &self,
        at: Time,
        wanted: MessageFilter,
        room: Bytes,
        request: bool,
    ) -> Rc<dyn NetworkOp>;

    /// Looks for an unreceived message, and leaves it in place: for one that has arrived, or with
    /// `waits` until there is one.
    fn look(&self, at: Time, wanted: MessageFilter, waits: bool) -> Rc<dyn NetworkOp>;

    /// Sends an untagged message from the MPI library to itself: the send here, and the arrival at
    /// the other rank. Such messages may overtake each other between two ranks.
    fn message(&self, at: Time, to: u32, bytes: Rc<Vec<u8>>) -> [Rc<dyn NetworkOp>; 2];

    /// Sends bytes into a rank's memory. The operation has ended when they are there.
    fn put(&self, at: Time, to: u32, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp>;

    /// Sends bytes into a rank's memory, which may look for them there, like [`put`](Self::put).
    /// Also returns when they are in that memory, which the sender may learn later or, from an
    /// adapter that has only accepted them, earlier. Bytes that are lost never are there.
    fn put_seen(&self, at: Time, to: u32, bytes: Rc<Vec<u8>>) -> (Rc<dyn NetworkOp>, EndFuture);

    /// Fetches these bytes from a rank's memory.
    fn get(&self, at: Time, from: u32, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp>;

    /// Lets a rank's adapter execute an atomic: calls `execute` at that moment. The atomic may
    /// depend on a test (`tests`); `execute` returns whether the test, if any, has passed.
    fn atomic(
        &self,
        at: Time,
        to: u32,
        tests: bool,
        execute: Box<dyn FnOnce() -> bool>,
    ) -> Rc<dyn NetworkOp>;

    /// Makes a message queue for this rank; `None` if there is no room for it.
    fn queue(&self, slots: u32, slot: Bytes) -> Option<Rc<dyn NetworkQueue>>;

    /// Sends a message to a rank's queue, by the queue's address. The operation has ended when the
    /// queue has it.
    fn enqueue(&self, at: Time, to: u32, queue: u64, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp>;

    /// How long a process that polls a word takes to see its new value.
    fn poll(&self) -> Time;

    /// Makes a rank group, immediately; `None` if there is no room for it.
    fn group(&self, ranks: &[u32]) -> Option<Rc<dyn NetworkGroup>>;
}

/// A rank's queue.
pub trait NetworkQueue {
    /// By which others send to the queue.
    fn address(&self) -> u64;

    /// Waits for the next message: one for each call.
    fn arrival(&self) -> EndFuture;

    /// The operation for a message that has arrived: it has ended, and its finish reads the
    /// message.
    fn message(self: Rc<Self>, at: Time) -> Rc<dyn NetworkOp>;

    /// Frees the slot that holds the first message that has been read.
    fn complete(&self);
}

/// One member's collective call in a group.
pub struct GroupCall {
    /// The operation.
    pub kind: CollectiveKind,
    /// Whether by the hardware, if that serves the group.
    pub hardware: bool,
    /// Whether the member continues immediately, and the network carries the call out.
    pub posted: bool,
    /// The root, by its place in the group.
    pub root: u32,
    /// How vectors are combined, if they are.
    pub reduction: Option<Reducer>,
    /// How many bytes the operation is about.
    pub size: Bytes,
    /// This member's bytes, if it gives any.
    pub bytes: Vec<u8>,
}

/// Combines vectors with the same count of whole elements; the result replaces the second.
pub type Combine = Rc<dyn Fn(&[u8], &mut [u8])>;

/// How vectors are combined.
#[derive(Clone)]
pub struct Reducer {
    /// The same at all members.
    pub combiner: Combiner,
    /// The function.
    pub combine: Combine,
}

/// A rank group on the network.
pub trait NetworkGroup {
    /// Whether the hardware serves the group.
    fn has_hardware(&self) -> bool;

    /// Whether members may continue immediately after calls of this kind.
    fn may_post(&self, kind: CollectiveKind) -> bool;

    /// Begins a member's call, by its place in the group; `number` is how many calls all members
    /// make before it. The outcome has the bytes that are due to the member.
    fn call(&self, at: Time, place: u32, number: u64, call: GroupCall) -> Rc<dyn NetworkOp>;
}
