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
use crate::memory::{Buffer, Span};
use crate::object::session;
use crate::progress::PendingOp;
use crate::progress::bindings::{Bindings, OpKind};
use crate::progress::completions::NO_DATA;
use crate::session::{Held, Session};
use crate::thread;
use link::{Flags, NEVER, Order, OrderKind};
use std::ffi::c_int;

/// The longest message that may be injected, in bytes.
pub const INJECT_SIZE: usize = 256;

/// The lock for a call of an endpoint, which must be open and know the peer, if the call has one.
pub struct Call {
    pub session: &'static Session,
    pub state: Held<'static>,
    pub peer: u32,
}

/// Begins a call of the endpoint with a peer.
pub fn call(peer: u64) -> Result<Call, c_int> {
    let session = session()?;
    let state = session.lock();
    let bindings = state.engine.endpoint.as_ref().ok_or(-FI_EOPBADSTATE)?;
    let vector = bindings.vector.ok_or(-FI_EOPBADSTATE)?;
    let peer = if peer == FI_ADDR_UNSPEC {
        Order::ANYBODY
    } else {
        let rank = state.engine.vectors[vector].rank(peer);
        let rank = rank.filter(|&rank| rank < session.rank().1);
        rank.ok_or(-FI_EINVAL)?
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
        let bindings = self.state.engine.endpoint.as_ref();
        bindings.expect("it was open at the beginning of the call")
    }

    /// Takes down an operation whose completion will show these flags; returns its number.
    pub fn begin(
        &mut self,
        kind: OpKind,
        context: Address,
        buffer: Buffer,
        shown: u64,
        flags: Option<u64>,
    ) -> u64 {
        let binding = self.bindings().of(kind, flags);
        self.state.engine.begin(PendingOp {
            context,
            buffer,
            flags: shown,
            binding,
        })
    }

    /// An order of this kind for the peer.
    pub fn order(&self, kind: OrderKind) -> Order {
        Order {
            peer: self.peer,
            data: NO_DATA,
            ..Order::new(kind, 0)
        }
    }

    /// Gives an order for the peer, with the bytes of a buffer.
    fn give(&mut self, order: Order, buffer: &Buffer) {
        let order = Order {
            peer: self.peer,
            size: buffer.length() as u64,
            ..order
        };
        let mut spans = buffer.spans();
        let first = spans.next().map_or(&[][..], Span::bytes);
        let rest: Vec<&[u8]> = spans.map(Span::bytes).collect();
        if rest.is_empty() {
            self.session.order(&mut self.state, order, &[first]);
        } else {
            let all = [&[first][..], &rest].concat();
            self.session.order(&mut self.state, order, &all);
        }
    }

    /// Gives an order without bytes.
    pub fn say(&mut self, order: Order) {
        self.session.order(&mut self.state, order, &[]);
    }

    /// Waits until an operation has ended.
    pub fn wait(&mut self, id: u64) {
        while self.state.engine.is_under_way(id) {
            self.session.wait(&mut self.state, NEVER, Flags::BLOCKING);
        }
    }
}

/// The flags of an order to send or receive, from those of the call.
pub fn order_flags(flags: Option<u64>) -> Flags {
    let mut order_flags = Flags::default();
    if thread::makes_request() {
        order_flags = order_flags.with(Flags::REQUEST);
    }
    if flags.unwrap_or(0) & (FI_MATCH_COMPLETE | FI_DELIVERY_COMPLETE) != 0 {
        order_flags = order_flags.with(Flags::SYNCHRONOUS);
    }
    order_flags
}

/// Orders bytes to go to a peer: a send or a put. `shown` are the flags of the completion.
pub fn order_bytes(
    order: Order,
    bytes: &Buffer,
    peer: u64,
    context: Address,
    (kind, shown): (OpKind, u64),
    flags: Option<u64>,
) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let id = call.begin(kind, context, Buffer::default(), shown, flags);
    call.give(Order { id, ..order }, bytes);
    Ok(())
}

/// Like [`order_bytes`], for bytes of which the program hears no more. In a call of MPI that ends with the send, waits for its end.
pub fn inject(order: Order, bytes: &Buffer, peer: u64, kind: OpKind) -> Result<(), c_int> {
    if bytes.length() > INJECT_SIZE {
        return Err(-FI_EMSGSIZE);
    }
    let mut call = call(peer)?;
    let binding = call.bindings().of_injected(kind);
    let waits = thread::sends();
    // 0 if nobody is going to wait for the operation and no counter counts it.
    let id = if waits || binding.counter.is_some() {
        call.state.engine.begin(PendingOp {
            context: 0,
            buffer: Buffer::default(),
            flags: 0,
            binding,
        })
    } else {
        0
    };
    call.give(Order { id, ..order }, bytes);
    if waits {
        call.wait(id);
        if call.state.engine.losses.take_injected() {
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
