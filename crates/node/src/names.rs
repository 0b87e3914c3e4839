//! Host names. Each node has its own name and number (`gethostid`), and all have this host's
//! address.

use super::own;
use libc::{addrinfo, c_char, c_int, c_long, hostent, size_t, utsname};
use rank::next;
use rank::system::{FIRST, SystemFunction};
use std::ffi::CStr;

static GETHOSTNAME: SystemFunction = SystemFunction::new(c"gethostname", FIRST);
static GETHOSTID: SystemFunction = SystemFunction::new(c"gethostid", FIRST);
static GETADDRINFO: SystemFunction = SystemFunction::new(c"getaddrinfo", FIRST);
static GETHOSTBYNAME: SystemFunction = SystemFunction::new(c"gethostbyname", FIRST);
static GETHOSTBYNAME2: SystemFunction = SystemFunction::new(c"gethostbyname2", FIRST);
static GETHOSTBYNAME_R: SystemFunction = SystemFunction::new(c"gethostbyname_r", FIRST);

/// Writes a name and a zero byte; returns whether there is room for both.
///
/// # Safety
/// There must be `room` bytes.
unsafe fn write(name: &str, to: *mut c_char, room: usize) -> bool {
    let count = name.len().min(room);
    // SAFETY: there is room for as many bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(name.as_ptr(), to.cast(), count);
        if count < room {
            to.add(count).write(0);
        }
    }
    count < room
}

/// The name by which the system finds a host's address: the machine's nodes have this host's.
///
/// # Safety
/// The name must be null or a string.
unsafe fn known(name: *const c_char) -> *const c_char {
    // SAFETY: a string.
    if !name.is_null()
        && let Some(node) = own()
        // SAFETY: not null, so a string of C.
        && node.is_of_machine(unsafe { CStr::from_ptr(name) }.to_bytes())
    {
        return c"localhost".as_ptr();
    }
    name
}

/// Names a found host as the program has: the system has looked for another name ([`known`]), and
/// has written that, which is as long as any node's but for machines of 100,000 nodes.
///
/// # Safety
/// The name must be null or a string, `found` null or a string that may be changed.
unsafe fn name_as_asked(name: *const c_char, found: *mut c_char) {
    // SAFETY: strings of C; the shorter one fits into the other's place.
    unsafe {
        if known(name) != name && !found.is_null() {
            let name = CStr::from_ptr(name).to_bytes_with_nul();
            if name.len() <= CStr::from_ptr(found).count_bytes() + 1 {
                std::ptr::copy_nonoverlapping(name.as_ptr(), found.cast(), name.len());
            }
        }
    }
}

/// The same for a host; returns it.
///
/// # Safety
/// The name must be null or a string, the host null or one that the system has written.
unsafe fn host_as_asked(name: *const c_char, host: *mut hostent) -> *mut hostent {
    // SAFETY: as the caller's.
    unsafe {
        if let Some(host) = host.as_ref() {
            name_as_asked(name, host.h_name);
        }
    }
    host
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostname(name: *mut c_char, room: size_t) -> c_int {
    let Some(node) = own() else {
        return next!(GETHOSTNAME, fn(name => *mut c_char, room => size_t) -> c_int, -1);
    };
    // SAFETY: the caller has room for this many characters.
    if unsafe { write(&node.name(), name, room) } {
        return 0;
    }
    // SAFETY: the place of this thread's error number.
    unsafe { *libc::__errno_location() = libc::ENAMETOOLONG };
    -1
}

/// The same in fortified programs, which say for how many characters there is room.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __gethostname_chk(
    name: *mut c_char,
    room: size_t,
    space: size_t,
) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"__gethostname_chk", FIRST);
    if room > space {
        // Ends the program.
        return next!(NEXT, fn(name => *mut c_char, room => size_t, space => size_t) -> c_int, -1);
    }
    // SAFETY: the caller's arguments.
    unsafe { gethostname(name, room) }
}

/// Programs compare this number to find the ranks of a node.
#[unsafe(no_mangle)]
extern "C-unwind" fn gethostid() -> c_long {
    match own() {
        Some(node) => c_long::from(node.number) + 1,
        None => next!(GETHOSTID, fn() -> c_long, 0),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn uname(about: *mut utsname) -> c_int {
    // SAFETY: the kernel checks the address.
    let answer = unsafe { libc::syscall(libc::SYS_uname, about) } as c_int;
    if answer == 0
        && let Some(node) = own()
    {
        // SAFETY: the kernel has written there, so that the caller has a place.
        let place = unsafe { &mut (*about).nodename };
        // SAFETY: the place has this length.
        unsafe { write(&node.name(), place.as_mut_ptr(), place.len()) };
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getaddrinfo(
    name: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    found: *mut *mut addrinfo,
) -> c_int {
    // SAFETY: null, or the caller's string.
    let asked = unsafe { known(name) };
    let error = next!(GETADDRINFO, fn(asked => *const c_char, service => *const c_char,
        hints => *const addrinfo, found => *mut *mut addrinfo) -> c_int, libc::EAI_SYSTEM);
    if error == 0 {
        // SAFETY: the caller's name, and the list that the system has just made.
        unsafe { name_as_asked(name, (**found).ai_canonname) };
    }
    error
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyname(name: *const c_char) -> *mut hostent {
    // SAFETY: null, or the caller's string.
    let asked = unsafe { known(name) };
    let host =
        next!(GETHOSTBYNAME, fn(asked => *const c_char) -> *mut hostent, std::ptr::null_mut());
    // SAFETY: the caller's name, and the system's host.
    unsafe { host_as_asked(name, host) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent {
    // SAFETY: null, or the caller's string.
    let asked = unsafe { known(name) };
    let host = next!(
        GETHOSTBYNAME2,
        fn(asked => *const c_char, family => c_int) -> *mut hostent,
        std::ptr::null_mut()
    );
    // SAFETY: the caller's name, and the system's host.
    unsafe { host_as_asked(name, host) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyname_r(
    name: *const c_char,
    host: *mut hostent,
    room: *mut c_char,
    size: size_t,
    found: *mut *mut hostent,
    error: *mut c_int,
) -> c_int {
    // SAFETY: null, or the caller's string.
    let asked = unsafe { known(name) };
    let result = next!(
        GETHOSTBYNAME_R,
        fn(
            asked => *const c_char, host => *mut hostent, room => *mut c_char, size => size_t,
            found => *mut *mut hostent, error => *mut c_int
        )
    );
    if result == 0 {
        // SAFETY: the caller's name, and null or the host that the system has just written.
        unsafe { host_as_asked(name, *found) };
    }
    result
}
