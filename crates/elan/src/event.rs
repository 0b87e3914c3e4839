//! # Events: how the end of anything becomes known (000 s3.1.1)
//!
//! An event lies in adapter memory and holds a count. Each occurrence lowers it; when it reaches zero the event is *set*,
//! until it is primed again, and its [`Action`] starts. Occurrences of a set event start nothing; priming forgets them, and
//! threads can consume them one by one ([`crate::Thread::consume`]).
//!
//! | an event occurs by | cost until then |
//! |---|---|
//! | the end of a DMA, at its destination (`notify`) or its source | `input` at the destination; `event` |
//! | a message in a queue, a transaction of a packet | `input`, `event` |
//! | a command of the process ([`crate::Node::set`]) | one bus transaction, `command`, `event` |
//! | a thread ([`crate::Thread::set`]) | `thread_issue`, `event` |
//! | another event ([`Action::Set`]) | `event` |
//!
//! Threads that wait for an event go on once it is set. A process learns of it through main memory: the action
//! [`Action::Copy`] copies a block of adapter memory there, and the process polls the copy without crossing the bus. It
//! waits in one of two ways, or in the one first and then in the other ([`Wait`]):
//!
//! * *polling*: it sees the block `poll` after it has arrived;
//! * *blocking*: it gives up its processor, and the operating system wakes it: `interrupt` after the block has arrived.

use crate::NodeId;
use crate::bus::Direction;
use crate::cluster::{Happening, World};
use crate::dma::{Dma, DmaError, DmaId, Report, Stage};
use crate::memory::{Address, ElanAddr};
use crate::mmu::{Access, Fault, Reason};
use kernel::Signal;
use units::Bytes;

/// An event in adapter memory, and the block that one copies to main memory (public Elan3 headers: 64 bytes).
pub const EVENT_BLOCK: Bytes = Bytes::new(64);

/// An event of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    pub(crate) node: NodeId,
    pub(crate) index: u32,
}

impl EventId {
    /// The node whose adapter holds it.
    pub fn node(self) -> NodeId {
        self.node
    }
}

/// What an event does when it is set (public Elan3 headers: one action each). Threads that wait for it go on in any case.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Nothing else. No process sees such an event.
    None,
    /// Copies its block to main memory, where a process sees it.
    Copy,
    /// Sets another event of the same node, once.
    Set(EventId),
    /// Starts a DMA of its process. Nobody awaits that: its errors are traps ([`crate::Node::trap`]).
    Dma(Dma),
}

/// How a process waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It polls until the event is set.
    Poll,
    /// It blocks.
    Block,
    /// It looks so many times, each costs `poll`, and then blocks.
    Spin(u32),
}

/// An event as the adapter sees it.
pub(crate) struct Event {
    /// Where it lies; unless it has been freed.
    pub at: Option<Address>,
    /// Whether its place is one that the process keeps for events.
    pub pooled: bool,
    /// Occurrences until it is set.
    count: u32,
    /// Occurrences since.
    extra: u32,
    pub action: Action,
    /// What threads wait for.
    pub set: Signal,
    /// What the waiting process sees.
    pub seen: Signal,
    /// Whether its block has been copied since it was primed.
    copied: bool,
    /// Processes that block.
    blocked: Vec<Signal>,
    /// How often it was primed, so that a copy under way meanwhile tells nothing.
    round: u16,
}

impl Event {
    pub fn new(at: Address, count: u32, action: Action) -> Self {
        let mut event = Event {
            at: Some(at),
            pooled: false,
            count,
            extra: 0,
            action,
            set: Signal::new(),
            seen: Signal::new(),
            copied: false,
            blocked: Vec::new(),
            round: 0,
        };
        event.prime(count);
        event
    }

    /// Lets it wait for `count` occurrences; with none to wait for it is set.
    pub fn prime(&mut self, count: u32) {
        self.count = count;
        self.extra = 0;
        self.round = self.round.wrapping_add(1);
        self.set.reset();
        self.seen.reset();
        self.copied = count == 0;
        if count == 0 {
            self.set.fire();
            self.seen.fire();
        }
    }

    /// Takes one occurrence off a set event: it waits for the next, or is set still if that has come already.
    pub fn consume(&mut self) {
        assert!(self.set.is_set(), "there is an occurrence to consume");
        match self.extra.checked_sub(1) {
            Some(extra) => self.extra = extra,
            None => self.prime(1),
        }
    }

    /// What the operating system fires to wake a process that blocks from now on; none if the block is there already.
    pub fn wake_up(&mut self) -> Option<Signal> {
        if self.copied {
            return None;
        }
        let woken = Signal::new();
        self.blocked.push(woken.clone());
        Some(woken)
    }
}

/// What a process or thread can be told of: a named event, or the completion of a DMA at its source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    Event(EventId),
    /// The copy of an event's block, in some round of it.
    Block(EventId, u16),
    Completed(NodeId, DmaId),
}

impl News {
    fn node(self) -> NodeId {
        match self {
            News::Event(event) | News::Block(event, _) => event.node,
            News::Completed(node, _) => node,
        }
    }
}

impl World {
    pub(crate) fn event(&mut self, event: EventId) -> &mut Event {
        &mut self.adapters[event.node as usize].events[event.index as usize]
    }

    /// An event of a context at an address, if there is one and all else is right.
    pub(crate) fn event_at(
        &self,
        at: Address,
        access: Access,
        capability: crate::Capability,
    ) -> Result<EventId, Fault> {
        self.translate(at, EVENT_BLOCK, access, capability)?;
        let fault = |reason| Fault::new(at, EVENT_BLOCK, access, reason);
        let context = self.context(at, capability).map_err(fault)?;
        let index = context.events.get(&at.elan);
        let index = *index.ok_or_else(|| fault(Reason::Nothing))?;
        Ok(EventId {
            node: at.node,
            index,
        })
    }

    /// Makes an event at an address, in place of one that is there.
    pub(crate) fn add_event(
        &mut self,
        at: Address,
        count: u32,
        action: Action,
        capability: crate::Capability,
    ) -> Result<EventId, Fault> {
        let placement = self.translate(at, EVENT_BLOCK, Access::Host, capability)?;
        let fault = |reason| Fault::new(at, EVENT_BLOCK, Access::Host, reason);
        if placement != crate::Placement::Adapter {
            return Err(fault(Reason::NotAdapter));
        }
        if let Action::Set(other) = action {
            assert_eq!(other.node, at.node, "an event sets others of its own node");
        }
        let mut event = Event::new(at, count, action);
        let adapter = &mut self.adapters[at.node as usize];
        let context = adapter.contexts[at.context.0 as usize].as_mut();
        let events = &mut context.expect("the address was translated").events;
        let index = match (events.get(&at.elan), adapter.free_events.pop()) {
            (Some(&index), free) => {
                adapter.free_events.extend(free);
                index
            }
            (None, Some(index)) => index,
            (None, None) => adapter.events.len() as u32,
        };
        events.insert(at.elan, index);
        if index as usize == adapter.events.len() {
            adapter.events.push(event);
        } else {
            let place = &mut adapter.events[index as usize];
            event.round = place.round.wrapping_add(1);
            *place = event;
        }
        Ok(EventId {
            node: at.node,
            index,
        })
    }

    /// Takes the events of an address range away.
    pub(crate) fn remove_events(&mut self, from: Address, bytes: Bytes) {
        let adapter = &mut self.adapters[from.node as usize];
        let Some(context) = adapter.contexts[from.context.0 as usize].as_mut() else {
            return;
        };
        let gone: Vec<(ElanAddr, u32)> = context
            .events
            .range(from.elan..from.elan.offset(bytes))
            .map(|(&at, &index)| (at, index))
            .collect();
        for (at, index) in gone {
            context.events.remove(&at);
            adapter.events[index as usize].at = None;
            adapter.free_events.push(index);
        }
    }

    /// Something has occurred. What completes by it starts its action; occurrences of an event that is set already do
    /// not count, nor those of one that has been freed.
    pub(crate) fn occur(&mut self, news: News) {
        match news {
            News::Event(id) => self.event_occurs(id),
            News::Block(..) => unreachable!("the copy of a block is no occurrence"),
            News::Completed(node, id) => {
                let progress = &self.dmas[id as usize];
                let (report, failed) = (progress.report, progress.failed.get());
                if failed.is_none()
                    && let Some(event) = progress.dma.done
                {
                    self.event_occurs(event);
                }
                match report {
                    Report::Host => self.copy(news),
                    Report::Thread => self.seen(news),
                    Report::Nobody => {
                        if let Some(error) = failed {
                            let context = self.dmas[id as usize].context;
                            self.trap(node, context, error);
                        }
                        self.seen(news);
                    }
                }
            }
        }
    }

    fn event_occurs(&mut self, id: EventId) {
        let event = self.event(id);
        let before = event.count;
        event.count = before.saturating_sub(1);
        event.extra += u32::from(before == 0);
        let Some(at) = event.at else { return };
        if before != 1 {
            return;
        }
        event.set.fire();
        match event.action {
            Action::None => {}
            Action::Copy => {
                let block = News::Block(id, event.round);
                self.copy(block);
            }
            Action::Set(other) => self.occur_soon(other),
            Action::Dma(dma) => self.start_chained(at, dma),
        }
    }

    /// Lets an event occur after the time that it takes to set it.
    pub(crate) fn occur_soon(&mut self, event: EventId) {
        let at = self.now() + self.config.adapter.event;
        self.schedule(at, event.node, Happening::Occurred(News::Event(event)));
    }

    /// Copies a block to main memory.
    fn copy(&mut self, news: News) {
        self.transfer(
            news.node(),
            Direction::ToMain,
            EVENT_BLOCK,
            Happening::Copied(news),
        );
    }

    /// The block is in main memory: the process will see it at its next poll; the operating system wakes those that block.
    pub(crate) fn copied(&mut self, news: News) {
        let (now, adapter) = (self.now(), self.config.adapter);
        self.schedule(now + adapter.poll, news.node(), Happening::Seen(news));
        if let News::Block(id, round) = news {
            let event = self.event(id);
            if event.round == round {
                event.copied = true;
                for signal in std::mem::take(&mut event.blocked) {
                    let woken = Happening::Wake(signal);
                    self.schedule(now + adapter.interrupt, id.node, woken);
                }
            }
        }
    }

    /// The process has seen it.
    pub(crate) fn seen(&mut self, news: News) {
        match news {
            News::Event(_) => unreachable!("a process sees the copy of a block"),
            News::Block(id, round) => {
                let event = self.event(id);
                if event.round == round {
                    event.seen.fire();
                }
            }
            News::Completed(_, id) => {
                let progress = &mut self.dmas[id as usize];
                progress.stage = Stage::Reported;
                progress.done.fire();
                self.drop_dma_if_over(id);
            }
        }
    }

    /// Keeps the error of what nobody awaits for its process.
    pub(crate) fn trap(&mut self, node: NodeId, context: crate::ContextId, error: DmaError) {
        let contexts = &mut self.adapters[node as usize].contexts;
        if let Some(Some(context)) = contexts.get_mut(context.0 as usize) {
            context.traps.push_back(error);
        }
    }
}
