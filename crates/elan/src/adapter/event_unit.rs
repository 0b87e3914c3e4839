//! # Events: how the end of an operation becomes known (petrini2003 s3.1.1)
//!
//! An event lies in adapter memory and holds a count. Each occurrence lowers the count. When the
//! count reaches zero the event is *set*, until it is primed again, and its [`Action`] starts. A
//! set event's occurrences start no action. Priming forgets these occurrences; threads can consume
//! them one by one ([`crate::Thread::consume`]).
//!
//! | cause of an occurrence | cost until then |
//! |---|---|
//! | a DMA's end, at its destination (`notify`) or its source | `input` at the destination; `event` |
//! | a message in a queue, a packet's transaction | `input`, `event` |
//! | the process's command ([`crate::Node::set`]) | one bus transaction, `command`, `event` |
//! | a thread ([`crate::Thread::set`]) | `thread_issue`, `event` |
//! | another event ([`Action::Set`]) | `event` |
//!
//! Threads that wait for an event continue once the event is set. A process sees the event through
//! main memory: the action [`Action::Copy`] copies a block from adapter memory there, and the
//! process polls the copy without crossing the bus. The process waits in one of two ways, or in the
//! first way and then in the second ([`WaitMode`]):
//!
//! * *polling*: the process sees the block `poll` after the block has arrived;
//! * *blocking*: the process gives up its processor, and the operating system wakes it: `interrupt`
//!   after the block has arrived.

use crate::Place;
use crate::dma::Dma;
use crate::in_flight::DmaId;
use crate::memory::{EventId, EventNumber};
use kernel::Signal;
use typed_index_collections::TiVec;

/// The action of an event when it is set (public Elan3 headers: one action each). Threads that wait
/// for the event continue in any case.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// No further action. No process sees the event.
    None,
    /// Copies its block to main memory, where a process sees it.
    Copy,
    /// Sets another event at the same node, once.
    Set(EventId),
    /// Starts a DMA for its process. This DMA has no waiter: its errors are traps
    /// ([`crate::Node::trap`]).
    Dma(Dma),
}

/// How a process waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitMode {
    /// The process polls until the event is set.
    Poll,
    /// The process blocks.
    Block,
    /// The process looks so many times, each look costs `poll`, and then blocks.
    Spin(u32),
}

/// An event as the adapter sees it.
pub(crate) struct Event {
    /// Whether the event lies in a place that the process keeps for events.
    pooled: bool,
    /// Occurrences still missing until the event is set.
    count: u32,
    /// Occurrences since the event was set.
    extra: u32,
    action: Action,
    /// The signal that threads wait for.
    set: Signal,
    /// The signal that the waiting process sees.
    seen: Signal,
    /// Whether the event's block has been copied since the event was primed.
    copied: bool,
    /// Processes that block.
    blocked: Vec<Signal>,
    /// How often the event was primed. An earlier round's copy, still under way when the event is
    /// primed, has no effect.
    round: u16,
}

impl Event {
    fn new(count: u32, action: Action) -> Self {
        let mut event = Event {
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

    /// Primes the event for `count` occurrences; with count 0 the event is set.
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

    /// The signal that threads wait for, fired when the event is set.
    pub fn set(&self) -> &Signal {
        &self.set
    }

    /// Fired when the process sees that the event is set.
    ///
    /// # Panics
    /// If no process can see the event.
    pub fn seen(&self) -> &Signal {
        assert!(
            matches!(self.action, Action::Copy),
            "a process sees only events that are copied to main memory"
        );
        &self.seen
    }

    /// Takes one occurrence off a set event: the event waits for the next occurrence, or stays set
    /// if that has come already.
    pub fn consume(&mut self) {
        assert!(self.set.is_set(), "there is an occurrence to consume");
        match self.extra.checked_sub(1) {
            Some(extra) => self.extra = extra,
            None => self.prime(1),
        }
    }

    /// Occurrences that are missing until the event is set, and occurrences since it was set.
    pub fn occurrences(&self) -> (u32, u32) {
        (self.count, self.extra)
    }

    /// The signal that the operating system fires to wake a process that blocks from now on; `None`
    /// if the block is there already.
    pub fn wake_up(&mut self) -> Option<Signal> {
        if self.copied {
            return None;
        }
        let woken = Signal::new();
        self.blocked.push(woken.clone());
        Some(woken)
    }
}

/// An occurrence of which a process or thread can be notified.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Occurrence {
    /// An event.
    Event(EventId),
    /// The copy of an event's block, in one of the event's rounds.
    Block(EventId, u16),
    /// A DMA's end at its source.
    Completed(Place, DmaId),
}

impl Occurrence {
    /// The place where it occurs.
    pub fn node(self) -> Place {
        match self {
            Occurrence::Event(event) | Occurrence::Block(event, _) => event.node,
            Occurrence::Completed(node, _) => node,
        }
    }
}

/// One adapter's events, by number.
#[derive(Default)]
pub(crate) struct EventUnit {
    events: TiVec<EventNumber, Event>,
}

impl EventUnit {
    pub fn event(&mut self, index: EventNumber) -> &mut Event {
        &mut self.events[index]
    }

    /// Makes an event, in place of an old event if there is one; `pooled` if the process keeps the
    /// place for events.
    pub fn install(&mut self, index: EventNumber, count: u32, action: Action, pooled: bool) {
        let mut event = Event::new(count, action);
        event.pooled = pooled;
        if index == self.events.next_key() {
            self.events.push(event);
        } else {
            let place = self.event(index);
            event.round = place.round.wrapping_add(1);
            *place = event;
        }
    }

    /// Whether the process keeps this event's place for events.
    pub fn is_pooled(&self, index: EventNumber) -> bool {
        self.events[index].pooled
    }

    /// An event occurs, which may have been freed. If this sets the event, returns its action and
    /// its round.
    pub fn occur(&mut self, index: EventNumber, freed: bool) -> Option<(&Action, u16)> {
        let event = &mut self.events[index];
        let before = event.count;
        event.count = before.saturating_sub(1);
        event.extra += u32::from(before == 0);
        if freed || before != 1 {
            return None;
        }
        event.set.fire();
        Some((&event.action, event.round))
    }

    /// An event's block is in main memory: returns the processes that the operating system wakes.
    pub fn copied(&mut self, index: EventNumber, round: u16) -> Vec<Signal> {
        let event = self.event(index);
        if event.round != round {
            return Vec::new();
        }
        event.copied = true;
        std::mem::take(&mut event.blocked)
    }

    /// The process has seen an event's block.
    pub fn seen(&mut self, index: EventNumber, round: u16) {
        let event = self.event(index);
        if event.round == round {
            event.seen.fire();
        }
    }
}
