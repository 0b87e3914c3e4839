//! MPI's collective calls on the world, built on Elanlib's calls.
//!
//! Barriers and broadcasts are by hardware if the world's nodes are adjacent. MPI buffers may have
//! different addresses in different ranks. So a broadcast goes, part by part, through a global
//! buffer, [`STAGE`] long: the root copies each part in, and the other ranks copy it out.

use super::{Mpi, MpiResult};
use crate::elan::STAGE;
use crate::elan::reduce::{Receivers, Reduction};
use elan::{DmaError, ElanAddr, ProcessId};
use units::Bytes;

impl Mpi {
    /// Waits for all ranks (`MPI_Barrier`).
    ///
    /// # Errors
    /// If a rank's memory is gone.
    pub async fn barrier(&self) -> MpiResult<()> {
        Ok(self.tport.elan.all_group().hgsync().await?)
    }

    /// Sends the root's bytes to all ranks (`MPI_Bcast`).
    ///
    /// # Errors
    /// If the buffer is not mapped, or there is no such root.
    pub async fn bcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> MpiResult<()> {
        let elan = &self.tport.elan;
        if root >= self.size() {
            let process = ProcessId::new(root);
            return Err(DmaError::NoProcess { process }.into());
        }
        let (stage, group) = (elan.stage(), elan.all_group());
        for part in 0..size.as_u64().div_ceil(STAGE.as_u64()) {
            let at = buffer.offset(STAGE * part);
            let length = STAGE.min(size - STAGE * part);
            let root_here = self.rank() == root;
            let (from, to) = if root_here { (at, stage) } else { (stage, at) };
            if root_here {
                self.copy(from, to, length).await?;
            }
            group.hbcast(stage, length, root).await?;
            if !root_here {
                self.copy(from, to, length).await?;
            }
        }
        Ok(())
    }

    async fn copy(&self, from: ElanAddr, to: ElanAddr, size: Bytes) -> MpiResult<()> {
        let (elan, elan3) = (&self.tport.elan, self.tport.elan.elan3());
        let bytes = elan3.load(from, size).map_err(DmaError::from)?;
        let time = elan.node().config().host.copy.time(size);
        elan.cpu().work(elan.node(), time).await;
        Ok(elan3.store(to, &bytes).map_err(DmaError::from)?)
    }

    /// Combines all ranks' vectors at one rank (`MPI_Reduce`); only that rank needs a target.
    ///
    /// # Errors
    /// If this rank has no such vectors, or there is no such root.
    pub async fn reduce(
        &self,
        source: ElanAddr,
        target: ElanAddr,
        count: u64,
        operation: &Reduction<'_>,
        root: u32,
    ) -> MpiResult<()> {
        let (group, to) = (self.tport.elan.all_group(), Receivers::Root(root));
        Ok(group.reduce(source, target, count, operation, to).await?)
    }

    /// Combines all ranks' vectors at all ranks (`MPI_Allreduce`).
    ///
    /// # Errors
    /// If this rank has no such vectors.
    pub async fn allreduce(
        &self,
        source: ElanAddr,
        target: ElanAddr,
        count: u64,
        operation: &Reduction<'_>,
    ) -> MpiResult<()> {
        let (group, to) = (self.tport.elan.all_group(), Receivers::All);
        Ok(group.reduce(source, target, count, operation, to).await?)
    }
}
