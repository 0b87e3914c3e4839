//! # Post-compute-wait: communication while the process computes (garcia2005 s3.2)
//!
//! Two processes run on two nodes. In each round the *worker* posts a send to its partner and a
//! receive from it, computes for a given time, and waits for both; the partner posts the same and
//! waits. The worker's three phases are timed separately, as in the paper:
//!
//! | phase | from | to |
//! |---|---|---|
//! | call | `MPI_Isend` | `MPI_Isend` and `MPI_Irecv` have returned |
//! | compute | the end of the call | the computation is over: it touches no memory and makes no calls |
//! | wait | the end of the computation | both the send and the receive are complete |
//!
//! Two results follow: the *CPU availability*, the time in all compute phases over the time in all
//! rounds, and the *bandwidth*, the bytes in both directions over the latter. MPI's *progress rule*
//! asks that transfers end independently of calls: `over` is the fraction of rounds in which both
//! had ended with the computation. Looking is free and has no effect on the run.

use crate::faults::FirstLoss;
use crate::records::{Baseline, Records, Tables};
use crate::rows::MetricRow;
use crate::{Failure, buffer};
use elan::{Cluster, ElanAddr, NodeId, Placement};
use libelan::{Pe, ProcessJob};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::rc::Rc;
use units::{Bytes, Rate, Time};

/// A point's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlap {
    /// The worker's node.
    pub from: u32,
    /// Its partner's node.
    pub to: u32,
    /// Message length, in main memory at both ends.
    pub message: Bytes,
    /// How long the worker computes in each round.
    pub compute: Time,
    /// Rounds that are measured, at least 1; one round before them is not measured.
    pub repeats: u32,
}

/// Sums over the measured rounds.
#[derive(Clone, Copy, Default)]
struct Phases {
    call: Time,
    compute: Time,
    wait: Time,
    /// Rounds in which both transfers were over when the computation was.
    over: u32,
}

impl Overlap {
    /// Runs until the last round is over.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(&self, mut cluster: Cluster) -> Result<Records, Failure> {
        let baseline = Baseline::take(&cluster);
        let (phases, lost) = (Rc::new(Cell::new(Phases::default())), FirstLoss::default());
        let job = ProcessJob::at("overlap", [self.from, self.to].map(NodeId::new))?;
        for pe in job.attach(&cluster)? {
            let map = || buffer(&pe, Placement::Main, self.message);
            let buffers = [map()?, map()?];
            let (label, phases) = (pe.label().clone(), Rc::clone(&phases));
            let host = pe.node().clone();
            host.spawn(label, (*self).rounds(pe, buffers, phases, lost.clone()));
        }
        lost.end(cluster.run())?;

        let Phases {
            call,
            compute,
            wait,
            over,
        } = phases.get();
        let (total, rounds) = (call + compute + wait, f64::from(self.repeats));
        // The worker's host may have stopped before its first round was over.
        if total.is_zero() {
            return Ok(baseline.finish(&cluster, Tables::default()));
        }
        let bytes = self.message * 2 * u64::from(self.repeats);
        let share = |part: Time| part.as_us_f64() / total.as_us_f64();
        let mean = |sum: Time| sum.as_us_f64() / rounds;
        let rows = vec![
            MetricRow::new("call", "us", mean(call)),
            MetricRow::new("compute_phase", "us", mean(compute)),
            MetricRow::new("wait", "us", mean(wait)),
            MetricRow::new("round", "us", mean(total)),
            MetricRow::new("availability", "fraction", share(compute)),
            MetricRow::new("bandwidth", "MB/s", Rate::of(bytes, total)),
            MetricRow::new("over", "fraction", f64::from(over) / rounds),
        ];
        Ok(baseline.finish(&cluster, rows.into()))
    }

    /// The program of each of the two processes; the first is the worker.
    async fn rounds(
        self,
        pe: Pe,
        [from, to]: [ElanAddr; 2],
        phases: Rc<Cell<Phases>>,
        lost: FirstLoss,
    ) {
        let (mpi, other, size) = (pe.mpi(), 1 - pe.vp().get(), self.message);
        let worker = mpi.rank() == 0;
        for round in 0..=self.repeats {
            let begin = pe.now();
            let send = mpi.isend(other, 0, from, size);
            let receive = mpi.irecv(other, 0, to, size);
            // The calls return immediately, and their instructions precede the processor's next
            // work.
            pe.compute(Time::ZERO).await;
            let called = pe.now();
            if worker {
                pe.compute(self.compute).await;
            }
            let (computed, over) = (pe.now(), send.is_done() && receive.is_done());
            for request in [send, receive] {
                if lost.value(pe.node(), mpi.wait(request).await).is_none() {
                    return;
                }
            }
            if worker && round > 0 {
                let so_far = phases.get();
                phases.set(Phases {
                    call: so_far.call + (called - begin),
                    compute: so_far.compute + (computed - called),
                    wait: so_far.wait + (pe.now() - computed),
                    over: so_far.over + u32::from(over),
                });
            }
        }
    }
}
