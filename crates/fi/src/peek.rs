//! Looks for messages, and receives for those that a look has claimed.
//!
//! Looking for a message (`FI_PEEK`) is an operation like others to libfabric. Here its result is
//! in the completion queue when the call returns, as the MPI library asks for it immediately. A
//! second call with the same context receives a message that a peek claims (`FI_CLAIM`). In a call
//! that waits for a message, a [probe](crate::progress::probe) waits for it.

use crate::abi::{
    FI_ADDR_UNSPEC, FI_CLAIM, FI_DISCARD, FI_EHOSTUNREACH, FI_ENOMSG, FI_RECV, FI_TAGGED, Pointer,
};
use crate::operation::call;
use crate::progress::HasEngine;
use crate::progress::PendingOp;
use crate::progress::completions::Binding;
use link::{MessageFilter, Order};
use rank::memory::Buffer;
use rank::thread;
use std::ffi::c_int;

/// Looks for a message, and waits for the answer, which may be known.
pub fn order_peek(
    peer: u64,
    (tag, ignore): (u64, u64),
    context: Pointer,
    flags: u64,
) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let peer = call.peer;
    if call.state.engine().losses.take_probed(peer) {
        return Err(-FI_EHOSTUNREACH);
    }
    let claims = flags & (FI_CLAIM | FI_DISCARD) != 0;
    let shown = FI_TAGGED | FI_RECV | if claims { FI_CLAIM } else { 0 };
    let id = call.begin(context, Buffer::default(), shown, Some(flags));
    let wanted = MessageFilter {
        from: peer,
        tag,
        mask: !ignore,
    };
    let probes = thread::probes() && !thread::several_threads();
    let known = if probes {
        call.state.engine().probe.answer(id, wanted, claims)
    } else {
        None
    };
    if let Some(ended) = known {
        call.state.engine().told(ended);
    } else {
        call.say(id, Order::Peek { wanted, claims });
        call.wait(id);
    }
    if call.state.engine().has_missed(id) {
        if !probes {
            call.session.found_nothing();
        } else if known.is_none() {
            let probe = call.state.engine().number();
            call.say(probe, Order::Probe { wanted });
            call.state.engine().probe.begin(probe, wanted);
        }
    }
    drop(call);
    if flags & FI_DISCARD != 0 {
        // If there is no message to discard, the queue has reported so.
        let _ = order_claim(Buffer::default(), context, 0, true);
    }
    Ok(())
}

/// Receives a message that a peek claimed, or discards it.
pub fn order_claim(
    buffer: Buffer,
    context: Pointer,
    flags: u64,
    quietly: bool,
) -> Result<(), c_int> {
    let mut call = call(FI_ADDR_UNSPEC)?;
    let discards = quietly || flags & FI_DISCARD != 0;
    // A message that is discarded needs no room.
    let buffer = if discards { Buffer::default() } else { buffer };
    let room = buffer.length() as u64;
    let binding = call.bindings().of(FI_RECV, Some(flags));
    let receive = PendingOp {
        context,
        buffer,
        flags: FI_TAGGED | FI_RECV | if discards { FI_DISCARD } else { 0 },
        binding: if quietly { Binding::default() } else { binding },
    };
    let claimed = call.state.engine().claim(context, receive);
    call.say(claimed.ok_or(-FI_ENOMSG)?, Order::Claim { room });
    Ok(())
}
