//! Making groups.

use super::Elan;
use super::block::Block;
use super::group::{Group, GroupError};
use super::layout::Layout;
use super::reduce::{Receivers, Reduction, of_words};
use crate::elan3::AllocError;
use elan::transaction::word_of;
use elan::{ElanAddr, ProcessId};
use std::rc::Rc;
use units::Bytes;

/// Words on which the members agree: each one's maximum. The first and third are addresses, the
/// others their complements.
const WORDS: usize = 4;

impl Elan {
    /// The group of all the job's processes, in their order (`base->allGroup`).
    pub fn all_group(&self) -> &Group {
        &self.inner.all
    }

    /// Makes groups from a group's processes. Each process calls this with the members of the group
    /// that it will be in, in rank order; all members of a new group pass the same list. Groups
    /// made in the same call have no member in common. A process that is not in its own list will
    /// be in no group.
    ///
    /// The members agree on the addresses of the group's memory by reductions in the existing
    /// group, and end with a barrier. A group is lost from the beginning if a member did not come
    /// through this barrier.
    ///
    /// # Errors
    /// See [`GroupError`].
    pub async fn group(
        &self,
        parent: &Group,
        members: &[ProcessId],
    ) -> Result<Option<Group>, GroupError> {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        if sorted.is_empty() {
            return Err(GroupError::Empty);
        }
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(GroupError::Twice(twice[0]));
        }
        let known = |vp| (0..parent.size()).any(|rank| parent.lookup(rank) == Some(vp));
        if let Some(&stranger) = members.iter().find(|&&vp| !known(vp)) {
            return Err(GroupError::NoMember(stranger));
        }
        let inside = members.contains(&self.vp());
        let block = self.agree(parent, inside).await?;
        let layout = || Rc::new(Layout::new(self.elan3(), members.to_vec().into()));
        let group = inside.then(|| Group::new(&self.inner.member, layout(), block));
        // No member uses the group before all members have it.
        let met = parent.gsync().await;
        if let (Err(error), Some(Ok(group))) = (met, &group) {
            // Others may have left the barrier, and wait in the group for this process.
            group.lose(error);
        }
        met?;
        Ok(group.transpose()?)
    }

    /// Makes a group from some of a job's processes immediately, in no simulated time, as the group
    /// of all processes is made: for callers outside the simulation, which know all members.
    /// Returns each member's view, in list order.
    ///
    /// # Errors
    /// See [`GroupError`]. A group without room for its threads keeps its block.
    pub fn together(members: &[&Elan]) -> Result<Vec<Group>, GroupError> {
        let first = members.first().ok_or(GroupError::Empty)?;
        let processes: Vec<ProcessId> = members.iter().map(|member| member.vp()).collect();
        let mut sorted = processes.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(GroupError::Twice(twice[0]));
        }
        let block = Elan::block_of_all(members)?;
        let layout = Rc::new(Layout::new(first.elan3(), processes.into()));
        let view = |elan: &&Elan| Group::new(&elan.inner.member, Rc::clone(&layout), block);
        Ok(members.iter().map(view).collect::<Result<_, _>>()?)
    }

    /// Allocates a group's block at addresses where all members can.
    fn block_of_all(members: &[&Elan]) -> Result<Block, AllocError> {
        let mut from = Block::ANYWHERE;
        loop {
            let mut blocks = Vec::with_capacity(members.len());
            let mut failed = None;
            for elan in members {
                match elan.block(from) {
                    Ok(block) => blocks.push(block),
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            let greatest = |of: fn(&Block) -> ElanAddr| blocks.iter().map(of).max();
            let elan = greatest(|block| block.elan).unwrap_or(from.elan);
            let main = greatest(|block| block.main).unwrap_or(from.main);
            let here = |block: &Block| (block.elan, block.main) == (elan, main);
            if failed.is_none() && blocks.iter().all(here) {
                return Ok(Block { elan, main });
            }
            for (elan, block) in members.iter().zip(&blocks) {
                elan.galloc_free(block.elan)?;
                elan.galloc_free(block.main)?;
            }
            if let Some(error) = failed {
                return Err(error);
            }
            from = Block { elan, main };
        }
    }

    /// Allocates a group's block at addresses where all its future members can.
    async fn agree(&self, parent: &Group, inside: bool) -> Result<Block, GroupError> {
        let size = Bytes::new(8 * WORDS as u64);
        let words = self.elan3().alloc_main(8, size)?;
        let mut from = Block::ANYWHERE;
        let agreed = loop {
            let mine = if inside { Some(self.block(from)) } else { None };
            let (found, failed) = match mine {
                None => ([0; WORDS], None),
                Some(Ok(block)) => {
                    let word = |at: ElanAddr| u64::from(at.as_u32());
                    let (elan, main) = (word(block.elan), word(block.main));
                    ([elan, !elan, main, !main], None)
                }
                Some(Err(error)) => ([u64::MAX; WORDS], Some(error)),
            };
            let greatest = self.greatest(parent, words, found).await?;
            let nowhere = greatest[0] == u64::MAX;
            if (greatest[0], greatest[2]) == (!greatest[1], !greatest[3]) && !nowhere {
                let at = |word: u64| ElanAddr::new(word as u32);
                break Ok(Block {
                    elan: at(greatest[0]),
                    main: at(greatest[2]),
                });
            }
            if inside && failed.is_none() {
                self.galloc_free(ElanAddr::new(found[0] as u32))?;
                self.galloc_free(ElanAddr::new(found[2] as u32))?;
            }
            if nowhere {
                let full = AllocError::Full {
                    heap: super::GLOBAL_ELAN,
                    size: Block::elan_size(self.node()),
                };
                break Err(failed.unwrap_or(full));
            }
            from = Block {
                elan: ElanAddr::new(greatest[0] as u32),
                main: ElanAddr::new(greatest[2] as u32),
            };
        };
        self.elan3().free(words)?;
        Ok(agreed?)
    }

    async fn greatest(
        &self,
        parent: &Group,
        at: ElanAddr,
        words: [u64; WORDS],
    ) -> Result<[u64; WORDS], GroupError> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.elan3().store(at, &bytes).expect("just allocated");
        let operation = Reduction {
            size: Bytes::new(8),
            combine: &of_words(u64::max),
        };
        parent
            .reduce(at, at, WORDS as u64, &operation, Receivers::All)
            .await?;
        let bytes = self.elan3().load(at, Bytes::new(8 * WORDS as u64));
        let bytes = bytes.expect("just allocated");
        let mut words = bytes.chunks(8).map(word_of);
        Ok(std::array::from_fn(|_| {
            words.next().expect("as many as were stored")
        }))
    }

    fn block(&self, from: Block) -> Result<Block, AllocError> {
        let (elan, main) = (&self.inner.global_elan, &self.inner.global_main);
        Block::alloc(self.node(), elan, main, from)
    }
}
