//! # The hardware barrier and the hardware broadcast (002; public Elan3 headers)
//!
//! **Barrier.** Each process counts its barriers in a word of adapter memory, a store across the I/O bus. A thread of the root,
//! the first member, sends a broadcast packet with the *network conditional*: has every one come as far? The answers combine on the
//! way back, and the end-of-packet token commits, if all have said yes, an event in every process at once. If not, the
//! thread asks again, `retry_delay` later at first, twice as long after each no, up to [`MOST_DOUBLINGS`] times: nothing is
//! published about this, and what is late by a lot shall not fill the network with questions. The packets have high
//! priority. [`Group::hgsync`] polls for the event, [`Group::hgsyncevent`] blocks.
//!
//! **Broadcast.** After a barrier, which guarantees that all have the buffer, the root's DMA engine sends the bytes to all
//! nodes at once; they arrive at the root's own address in each. The root takes itself out of the range if it is at an end of
//! it; else its own packets come back to it.

use super::group::{Group, Slot};
use elan::{Action, Comparison, Dma, DmaError, ElanAddr, Priority, Transaction, Wait};
use std::rc::Rc;
use units::Bytes;

/// How often the time between two questions doubles.
const MOST_DOUBLINGS: u32 = 6;

impl Group {
    /// Waits for all members, by hardware if the group has it, polling (`elan_hgsync`).
    ///
    /// # Errors
    /// If a member is gone; the root is told.
    pub async fn hgsync(&self) -> Result<(), DmaError> {
        self.sync("hgsync", Wait::Poll).await
    }

    /// The same, blocking (`elan_hgsyncevent`).
    ///
    /// # Errors
    /// As [`hgsync`](Self::hgsync).
    pub async fn hgsyncevent(&self) -> Result<(), DmaError> {
        self.sync("hgsyncevent", Wait::Block).await
    }

    async fn sync(&self, call: &str, how: Wait) -> Result<(), DmaError> {
        let _turn = self.enter().await;
        let sync = async {
            if self.leads() {
                self.gather().await;
                let outcome = self.barrier(how).await;
                self.release(outcome)
            } else {
                self.join().await
            }
        };
        self.during(call, sync).await
    }

    /// The barrier of the leaders, the best that the group has.
    pub(super) async fn barrier(&self, how: Wait) -> Result<(), DmaError> {
        let layout = &self.inner.layout;
        if layout.leaders.len() == 1 {
            return Ok(());
        }
        let Some(nodes) = &layout.contiguous else {
            self.tree_barrier().await;
            return Ok(());
        };
        let node = self.node();
        let go = self.event(Slot::Go);
        node.prime(go, 1);
        let epoch = self.inner.epoch.get() + 1;
        self.inner.epoch.set(epoch);
        let word = self.inner.block.counter(node.group_config().branching);
        node.store_across(elan::message::WORD).wait().await;
        let stored = node.store(node.at(word), &epoch.to_le_bytes());
        stored.expect("the block lies in memory of the process");
        if self.inner.team == 0 {
            self.ask(nodes, word);
        }
        node.wait_by(go, how).await;
        self.inner.failed.take().map_or(Ok(()), Err)
    }

    /// Has the root's thread ask all leaders whether they have come.
    fn ask(&self, nodes: &[u32], word: ElanAddr) {
        let (ask, go) = (self.event(Slot::Ask), self.event(Slot::Go));
        let first = self.there(nodes[0], ElanAddr::NOWHERE);
        let last = self.there(nodes[nodes.len() - 1], ElanAddr::NOWHERE).node;
        let (epoch, failed) = (Rc::clone(&self.inner.epoch), Rc::clone(&self.inner.failed));
        let event = self.inner.block.at(Slot::Go);
        let config = self.node().group_config();
        let retry = self.node().retry_delay();
        let stack = &self.inner.threads.conditional;
        self.thread(stack, "hgsync", async move |thread| {
            loop {
                thread.consume(ask).await;
                let transactions = [
                    Transaction::Test {
                        at: word,
                        comparison: Comparison::NotLess,
                        word: epoch.get(),
                    },
                    Transaction::SetEvent { at: event },
                ];
                for attempt in 0.. {
                    thread.step(config.conditional.into()).await;
                    let answer = thread
                        .broadcast(first, last, &transactions, Priority::High)
                        .await;
                    match answer {
                        Ok(answer) if answer.passed => break,
                        Ok(_) => {
                            let wait = retry * (1 << attempt.min(MOST_DOUBLINGS));
                            thread.until(thread.node().sleep(wait)).await;
                        }
                        Err(error) => {
                            failed.set(Some(error));
                            thread.set(go).await;
                            break;
                        }
                    }
                }
            }
        });
        self.node().set(ask);
    }

    /// Sends `size` bytes at `buffer` of the root, by its rank, to the same address of all members, by hardware if the group has it
    /// (`elan_hbcast`).
    ///
    /// # Errors
    /// If a member has no such buffer; the root is told, and the others wait for ever.
    pub async fn hbcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> Result<(), DmaError> {
        if !self.has_hardware() {
            return self.bcast(buffer, size, root).await;
        }
        let _turn = self.enter().await;
        let spread = async |group: &Group, root| group.hardware_spread(buffer, size, root).await;
        let call = self.broadcast(buffer, size, root, Group::prepare_hardware, spread);
        self.during("hbcast", call).await
    }

    /// Before the barrier of a hardware broadcast.
    fn prepare_hardware(&self, _size: Bytes, _root: u32) {
        self.event_with(Slot::Arrived(0), 1, Action::Copy);
    }

    /// The root team's leader sends to all others.
    async fn hardware_spread(
        &self,
        buffer: ElanAddr,
        size: Bytes,
        root: u32,
    ) -> Result<(), DmaError> {
        if self.inner.team != root {
            self.node().wait(self.event(Slot::Arrived(0))).await;
            return Ok(());
        }
        let layout = &self.inner.layout;
        let nodes = layout.contiguous.as_ref().expect("the group has hardware");
        let me = layout.leaders[root as usize];
        let nodes = match &nodes[..] {
            [first, others @ ..] if *first == me => others,
            [others @ .., last] if *last == me => others,
            all => all,
        };
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else {
            return Ok(());
        };
        let last = self.there(last, buffer).node;
        let dma = Dma::broadcast(self.node().at(buffer), self.there(first, buffer), last, size);
        let arrived = self.inner.block.at(Slot::Arrived(0));
        let dma = dma.notify_at(self.there(first, arrived));
        self.node().dma(dma).await
    }
}
