//! Start and end, time, versions, and the program's functions that the library calls while it
//! waits.
//!
//! A process is attached by its first call of the library. Its job has all the run's ranks, and its
//! number is its rank.

use super::environment::{self as env, is_off, number};
use super::layout::{BASE, ElanBase, ElanCapability, ElanRail, ElanState, HARDWARE};
use super::{group, hold, memory, places};
use derive::call;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The interface version.
pub const VERSION: &CStr = c"1.8.0";

/// The global variable of the headers. A program that also defines it sees its own.
#[unsafe(no_mangle)]
static elan_base: AtomicPtr<ElanBase> = AtomicPtr::new(ptr::null_mut());

/// Keeps a value until the process ends.
fn keep<T>(value: T) -> *mut T {
    Box::leak(Box::new(value))
}

fn new_state() -> ElanState {
    let (rank, ranks) = (native::rank(), native::ranks());
    let own = native::node_of(rank);
    let local: Vec<c_int> = places::on_node(own).map(|vp| vp as c_int).collect();
    let place = local.iter().position(|&vp| vp == rank as c_int);
    let capability: *mut ElanCapability = keep(places::capability());
    let rails: Vec<*mut ElanRail> = (0..places::rails())
        .map(|index| {
            keep(ElanRail {
                index,
                context: ptr::null_mut(),
            })
        })
        .collect();
    let [main, adapter] = memory::own_ranges();
    ElanState {
        version: VERSION.as_ptr().cast_mut(),
        attached: 1,
        vp: rank,
        nvp: ranks,
        ctx: keep(0_u64).cast(),
        estate: keep(0_u64).cast(),
        cap: capability,
        alloc_base: ptr::with_exposed_provenance_mut(main.0),
        alloc_size: main.1,
        alloc_elan_base: ptr::with_exposed_provenance_mut(adapter.0),
        alloc_elan_size: adapter.1,
        debug_flags: 0,
        local_id: place.unwrap_or(0) as c_int,
        max_local_ids: places::most_local() as c_int,
        local_count: local.len() as c_int,
        local_ids: Box::leak(local.into_boxed_slice()).as_mut_ptr(),
        nrails: rails.len() as c_int,
        rail: Box::leak(rails.into_boxed_slice()).as_mut_ptr(),
    }
}

fn new_base() -> ElanBase {
    let state = keep(new_state());
    let hardware = !is_off("LIBELAN_GROUP_HWBCAST");
    let members: Vec<u32> = (0..native::ranks()).collect();
    ElanBase {
        init: 1,
        state,
        all_group: group::make(&members),
        galloc: keep(0_u64).cast(),
        // SAFETY: it was made above.
        capabilities: unsafe { (*state).cap },
        dma_type: 0,
        retry_count: number("LIBELAN_RETRYCOUNT").unwrap_or(63),
        wait_type: env::wait_type(),
        flags: 0,
        group_flags: if hardware { HARDWARE } else { 0 },
        group_branch: number("LIBELAN_GROUP_BRANCHRATIO").unwrap_or(4),
        group_rbufsize: number("LIBELAN_GROUP_RBUFSIZE").unwrap_or(2048),
        group_cbufsize: 2048,
        group_maxsegs: 1,
        group_hwbcast: c_int::from(hardware),
        tport_nslots: number("LIBELAN_TPORT_NSLOTS").unwrap_or(env::NSLOTS),
        tport_flags: 0,
        tport_nqxd: 0,
        tport_smallmsg: number("LIBELAN_TPORT_SMALLMSG").unwrap_or(env::SMALL_MESSAGE),
        tport_bigmsg: number("LIBELAN_TPORT_BIGMSG").unwrap_or(env::BIG_MESSAGE),
        tport_stripemsg: number("LIBELAN_TPORT_STRIPEMSG").unwrap_or(env::STRIPE),
        tport_fragsize: env::STRIPE,
        putget_flags: 0,
        putget_smallputsize: number("LIBELAN_PUTGET_SMALLPUTSIZE").unwrap_or(64),
        putget_stripeputsize: env::STRIPE,
        putget_stripegetsize: env::STRIPE,
        putget_throttle: number("LIBELAN_PUTGET_THROTTLE").unwrap_or(32),
        mqueue_flags: 0,
        mqueue_slotsize: places::longest_slot(),
        mqueue_nslots: env::NSLOTS,
        lock_flags: 0,
        galloc_flags: 0,
        galloc_size: number("LIBELAN_GALLOC_SIZE").unwrap_or(env::GALLOC),
        galloc_elan_size: number("LIBELAN_GALLOCELAN_SIZE").unwrap_or(env::GALLOC_ELAN),
        shm_flags: 0,
        shm_key: number("LIBELAN_SHMKEY").unwrap_or(0),
        shm_fifodepth: number("LIBELAN_SHM_FIFODEPTH").unwrap_or(16),
        shm_fragsize: number("LIBELAN_SHM_FRAGSIZE").unwrap_or(4096),
        shm_bigmsg: number("LIBELAN_SHM_BIGMSG").unwrap_or(4096),
    }
}

/// This process's base, which is made at the first request.
pub fn base() -> *mut ElanBase {
    static ONCE: Mutex<()> = Mutex::new(());
    let _once = hold(&ONCE);
    let made = BASE.load(Ordering::Acquire);
    if !made.is_null() {
        return made;
    }
    native::memory::offer_all();
    native::operations::listen(super::elan3::hear);
    let base = keep(new_base());
    BASE.store(base, Ordering::Release);
    elan_base.store(base, Ordering::Release);
    // SAFETY: a name; and the program's variable of this name is a pointer to a base.
    unsafe {
        let theirs = libc::dlsym(libc::RTLD_DEFAULT, c"elan_base".as_ptr());
        if !theirs.is_null() {
            theirs.cast::<*mut ElanBase>().write(base);
        }
    }
    base
}

/// A program function, and its handle.
enum PollFunction {
    /// Gets a place for a word, too, which it may set when something is ready.
    Poll(extern "C" fn(*mut c_void, *mut c_uint) -> c_int, usize),
    Progress(extern "C" fn(*mut c_void) -> c_int, usize),
}

static POLLED: Mutex<Vec<PollFunction>> = Mutex::new(Vec::new());

/// Calls the program's poll functions, unless one of them called the library; returns whether there
/// are any.
pub fn call_poll_functions() -> bool {
    static INSIDE: AtomicBool = AtomicBool::new(false);
    let all = hold(&POLLED).len();
    if all == 0 || INSIDE.swap(true, Ordering::Relaxed) {
        return false;
    }
    for index in 0..all {
        let mut ready = 0;
        let functions = hold(&POLLED);
        let handle = |handle| ptr::with_exposed_provenance_mut::<c_void>(handle);
        match functions[index] {
            PollFunction::Poll(function, given) => {
                drop(functions);
                function(handle(given), &raw mut ready);
            }
            PollFunction::Progress(function, given) => {
                drop(functions);
                function(handle(given));
            }
        }
    }
    INSIDE.store(false, Ordering::Relaxed);
    true
}

// The callers of the functions below keep to the headers.

#[call]
extern "C" fn elan_baseInit(_flags: c_uint) -> *mut ElanBase {
    base()
}

#[call]
extern "C" fn elan_init(_flags: c_uint) -> *mut ElanState {
    // SAFETY: bases live until the process ends.
    unsafe { (*base()).state }
}

/// The process is attached already.
#[call]
extern "C" fn elan_attach(_state: *mut ElanState) -> c_int {
    0
}

/// The network is always enabled: messages to a process that has not made its queue are their
/// senders' errors.
#[call]
extern "C" fn elan_enable_network(_state: *mut ElanState) {}

/// See [`elan_enable_network`].
#[call]
extern "C" fn elan_disable_network(_state: *mut ElanState) {}

/// All members in the group reach the end: no member leaves while others still need its memory.
#[call]
unsafe extern "C" fn elan_fini(
    _state: *mut ElanState,
    group: *mut super::layout::ElanGroup,
    _flags: c_uint,
) {
    if !group.is_null() {
        // SAFETY: not null, so a group of this library, which are never freed.
        unsafe { group::barrier(group, group::CallMethod::Software) };
    }
}

#[unsafe(no_mangle)]
extern "C" fn elan_nRails(_state: *mut ElanState) -> c_int {
    places::rails()
}

#[unsafe(no_mangle)]
extern "C" fn elan_version() -> *mut c_char {
    VERSION.as_ptr().cast_mut()
}

/// Versions with the same first number fit.
#[unsafe(no_mangle)]
unsafe extern "C" fn elan_checkVersion(version: *const c_char) -> c_int {
    if version.is_null() {
        return 0;
    }
    // SAFETY: not null, so a string of C.
    let text = unsafe { CStr::from_ptr(version) }.to_bytes();
    c_int::from(text.starts_with(b"1."))
}

#[unsafe(no_mangle)]
extern "C" fn elan_clock(_state: *mut ElanState) -> u64 {
    native::session();
    clock::reading().unwrap_or(0) / 1000
}

#[unsafe(no_mangle)]
extern "C" fn elan_addPollFn(
    _state: *mut ElanState,
    function: extern "C" fn(*mut c_void, *mut c_uint) -> c_int,
    handle: *mut c_void,
) {
    let function = PollFunction::Poll(function, handle.expose_provenance());
    hold(&POLLED).push(function);
}

#[unsafe(no_mangle)]
extern "C" fn elan_addProgressFn(
    _state: *mut ElanState,
    function: extern "C" fn(*mut c_void) -> c_int,
    handle: *mut c_void,
) {
    let function = PollFunction::Progress(function, handle.expose_provenance());
    hold(&POLLED).push(function);
}

/// Programs call this where they poll, so that the device can complain. The simulated one never
/// does; the call gives time for arrived messages.
#[call]
extern "C" fn elan_deviceCheck(_state: *mut ElanState) {
    native::look();
}

#[unsafe(no_mangle)]
extern "C" fn elan_vpIsLocal(_state: *mut ElanState, vp: c_uint) -> c_int {
    c_int::from(vp < native::ranks() && native::node_of(vp) == native::node_of(native::rank()))
}
