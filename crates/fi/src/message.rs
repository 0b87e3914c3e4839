//! Untagged messages: the functions of `fi_endpoint.h`. Sends are orders; receives are not, as the simulator brings every
//! untagged message on its own, and the progress engine puts them into the buffers posted here.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiMsg, IoVec};
use crate::abi::objects::{FiOpsMsg, FidEp};
use crate::abi::{Address, FI_MSG, FI_MULTI_RECV, FI_REMOTE_CQ_DATA, FI_SEND};
use crate::endpoint::{OpKind, answer, call, inject_bytes, label, order_bytes, order_flags};
use crate::memory::{Buffer, Span};
use crate::progress::NO_DATA;
use crate::progress::untagged::Posted;
use link::{Flags, Order, OrderKind};
use std::ffi::c_int;

pub static OPS: FiOpsMsg = FiOpsMsg {
    size: size_of::<FiOpsMsg>(),
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

/// Posts a buffer.
fn post(buffer: Buffer, source: u64, context: Address, flags: Option<u64>) -> Result<(), c_int> {
    let mut call = call(source)?;
    let binding = call.endpoint().binding(OpKind::Receive, flags);
    let least = call.endpoint().least_room;
    let several = flags.is_some_and(|flags| flags & FI_MULTI_RECV != 0);
    let posted = Posted {
        context,
        buffer,
        source,
        several: several.then_some((least, 0)),
        binding,
    };
    let engine = &mut call.state.engine;
    engine.untagged.post(posted, &mut engine.completions);
    engine.check_untagged();
    Ok(())
}

/// A send, with the flags of the call if it has some.
fn order(label: u32, flags: Option<u64>) -> Order {
    Order {
        data: label,
        flags: order_flags(flags).with(Flags::UNTAGGED).0,
        ..Order::new(OrderKind::Send, 0)
    }
}

fn order_send(
    bytes: &Buffer,
    label: u32,
    peer: u64,
    context: Address,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let kind = (OpKind::Send, FI_MSG | FI_SEND);
    order_bytes(order(label, flags), bytes, peer, context, kind, flags)
}

fn order_inject(bytes: &Buffer, label: u32, peer: u64) -> Result<(), c_int> {
    inject_bytes(order(label, None), bytes, peer, OpKind::Send)
}

unsafe extern "C" fn recv(
    _ep: *mut FidEp,
    buffer: *mut u8,
    length: usize,
    _desc: Address,
    source: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the buffer to be filled.
    let buffer = unsafe { Span::new(buffer, length) };
    answer(post(buffer.into(), source, context, None))
}

unsafe extern "C" fn recvv(
    _ep: *mut FidEp,
    list: *const IoVec,
    _desc: Address,
    count: usize,
    source: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the buffers to be filled.
    let buffer = unsafe { Buffer::new(list, count) };
    answer(post(buffer, source, context, None))
}

unsafe extern "C" fn recvmsg(_ep: *mut FidEp, message: *const FiMsg, flags: u64) -> isize {
    // SAFETY: the message is a structure, and what it names is given to be filled.
    let (message, buffer) = unsafe {
        let message = &*message;
        (message, Buffer::new(message.msg_iov, message.iov_count))
    };
    answer(post(buffer, message.addr, message.context, Some(flags)))
}

unsafe extern "C" fn send(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    _desc: Address,
    peer: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    answer(order_send(&bytes.into(), NO_DATA, peer, context, None))
}

unsafe extern "C" fn sendv(
    _ep: *mut FidEp,
    list: *const IoVec,
    _desc: Address,
    count: usize,
    peer: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Buffer::new(list, count) };
    answer(order_send(&bytes, NO_DATA, peer, context, None))
}

unsafe extern "C" fn sendmsg(_ep: *mut FidEp, message: *const FiMsg, flags: u64) -> isize {
    // SAFETY: the message is a structure, and what it names is given to be read.
    let (message, bytes) = unsafe {
        let message = &*message;
        (message, Buffer::new(message.msg_iov, message.iov_count))
    };
    let label = match flags & FI_REMOTE_CQ_DATA {
        0 => Ok(NO_DATA),
        _ => label(message.data),
    };
    answer(
        label.and_then(|label| {
            order_send(&bytes, label, message.addr, message.context, Some(flags))
        }),
    )
}

unsafe extern "C" fn inject(_ep: *mut FidEp, bytes: *const u8, length: usize, peer: u64) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    answer(order_inject(&bytes.into(), NO_DATA, peer))
}

unsafe extern "C" fn senddata(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    _desc: Address,
    data: u64,
    peer: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    let label = label(data);
    answer(label.and_then(|label| order_send(&bytes.into(), label, peer, context, None)))
}

unsafe extern "C" fn injectdata(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    data: u64,
    peer: u64,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    let label = label(data);
    answer(label.and_then(|label| order_inject(&bytes.into(), label, peer)))
}
