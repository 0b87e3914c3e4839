//! Many comparisons on all cores, and what they add up to.

use fabric::Cycle;
use std::fmt::{self, Display, Formatter};
use std::ops::AddAssign;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};

/// What has been compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub cases: u64,
    pub cycles: Cycle,
    /// Packets that were done.
    pub packets: u64,
    /// Headers, heads and tails.
    pub moments: u64,
    /// Links that began or ceased to send flits, where there was a checkpoint after every cycle.
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
            cases,
            cycles,
            packets,
            moments,
            changes,
        } = self;
        write!(
            f,
            "{cases} cases, {cycles} cycles, {packets} packets; {moments} headers, heads and tails; {changes} changes of flow"
        )
    }
}

/// Runs the cases with the numbers from `first` on, at most `limit`, none that would begin after `patience`, on all cores.
/// Prints what was compared, or panics with the first report.
pub fn search(
    first: u64,
    limit: u64,
    patience: Duration,
    run: impl Fn(u64) -> Result<Tally, String> + Sync,
) {
    let begin = Instant::now();
    let begun = AtomicU64::new(0);
    let results = Mutex::new((Tally::default(), None));
    let work = || {
        while begin.elapsed() < patience && results.lock().expect("no panic").1.is_none() {
            let number = begun.fetch_add(1, Ordering::Relaxed);
            if number >= limit {
                return;
            }
            let begins = begin.elapsed();
            let result = run(first.wrapping_add(number));
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
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let (tally, report) = results.into_inner().expect("no panic");
    if let Some(report) = report {
        panic!("{report}");
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{tally}, from seed {first} on, in {seconds:.0} s: no difference");
}
