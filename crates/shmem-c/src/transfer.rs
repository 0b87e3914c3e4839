//! Put and get.
//!
//! Every transfer crosses the adapters, also one to the caller itself ([`native::put`]). Strided
//! calls move each element by its own operation: a DMA moves one byte range.

use super::contexts::{self, DEFAULT, PendingOperation};
use super::{SMALL, own, product, symmetric};
use derive::call;
use native::{Buffer, Span};
use std::ffi::{c_int, c_void};

/// Begins a put; `None` if there are no bytes to put.
pub fn begin_put(at: *const c_void, from: Span, pe: u32) -> Option<PendingOperation> {
    if from.length == 0 {
        return None;
    }
    let at = symmetric(at, from.length, pe);
    Some(PendingOperation::new(
        native::put(pe, at, &[from.bytes()]),
        pe,
        at,
    ))
}

/// Begins a get; `None` if there are no bytes to get.
pub fn begin_get(into: Span, from: *const c_void, pe: u32) -> Option<PendingOperation> {
    if into.length == 0 {
        return None;
    }
    let from = symmetric(from, into.length, pe);
    let got = native::get(pe, from, Buffer::from(into));
    Some(PendingOperation::new(got, pe, from))
}

/// Puts. The bytes have been read when this returns; a blocking call still waits until a long put
/// has ended, since the adapter reads them only while it sends.
fn put(
    context: usize,
    (to, from): (*mut c_void, *const c_void),
    size: usize,
    pe: c_int,
    blocks: bool,
) {
    let pe = contexts::element(context, pe);
    let Some(put) = begin_put(to, own(from, size), pe) else {
        return;
    };
    if blocks && size > SMALL {
        put.finish();
    } else {
        contexts::add(context, put);
    }
}

fn get(
    context: usize,
    (to, from): (*mut c_void, *const c_void),
    size: usize,
    pe: c_int,
    blocks: bool,
) {
    let pe = contexts::element(context, pe);
    let Some(get) = begin_get(own(to, size), from, pe) else {
        return;
    };
    if blocks {
        get.finish();
    } else {
        contexts::add(context, get);
    }
}

/// An element's place in an array with stride `stride`.
pub fn place(array: *const c_void, index: usize, stride: isize, size: usize) -> *const c_void {
    let distance = index
        .cast_signed()
        .wrapping_mul(stride)
        .wrapping_mul(size.cast_signed());
    array.wrapping_byte_offset(distance)
}

#[call("shmem_put")]
extern "C" fn shmem_putmem(to: *mut c_void, from: *const c_void, size: usize, pe: c_int) {
    put(DEFAULT, (to, from), size, pe, true);
}

#[call("shmem_put_nbi")]
extern "C" fn shmem_putmem_nbi(to: *mut c_void, from: *const c_void, size: usize, pe: c_int) {
    put(DEFAULT, (to, from), size, pe, false);
}

#[call("shmem_put")]
extern "C" fn shmem_ctx_putmem(
    context: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    pe: c_int,
) {
    put(context, (to, from), size, pe, true);
}

#[call("shmem_put_nbi")]
extern "C" fn shmem_ctx_putmem_nbi(
    context: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    pe: c_int,
) {
    put(context, (to, from), size, pe, false);
}

#[call("shmem_get")]
extern "C" fn shmem_getmem(to: *mut c_void, from: *const c_void, size: usize, pe: c_int) {
    get(DEFAULT, (to, from), size, pe, true);
}

#[call("shmem_get_nbi")]
extern "C" fn shmem_getmem_nbi(to: *mut c_void, from: *const c_void, size: usize, pe: c_int) {
    get(DEFAULT, (to, from), size, pe, false);
}

#[call("shmem_get")]
extern "C" fn shmem_ctx_getmem(
    context: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    pe: c_int,
) {
    get(context, (to, from), size, pe, true);
}

#[call("shmem_get_nbi")]
extern "C" fn shmem_ctx_getmem_nbi(
    context: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    pe: c_int,
) {
    get(context, (to, from), size, pe, false);
}

#[call("shmem_iput")]
extern "C" fn elanite_shmem_iput(
    context: usize,
    to: *mut c_void,
    from: *const c_void,
    to_stride: isize,
    from_stride: isize,
    count: usize,
    size: usize,
    pe: c_int,
) {
    if (to_stride, from_stride) == (1, 1) {
        put(context, (to, from), product(count, size), pe, true);
        return;
    }
    for index in 0..count {
        let to = place(to, index, to_stride, size).cast_mut();
        put(
            context,
            (to, place(from, index, from_stride, size)),
            size,
            pe,
            true,
        );
    }
}

#[call("shmem_iget")]
extern "C" fn elanite_shmem_iget(
    context: usize,
    to: *mut c_void,
    from: *const c_void,
    to_stride: isize,
    from_stride: isize,
    count: usize,
    size: usize,
    pe: c_int,
) {
    if (to_stride, from_stride) == (1, 1) {
        get(context, (to, from), product(count, size), pe, true);
        return;
    }
    let pe = contexts::element(context, pe);
    let one = |index| {
        let to = place(to, index, to_stride, size);
        begin_get(own(to, size), place(from, index, from_stride, size), pe)
    };
    let all: Vec<PendingOperation> = (0..count).filter_map(one).collect();
    for get in all {
        get.finish();
    }
}
