//! # The basis of our own libraries: OpenSHMEM, Elanlib and Elan3lib in a rank
//!
//! A program may call the libraries that Elanite itself gives to programs. Their C functions are
//! made of this module's few operations, which become orders to the simulator as the MPI library's
//! do. One process may use both.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | [`operations`] | operations under way, for the progress engine |
//! | [`memory`] | the memory that others may reach by address |
//! | [`life`] | how a process becomes a rank, and how it ends |
//! | [`groups`] | rank groups, and their collective calls |
//! | [`guard`] | the program's calls, for reports and for computation time |
//! | `spin` | programs that wait for a word in their memory without a call |
//!
//! ## The main path
//!
//! A program's put:
//!
//! 1. `life.rs`: the first call makes the process a rank.
//! 2. `lib.rs`: [`put`] gives the order, and takes down the operation.
//! 3. `operations.rs`: the progress engine reports the end, which [`wait`] takes.
//!
//! ## The contract
//!
//! *Operations.* Each operation begins immediately and returns a [`Ticket`]. Outgoing bytes are
//! copied at the call. Incoming bytes are stored when the end is reported to the rank, which
//! happens only in waits. [`ended`] asks for an end and takes no time; [`wait`] waits for it in
//! simulated time. A ticket's end is taken once; an unused ticket costs some memory ([`forget`]
//! drops it).
//!
//! *Waiting.* A program that waits for a word in its memory, or for any of several conditions,
//! checks the condition, and if it does not hold, calls [`wait_for_change`]. No change is lost
//! between the check and the wait: the simulator keeps the events since the rank's last turn. A
//! program that only checks, by a call that does not wait, calls [`look`], which advances time by a
//! growing step.
//!
//! *Addresses.* Other ranks' memory is named by its address in their processes. A rank's process
//! lets others reach the memory in [`memory`]. An access elsewhere fails: a get or an atomic as
//! [`OperationFailure::Refused`], and a put ends the run with an error that names both ranks, as an
//! adapter trap ended the program.

#![allow(unsafe_code)] // memory that programs name by addresses

pub mod groups;
pub mod guard;
pub mod life;
pub mod memory;
pub mod operations;
mod spin;

pub use guard::{CallGuard, call};
pub use life::{session, vanish};
pub use link::{Atomic, RemoteMemory, Width};
use operations::PendingCalls;
pub use operations::{CallEnd, OperationFailure, Ticket};
pub use rank::memory::{Buffer, Span};

use link::{ADDRESS_SPACE, MessageFilter, Order, Patience, RankWait};
use rank::library::{self, LibraryFunctions};
use rank::session::Session;
use rank::{rings, thread};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tags in the libraries' own messages have this bit, so that a program that also uses MPI keeps
/// its messages apart.
pub const OWN_TAGS: u64 = 1 << 62;

/// This rank's number.
pub fn rank() -> u32 {
    session().rank().0
}

/// How many ranks there are.
pub fn ranks() -> u32 {
    session().rank().1
}

/// A rank's simulated node.
pub fn node_of(rank: u32) -> u32 {
    session().nodes()[rank as usize]
}

/// Local time in picoseconds, after the simulated processor's work for the calls so far.
pub fn now() -> u64 {
    let session = session();
    session.settle();
    session.now()
}

/// Operations under way; locked under the session's lock.
static OPERATIONS: Mutex<PendingCalls> = Mutex::new(PendingCalls::NONE);

fn operations() -> MutexGuard<'static, PendingCalls> {
    OPERATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names the functions that the progress engine calls.
fn serve() {
    library::serve(LibraryFunctions {
        ended: |ended, delivery, part, bytes| operations().ended(ended, delivery, part, bytes),
        arrived: |queue, delivery, part, bytes| operations().arrived(queue, delivery, part, bytes),
        combine: groups::combined,
        noticed: operations::noticed,
        reach: memory::reach_in,
    });
}

/// Begins an operation.
fn begin(into: Buffer, order: Order, pieces: &[&[u8]]) -> Ticket {
    let session = session();
    let mut state = session.lock();
    let ticket = operations().begin(into);
    session.order(&mut state, ticket.id(), order, pieces);
    ticket
}

/// An address in a rank's process.
fn address(rank: u32, at: usize) -> RemoteMemory {
    RemoteMemory {
        rank,
        key: ADDRESS_SPACE,
        offset: at as u64,
    }
}

/// Stores bytes at an address in another rank, or in this one. Ends when the other adapter has
/// accepted them.
pub fn put(to: u32, at: usize, pieces: &[&[u8]]) -> Ticket {
    put_and_notice(address(to, at), pieces, 0)
}

/// Stores bytes at a place. When they are there, the other rank receives a number, if it is not 0
/// ([`operations::listen`]).
pub fn put_and_notice(to: RemoteMemory, pieces: &[&[u8]], notice: u64) -> Ticket {
    begin(Buffer::default(), Order::Put { to, notice }, pieces)
}

/// Fetches bytes from a place.
pub fn get_from(from: RemoteMemory, into: Buffer) -> Ticket {
    let size = into.length() as u64;
    begin(into, Order::Get { from, size }, &[])
}

/// Brings this rank a number when an operation has ended, as for [`put_and_notice`].
pub fn notice_end(of: Ticket, notice: u64) {
    let _held = session().lock();
    operations().notice_end(of, notice);
}

/// Fetches bytes from an address in another rank, or in this one.
pub fn get(from: u32, at: usize, into: Buffer) -> Ticket {
    get_from(address(from, at), into)
}

/// Changes a word in another rank, or in this one, in one step; the end has the old word. `compare`
/// matters only to [`Atomic::CompareSwap`].
pub fn atomic(
    on: u32,
    at: usize,
    atomic: Atomic,
    width: Width,
    operand: u64,
    compare: u64,
) -> Ticket {
    let order = Order::Atomic {
        on: address(on, at),
        atomic,
        width,
        operand,
        compare,
    };
    begin(Buffer::default(), order, &[])
}

/// Sends a Tport message. A synchronous send ends when the message is matched.
pub fn send(to: u32, tag: u64, synchronous: bool, pieces: &[&[u8]]) -> Ticket {
    let order = Order::Send {
        to,
        tag: tag | OWN_TAGS,
        data: None,
        synchronous,
        request: false,
    };
    begin(Buffer::default(), order, pieces)
}

fn wanted(from: Option<u32>, tag: u64, mask: u64) -> MessageFilter {
    MessageFilter {
        from,
        tag: tag | OWN_TAGS,
        mask: mask | OWN_TAGS,
    }
}

/// Receives a Tport message: `mask` has the tag bits that count.
pub fn receive(from: Option<u32>, tag: u64, mask: u64, into: Buffer) -> Ticket {
    let order = Order::Receive {
        wanted: wanted(from, tag, mask),
        room: into.length() as u64,
        request: false,
    };
    begin(into, order, &[])
}

/// Looks for a Tport message and leaves it in place. Ends as [`OperationFailure::Nothing`] if there
/// is no message, unless it `waits` for one.
pub fn probe(from: Option<u32>, tag: u64, mask: u64, waits: bool) -> Ticket {
    let wanted = wanted(from, tag, mask);
    let order = if waits {
        Order::Probe { wanted }
    } else {
        let claims = false;
        Order::Peek { wanted, claims }
    };
    begin(Buffer::default(), order, &[])
}

/// Takes back a receive or probe that has no message yet: it ends as
/// [`OperationFailure::Cancelled`], or as without this call.
pub fn cancel(ticket: Ticket) {
    say(ticket.id(), Order::Cancel);
}

/// Makes a queue in this rank, under a name that other ranks know. An existing queue stays as it
/// is.
pub fn queue(name: u64, slots: u32, slot: usize) {
    let is_new = {
        let _held = session().lock();
        operations().open_queue(name)
    };
    if is_new {
        let slot = slot as u64;
        say(0, Order::Queue { name, slots, slot });
    }
}

/// Puts a message into another rank's queue, or into this one's; ends when the queue has it. Fails
/// as [`OperationFailure::Refused`] if there is no such queue, or if the message is longer than a
/// slot.
pub fn enqueue(to: u32, name: u64, bytes: &[u8]) -> Ticket {
    begin(Buffer::default(), Order::Enqueue { to, name }, &[bytes])
}

/// Takes the first message out of this rank's queue, if a message was reported to the rank; its
/// slot is free again.
pub fn dequeue(name: u64) -> Option<Vec<u8>> {
    let message = {
        let _held = session().lock();
        operations().dequeue(name)?
    };
    say(0, Order::Dequeued { name });
    Some(message)
}

/// How many of a queue's messages were reported to the rank and not yet taken out.
pub fn queued(name: u64) -> usize {
    let _held = session().lock();
    operations().queued(name)
}

/// Gives an order without its own end.
fn say(id: u64, order: Order) {
    let session = session();
    let mut state = session.lock();
    session.order(&mut state, id, order, &[]);
}

/// Takes an operation's end, if it was reported to the rank. Takes no time.
pub fn ended(ticket: Ticket) -> Option<Result<CallEnd, OperationFailure>> {
    let _held = session().lock();
    operations().take_end(ticket)
}

/// Whether an operation's end was reported to the rank; the end stays to be taken.
pub fn has_ended(ticket: Ticket) -> bool {
    let _held = session().lock();
    operations().has_ended(ticket)
}

/// An operation's end does not matter. A buffer that it fills must still stay valid until then.
pub fn forget(ticket: Ticket) {
    let _held = session().lock();
    operations().forget(ticket);
}

/// Waits until an operation has ended.
///
/// # Errors
/// See [`OperationFailure`].
pub fn wait(ticket: Ticket) -> Result<CallEnd, OperationFailure> {
    let session = session();
    loop {
        let mut state = session.lock();
        let end = operations().take_end(ticket);
        if let Some(end) = end {
            return end;
        }
        session.wait(&mut state, RankWait::Report(patience(session)));
        drop(state);
        session.ring();
    }
}

/// Waits until something changes: an operation by this rank ends, a message comes into one of its
/// queues, or others write into its memory. Returns immediately if that has happened since the
/// rank's last reports. The program then checks its condition; such a check costs the processor as
/// much as a poll.
///
/// Where several threads may call, the wait ends after a step at the latest, and threads that want
/// to call have their turn: the change may depend on them.
pub fn wait_for_change() {
    let session = session();
    let mut state = session.lock();
    if !thread::several_threads() {
        let patience = Patience {
            writes: true,
            ..patience(session)
        };
        session.wait(&mut state, RankWait::Report(patience));
        drop(state);
        session.ring();
        return;
    }
    session.step_to_write(&mut state);
    drop(state);
    session.give_way();
}

/// Like [`wait_for_change`], at most until a moment in local time, in picoseconds.
pub fn wait_for_change_until(moment: u64) {
    let session = session();
    let mut state = session.lock();
    let patience = Patience {
        writes: true,
        ..Patience::until(moment)
    };
    session.wait(&mut state, RankWait::Report(patience));
}

/// Waits without an end, unless a timer rings or the program's threads act.
fn patience(session: &Session) -> Patience {
    Patience {
        threads: !thread::one_thread(),
        ..Patience::until(rings::until(session.now()))
    }
}

/// The program has looked without success, in a call that does not wait: time advances by a step,
/// which grows from look to look. The rank receives the reports up to then.
pub fn look() {
    let session = session();
    let mut state = session.lock();
    session.step(&mut state);
}

/// The simulated processor works for this many picoseconds.
pub fn work(time: u64) {
    let session = session();
    session.sleep_until(session.now().saturating_add(time));
}

/// The session, for operations that this module does not offer.
pub fn raw() -> &'static Session {
    session()
}
