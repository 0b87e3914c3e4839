//! # Ping (petrini2003 s4.1, s4.2)
//!
//! One message at a time goes from one node to another, or in both directions at the same time.
//! Bandwidth is size over latency. With both directions each is measured, and the figures are per
//! direction. The latency's definition depends on the library:
//!
//! * *Elan3lib*: the time from posting the remote DMA to the completion notice at the destination;
//! * *MPI*: with one direction, half a message's round trip, sent back immediately; with both, the
//!   time from `MPI_Irecv` and `MPI_Isend`, which both processes call, until both are complete
//!   (garcia2005 s3.1). `MPI_Sendrecv` does the same.

use crate::faults::FirstLoss;
use crate::records::{Baseline, Records, Tables};
use crate::rows::MetricRow;
use crate::{Failure, buffer};
use derive::choice;
use elan::{Cluster, Dma, DmaError, ElanAddr, Node, NodeId, Placement, Transfer};
use libelan::{Pe, ProcessJob};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use units::{Bytes, Rate, Time};

/// The messages in a ping that travel at the same time.
#[choice]
pub enum Directions {
    /// From the first node to the second.
    One,
    /// Both ways.
    Both,
}

/// The library that moves a ping's messages.
#[choice]
pub enum Library {
    /// Remote DMAs in Elan3lib.
    Elan3,
    /// Blocking MPI calls: a round trip, or `MPI_Sendrecv`.
    Mpi,
}

/// A point's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// The first node.
    pub from: u32,
    /// The second node.
    pub to: u32,
    /// Which messages travel.
    pub directions: Directions,
    /// Where the sender's buffer lies.
    pub source: Placement,
    /// Where the receiver's buffer lies.
    pub destination: Placement,
    /// Message length.
    pub message: Bytes,
    /// Messages in each direction, at least 1; with one direction of MPI the same number returns.
    pub repeats: u32,
    /// The library that moves the messages; Elan3lib by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<Library>,
}

/// Pause between two messages, longer than anything that the last message leaves behind.
const PAUSE: Time = Time::from_us(5);

/// All message latencies.
type Latencies = Rc<RefCell<Vec<Time>>>;

impl Ping {
    /// Runs until the last message is complete.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(&self, mut cluster: Cluster) -> Result<Records, Failure> {
        let baseline = Baseline::take(&cluster);
        let (latencies, lost) = (Latencies::default(), FirstLoss::default());
        match self.library.unwrap_or(Library::Elan3) {
            Library::Elan3 => self.launch(&cluster, &latencies, &lost),
            Library::Mpi => self.launch_mpi(&cluster, &latencies, &lost)?,
        }
        lost.end(cluster.run())?;

        let latencies = latencies.borrow();
        let total: Time = latencies.iter().sum();
        let wire = cluster.config().packet.message_wire(self.message);
        let count = latencies.len() as u64;
        let bandwidth = |size| Rate::of(size * count, total);
        // The host that measures may have stopped before the first message was over.
        if count == 0 {
            return Ok(baseline.finish(&cluster, Tables::default()));
        }
        let rows = vec![
            MetricRow::new("latency", "us", total.as_us_f64() / count as f64),
            MetricRow::new("bandwidth", "MB/s", bandwidth(self.message)),
            MetricRow::new("wire_bandwidth", "MB/s", bandwidth(wire)),
        ];
        Ok(baseline.finish(&cluster, rows.into()))
    }

    fn launch(&self, cluster: &Cluster, latencies: &Latencies, lost: &FirstLoss) {
        let mut pairs = vec![(self.from, self.to)];
        if self.directions == Directions::Both {
            pairs.push((self.to, self.from));
        }
        for (from, to) in pairs {
            // Each direction is a separate job, with its own address spaces.
            let capability = cluster.capability();
            let [a, b] = [from, to].map(|node| {
                let process = cluster.node(node.into()).attach(capability);
                process.expect("there are contexts for two")
            });
            let label = format!("ping {from} to {to}");
            let host = a.clone();
            host.spawn(
                label,
                (*self).send(a, b, Rc::clone(latencies), lost.clone()),
            );
        }
    }

    async fn send(self, a: Node, b: Node, latencies: Latencies, lost: FirstLoss) {
        let from = a.reserve(self.source, self.message);
        let to = b.reserve(self.destination, self.message);
        let arrived = b.event(1);
        for _ in 0..self.repeats {
            let posted = a.now();
            let dma = Dma::new(from.start(), to.start(), self.message).notify(arrived);
            let mut transfer = a.dma(dma);
            let outcome = arrives(b.wait(arrived), &mut transfer).await;
            if lost.value(&a, outcome).is_none() {
                return;
            }
            latencies.borrow_mut().push(b.now() - posted);
            if lost.value(&a, transfer.await).is_none() {
                return;
            }
            b.prime(arrived, 1);
            a.sleep(PAUSE).await;
        }
    }

    fn launch_mpi(
        &self,
        cluster: &Cluster,
        latencies: &Latencies,
        lost: &FirstLoss,
    ) -> Result<(), Failure> {
        let job = ProcessJob::at("ping", [self.from, self.to].map(NodeId::new))?;
        for pe in job.attach(cluster)? {
            let map = |placement| buffer(&pe, placement, self.message);
            let buffers = [map(self.source)?, map(self.destination)?];
            let label = pe.label().clone();
            let host = pe.node().clone();
            host.spawn(
                label,
                (*self).exchange(pe, buffers, Rc::clone(latencies), lost.clone()),
            );
        }
        Ok(())
    }

    /// The program of each of the two processes.
    async fn exchange(self, pe: Pe, buffers: [ElanAddr; 2], latencies: Latencies, lost: FirstLoss) {
        let ([from, to], size) = (buffers, self.message);
        let (mpi, other) = (pe.mpi(), 1 - pe.vp().get());
        for round in 0..=self.repeats {
            let begin = pe.now();
            let exchanged = async {
                match self.directions {
                    Directions::Both => {
                        let receive = mpi.irecv(other, 0, to, size);
                        let send = mpi.isend(other, 0, from, size);
                        mpi.wait(send).await?;
                        mpi.wait(receive).await
                    }
                    Directions::One if mpi.rank() == 0 => {
                        mpi.send(other, 0, from, size).await?;
                        mpi.recv(other, 0, to, size).await
                    }
                    Directions::One => {
                        let received = mpi.recv(other, 0, to, size).await?;
                        mpi.send(other, 0, from, size).await?;
                        Ok(received)
                    }
                }
            };
            if lost.value(pe.node(), exchanged.await).is_none() {
                return;
            }
            let latency = match self.directions {
                Directions::Both => Some(pe.now() - begin),
                Directions::One => (mpi.rank() == 0).then(|| (pe.now() - begin) / 2),
            };
            // The first round finds both processes in another state than all later rounds do.
            latencies.borrow_mut().extend(latency.filter(|_| round > 0));
        }
    }
}

/// Waits until a message has arrived, or its sending has failed.
async fn arrives(
    arrived: impl Future<Output = ()>,
    transfer: &mut Transfer,
) -> Result<(), DmaError> {
    let mut arrived = pin!(arrived);
    poll_fn(|context| {
        if arrived.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        match Pin::new(&mut *transfer).poll(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Pending,
        }
    })
    .await
}
