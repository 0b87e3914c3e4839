//! DMAs: descriptors in the adapter's memory become puts and gets.
//!
//! | bits in `dma_type` | |
//! |---|---|
//! | 0, 1 | the unit: all are bytes here |
//! | 2 | the direction: 0 writes to the process `dma_destCookieVProc`, 1 reads from the process `dma_srcCookieVProc` |
//! | 3, 4 | the form: memory, a queue, and the same for a process range |
//! | 8 and up | how often the adapter tries again; the machine file fixes that |
//!
//! The events lie beside the bytes: the source's event where they come from, the destination's
//! where they go.

use super::super::{hold, putget, stop};
use super::Elan3Context;
use super::{OURS, space};
use derive::call;
use link::ELAN3_SPACE;
use native::{RemoteMemory, Span};
use std::ffi::{c_uint, c_ulong};
use std::sync::Mutex;

/// `E3_DMA`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    kind: u32,
    size: u32,
    source: u32,
    dest: u32,
    dest_event: u32,
    dest_process: u32,
    source_event: u32,
    source_process: u32,
}

const READS: u32 = 1 << 2;
const FORM_SHIFT: u32 = 3;
const FORM: u32 = 3;

/// DMAs that events have started and that have not begun: their descriptors, as they were when the
/// events occurred.
static WAITING: Mutex<Vec<Descriptor>> = Mutex::new(Vec::new());

/// The descriptor at a place in the adapter's memory.
fn load(at: c_ulong) -> Descriptor {
    let pointer = std::ptr::with_exposed_provenance::<Descriptor>(at as usize);
    // SAFETY: the program has put a descriptor there.
    unsafe { pointer.read_unaligned() }
}

/// An event starts a DMA, which begins as soon as the process orders anything ([`go_on`]).
pub fn later(descriptor: c_ulong) {
    hold(&WAITING).push(load(descriptor));
}

/// Begins the DMAs that events have started.
pub fn go_on() {
    loop {
        let waiting = std::mem::take(&mut *hold(&WAITING));
        if waiting.is_empty() {
            return;
        }
        waiting.into_iter().for_each(begin);
    }
}

/// An event's number in a put; 0 without an event.
fn notice(event: u32) -> u64 {
    if event == 0 {
        0
    } else {
        OURS | u64::from(event)
    }
}

fn begin(dma: Descriptor) {
    const CALL: &str = "elan3_putdma";
    match dma.kind >> FORM_SHIFT & FORM {
        0 => (),
        1 => stop(
            CALL,
            "a DMA to a queue: use the queues of Elanlib, elan_queueTx",
        ),
        _ => stop(
            CALL,
            "a DMA to a range of processes: use elan_hbcast of Elanlib",
        ),
    }
    let reads = dma.kind & READS != 0;
    let other = if reads {
        dma.source_process
    } else {
        dma.dest_process
    };
    let rank = putget::process(CALL, other);
    let here = |elan: u32| {
        if dma.size == 0 {
            return Span::default();
        }
        let Some(at) = space::own(elan, dma.size) else {
            stop(
                CALL,
                &format!("{} bytes at address {elan:#x} are not mapped", dma.size),
            );
        };
        // SAFETY: the memory is mapped, and the program leaves it to the DMA.
        unsafe { Span::new(std::ptr::with_exposed_provenance(at), dma.size as usize) }
    };
    let place = |at: u32| RemoteMemory {
        rank,
        key: ELAN3_SPACE,
        offset: at.into(),
    };
    if reads {
        let get = native::get_from(place(dma.source), here(dma.dest).into());
        native::notice_end(get, notice(dma.dest_event));
        native::forget(get);
        if dma.source_event != 0 {
            let signal = native::put_and_notice(place(0), &[], notice(dma.source_event));
            native::forget(signal);
        }
    } else {
        let bytes = here(dma.source);
        let put = native::put_and_notice(place(dma.dest), &[bytes.bytes()], notice(dma.dest_event));
        native::notice_end(put, notice(dma.source_event));
        native::forget(put);
    }
}

// The callers of the functions below keep to the headers.

#[call]
extern "C" fn elan3_putdma(_ctx: *mut Elan3Context, descriptor: c_ulong) {
    begin(load(descriptor));
}

#[call]
unsafe extern "C" fn elan3_putdma_main(
    _ctx: *mut Elan3Context,
    descriptor: *const Descriptor,
    _place: c_ulong,
) {
    // SAFETY: the program has a descriptor there, aligned or not.
    begin(unsafe { descriptor.read_unaligned() });
}

/// The direction stands in the descriptor, or in the call's name.
#[call]
extern "C" fn elan3_getdma(_ctx: *mut Elan3Context, descriptor: c_ulong) {
    let dma = load(descriptor);
    begin(Descriptor {
        kind: dma.kind | READS,
        ..dma
    });
}

#[call]
unsafe extern "C" fn elan3_getdma_main(
    _ctx: *mut Elan3Context,
    descriptor: *const Descriptor,
    _place: c_ulong,
) {
    // SAFETY: the program has a descriptor there, aligned or not.
    let dma = unsafe { descriptor.read_unaligned() };
    begin(Descriptor {
        kind: dma.kind | READS,
        ..dma
    });
}

/// Programs put cookies into fields that name a process.
#[unsafe(no_mangle)]
extern "C" fn elan3_local_cookie(_ctx: *mut Elan3Context, from: c_uint, _to: c_uint) -> u32 {
    from
}

#[unsafe(no_mangle)]
extern "C" fn elan3_remote_cookie(_ctx: *mut Elan3Context, _from: c_uint, to: c_uint) -> u32 {
    to
}
