//! Files by which the kernel describes the host. A program that opens one for reading gets a copy
//! in memory that describes the simulated node.
//!
//! The node's processors have the kind of this host's first one. They are in one package, have no
//! further hardware threads, and share one memory.

use super::{RankNode, access, own, streams};
use libc::{FILE, c_char, c_int, c_uint};
use rank::next;
use rank::system::{FIRST, SystemFunction};
use std::ffi::{CStr, c_void};

static OPEN: SystemFunction = SystemFunction::new(c"open", FIRST);
static OPENAT: SystemFunction = SystemFunction::new(c"openat", FIRST);
static FOPEN: SystemFunction = SystemFunction::new(c"fopen", FIRST);

const CPUINFO: &CStr = c"/proc/cpuinfo";
const PROCESSORS: &[u8] = b"/sys/devices/system/cpu/";
const HOSTNAMES: [&[u8]; 2] = [b"/proc/sys/kernel/hostname", b"/etc/hostname"];

/// A host file, read past the functions below; `None` if it cannot be read.
fn host(path: &CStr) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    // SAFETY: system calls on a string and on a buffer of this length.
    unsafe {
        let (folder, flags) = (libc::AT_FDCWD, libc::O_RDONLY | libc::O_CLOEXEC);
        let file = libc::syscall(libc::SYS_openat, folder, path.as_ptr(), flags) as c_int;
        let mut buffer = [0_u8; 1 << 14];
        loop {
            let count = libc::syscall(libc::SYS_read, file, buffer.as_mut_ptr(), buffer.len());
            if count <= 0 {
                libc::syscall(libc::SYS_close, file);
                return (count == 0).then_some(content);
            }
            content.extend_from_slice(&buffer[..count as usize]);
        }
    }
}

/// The description of the node's processors, by a host's.
pub fn cpuinfo(node: &RankNode, host: &str) -> String {
    let first = host.split("\n\n").next().unwrap_or_default();
    let line = |cpu: u32, line: &str| {
        let (key, number) = match line.split_once(':') {
            Some((key, _)) => match key.trim_end() {
                "processor" | "core id" | "apicid" | "initial apicid" => (key, cpu),
                "siblings" | "cpu cores" => (key, node.processors),
                "physical id" => (key, 0),
                _ => return format!("{line}\n"),
            },
            None => return format!("{line}\n"),
        };
        format!("{key}: {number}\n")
    };
    let one = |cpu| first.lines().map(|of| line(cpu, of)).collect::<String>() + "\n";
    (0..node.processors).map(one).collect()
}

/// A file's description of the node; `None` for a file that does not describe it.
pub fn shown(node: &RankNode, path: &[u8]) -> Option<Vec<u8>> {
    if path == CPUINFO.to_bytes() {
        let host = host(CPUINFO)?;
        return Some(cpuinfo(node, &String::from_utf8_lossy(&host)).into_bytes());
    }
    if HOSTNAMES.contains(&path) {
        return Some(format!("{}\n", node.name()).into_bytes());
    }
    let last = node.processors - 1;
    match path.strip_prefix(PROCESSORS)? {
        b"online" | b"possible" | b"present" if last == 0 => Some(b"0\n".into()),
        b"online" | b"possible" | b"present" => Some(format!("0-{last}\n").into_bytes()),
        b"kernel_max" => Some(format!("{last}\n").into_bytes()),
        b"offline" => Some(b"\n".into()),
        _ => None,
    }
}

/// A file in memory in place of a file that a program opens for reading; `None` if the system is to
/// open it.
unsafe fn instead(path: *const c_char, flags: c_int) -> Option<c_int> {
    if path.is_null() || flags & libc::O_ACCMODE != libc::O_RDONLY {
        return None;
    }
    // SAFETY: a string.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    // Nearly all files are others, and the node is not looked up for them.
    if path != CPUINFO.to_bytes() && !HOSTNAMES.contains(&path) && !path.starts_with(PROCESSORS) {
        return None;
    }
    let content = shown(own()?, path)?;
    let close = c_uint::from(flags & libc::O_CLOEXEC != 0) * libc::MFD_CLOEXEC;
    // SAFETY: a new file, and bytes of this length.
    unsafe {
        let file = libc::syscall(libc::SYS_memfd_create, c"elanite".as_ptr(), close) as c_int;
        let (bytes, count) = (content.as_ptr().cast::<c_void>(), content.len());
        let wrote = file >= 0
            && libc::syscall(libc::SYS_write, file, bytes, count) == count.cast_signed() as i64;
        (wrote && libc::lseek(file, 0, libc::SEEK_SET) == 0).then_some(file)
    }
}

// The callers of the functions below keep to the C library's manual pages. The mode is an argument
// only in calls that make a file; a register without an argument is passed on, and ignored.

/// Opens a file as the system does, unless it describes the host.
unsafe fn open_at(folder: Option<c_int>, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller's path, a string of C.
    if let Some(file) = unsafe { instead(path, flags) } {
        return file;
    }
    access::opened(match folder {
        None => next!(OPEN, fn(path => *const c_char, flags => c_int, mode => c_uint) -> c_int, -1),
        Some(folder) => {
            next!(
                OPENAT,
                fn(folder => c_int, path => *const c_char, flags => c_int, mode => c_uint) -> c_int,
                -1
            )
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(None, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(None, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __open_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(None, path, flags, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(None, path, flags, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn openat(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(Some(folder), path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn openat64(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(Some(folder), path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __openat_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(Some(folder), path, flags, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __openat64_2(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's path.
    unsafe { open_at(Some(folder), path, flags, 0) }
}

unsafe fn stream(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's mode, a string of C.
    let reads = unsafe { CStr::from_ptr(mode) }.to_bytes();
    if reads.starts_with(b"r") && !reads.contains(&b'+') {
        let close = (libc::O_CLOEXEC) * c_int::from(reads.contains(&b'e'));
        // SAFETY: the caller's path, a string of C.
        if let Some(file) = unsafe { instead(path, libc::O_RDONLY | close) } {
            // SAFETY: a descriptor of our own, which the stream owns from now on, and the caller's
            // mode.
            return unsafe { libc::fdopen(file, mode) };
        }
    }
    let null = std::ptr::null_mut();
    streams::opened(
        next!(FOPEN, fn(path => *const c_char, mode => *const c_char) -> *mut FILE, null),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's path and mode.
    unsafe { stream(path, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's path and mode.
    unsafe { stream(path, mode) }
}
