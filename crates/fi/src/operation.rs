//! Turns the endpoint's operations into orders. The crate [`link`] describes the orders to the
//! simulated adapter. A [`Binding`](crate::progress::completions::Binding) determines where an
//! operation's end is reported.
//!
//! *Injected* operations have no completion. For MPI such a call ends when the bytes are copied. In
//! a blocking MPI call, though, the rank continues only when the machine's send has ended
//! ([`inject`]).
//!
//! A send ends when it is matched if the call itself asks for `FI_MATCH_COMPLETE` or
//! `FI_DELIVERY_COMPLETE`. Set for a whole endpoint, the latter concerns access to memory, which
//! ends at the other rank in any case.

use crate::abi::{
    FI_ADDR_UNSPEC, FI_DELIVERY_COMPLETE, FI_EHOSTUNREACH, FI_EINVAL, FI_EMSGSIZE, FI_EOPBADSTATE,
    FI_MATCH_COMPLETE, Pointer,
};
use crate::object::session;
use crate::progress::HasEngine;
use crate::progress::PendingOp;
use crate::progress::bindings::Bindings;
use link::{NEVER, Order, RankWait};
use rank::memory::{Buffer, Span};
use rank::session::{Session, SessionGuard};
use rank::thread;
use std::ffi::c_int;

/// The longest message that may be injected, in bytes.
pub const INJECT_SIZE: usize = 256;

/// The longest message, if the environment does not give its length.
const MAX_MSG_SIZE: usize = 1 << 40;

/// The longest message: the MPI library cuts longer ones.
pub fn longest() -> usize {
    let said = std::env::var(link::LONGEST_VARIABLE).ok();
    let said = said.and_then(|bytes| bytes.parse().ok());
    said.unwrap_or(MAX_MSG_SIZE).min(MAX_MSG_SIZE)
}

/// The lock for an endpoint call; the endpoint must be open and know the call's peer, if any.
pub struct Call {
    pub session: &'static Session,
    pub state: SessionGuard<'static>,
    /// The peer, or `None` for any rank.
    pub peer: Option<u32>,
}

/// Begins an endpoint call with a peer.
pub fn call(peer: u64) -> Result<Call, c_int> {
    let session = session()?;
    let state = session.lock();
    let bindings = state
        .engine_ref()
        .endpoint
        .as_ref()
        .ok_or(-FI_EOPBADSTATE)?;
    let vector = bindings.vector.ok_or(-FI_EOPBADSTATE)?;
    let peer = if peer == FI_ADDR_UNSPEC {
        None
    } else {
        let rank = state.engine_ref().vectors[vector].rank(peer);
        let rank = rank.filter(|&rank| rank < session.rank().1);
        Some(rank.ok_or(-FI_EINVAL)?)
    };
    Ok(Call {
        session,
        state,
        peer,
    })
}

impl Call {
    /// The endpoint's bindings.
    pub fn bindings(&self) -> &Bindings {
        let bindings = self.state.engine_ref().endpoint.as_ref();
        bindings.expect("it was open at the beginning of the call")
    }

    /// Registers an operation, with the flags that its completion will show; returns its number.
    pub fn begin(
        &mut self,
        context: Pointer,
        buffer: Buffer,
        shown: u64,
        flags: Option<u64>,
    ) -> u64 {
        let binding = self.bindings().of(shown, flags);
        self.state.engine().begin(PendingOp {
            context,
            buffer,
            flags: shown,
            binding,
        })
    }

    /// The peer's rank; the peer must be named.
    pub fn rank(&self) -> Result<u32, c_int> {
        self.peer.ok_or(-FI_EINVAL)
    }

    /// Gives an order with a buffer's bytes.
    fn give(&mut self, id: u64, order: Order, buffer: &Buffer) {
        let mut spans = buffer.spans();
        let first = spans.next().map_or(&[][..], Span::bytes);
        let rest: Vec<&[u8]> = spans.map(Span::bytes).collect();
        if rest.is_empty() {
            self.session.order(&mut self.state, id, order, &[first]);
        } else {
            let all = [&[first][..], &rest].concat();
            self.session.order(&mut self.state, id, order, &all);
        }
    }

    /// Gives an order without bytes.
    pub fn say(&mut self, id: u64, order: Order) {
        self.session.order(&mut self.state, id, order, &[]);
    }

    /// Waits until an operation has ended.
    pub fn wait(&mut self, id: u64) {
        while self.state.engine().is_under_way(id) {
            self.session.wait(&mut self.state, RankWait::report(NEVER));
        }
    }
}

/// Whether a send with the flags of its call ends only when it is matched.
pub fn is_synchronous(flags: Option<u64>) -> bool {
    flags.unwrap_or(0) & (FI_MATCH_COMPLETE | FI_DELIVERY_COMPLETE) != 0
}

/// Orders bytes to go to a peer: a send or a put. `shown` are the completion's flags.
pub fn order_bytes(
    order: impl FnOnce(u32) -> Order,
    bytes: &Buffer,
    peer: u64,
    context: Pointer,
    shown: u64,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let order = order(call.rank()?);
    let id = call.begin(context, Buffer::default(), shown, flags);
    call.give(id, order, bytes);
    Ok(())
}

/// Like [`order_bytes`], for bytes that are not reported to the program again. In an MPI call that
/// ends with the send, waits for its end.
pub fn inject(
    order: impl FnOnce(u32) -> Order,
    bytes: &Buffer,
    peer: u64,
    shown: u64,
) -> Result<(), c_int> {
    if bytes.length() > INJECT_SIZE {
        return Err(-FI_EMSGSIZE);
    }
    let mut call = call(peer)?;
    let order = order(call.rank()?);
    let binding = call.bindings().of_injected(shown);
    let waits = thread::sends();
    // 0 if the operation has no waiter and no counter.
    let id = if waits || binding.counter.is_some() {
        call.state.engine().begin(PendingOp {
            context: 0,
            buffer: Buffer::default(),
            flags: 0,
            binding,
        })
    } else {
        0
    };
    call.give(id, order, bytes);
    if waits {
        call.wait(id);
        if call.state.engine().losses.take_injected() {
            return Err(-FI_EHOSTUNREACH);
        }
    }
    Ok(())
}

/// Endpoint functions that return 0 or an error: their arguments besides the endpoint, and their
/// actions.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) => $act:expr;)*) => {$(
        unsafe extern "C" fn $name(_ep: *mut FidEp, $($argument: $type),*) -> isize {
            // SAFETY: the program's structures and buffers, which it leaves alone by libfabric's
            // rule (`memory`).
            $crate::object::answer(unsafe { $act }.map(|()| 0))
        }
    )*};
}
pub(crate) use functions;
