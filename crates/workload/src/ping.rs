//! # Ping (000 s4.1, s4.2)
//!
//! One message at a time from one node to another, or at the same time in both directions. Latency is the elapsed time
//! between the posting of the remote DMA and the notification of its completion at the destination; bandwidth is size
//! over latency. With both directions each is measured, and the figures are per direction.

use crate::records::{Baseline, Records, Row};
use elan::{Cluster, Dma, Node, Placement, Stop};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Rate, Time};

/// Which messages travel at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    /// From the first node to the second.
    One,
    /// Both ways.
    Both,
}

/// The parameters of one point.
#[derive(Clone, Copy, Debug)]
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
    /// Messages in each direction, at least 1.
    pub repeats: u32,
}

/// Pause between two messages, longer than anything that the last one leaves behind.
const PAUSE: Time = Time::from_us(5);

impl Ping {
    /// Runs to the end of the last message.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run(&self, mut cluster: Cluster) -> Result<Records, Stop> {
        let baseline = Baseline::take(&cluster);
        let latencies = Rc::new(RefCell::new(Vec::new()));
        let mut pairs = vec![(self.from, self.to)];
        if self.directions == Directions::Both {
            pairs.push((self.to, self.from));
        }
        for (from, to) in pairs {
            // Each direction is a job of its own, with its own address spaces.
            let capability = cluster.capability();
            let [a, b] = [from, to].map(|node| {
                let process = cluster.node(node).attach(capability);
                process.expect("there are contexts for two")
            });
            cluster.spawn(
                format!("ping {from} to {to}"),
                (*self).send(a, b, Rc::clone(&latencies)),
            );
        }
        cluster.run()?;

        let latencies = latencies.borrow();
        let total: Time = latencies.iter().sum();
        let wire = cluster.config().packet.message_wire(self.message);
        let count = latencies.len() as u64;
        let mut rows = vec![Row {
            job: None,
            metric: "latency",
            unit: "us",
            batch: None,
            value: total.as_us_f64() / count as f64,
        }];
        for (metric, size) in [("bandwidth", self.message), ("wire_bandwidth", wire)] {
            rows.push(Row {
                job: None,
                metric,
                unit: "MB/s",
                batch: None,
                value: Rate::of(size * count, total),
            });
        }
        Ok(baseline.finish(&cluster, rows, Vec::new(), Vec::new()))
    }

    async fn send(self, a: Node, b: Node, latencies: Rc<RefCell<Vec<Time>>>) {
        let from = a.reserve(self.source, self.message);
        let to = b.reserve(self.destination, self.message);
        let arrived = b.event(1);
        for _ in 0..self.repeats {
            let posted = a.now();
            let transfer = a.dma(Dma::new(from.start(), to.start(), self.message).notify(arrived));
            b.wait(arrived).await;
            latencies.borrow_mut().push(b.now() - posted);
            transfer
                .await
                .expect("both buffers are of the message's length");
            b.prime(arrived, 1);
            a.sleep(PAUSE).await;
        }
    }
}
