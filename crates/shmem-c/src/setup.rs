//! Start, end, and queries without communication.
//!
//! A program that exits with code 0 and without `shmem_finalize` ends as if it had called it, as
//! the standard demands. The exit of one processing element with another code, and
//! `shmem_global_exit`, end all.

use super::{Stage, collectives, region, shmem};
use derive::call;
use link::Departure;
use rank::thread;
use std::ffi::{c_char, c_int, c_void};

/// The OpenSHMEM version.
const VERSION: (c_int, c_int) = (1, 5);

/// This library's name; `SHMEM_MAX_NAME_LEN` has room for more.
const NAME: &std::ffi::CStr = c"Elanite OpenSHMEM";

/// The highest thread level, `SHMEM_THREAD_MULTIPLE`.
const MULTIPLE: c_int = 3;

/// Starts the library, unless it has started.
fn start(level: c_int) {
    {
        let mut shmem = shmem();
        if shmem.stage != Stage::Before {
            return;
        }
        shmem.stage = Stage::Running;
        shmem.level = level.clamp(0, MULTIPLE);
    }
    if level == MULTIPLE {
        thread::may_be_several();
    }
    region::open();
    // SAFETY: the handler is one of C, and needs no argument.
    unsafe { on_exit(exits, std::ptr::null_mut()) };
    // A heap must exist before others reach into it.
    collectives::barrier_of_all();
}

/// Starts the library for a heap call: old programs allocate first.
pub fn start_if_needed() {
    start(0);
}

/// Waits for all, once.
fn finish() {
    if shmem().stage == Stage::Running {
        collectives::barrier_of_all();
        shmem().stage = Stage::Over;
    }
}

unsafe extern "C" {
    /// In the GNU C library: like `atexit`, for a function that gets the exit code and an argument.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

extern "C" fn exits(code: c_int, _argument: *mut c_void) {
    // A program that has called it makes no second call.
    if code == 0 && shmem().stage == Stage::Running {
        shmem_finalize();
    }
}

/// Ends this processing element, and with it all, with an exit code.
pub fn end_all(code: c_int) -> ! {
    native::session().leaves(Departure::Abort(code));
    // SAFETY: the program's output so far is flushed; then the process is gone, and does not call
    // its handlers.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    native::vanish(code)
}

/// Stores a value that a program asks for.
pub fn tell<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the program's place for the answer.
        unsafe { place.write(value) };
    }
}

fn number_of_elements() -> c_int {
    native::ranks().cast_signed()
}

fn own_number() -> c_int {
    native::rank().cast_signed()
}

#[call]
extern "C" fn shmem_init() {
    start(0);
}

#[call("shmem_init")]
extern "C" fn start_pes(_count: c_int) {
    start(0);
}

#[call("shmem_init")]
extern "C" fn shmem_init_thread(requested: c_int, provided: *mut c_int) -> c_int {
    start(requested);
    tell(provided, shmem().level);
    0
}

#[call]
extern "C" fn shmem_finalize() {
    finish();
}

#[call]
extern "C" fn shmem_global_exit(status: c_int) {
    end_all(status)
}

#[unsafe(no_mangle)]
extern "C" fn shmem_query_thread(provided: *mut c_int) {
    tell(provided, shmem().level);
}

#[unsafe(no_mangle)]
extern "C" fn shmem_my_pe() -> c_int {
    own_number()
}

#[unsafe(no_mangle)]
extern "C" fn shmem_n_pes() -> c_int {
    number_of_elements()
}

#[unsafe(no_mangle)]
extern "C" fn _my_pe() -> c_int {
    own_number()
}

#[unsafe(no_mangle)]
extern "C" fn _num_pes() -> c_int {
    number_of_elements()
}

#[unsafe(no_mangle)]
extern "C" fn shmem_pe_accessible(pe: c_int) -> c_int {
    (0..number_of_elements()).contains(&pe).into()
}

/// Whether an address is symmetric, which is the same in all.
#[unsafe(no_mangle)]
extern "C" fn shmem_addr_accessible(at: *const c_void, pe: c_int) -> c_int {
    let exists = (0..number_of_elements()).contains(&pe);
    (exists && native::memory::is_offered(at.addr(), 1)).into()
}

/// The caller's own memory can be reached by an address; others' memory cannot.
#[unsafe(no_mangle)]
extern "C" fn shmem_ptr(at: *mut c_void, pe: c_int) -> *mut c_void {
    if pe == own_number() && native::memory::is_offered(at.addr(), 1) {
        at
    } else {
        std::ptr::null_mut()
    }
}

#[unsafe(no_mangle)]
extern "C" fn shmem_info_get_version(major: *mut c_int, minor: *mut c_int) {
    tell(major, VERSION.0);
    tell(minor, VERSION.1);
}

#[unsafe(no_mangle)]
extern "C" fn shmem_info_get_name(name: *mut c_char) {
    if !name.is_null() {
        // SAFETY: the program has room for `SHMEM_MAX_NAME_LEN` characters.
        unsafe { name.copy_from_nonoverlapping(NAME.as_ptr(), NAME.count_bytes() + 1) };
    }
}

/// There is no profiler.
#[unsafe(no_mangle)]
extern "C" fn shmem_pcontrol(_level: c_int) {}

// Host caches see the adapters' writes: the calls about them have no effect.

#[unsafe(no_mangle)]
extern "C" fn shmem_clear_cache_inv(_line: *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn shmem_set_cache_inv(_line: *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn shmem_clear_cache_line_inv(_line: *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn shmem_set_cache_line_inv(_line: *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn shmem_udcflush(_line: *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn shmem_udcflush_line(_line: *mut c_void) {}
