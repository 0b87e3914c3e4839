//! Access to the memory of other ranks: the functions of `fi_rma.h` as puts and gets. A write ends when its bytes are in the
//! other rank's memory. Writes with completion data for the other side are not there.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiMsgRma, FiRmaIov, IoVec};
use crate::abi::objects::{FiOpsRma, FidEp};
use crate::abi::{
    Address, FI_EINVAL, FI_ENOSYS, FI_READ, FI_REMOTE_CQ_DATA, FI_RMA, FI_WRITE, UNUSED,
};
use crate::endpoint::{OpKind, answer, call, inject_bytes, order_bytes};
use crate::memory::{Buffer, Span};
use crate::progress::PendingOp;
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
    writedata: UNUSED,
    injectdata: UNUSED,
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

fn order_put(
    bytes: &Buffer,
    place: &Place,
    context: Address,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let (order, kind) = (
        place.order(OrderKind::Put),
        (OpKind::Write, FI_RMA | FI_WRITE),
    );
    order_bytes(order, bytes, place.peer, context, kind, flags)
}

fn order_get(
    buffer: Buffer,
    place: &Place,
    context: Address,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let mut call = call(place.peer)?;
    let size = buffer.length() as u64;
    let binding = call.endpoint().binding(OpKind::Read, flags);
    let id = call.state.engine.begin(PendingOp {
        context,
        buffer,
        flags: FI_RMA | FI_READ,
        binding,
    });
    let order = Order {
        id,
        size,
        peer: call.peer,
        ..place.order(OrderKind::Get)
    };
    call.say(order);
    Ok(())
}

unsafe extern "C" fn read(
    _ep: *mut FidEp,
    buffer: *mut u8,
    length: usize,
    _desc: Address,
    peer: u64,
    at: u64,
    key: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the buffer to be filled.
    let buffer = unsafe { Span::new(buffer, length) };
    let place = Place { peer, at, key };
    answer(order_get(buffer.into(), &place, context, None))
}

unsafe extern "C" fn readv(
    _ep: *mut FidEp,
    list: *const IoVec,
    _desc: Address,
    count: usize,
    peer: u64,
    at: u64,
    key: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the buffers to be filled.
    let buffer = unsafe { Buffer::new(list, count) };
    let place = Place { peer, at, key };
    answer(order_get(buffer, &place, context, None))
}

/// The one place of a message.
///
/// # Safety
/// The message must name as many places as it says.
unsafe fn place(message: &FiMsgRma, length: usize) -> Result<Place, c_int> {
    if message.rma_iov_count != 1 {
        return Err(-FI_EINVAL);
    }
    // SAFETY: the caller's word.
    let FiRmaIov { addr, len, key } = unsafe { *message.rma_iov };
    if len != length {
        return Err(-FI_EINVAL);
    }
    Ok(Place {
        peer: message.addr,
        at: addr,
        key,
    })
}

unsafe extern "C" fn readmsg(_ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    // SAFETY: the message is a structure, and what it names is given to be filled.
    let (message, buffer, place) = unsafe {
        let message = &*message;
        let buffer = Buffer::new(message.msg_iov, message.iov_count);
        let place = place(message, buffer.length());
        (message, buffer, place)
    };
    answer(place.and_then(|place| order_get(buffer, &place, message.context, Some(flags))))
}

unsafe extern "C" fn write(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    _desc: Address,
    peer: u64,
    at: u64,
    key: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) };
    let place = Place { peer, at, key };
    answer(order_put(&bytes.into(), &place, context, None))
}

unsafe extern "C" fn writev(
    _ep: *mut FidEp,
    list: *const IoVec,
    _desc: Address,
    count: usize,
    peer: u64,
    at: u64,
    key: u64,
    context: Address,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Buffer::new(list, count) };
    let place = Place { peer, at, key };
    answer(order_put(&bytes, &place, context, None))
}

unsafe extern "C" fn writemsg(_ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    if flags & FI_REMOTE_CQ_DATA != 0 {
        return -(FI_ENOSYS as isize);
    }
    // SAFETY: the message is a structure, and what it names is given to be read.
    let (message, bytes, place) = unsafe {
        let message = &*message;
        let bytes = Buffer::new(message.msg_iov, message.iov_count);
        let place = place(message, bytes.length());
        (message, bytes, place)
    };
    answer(place.and_then(|place| order_put(&bytes, &place, message.context, Some(flags))))
}

unsafe extern "C" fn inject(
    _ep: *mut FidEp,
    bytes: *const u8,
    length: usize,
    peer: u64,
    at: u64,
    key: u64,
) -> isize {
    // SAFETY: the program gives the bytes to be read.
    let bytes = unsafe { Span::new(bytes, length) }.into();
    let place = Place { peer, at, key };
    // No call of MPI that is a put blocks until its end.
    answer(inject_bytes(
        place.order(OrderKind::Put),
        &bytes,
        peer,
        OpKind::Write,
    ))
}
