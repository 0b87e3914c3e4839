//! Programs that wait for a word in their memory without a call.
//!
//! Quadrics programs loop on a word that the adapter writes. Such a loop gives no turn away, so
//! simulated time stands still and the word never changes. This module finds such loops and waits
//! in their place.
//!
//! *When it looks.* A timer counts the thread's processor time. If the program has used this much
//! ([`FIRST`]) without a call, the program is watched for a while: the processor stops behind each
//! instruction (the trap flag of x86-64).
//!
//! *The search.* It looks for a loop that can end only if others write into the rank's memory. This
//! is *proven* if two rounds of the loop have passed through the same register states, and if no
//! instruction in them changed memory by a value that it found there ([`decode`]). Both rounds then
//! store the same, so all further rounds are equal as well. The rank gives its turn away, as in
//! [`super::wait_for_change`], and the loop continues at the moment of the next change; the
//! simulated processor takes as long to see the change as a call that polls. Host time has no
//! influence: however late the loop is found, simulated time stood still. A rank that loops for
//! ever is part of a deadlock, and reported.
//!
//! *Unproven loops.* A loop that counts its rounds changes a register in each. It is *likely* to
//! wait if it is short, and reads a word that others may write, again and again and without writing
//! there. Such a rank lets time pass to the next change, at most by the longest step of a polling
//! program. A computation may look the same, and its time would then depend on the host; so the run
//! is marked as not repeatable.
//!
//! *Cost.* A program that computes is watched ever more rarely ([`RAREST`]). Once a loop is known,
//! a second timer looks soon after each call ([`SOON`]), and then ever more rarely ([`LATEST`]),
//! whether the program is in that loop again.
//!
//! On other processors than x86-64 no loop can be proven: a program that makes no call for
//! [`PATIENCE`] periods lets time pass as in a loop that is likely to wait.

#[cfg(target_arch = "x86_64")]
mod decode;
mod signal;
mod timer;
#[cfg(target_arch = "x86_64")]
mod trace;

use link::{Patience, RankWait};
use rank::session;
use rank::thread;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Processor time without a call after which a program is watched, in nanoseconds.
const FIRST: u64 = 20_000_000;

/// The longest time between two watches over a program that does not wait.
const RAREST: u64 = 500_000_000;

/// Real time after a call after which a program that has waited in a loop is looked at again.
const SOON: u64 = 20_000;

/// The longest time until the next such look, if the program computes before it loops again.
const LATEST: u64 = 5_000_000;

/// Periods without a call after which a program is taken to wait, where it cannot be watched.
#[cfg(not(target_arch = "x86_64"))]
const PATIENCE: u64 = 3;

/// How often the program has called us, or has waited here.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Whether the program has waited in a loop.
static KNOWN: AtomicBool = AtomicBool::new(false);

/// The program has called us: it does not wait without a call.
#[inline]
pub fn called() {
    CALLS.fetch_add(1, Ordering::Relaxed);
    if KNOWN.load(Ordering::Relaxed) {
        timer::soon();
    }
}

/// Watches over this thread, which is the rank's.
pub fn begin() {
    signal::begin();
}

/// Why the rank lets time go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loop {
    Proven,
    Likely,
}

/// Waits in a loop's place. This runs in a signal handler; the thread was in the loop, not in this
/// library, and not in the C library, so no lock is held.
fn wait(why: Loop) {
    let Some(session) = session::get() else {
        return;
    };
    let Some(mut state) = session.try_lock() else {
        return;
    };
    KNOWN.store(true, Ordering::Relaxed);
    CALLS.fetch_add(1, Ordering::Relaxed);
    session.in_call(link::calls::LOOP);
    let patience = match why {
        Loop::Proven => super::patience(session),
        Loop::Likely => {
            let longest = session.settings().longest_tick;
            Patience {
                guessed: true,
                ..Patience::until(session.now().saturating_add(longest))
            }
        }
    };
    let patience = Patience {
        writes: true,
        ..patience
    };
    session.wait(&mut state, RankWait::Report(patience));
    session.in_call(0);
    drop(state);
    session.ring();
    thread::waited();
    timer::waits();
}

/// Whether the thread may be watched: it is a rank's, and in no call.
fn may_watch() -> bool {
    session::get().is_some() && !session::is_held() && thread::outside()
}
