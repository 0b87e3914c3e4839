//! The memory that threads reach by their own instructions: the adapter's memory.

use super::Thread;
use crate::memory::{Access, AccessFault, Address, Placement, Reason};
use crate::transaction::{WORD, word_of};
use units::Bytes;

impl Thread {
    /// Stores bytes in the process's memory, wherever it lies. Bytes for main memory cross the bus,
    /// with the block stores in the thread's instruction set (petrini2003 s2.1), and the thread
    /// keeps the processor until they have crossed.
    ///
    /// # Errors
    /// If the bytes do not lie within one of the process's regions, or may not be written.
    pub async fn copy_out(&self, at: Address, bytes: &[u8]) -> Result<(), AccessFault> {
        let length = Bytes::new(bytes.len() as u64);
        let access = Access::LocalWrite;
        self.node.check_own(at, length, access)?;
        let capability = self.node.capability();
        let memory = || self.node.memory();
        let placement = memory().translate(at, length, access, capability)?;
        self.hold().await;
        if placement == Placement::Main {
            self.node.cross_to_main(length).await;
        }
        memory().write(at, bytes, access, capability)
    }

    /// Stores bytes in the process's adapter memory.
    ///
    /// # Errors
    /// If the bytes do not lie within one of the process's regions, or may not be written.
    pub fn store(&self, at: Address, bytes: &[u8]) -> Result<(), AccessFault> {
        let length = Bytes::new(bytes.len() as u64);
        self.near(at, length, Access::LocalWrite)?;
        self.node
            .memory()
            .write(at, bytes, Access::LocalWrite, self.node.capability())
    }

    /// Bytes in the process's adapter memory.
    ///
    /// # Errors
    /// If the bytes do not lie within one of the process's regions, or may not be read.
    pub fn load(&self, at: Address, length: Bytes) -> Result<Box<[u8]>, AccessFault> {
        self.near(at, length, Access::LocalRead)?;
        self.node
            .memory()
            .load(at, length, Access::LocalRead, self.node.capability())
    }

    /// Stores a word.
    ///
    /// # Errors
    /// As [`Thread::store`].
    pub fn store_word(&self, at: Address, word: u64) -> Result<(), AccessFault> {
        self.store(at, &word.to_le_bytes())
    }

    /// Loads a word.
    ///
    /// # Errors
    /// As [`Thread::load`].
    pub fn load_word(&self, at: Address) -> Result<u64, AccessFault> {
        Ok(word_of(&self.load(at, WORD)?))
    }

    /// Checks that an access stays in adapter memory: threads reach main memory by DMA.
    fn near(&self, at: Address, length: Bytes, access: Access) -> Result<(), AccessFault> {
        self.node.check_own(at, length, access)?;
        let capability = self.node.capability();
        let placement = self
            .node
            .memory()
            .translate(at, length, access, capability)?;
        match placement {
            Placement::Adapter => Ok(()),
            Placement::Main => Err(AccessFault::new(at, length, access, Reason::NotAdapter)),
        }
    }
}
