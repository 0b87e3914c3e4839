//! This process becomes a rank in the simulation: it attaches to the simulator, and notifies the
//! modules that watch over clocks, calls and the process manager.

#![allow(unsafe_code)] // the environment, and a C function

use crate::manager;
use crate::progress::ProgressEngine;
use link::{LinkError, StrayReason};
use rank::session::{self, Session};
use rank::thread;
use std::sync::OnceLock;

/// MPI has been initialised in this process without a part in the run. The simulator ends the run,
/// and with it this process.
pub fn strays(why: StrayReason) {
    let Some((_, starter)) = node::starter() else {
        return;
    };
    starter.strays(why);
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    loop {
        // SAFETY: it waits for a signal.
        unsafe { libc::pause() };
    }
}

/// Makes this process the rank that its environment names.
///
/// # Errors
/// If the environment names no rank, or the simulator does not take the rank; the error is a text
/// for people.
pub fn join() -> Result<(), String> {
    let path = std::env::var(link::PATH_VARIABLE)
        .map_err(|_| format!("{} is not set", link::PATH_VARIABLE))?;
    let rank =
        node::own_rank().ok_or_else(|| format!("none of {} is set", node::RANKS.join(", ")))?;
    attach(&path, rank).map_err(|error| error.to_string())?;
    leave_children_alone();
    Ok(())
}

/// A call in the moment in which this process becomes a rank.
static THEN: OnceLock<fn()> = OnceLock::new();

/// Registers the only call in the moment in which this process becomes a rank, within `MPI_Init`.
pub fn then(call: fn()) {
    THEN.get_or_init(|| call);
}

/// Attaches the process, or lets it come back if it has left the simulation.
///
/// # Errors
/// See [`LinkError`].
pub fn attach(path: &str, rank: u32) -> Result<&'static Session, LinkError> {
    if let Some(session) = session::shown() {
        session.come_back()?;
        return Ok(session);
    }
    let session = session::begin(path, rank, Box::<ProgressEngine>::default())?;
    clock::attached();
    thread::drives();
    manager::attached();
    if let Some(call) = THEN.get() {
        call();
    }
    // SAFETY: the handler only writes a few words.
    unsafe { libc::atexit(exits) };
    // The starter of this process watches over it; without a starter, this process would never be
    // ended.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    Ok(session)
}

extern "C" fn exits() {
    if let Some(session) = session::shown() {
        session.exits();
    }
}

/// Takes this library out of the environment, so that programs which the rank starts run without
/// it. Those with MPI, as under an `mpiexec` that the rank starts, find this computer's networks.
fn leave_children_alone() {
    const PRELOAD: &str = "LD_PRELOAD";
    // libfabric has read them in this process.
    const PROVIDER: [&str; 2] = ["FI_PROVIDER", "FI_PROVIDER_PATH"];
    for name in PROVIDER {
        // SAFETY: MPI libraries open the domain while they are initialised, in the thread that does
        // it; they read and change the environment then, too.
        unsafe { std::env::remove_var(name) };
    }
    let Ok(all) = std::env::var(PRELOAD) else {
        return;
    };
    let others: Vec<&str> = all
        .split([':', ' '])
        .filter(|path| !path.is_empty() && !path.ends_with("libelanite-fi.so"))
        .collect();
    // SAFETY: as above.
    unsafe {
        if others.is_empty() {
            std::env::remove_var(PRELOAD);
        } else {
            std::env::set_var(PRELOAD, others.join(":"));
        }
    }
}
