//! The request for more ranks, as `MPI_Comm_spawn` sends it: `mcmd=spawn`, and lines up to
//! `endcmd`, several times if the ranks run several programs.
//!
//! The simulator takes the new ranks into the simulation, from the call's moment on, and gives them
//! numbers in the run. The process manager reads these numbers before the request itself.

#![allow(unsafe_code)] // room for the number

use crate::progress::HasEngine;
use launch::wire;
use link::{EndStatus, NEVER, Order, RankWait};
use rank::memory::{Buffer, Span};
use rank::session::{self, Session};

/// How the request begins, and how a line with a rank count does.
const SPAWN: &[u8] = b"mcmd=spawn\n";
const COUNT: &[u8] = b"nprocs=";

/// The line that gives the process manager the places for the ranks that a request starts. `None`
/// if it starts no ranks, or if the run has no room for them: the process manager refuses a request
/// without places.
pub fn places(request: &[u8]) -> Option<Vec<u8>> {
    let count = count(request)?;
    let session = session::get().filter(|_| !session::is_held())?;
    let first = order(session, count)?;
    Some(wire::places(first).into_bytes())
}

/// How many ranks a request starts.
fn count(request: &[u8]) -> Option<u32> {
    request.strip_prefix(SPAWN)?;
    let lines = request.split(|&byte| byte == b'\n');
    let numbers = lines.filter_map(|line| {
        let digits = std::str::from_utf8(line.strip_prefix(COUNT)?).ok()?;
        digits.parse::<u32>().ok()
    });
    numbers
        .reduce(u32::saturating_add)
        .filter(|&count| count > 0)
}

/// Has the simulator start this many ranks; returns the first one.
fn order(session: &Session, count: u32) -> Option<u32> {
    let mut first = [0; 4];
    // SAFETY: the order has ended when this function returns.
    let room = unsafe { Span::new(first.as_mut_ptr(), first.len()) };
    let mut state = session.lock();
    let id = state.engine().begin_collective(Buffer::from(room));
    session.order(&mut state, id, Order::Spawn { count }, &[]);
    while !state.engine().collected.has_ended(id) {
        session.wait(&mut state, RankWait::report(NEVER));
    }
    let status = state.engine().collected.take(id);
    drop(state);
    if status != Some(EndStatus::Done) {
        let room = session.rank().1;
        eprintln!(
            "elanite: MPI_Comm_spawn: among the {room} ranks for which the run has room \
            (--universe {room}), \
             no {count} are left; name a larger number"
        );
        return None;
    }
    Some(u32::from_ne_bytes(first))
}

#[cfg(test)]
mod tests;
