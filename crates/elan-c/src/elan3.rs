//! # Elan3lib
//!
//! | module | has the calls |
//! |---|---|
//! | [`context`] | `elan3_init`, `elan3_attach`, and what the device says |
//! | [`space`] | the addresses of the context: allocation, `elan3_main2elan`, `elan3_setperm`, the adapter's memory |
//! | [`event`] | events, and waits for them |
//! | [`dma`] | DMAs |
//!
//! A DMA that writes is a put of Elanlib, with the costs of one: the put tells the other process which event it sets. A DMA that
//! reads is a get. What an event does when it occurs (a word, a block, a DMA) is done by the library in the event's process, not
//! by an adapter: words and blocks are written when the process is told of the event; a DMA begins in the process's next call
//! that waits or looks. Queued DMAs and broadcasts are not offered: Elanlib has queues and `elan_hbcast`.

mod context;
mod dma;
mod event;
mod space;

pub use dma::go_on;
use std::ffi::{c_int, c_uint, c_void};

/// `ELAN3_CTX`.
#[repr(C)]
pub struct Context {
    sdram: *mut c_void,
    page_size: c_int,
    rail: c_int,
    vp: c_uint,
    reserved: [*mut c_void; 4],
}

/// Numbers of events of Elan3lib have this bit when puts carry them; those of Elanlib are addresses of the process.
const OURS: u64 = 1 << 63;

/// Hears the numbers that puts and ends of operations bring.
pub fn hear(notice: u64) {
    if notice & OURS != 0 {
        event::set(notice as u32);
    } else {
        super::destination::set(notice as usize);
    }
}
