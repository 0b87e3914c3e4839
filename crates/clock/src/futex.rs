//! Waits on memory words that ask the kernel directly, by `syscall`, and give up at a moment: C++'s
//! `std::future::wait_for`, and the locks and conditions in Rust's library. They are waits for
//! other threads like those in [`super::threads`]; so are those without an end (`std::future::get`,
//! `std::atomic::wait`, `std::latch`).

use super::parts::SimulatedWait;
use super::waiting::waits;
use super::{fail, span};
use libc::{c_int, c_long, timespec};
use rank::{session, thread};

/// Any system call. Only waits on words are more than the system call.
#[unsafe(no_mangle)]
#[allow(clippy::many_single_char_names)] // any six words
unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    if number == libc::SYS_futex && d != 0 {
        // SAFETY: the arguments of the caller.
        return unsafe { wait([a, b, c, d, e, f]) };
    }
    if number == libc::SYS_futex && is_wait(b) && !session::is_held() {
        // SAFETY: the arguments of the caller.
        return done(waits(|| unsafe { raw(number, [a, b, c, d, e, f]) }));
    }
    // SAFETY: the same.
    done(unsafe { raw(number, [a, b, c, d, e, f]) })
}

/// A system call's result as the C library gives it.
fn done(result: isize) -> c_long {
    if (-4095..0).contains(&result) {
        return fail(-result as c_int).into();
    }
    result as c_long
}

const FLAGS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;

/// Whether an operation on a word waits.
fn is_wait(operation: usize) -> bool {
    let operation = (operation as u32).cast_signed() & !FLAGS;
    [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET].contains(&operation)
}

/// A wait on a word, or another operation that has other data in the time's place.
unsafe fn wait(arguments: [usize; 6]) -> c_long {
    let [word, operation, value, time, e, f] = arguments;
    let operation = (operation as u32).cast_signed();
    // SAFETY: the caller's arguments, and in waits its time.
    unsafe {
        let call = |arguments| raw(libc::SYS_futex, arguments);
        if session::is_held() || !thread::outside() {
            return done(call(arguments));
        }
        match operation & !FLAGS {
            libc::FUTEX_WAIT => {
                let time = *std::ptr::with_exposed_provenance::<timespec>(time);
                let begun = session::shown().map(session::Session::now);
                let result = waits(|| call(arguments));
                let lasted = span(&time).zip(begun);
                if let Some((length, begun)) = lasted.filter(|_| timed_out(result)) {
                    SimulatedWait::pass(begun.saturating_add(length));
                }
                done(result)
            }
            libc::FUTEX_WAIT_BITSET => {
                let real = operation & libc::FUTEX_CLOCK_REALTIME != 0;
                let clock = if real {
                    libc::CLOCK_REALTIME
                } else {
                    libc::CLOCK_MONOTONIC
                };
                let moment = *std::ptr::with_exposed_provenance::<timespec>(time);
                let Some(mut wait) = SimulatedWait::new(Some(clock), &moment) else {
                    return done(call(arguments));
                };
                let operation = operation & !libc::FUTEX_CLOCK_REALTIME;
                loop {
                    let end = (&raw const wait.end).expose_provenance();
                    let again = [word, operation as usize, value, end, e, f];
                    let result = waits(|| call(again));
                    if !waits(|| wait.goes_on(timed_out(result))) {
                        wait.ended(timed_out(result));
                        return done(result);
                    }
                }
            }
            _ => done(call(arguments)),
        }
    }
}

fn timed_out(result: isize) -> bool {
    result == -(libc::ETIMEDOUT as isize)
}

/// The system call itself; the result is a negated error number, or the kernel's result.
#[cfg(target_arch = "x86_64")]
#[allow(clippy::many_single_char_names)] // any six words
unsafe fn raw(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result;
    // SAFETY: the caller's arguments; the kernel changes these registers only, and memory that the
    // caller names.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// The same.
#[cfg(target_arch = "aarch64")]
#[allow(clippy::many_single_char_names)] // any six words
unsafe fn raw(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result;
    // SAFETY: the caller's arguments; the kernel changes this register only, and memory that the
    // caller names.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    result
}
