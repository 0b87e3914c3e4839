//! C library functions with names that this library also defines: they are the next ones with their
//! names.

#![allow(unsafe_code)] // C functions
#![allow(clippy::macro_metavars_in_unsafe)] // C functions pass their own arguments on

use libc::{c_int, c_long, clockid_t, timespec};
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The first version of the C library's symbols on this processor kind.
pub const FIRST: &CStr = if cfg!(target_arch = "x86_64") {
    c"GLIBC_2.2.5"
} else {
    c"GLIBC_2.17"
};

/// A C library function with a name that is also defined here.
pub struct SystemFunction {
    name: &'static CStr,
    /// The function's present version, where there is also an older one.
    version: &'static CStr,
    /// Whether another version's function serves, too.
    any: bool,
    found: AtomicUsize,
}

impl SystemFunction {
    /// The function in this version, or in another one.
    pub const fn new(name: &'static CStr, version: &'static CStr) -> SystemFunction {
        SystemFunction {
            name,
            version,
            any: true,
            found: AtomicUsize::new(0),
        }
    }

    /// A function in this version only.
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> SystemFunction {
        SystemFunction {
            any: false,
            ..SystemFunction::new(name, version)
        }
    }

    /// The function's address, if there is one.
    pub fn get(&self) -> Option<*const c_void> {
        let mut found = self.found.load(Ordering::Relaxed);
        if found == 0 {
            let (name, version) = (self.name.as_ptr(), self.version.as_ptr());
            // SAFETY: these are strings of C.
            found = unsafe {
                let versioned = libc::dlvsym(libc::RTLD_NEXT, name, version);
                if versioned.is_null() && self.any {
                    libc::dlsym(libc::RTLD_NEXT, name) as usize
                } else {
                    versioned as usize
                }
            };
            self.found.store(found, Ordering::Relaxed);
        }
        (found != 0).then_some(found as *const c_void)
    }
}

/// Calls a C library function; without one, the result is an error number, or the given one.
#[macro_export]
macro_rules! next {
    ($next:expr, fn($($argument:expr => $type:ty),*)) => {
        $crate::next!($next, fn($($argument => $type),*) -> std::ffi::c_int, libc::ENOSYS)
    };
    ($next:expr, fn($($argument:expr => $type:ty),*) -> $result:ty, $without:expr) => {
        match $next.get() {
            Some(found) => {
                // SAFETY: it is the function with this name, and these are its arguments.
                let next = unsafe {
                    std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C-unwind" fn(
                        $($type),*
                    ) -> $result>(found)
                };
                // SAFETY: the arguments that the caller of our function of this name has given.
                unsafe { next($($argument),*) }
            }
            None => $without,
        }
    };
}

/// The system's `dlsym`, found by `dlvsym`: the plain name is a function in this library.
static DLSYM: [SystemFunction; 2] = [
    SystemFunction::versioned(c"dlsym", c"GLIBC_2.34"),
    SystemFunction::versioned(
        c"dlsym",
        if cfg!(target_arch = "x86_64") {
            c"GLIBC_2.2.5"
        } else {
            c"GLIBC_2.17"
        },
    ),
];

/// The system's own `dlsym`.
pub fn dlsym() -> usize {
    let found = DLSYM.iter().find_map(SystemFunction::get);
    found.map_or(0, |found| found as usize)
}

/// The system's `dlopen`; its name, too, is a function in this library.
static DLOPEN: SystemFunction = SystemFunction::new(c"dlopen", c"GLIBC_2.34");

/// The system's own `dlopen`.
pub fn dlopen() -> usize {
    DLOPEN.get().map_or(0, |found| found as usize)
}

/// A symbol as the system finds it, with this library as the caller; null if there is no such
/// symbol.
///
/// # Safety
/// The handle must be one that `dlsym` takes.
pub unsafe fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    let function = dlsym();
    if function == 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: it is `dlsym`; the name is a string of C.
    unsafe {
        let function = std::mem::transmute::<
            usize,
            unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void,
        >(function);
        function(handle, name.as_ptr())
    }
}

static CLOCK_GETTIME: SystemFunction = SystemFunction::new(c"clock_gettime", c"GLIBC_2.17");

/// The system's clock.
///
/// # Safety
/// As the C library function with this name.
pub unsafe fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // The C library's own function needs no system call for most clocks.
    if CLOCK_GETTIME.get().is_some() {
        return next!(CLOCK_GETTIME, fn(clock => clockid_t, time => *mut timespec));
    }
    // SAFETY: the kernel checks the address.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int }
}

/// Whether this is the process's first thread.
pub fn is_main_thread() -> bool {
    // SAFETY: they only ask.
    unsafe { libc::syscall(libc::SYS_gettid) == c_long::from(libc::getpid()) }
}

/// A length of time for the kernel.
fn length(time: std::time::Duration) -> timespec {
    timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Waits in real time until a word is changed from what it was seen to be, for some time at most.
pub fn wait_for_change(word: &'static AtomicU32, seen: u32, time: std::time::Duration) {
    let (time, none) = (length(time), std::ptr::null::<u32>());
    // SAFETY: a word that lasts, and a time that lasts for the call.
    unsafe {
        let (word, wait) = (word.as_ptr(), libc::FUTEX_WAIT);
        libc::syscall(libc::SYS_futex, word, wait, seen, &raw const time, none, 0);
    }
}

/// A word has changed: wakes all threads that wait for that.
pub fn wake_all(word: &'static AtomicU32) {
    // SAFETY: a word that lasts; the kernel only looks for waiting threads.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Sleeps in real time; a signal ends the sleep early.
pub fn nap(time: std::time::Duration) {
    let time = length(time);
    let none = std::ptr::null_mut::<timespec>();
    // SAFETY: the kernel reads the time.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, none) };
}

/// Gives the processor to another thread that can run.
pub fn give_way() {
    // SAFETY: it has no arguments.
    unsafe { libc::syscall(libc::SYS_sched_yield) };
}

/// This thread's number in the kernel.
pub fn thread() -> u32 {
    // SAFETY: it only asks.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// This thread's processor time in nanoseconds.
pub fn processor_time() -> u64 {
    shown(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The processor time in nanoseconds of another thread in this process; 0 without one.
pub fn processor_time_of(thread: u32) -> u64 {
    const PER_THREAD: clockid_t = 6; // and of all kinds of work
    shown(!thread.cast_signed() << 3 | PER_THREAD)
}

/// Nanoseconds since the computer started.
pub fn real_time() -> u64 {
    shown(libc::CLOCK_MONOTONIC)
}

/// A clock's time in nanoseconds; 0 if there is no such clock.
fn shown(clock: clockid_t) -> u64 {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for it.
    unsafe { clock_gettime(clock, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// Whether a thread in this process runs, or would if it had a processor; `None` if it has ended.
pub fn is_runnable(thread: u32) -> Option<bool> {
    let path = format!("/proc/self/task/{thread}/stat\0");
    let mut text = [0_u8; 64]; // the number, the name in brackets, the state
    // SAFETY: a path that ends with 0, and room for the bytes; the file is closed once.
    let read = unsafe {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags);
        if file < 0 {
            return None;
        }
        let read = libc::syscall(libc::SYS_read, file, text.as_mut_ptr(), text.len());
        libc::syscall(libc::SYS_close, file);
        usize::try_from(read).ok()?
    };
    let name = text[..read].iter().rposition(|&byte| byte == b')')?;
    match text.get(name + 2)? {
        b'Z' | b'X' => None,
        state => Some(matches!(state, b'R' | b'D')),
    }
}
