//! Many comparisons on all cores, and their sum.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

use fabric::Cycle;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::io::{Write, stderr};
use std::ops::AddAssign;
use std::process::exit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{ScopedJoinHandle, available_parallelism, scope, sleep};
use std::time::{Duration, Instant};

/// The comparison's extent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub cases: u64,
    pub cycles: Cycle,
    /// Packets that were done.
    pub packets: u64,
    /// Headers, heads and tails.
    pub moments: u64,
    /// How often links began or ceased to send flits, counted where there was a checkpoint after
    /// every cycle.
    pub changes: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.cases += other.cases;
        self.cycles += other.cycles;
        self.packets += other.packets;
        self.moments += other.moments;
        self.changes += other.changes;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Tally {
            moments, changes, ..
        } = self;
        write!(
            f,
            "{} cases, {} cycles, {} packets; ",
            self.cases, self.cycles, self.packets
        )?;
        write!(
            f,
            "{moments} headers, heads and tails; {changes} changes of flow"
        )
    }
}

/// Runs the cases with the seeds from `first` on, at most `limit`, on all cores; no case begins
/// after `patience`. Prints the comparison's extent, or panics with the first report. A case that
/// takes longer than `longest` hangs.
pub fn search(
    first: u64,
    limit: u64,
    patience: Duration,
    longest: Duration,
    run: impl Fn(u64) -> Result<Tally, String> + Sync,
) {
    let begin = Instant::now();
    let begun = AtomicU64::new(0);
    let running = Mutex::new(BTreeMap::new());
    let results = Mutex::new((Tally::default(), None));
    let work = || {
        while begin.elapsed() < patience && results.lock().expect("no panic").1.is_none() {
            let number = begun.fetch_add(1, Ordering::Relaxed);
            if number >= limit {
                return;
            }
            let (begins, seed) = (begin.elapsed(), first.wrapping_add(number));
            running.lock().expect("no panic").insert(seed, begins);
            let result = run(seed);
            running.lock().expect("no panic").remove(&seed);
            let (tally, report) = &mut *results.lock().expect("no panic");
            match result {
                Ok(compared) => *tally += compared,
                Err(found) => {
                    let seconds = begins.as_secs_f64();
                    report.get_or_insert_with(|| {
                        format!("the movers differ, after {seconds:.1} s and {tally}\n\n{found}")
                    });
                }
            }
        }
    };
    scope(|scope| {
        let threads = available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            sleep(Duration::from_millis(20));
            let running = running.lock().expect("no panic");
            let mut hanging = running
                .iter()
                .filter(|&(_, &begins)| begin.elapsed() > begins + longest);
            if let Some((seed, _)) = hanging.next() {
                // A thread cannot be ended from outside. Output that is printed in the usual way
                // would be lost.
                let seconds = longest.as_secs();
                let _ = writeln!(
                    stderr(),
                    "a mover hangs: seed {seed} has not ended after {seconds} s"
                );
                exit(101);
            }
        }
    });
    let (tally, report) = results.into_inner().expect("no panic");
    if let Some(report) = report {
        panic!("{report}");
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{tally}, from seed {first} on, in {seconds:.0} s: no difference");
}
