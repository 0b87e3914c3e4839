//! # The hardware barrier and the hardware broadcast (petrini2001; public Elan3 headers)
//!
//! **Barrier.** Each process counts its barriers in an adapter memory word, a store across the I/O
//! bus. The thread of the first member, the root, sends a broadcast packet with the *network
//! conditional*: has every process come as far? The answers combine on the way back. If all
//! processes have answered yes, the end-of-packet token commits an event in every process at the
//! same time. The packets have high priority. [`Group::hgsync`] polls for the event,
//! [`Group::hgsyncevent`] blocks.
//!
//! If any process answers no, the thread asks again `retry_delay` later, `retries` times. The
//! further course is not published. Here the thread stops asking, and stores a *wish* in every
//! process by a broadcast. A process that comes later finds the wish, and sets an event at the
//! root; the root's thread then asks again. The thread also asks once after the broadcast, for
//! processes that came before the wish reached them. So a very late process does not fill the
//! network with questions, and a process that never comes is a deadlock.
//!
//! **Broadcast.** After a barrier, which guarantees that all have the buffer, the root's host posts
//! one DMA to all nodes. It is an ordinary DMA, and no thread takes part: Elan3lib has processes
//! that stand for a node range (`elan3_addbcastvp`), and public programs from that time, such as
//! LA-MPI, post a DMA to such a process with `elan3_putdma`. The root leaves itself out of the
//! range if it lies at either end of the range. Otherwise its own packets come back to the root, to
//! the place where they come from, and its own event occurs; so the root waits for this event, too.
//! If source and target differ, the root sends two broadcasts, to the nodes on either side of it.
//!
//! On a machine with several rails, the policy picks the bytes' rails ([`super::rails`]); a
//! broadcast without bytes on the home rail then sets the events. A broadcast that has failed with
//! the home rail has reached no member, and the root sends to each member by a detour
//! ([`super::detour`]). If the network fails to broadcast the bytes on any rail, the root sends
//! bytes and event to each member, too.
//!
//! *A barrier on a failing rail.* The commit is all or nothing, so the root's thread knows whether
//! the barrier is over. If not, the root learns by detours that the others have come: those that
//! wait send it as soon as the rail is down, and those that come while it is down. When all have
//! come, the root lets them go by detours; if the rail works again before, the root's thread asks
//! again, since all have counted the barrier in their own adapters. If the network fails such a
//! detour, on all rails that the sender can use, the group is lost ([`super::recovery`]).
//!
//! Setting up a barrier's packet takes a thread `broadcast` cycles; sending the packet again takes
//! 0.

use super::block::Slot;
use super::courier::Delivery;
use super::detour::{Detours, any};
use super::group::Group;
use super::group::recovery::either;
use super::group::span::{Carrier, Span};
use super::layout::TeamId;
use super::putget::SMALL;
use super::rails::in_main;
use super::spread::{Part, Poster, carry};
use elan::transaction::WORD;
use elan::{
    Action, Address, Comparison, Dma, DmaError, ElanAddr, EventId, Place, Priority, ProcessId,
    Rail, Thread, Transaction, WaitMode,
};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use units::Bytes;

/// The question from the root's thread, and the processes that it asks.
#[derive(Clone, Copy)]
struct Question {
    /// Any address in the first leader, and the last leader's node.
    first: Address,
    last: Place,
    /// How many barriers a process has come to, and from which barrier on it shall notify the root.
    words: [ElanAddr; 2],
    /// The event that reports that all have come.
    go: ElanAddr,
    told: EventId,
    setup: u64,
}

impl Group {
    /// Waits for all members, by hardware if the group has it, polling (`elan_hgsync`).
    ///
    /// # Errors
    /// If a member's memory is gone; the root gets the error.
    pub async fn hgsync(&self) -> Result<(), DmaError> {
        self.sync("hgsync", WaitMode::Poll).await
    }

    /// Waits for all members, by hardware if the group has it, blocking (`elan_hgsyncevent`).
    ///
    /// # Errors
    /// As [`hgsync`](Self::hgsync).
    pub async fn hgsyncevent(&self) -> Result<(), DmaError> {
        self.sync("hgsyncevent", WaitMode::Block).await
    }

    async fn sync(&self, call: &'static str, how: WaitMode) -> Result<(), DmaError> {
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

    /// The barrier of the leaders, the best that the group has; returns which it was. Before a
    /// barrier by software, the process prepares for the next step.
    pub(super) async fn barrier(
        &self,
        how: WaitMode,
        prepare: impl FnOnce(),
    ) -> Result<Carrier, DmaError> {
        let layout = &self.inner.layout;
        if layout.leaders.len() == 1 {
            return Ok(Carrier::Hardware);
        }
        let Some(nodes) = &layout.contiguous else {
            prepare();
            self.tree_barrier(how).await;
            return Ok(Carrier::Software);
        };
        let epoch = self.inner.epoch.get() + 1;
        self.inner.epoch.set(epoch);
        let recovery = self.inner.recovery.as_ref();
        if !recovery.is_some_and(|recovery| recovery.is_by_software(epoch))
            && self.ask_hardware(nodes, epoch, how).await?
        {
            return Ok(Carrier::Hardware);
        }
        prepare();
        self.tree_barrier(how).await;
        Ok(Carrier::Software)
    }

    /// A barrier by hardware; returns whether it was one, or goes by software instead.
    async fn ask_hardware(
        &self,
        nodes: &[ProcessId],
        epoch: u64,
        how: WaitMode,
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
        let go_on = async {
            match &self.inner.courier.detours {
                None => {
                    node.wait_by(go, how).await;
                    self.inner.failed.take().map_or(Ok(()), Err)
                }
                Some(detours) if self.inner.team == TeamId::FIRST => {
                    self.lead(detours, epoch, how).await
                }
                Some(detours) => {
                    self.follow(detours, epoch, how).await;
                    Ok(())
                }
            }
        };
        let Some(recovery) = &self.inner.recovery else {
            return go_on.await.map(|()| true);
        };
        match either(go_on, recovery.by_software(epoch)).await {
            Some(Err(error)) if error.loss().is_some() => {
                self.leave_hardware(recovery, epoch);
                Ok(false)
            }
            Some(result) => result.map(|()| true),
            None => Ok(false),
        }
    }

    /// The root's part on a machine with several rails: waits until the barrier is over, by either
    /// way.
    async fn lead(&self, detours: &Detours, epoch: u64, how: WaitMode) -> Result<(), DmaError> {
        let (node, go) = (self.node(), self.event(Slot::Go));
        loop {
            node.wait_by(go, how).await;
            match self.inner.failed.take() {
                None => return Ok(()),
                Some(error) if !error.is_rail_down() => return Err(error),
                Some(_) => node.prime(go, 1),
            }
            if self.all_have_come(epoch).await {
                break;
            }
            node.set(self.event(Slot::Ask));
        }
        for &vp in self.inner.layout.leaders.iter().skip(1) {
            let (detours, go) = (detours.clone(), self.inner.block.at(Slot::Go));
            let group = self.clone();
            node.serve("hgsync", async move {
                let let_go = async || detours.set(vp, go).await;
                // A process that is gone does not wait; one that the network keeps out of reach is
                // lost to the group.
                if let Err(error) = detours.patiently(let_go).await {
                    group.lose(error);
                }
            });
        }
        Ok(())
    }

    /// Waits until all others have reported by detours that they have come, or the home rail works
    /// again; returns whether all have.
    async fn all_have_come(&self, epoch: u64) -> bool {
        let (local, others) = (&self.inner.local, self.inner.layout.leaders.len() - 1);
        loop {
            local.noted.reset();
            let came = local
                .came
                .borrow()
                .values()
                .filter(|&&one| one >= epoch)
                .count();
            if came == others {
                return true;
            }
            if !self.node().is_down() {
                return false;
            }
            any(vec![local.noted.wait(), self.node().up().wait()]).await;
        }
    }

    /// The others' part: if the home rail fails before the barrier is over, a detour notifies the
    /// root.
    async fn follow(&self, detours: &Detours, epoch: u64, how: WaitMode) {
        let mut go = pin!(self.node().wait_by(self.event(Slot::Go), how));
        let mut down = self.node().down().wait();
        let over = poll_fn(|context| match go.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => Pin::new(&mut down).poll(context).map(|()| false),
        });
        if over.await {
            return;
        }
        let root = self.inner.layout.leaders[TeamId::FIRST];
        let meeting = (self.inner.block.elan, root);
        let local = Rc::clone(&self.inner.locals.borrow()[&meeting]);
        let (detours, team, group) = (detours.clone(), self.inner.team, self.clone());
        self.node().serve("hgsync", async move {
            let note = async || {
                let local = Rc::clone(&local);
                let note = move || {
                    let mut came = local.came.borrow_mut();
                    let known = came.entry(team).or_default();
                    *known = epoch.max(*known);
                    local.noted.fire();
                };
                detours.note(root, WORD, note).await
            };
            // A root that is gone does not wait; one that the network keeps out of reach is lost to
            // the group.
            if let Err(error) = detours.patiently(note).await {
                group.lose(error);
            }
        });
        go.await;
    }

    /// Notifies the root that this process has come, if the root wants it; meanwhile the process
    /// waits.
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
                group.post(tell);
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

    /// Sends `size` bytes at the root's `buffer`, by its rank, to the same address in all members,
    /// by hardware if the group has it (`elan_hbcast`).
    ///
    /// # Errors
    /// If a member has no such buffer; the root gets the error, and the others wait for ever.
    pub async fn hbcast(&self, buffer: ElanAddr, size: Bytes, root: u32) -> Result<(), DmaError> {
        self.hbcast_from(Span::new(buffer, size), root).await
    }

    /// Broadcasts as [`hbcast`](Self::hbcast), from another place at the root.
    pub(crate) async fn hbcast_from(&self, span: Span, root: u32) -> Result<(), DmaError> {
        if !self.has_hardware() {
            return self.bcast_from(span, root).await;
        }
        let _turn = self.enter().await;
        let call = self.broadcast(span, root, Carrier::Hardware);
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
        let me = self.inner.layout.leaders[root];
        let ranges = self.ranges(span, root);
        let (mut span, detours) = (span, &self.inner.courier.detours);
        if let Some(detours) = detours
            && span.size > SMALL
            && [span.from, span.to]
                .iter()
                .all(|&at| in_main(self.node(), at, span.size))
        {
            match self.spread_bytes(detours, &ranges, span).await {
                Ok(()) => span = Span::new(ElanAddr::NOWHERE, Bytes::ZERO),
                // No member has been notified, and the network may still carry the bytes to each.
                Err(error) if error.loss().is_some() => {
                    return self.send_to_each(span, &ranges.concat()).await;
                }
                Err(error) => return Err(error),
            }
        }
        let send = |range: &&[ProcessId]| self.node().dma(self.to_range(span, range));
        let sent: Vec<_> = ranges.iter().map(send).collect();
        let mut outcome = Ok(());
        for (sent, range) in sent.into_iter().zip(ranges) {
            let mut over = self.over(sent).await;
            match over {
                // The root's own event comes later than the answer. It must not come in the next
                // call.
                Ok(()) if range.contains(&me) => self.wait(Slot::Arrived(0)).await,
                Ok(()) => {}
                Err(error) => {
                    let detoured = detours.is_some() && error.is_rail_down();
                    if detoured || error.loss().is_some() {
                        over = self.send_to_each(span, range).await;
                    }
                }
            }
            outcome = outcome.and(over);
        }
        outcome
    }

    /// The same by a thread, for a call that the host has posted.
    pub(super) async fn hardware_spread_by(
        &self,
        thread: &Thread,
        span: Span,
        root: TeamId,
    ) -> Result<(), DmaError> {
        let arrived = self.event(Slot::Arrived(0));
        if self.inner.team != root {
            thread.wait(arrived).await;
            return Ok(());
        }
        let me = self.inner.layout.leaders[root];
        let mut outcome = Ok(());
        for range in self.ranges(span, root) {
            let sent = thread.dma(self.to_range(span, range)).await;
            let over = match thread.until(sent).await {
                Err(error) if error.is_rail_down() || error.loss().is_some() => {
                    thread.until(self.send_to_each(span, range)).await
                }
                over => {
                    // The root's own event comes later than the answer.
                    if over.is_ok() && range.contains(&me) {
                        thread.wait(arrived).await;
                    }
                    over
                }
            };
            outcome = outcome.and(over);
        }
        outcome
    }

    /// The leaders to which the root team's leader sends: one range, or those on either side.
    fn ranges(&self, span: Span, root: TeamId) -> Vec<&[ProcessId]> {
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
        ranges
            .into_iter()
            .filter(|range| !range.is_empty())
            .collect()
    }

    /// The DMA that brings bytes to a leader range.
    fn to_range(&self, span: Span, range: &[ProcessId]) -> Dma {
        let (first, last) = (range[0], range[range.len() - 1]);
        let last = self.there(last, span.to).node;
        let (from, to) = (self.node().at(span.from), self.there(first, span.to));
        let arrived = self.there(first, self.inner.block.at(Slot::Arrived(0)));
        let dma = Dma::broadcast(from, to, last, span.size).notify_at(arrived);
        dma.once()
    }

    /// Sends the bytes to some process ranges over the rails that the policy picks.
    async fn spread_bytes(
        &self,
        detours: &Detours,
        ranges: &[&[ProcessId]],
        span: Span,
    ) -> Result<(), DmaError> {
        let rails = detours.rails();
        let node = |vp| detours.place(vp, Rail::new(0)).rail_and_node().1;
        let (_, here) = self.node().rail_and_node();
        let others = || {
            ranges
                .concat()
                .into_iter()
                .map(node)
                .filter(|&node| node != here)
        };
        let pick = |size| rails.pick_for_all(here, others(), size);
        let start = |rail, (offset, length): Part| {
            // The leaders' contexts have one number on every rail.
            let send = |range: &&[ProcessId]| {
                let place = |vp| detours.place(vp, rail);
                let (from, to) = (span.from.offset(offset), span.to.offset(offset));
                let (own, first) = (rails.place(rail), place(range[0]));
                let last = place(range[range.len() - 1]).place();
                let dma = Dma::broadcast(own.at(from), first.at(to), last, length);
                own.dma(dma.stored())
            };
            ranges.iter().map(send).collect()
        };
        let attempt = async || {
            let poster = Poster {
                node: self.node().clone(),
                cpu: self.inner.cpu.clone(),
                turn: None,
                paid: true,
            };
            let carried = Box::pin(carry(rails, span.size, poster, pick, start));
            self.node().wait_for(carried, self.inner.waits).await
        };
        detours.patiently(attempt).await
    }

    /// The root sends to some leaders one by one: the network has failed to broadcast to them, and
    /// they wait.
    async fn send_to_each(&self, span: Span, range: &[ProcessId]) -> Result<(), DmaError> {
        let (context, courier) = (&self.inner.context, &self.inner.courier);
        let others = range.iter().filter(|&&vp| vp != context.process());
        let put = |&vp| {
            let one = Delivery {
                vp,
                from: span.from,
                to: span.to,
                length: span.size,
                event: self.inner.block.at(Slot::Arrived(0)),
                short: false,
            };
            (self.node().dma(courier.dma(one)), one)
        };
        let mut outcome = Ok(());
        for (sent, one) in others.map(put).collect::<Vec<_>>() {
            let over = courier.end(self.over(sent), one).await;
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
