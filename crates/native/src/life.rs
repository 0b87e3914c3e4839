//! A process becomes a rank by its first call to our libraries; the rank ends with its process.

use super::{memory, spin};
use fi::{attach, manager};
use rank::session::{self, Session};
use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

/// The process that uses the session: a child that shares its memory is another one.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// This process's session; the process becomes a rank by the first call. Ends the process with a
/// message if there is no simulator.
#[inline]
pub fn session() -> &'static Session {
    match session::get() {
        Some(session) if session::is_kept() => session,
        _ => begin(),
    }
}

#[cold]
fn begin() -> &'static Session {
    if session::is_child() {
        stop(
            "a process that a rank has started is no rank, and cannot call the simulated libraries",
        );
    }
    if session::is_kept() {
        // The program's handlers that run when it exits, after ours.
        eprintln!("elanite: the rank has left the simulation, since its process exits");
        // SAFETY: it ends the process immediately.
        unsafe { libc::_exit(1) };
    }
    if std::env::var_os(link::PATH_VARIABLE).is_none() {
        stop(
            "this program needs a simulated machine; start it with: elanite prun -n RANKS \
            --machine MACHINE PROGRAM",
        );
    }
    if session::get().is_none()
        && let Err(why) = attach::join()
    {
        stop(&why);
    }
    let Some(session) = session::get() else {
        stop("the rank has left the simulation");
    };
    super::serve();
    if !session::keep() {
        memory::offer_static();
        if session.rank().1 > 1 && memory::program_is_movable() && addresses_are_random() {
            stop(
                "this computer does not let programs start at the same addresses in all ranks; \
                link the program at fixed \
                 addresses, by the option -no-pie",
            );
        }
        spin::begin();
        // SAFETY: it asks only.
        PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
        // SAFETY: the handler is one of C, and needs no argument.
        unsafe { on_exit(exits, std::ptr::null_mut()) };
    }
    session
}

/// Whether this process has got random addresses.
fn addresses_are_random() -> bool {
    const ASK: libc::c_ulong = 0xffff_ffff;
    // SAFETY: it asks only.
    unsafe { libc::personality(ASK) & libc::ADDR_NO_RANDOMIZE == 0 }
}

/// Before the program begins: reports that it was started, and gives it variables that describe its
/// node, and those by Quadrics' resource manager (`RMS_*`).
extern "C" fn tell() {
    let Some((rank, starter)) = node::starter() else {
        return;
    };
    starter.starts();
    manager::started();
    node::describe();
    let nodes = starter.nodes();
    let all: BTreeSet<u32> = nodes.iter().copied().collect();
    let place = nodes.get(rank as usize);
    let place = place.map_or(0, |node| all.range(..node).count());
    let variables = [
        ("RMS_RANK", rank as usize),
        ("RMS_PROCID", rank as usize),
        ("RMS_NPROCS", nodes.len()),
        ("RMS_NNODES", all.len()),
        ("RMS_NODEID", place),
        ("RMS_JOBID", 1),
    ];
    for (name, value) in variables {
        // SAFETY: the program has not begun, and there is one thread.
        unsafe { std::env::set_var(name, value.to_string()) };
    }
}

/// The function that the loader calls before the program begins.
#[used]
#[unsafe(link_section = ".init_array")]
static TELL: extern "C" fn() = tell;

/// Ends the process with a message.
pub fn stop(why: &str) -> ! {
    eprintln!("elanite: {why}");
    std::process::exit(1)
}

unsafe extern "C" {
    /// In the GNU C library: like `atexit`, for a function that gets the exit code and an argument.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// The process exits. With code 0 the rank leaves the simulation in order: programs need not call
/// anything at their end.
extern "C" fn exits(code: c_int, _argument: *mut c_void) {
    if code == 0
        && let Some(session) = session::get()
    {
        session.leave_if_free();
    }
}

/// The process ends without its handlers, as runtimes on top of our libraries do: the rank still
/// leaves the simulation.
#[unsafe(no_mangle)]
extern "C" fn _exit(code: c_int) -> ! {
    end(code)
}

/// The same by its name in the C standard.
#[unsafe(no_mangle)]
extern "C" fn _Exit(code: c_int) -> ! {
    end(code)
}

fn end(code: c_int) -> ! {
    // SAFETY: it asks only.
    if session::is_kept() && PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() } {
        exits(code, std::ptr::null_mut());
    }
    vanish(code)
}

/// The process is gone immediately, and the rank does not leave the simulation in order.
pub fn vanish(code: c_int) -> ! {
    loop {
        // SAFETY: it ends the process.
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}
