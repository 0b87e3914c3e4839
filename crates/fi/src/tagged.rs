//! Tagged messages: the functions of `fi_tagged.h` as orders to the adapter's tagged message ports.
//!
//! Looking for a message (`FI_PEEK`) is an operation like others to libfabric; here its result is there when the call
//! returns, in the completion queue, as the MPI library asks for it at once. A message that a peek claims (`FI_CLAIM`) is
//! received by a second call with the same context. In a call that waits for a message, it is waited for by a
//! [probe](crate::progress::probe).

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiMsgTagged, IoVec};
use crate::abi::objects::{FiOpsTagged, FidEp};
use crate::abi::{
    Address, FI_CLAIM, FI_DISCARD, FI_ENOMSG, FI_PEEK, FI_RECV, FI_REMOTE_CQ_DATA, FI_SEND,
    FI_TAGGED,
};
use crate::calls;
use crate::endpoint::{OpKind, answer, call, inject_bytes, label, order_bytes, order_flags};
use crate::memory::{Buffer, Span};
use crate::progress::completions::Binding;
use crate::progress::{NO_DATA, PendingOp};
use link::{Flags, Order, OrderKind};
use std::ffi::c_int;

pub static OPS: FiOpsTagged = FiOpsTagged {
    size: size_of::<FiOpsTagged>(),
    recv,
    recvv,
    recvmsg,
    send,
    sendv,
    sendmsg,
    inject,
    senddata,
    injectdata,
};

/// A send, with the flags of the call if it has some.
fn order(label: u32, tag: u64, flags: Option<u64>) -> Order {
    Order {
        tag,
        data: label,
        flags: order_flags(flags).0,
        ..Order::new(OrderKind::Send, 0)
    }
}

fn order_send(
    bytes: &Buffer,
    label: u32,
    peer: u64,
    tag: u64,
    context: Address,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let kind = (OpKind::Send, FI_TAGGED | FI_SEND);
    order_bytes(order(label, tag, flags), bytes, peer, context, kind, flags)
}

fn order_inject(bytes: &Buffer, label: u32, peer: u64, tag: u64) -> Result<(), c_int> {
    inject_bytes(order(label, tag, None), bytes, peer, OpKind::Send)
}

/// Orders a receive.
fn order_receive(
    buffer: Buffer,
    peer: u64,
    tag: u64,
    ignore: u64,
    context: Address,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let room = buffer.length();
    let binding = call.endpoint().binding(OpKind::Receive, flags);
    let id = call.state.engine.begin(PendingOp {
        context,
        buffer,
        flags: FI_TAGGED | FI_RECV,
        binding,
    });
    let order = Order {
        id,
        tag,
        mask: !ignore,
        size: room as u64,
        flags: order_flags(None).0,
        ..call.order(OrderKind::Receive)
    };
    call.say(order);
    Ok(())
}

/// Looks for a message, and waits for the answer, which may be known.
fn order_peek(peer: u64, tag: u64, ignore: u64, context: Address, flags: u64) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let claims = flags & (FI_CLAIM | FI_DISCARD) != 0;
    let binding = call.endpoint().binding(OpKind::Receive, Some(flags));
    let mut shown = FI_TAGGED | FI_RECV;
    let mut order_flags = Flags::default();
    if claims {
        shown |= FI_CLAIM;
        order_flags = Flags::CLAIM;
    }
    let id = call.state.engine.begin(PendingOp {
        context,
        buffer: Buffer::default(),
        flags: shown,
        binding,
    });
    let order = Order {
        id,
        tag,
        mask: !ignore,
        flags: order_flags.0,
        ..call.order(OrderKind::Peek)
    };
    let probes = calls::probes() && !calls::several_threads();
    let known = if probes {
        call.state.engine.probe.answer(&order, claims)
    } else {
        None
    };
    if let Some(report) = known {
        call.state.engine.told(&report);
    } else {
        call.say(order);
        call.wait(id);
    }
    if call.state.engine.has_missed(id) {
        if !probes {
            call.session.looked_in_vain();
        } else if known.is_none() {
            call.probe(order);
        }
    }
    drop(call);
    if flags & FI_DISCARD != 0 {
        // If there is nothing to discard, the queue has said so.
        let _ = order_claim(Buffer::default(), context, 0, true);
    }
    Ok(())
}

/// Receives a message that a peek claimed, or does away with it.
fn order_claim(buffer: Buffer, context: Address, flags: u64, quietly: bool) -> Result<(), c_int> {
    let mut call = call(crate::abi::FI_ADDR_UNSPEC)?;
    let discards = quietly || flags & FI_DISCARD != 0;
    // There is no room for what nobody wants.
    let buffer = if discards { Buffer::default() } else { buffer };
    let room = buffer.length();
    let binding = call.endpoint().binding(OpKind::Receive, Some(flags));
    let receive = PendingOp {
        context,
        buffer,
        flags: FI_TAGGED | FI_RECV | if discards { FI_DISCARD } else { 0 },
        binding: if quietly { Binding::default() } else { binding },
    };
    let claimed = call.state.engine.claim(context, receive);
    let id = claimed.ok_or(-FI_ENOMSG)?;
    let order = Order {
        id,
        size: room as u64,
        ..Order::new(OrderKind::Claim, 0)
    };
    call.say(order);
    Ok(())
}

unsafe extern "C" fn recv(
    _ep: *mut FidEp,
    buffer: *mut u8,
    length: usize,
    _desc: Address,
    peer: u64,
    tag: u64,
    ignore: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the buffer to be filled.
    let buffer = unsafe { Span::new(buffer, length) };
    answer(order_receive(
        buffer.into(),
        peer,
        tag,
        ignore,
        context,
        None,
    ))
}

unsafe extern "C" fn recvv(
    _ep: *mut FidEp,
    list: *const IoVec,
    _desc: Address,
    count: usize,
    peer: u64,
    tag: u64,
    ignore: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the buffers to be filled.
    let buffer = unsafe { Buffer::new(list, count) };
    answer(order_receive(buffer, peer, tag, ignore, context, None))
}

unsafe extern "C" fn recvmsg(_ep: *mut FidEp, message: *const FiMsgTagged, flags: u64) -> isize {
    // SAFETY: the message is a structure, and what it names is given to be filled.
    let (message, buffer) = unsafe {
        let message = &*message;
        (message, Buffer::new(message.msg_iov, message.iov_count))
    };
    let &FiMsgTagged {
        addr,
        tag,
        ignore,
        context,
        ..
    } = message;
    answer(if flags & FI_PEEK != 0 {
        order_peek(addr, tag, ignore, context, flags)
    } else if flags & FI_CLAIM != 0 {
        order_claim(buffer, context, flags, false)
    } else {
        order_receive(buffer, addr, tag, ignore, context, Some(flags))
    })
}

unsafe extern "C" fn send(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    _desc: Address,
    peer: u64,
    tag: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    answer(order_send(&bytes.into(), NO_DATA, peer, tag, context, None))
}

unsafe extern "C" fn sendv(
    _ep: *mut FidEp,
    list: *const IoVec,
    _desc: Address,
    count: usize,
    peer: u64,
    tag: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Buffer::new(list, count) };
    answer(order_send(&bytes, NO_DATA, peer, tag, context, None))
}

unsafe extern "C" fn sendmsg(_ep: *mut FidEp, message: *const FiMsgTagged, flags: u64) -> isize {
    // SAFETY: the message is a structure, and what it names is given to be read.
    let (message, bytes) = unsafe {
        let message = &*message;
        (message, Buffer::new(message.msg_iov, message.iov_count))
    };
    let label = match flags & FI_REMOTE_CQ_DATA {
        0 => Ok(NO_DATA),
        _ => label(message.data),
    };
    answer(label.and_then(|label| {
        order_send(
            &bytes,
            label,
            message.addr,
            message.tag,
            message.context,
            Some(flags),
        )
    }))
}

unsafe extern "C" fn inject(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    peer: u64,
    tag: u64,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    answer(order_inject(&bytes.into(), NO_DATA, peer, tag))
}

unsafe extern "C" fn senddata(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    _desc: Address,
    data: u64,
    peer: u64,
    tag: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    let label = label(data);
    answer(label.and_then(|label| order_send(&bytes.into(), label, peer, tag, context, None)))
}

unsafe extern "C" fn injectdata(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    data: u64,
    peer: u64,
    tag: u64,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    let label = label(data);
    answer(label.and_then(|label| order_inject(&bytes.into(), label, peer, tag)))
}
