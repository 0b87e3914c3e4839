//! Access to other ranks' memory: the functions in `fi_rma.h` become puts and gets. A write ends
//! when its bytes are in the other rank's memory. There are no writes with completion data for the
//! other side. The functions in `fi_atomic.h` are in [`atomics`].

#![allow(unsafe_code)] // the interface is one of C pointers

pub mod atomics;

use crate::abi::entries::{FiMsgRma, FiRmaIov, IoVec};
use crate::abi::objects::{FiOpsRma, FidEp};
use crate::abi::{
    FI_EINVAL, FI_ENOSYS, FI_READ, FI_REMOTE_CQ_DATA, FI_RMA, FI_WRITE, Pointer, UNUSED,
};
use crate::operation::{self, call, functions, order_bytes};
use link::Order;
use rank::memory::{Buffer, Span};
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

/// Another rank's memory.
struct Place {
    peer: u64,
    at: u64,
    key: u64,
}

impl Place {
    /// The place in its rank's memory.
    fn of(&self, rank: u32) -> link::RemoteMemory {
        link::RemoteMemory {
            rank,
            key: self.key,
            offset: self.at,
        }
    }

    /// The order that puts bytes there.
    fn put(&self, rank: u32) -> Order {
        Order::Put {
            to: self.of(rank),
            notice: 0,
        }
    }
}

fn put(bytes: &Buffer, place: &Place, context: Pointer, flags: Option<u64>) -> Result<(), c_int> {
    let order = |rank| place.put(rank);
    order_bytes(order, bytes, place.peer, context, FI_RMA | FI_WRITE, flags)
}

fn get(buffer: Buffer, place: &Place, context: Pointer, flags: Option<u64>) -> Result<(), c_int> {
    let mut call = call(place.peer)?;
    let size = buffer.length() as u64;
    let from = place.of(call.rank()?);
    let id = call.begin(context, buffer, FI_RMA | FI_READ, flags);
    call.say(id, Order::Get { from, size });
    Ok(())
}

/// A message's buffer, and its one place.
///
/// # Safety
/// The message must name as many pieces and places as its counts.
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
    read(
        buffer: *mut u8,
        length: usize,
        _desc: Pointer,
        peer: u64,
        at: u64,
        key: u64,
        context: Pointer
    ) =>
        get(Span::new(buffer, length).into(), &Place { peer, at, key }, context, None);

    readv(
        list: *const IoVec,
        _desc: Pointer,
        count: usize,
        peer: u64,
        at: u64,
        key: u64,
        context: Pointer
    ) =>
        get(Buffer::new(list, count), &Place { peer, at, key }, context, None);

    readmsg(message: *const FiMsgRma, flags: u64) => {
        let message = &*message;
        parts(message).and_then(|(buffer, place)| get(buffer, &place, message.context, Some(flags)))
    };

    write(
        bytes: *const u8,
        length: usize,
        _desc: Pointer,
        peer: u64,
        at: u64,
        key: u64,
        context: Pointer
    ) =>
        put(&Span::new(bytes, length).into(), &Place { peer, at, key }, context, None);

    writev(
        list: *const IoVec,
        _desc: Pointer,
        count: usize,
        peer: u64,
        at: u64,
        key: u64,
        context: Pointer
    ) =>
        put(&Buffer::new(list, count), &Place { peer, at, key }, context, None);

    writemsg(message: *const FiMsgRma, flags: u64) => if flags & FI_REMOTE_CQ_DATA != 0 {
        Err(-FI_ENOSYS)
    } else {
        let message = &*message;
        parts(message).and_then(|(bytes, place)| put(&bytes, &place, message.context, Some(flags)))
    };

    // No MPI call that makes a put blocks until the put has ended.
    inject(bytes: *const u8, length: usize, peer: u64, at: u64, key: u64) => {
        let place = Place { peer, at, key };
        operation::inject(|rank| place.put(rank), &Span::new(bytes, length).into(), peer, FI_WRITE)
    };
}
