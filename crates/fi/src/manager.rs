//! The rank's four requests to the process manager: to enter a barrier, to end all ranks, to get a
//! value (`answers`), and to start more ranks (`spawn`).
//!
//! Ranks exchange their addresses through the process manager, and wait for each other there, in a
//! host barrier. Some ranks may first have work that takes simulated time. So a rank that enters
//! such a barrier waits for the others in the simulation
//! ([`Session::meet`](session::Session::meet)), and finds the barrier open when it continues.
//!
//! An MPI error ends the program without any call that this library sees. The process manager then
//! kills all ranks within a fraction of a millisecond, often before the failed rank has exited and
//! before its output has been passed on. So this module records the request to end all ranks when
//! the rank writes it.

#![allow(unsafe_code)] // C functions

mod answers;
mod fence;
mod spawn;

use clock::sockets::SocketUse;
use libc::{c_int, c_void, size_t, ssize_t};
use link::{Departure, World};
use rank::session;
use rank::system::{FIRST, SystemFunction};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The descriptor on which the process manager listens, or -1.
static MANAGER: AtomicI32 = AtomicI32::new(-1);

/// How a request to end all ranks begins, in the protocol of MPICH's process managers. In this
/// protocol's second version the request's length stands before it, in this many bytes.
const ABORT: &[u8] = b"cmd=abort";
const LENGTH: usize = 6;

/// How requests to enter a barrier begin, in both versions; and the bytes before the name of a
/// barrier's tag or group.
const BARRIERS: [&[u8]; 2] = [b"cmd=barrier_in", b"cmd=kvs-fence"];
const GROUP: &[u8] = b"group=";

/// The longest request, without its group.
const REQUEST: usize = 1 << 16;

static WRITE: SystemFunction = SystemFunction::new(c"write", FIRST);

static READ: SystemFunction = SystemFunction::new(c"read", FIRST);

/// Whether the process has written to the process manager.
static SPOKEN: AtomicBool = AtomicBool::new(false);

/// This process was started as a rank.
pub fn started() {
    let file = std::env::var("PMI_FD").ok();
    let file = file.and_then(|file| file.parse().ok()).unwrap_or(-1);
    MANAGER.store(file, Ordering::Relaxed);
}

/// This process has become a rank.
pub fn attached() {
    started();
    // A signal handler may write and read, and must not look for the system's functions then.
    WRITE.get();
    READ.get();
}

/// The process manager's barrier that a request enters: its name, and how many ranks in a world
/// meet there.
fn barrier(request: &[u8], world: World) -> Option<(u64, u32)> {
    let start = request.iter().position(|&byte| byte == b'c')?;
    let request = &request[start.min(LENGTH)..];
    BARRIERS.iter().find(|start| request.starts_with(start))?;
    let mut words = request.split(|byte| b" ;\n".contains(byte));
    let group = words.find_map(|word| word.strip_prefix(GROUP));
    let group = group.unwrap_or_default();
    // FNV-1a: equal for equal groups, in all processes.
    let name = group
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
    // A rank list, with a tag behind it; without a list, the group has all ranks.
    let list = group.split(|&byte| byte == b':').next().unwrap_or_default();
    let listed = list.first().is_some_and(u8::is_ascii_digit);
    let count = list.split(|&byte| byte == b',').count() as u32;
    let name = name ^ u64::from(world.first);
    Some((name, if listed { count } else { world.size }))
}

/// The process writes to the process manager for the first time: it has an MPI library, which will
/// attach or not.
#[cold]
fn speaks() {
    if session::shown().is_none()
        && let Some((_, starter)) = node::starter()
    {
        starter.manages();
    }
}

/// Writes by the system's function.
///
/// # Safety
/// As `write`.
unsafe fn pass_on(file: c_int, data: *const c_void, count: size_t) -> ssize_t {
    match WRITE.get() {
        Some(next) => {
            type Write = unsafe extern "C-unwind" fn(c_int, *const c_void, size_t) -> ssize_t;
            // SAFETY: it is the function of this name.
            let next = unsafe { std::mem::transmute::<*const c_void, Write>(next) };
            // SAFETY: as the caller's own.
            unsafe { next(file, data, count) }
        }
        // SAFETY: the kernel checks the address.
        None => (unsafe { libc::syscall(libc::SYS_write, file, data, count) }) as ssize_t,
    }
}

/// Passes everything on, and records a request to the process manager to end all ranks. A rank that
/// enters a barrier waits until all others have entered it.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn write(file: c_int, data: *const c_void, count: size_t) -> ssize_t {
    let mut meeting = None;
    let to_manager = file >= 0 && file == MANAGER.load(Ordering::Relaxed);
    if to_manager && !SPOKEN.swap(true, Ordering::Relaxed) {
        speaks();
    }
    if to_manager && !data.is_null() && count <= REQUEST {
        // SAFETY: the caller wants as many bytes written.
        let request = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), count) };
        if answers::answers(request) {
            return count.cast_signed();
        }
        if BARRIERS.iter().any(|start| request.starts_with(start)) {
            answers::enters_barrier();
        }
        if let Some(places) = spawn::places(request) {
            // SAFETY: a line of bytes. If it is not written, the process manager has no places, and
            // refuses.
            unsafe { pass_on(file, places.as_ptr().cast(), places.len()) };
        }
    }
    if to_manager
        && !data.is_null()
        && let Some(session) = session::get()
    {
        // SAFETY: the caller wants as many bytes written, and more.
        let start = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), count.min(REQUEST)) };
        meeting = barrier(start, session.world()).map(|barrier| (session, barrier));
        let second = start.get(LENGTH..).unwrap_or_default();
        if start.starts_with(ABORT) || second.starts_with(ABORT) {
            session.leaves(Departure::Error);
        }
    }
    let written = clock::sockets::sends(file, 0, count, || {
        node::moves(node::AccessMode::Write, file, || {
            // SAFETY: as the caller's own.
            unsafe { pass_on(file, data, count) }
        })
    });
    if let Some((session, (which, ranks))) = meeting
        && written.cast_unsigned() == count
    {
        session.meet(which, ranks);
    }
    written
}

/// Reads a reply: the process manager's, or one from the key-value space's file. A timer's file is
/// read when the timer has rung.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn read(file: c_int, data: *mut c_void, count: size_t) -> ssize_t {
    if file >= 0
        && file == MANAGER.load(Ordering::Relaxed)
        && !data.is_null()
        && let Some(reply) = answers::take(count)
    {
        // SAFETY: the caller has room for `count` bytes, and the reply is no longer.
        unsafe {
            std::ptr::copy_nonoverlapping(reply.as_ptr(), data.cast::<u8>(), reply.len());
        }
        return reply.len().cast_signed();
    }
    if clock::timers::wait_to_read(file) {
        return clock::interrupted() as ssize_t;
    }
    if clock::sockets::fails(file, SocketUse::Receive, 0) {
        return -1;
    }
    node::moves(node::AccessMode::Read, file, || match READ.get() {
        Some(next) => {
            type Read = unsafe extern "C-unwind" fn(c_int, *mut c_void, size_t) -> ssize_t;
            // SAFETY: it is the function of this name.
            let next = unsafe { std::mem::transmute::<*const c_void, Read>(next) };
            // SAFETY: as the caller's own.
            unsafe { next(file, data, count) }
        }
        // SAFETY: the kernel checks the address.
        None => (unsafe { libc::syscall(libc::SYS_read, file, data, count) }) as ssize_t,
    })
}
