//! # Elan3lib
//!
//! | module | has the calls |
//! |---|---|
//! | [`context`] | `elan3_init`, `elan3_attach`, and the device's data |
//! | [`space`] | the context's addresses: allocation, `elan3_main2elan`, `elan3_setperm`, the adapter's memory |
//! | [`event`] | events, and waits for them |
//! | [`dma`] | DMAs |
//!
//! A DMA that writes is an Elanlib put, with a put's costs: the put carries the event that it sets
//! in the other process. A DMA that reads is a get. The library in the event's process, not an
//! adapter, carries out an event's actions (a word, a block, a DMA): words and blocks are written
//! when the process is notified of the event; a DMA begins in the process's next call that waits or
//! looks. Queued DMAs and broadcasts are not offered: Elanlib has queues and `elan_hbcast`.

mod context;
mod dma;
mod event;
mod space;

pub use dma::go_on;
use std::ffi::{c_int, c_uint, c_void};

/// `ELAN3_CTX`.
#[repr(C)]
pub struct Elan3Context {
    sdram: *mut c_void,
    page_size: c_int,
    rail: c_int,
    vp: c_uint,
    reserved: [*mut c_void; 4],
}

/// Elan3lib's event numbers have this bit when puts carry them; Elanlib's are addresses in the
/// process.
const OURS: u64 = 1 << 63;

/// Receives the numbers that puts and ended operations bring.
pub fn hear(notice: u64) {
    if notice & OURS != 0 {
        event::set(notice as u32);
    } else {
        super::destination::set(notice as usize);
    }
}
