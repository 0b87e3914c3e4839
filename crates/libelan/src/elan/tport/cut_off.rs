//! Processes out of reach: operations that wait for them fail.

use super::message::Select;
use crate::elan::Elan;
use crate::elan::detour::Detours;
use elan::{DmaError, ElanAddr, ProcessId};
use std::future::pending;

impl Elan {
    /// Whether messages can go to a process and come from it, as far as the routing tables know,
    /// and a rail works.
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
        both.map_err(|error| error.of_process(vp))?;
        self.works(vp)
    }

    /// Whether the process's adapter works, or another one at its node.
    fn works(&self, vp: ProcessId) -> Result<(), DmaError> {
        match self.detours() {
            Some(detours) => detours.works(vp),
            None => self.node().check_rail(),
        }
    }

    /// Whether a message that is sent now should come to a process.
    pub(super) fn should_reach(&self, vp: ProcessId) -> bool {
        if !self.node().lists_faults() {
            return self.works(vp).is_ok();
        }
        let leads = |detours: &Detours| {
            let mut rails = detours.rails().all();
            rails.any(|rail| detours.leads(vp, rail))
        };
        self.reach(vp).is_ok() && self.detours().is_none_or(leads)
    }

    /// Waits until a message should come to a process.
    pub(super) async fn comes_into_reach(&self, vp: ProcessId) {
        while !self.should_reach(vp) {
            if self.works(vp).is_ok() {
                let tables = self.node().tables();
                tables.wait().await;
                continue;
            }
            match self.detours() {
                Some(detours) => detours.some_rail().await,
                None => self.node().up().wait().await,
            }
        }
    }

    /// Waits until the network has failed, and a process is out of reach; for ever in a machine
    /// that lists no faults.
    pub(super) async fn cut_off_from(&self, vp: ProcessId) -> DmaError {
        self.cut_off(|| self.reach(vp)).await
    }

    /// Waits until the network has failed, and all processes that a receive may want messages from
    /// are out of reach.
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
                // A cable may be dead for a moment just when the tables learn another.
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
