//! # Groups in a machine with failing parts
//!
//! Where a machine lists faults, each group keeps a record in each member's adapter memory, and
//! each team's leader *watches* it. Without faults the record does not exist; with faults that do
//! not occur it is not used.
//!
//! ## From hardware to software trees
//!
//! A hardware barrier's root learns from the answer to its packet whether all or no members have
//! left the barrier ([`elan::adapter::recovery`]). If the network has refused the packet, or has
//! not answered it, no member has. The root alone decides the further course: this barrier and the
//! next ones, [`CALLS`] in all, go by the software tree, and so do the broadcasts that follow these
//! barriers. The root writes these barriers' numbers into the record of its children in the tree,
//! and their watches pass the numbers on. A member that waits for the hardware's event waits for
//! the record as well: exactly one comes. A member that comes later finds the record. So all
//! members take the same way, independent of delays. After these calls the root tries the hardware
//! again: links may have been repaired. That the hardware is left alone for 64 calls is assumed.
//!
//! If a data broadcast fails, no destination has been notified, and all still wait for the event
//! that reports the bytes. So the root sends the bytes, with the same event, to each destination:
//! they see no difference.
//!
//! ## Lost members
//!
//! A group is *lost*, permanently, if its members cannot all reach each other: calls under way and
//! later calls return the error in all members that can be notified. There are three ways to notice
//! it:
//!
//! * all sources' routing tables change at once, leave no way between two leaders, and still leave
//!   no way `faults.detect` later (a cable may be dead for a moment just when the tables learn
//!   another): both leaders know by themselves; and so does a leader if its own adapters are all
//!   dead then;
//! * a call's message has been given up: the sender knows;
//! * another member reports it: a member that knows writes the error into the record of all leaders
//!   that do not know by themselves. It waits while the tables leave a leader without a way, since
//!   this leader's watch sees a cable that is dead for `faults.detect`. If the tables find a way
//!   before, the leader does not know the loss, and gets the news.
//!
//! A member that has stopped while its links live is silent: the others wait, as for any member
//! that does not come. So is a member with a host that stops before its news gets through.
//!
//! ## Several rails
//!
//! A rail that is down as a whole is no loss: hardware barriers and the group's messages take
//! detours ([`crate::elan::hardware`], [`crate::elan::detour`]). Dead cables, switches and single
//! adapters count as on a machine with one rail: traffic that the home rail cannot carry leaves the
//! hardware or loses the group, although another rail may have a way. Only messages that a member
//! sends while its own adapter is dead take detours, and so does the news of a loss.

use super::Group;
use crate::elan::block::Block;
use crate::elan::courier::Delivery;
use crate::elan::layout::TeamId;
use crate::elan3::Context;
use elan::transaction::{WORD, word_of};
use elan::{
    Action, DmaError, ElanAddr, EventId, Loss, Obstacle, Place, ProcessId, Thread, Transfer,
};
use kernel::Signal;
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use units::Time;

/// Barriers that go by software after the hardware has failed.
const CALLS: u64 = 64;

/// How often a member tries again to notify another one of a loss, within twice the detection time:
/// by then the cable or the rail works, or the other one knows that it does not. Assumed.
const TELLS: u32 = 16;

/// The record's words: the first and the last barrier by software; then an error.
const FALL: u64 = 2;
const LOSS: u64 = 4;

/// The code for no process.
const NOBODY: u64 = u64::MAX;

/// A member's knowledge about failures.
pub(in crate::elan) struct Recovery {
    /// The first and the last barrier by software.
    software: Cell<(u64, u64)>,
    /// Fired, and reset, when these numbers change.
    changed: Signal,
    record: Record,
}

/// The record in the member's adapter memory.
#[derive(Clone, Copy)]
struct Record {
    at: ElanAddr,
    /// Others have written the barrier numbers.
    fallen: EventId,
    /// Others have written an error.
    lost: EventId,
}

/// A part of the record: its event's place, its words' start, and their count.
#[derive(Clone, Copy)]
struct Part(ElanAddr, ElanAddr, u64);

impl Part {
    /// The delivery that brings this part of the record to another member.
    fn news_to(self, vp: ProcessId) -> Delivery {
        let Part(event, words, count) = self;
        Delivery {
            vp,
            from: words,
            to: words,
            length: WORD * count,
            event,
            short: false,
        }
    }
}

impl Record {
    fn part(self, index: u64) -> Part {
        let event = self.at.offset(elan::memory::EVENT_BLOCK * index);
        let words = self.at.offset(elan::memory::EVENT_BLOCK * 2);
        match index {
            0 => Part(event, words, FALL),
            _ => Part(event, words.offset(WORD * FALL), LOSS),
        }
    }

    fn of_fall(self) -> Part {
        self.part(0)
    }

    fn of_loss(self) -> Part {
        self.part(1)
    }
}

/// An observation by a group's watch.
enum Observation {
    Tables,
    Fall,
    Loss,
}

impl Recovery {
    /// A group's record, if the machine lists faults.
    pub fn new(context: &Context, block: Block) -> Option<Self> {
        let node = context.node();
        if !node.lists_faults() {
            return None;
        }
        let at = block.record(node);
        let event = |index: u64| {
            let place = at.offset(elan::memory::EVENT_BLOCK * index);
            let event = node.event_at(place, 1, Action::Copy);
            event.expect("the block lies in adapter memory of the process")
        };
        Some(Recovery {
            software: Cell::new((1, 0)),
            changed: Signal::new(),
            record: Record {
                at,
                fallen: event(0),
                lost: event(1),
            },
        })
    }

    /// Whether a barrier goes by software.
    pub fn is_by_software(&self, epoch: u64) -> bool {
        let (first, last) = self.software.get();
        (first..=last).contains(&epoch)
    }

    /// Waits until a barrier goes by software.
    pub async fn by_software(&self, epoch: u64) {
        while !self.is_by_software(epoch) {
            self.changed.wait().await;
        }
    }

    fn set(&self, software: (u64, u64)) {
        self.software.set(software);
        self.changed.fire();
        self.changed.reset();
    }
}

/// Waits for the first of two futures; returns whether that is the first argument.
pub(in crate::elan) async fn either<T>(
    one: impl Future<Output = T>,
    other: impl Future<Output = ()>,
) -> Option<T> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => other.as_mut().poll(context).map(|()| None),
    })
    .await
}

impl Group {
    /// Starts a leader's watch, if the machine lists faults.
    pub(in crate::elan) fn start_watch(&self) {
        if let Some(recovery) = &self.inner.recovery
            && self.leads()
        {
            let (group, record) = (self.clone(), recovery.record);
            let watch = async move { group.watch(record).await };
            self.node().serve("watch of a group", watch);
        }
    }

    async fn watch(&self, record: Record) {
        let (node, detect) = (self.node(), self.detect());
        let mut since = None;
        while self.inner.local.lost.get().is_none() {
            since = match (self.look_at_tables(), since) {
                (Ok(()), _) => None,
                (Err(_), None) => Some(node.now()),
                (Err(error), Some(since)) if node.now() >= since + detect => {
                    return self.lose(error);
                }
                (Err(_), since) => since,
            };
            let tables = node.tables();
            let mut tables = tables.wait();
            let mut again = pin!(async {
                match since {
                    Some(since) => node.sleep_until(since + detect).await,
                    None => pending().await,
                }
            });
            let mut fallen = pin!(node.wait(record.fallen));
            let mut lost = pin!(node.wait(record.lost));
            let seen = poll_fn(|context| {
                if lost.as_mut().poll(context).is_ready() {
                    Poll::Ready(Observation::Loss)
                } else if fallen.as_mut().poll(context).is_ready() {
                    Poll::Ready(Observation::Fall)
                } else if again.as_mut().poll(context).is_ready() {
                    Poll::Ready(Observation::Tables)
                } else {
                    Pin::new(&mut tables)
                        .poll(context)
                        .map(|()| Observation::Tables)
                }
            });
            match seen.await {
                Observation::Tables => {}
                Observation::Fall => {
                    node.prime(record.fallen, 1);
                    let words = self.words_of(record.of_fall());
                    self.fall((words[0], words[1]), record);
                }
                Observation::Loss => {
                    let loss = self.decode(&self.words_of(record.of_loss()));
                    self.mark(loss.into());
                }
            }
        }
    }

    /// Whether the routing tables have a way from this leader to all others, and back, and one of
    /// the leader's adapters works.
    fn look_at_tables(&self) -> Result<(), DmaError> {
        let node = self.node();
        let (here, detours) = (node.place(), &self.inner.courier.detours);
        if detours.is_none() {
            node.check_rail()?;
        }
        self.inner.layout.leaders.iter().try_for_each(|&vp| {
            let there = self.place_of(vp);
            if let Some(detours) = detours.as_ref().filter(|_| here != there) {
                detours.works(vp)?;
            }
            let both = node.way(here, there).and_then(|()| node.way(there, here));
            both.map_err(|error| error.of_process(vp))
        })
    }

    fn place_of(&self, vp: ProcessId) -> Place {
        self.there(vp, ElanAddr::NOWHERE).node
    }

    /// The root decides: this barrier and the next go by software.
    pub(in crate::elan) fn leave_hardware(&self, recovery: &Recovery, epoch: u64) {
        self.fall((epoch, epoch + CALLS - 1), recovery.record);
    }

    /// Some barriers go by software: notifies the places below in the tree.
    fn fall(&self, software: (u64, u64), record: Record) {
        let Some(recovery) = &self.inner.recovery else {
            return;
        };
        let part = record.of_fall();
        self.store_words(part, &[software.0, software.1]);
        recovery.set(software);
        for &child in &self.inner.spot.children {
            let vp = self.inner.layout.leaders[TeamId::new(child)];
            self.hear(self.write_to(vp, part), part.news_to(vp));
        }
    }

    fn store_words(&self, part: Part, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let stored = self.inner.context.store(part.1, &bytes);
        stored.expect("the block lies in memory of the process");
    }

    fn words_of(&self, part: Part) -> Vec<u64> {
        let bytes = self.inner.context.load(part.1, WORD * part.2);
        let bytes = bytes.expect("the block lies in memory of the process");
        bytes.chunks(8).map(word_of).collect()
    }

    /// Writes a part of the record into another member's.
    fn write_to(&self, vp: ProcessId, Part(event, words, count): Part) -> Transfer {
        let context = &self.inner.context;
        context.put_notify(vp, words, words, WORD * count, event)
    }

    /// Posts a delivery that no call waits for.
    pub(in crate::elan) fn post(&self, one: Delivery) {
        let sent = self.node().post_and_hear(self.inner.courier.dma(one));
        self.hear(sent, one);
    }

    /// Has a thread send a delivery that no call waits for.
    pub(in crate::elan) async fn hand(&self, thread: &Thread, one: Delivery) {
        let sent = thread.dma(self.inner.courier.dma(one)).await;
        self.hear(sent, one);
    }

    /// Hears how a delivery ends that no call waits for: it takes a detour if its rail has failed;
    /// if it is lost, so is the group.
    fn hear(&self, sent: Transfer, one: Delivery) {
        if self.inner.recovery.is_some() || self.inner.courier.detours.is_some() {
            let group = self.clone();
            self.node().serve("message of a group", async move {
                if let Err(error) = group.inner.courier.end(sent, one).await {
                    group.lose(error);
                }
            });
        }
    }

    /// Runs a call until it ends or the group is lost.
    pub(in crate::elan) async fn unless_lost(
        &self,
        call: impl Future<Output = Result<(), DmaError>>,
    ) -> Result<(), DmaError> {
        if self.inner.recovery.is_none() {
            return call.await;
        }
        let local = &self.inner.local;
        if let Some(error) = local.lost.get() {
            return Err(error);
        }
        let ended = either(call, local.gone.wait()).await;
        let outcome = ended.unwrap_or_else(|| local.lost.get().map_or(Ok(()), Err));
        if let Err(error) = outcome {
            self.lose(error);
        }
        outcome.map_err(|error| self.named(error))
    }

    /// Names the process at a loss's other end.
    fn named(&self, error: DmaError) -> DmaError {
        let Some(loss) = error.loss().filter(|loss| loss.process.is_none()) else {
            return error;
        };
        let here = self.node().place();
        let other = if loss.to == here { loss.from } else { loss.to };
        let mut leaders = self.inner.layout.leaders.iter();
        let process = leaders.find(|&&vp| self.place_of(vp) == other);
        process.map_or(error, |&vp| error.of_process(vp))
    }

    /// A call has failed: if the network has failed, the group is lost, and this process notifies
    /// the others.
    pub(in crate::elan) fn lose(&self, error: DmaError) {
        let no_rail = matches!(error, DmaError::NoRail { .. });
        let lost = no_rail || error.loss().is_some() || error.is_rail_down();
        if !lost || self.inner.local.lost.get().is_some() {
            return;
        }
        let error = self.named(error);
        self.mark(error);
        let here = self.node().place();
        let loss = error.loss().unwrap_or(Loss {
            from: here,
            to: here,
            process: Some(self.inner.context.process()),
            reason: Obstacle::Dead,
            unsure: false,
        });
        let Some(recovery) = &self.inner.recovery else {
            return;
        };
        let part = recovery.record.of_loss();
        self.store_words(part, &encode(loss));
        let other = if loss.to == here { loss.from } else { loss.to };
        // The tables of no leader show a loss on another rail.
        let mut leaders = self.inner.layout.leaders.iter();
        let on_this_rail = leaders.any(|&vp| self.place_of(vp) == other);
        let in_tables = on_this_rail && matches!(loss.reason, Obstacle::NoWay(_));
        for &vp in &self.inner.layout.leaders {
            if self.place_of(vp) != here {
                let group = self.clone();
                let lost = in_tables.then_some(other);
                let tell = async move { group.tell_of_loss(vp, part, lost).await };
                self.node().serve("news of a lost group", tell);
            }
        }
    }

    /// Notifies a leader that the group is lost, by a detour if the home rail has failed: tries
    /// again and again, unless the leader learns by itself that it has no way to the lost leader,
    /// or to this one.
    async fn tell_of_loss(&self, vp: ProcessId, part: Part, lost: Option<Place>) {
        let (node, there) = (self.node(), self.place_of(vp));
        let here = node.place();
        let pause = self.detect() / u64::from(TELLS) * 2;
        let cut_off = |other: Place| {
            let both = node.way(there, other).and_then(|()| node.way(other, there));
            both.is_err()
        };
        if let Some(other) = lost
            && self.learns_of(|| cut_off(other)).await
        {
            return;
        }
        for _ in 0..=TELLS {
            let told = self
                .inner
                .courier
                .end(self.write_to(vp, part), part.news_to(vp));
            if told.await.is_ok() || self.learns_of(|| node.way(here, there).is_err()).await {
                return;
            }
            node.sleep(pause).await;
        }
    }

    /// Waits while the tables show a leader a loss. Returns whether they have done so for the
    /// detection time: then its own watch reports that the group is lost. Tables that find a way
    /// before leave it ignorant.
    async fn learns_of(&self, is_told: impl Fn() -> bool) -> bool {
        let node = self.node();
        let known = node.now() + self.detect();
        while is_told() {
            if node.now() >= known {
                return true;
            }
            let tables = node.tables();
            either(tables.wait(), node.sleep_until(known)).await;
        }
        false
    }

    /// The time from a fault to new routing tables.
    fn detect(&self) -> Time {
        let config = self.node().config();
        let faults = config.faults.as_ref();
        faults.map(|faults| faults.detect).unwrap_or_default()
    }

    /// The team knows that the group is lost.
    fn mark(&self, error: DmaError) {
        let local = &self.inner.local;
        if local.lost.get().is_none() {
            local.lost.set(Some(error));
            local.gone.fire();
        }
    }

    fn decode(&self, words: &[u64]) -> Loss {
        let place = |word: u64| Place::new(word as u32);
        let (from, to) = (place(words[0]), place(words[1]));
        let process = Some(words[2]).filter(|&word| word != NOBODY);
        let reason = match words[3] >> 1 {
            0 => Obstacle::Silence,
            1 => Obstacle::Damage,
            2 => match self.node().way(from, to).map_err(|error| error.loss()) {
                Err(Some(loss)) => loss.reason,
                _ => Obstacle::NoWay(None),
            },
            _ => Obstacle::Dead,
        };
        Loss {
            from,
            to,
            process: process.map(|word| ProcessId::new(word as u32)),
            reason,
            unsure: words[3] & 1 == 1,
        }
    }
}

fn encode(loss: Loss) -> [u64; LOSS as usize] {
    let reason = match loss.reason {
        Obstacle::Silence => 0,
        Obstacle::Damage => 1,
        Obstacle::NoWay(_) => 2,
        Obstacle::Dead => 3,
    };
    [
        loss.from.get().into(),
        loss.to.get().into(),
        loss.process.map_or(NOBODY, |process| process.get().into()),
        reason << 1 | u64::from(loss.unsure),
    ]
}
