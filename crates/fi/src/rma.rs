//! Access to the memory of other ranks: the functions of `fi_rma.h` become puts and gets. A write ends when its bytes are in
//! the other rank's memory. There are no writes with completion data for the other side.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiMsgRma, FiRmaIov, IoVec};
use crate::abi::objects::{FiOpsRma, FidEp};
use crate::abi::{
    Address, FI_EINVAL, FI_ENOSYS, FI_READ, FI_REMOTE_CQ_DATA, FI_RMA, FI_WRITE, UNUSED,
};
use crate::memory::{Buffer, Span};
use crate::operation::{self, call, functions, order_bytes};
use crate::progress::bindings::OpKind;
use link::{Order, OrderKind};
use std::ffi::c_int;

pub static OPS: FiOpsRma = FiOpsRma {
    size: size_of::<FiOpsRma>(),
    read,
    readv,
    readmsg,
    write,
    writev,
    writemsg,
    inject,
    with_data: [UNUSED; 2],
};

/// Memory of another rank.
struct Place {
    peer: u64,
    at: u64,
    key: u64,
}

impl Place {
    fn order(&self, kind: OrderKind) -> Order {
        Order {
            key: self.key,
            offset: self.at,
            ..Order::new(kind, 0)
        }
    }
}

fn put(bytes: &Buffer, place: &Place, context: Address, flags: Option<u64>) -> Result<(), c_int> {
    let kind = (OpKind::Write, FI_RMA | FI_WRITE);
    let order = place.order(OrderKind::Put);
    order_bytes(order, bytes, place.peer, context, kind, flags)
}

fn get(buffer: Buffer, place: &Place, context: Address, flags: Option<u64>) -> Result<(), c_int> {
    let mut call = call(place.peer)?;
    let size = buffer.length() as u64;
    let id = call.begin(OpKind::Read, context, buffer, FI_RMA | FI_READ, flags);
    let order = Order {
        id,
        size,
        peer: call.peer,
        ..place.order(OrderKind::Get)
    };
    call.say(order);
    Ok(())
}

/// The buffer of a message, and its one place.
///
/// # Safety
/// The message must name as many pieces and places as it says.
unsafe fn parts(message: &FiMsgRma) -> Result<(Buffer, Place), c_int> {
    if message.rma_iov_count != 1 {
        return Err(-FI_EINVAL);
    }
    // SAFETY: the caller's word.
    let (buffer, FiRmaIov { addr, len, key }) = unsafe {
        let buffer = Buffer::new(message.msg_iov, message.iov_count);
        (buffer, *message.rma_iov)
    };
    let place = Place {
        peer: message.addr,
        at: addr,
        key,
    };
    if len == buffer.length() {
        Ok((buffer, place))
    } else {
        Err(-FI_EINVAL)
    }
}

functions! {
    read(buffer: *mut u8, length: usize, _desc: Address, peer: u64, at: u64, key: u64, context: Address) =>
        get(Span::new(buffer, length).into(), &Place { peer, at, key }, context, None);

    readv(list: *const IoVec, _desc: Address, count: usize, peer: u64, at: u64, key: u64, context: Address) =>
        get(Buffer::new(list, count), &Place { peer, at, key }, context, None);

    readmsg(message: *const FiMsgRma, flags: u64) => {
        let message = &*message;
        parts(message).and_then(|(buffer, place)| get(buffer, &place, message.context, Some(flags)))
    };

    write(bytes: *const u8, length: usize, _desc: Address, peer: u64, at: u64, key: u64, context: Address) =>
        put(&Span::new(bytes, length).into(), &Place { peer, at, key }, context, None);

    writev(list: *const IoVec, _desc: Address, count: usize, peer: u64, at: u64, key: u64, context: Address) =>
        put(&Buffer::new(list, count), &Place { peer, at, key }, context, None);

    writemsg(message: *const FiMsgRma, flags: u64) => if flags & FI_REMOTE_CQ_DATA != 0 {
        Err(-FI_ENOSYS)
    } else {
        let message = &*message;
        parts(message).and_then(|(bytes, place)| put(&bytes, &place, message.context, Some(flags)))
    };

    // No call of MPI that makes a put blocks until the put has ended.
    inject(bytes: *const u8, length: usize, peer: u64, at: u64, key: u64) => {
        let order = Place { peer, at, key }.order(OrderKind::Put);
        operation::inject(order, &Span::new(bytes, length).into(), peer, OpKind::Write)
    };
}
