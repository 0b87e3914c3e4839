//! Lookups of functions by name: `dlsym` on a handle gives this library's entry points.
//!
//! Languages with a foreign-function interface (Julia, Java, numba), and plugin hosts, open the MPI
//! library by `dlopen` and ask the handle for `MPI_Send`. The dynamic linker then looks in that
//! library only, past the preloaded entry points ([`super::entries`]): calls would not be recorded,
//! and collective operations would not reach Elanlib.
//!
//! The same languages ask the C library's handle for `usleep` and `clock_gettime`, past those that
//! take simulated time.
//!
//! So `dlsym` is defined here, too. It returns an entry point instead of the found function only if
//! the entry point passes calls on to this very function ([`mpi::definition`]): so the program
//! reaches the same function, through the entry point. All else is found as without this library:
//! functions in a library that measures the program or wraps MPI, other names, and the special
//! handles `RTLD_DEFAULT`, for which the preloaded entry points come first in any case, and
//! `RTLD_NEXT`. The linker finds the next object by the caller's address, so `dlsym` jumps to the
//! system's own function, which finds the program's return address. `dlvsym` is the system's: MPI's
//! functions have no versions, and those of the C library that it finds use real time.

use super::bindings;
use super::objects::{base, own, this};
use fi::mpi;
use rank::system::{dlsym as system, symbol};
use std::ffi::{CStr, c_char, c_void};

/// The answer to a lookup: the entry point, or null; and the system's own function, which looks
/// further if it is null.
#[repr(C)]
struct Answer {
    entry: *const c_void,
    system: usize,
}

/// Answers a lookup by a program.
unsafe extern "C" fn answer(handle: *mut c_void, name: *const c_char) -> Answer {
    bindings::mend();
    let entry = if name.is_null() || [libc::RTLD_NEXT, libc::RTLD_DEFAULT].contains(&handle) {
        None
    } else {
        // SAFETY: a string of C, as `dlsym` wants it.
        entry(handle, unsafe { CStr::from_ptr(name) })
    };
    Answer {
        entry: entry.map_or(std::ptr::null(), |entry| entry as *const c_void),
        system: system(),
    }
}

/// This library's entry point for a function of MPI or the C library, if it passes calls on to the
/// handle's function.
fn entry(handle: *mut c_void, name: &CStr) -> Option<usize> {
    // SAFETY: a handle of this library.
    let own = unsafe { symbol(own()?, name) } as usize;
    if own == 0 || base(own) != this() {
        return None;
    }
    let definition = if mpi::is_name(name) {
        mpi::definition(name)
    } else {
        // SAFETY: the objects behind this library.
        Some(unsafe { symbol(libc::RTLD_NEXT, name) } as usize)
    };
    // SAFETY: the handle that the program has given to `dlsym`.
    let found = unsafe { symbol(handle, name) } as usize;
    (found != 0 && found != own && definition == Some(found)).then_some(own)
}

/// Asks [`answer`], which gets the arguments and has them back in place afterwards, and returns its
/// entry point; or jumps to the system's function as if the program had called that.
// SAFETY: the function keeps the registers of its arguments and the stack, on which the return
// address lies, as the caller left them, so that the jump is a call by the caller; the two words of
// the answer come in the two registers for results. Objects find this definition instead of the
// system's because it is preloaded, and get what `dlsym` gives.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {answer}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jnz 2f",
        "test rdx, rdx",
        "jz 2f",
        "jmp rdx",
        "2:",
        "ret",
        answer = sym answer,
    )
}

/// The same for the other processor kind.
// SAFETY: as above; the return address lies in the link register.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "mov x29, sp",
        "bl {answer}",
        "mov x16, x1",
        "mov x17, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbnz x17, 2f",
        "cbz x16, 2f",
        "br x16",
        "2:",
        "mov x0, x17",
        "ret",
        answer = sym answer,
    )
}
