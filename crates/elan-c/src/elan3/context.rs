//! Contexts, and the device's data.
//!
//! A process has one context, however often it asks. It is attached, and all processes in the run
//! have their numbers, before the program begins: the calls that did this only report success.

use super::super::layout::ElanCapability;
use super::super::{complain, places};
use super::{Elan3Context, event, hear, space};
use derive::call;
use native::operations;
use std::ffi::{c_int, c_uchar, c_uint, c_ushort};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// `ELAN_DEVINFO`.
#[repr(C)]
pub struct DeviceInfo {
    vendor: c_ushort,
    device: c_ushort,
    revision: c_uchar,
    instance: c_uchar,
    rail: c_uchar,
}

/// `ELAN_POSITION`.
#[repr(C)]
pub struct Position {
    mode: c_uint,
    node: c_uint,
    levels: c_uint,
    nodes: c_uint,
}

/// `ELAN_POS_MODE_SWITCHED`.
const SWITCHED: c_uint = 1;

/// The adapter's vendor and device numbers on its bus: Quadrics and Elan3.
const VENDOR: c_ushort = 0x14fc;
const DEVICE: c_ushort = 0;

static CONTEXT: AtomicPtr<Elan3Context> = AtomicPtr::new(ptr::null_mut());

/// This process's context; its heaps are mapped when it is first made.
fn context(call: &str, main: (u32, u32), adapter: (u32, u32)) -> *mut Elan3Context {
    let made = CONTEXT.load(Ordering::Acquire);
    if !made.is_null() {
        return made;
    }
    native::memory::offer_all();
    native::memory::serve_elan3(space::reach);
    operations::listen(hear);
    if let Err(why) = space::open(main, adapter) {
        complain(call, &why);
        return ptr::null_mut();
    }
    let context = Box::leak(Box::new(Elan3Context {
        sdram: ptr::null_mut(),
        page_size: 8192,
        rail: 0,
        vp: native::rank(),
        reserved: [ptr::null_mut(); 4],
    }));
    context.sdram = ptr::from_mut(context).cast();
    event::begin();
    CONTEXT.store(context, Ordering::Release);
    context
}

/// Something that a program can ask for, and that a simulation does not have.
fn refuse(call: &str, why: &str) -> c_int {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        complain(call, why);
    }
    -1
}

// The callers of the functions below keep to the headers.

#[call]
extern "C" fn elan3_init(
    _device: c_int,
    main: u32,
    main_size: c_uint,
    elan: u32,
    elan_size: c_uint,
) -> *mut Elan3Context {
    context("elan3_init", (main, main_size), (elan, elan_size))
}

#[unsafe(no_mangle)]
extern "C" fn elan3_fini(_ctx: *mut Elan3Context) {}

/// A device context, for `elan3_create`: the same one.
#[call]
extern "C" fn elan3_control_open(_device: c_int) -> *mut Elan3Context {
    let made = CONTEXT.load(Ordering::Acquire);
    if made.is_null() {
        refuse(
            "elan3_control_open",
            "call elan3_init first, which says where the heaps are",
        );
    }
    made
}

#[unsafe(no_mangle)]
extern "C" fn elan3_control_close(_ctx: *mut Elan3Context) {}

#[unsafe(no_mangle)]
extern "C" fn elan3_create(_ctx: *mut Elan3Context, _cap: *mut ElanCapability) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn elan3_attach(_ctx: *mut Elan3Context, _cap: *mut ElanCapability) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn elan3_detach(_ctx: *mut Elan3Context) -> c_int {
    0
}

/// The run's processes have their numbers from 0 on.
#[unsafe(no_mangle)]
extern "C" fn elan3_addvp(
    _ctx: *mut Elan3Context,
    first: c_uint,
    _cap: *mut ElanCapability,
) -> c_int {
    if first == 0 {
        return 0;
    }
    refuse(
        "elan3_addvp",
        "the processes of a run have the numbers from 0 on",
    )
}

#[unsafe(no_mangle)]
extern "C" fn elan3_addbcastvp(
    _ctx: *mut Elan3Context,
    _vp: c_uint,
    _low: c_uint,
    _high: c_uint,
) -> c_int {
    refuse(
        "elan3_addbcastvp",
        "broadcasts are calls of groups: use elan_hbcast and elan_hgsync of Elanlib",
    )
}

#[unsafe(no_mangle)]
extern "C" fn elan3_allocatebcastvp(_ctx: *mut Elan3Context) -> c_uint {
    refuse(
        "elan3_allocatebcastvp",
        "broadcasts are calls of groups: use elan_hbcast and elan_hgsync of Elanlib",
    )
    .cast_unsigned()
}

#[unsafe(no_mangle)]
extern "C" fn elan3_process(_ctx: *mut Elan3Context) -> c_int {
    native::rank() as c_int
}

/// Processes that are not ready are never reached: see `elan_enable_network`.
#[unsafe(no_mangle)]
extern "C" fn elan3_block_inputter(_ctx: *mut Elan3Context, _blocked: c_int) -> c_int {
    0
}

/// The heaps are mapped; other memory in a 64-bit process is mapped by `elan3_setperm`.
#[unsafe(no_mangle)]
extern "C" fn elan3_set_standard_mappings(_ctx: *mut Elan3Context) -> c_int {
    0
}

/// See [`elan3_set_standard_mappings`].
#[unsafe(no_mangle)]
extern "C" fn elan3_set_required_mappings(_ctx: *mut Elan3Context) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_devinfo(device: c_int, info: *mut DeviceInfo) -> c_int {
    if device < 0 || device >= places::rails() {
        return -1;
    }
    let about = DeviceInfo {
        vendor: VENDOR,
        device: DEVICE,
        revision: 1,
        instance: device as c_uchar,
        rail: device as c_uchar,
    };
    // SAFETY: the program has a place for the answer.
    unsafe { info.write(about) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_get_devinfo(_ctx: *mut Elan3Context, info: *mut DeviceInfo) -> c_int {
    // SAFETY: the same place of the program.
    unsafe { elan3_devinfo(0, info) }
}

/// The node's place in a radix-4 fat tree that has all the run's nodes.
#[unsafe(no_mangle)]
unsafe extern "C" fn elan3_get_position(_ctx: *mut Elan3Context, position: *mut Position) -> c_int {
    let last = (0..native::ranks()).map(native::node_of).max();
    let mut levels = 1;
    while 4_u32.saturating_pow(levels) <= last.unwrap_or(0) {
        levels += 1;
    }
    let here = Position {
        mode: SWITCHED,
        node: native::node_of(native::rank()),
        levels,
        nodes: 4_u32.saturating_pow(levels),
    };
    // SAFETY: the program has a place for the answer.
    unsafe { position.write(here) };
    0
}
