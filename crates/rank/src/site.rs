//! The place in the program from which a function in this library is called.
//!
//! The place is the return address in the first stack frame outside this library and outside those
//! that call MPI for the program (Fortran's). The C compiler's frame tables lead there, so that the
//! place does not depend on remains of earlier calls on the stack. Addresses differ from run to
//! run; [`name`] gives the code's file and the offset in it, which do not.

#![allow(unsafe_code)] // functions in the C library and the compiler's

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_int, c_void};

/// Name parts of libraries that call MPI for the program.
const BETWEEN: [&str; 4] = ["elanite-fi", "mpichfort", "mpifort", "mpi_mpifh"];

/// The most frames that are looked at.
const DEPTH: u32 = 32;

#[link(name = "gcc_s")]
unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
}

/// Codes in `_Unwind_Reason_Code`.
const GO_ON: c_int = 0;
const STOP: c_int = 5;

/// A walk up the stack.
struct Walk {
    found: usize,
    depth: u32,
}

/// The present call's return address in the program; 0 if there is no such address.
pub fn here() -> usize {
    let mut walk = Walk { found: 0, depth: 0 };
    // SAFETY: the function calls `visit` with this walk, before it returns.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    walk.found
}

unsafe extern "C" fn visit(frame: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: as `here` and the compiler's library call it.
    let (place, walk) = unsafe { (_Unwind_GetIP(frame), &mut *walk.cast::<Walk>()) };
    walk.depth += 1;
    if place == 0 || walk.depth > DEPTH {
        return STOP;
    }
    if is_between(place) {
        return GO_ON;
    }
    walk.found = place;
    STOP
}

/// Whether a place lies in a library between the program and the simulator.
fn is_between(place: usize) -> bool {
    thread_local! {
        static KNOWN: RefCell<HashMap<usize, bool>> = RefCell::default();
    }
    let find = || {
        let file = object(place).map(|(file, _)| file).unwrap_or_default();
        BETWEEN.iter().any(|part| file.contains(part)) || is_own(place)
    };
    let known = KNOWN.try_with(|known| {
        let mut known = known.try_borrow_mut().ok()?;
        Some(*known.entry(place).or_insert_with(find))
    });
    known.ok().flatten().unwrap_or_else(find)
}

/// Whether a place lies in this module's object: in tests, that is not a library.
fn is_own(place: usize) -> bool {
    let own = object(here as *const () as usize);
    cfg!(not(test))
        && own.is_some()
        && own.map(|(file, _)| file) == object(place).map(|(file, _)| file)
}

/// The code's file at a place, without its folder, and the place's offset in it.
fn object(place: usize) -> Option<(String, usize)> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: a place for the answer, which is whole if there is one; its strings live as long as
    // the object.
    let (file, base) = unsafe {
        if libc::dladdr(place as *const c_void, found.as_mut_ptr()) == 0 {
            return None;
        }
        let found = found.assume_init();
        (CStr::from_ptr(found.dli_fname), found.dli_fbase as usize)
    };
    let file = file.to_string_lossy();
    let file = file.rsplit('/').next().unwrap_or_default();
    Some((file.to_owned(), place - base))
}

/// A place's name: its code's file, and the offset in it.
pub fn name(place: usize) -> String {
    match object(place) {
        Some((file, offset)) => format!("{file}+{offset:#x}"),
        None => "?".to_owned(),
    }
}
