//! Shmem's collective calls, built on Elanlib's calls.
//!
//! | call | here |
//! |---|---|
//! | `shmem_barrier_all`, `shmem_barrier` | [`Shmem::barrier`] |
//! | `shmem_broadcast64` | [`Shmem::broadcast`] |
//! | `shmem_fcollect64`, `shmem_collect64` | [`Shmem::fcollect`], [`Shmem::collect`] |
//! | `shmem_long_sum_to_all`, `..._max_to_all` | [`Shmem::to_all`] |
//!
//! Each call is for a [`Group`] of processing elements: all of them, or one that
//! [`crate::elan::Elan::group`] has made. Sources and targets are symmetric memory. Hardware serves
//! the calls where it can.

use super::{Shmem, ShmemError, ShmemResult};
use crate::elan::group::Group;
use crate::elan::group::span::Span;
use crate::elan::reduce::{Receivers, Reduction, of_words};
use elan::ElanAddr;
use elan::transaction::{WORD, word_of};
use units::Bytes;

impl Shmem {
    /// Waits until the caller's own puts are over, and then for all group members.
    ///
    /// # Errors
    /// As [`Shmem::quiet`], once all members have come.
    pub async fn barrier(&self, group: &Group) -> ShmemResult<()> {
        let quiet = self.quiet().await;
        group.hgsync().await?;
        quiet
    }

    /// Sends the bytes at the root's source to the target of all other group members; the root's
    /// own target stays as it is.
    ///
    /// # Errors
    /// If a member has no such memory; the process that sends to the member gets the error.
    pub async fn broadcast(
        &self,
        target: ElanAddr,
        source: ElanAddr,
        size: Bytes,
        root: u32,
        group: &Group,
    ) -> ShmemResult<()> {
        let span = Span {
            from: source,
            ..Span::new(target, size)
        };
        Ok(group.hbcast_from(span, root).await?)
    }

    /// Concatenates all members' equally long sources, in rank order, in every member's target.
    ///
    /// # Errors
    /// If a member has no such memory.
    pub async fn fcollect(
        &self,
        target: ElanAddr,
        source: ElanAddr,
        size: Bytes,
        group: &Group,
    ) -> ShmemResult<()> {
        let offset = size * u64::from(group.rank());
        let total = size * u64::from(group.size());
        self.gather(target, source, (offset, size, total), group)
            .await
    }

    /// Concatenates as [`fcollect`](Shmem::fcollect), for sources with different lengths.
    ///
    /// # Errors
    /// If a member has no such memory.
    pub async fn collect(
        &self,
        target: ElanAddr,
        source: ElanAddr,
        size: Bytes,
        group: &Group,
    ) -> ShmemResult<()> {
        // All lengths, by rank: each member contributes its own.
        let elan3 = self.elan.elan3();
        let (ranks, rank) = (u64::from(group.size()), u64::from(group.rank()));
        let words = self.elan.elan3().alloc_main(8, WORD * ranks)?;
        let mine = words.offset(WORD * rank);
        let lengths = async {
            elan3.store(mine, &size.as_u64().to_le_bytes())?;
            let sum = of_words(|one, other| one + other);
            let operation = Reduction {
                size: WORD,
                combine: &sum,
            };
            group
                .reduce(words, words, ranks, &operation, Receivers::All)
                .await?;
            Ok::<_, ShmemError>(elan3.load(words, WORD * ranks)?)
        };
        let lengths = lengths.await;
        elan3.free(words)?;
        let lengths = lengths?;
        let lengths = lengths.chunks(8).map(|word| Bytes::new(word_of(word)));
        let lengths: Vec<Bytes> = lengths.collect();
        let offset = lengths[..rank as usize].iter().copied().sum();
        let total = lengths.iter().copied().sum();
        self.gather(target, source, (offset, size, total), group)
            .await
    }

    /// Each member puts its part into the first one's target; the first sends all parts to all.
    async fn gather(
        &self,
        target: ElanAddr,
        source: ElanAddr,
        (offset, size, total): (Bytes, Bytes, Bytes),
        group: &Group,
    ) -> ShmemResult<()> {
        let first = group.lookup(0).expect("a group has a first member");
        // The first member's target belongs to that member until it calls.
        self.barrier(group).await?;
        let part = target.offset(offset);
        self.put(part, source, size, first.get()).await?;
        self.barrier(group).await?;
        group.hbcast(target, total, 0).await?;
        Ok(())
    }

    /// Combines the `count`-word vectors at all group members' sources in all members' targets.
    ///
    /// # Errors
    /// If this process has no such vectors.
    pub async fn to_all(
        &self,
        target: ElanAddr,
        source: ElanAddr,
        count: u64,
        function: impl Fn(u64, u64) -> u64,
        group: &Group,
    ) -> ShmemResult<()> {
        let combine = of_words(function);
        let operation = Reduction {
            size: WORD,
            combine: &combine,
        };
        Ok(group
            .reduce(source, target, count, &operation, Receivers::All)
            .await?)
    }
}
