//! Signals: the conditions that simulated processes wait for.
//!
//! A signal is a condition that becomes set when it was fired a given number of times (once, or as
//! many times as given to [`Signal::counted`]) and stays set until it is reset. The processes that
//! wait for a signal continue in waiting order; a process that waits for a signal that is set
//! continues immediately.
//!
//! A process that waited when the signal became set continues even if the signal is reset before
//! the process runs: no process that waited misses a firing. Firing a signal that is set has no
//! effect.

use crate::turn;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A condition to wait for; clones are the same condition.
#[derive(Clone)]
pub struct Signal {
    state: Rc<RefCell<State>>,
}

struct State {
    /// Firings from a reset until the signal is set.
    count: u64,
    /// Firings that are left until the signal is set.
    remaining: u64,
    /// How often the signal became set.
    rounds: u64,
    waiters: Waiters,
    tickets: u64,
}

/// Tickets and wakers in waiting order. Mostly one process waits, which needs no extra memory; few
/// ever wait, so that a search is short.
#[derive(Default)]
struct Waiters {
    first: Option<(u64, Waker)>,
    /// The waiters behind the first; empty without a first one.
    others: Vec<(u64, Waker)>,
}

impl Waiters {
    fn push(&mut self, waiter: (u64, Waker)) {
        if self.first.is_none() {
            self.first = Some(waiter);
        } else {
            self.others.push(waiter);
        }
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    fn of(&mut self, ticket: u64) -> Option<&mut Waker> {
        let all = self.first.iter_mut().chain(&mut self.others);
        let mut all = all.filter(|(other, _)| *other == ticket);
        all.next().map(|(_, waker)| waker)
    }

    fn remove(&mut self, ticket: u64) {
        self.others.retain(|(other, _)| *other != ticket);
        if self.first.take_if(|(other, _)| *other == ticket).is_some() && !self.others.is_empty() {
            self.first = Some(self.others.remove(0));
        }
    }
}

impl Signal {
    /// A signal that one firing sets.
    #[must_use]
    pub fn new() -> Self {
        Self::counted(1)
    }

    /// A signal that `count` firings set; a signal with count 0 is always set.
    #[must_use]
    pub fn counted(count: u64) -> Self {
        Self {
            state: Rc::new(RefCell::new(State {
                count,
                remaining: count,
                rounds: 0,
                waiters: Waiters::default(),
                tickets: 0,
            })),
        }
    }

    /// Counts one firing; the last one sets the signal and wakes all that wait for it.
    pub fn fire(&self) {
        let mut state = self.state.borrow_mut();
        if state.remaining == 0 {
            return;
        }
        state.remaining -= 1;
        if state.remaining == 0 {
            state.rounds += 1;
            let first = state.waiters.first.take();
            let others = std::mem::take(&mut state.waiters.others);
            // A waker is free to look at this signal.
            drop(state);
            if let Some((_, waker)) = first {
                waker.wake();
            }
            for (_, waker) in others {
                waker.wake();
            }
        }
    }

    /// Whether the signal is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.remaining() == 0
    }

    /// How many firings are left until the signal is set.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.state.borrow().remaining
    }

    /// Restarts the count.
    pub fn reset(&self) {
        let mut state = self.state.borrow_mut();
        state.remaining = state.count;
    }

    /// Whether another signal is the same condition.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.state, &other.state)
    }

    /// Waits until the signal is set. The wait begins when the future is first polled.
    pub fn wait(&self) -> Wait {
        Wait {
            signal: self.clone(),
            begun: None,
        }
    }
}

impl Default for Signal {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.borrow();
        f.debug_struct("Signal")
            .field("remaining", &state.remaining)
            .field("waiters", &state.waiters.len())
            .finish()
    }
}

/// Signals that have done their work. A signal without other holders is reused, so that frequent
/// operations such as a sleep need no new memory.
#[derive(Debug, Default)]
pub struct Spares {
    signals: VecDeque<Signal>,
}

impl Spares {
    /// A signal as [`Signal::new`] makes them.
    pub fn take(&mut self) -> Signal {
        let spare = self.signals.pop_front().and_then(|mut signal| {
            let state = Rc::get_mut(&mut signal.state)?.get_mut();
            (state.count, state.remaining) = (1, 1);
            Some(signal)
        });
        spare.unwrap_or_default()
    }

    /// Keeps a signal that will not be fired any more.
    pub fn keep(&mut self, signal: Signal) {
        self.signals.push_back(signal);
    }
}

/// The future from [`Signal::wait`].
#[derive(Debug)]
#[must_use = "nothing waits until the future is awaited"]
pub struct Wait {
    signal: Signal,
    /// The ticket among the waiters and the round in which the wait began.
    begun: Option<(u64, u64)>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.signal.state.borrow_mut();
        let fired = self.begun.is_some_and(|(_, round)| round != state.rounds);
        if fired || state.remaining == 0 {
            return turn::end(());
        }
        let waker = context.waker();
        if let Some((ticket, _)) = self.begun {
            // The waiter keeps its place in the order, whichever task polls.
            let place = state.waiters.of(ticket);
            place.expect("who waits is listed").clone_from(waker);
        } else {
            let begun = (state.tickets, state.rounds);
            state.tickets += 1;
            state.waiters.push((begun.0, waker.clone()));
            drop(state);
            self.begun = Some(begun);
        }
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some((ticket, _)) = self.begun {
            let mut state = self.signal.state.borrow_mut();
            state.waiters.remove(ticket);
        }
    }
}
