//! Jobs: programs that run as several processes.

use crate::elan::Elan;
use crate::elan::rails::Rails;
use crate::elan3::Context;
use crate::error::JobError;
use crate::mpi::Mpi;
use crate::shmem::Shmem;
use elan::{Cluster, Node, NodeId, ProcessId, WaitMode};
use kernel::Label;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use typed_index_collections::TiVec;
use units::Time;

/// A program's name and the nodes that its processes run on; process 0 runs on the first.
#[derive(Clone, Debug)]
pub struct ProcessJob {
    name: String,
    nodes: Vec<NodeId>,
    waits: WaitMode,
    traffic_class: u8,
    share: u8,
}

impl ProcessJob {
    /// So many processes on each of some nodes, node by node.
    ///
    /// # Errors
    /// If there are no processes.
    pub fn new(
        name: impl Into<String>,
        nodes: impl IntoIterator<Item = NodeId>,
        pes_per_node: u32,
    ) -> Result<Self, JobError> {
        let pes = |node| (0..pes_per_node).map(move |_| node);
        ProcessJob::at(name, nodes.into_iter().flat_map(pes))
    }

    /// A process at each given node, in this order; a node may occur several times.
    ///
    /// # Errors
    /// As [`ProcessJob::new`].
    pub fn at(
        name: impl Into<String>,
        nodes: impl IntoIterator<Item = NodeId>,
    ) -> Result<Self, JobError> {
        let nodes: Vec<NodeId> = nodes.into_iter().collect();
        if nodes.is_empty() {
            return Err(JobError::Empty);
        }
        Ok(ProcessJob {
            name: name.into(),
            nodes,
            waits: WaitMode::Poll,
            traffic_class: 0,
            share: 0,
        })
    }

    /// Sets how the libraries in the job's processes wait (`LIBELAN_WAITTYPE`, `base->waitType`):
    /// they poll by default. See [`mod@crate::elan`].
    #[must_use]
    pub fn waiting(self, waits: WaitMode) -> Self {
        ProcessJob { waits, ..self }
    }

    /// Sets the traffic class of all the job's packets, which the machine must have; the default is
    /// 0.
    #[must_use]
    pub fn in_traffic_class(self, traffic_class: u8) -> Self {
        ProcessJob {
            traffic_class,
            ..self
        }
    }

    /// Sets the share of links that all the job's packets count to; the default is 0. See
    /// [`Cluster::tally`].
    #[must_use]
    pub fn of_share(self, share: u8) -> Self {
        ProcessJob { share, ..self }
    }

    /// Attaches the processes, all with a new capability, and starts the program in each.
    ///
    /// # Errors
    /// If the cluster lacks a node, a node a processor for each of its processes, or an adapter a
    /// context or memory.
    pub fn launch(
        &self,
        cluster: &mut Cluster,
        program: impl AsyncFn(Pe) + 'static,
    ) -> Result<(), JobError> {
        let program = Rc::new(program);
        for pe in self.attach(cluster)? {
            let (label, program) = (pe.label().clone(), Rc::clone(&program));
            let node = pe.node().clone();
            node.spawn(label, async move { program(pe).await });
        }
        Ok(())
    }

    /// Attaches the processes without starting a program, for callers that start one in each
    /// process.
    ///
    /// # Errors
    /// As [`ProcessJob::launch`].
    pub fn attach(&self, cluster: &Cluster) -> Result<Vec<Pe>, JobError> {
        let nodes = cluster.nodes();
        if let Some(&node) = self.nodes.iter().find(|node| node.get() >= nodes) {
            return Err(JobError::NoNode { node, nodes });
        }
        let mut counts = BTreeMap::new();
        for &node in &self.nodes {
            *counts.entry(node).or_insert(0) += 1;
        }
        let cpus = cluster.node(NodeId::new(0)).config().host.cpus;
        if let Some((node, processes)) = counts.into_iter().find(|&(_, count)| count > cpus) {
            return Err(JobError::Crowded {
                node,
                processes,
                cpus,
            });
        }
        let capability = cluster.capability().in_traffic_class(self.traffic_class);
        let capability = capability.of_share(self.share);
        let processes = cluster.attach(capability, self.nodes.iter().copied())?;
        let rails = Rails::attach(&processes)?;
        let processes: Rc<TiVec<ProcessId, Node>> = Rc::new(processes.into());
        let processes = processes.keys().map(|vp| {
            let label = Label::new(format!("{} {vp}", self.name));
            (Context::new(Rc::clone(&processes), vp), label)
        });
        let pes = Elan::init(processes.collect(), rails, self.waits)?;
        Ok(pes.into_iter().map(|elan| Pe { elan }).collect())
    }
}

/// A processing element: one process in a job, as its program sees it. Clones share the process.
#[derive(Clone)]
pub struct Pe {
    elan: Elan,
}

impl Pe {
    /// The process's Elan3lib.
    pub fn elan3(&self) -> &Context {
        self.elan.elan3()
    }

    /// The process's Elanlib.
    pub fn elan(&self) -> &Elan {
        &self.elan
    }

    /// The process's MPI.
    pub fn mpi(&self) -> Mpi {
        Mpi::new(self.elan.tport())
    }

    /// The process's Shmem.
    pub fn shmem(&self) -> Shmem {
        Shmem::new(self.elan.clone())
    }

    /// The process's number in the job, from 0.
    pub fn vp(&self) -> ProcessId {
        self.elan3().process()
    }

    /// The job's processes.
    pub fn nvps(&self) -> u32 {
        self.elan3().nvps()
    }

    /// The process's node.
    pub fn node(&self) -> &Node {
        self.elan3().node()
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.node().now()
    }

    /// Computes for a while: the processor is busy and the network is not used. Returns when the
    /// computation is over, which may be past if the call was [given](Self::given) late.
    pub fn compute(&self, time: Time) -> impl Future<Output = Time> + use<> {
        let (node, turn) = (self.node().clone(), self.elan.cpu().turn());
        async move { turn.work(&node, time).await }
    }

    /// Makes calls that a program gave at a moment, which may be past: a real program, for example,
    /// runs beside the simulation and reports its calls later. Each call's instructions begin at
    /// that moment, or after those of the call before. If they have not ended yet, the network
    /// behaves as if the call had been in time. So a call may be late by its own time, if the
    /// process polls and its processor has copied or matched no messages meanwhile (those from its
    /// own node; all where the host matches). The closure makes calls that return immediately;
    /// waits are awaited outside.
    pub fn given<R>(&self, at: Time, calls: impl FnOnce() -> R) -> R {
        self.elan.cpu().giving(at, calls)
    }

    /// The process's label, which deadlock reports show.
    pub fn label(&self) -> &Label {
        self.elan.label()
    }

    /// Waits for a future under a name that a deadlock report then shows:
    /// `ring 3: waits for tag 7`.
    pub async fn waiting<F: IntoFuture>(
        &self,
        what: impl fmt::Display + 'static,
        event: F,
    ) -> F::Output {
        self.elan.waiting(what, event).await
    }
}
