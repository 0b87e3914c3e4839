//! Messages: the functions of `fi_tagged.h` become orders to the adapter's tagged message ports,
//! and those of `fi_endpoint.h` orders for untagged messages. Sends of both kinds are orders.
//! Receives for untagged messages are not: the simulator brings every untagged message unasked, and
//! the progress engine puts it into a buffer that was posted here.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiMsg, FiMsgTagged, IoVec};
use crate::abi::objects::{FiOpsMsg, FiOpsTagged, FidEp};
use crate::abi::{
    FI_CLAIM, FI_EINVAL, FI_MSG, FI_MULTI_RECV, FI_PEEK, FI_RECV, FI_REMOTE_CQ_DATA, FI_SEND,
    FI_TAGGED, Pointer,
};
use crate::operation::{self, call, functions, is_synchronous, order_bytes};
use crate::peek::{order_claim, order_peek};
use crate::progress::HasEngine;
use crate::progress::untagged::PostedBuffer;
use crate::{losses, stand_in};
use link::{EndKind, EndStatus, Envelope, MessageFilter, OperationEnd, Order};
use rank::memory::{Buffer, Span};
use rank::thread;
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

pub static TAGGED_OPS: FiOpsTagged = FiOpsTagged {
    size: size_of::<FiOpsTagged>(),
    recv: trecv,
    recvv: trecvv,
    recvmsg: trecvmsg,
    send: tsend,
    sendv: tsendv,
    sendmsg: tsendmsg,
    inject: tinject,
    senddata: tsenddata,
    injectdata: tinjectdata,
};

/// Posts a buffer for untagged messages.
fn post(buffer: Buffer, source: u64, context: Pointer, flags: Option<u64>) -> Result<(), c_int> {
    let mut call = call(source)?;
    let several = flags.is_some_and(|flags| flags & FI_MULTI_RECV != 0);
    let posted = PostedBuffer {
        context,
        buffer,
        source,
        several: several.then_some((call.bindings().least_room, 0)),
        binding: call.bindings().of(FI_RECV, flags),
    };
    call.state.engine().post(posted);
    Ok(())
}

/// Orders a receive for a message with such a tag, with some bits ignored; or the order that the
/// receive stands for.
fn receive(
    buffer: Buffer,
    peer: u64,
    (tag, ignore): (u64, u64),
    context: Pointer,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let mut call = call(peer)?;
    let room = buffer.length() as u64;
    let id = call.begin(context, buffer, FI_TAGGED | FI_RECV, flags);
    if let Some((order, bytes)) = stand_in::take() {
        call.session
            .order(&mut call.state, id, order, &[bytes.bytes()]);
        return Ok(());
    }
    if losses::learns() {
        let engine = call.state.engine();
        engine.losses.learn(context, losses::error_of_mpich);
        engine.told(OperationEnd {
            id,
            status: EndStatus::Done,
            end: EndKind::Received(Envelope::default()),
        });
        return Ok(());
    }
    let wanted = MessageFilter {
        from: call.peer,
        tag,
        mask: !ignore,
    };
    let order = Order::Receive {
        wanted,
        room,
        request: thread::makes_request(),
    };
    call.say(id, order);
    Ok(())
}

/// The order to send a message, with or without a tag, and with or without completion data for the
/// receiver. Completion data have 32 bits; one value stands for no data.
fn send_order(
    tag: Option<u64>,
    data: Option<u64>,
    flags: Option<u64>,
) -> Result<impl FnOnce(u32) -> Order, c_int> {
    let narrow = |data| u32::try_from(data).ok().filter(|&data| data != u32::MAX);
    let data = match data {
        Some(data) => Some(narrow(data).ok_or(-FI_EINVAL)?),
        None => None,
    };
    Ok(move |to| match tag {
        Some(tag) => Order::Send {
            to,
            tag,
            data,
            synchronous: is_synchronous(flags),
            request: thread::makes_request(),
        },
        None => Order::Untagged { to, data },
    })
}

fn order_send(
    bytes: &Buffer,
    peer: u64,
    tag: Option<u64>,
    data: Option<u64>,
    context: Pointer,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let class = if tag.is_some() { FI_TAGGED } else { FI_MSG };
    let order = send_order(tag, data, flags)?;
    order_bytes(order, bytes, peer, context, class | FI_SEND, flags)
}

fn order_inject(
    bytes: &Buffer,
    peer: u64,
    tag: Option<u64>,
    data: Option<u64>,
) -> Result<(), c_int> {
    operation::inject(send_order(tag, data, None)?, bytes, peer, FI_SEND)
}

/// A message's completion data, if its flags announce any.
fn data_of(flags: u64, data: u64) -> Option<u64> {
    (flags & FI_REMOTE_CQ_DATA != 0).then_some(data)
}

functions! {
    recv(buffer: *mut u8, length: usize, _desc: Pointer, source: u64, context: Pointer) =>
        post(Span::new(buffer, length).into(), source, context, None);

    recvv(list: *const IoVec, _desc: Pointer, count: usize, source: u64, context: Pointer) =>
        post(Buffer::new(list, count), source, context, None);

    recvmsg(message: *const FiMsg, flags: u64) => {
        let message = &*message;
        let buffer = Buffer::new(message.msg_iov, message.iov_count);
        post(buffer, message.addr, message.context, Some(flags))
    };

    send(bytes: *const u8, length: usize, _desc: Pointer, peer: u64, context: Pointer) =>
        order_send(&Span::new(bytes, length).into(), peer, None, None, context, None);

    sendv(list: *const IoVec, _desc: Pointer, count: usize, peer: u64, context: Pointer) =>
        order_send(&Buffer::new(list, count), peer, None, None, context, None);

    sendmsg(message: *const FiMsg, flags: u64) => {
        let message = &*message;
        let (bytes, data) = (
            Buffer::new(message.msg_iov, message.iov_count), data_of(flags, message.data)
        );
        order_send(&bytes, message.addr, None, data, message.context, Some(flags))
    };

    inject(bytes: *const u8, length: usize, peer: u64) =>
        order_inject(&Span::new(bytes, length).into(), peer, None, None);

    senddata(
        bytes: *const u8, length: usize, _desc: Pointer, data: u64, peer: u64, context: Pointer
    ) =>
        order_send(&Span::new(bytes, length).into(), peer, None, Some(data), context, None);

    injectdata(bytes: *const u8, length: usize, data: u64, peer: u64) =>
        order_inject(&Span::new(bytes, length).into(), peer, None, Some(data));
}

functions! {
    trecv(
        buffer: *mut u8,
        length: usize,
        _desc: Pointer,
        peer: u64,
        tag: u64,
        ignore: u64,
        context: Pointer
    ) =>
        receive(Span::new(buffer, length).into(), peer, (tag, ignore), context, None);

    trecvv(
        list: *const IoVec,
        _desc: Pointer,
        count: usize,
        peer: u64,
        tag: u64,
        ignore: u64,
        context: Pointer
    ) =>
        receive(Buffer::new(list, count), peer, (tag, ignore), context, None);

    trecvmsg(message: *const FiMsgTagged, flags: u64) => {
        let message = &*message;
        let buffer = Buffer::new(message.msg_iov, message.iov_count);
        let &FiMsgTagged { addr, tag, ignore, context, .. } = message;
        if flags & FI_PEEK != 0 {
            order_peek(addr, (tag, ignore), context, flags)
        } else if flags & FI_CLAIM != 0 {
            order_claim(buffer, context, flags, false)
        } else {
            receive(buffer, addr, (tag, ignore), context, Some(flags))
        }
    };

    tsend(bytes: *const u8, length: usize, _desc: Pointer, peer: u64, tag: u64, context: Pointer) =>
        order_send(&Span::new(bytes, length).into(), peer, Some(tag), None, context, None);

    tsendv(
        list: *const IoVec, _desc: Pointer, count: usize, peer: u64, tag: u64, context: Pointer
    ) =>
        order_send(&Buffer::new(list, count), peer, Some(tag), None, context, None);

    tsendmsg(message: *const FiMsgTagged, flags: u64) => {
        let message = &*message;
        let (bytes, data) = (
            Buffer::new(message.msg_iov, message.iov_count), data_of(flags, message.data)
        );
        order_send(&bytes, message.addr, Some(message.tag), data, message.context, Some(flags))
    };

    tinject(bytes: *const u8, length: usize, peer: u64, tag: u64) =>
        order_inject(&Span::new(bytes, length).into(), peer, Some(tag), None);

    tsenddata(
        bytes: *const u8,
        length: usize,
        _desc: Pointer,
        data: u64,
        peer: u64,
        tag: u64,
        context: Pointer
    ) =>
        order_send(&Span::new(bytes, length).into(), peer, Some(tag), Some(data), context, None);

    tinjectdata(bytes: *const u8, length: usize, data: u64, peer: u64, tag: u64) =>
        order_inject(&Span::new(bytes, length).into(), peer, Some(tag), Some(data));
}
