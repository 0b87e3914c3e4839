//! From a point to its records: a pure function.

use crate::file::{
    Algorithm, Allocation, Collective, Directions, Distribution, Job, Library, Noise, Operation,
    Overlap, Ping, Placement,
};
use crate::nodes::Nodes;
use crate::plan::{Point, Workload};
use elan::{Cluster, Stop, Watch};
use kernel::{Bound, Exceeded, Limits};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;
use units::{Bytes, Time};
use workload::{Failure, Records, Search, Window};

/// No point runs longer than this in simulated time.
const LONGEST_RUN: Time = Time::from_secs(3600);

/// Why a point has no records.
#[derive(Debug, Error)]
pub enum RunError {
    /// A bound of the run was passed.
    #[error("{0}; {remedy}", remedy = remedy(.0))]
    Exceeded(#[from] Exceeded),
    /// The simulated programs wait for ever.
    #[error("{0}")]
    Deadlock(Stop),
    /// The machine has no room for the processes, or their memory.
    #[error("{0}")]
    NoRoom(Failure),
    /// The caller asked for it.
    #[error("the run was cancelled")]
    Cancelled,
}

/// How to raise the bound that was passed.
fn remedy(exceeded: &Exceeded) -> String {
    match exceeded.bound {
        Bound::Events(events) => format!(
            "for example with --set run.max_events={}",
            events.saturating_mul(2)
        ),
        Bound::Memory(memory) => {
            let double = Bytes::new(memory.as_u64().saturating_mul(2));
            format!("for example with --set run.max_memory=\"{double}\"")
        }
        Bound::Time(_) => "no run may be longer".to_string(),
    }
}

impl From<Stop> for RunError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Exceeded(exceeded) => RunError::Exceeded(exceeded),
            Stop::Cancelled => RunError::Cancelled,
            Stop::Deadlock { .. } => RunError::Deadlock(stop),
        }
    }
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stop(stop) => stop.into(),
            other => RunError::NoRoom(other),
        }
    }
}

/// Runs a point. Setting `cancel` from another thread ends it soon.
///
/// # Errors
/// See [`RunError`].
pub fn simulate(point: &Point, cancel: Option<Arc<AtomicBool>>) -> Result<Records, RunError> {
    let limits = Limits {
        time: Some(LONGEST_RUN),
        events: Some(point.run.max_events),
        memory: Some(point.run.max_memory),
    };
    let watch = Watch { limits, cancel };
    let cluster = || Cluster::new(point.machine.cluster_config(), watch.clone()).seeded(point.seed);
    let window = Window {
        warm_up: point.run.warm_up,
        length: point.run.window,
        batches: point.run.batches,
        slices: point.run.slices,
        failure: point.failure.map(|failure| (failure.rail, failure.at)),
    };
    let records = match &point.workload {
        Workload::Ping(ping) => ping.workload().run(cluster())?,
        Workload::Overlap(overlap) => overlap.workload().run(cluster())?,
        Workload::Noise(noise) => noise.workload().run(cluster(), window.batches)?,
        Workload::Jobs(jobs) => match &point.saturation {
            None => workload::traffic::run(&workloads(jobs), cluster(), window, point.seed)?,
            Some(saturation) => {
                let search = Search {
                    highest: saturation.highest,
                    resolution: saturation.resolution,
                };
                let [job] = &workloads(jobs)[..] else {
                    unreachable!("it was checked that there is one job")
                };
                workload::saturation::run(job, search, cluster, window, point.seed)?
            }
        },
        Workload::Collective { collective, jobs } => {
            let collective = collective.workload();
            collective.run(&workloads(jobs), cluster(), window, point.seed)?
        }
        Workload::Allocation(allocation) => {
            let matrix = allocation.matrix.unwrap_or(false);
            workload::allocation::run(&allocation.allocate(), matrix, &cluster())
        }
    };
    Ok(records)
}

fn workloads(jobs: &BTreeMap<String, Job>) -> Vec<workload::Job> {
    jobs.iter().map(|(name, job)| job.workload(name)).collect()
}

impl Allocation {
    fn allocate(&self) -> elan::rails::Allocation {
        use elan::rails::Allocation;
        match (self.algorithm, self.rails) {
            (Algorithm::Logarithmic, _) => Allocation::logarithmic(self.nodes),
            (Algorithm::Optimal, None) => Allocation::optimal(self.nodes),
            (Algorithm::Optimal, Some(rails)) => {
                Allocation::with_rails(self.nodes, rails).expect("it was checked")
            }
        }
    }
}

impl Collective {
    fn workload(&self) -> workload::Collective {
        use workload::collective::{Message, Operation as Called};
        let message = || Message {
            memory: self.memory.expect("it was checked").into(),
            size: self.message.expect("it was checked"),
        };
        workload::Collective {
            operation: match self.operation {
                Operation::Gsync => Called::Gsync,
                Operation::Hgsync => Called::Hgsync,
                Operation::Hgsyncevent => Called::Hgsyncevent,
                Operation::Bcast => Called::Bcast(message()),
                Operation::Hbcast => Called::Hbcast(message()),
                Operation::Reduce => Called::Reduce,
            },
            nodes: self.nodes.numbers(),
            repeats: self.repeats,
            groups: self.groups.unwrap_or(1),
            may_deadlock: self.may_deadlock.unwrap_or(false),
            compute: self.compute,
        }
    }
}

impl Noise {
    fn workload(&self) -> workload::Noise {
        workload::Noise {
            node: self.node,
            cpu: self.cpu,
            iterations: self.iterations,
            compute: self.compute,
        }
    }
}

impl Ping {
    fn workload(&self) -> workload::ping::Ping {
        workload::ping::Ping {
            from: self.from,
            to: self.to,
            directions: match self.directions {
                Directions::One => workload::ping::Directions::One,
                Directions::Both => workload::ping::Directions::Both,
            },
            source: self.source.into(),
            destination: self.destination.into(),
            message: self.message,
            repeats: self.repeats,
            library: match self.library {
                None | Some(Library::Elan3) => workload::ping::Library::Elan3,
                Some(Library::Mpi) => workload::ping::Library::Mpi,
            },
        }
    }
}

impl Overlap {
    fn workload(&self) -> workload::Overlap {
        workload::Overlap {
            from: self.from,
            to: self.to,
            message: self.message,
            compute: self.compute,
            repeats: self.repeats,
        }
    }
}

impl Job {
    fn workload(&self, name: &str) -> workload::Job {
        workload::Job {
            name: name.to_string(),
            nodes: self.nodes.numbers(),
            pattern: self.pattern.workload(),
            servers: self.servers.as_ref().map_or(Vec::new(), Nodes::numbers),
            message: self.message,
            sizes: self.sizes.into(),
            arrivals: self.arrivals.into(),
            load: self.load,
            writes: self.writes.unwrap_or(1.0),
            memory: self.memory.unwrap_or(Placement::Elan).into(),
            processes: self.processes.unwrap_or(1),
        }
    }
}

impl From<Placement> for elan::Placement {
    fn from(placement: Placement) -> Self {
        match placement {
            Placement::Elan => elan::Placement::Adapter,
            Placement::Main => elan::Placement::Main,
        }
    }
}

impl From<Distribution> for workload::Distribution {
    fn from(distribution: Distribution) -> Self {
        match distribution {
            Distribution::Fixed => workload::Distribution::Fixed,
            Distribution::Uniform => workload::Distribution::Uniform,
            Distribution::Exponential => workload::Distribution::Exponential,
        }
    }
}
