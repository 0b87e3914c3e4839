//! Gathering and exchanging blocks in a group: Tport messages between its members.
//!
//! The arguments of these calls are Elanite's own, since only their names are known. Each call
//! begins with all its receives, so that messages go to their places immediately. Members call in
//! the same order, and messages between two processes do not overtake each other, so that calls
//! need no numbers.

use super::layout::ElanGroup;
use super::receive::{EXACTLY, own_tag};
use super::{event, group, stop};
use derive::call;
use native::{Buffer, Span, Ticket};
use std::ffi::{c_uint, c_void};

/// Message tags for each call.
const GATHER: u32 = 1;
const ALL_TO_ALL: u32 = 2;

fn receive(from: u32, tag: u32, into: Buffer) -> Ticket {
    native::receive(Some(from), own_tag(tag), EXACTLY, into)
}

fn send(to: u32, tag: u32, bytes: &[u8]) -> Ticket {
    native::send(to, own_tag(tag), false, &[bytes])
}

fn finish(call: &str, tickets: Vec<Ticket>) {
    for ticket in tickets {
        event::wait_for(call, ticket);
    }
}

/// Exchanges blocks: for each member, the one that goes there and the one that comes from there.
/// Process by process, each sends to the one this many places behind it.
fn exchange(call: &str, members: &[u32], own: usize, out: &[Span], into: &[Span]) {
    let count = members.len();
    let mut tickets = Vec::with_capacity(2 * count);
    for step in 1..count {
        let from = (own + count - step) % count;
        tickets.push(receive(members[from], ALL_TO_ALL, into[from].into()));
    }
    let both = out[own].length.min(into[own].length);
    // The program may exchange in place.
    let kept = out[own].bytes()[..both].to_vec();
    into[own].store(0, &kept);
    for step in 1..count {
        let to = (own + step) % count;
        tickets.push(send(members[to], ALL_TO_ALL, out[to].bytes()));
    }
    finish(call, tickets);
}

// The callers of the functions below keep to the headers.

#[call]
unsafe extern "C" fn elan_gather(
    group: *mut ElanGroup,
    from: *const u8,
    to: *mut u8,
    size: usize,
    root: c_uint,
    _flags: c_uint,
) {
    // SAFETY: a group of this library, which are never freed.
    let (own, inside) = unsafe { ((*group).own, group::inside("elan_gather", group)) };
    let Some(&vp) = inside.members.get(root as usize) else {
        stop("elan_gather", &format!("the group has no place {root}"));
    };
    inside.gathers(size);
    // SAFETY: this member's bytes, which the program leaves alone until the call returns.
    let bytes = unsafe { Span::new(from, size) };
    if own != root {
        return finish("elan_gather", vec![send(vp, GATHER, bytes.bytes())]);
    }
    // SAFETY: at the root, a block for each member.
    let block = |index: usize| unsafe { Span::new(to.wrapping_add(index * size), size) };
    let others = inside.members.iter().enumerate();
    let others = others.filter(|&(index, _)| index != own as usize);
    let tickets = others.map(|(index, &member)| receive(member, GATHER, block(index).into()));
    let tickets = tickets.collect();
    // The program may gather in place.
    let kept = bytes.bytes().to_vec();
    block(own as usize).store(0, &kept);
    finish("elan_gather", tickets);
}

#[call]
unsafe extern "C" fn elan_alltoall(
    group: *mut ElanGroup,
    from: *const u8,
    to: *mut u8,
    size: usize,
    _flags: c_uint,
) {
    // SAFETY: a group of this library, which are never freed.
    let (own, inside) = unsafe { ((*group).own as usize, group::inside("elan_alltoall", group)) };
    inside.gathers(size * inside.members.len());
    let all = || 0..inside.members.len();
    // SAFETY: a block for each member on both sides, until the call returns.
    let (out, into): (Vec<Span>, Vec<Span>) = unsafe {
        let out = all().map(|index| Span::new(from.wrapping_add(index * size), size));
        let into = all().map(|index| Span::new(to.wrapping_add(index * size), size));
        (out.collect(), into.collect())
    };
    exchange("elan_alltoall", &inside.members, own, &out, &into);
}

#[call]
unsafe extern "C" fn elan_alltoalls(
    group: *mut ElanGroup,
    from: *const u8,
    from_sizes: *const usize,
    from_places: *const usize,
    to: *mut c_void,
    to_sizes: *const usize,
    to_places: *const usize,
    _flags: c_uint,
) {
    // SAFETY: a group of this library, which are never freed.
    let (own, inside) = unsafe {
        (
            (*group).own as usize,
            group::inside("elan_alltoalls", group),
        )
    };
    let count = inside.members.len();
    let spans = |at: *const u8, sizes: *const usize, places: *const usize| -> Vec<Span> {
        // SAFETY: an array with an entry for each member.
        let (sizes, places) = unsafe { (super::slice(sizes, count), super::slice(places, count)) };
        let pairs = sizes.iter().zip(places);
        pairs
            // SAFETY: the piece for a member that the program's arrays name.
            .map(|(&size, &place)| unsafe { Span::new(at.wrapping_add(place), size) })
            .collect()
    };
    let out = spans(from, from_sizes, from_places);
    let into = spans(to.cast_const().cast(), to_sizes, to_places);
    inside.gathers(out.iter().map(|span| span.length).sum());
    exchange("elan_alltoalls", &inside.members, own, &out, &into);
}
