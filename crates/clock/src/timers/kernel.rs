//! Calls in which the kernel waits, and which a timer's signal ends: a read of a pipe or a socket,
//! a wait for a child, a file lock.
//!
//! Their ends come in real time, from outside of the simulation, so that such a call is only known
//! for one when the real timer of [`super::alarm`] has found it: it interrupts the call, and the
//! kernel has set the thread back to the instruction that makes the call. If the program has a
//! handler that does not restart calls, the call then fails, as it would have without this.

use libc::{c_int, c_long, c_void};

/// Calls without a lock in the C library around them.
const CALLS: [c_long; 17] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_openat,
    libc::SYS_mq_timedreceive,
    libc::SYS_msgrcv,
];

/// Whether the program, at this context, is about to repeat a call in which it has waited.
#[cfg(target_arch = "x86_64")]
pub fn waits(context: *mut c_void) -> bool {
    const INSTRUCTION: [u8; 2] = [0x0f, 0x05];
    // SAFETY: the kernel gives the context to handlers, and its instruction can be read.
    unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let place = registers[libc::REG_RIP as usize] as usize;
        let place = std::ptr::with_exposed_provenance::<[u8; 2]>(place);
        CALLS.contains(&registers[libc::REG_RAX as usize]) && *place == INSTRUCTION
    }
}

/// The call fails, as one that a handler has interrupted.
#[cfg(target_arch = "x86_64")]
pub fn fail(context: *mut c_void) {
    // SAFETY: the kernel gives the context to handlers, and restores it at their end.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] += 2;
        registers[libc::REG_RAX as usize] = (-libc::EINTR).into();
    }
}

/// Whether the program, at this context, is about to repeat a call in which it has waited.
#[cfg(target_arch = "aarch64")]
pub fn waits(context: *mut c_void) -> bool {
    const INSTRUCTION: u32 = 0xd400_0001;
    // SAFETY: the kernel gives the context to handlers, and its instruction can be read.
    unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext;
        let place = std::ptr::with_exposed_provenance::<u32>(registers.pc as usize);
        CALLS.contains(&registers.regs[8].cast_signed()) && *place == INSTRUCTION
    }
}

/// The call fails, as one that a handler has interrupted.
#[cfg(target_arch = "aarch64")]
pub fn fail(context: *mut c_void) {
    // SAFETY: the kernel gives the context to handlers, and restores it at their end.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext;
        registers.pc += 4;
        registers.regs[0] = i64::from(-libc::EINTR).cast_unsigned();
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn waits(_context: *mut c_void) -> bool {
    false
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn fail(_context: *mut c_void) {}

/// Whether a signal's handler lets calls go on.
pub fn restarts(number: c_int) -> bool {
    // SAFETY: zeros are a valid action, which is only asked for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(number, std::ptr::null(), &raw mut action);
        action.sa_flags & libc::SA_RESTART != 0
    }
}
