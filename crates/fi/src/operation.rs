//! How operations of the endpoint become orders. The crate [`link`] says what an order asks of the simulated adapter. A
//! [`Binding`](crate::progress::completions::Binding) says where the end of the operation is told.
//!
//! *Injected* operations have no completion. For MPI such a call ends when the bytes are copied. In a call of MPI that blocks,
//! though, the rank goes on only when the machine's send has ended ([`inject`]).
//!
//! A send ends when it is matched if the call itself asks for `FI_MATCH_COMPLETE` or `FI_DELIVERY_COMPLETE`. Set for a whole
//! endpoint, the latter concerns access to memory, which ends at the other rank in any case.

use crate::abi::{
    Address, FI_ADDR_UNSPEC, FI_DELIVERY_COMPLETE, FI_EHOSTUNREACH, FI_EINVAL, FI_EMSGSIZE,
    FI_EOPBADSTATE, FI_MATCH_COMPLETE,
};
use crate::object::session;
use crate::progress::HasEngine;
use crate::progress::PendingOp;
use crate::progress::bindings::Bindings;
use link::{NEVER, Order, Wait};
use rank::memory::{Buffer, Span};
use rank::session::{Held, Session};
use rank::thread;
use std::ffi::c_int;

/// The longest message that may be injected, in bytes.
pub const INJECT_SIZE: usize = 256;

/// The longest message, if the environment does not say how long it is.
const MAX_MSG_SIZE: usize = 1 << 40;

/// The longest message: the MPI library cuts longer ones.
pub fn longest() -> usize {
    let said = std::env::var(link::LONGEST_VARIABLE).ok();
    let said = said.and_then(|bytes| bytes.parse().ok());
    said.unwrap_or(MAX_MSG_SIZE).min(MAX_MSG_SIZE)
}

/// The lock for a call of an endpoint, which must be open and know the peer, if the call has one.
pub struct Call {
    pub session: &'static Session,
    pub state: Held<'static>,
    /// The peer, or `None` for any rank.
    pub peer: Option<u32>,
}

/// Begins a call of the endpoint with a peer.
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
    /// What is bound to the endpoint.
    pub fn bindings(&self) -> &Bindings {
        let bindings = self.state.engine_ref().endpoint.as_ref();
        bindings.expect("it was open at the beginning of the call")
    }

    /// Takes down an operation whose completion will show these flags; returns its number.
    pub fn begin(
        &mut self,
        context: Address,
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

    /// The rank of the peer, which must be named.
    pub fn rank(&self) -> Result<u32, c_int> {
        self.peer.ok_or(-FI_EINVAL)
    }

    /// Gives an order with the bytes of a buffer.
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
            self.session.wait(&mut self.state, Wait::report(NEVER));
        }
    }
}

/// Whether a send with the flags of its call ends only when it is matched.
pub fn is_synchronous(flags: Option<u64>) -> bool {
    flags.unwrap_or(0) & (FI_MATCH_COMPLETE | FI_DELIVERY_COMPLETE) != 0
}

/// Orders bytes to go to a peer: a send or a put. `shown` are the flags of the completion.
pub fn order_bytes(
    order: impl FnOnce(u32) -> Order,
    bytes: &Buffer,
    peer: u64,
    context: Address,
    shown: u64,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let order = order(call.rank()?);
    let id = call.begin(context, Buffer::default(), shown, flags);
    call.give(id, order, bytes);
    Ok(())
}

/// Like [`order_bytes`], for bytes of which the program hears no more. In a call of MPI that ends with the send, waits for its end.
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
    // 0 if nobody is going to wait for the operation and no counter counts it.
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

/// Functions of an endpoint that answer 0 or an error: their arguments beside the endpoint, and what they do.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) => $act:expr;)*) => {$(
        unsafe extern "C" fn $name(_ep: *mut FidEp, $($argument: $type),*) -> isize {
            // SAFETY: structures and buffers of the program's, which it leaves alone as libfabric's rule says (`memory`).
            $crate::object::answer(unsafe { $act }.map(|()| 0))
        }
    )*};
}
pub(crate) use functions;
