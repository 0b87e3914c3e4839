//! The watch over a run's processes, while the simulator waits for them.

#![expect(clippy::disallowed_methods, reason = "processes live in real time")]

pub(crate) mod cores;
pub(crate) mod processes;

use link::{RankPhase, Simulator};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the watch looks while the simulator waits for ranks.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// How often it looks while there is always a rank that continues: a look at all processes takes a
/// while.
const LONG: Duration = Duration::from_millis(500);

/// How long the run may go on after a process has ended without having attached: if it failed,
/// mpiexec ends the others.
const ABSENCE: Duration = Duration::from_secs(1);

/// Why the wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// This rank's process is gone, and the rank has not finished.
    Died(u32),
    /// The program that starts the ranks is gone.
    LauncherGone,
    /// Somebody asked for the end.
    Cancelled,
    /// Bytes have changed on their way.
    Corrupted,
    /// A rank has broken the rules.
    Foul,
    /// A rank's time has reached the end of simulated time.
    Horizon,
    /// A process in this rank has initialised MPI without a part in the run.
    Stray(u32),
    /// A rank's process has ended without having attached, and others continue.
    Absent,
    /// The rank, which has its turn, waits for its own lock, which no other thread can free.
    Locked(u32),
}

pub(crate) struct Watch {
    /// Whether a rank that ends is harmless, since the others go on.
    pub keep_going: bool,
    pub cancel: Arc<AtomicBool>,
    pub launcher: u32,
    last: Instant,
    /// Since when a rank is known to be absent.
    absent: Option<Instant>,
}

impl Watch {
    pub fn new(cancel: Arc<AtomicBool>, launcher: u32, keep_going: bool) -> Self {
        Watch {
            keep_going,
            cancel,
            launcher,
            last: Instant::now(),
            absent: None,
        }
    }

    /// Looks, if the last look was a while ago.
    pub fn look_sometimes(&mut self, link: &Simulator) -> Result<(), WaitEnd> {
        if self.last.elapsed() < LONG {
            return Ok(());
        }
        self.look(link)
    }

    /// Looks whether all processes run.
    pub fn look(&mut self, link: &Simulator) -> Result<(), WaitEnd> {
        self.last = Instant::now();
        if self.cancel.load(Ordering::Relaxed) {
            return Err(WaitEnd::Cancelled);
        }
        for rank in 0..link.ranks() {
            if !self.keep_going && is_dead(link, rank) && !link.phase(rank).is_out() {
                return Err(WaitEnd::Died(rank));
            }
            if link.stray(rank).is_some() {
                return Err(WaitEnd::Stray(rank));
            }
        }
        // The launcher ends when all ranks have ended.
        let is_gone = |rank| link.phase(rank).is_out() || self.keep_going && is_dead(link, rank);
        let all_out = || (0..link.ranks()).all(is_gone);
        if !lives(self.launcher) && !all_out() {
            return Err(WaitEnd::LauncherGone);
        }
        if (0..link.ranks()).any(|rank| is_absent(link, rank)) {
            let since = *self.absent.get_or_insert(self.last);
            if since.elapsed() >= ABSENCE {
                return Err(WaitEnd::Absent);
            }
        }
        Ok(())
    }
}

impl Watch {
    /// Whether the program that starts the ranks runs.
    pub fn launcher_lives(&self) -> bool {
        lives(self.launcher)
    }
}

/// Whether a rank has attached, and its process has ended.
pub(crate) fn is_dead(link: &Simulator, rank: u32) -> bool {
    link.pid(rank).is_some_and(|pid| !lives(pid))
}

/// Whether the process that was started as a rank has ended, and no process has attached as this
/// rank.
pub(crate) fn is_absent(link: &Simulator, rank: u32) -> bool {
    let ended = || link.started(rank).is_some_and(|pid| !lives(pid));
    link.phase(rank) == RankPhase::Absent && ended() && link.phase(rank) == RankPhase::Absent
}

/// Whether a process runs; a process that has ended and was not waited for does not.
fn lives(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The name, in parentheses, may hold anything; the state follows it.
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}
