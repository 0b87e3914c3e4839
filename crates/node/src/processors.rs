//! Processors: their count, and the mask of those on which a thread may run.
//!
//! A node's processors have the numbers from 0 on. A thread may run on all of them until the
//! program sets a mask, which must name at least one. Other processes' masks are the system's.

use super::{RankNode, own};
use libc::{c_int, c_long, c_uint, pid_t, pthread_attr_t, pthread_t, size_t};
use rank::next;
use rank::system::{FIRST, SystemFunction};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// The version of the functions that have the mask's size as an argument.
const SIZED: &CStr = if cfg!(target_arch = "x86_64") {
    c"GLIBC_2.3.4"
} else {
    FIRST
};

/// The first version of the functions for threads, which belonged to their own library at first.
const OF_THREADS: &CStr = if cfg!(target_arch = "x86_64") {
    c"GLIBC_2.32"
} else {
    FIRST
};

static SYSCONF: SystemFunction = SystemFunction::new(c"sysconf", FIRST);
static GET: SystemFunction = SystemFunction::new(c"sched_getaffinity", SIZED);
static SET: SystemFunction = SystemFunction::new(c"sched_setaffinity", SIZED);
static GET_THREAD: SystemFunction = SystemFunction::new(c"pthread_getaffinity_np", OF_THREADS);
static SET_THREAD: SystemFunction = SystemFunction::new(c"pthread_setaffinity_np", SIZED);
static SET_ATTRIBUTE: SystemFunction = SystemFunction::new(c"pthread_attr_setaffinity_np", SIZED);
static GET_NPROCS: SystemFunction = SystemFunction::new(c"get_nprocs", FIRST);
static GET_NPROCS_CONF: SystemFunction = SystemFunction::new(c"get_nprocs_conf", FIRST);

/// The bytes of a mask come in words, as the kernel has them.
const WORD: usize = 8;

/// The most processors on a node.
const MOST: usize = 256;

/// A processor mask.
pub type Mask = [u8; MOST / 8];

/// The masks that the program has set, by thread.
static MASKS: Mutex<BTreeMap<pthread_t, Mask>> = Mutex::new(BTreeMap::new());

/// The mask with all a node's processors.
pub fn all(node: &RankNode) -> Mask {
    std::array::from_fn(|byte| {
        let bits = (node.processors as usize).saturating_sub(8 * byte).min(8);
        ((1_u32 << bits) - 1) as u8
    })
}

/// The part of a mask that names a node's processors; `None` if it is empty.
pub fn within(node: &RankNode, mask: &[u8]) -> Option<Mask> {
    let all = all(node);
    let part: Mask = std::array::from_fn(|byte| all[byte] & mask.get(byte).copied().unwrap_or(0));
    part.iter().any(|&byte| byte != 0).then_some(part)
}

/// The mask's bytes in the kernel's words.
pub fn length(node: &RankNode) -> usize {
    (node.processors as usize)
        .div_ceil(8)
        .next_multiple_of(WORD)
}

fn own_thread() -> pthread_t {
    // SAFETY: it asks only.
    unsafe { libc::pthread_self() }
}

/// The thread in this process that a kernel number names, if it is the calling one.
fn is_own(pid: pid_t) -> bool {
    // SAFETY: they ask only.
    unsafe { [0, libc::getpid(), libc::syscall(libc::SYS_gettid) as pid_t].contains(&pid) }
}

fn mask_of(node: &RankNode, thread: pthread_t) -> Mask {
    let masks = MASKS.lock().unwrap_or_else(PoisonError::into_inner);
    masks.get(&thread).copied().unwrap_or_else(|| all(node))
}

/// Writes a thread's mask, with zeros behind it; the error number.
unsafe fn read(node: &RankNode, thread: pthread_t, size: usize, mask: *mut u8) -> c_int {
    if size < length(node) || !size.is_multiple_of(WORD) {
        return libc::EINVAL;
    }
    // SAFETY: the caller has room for this many bytes.
    let room = unsafe { std::slice::from_raw_parts_mut(mask, size) };
    room.fill(0);
    for (to, from) in room.iter_mut().zip(mask_of(node, thread)) {
        *to = from;
    }
    0
}

/// Keeps a thread's mask; the error number.
unsafe fn keep(node: &RankNode, thread: pthread_t, size: usize, mask: *const u8) -> c_int {
    // SAFETY: the caller has this many bytes.
    let Some(part) = within(node, unsafe { std::slice::from_raw_parts(mask, size) }) else {
        return libc::EINVAL;
    };
    let mut masks = MASKS.lock().unwrap_or_else(PoisonError::into_inner);
    masks.insert(thread, part);
    0
}

/// The result for a function that sets the error number.
fn result(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    // SAFETY: the place of this thread's error number.
    unsafe { *libc::__errno_location() = error };
    -1
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sysconf(name: c_int) -> c_long {
    if [libc::_SC_NPROCESSORS_CONF, libc::_SC_NPROCESSORS_ONLN].contains(&name)
        && let Some(node) = own()
    {
        return node.processors.into();
    }
    next!(SYSCONF, fn(name => c_int) -> c_long, -1)
}

#[unsafe(no_mangle)]
extern "C-unwind" fn get_nprocs() -> c_int {
    match own() {
        Some(node) => node.processors.cast_signed(),
        None => next!(GET_NPROCS, fn() -> c_int, 1),
    }
}

#[unsafe(no_mangle)]
extern "C-unwind" fn get_nprocs_conf() -> c_int {
    match own() {
        Some(node) => node.processors.cast_signed(),
        None => next!(GET_NPROCS_CONF, fn() -> c_int, 1),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sched_getaffinity(pid: pid_t, size: size_t, mask: *mut u8) -> c_int {
    match own() {
        // SAFETY: the caller's mask has this many bytes.
        Some(node) if is_own(pid) => result(unsafe { read(node, own_thread(), size, mask) }),
        _ => next!(GET, fn(pid => pid_t, size => size_t, mask => *mut u8) -> c_int, -1),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sched_setaffinity(pid: pid_t, size: size_t, mask: *const u8) -> c_int {
    match own() {
        // SAFETY: the caller's mask has this many bytes.
        Some(node) if is_own(pid) => result(unsafe { keep(node, own_thread(), size, mask) }),
        _ => next!(SET, fn(pid => pid_t, size => size_t, mask => *const u8) -> c_int, -1),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_getaffinity_np(
    thread: pthread_t,
    size: size_t,
    mask: *mut u8,
) -> c_int {
    match own() {
        // SAFETY: the caller's mask has this many bytes.
        Some(node) => unsafe { read(node, thread, size, mask) },
        None => next!(GET_THREAD, fn(thread => pthread_t, size => size_t, mask => *mut u8)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_setaffinity_np(
    thread: pthread_t,
    size: size_t,
    mask: *const u8,
) -> c_int {
    match own() {
        // SAFETY: the caller's mask has this many bytes.
        Some(node) => unsafe { keep(node, thread, size, mask) },
        None => next!(SET_THREAD, fn(thread => pthread_t, size => size_t, mask => *const u8)),
    }
}

/// A thread that begins with a mask: the system must not look for these processors.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_attr_setaffinity_np(
    attributes: *mut pthread_attr_t,
    size: size_t,
    mask: *const u8,
) -> c_int {
    match own() {
        Some(_) if mask.is_null() || size == 0 => 0,
        // SAFETY: the caller has this many bytes.
        Some(node) => match within(node, unsafe { std::slice::from_raw_parts(mask, size) }) {
            Some(_) => 0,
            None => libc::EINVAL,
        },
        None => {
            next!(
                SET_ATTRIBUTE,
                fn(attributes => *mut pthread_attr_t, size => size_t, mask => *const u8)
            )
        }
    }
}

/// The calling thread's processor: the one in its mask for the rank's place on the node.
fn current(node: &RankNode) -> u32 {
    let mask = mask_of(node, own_thread());
    let may = |cpu: &u32| mask[*cpu as usize / 8] >> (cpu % 8) & 1 == 1;
    let own: Vec<u32> = (0..node.processors).filter(may).collect();
    own[node.place as usize % own.len()]
}

#[unsafe(no_mangle)]
extern "C" fn sched_getcpu() -> c_int {
    if let Some(node) = own() {
        return current(node).cast_signed();
    }
    let mut cpu: c_uint = 0;
    // SAFETY: a place for the number.
    match unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, 0, 0) } {
        0 => cpu.cast_signed(),
        _ => -1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getcpu(cpu: *mut c_uint, memory: *mut c_uint) -> c_int {
    let Some(node) = own() else {
        // SAFETY: the kernel checks the addresses.
        return unsafe { libc::syscall(libc::SYS_getcpu, cpu, memory, 0) } as c_int;
    };
    if !cpu.is_null() {
        // SAFETY: not null, so the caller's place for a number.
        unsafe { cpu.write(current(node)) };
    }
    if !memory.is_null() {
        // SAFETY: not null, so the caller's place for a number.
        unsafe { memory.write(0) };
    }
    0
}
