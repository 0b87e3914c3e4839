//! MPI's entry points, which record the call that the rank is in.
//!
//! Every call that communicates or waits ([`link::calls`]) is defined here again, under its own
//! name ([`entries`]), and passes its arguments on to the MPI library ([`fi::mpi`]). All arguments
//! are integers or pointers. Both relevant calling conventions, for x86-64 and aarch64 under Linux,
//! pass each argument in one register or one 8-byte place on the stack, of any width; so arguments
//! are passed on as words, unseen. This holds for both of MPICH's interfaces: its own with integers
//! for handles, and MPI 5's standard one with pointers. Fortran's entry points call C's.
//!
//! Around a call this module notes
//! - which call it is, for messages and for the provider ([`rank::thread`]);
//! - how long the program has computed since its last call ([`link::Compute`]): local time advances
//!   by as much;
//! - when the call began and ended, if the run records calls ([`link::Order::Called`]).
//!
//! Only the outermost call of a thread counts: collective operations may consist of other calls,
//! and the program's own functions that MPI calls may call MPI. A program that does not reach the
//! library by these names runs as well; then its calls are unknown, and no call counts as blocking.

#![allow(unsafe_code)] // C functions

mod bindings;
mod entries;
mod handlers;
mod interface;
mod lookup;
mod nodes;
mod objects;
mod profiling;
mod windows;
mod world;

use link::calls::CallKind;
use rank::repeats::Frame;
use rank::session::{self, Session};
use rank::thread::{self, ThreadState};
use rank::{compute, record};
use std::ffi::c_int;

/// Passes a call on.
#[inline(always)]
// a call costs a few nanoseconds, and arguments in memory would double that
#[allow(clippy::inline_always)]
fn around(call: u32, pass: impl FnOnce() -> c_int) -> c_int {
    let thread = thread::current();
    let depth = thread.depth.get();
    thread.depth.set(depth + 1);
    if depth > 0 {
        let result = pass();
        thread.depth.set(depth);
        return result;
    }
    enter(thread, call, &Frame::here());
    let result = pass();
    thread.depth.set(0);
    leave(thread);
    result
}

/// A thread's outermost call begins, from a frame of the program.
#[inline]
pub fn enter(thread: &ThreadState, call: u32, frame: &Frame) {
    thread.enter(call);
    match session::get() {
        Some(session) => begin(session, thread, call, frame),
        // The call that begins a session, or the first one, began outside the simulation.
        None => thread.began.set(session::shown().map_or(0, Session::now)),
    }
}

/// A thread's outermost call ends.
#[inline]
pub fn leave(thread: &ThreadState) {
    let call = thread.leave();
    if let Some(session) = session::get() {
        end(session, thread, call);
    }
}

#[cold]
fn begin(session: &Session, thread: &ThreadState, call: u32, frame: &Frame) {
    compute::calls(session, thread, call);
    thread::acted();
    let polls = thread.polls_memory();
    if !polls && link::calls::kind(call) != Some(CallKind::Looks) {
        session.look_anew();
    }
    session.begins_call(call, frame);
    thread.orders.set(0);
    thread.began.set(session.now());
    if polls && let Some(mut state) = session.try_lock() {
        session.step_to_write(&mut state);
    }
}

#[cold]
fn end(session: &Session, thread: &ThreadState, call: u32) {
    session.ends_call(thread);
    if link::calls::kind(call) == Some(CallKind::Request) {
        without_order(session, thread, 1);
    }
    record::ended(session, thread, call);
    compute::computes(session, thread);
    clock::timers::look(session);
}

/// Records how many of a call's requests have made no order.
fn without_order(session: &Session, thread: &ThreadState, requests: u32) {
    session.requested_without_order(requests.saturating_sub(thread.orders.get()));
}

/// `MPI_Startall` has ended, which started this many requests. The call's end counts one request
/// again, which only costs a few looks.
fn started_all(requests: u32) {
    if let Some(session) = session::get() {
        without_order(session, thread::current(), requests);
    }
}
