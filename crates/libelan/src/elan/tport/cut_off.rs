//! Processes that are out of reach: what waits for them fails.

use super::message::Select;
use crate::elan::Elan;
use elan::{DmaError, ElanAddr, ProcessId};
use std::future::pending;

impl Elan {
    /// Whether messages can go to a process and come from it, as far as the routing tables know.
    fn reach(&self, vp: ProcessId) -> Result<(), DmaError> {
        let node = self.node();
        let (here, there) = (
            node.place(),
            self.elan3().address(vp, ElanAddr::NOWHERE)?.node,
        );
        if here == there {
            return Ok(());
        }
        let both = node.way(here, there).and_then(|()| node.way(there, here));
        both.map_err(|error| error.of_process(vp))
    }

    /// Waits until the network has failed, and a process is out of reach; for ever in a machine that lists no faults.
    pub(super) async fn cut_off_from(&self, vp: ProcessId) -> DmaError {
        self.cut_off(|| self.reach(vp)).await
    }

    /// Waits until the network has failed, and all processes whose messages a receive may want are out of reach.
    pub(super) async fn cut_off_from_all(&self, select: Select) -> DmaError {
        let someone = || {
            if let Some(process) = select.process {
                return self.reach(process);
            }
            let others = ProcessId::all(self.nvps()).filter(|&other| other != self.vp());
            let mut first = Ok(());
            for other in others {
                match self.reach(other) {
                    Ok(()) => return Ok(()),
                    error => first = first.and(error),
                }
            }
            first
        };
        self.cut_off(someone).await
    }

    async fn cut_off(&self, looks: impl Fn() -> Result<(), DmaError>) -> DmaError {
        if !self.node().lists_faults() {
            return pending().await;
        }
        let node = self.node();
        let detect = node.config().faults.as_ref().map(|faults| faults.detect);
        loop {
            if looks().is_err() {
                // A cable may be dead for a moment just when the tables learn of another.
                node.sleep(detect.unwrap_or_default()).await;
                if let Err(error) = looks() {
                    return error;
                }
            }
            let tables = node.tables();
            tables.wait().await;
        }
    }
}
