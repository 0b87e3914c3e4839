//! # Ping (petrini2003 s4.1, s4.2)
//!
//! One message at a time goes from one node to another, or in both directions at the same time. Bandwidth is size over latency.
//! With both directions each is measured, and the figures are per direction. The definition of latency depends on the library:
//!
//! * *Elan3lib*: the elapsed time between the posting of the remote DMA and the notification of its completion at the
//!   destination;
//! * *MPI*: with one direction, half the round trip of a message that is sent back at once; with both, the time from
//!   `MPI_Irecv` and `MPI_Isend`, which both processes call, to the end of both (garcia2005 s3.1). `MPI_Sendrecv` does the same.

use crate::records::{Baseline, Records, Row};
use crate::{Failure, buffer};
use elan::{Cluster, Dma, ElanAddr, Node, NodeId, Placement};
use libelan::{Job, Pe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Rate, Time};

/// Which messages of a ping travel at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// From the first node to the second.
    One,
    /// Both ways.
    Both,
}

/// What moves the messages of a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Library {
    /// Remote DMAs of Elan3lib.
    Elan3,
    /// Blocking calls of MPI: a round trip, or `MPI_Sendrecv`.
    Mpi,
}

/// The parameters of one point.
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
    /// Length of each message.
    pub message: Bytes,
    /// Messages in each direction, at least 1; with one direction of MPI as many messages come back.
    pub repeats: u32,
    /// What moves the messages; Elan3lib by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<Library>,
}

/// Pause between two messages, longer than anything that the last message leaves behind.
const PAUSE: Time = Time::from_us(5);

/// The latencies of all messages.
type Latencies = Rc<RefCell<Vec<Time>>>;

impl Ping {
    /// Runs to the end of the last message.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(&self, mut cluster: Cluster) -> Result<Records, Failure> {
        let baseline = Baseline::take(&cluster);
        let latencies = Latencies::default();
        match self.library.unwrap_or(Library::Elan3) {
            Library::Elan3 => self.launch(&mut cluster, &latencies),
            Library::Mpi => self.launch_mpi(&mut cluster, &latencies)?,
        }
        cluster.run()?;

        let latencies = latencies.borrow();
        let total: Time = latencies.iter().sum();
        let wire = cluster.config().packet.message_wire(self.message);
        let count = latencies.len() as u64;
        let bandwidth = |size| Rate::of(size * count, total);
        let rows = vec![
            Row::new("latency", "us", total.as_us_f64() / count as f64),
            Row::new("bandwidth", "MB/s", bandwidth(self.message)),
            Row::new("wire_bandwidth", "MB/s", bandwidth(wire)),
        ];
        Ok(baseline.finish(&cluster, rows.into()))
    }

    fn launch(&self, cluster: &mut Cluster, latencies: &Latencies) {
        let mut pairs = vec![(self.from, self.to)];
        if self.directions == Directions::Both {
            pairs.push((self.to, self.from));
        }
        for (from, to) in pairs {
            // Each direction is a job of its own, with its own address spaces.
            let capability = cluster.capability();
            let [a, b] = [from, to].map(|node| {
                let process = cluster.node(node.into()).attach(capability);
                process.expect("there are contexts for two")
            });
            let label = format!("ping {from} to {to}");
            cluster.spawn(label, (*self).send(a, b, Rc::clone(latencies)));
        }
    }

    async fn send(self, a: Node, b: Node, latencies: Latencies) {
        let from = a.reserve(self.source, self.message);
        let to = b.reserve(self.destination, self.message);
        let arrived = b.event(1);
        for _ in 0..self.repeats {
            let posted = a.now();
            let transfer = a.dma(Dma::new(from.start(), to.start(), self.message).notify(arrived));
            b.wait(arrived).await;
            latencies.borrow_mut().push(b.now() - posted);
            let sent = transfer.await;
            sent.expect("both buffers are of the message's length");
            b.prime(arrived, 1);
            a.sleep(PAUSE).await;
        }
    }

    fn launch_mpi(&self, cluster: &mut Cluster, latencies: &Latencies) -> Result<(), Failure> {
        let job = Job::at("ping", [self.from, self.to].map(NodeId::new))?;
        for pe in job.attach(cluster)? {
            let map = |placement| buffer(&pe, placement, self.message);
            let buffers = [map(self.source)?, map(self.destination)?];
            let label = pe.label().clone();
            cluster.spawn(label, (*self).exchange(pe, buffers, Rc::clone(latencies)));
        }
        Ok(())
    }

    /// What each of the two processes does.
    async fn exchange(self, pe: Pe, buffers: [ElanAddr; 2], latencies: Latencies) {
        let ([from, to], size) = (buffers, self.message);
        let (mpi, other) = (pe.mpi(), 1 - pe.vp().get());
        let failed = "both buffers are of the message's length";
        for round in 0..=self.repeats {
            let begin = pe.now();
            let latency = match self.directions {
                Directions::Both => {
                    let receive = mpi.irecv(other, 0, to, size);
                    let send = mpi.isend(other, 0, from, size);
                    mpi.wait(send).await.expect(failed);
                    mpi.wait(receive).await.expect(failed);
                    Some(pe.now() - begin)
                }
                Directions::One if mpi.rank() == 0 => {
                    mpi.send(other, 0, from, size).await.expect(failed);
                    mpi.recv(other, 0, to, size).await.expect(failed);
                    Some((pe.now() - begin) / 2)
                }
                Directions::One => {
                    mpi.recv(other, 0, to, size).await.expect(failed);
                    mpi.send(other, 0, from, size).await.expect(failed);
                    None
                }
            };
            // The first round finds both processes in another state than all later rounds do.
            latencies.borrow_mut().extend(latency.filter(|_| round > 0));
        }
    }
}
