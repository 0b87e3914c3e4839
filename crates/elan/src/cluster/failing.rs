//! Failing parts and stopping hosts, as processes see them.
//!
//! A host stops with all its processes, and the tasks that serve them: they never run again. The
//! run does not wait for them. The adapter continues, threads included: it stores incoming packets,
//! answers, serves gets, and finishes its DMAs.

use super::Node;
use super::node::until_stopped;
use crate::Place;
use crate::adapter::recovery::cut;
use crate::dma::DmaError;
use crate::faults::{Loss, Obstacle};
use crate::in_flight::Recoveries;
use crate::memory::{Access, AccessFault, ElanAddr, Reason};
use kernel::Signal;
use units::Bytes;

impl Node {
    /// The signal that stops the host's processes, if faults are listed.
    pub(super) fn host_stops(&self) -> Option<Signal> {
        let (_, node) = self.rail_and_node();
        self.world.borrow().stopped(node).cloned()
    }

    /// Stops this node's host, permanently; its processes run no more. Processes that were started
    /// with [`Cluster::spawn`](super::Cluster::spawn) belong to no host.
    ///
    /// # Panics
    /// If the machine lists no faults: its processes are not prepared to be stopped.
    pub fn stop(&self) {
        let (_, node) = self.rail_and_node();
        self.world.borrow_mut().stop_host(node);
    }

    /// Runs one of the host's tasks until it ends or the host stops.
    pub async fn while_host_runs(&self, task: impl Future<Output = ()>) {
        match self.host_stops() {
            None => task.await,
            Some(stopped) => until_stopped(stopped, task).await,
        }
    }

    /// Whether this node's host has stopped.
    pub fn is_stopped(&self) -> bool {
        self.host_stops().is_some_and(|stopped| stopped.is_set())
    }

    /// This adapter's measures against network faults so far.
    pub fn recoveries(&self) -> Recoveries {
        *self.world.borrow_mut().flight().recoveries(self.place())
    }

    /// Whether the machine lists faults.
    pub fn lists_faults(&self) -> bool {
        self.world.borrow().config().faults.is_some()
    }

    /// Whether this adapter's rail works.
    ///
    /// # Errors
    /// The error of a message sent now.
    pub fn check_rail(&self) -> Result<(), DmaError> {
        if self.is_down() {
            Err(self.rail_is_down())
        } else {
            Ok(())
        }
    }

    /// The error of a message that is sent while this adapter's rail is down.
    pub fn rail_is_down(&self) -> DmaError {
        let (nowhere, access) = (self.at(ElanAddr::NOWHERE), Access::RemoteWrite);
        AccessFault::new(nowhere, Bytes::ZERO, access, Reason::Down).into()
    }

    /// Fired, and reset, whenever the sources' routing tables learn which cables are dead.
    pub fn tables(&self) -> Signal {
        self.world.borrow().tables().clone()
    }

    /// Whether the routing tables know a way from one adapter to another.
    ///
    /// # Errors
    /// The error of a message sent now.
    pub fn way(&self, from: Place, to: Place) -> Result<(), DmaError> {
        let world = self.world.borrow();
        match cut(world.fabric(), from, to) {
            None => Ok(()),
            cut => Err(DmaError::Network(Loss {
                from,
                to,
                process: None,
                reason: Obstacle::NoWay(cut),
                unsure: false,
            })),
        }
    }
}
