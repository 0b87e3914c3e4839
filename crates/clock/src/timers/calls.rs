//! The C library functions that make and set timers.

use super::signals::SI_TIMER;
use super::{
    FILES, Handle, Name, RingEffect, Timer, find_next, masked, next, set, state, timers, until_ring,
};
use crate::waiting::sleeper;
use crate::{MICROSECOND, NANOSECOND, SECOND, fail, length, local, origin};
use crate::{nanoseconds, span};
use libc::{
    c_int, c_uint, clockid_t, itimerspec, itimerval, sigevent, siginfo_t, sigset_t, timer_t,
    timespec, timeval, useconds_t,
};
use rank::next as call_next;
use rank::session::{self, Session};
use rank::system::SystemFunction;
use std::ptr;
use std::sync::atomic::Ordering;

static CREATE: SystemFunction = SystemFunction::new(c"timer_create", c"");
static SETTIME: SystemFunction = SystemFunction::new(c"timer_settime", c"");
static DELETE: SystemFunction = SystemFunction::new(c"timer_delete", c"");
static GETTIME: SystemFunction = SystemFunction::new(c"timer_gettime", c"");
static OVERRUN: SystemFunction = SystemFunction::new(c"timer_getoverrun", c"");
static SETITIMER: SystemFunction = SystemFunction::new(c"setitimer", c"");
static GETITIMER: SystemFunction = SystemFunction::new(c"getitimer", c"");
static PAUSE: SystemFunction = SystemFunction::new(c"pause", c"");
static SUSPEND: SystemFunction = SystemFunction::new(c"sigsuspend", c"");
static TIMEDWAIT: SystemFunction = SystemFunction::new(c"sigtimedwait", c"");

/// The `siginfo_t` codes for signals from the kernel, and from timers.
const SI_KERNEL: c_int = 0x80;

/// Timer handles from `timer_create`: no C library pointer has these bits.
const OURS: usize = 0x454c_0000_0000;

/// The session that gives timers their time.
fn session() -> Option<&'static Session> {
    let session = session::get()?;
    rank::compute::settle(session);
    Some(session)
}

fn of_picoseconds(time: u64) -> timespec {
    // A timer that is about to ring has some time left.
    nanoseconds(time.div_ceil(NANOSECOND))
}

fn to_timeval(time: u64) -> timeval {
    let time = time.div_ceil(MICROSECOND);
    timeval {
        tv_sec: (time / 1_000_000).cast_signed(),
        tv_usec: (time % 1_000_000).cast_signed(),
    }
}

fn of_timeval(time: &timeval) -> Option<u64> {
    let valid = time.tv_sec >= 0 && (0..1_000_000).contains(&time.tv_usec);
    valid.then(|| {
        let microseconds = time.tv_usec.cast_unsigned();
        length(time.tv_sec.cast_unsigned(), microseconds * 1000)
    })
}

/// Sets one of `setitimer`'s three timers, and returns its state.
fn interval(session: &Session, which: c_int, first: u64, interval: u64) -> (u64, u64) {
    let name = Name::Interval(which);
    let number = match which {
        libc::ITIMER_VIRTUAL => libc::SIGVTALRM,
        libc::ITIMER_PROF => libc::SIGPROF,
        _ => libc::SIGALRM,
    };
    timers().entry(name).or_insert(Timer {
        clock: libc::CLOCK_MONOTONIC,
        due: None,
        interval: 0,
        overruns: 0,
        how: RingEffect::Signal {
            number,
            value: 0,
            code: SI_KERNEL,
        },
    });
    let due = (first > 0).then(|| session.now().saturating_add(first));
    set(session, name, due, interval).unwrap_or_default()
}

// The callers of the functions below keep to the C library's manual pages.

/// Returns the seconds that were left.
#[unsafe(no_mangle)]
extern "C" fn alarm(seconds: c_uint) -> c_uint {
    let Some(session) = session() else {
        let new = itimerval {
            it_interval: to_timeval(0),
            it_value: to_timeval(u64::from(seconds) * SECOND),
        };
        let mut old = new;
        call_next!(
            SETITIMER,
            fn(
                libc::ITIMER_REAL => c_int,
                &raw const new => *const itimerval,
                &raw mut old => *mut itimerval
            )
        );
        let seconds = old.it_value.tv_sec as c_uint;
        return seconds + c_uint::from(old.it_value.tv_usec >= 500_000);
    };
    let (left, _) = interval(session, libc::ITIMER_REAL, u64::from(seconds) * SECOND, 0);
    // As in the C library: rounded, but not to 0.
    let rounded = (left + SECOND / 2) / SECOND;
    (if left > 0 { rounded.max(1) } else { 0 }) as c_uint
}

/// Returns the microseconds that were left.
#[unsafe(no_mangle)]
extern "C" fn ualarm(first: useconds_t, again: useconds_t) -> useconds_t {
    let span = |time: useconds_t| to_timeval(u64::from(time) * MICROSECOND);
    let new = itimerval {
        it_interval: span(again),
        it_value: span(first),
    };
    let mut old = new;
    // SAFETY: both live until the call returns.
    unsafe { setitimer(libc::ITIMER_REAL, &raw const new, &raw mut old) };
    (old.it_value.tv_sec * 1_000_000 + old.it_value.tv_usec) as useconds_t
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int {
    let is_one = (libc::ITIMER_REAL..=libc::ITIMER_PROF).contains(&which);
    // SAFETY: null, or times of the caller, which are copied.
    let given = unsafe { new.as_ref() }.copied();
    let times = given.and_then(|new| of_timeval(&new.it_value).zip(of_timeval(&new.it_interval)));
    let (Some(session), Some((first, again)), true) = (session(), times, is_one) else {
        return call_next!(
            SETITIMER, fn(which => c_int, new => *const itimerval, old => *mut itimerval)
        );
    };
    let before = interval(session, which, first, again);
    // SAFETY: null, or the caller's place for the old times.
    unsafe { give_itimer(old, before) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getitimer(which: c_int, place: *mut itimerval) -> c_int {
    let is_one = (libc::ITIMER_REAL..=libc::ITIMER_PROF).contains(&which);
    let Some(session) = session().filter(|_| is_one && !place.is_null()) else {
        return call_next!(GETITIMER, fn(which => c_int, place => *mut itimerval));
    };
    let timers = timers();
    let now = timers
        .get(&Name::Interval(which))
        .map_or((0, 0), |timer| state(session, timer));
    // SAFETY: not null, so the caller's place.
    unsafe { give_itimer(place, now) };
    0
}

unsafe fn give_itimer(place: *mut itimerval, (left, again): (u64, u64)) {
    if !place.is_null() {
        let shown = itimerval {
            it_interval: to_timeval(again),
            it_value: to_timeval(left),
        };
        // SAFETY: the caller's place.
        unsafe { place.write(shown) };
    }
}

/// The effect of an event's timer, where simulated time can have it.
unsafe fn how(event: *const sigevent, handle: usize) -> Option<RingEffect> {
    // SAFETY: null, or an event of the caller.
    let Some(given) = (unsafe { event.as_ref() }) else {
        return Some(RingEffect::Signal {
            number: libc::SIGALRM,
            value: handle,
            code: SI_TIMER,
        });
    };
    let value = given.sigev_value.sival_ptr as usize;
    match given.sigev_notify {
        libc::SIGEV_NONE => Some(RingEffect::Nothing),
        libc::SIGEV_SIGNAL if (1..=libc::SIGRTMAX()).contains(&given.sigev_signo) => {
            Some(RingEffect::Signal {
                number: given.sigev_signo,
                value,
                code: SI_TIMER,
            })
        }
        libc::SIGEV_THREAD => {
            // The function lies where the thread's number does.
            const FUNCTION: usize = std::mem::offset_of!(sigevent, sigev_notify_thread_id);
            // SAFETY: the event has this field.
            let function = unsafe {
                event
                    .cast::<u8>()
                    .add(FUNCTION)
                    .cast::<usize>()
                    .read_unaligned()
            };
            Some(RingEffect::Thread { function, value })
        }
        _ => None,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_create(
    clock: clockid_t,
    event: *mut sigevent,
    place: *mut timer_t,
) -> c_int {
    let mut timers = timers();
    let number = timers.keys().filter_map(|name| match name {
        Name::Made(number) => Some(number + 1),
        _ => None,
    });
    let number = number.max().unwrap_or(0);
    let handle = OURS + number;
    // SAFETY: the caller's event.
    let how = session()
        .and(origin(clock))
        .and(unsafe { how(event, handle) });
    let Some(how) = how.filter(|_| !place.is_null()) else {
        drop(timers);
        return call_next!(
            CREATE, fn(clock => clockid_t, event => *mut sigevent, place => *mut timer_t)
        );
    };
    let timer = Timer {
        clock,
        due: None,
        interval: 0,
        overruns: 0,
        how,
    };
    timers.insert(Name::Made(number), timer);
    // SAFETY: not null, so the caller's place.
    unsafe { place.write(ptr::without_provenance_mut(handle)) };
    0
}

/// A timer's name by its handle, if it is ours.
fn made(handle: Handle) -> Option<Name> {
    let number = handle.addr().checked_sub(OURS)?;
    let name = Name::Made(number);
    timers().contains_key(&name).then_some(name)
}

/// Sets a timer as `timer_settime` and `timerfd_settime` do.
unsafe fn set_time(
    session: &Session,
    name: Name,
    absolute: bool,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    // SAFETY: null, or times of the caller, which are copied.
    let times = unsafe { new.as_ref() }.copied();
    let spans = times.and_then(|new| span(&new.it_value).zip(span(&new.it_interval)));
    let (Some(times), Some((first, again))) = (times, spans) else {
        return fail(libc::EINVAL);
    };
    let clock = timers().get(&name).map(|timer| timer.clock);
    let due = match clock {
        _ if first == 0 => None,
        Some(clock) if absolute => local(clock, &times.it_value),
        _ => Some(session.now().saturating_add(first)),
    };
    let before = set(session, name, due, again).unwrap_or_default();
    // SAFETY: null, or the caller's place for the old times.
    unsafe { give(old, before) };
    0
}

unsafe fn give(place: *mut itimerspec, (left, again): (u64, u64)) {
    if !place.is_null() {
        let shown = itimerspec {
            it_interval: of_picoseconds(again),
            it_value: of_picoseconds(left),
        };
        // SAFETY: the caller's place.
        unsafe { place.write(shown) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_settime(
    timer: timer_t,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    match session().zip(made(timer)) {
        // SAFETY: the caller's times.
        Some((session, name)) => unsafe {
            set_time(session, name, flags & libc::TIMER_ABSTIME != 0, new, old)
        },
        None => {
            call_next!(
                SETTIME,
                fn(
                    timer => timer_t,
                    flags => c_int,
                    new => *const itimerspec,
                    old => *mut itimerspec
                )
            )
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_gettime(timer: timer_t, place: *mut itimerspec) -> c_int {
    let Some((session, name)) = session().zip(made(timer)) else {
        return call_next!(GETTIME, fn(timer => timer_t, place => *mut itimerspec));
    };
    let timers = timers();
    let now = timers.get(&name).map(|timer| state(session, timer));
    // SAFETY: null, or the caller's place.
    unsafe { give(place, now.unwrap_or_default()) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_getoverrun(timer: timer_t) -> c_int {
    let Some(name) = made(timer) else {
        return call_next!(OVERRUN, fn(timer => timer_t));
    };
    let overruns = timers().get(&name).map_or(0, |timer| timer.overruns);
    c_int::try_from(overruns).unwrap_or(c_int::MAX)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_delete(timer: timer_t) -> c_int {
    let Some(name) = made(timer) else {
        return call_next!(DELETE, fn(timer => timer_t));
    };
    let mut timers = timers();
    timers.remove(&name);
    find_next(&timers);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_create(clock: clockid_t, flags: c_int) -> c_int {
    if session().and(origin(clock)).is_none() {
        // SAFETY: it has no addresses.
        return unsafe { libc::syscall(libc::SYS_timerfd_create, clock, flags) as c_int };
    }
    // The flags of both have the same values.
    // SAFETY: they make descriptors.
    let (file, own) = unsafe {
        let file = libc::eventfd(0, flags);
        (file, libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 256))
    };
    if file < 0 || own < 0 {
        return file;
    }
    let timer = Timer {
        clock,
        due: None,
        interval: 0,
        overruns: 0,
        how: RingEffect::Count(own),
    };
    let before = timers().insert(Name::File(file), timer);
    if let Some(RingEffect::Count(own)) = before.map(|timer| timer.how) {
        // The program has closed the descriptor of the same number.
        // SAFETY: a descriptor of ours.
        unsafe { libc::close(own) };
    }
    FILES.fetch_add(1, Ordering::Relaxed);
    file
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_settime(
    file: c_int,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    let Some(session) = session().filter(|_| super::is_file(file)) else {
        // SAFETY: the arguments of the caller; the kernel checks addresses.
        return unsafe { libc::syscall(libc::SYS_timerfd_settime, file, flags, new, old) as c_int };
    };
    if super::is_ready(file) {
        let mut count = 0_u64;
        // SAFETY: a place for the number, which is there.
        unsafe { libc::syscall(libc::SYS_read, file, &raw mut count, size_of::<u64>()) };
    }
    // SAFETY: the caller's times.
    unsafe {
        let absolute = flags & libc::TFD_TIMER_ABSTIME != 0;
        set_time(session, Name::File(file), absolute, new, old)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_gettime(file: c_int, place: *mut itimerspec) -> c_int {
    let Some(session) = session().filter(|_| super::is_file(file)) else {
        // SAFETY: the arguments of the caller; the kernel checks addresses.
        return unsafe { libc::syscall(libc::SYS_timerfd_gettime, file, place) as c_int };
    };
    let timers = timers();
    let now = timers
        .get(&Name::File(file))
        .map(|timer| state(session, timer));
    // SAFETY: null, or the caller's place.
    unsafe { give(place, now.unwrap_or_default()) };
    0
}

/// Whether signals to this thread, or to the process, wait that the mask would let through.
unsafe fn has_pending(mask: *const sigset_t) -> bool {
    // SAFETY: zeros are a valid set; the caller's mask.
    unsafe {
        let mut pending: sigset_t = std::mem::zeroed();
        libc::sigpending(&raw mut pending);
        (1..=libc::SIGRTMAX()).any(|number| {
            libc::sigismember(&raw const pending, number) == 1
                && libc::sigismember(mask, number) == 0
        })
    }
}

/// Sleeps until a timer's signal has been handled; returns whether one was, or no timer is left.
fn handled(session: &Session) -> bool {
    while next() != link::NEVER {
        if until_ring(session, link::NEVER) {
            return true;
        }
    }
    false
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pause() -> c_int {
    if sleeper().is_some_and(handled) {
        return fail(libc::EINTR);
    }
    call_next!(PAUSE, fn())
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigsuspend(mask: *const sigset_t) -> c_int {
    if next() != link::NEVER
        && let Some(session) = sleeper()
        // SAFETY: the caller's mask.
        && !unsafe { has_pending(mask) }
    {
        // SAFETY: the caller's mask.
        if unsafe { masked(mask, || handled(session)) } {
            return fail(libc::EINTR);
        }
    }
    call_next!(SUSPEND, fn(mask => *const sigset_t))
}

/// Takes a waiting signal in a set; sleeps until a timer sends one.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigtimedwait(
    signals: *const sigset_t,
    info: *mut siginfo_t,
    timeout: *const timespec,
) -> c_int {
    // SAFETY: null, or a time of the caller.
    let time = unsafe { timeout.as_ref() }.and_then(span);
    let ends = time.is_some() || next() != link::NEVER;
    let Some(session) = ends.then(sleeper).flatten() else {
        return call_next!(
            TIMEDWAIT,
            fn(signals => *const sigset_t, info => *mut siginfo_t, timeout => *const timespec)
        );
    };
    let end = time.map_or(link::NEVER, |time| session.now().saturating_add(time));
    let none = nanoseconds(0);
    loop {
        let found = call_next!(
            TIMEDWAIT,
            fn(
                signals => *const sigset_t,
                info => *mut siginfo_t,
                &raw const none => *const timespec
            )
        );
        if found >= 0 || session.now() >= end {
            return found;
        }
        if end.min(next()) == link::NEVER {
            return call_next!(
                TIMEDWAIT,
                fn(
                    signals => *const sigset_t,
                    info => *mut siginfo_t,
                    ptr::null() => *const timespec
                )
            );
        }
        if until_ring(session, end) {
            return fail(libc::EINTR);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigwaitinfo(signals: *const sigset_t, info: *mut siginfo_t) -> c_int {
    // SAFETY: the caller's set and place.
    unsafe { sigtimedwait(signals, info, ptr::null()) }
}

/// Returns the error number.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigwait(signals: *const sigset_t, place: *mut c_int) -> c_int {
    loop {
        // SAFETY: the caller's set.
        let found = unsafe { sigtimedwait(signals, ptr::null_mut(), ptr::null()) };
        if found >= 0 {
            // SAFETY: the caller's place.
            unsafe { place.write(found) };
            return 0;
        }
        // SAFETY: the place of this thread's error number.
        let error = unsafe { *libc::__errno_location() };
        if error != libc::EINTR {
            return error;
        }
    }
}
