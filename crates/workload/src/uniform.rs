//! # Uniform traffic (000 s4.3)
//!
//! Every node sends messages to nodes drawn at random, itself excepted, one message at a time: it posts the next one
//! when the last is complete and the next has arrived. Buffers lie in adapter memory (000 s5.2). Message sizes and
//! inter-arrival times are distributed as given.
//!
//! Accepted load is the payload stored at the destinations, per node, in the measured window; offered load the payload
//! of the messages that arrived in it. A point is *saturated* if the messages that wait have grown in the window by
//! more than a twentieth of what arrived, and by more than half a message a node; a load just above what is accepted
//! shows only in windows long enough for that.
//!
//! The latency of a message runs from its arrival, its wait behind earlier ones included, until its sender knows that
//! it is complete. Past saturation it grows with the run, and tells only how long that was.

use crate::records::{Baseline, Records, Row};
use crate::source::{LARGEST_MESSAGE, Source};
use crate::{Distribution, Window};
use elan::{Cluster, Dma, Node, Placement, Region, Stop};
use kernel::random::Stream;
use kernel::statistics::Histogram;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Rate};

/// The parameters of one point.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    /// Nodes that take part: `0..nodes`, at least 2.
    pub nodes: u32,
    /// Mean message size.
    pub message: Bytes,
    /// Distribution of message sizes.
    pub sizes: Distribution,
    /// Distribution of inter-arrival times.
    pub arrivals: Distribution,
    /// Mean offered load of each node, above 0.
    pub load: Rate,
}

/// What the programs of all nodes share with the measurement.
struct Shared {
    sources: Vec<Source>,
    /// The same sources, run up to the present whatever the programs do.
    arrivals: Vec<Source>,
    latency: Histogram,
    measuring: bool,
}

impl Uniform {
    /// Runs through the warm-up and the window.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run(&self, mut cluster: Cluster, window: Window, seed: u64) -> Result<Records, Stop> {
        let path = |node: u32| format!("uniform/node {node}");
        let size = (self.message, self.sizes);
        let source = |node| Source::new(seed, &path(node), size, self.load, self.arrivals);
        let shared = Rc::new(RefCell::new(Shared {
            sources: (0..self.nodes).map(source).collect(),
            arrivals: (0..self.nodes).map(source).collect(),
            latency: Histogram::new(),
            measuring: false,
        }));
        let inboxes = (0..self.nodes).map(|node| {
            cluster
                .node(node)
                .reserve(Placement::Adapter, LARGEST_MESSAGE)
        });
        let inboxes: Rc<[Region]> = inboxes.collect();
        for node in 0..self.nodes {
            let targets = Stream::new(seed, &format!("{}/destinations", path(node)));
            cluster.spawn(
                path(node),
                send(
                    cluster.node(node),
                    Rc::clone(&inboxes),
                    targets,
                    Rc::clone(&shared),
                ),
            );
        }

        cluster.run_until(window.warm_up)?;
        cluster.check_conservation();
        let baseline = Baseline::take(&cluster);
        shared.borrow_mut().measuring = true;
        let mut rows = Vec::new();
        let start = self.state(&cluster, &shared);
        let mut before = start;
        for batch in 0..window.batches {
            let begin = cluster.now();
            cluster.run_until(window.batch_end(batch))?;
            cluster.check_conservation();
            let length = (cluster.now() - begin) * u64::from(self.nodes);
            let after = self.state(&cluster, &shared);
            for (metric, bytes) in [
                ("accepted", after.stored - before.stored),
                ("offered", after.arrived - before.arrived),
            ] {
                rows.push(Row {
                    metric,
                    unit: "MB/s",
                    batch: Some(batch),
                    value: Rate::of(bytes, length),
                });
            }
            before = after;
        }
        rows.extend(self.whole_window(start, before, &shared.borrow().latency));
        Ok(baseline.finish(&cluster, rows))
    }

    /// Totals over all nodes, now.
    fn state(&self, cluster: &Cluster, shared: &RefCell<Shared>) -> State {
        let shared = &mut *shared.borrow_mut();
        for source in &mut shared.arrivals {
            source.take_until(cluster.now());
        }
        State {
            stored: (0..self.nodes).map(|node| cluster.stored(node)).sum(),
            taken: shared.sources.iter().map(Source::taken).sum(),
            arrived: shared.arrivals.iter().map(Source::taken).sum(),
        }
    }

    fn whole_window(&self, start: State, end: State, latency: &Histogram) -> Vec<Row> {
        let arrived = end.arrived - start.arrived;
        let growth = arrived.saturating_sub(end.taken - start.taken);
        let half_a_message = self.message * u64::from(self.nodes) / 2;
        let saturated = growth > half_a_message && growth > arrived / 20;
        let row = |metric, unit, value| Row {
            metric,
            unit,
            batch: None,
            value,
        };
        let mut rows = vec![
            row("saturated", "", f64::from(u8::from(saturated))),
            row("messages", "", latency.count() as f64),
        ];
        let quantile = |quantile| latency.quantile(quantile);
        for (metric, time) in [
            ("latency_mean", latency.mean()),
            ("latency_p50", quantile(0.5)),
            ("latency_p99", quantile(0.99)),
            ("latency_max", latency.max()),
        ] {
            rows.extend(time.map(|time| row(metric, "us", time.as_us_f64())));
        }
        rows
    }
}

/// Totals at one moment.
#[derive(Clone, Copy)]
struct State {
    stored: Bytes,
    /// Messages taken up by the programs.
    taken: Bytes,
    /// Messages that have arrived.
    arrived: Bytes,
}

/// The program of one node; it sends to the others' inboxes.
async fn send(node: Node, inboxes: Rc<[Region]>, mut targets: Stream, shared: Rc<RefCell<Shared>>) {
    let me = node.id();
    let outbox = node.reserve(Placement::Adapter, LARGEST_MESSAGE);
    loop {
        let arrival = shared.borrow().sources[me as usize].next_arrival();
        node.sleep_until(arrival).await;
        let message = shared.borrow_mut().sources[me as usize].take();
        let draw = targets.uniform_u64(0..inboxes.len() as u64 - 1) as u32;
        let target = if draw < me { draw } else { draw + 1 };
        let dma = Dma::new(
            outbox.start(),
            inboxes[target as usize].start(),
            message.size,
        );
        node.dma(dma)
            .await
            .expect("the buffers are as long as any message");
        let mut shared = shared.borrow_mut();
        if shared.measuring {
            shared.latency.record(node.now() - message.arrival);
        }
    }
}
