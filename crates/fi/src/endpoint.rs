//! The endpoint: what is bound to it, and how its operations become orders.
//!
//! What an order asks of the simulated adapter is in [`link`]; what its end is to the program is a [`Binding`]. Two things are
//! decided here for all kinds of operations:
//!
//! - *Completions.* An endpoint is bound to queues and counters per direction. With `FI_SELECTIVE_COMPLETION` only operations
//!   with the flag `FI_COMPLETION` show in the queue; failures always do.
//! - *Injected messages* have no completion. In a call of MPI that blocks, though, the rank goes on when the send has ended
//!   ([`inject_bytes`]): the call, which for MPI ends with the copy of the bytes, ends with the machine's send.
//!
//! A send ends when it is matched if the call itself asks for `FI_MATCH_COMPLETE` or `FI_DELIVERY_COMPLETE`; as an
//! endpoint's general wish the latter is for access to memory, whose end is at the other rank in any case.

mod object;

use crate::abi::{
    Address, FI_COMPLETION, FI_DELIVERY_COMPLETE, FI_EINVAL, FI_EMSGSIZE, FI_EOPBADSTATE,
    FI_MATCH_COMPLETE,
};
use crate::calls;
use crate::fabric::session;
use crate::memory::{Buffer, Span};
use crate::progress::completions::Binding;
use crate::progress::{NO_DATA, PendingOp};
use crate::session::{Held, Session};
use link::{Flags, NEVER, Order, OrderKind};
pub use object::open;
use std::ffi::c_int;

/// The queue of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    queue: Option<usize>,
    selective: bool,
    /// Flags of operations that name none.
    flags: u64,
}

/// The endpoint that is open.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// Its address vector.
    pub vector: Option<usize>,
    transmit: Direction,
    receive: Direction,
    send_counter: Option<usize>,
    receive_counter: Option<usize>,
    read_counter: Option<usize>,
    write_counter: Option<usize>,
    /// When a buffer for several messages goes back.
    pub least_room: usize,
}

/// Kinds of operations, by what counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    Send,
    Receive,
    Read,
    Write,
}

impl Endpoint {
    fn direction(&self, sort: OpKind) -> Direction {
        match sort {
            OpKind::Receive => self.receive,
            OpKind::Send | OpKind::Read | OpKind::Write => self.transmit,
        }
    }

    /// Where an operation's end is told; without flags of its own by the endpoint's.
    pub fn binding(&self, sort: OpKind, flags: Option<u64>) -> Binding {
        let direction = self.direction(sort);
        let flags = flags.unwrap_or(direction.flags);
        Binding {
            queue: direction.queue,
            quiet: direction.selective && flags & FI_COMPLETION == 0,
            counter: self.counter(sort),
        }
    }

    /// The same of an injected operation, of which the queue hears only if it fails.
    pub fn inject_binding(&self, sort: OpKind) -> Binding {
        Binding {
            queue: self.direction(sort).queue,
            quiet: true,
            counter: self.counter(sort),
        }
    }

    fn counter(&self, sort: OpKind) -> Option<usize> {
        match sort {
            OpKind::Send => self.send_counter,
            OpKind::Receive => self.receive_counter,
            OpKind::Read => self.read_counter,
            OpKind::Write => self.write_counter,
        }
    }
}

/// The lock, for a call of an endpoint, which must be open and know the peer if there is one.
pub struct Call {
    pub session: &'static Session,
    pub state: Held<'static>,
    pub peer: u32,
}

/// Begins a call of the endpoint with a peer.
pub fn call(peer: u64) -> Result<Call, c_int> {
    let session = session()?;
    let state = session.lock();
    let endpoint = state.engine.endpoint.as_ref().ok_or(-FI_EOPBADSTATE)?;
    let vector = endpoint.vector.ok_or(-FI_EOPBADSTATE)?;
    let peer = if peer == crate::abi::FI_ADDR_UNSPEC {
        Order::ANYBODY
    } else {
        let rank = state.engine.vectors[vector].get(peer as usize);
        let rank = rank.copied().ok_or(-FI_EINVAL)?;
        if rank >= session.rank().1 {
            return Err(-FI_EINVAL);
        }
        rank
    };
    Ok(Call {
        session,
        state,
        peer,
    })
}

impl Call {
    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        let endpoint = &self.state.engine.endpoint;
        endpoint.as_ref().expect("it was there at the beginning")
    }

    /// An order of a kind for the peer.
    pub fn order(&self, kind: OrderKind) -> Order {
        Order {
            peer: self.peer,
            data: NO_DATA,
            ..Order::new(kind, 0)
        }
    }

    /// Gives an order for the peer, with the bytes of a buffer.
    pub fn give(&mut self, order: Order, buffer: &Buffer) {
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

    /// Gives the order to wait for the message of a peek.
    pub fn probe(&mut self, peek: Order) {
        let probe = Order {
            id: self.state.engine.number(),
            flags: Flags::BLOCKING.0,
            ..peek
        };
        self.say(probe);
        self.state.engine.probe.begin(probe);
    }

    /// Waits until an operation has ended.
    pub fn wait(&mut self, id: u64) {
        while self.state.engine.is_under_way(id) {
            self.session.wait(&mut self.state, NEVER, Flags::BLOCKING);
        }
    }
}

/// The flags of an order to send or receive, from the flags of the call.
pub fn order_flags(flags: Option<u64>) -> Flags {
    let mut order_flags = Flags::default();
    if calls::makes_request() {
        order_flags = order_flags.with(Flags::REQUEST);
    }
    if flags.unwrap_or(0) & (FI_MATCH_COMPLETE | FI_DELIVERY_COMPLETE) != 0 {
        order_flags = order_flags.with(Flags::SYNCHRONOUS);
    }
    order_flags
}

/// The label of a message with remote completion data, which has room for 32 bits, and one value less.
pub fn label(data: u64) -> Result<u32, c_int> {
    let label = u32::try_from(data).ok();
    label.filter(|&label| label != NO_DATA).ok_or(-FI_EINVAL)
}

/// Orders bytes to go to a peer: a send or a put. `shown` is what the completion says it was.
pub fn order_bytes(
    order: Order,
    bytes: &Buffer,
    peer: u64,
    context: Address,
    (sort, shown): (OpKind, u64),
    flags: Option<u64>,
) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let binding = call.endpoint().binding(sort, flags);
    let id = call.state.engine.begin(PendingOp {
        context,
        buffer: Buffer::default(),
        flags: shown,
        binding,
    });
    call.give(Order { id, ..order }, bytes);
    Ok(())
}

/// The same for bytes of which the program hears no more. In a call of MPI that ends with the send, waits for its end.
pub fn inject_bytes(order: Order, bytes: &Buffer, peer: u64, sort: OpKind) -> Result<(), c_int> {
    if bytes.length() > crate::provider::INJECT_SIZE {
        return Err(-FI_EMSGSIZE);
    }
    let mut call = call(peer)?;
    let binding = call.endpoint().inject_binding(sort);
    let waits = calls::sends();
    // 0 if nobody is going to wait for it and nothing counts it.
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
    }
    Ok(())
}

/// What a function returns.
pub fn answer(result: Result<(), c_int>) -> isize {
    match result {
        Ok(()) => 0,
        Err(error) => error as isize,
    }
}
