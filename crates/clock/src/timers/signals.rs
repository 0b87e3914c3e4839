//! The signals that timers send.
//!
//! A timer from `timer_create` has one signal under way at most: while it waits, blocked, further
//! rings count as its overruns, as in the kernel.

use super::{Name, timers};
use libc::{c_int, sigset_t};

/// `siginfo_t` in words: the signal's number, an error, the code; the timer's name and its
/// overruns, the value.
type Info = [i32; 32];

const CODE: usize = 2;
const TIMER: usize = 4;
const OVERRUNS: usize = 5;
const VALUE: usize = 6;

/// The code of signals by `timer_create`.
pub const SI_TIMER: c_int = -2;

/// How many waiting signals with one number are looked through.
const MOST: usize = 64;

/// The bytes of the kernel's signal set.
const SIGNALS: usize = 8;

/// Sends a signal to this thread or, if the thread has blocked it, to the process; returns whether
/// a handler has run.
pub fn send(name: Name, number: c_int, value: usize, (code, overruns): (c_int, u64)) -> bool {
    let (blocked, handled) = disposition(number);
    let mut info: Info = [0; 32];
    (info[0], info[CODE]) = (number, code);
    if let Name::Made(timer) = name {
        info[TIMER] = (timer as u32).cast_signed();
    }
    let waiting = (blocked && code == SI_TIMER).then(|| take_back(&info));
    let overruns = waiting
        .flatten()
        .map_or(overruns, |before| overruns + before + 1);
    if let Some(timer) = timers().get_mut(&name) {
        timer.overruns = overruns;
    }
    info[OVERRUNS] = c_int::try_from(overruns).unwrap_or(c_int::MAX);
    let value = value as u64;
    info[VALUE] = (value as u32).cast_signed();
    info[VALUE + 1] = ((value >> 32) as u32).cast_signed();
    if blocked {
        queue(&info);
    } else {
        // SAFETY: the kernel copies the bytes; the process and the thread are this one's.
        unsafe {
            let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
            let info = info.as_ptr();
            libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, number, info);
        }
    }
    handled && !blocked
}

/// Sends a signal to the process.
fn queue(info: &Info) {
    // SAFETY: the kernel copies the bytes.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigqueueinfo,
            libc::getpid(),
            info[0],
            info.as_ptr(),
        )
    };
}

/// Takes a timer's signal back, if it still waits; returns its overruns. Others with its number
/// keep their order.
fn take_back(like: &Info) -> Option<u64> {
    let mut found: [Info; MOST] = [[0; 32]; MOST];
    let mut count = 0;
    while count < MOST && take(like[0], &mut found[count]) {
        count += 1;
    }
    let is_own = |info: &Info| info[CODE] == SI_TIMER && info[TIMER] == like[TIMER];
    let (mut overruns, found) = (None, &found[..count]);
    for info in found {
        if overruns.is_none() && is_own(info) {
            overruns = u64::try_from(info[OVERRUNS]).ok();
        } else {
            queue(info);
        }
    }
    overruns
}

/// Takes a waiting signal with this number, if there is one.
fn take(number: c_int, info: &mut Info) -> bool {
    let none = crate::nanoseconds(0);
    // SAFETY: zeros are a valid set; a set with one signal, a place for its information, a time.
    unsafe {
        let mut set: sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, number);
        let call = libc::SYS_rt_sigtimedwait;
        let (set, info, none) = (&raw const set, info.as_mut_ptr(), &raw const none);
        libc::syscall(call, set, info, none, SIGNALS) == number.into()
    }
}

/// Whether this thread has blocked a signal, and whether the program has a handler for it.
fn disposition(number: c_int) -> (bool, bool) {
    // SAFETY: zeros are valid values of both, and both are only asked for.
    unsafe {
        let (mut mask, mut action): (sigset_t, libc::sigaction) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask);
        libc::sigaction(number, std::ptr::null(), &raw mut action);
        let handled = ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction);
        (libc::sigismember(&raw const mask, number) == 1, handled)
    }
}
