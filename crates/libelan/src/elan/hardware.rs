//! # The hardware barrier and the hardware broadcast (petrini2001; public Elan3 headers)
//!
//! **Barrier.** Each process counts its barriers in a word of adapter memory, a store across the I/O bus. A thread of the
//! first member, the root, sends a broadcast packet with the *network conditional*: has every process come as far? The
//! answers combine on the way back. If all processes have said yes, the end-of-packet token commits an event in every
//! process at once. The packets have high priority. [`Group::hgsync`] polls for the event, [`Group::hgsyncevent`] blocks.
//!
//! If any process says no, the thread asks again `retry_delay` later, `retries` times. What happens then is not published.
//! Here the thread stops asking, and stores a *wish* in every process by a broadcast. A process that comes later finds the
//! wish, and sets an event of the root, whose thread then asks again. The thread also asks once after the broadcast, for
//! processes that came before the wish reached them. So a very late process does not fill the network with questions, and a
//! process that never comes is a deadlock.
//!
//! **Broadcast.** After a barrier, which guarantees that all have the buffer, the root's host posts a DMA to all nodes at
//! once. The DMA is a DMA like any other, and no thread takes part: Elan3lib has processes that stand for a range of nodes
//! (`elan3_addbcastvp`), and public programs of the time, such as LA-MPI, post a DMA to such a process with `elan3_putdma`.
//! The root leaves itself out of the range if it lies at an end of the range. Otherwise its own packets come back to the
//! root, to the place where they come from. If source and target differ, the root sends two broadcasts, to the nodes on
//! either side of it.
//!
//! To set up the packet of a barrier takes a thread `broadcast` cycles; to send the packet again takes none.

use super::bcast::{Span, Way};
use super::block::Slot;
use super::group::Group;
use super::layout::TeamId;
use super::recovery::either;
use elan::{
    Action, Address, Comparison, Dma, DmaError, ElanAddr, EventId, Place, Priority, ProcessId,
    Thread, Transaction, Wait,
};
use std::rc::Rc;
use units::Bytes;

/// The question of the root's thread, and the processes that it asks.
#[derive(Clone, Copy)]
struct Question {
    /// Any address of the first leader, and the node of the last leader.
    first: Address,
    last: Place,
    /// How many barriers a process has come to, and from which barrier on it shall tell the root.
    words: [ElanAddr; 2],
    /// The event that says that all have come.
    go: ElanAddr,
    told: EventId,
    setup: u64,
}

impl Group {
    /// Waits for all members, by hardware if the group has it, polling (`elan_hgsync`).
    ///
    /// # Errors
    /// If a member's memory is gone; the root is told.
    pub async fn hgsync(&self) -> Result<(), DmaError> {
        self.sync("hgsync", Wait::Poll).await
    }

    /// Waits for all members, by hardware if the group has it, blocking (`elan_hgsyncevent`).
    ///
    /// # Errors
    /// As [`hgsync`](Self::hgsync).
    pub async fn hgsyncevent(&self) -> Result<(), DmaError> {
        self.sync("hgsyncevent", Wait::Block).await
    }

    async fn sync(&self, call: &'static str, how: Wait) -> Result<(), DmaError> {
        let _turn = self.enter().await;
        let sync = async {
            if self.leads() {
                self.gather().await;
                let outcome = self.barrier(how, || {}).await;
                self.release(outcome.map(drop))
            } else {
                self.join().await
            }
        };
        self.during(call, sync).await
    }

    /// The barrier of the leaders, the best that the group has; returns which it was. Before a barrier by software, the process
    /// prepares for what comes next.
    pub(super) async fn barrier(&self, how: Wait, prepare: impl FnOnce()) -> Result<Way, DmaError> {
        let layout = &self.inner.layout;
        if layout.leaders.len() == 1 {
            return Ok(Way::Hardware);
        }
        let Some(nodes) = &layout.contiguous else {
            prepare();
            self.tree_barrier(how).await;
            return Ok(Way::Software);
        };
        let epoch = self.inner.epoch.get() + 1;
        self.inner.epoch.set(epoch);
        let recovery = self.inner.recovery.as_ref();
        if !recovery.is_some_and(|recovery| recovery.is_by_software(epoch))
            && self.ask_hardware(nodes, epoch, how).await?
        {
            return Ok(Way::Hardware);
        }
        prepare();
        self.tree_barrier(how).await;
        Ok(Way::Software)
    }

    /// A barrier by hardware; returns whether it was one, or goes by software instead.
    async fn ask_hardware(
        &self,
        nodes: &[ProcessId],
        epoch: u64,
        how: Wait,
    ) -> Result<bool, DmaError> {
        let node = self.node();
        let go = self.event(Slot::Go);
        node.prime(go, 1);
        let words = self.inner.block.words(node);
        node.cross_to_adapter(elan::transaction::WORD).await;
        let stored = node.store(node.at(words[0]), &epoch.to_le_bytes());
        stored.expect("the block lies in memory of the process");
        if self.inner.team == TeamId::FIRST {
            self.ask(nodes, words);
        } else {
            self.tell(words[1], epoch);
        }
        let Some(recovery) = &self.inner.recovery else {
            node.wait_by(go, how).await;
            return self.inner.failed.take().map_or(Ok(true), Err);
        };
        let by_hardware = either(node.wait_by(go, how), recovery.by_software(epoch)).await;
        match self.inner.failed.take() {
            Some(error) if error.loss().is_some() => {
                self.leave_hardware(recovery, epoch);
                Ok(false)
            }
            Some(error) => Err(error),
            None => Ok(by_hardware.is_some()),
        }
    }

    /// Tells the root that this process has come, if the root wants to be told; meanwhile the process waits.
    fn tell(&self, wish: ElanAddr, epoch: u64) {
        let (node, root) = (
            self.node().clone(),
            self.inner.layout.leaders[TeamId::FIRST],
        );
        let (tell, group) = (self.signal(root, Slot::Told), self.clone());
        self.node().serve("hgsync", async move {
            node.cross_to_main(elan::transaction::WORD).await;
            let since = node.load(node.at(wish), elan::transaction::WORD);
            if since.is_ok_and(|since| since[..] == epoch.to_le_bytes()) {
                group.hear(node.post_and_hear(tell));
            }
        });
    }

    /// Has the root's thread ask all leaders whether they have come.
    fn ask(&self, nodes: &[ProcessId], words: [ElanAddr; 2]) {
        let (ask, go) = (self.event(Slot::Ask), self.event(Slot::Go));
        let question = Question {
            first: self.there(nodes[0], ElanAddr::NOWHERE),
            last: self.there(nodes[nodes.len() - 1], ElanAddr::NOWHERE).node,
            words,
            go: self.inner.block.at(Slot::Go),
            told: self.event(Slot::Told),
            setup: self.node().config().group.broadcast.into(),
        };
        let (epoch, failed) = (Rc::clone(&self.inner.epoch), Rc::clone(&self.inner.failed));
        let stack = &self.inner.threads.conditional;
        self.thread(stack, "hgsync", async move |thread| {
            loop {
                thread.consume(ask).await;
                if let Err(error) = question.ask(&thread, epoch.get()).await {
                    failed.set(Some(error));
                    thread.set(go).await;
                }
            }
        });
        self.node().set(ask);
    }

    /// Sends `size` bytes at `buffer` of the root, by its rank, to the same address of all members, by hardware if the group
    /// has it (`elan_hbcast`).
    ///
    /// # Errors
    /// If a member has no such buffer; the root is told, and the others wait for ever.
    pub async fn hbcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> Result<(), DmaError> {
        self.hbcast_from(Span::new(buffer, size), root).await
    }

    /// Broadcasts as [`hbcast`](Self::hbcast), from another place at the root.
    pub(crate) async fn hbcast_from(&self, span: Span, root: u32) -> Result<(), DmaError> {
        if !self.has_hardware() {
            return self.bcast_from(span, root).await;
        }
        let _turn = self.enter().await;
        let call = self.broadcast(span, root, Way::Hardware);
        self.during("hbcast", call).await
    }

    /// Prepares a hardware broadcast, before its barrier.
    pub(super) fn prepare_hardware(&self) {
        self.event_with(Slot::Arrived(0), 1, Action::Copy);
    }

    /// The root team's leader sends to all others.
    pub(super) async fn hardware_spread(&self, span: Span, root: TeamId) -> Result<(), DmaError> {
        if self.inner.team != root {
            self.wait(Slot::Arrived(0)).await;
            return Ok(());
        }
        let layout = &self.inner.layout;
        let nodes = layout.contiguous.as_ref().expect("the group has hardware");
        let me = layout.leaders[root];
        let place = nodes.iter().position(|&vp| vp == me);
        let place = place.expect("the root is one of them");
        let at_an_end = place == 0 || place + 1 == nodes.len();
        let ranges = if span.from == span.to && !at_an_end {
            vec![&nodes[..]]
        } else {
            vec![&nodes[..place], &nodes[place + 1..]]
        };
        let broadcast = |range: &[ProcessId]| {
            let (&first, &last) = (range.first()?, range.last()?);
            let last = self.there(last, span.to).node;
            let (from, to) = (self.node().at(span.from), self.there(first, span.to));
            let arrived = self.there(first, self.inner.block.at(Slot::Arrived(0)));
            let dma = Dma::broadcast(from, to, last, span.size).notify_at(arrived);
            Some(self.node().dma(dma.once()))
        };
        let ranges = ranges.into_iter();
        let sent = ranges.filter_map(|range| Some((broadcast(range)?, range)));
        let sent: Vec<_> = sent.collect();
        let mut outcome = Ok(());
        for (sent, range) in sent {
            let mut over = self.over(sent).await;
            if over.is_err_and(|error| error.loss().is_some()) {
                over = self.send_to_each(span, range).await;
            }
            outcome = outcome.and(over);
        }
        outcome
    }

    /// The root sends to some leaders one by one: the network has failed to broadcast to them, and they wait.
    async fn send_to_each(&self, span: Span, range: &[ProcessId]) -> Result<(), DmaError> {
        let (context, arrived) = (&self.inner.context, self.inner.block.at(Slot::Arrived(0)));
        let others = range.iter().filter(|&&vp| vp != context.process());
        let put = |&vp| context.put_notify(vp, span.from, span.to, span.size, arrived);
        let mut outcome = Ok(());
        for sent in others.map(put).collect::<Vec<_>>() {
            let over = self.over(sent).await;
            outcome = outcome.and(over);
        }
        outcome
    }
}

impl Question {
    /// Asks until all have come to a barrier.
    async fn ask(&self, thread: &Thread, epoch: u64) -> Result<(), DmaError> {
        let config = thread.node().config().adapter;
        let asks = [
            Transaction::Test {
                at: self.words[0],
                comparison: Comparison::NotLess,
                word: epoch,
            },
            Transaction::SetEvent { at: self.go },
        ];
        thread.step(self.setup).await;
        for _ in 0..=config.retries {
            if self.broadcast(thread, &asks).await? {
                return Ok(());
            }
            thread.until(thread.node().sleep(config.retry_delay)).await;
        }
        thread.prime(self.told, 1);
        let wish = Transaction::Write {
            to: self.words[1],
            word: epoch,
        };
        thread.step(self.setup).await;
        self.broadcast(thread, &[wish]).await?;
        while !self.broadcast(thread, &asks).await? {
            thread.consume(self.told).await;
        }
        Ok(())
    }

    async fn broadcast(
        &self,
        thread: &Thread,
        transactions: &[Transaction],
    ) -> Result<bool, DmaError> {
        let (first, last) = (self.first, self.last);
        let answer = thread
            .broadcast_once(first, last, transactions, Priority::High)
            .await?;
        Ok(answer.passed)
    }
}
