//! The executor: simulated processes as async functions, on one thread.
//!
//! A task is a future with a name. It is in one of three states:
//!
//! | state | in the ready queue | leaves by |
//! |---|---|---|
//! | ready | once | being polled, in the order in which tasks became ready |
//! | waiting | no | its waker, which puts it at the ready queue's end |
//! | finished | no | (its place is reused; a late waker has no effect) |
//!
//! A task that is woken any number of times before it is polled is polled once. A task that is
//! woken while it is polled goes to the queue's end.
//!
//! The executor has no notion of time. A process sleeps by waiting for a [`Signal`](crate::Signal)
//! that the layer above scheduled in its event queue. Wakers come from the standard library, so any
//! futures library's combinators work. A task spawns others through a [`Spawner`].
//!
//! A *background* task serves other tasks and may never end: it does not count as unfinished, and
//! no task waits for its end.
//!
//! Bounds: tasks that keep each other ready without end are a [`Livelock`], and so is a task that
//! never returns from its turn because all its conditions are set. A panic in a task propagates to
//! the caller of [`Executor::run_ready`].

use crate::{Label, turn};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::rc::{self, Rc};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use thiserror::Error;

/// The turn bound in one [`Executor::run_ready`] call: a fixed number, and more per task.
const TURNS: u64 = 1 << 20;
const TURNS_OF_A_TASK: u64 = 1 << 10;

/// Tasks run without end while no event can occur: a mistake in the tasks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{task} runs without end, and simulated time stands still")]
pub struct Livelock {
    /// The task, or one among several.
    pub task: String,
}

/// Identifies a task in one executor; ids ascend in spawn order and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u64);

/// Runs tasks; see the state table in this module's source.
#[derive(Default)]
pub struct Executor {
    shared: Rc<ExecutorState>,
    /// Ready tasks that precede those in the ready queue.
    first: VecDeque<Arc<Ticket>>,
}

/// Spawns tasks from within tasks. A spawner does not keep the executor alive.
#[derive(Clone)]
pub struct Spawner {
    shared: rc::Weak<ExecutorState>,
}

#[derive(Default)]
struct ExecutorState {
    tasks: RefCell<Tasks>,
    ready: Arc<ReadyQueue>,
}

#[derive(Default)]
struct Tasks {
    /// `None` where a place is free.
    places: Vec<Option<Task>>,
    free: Vec<usize>,
    spawned: u64,
    unfinished: usize,
}

struct Task {
    id: TaskId,
    label: Label,
    background: bool,
    /// `None` while the task is polled.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

/// Tickets of ready tasks, in the order in which they became ready; `None` once the executor is
/// gone. Locked for a push, or to take all tickets, and never contended: wakers must be `Sync`,
/// although all tasks run on one thread.
struct ReadyQueue {
    tickets: Mutex<Option<VecDeque<Arc<Ticket>>>>,
    /// Whether there are tickets. The executor looks here after every event, and mostly the queue
    /// is empty.
    any: AtomicBool,
}

impl Default for ReadyQueue {
    fn default() -> Self {
        Self {
            tickets: Mutex::new(Some(VecDeque::new())),
            any: AtomicBool::new(false),
        }
    }
}

impl ReadyQueue {
    fn with<R>(&self, act: impl FnOnce(&mut Option<VecDeque<Arc<Ticket>>>) -> R) -> R {
        act(&mut self
            .tickets
            .lock()
            .expect("nothing panics while it holds the lock"))
    }

    fn push(&self, ticket: Arc<Ticket>) {
        // A ticket that comes after the executor's end is dropped when the queue is free again.
        let late = self.with(|queue| match queue {
            Some(queue) => {
                queue.push_back(ticket);
                self.any.store(true, Ordering::Release);
                None
            }
            None => Some(ticket),
        });
        drop(late);
    }

    /// Exchanges the tickets for an empty list.
    fn take_all(&self, empty: &mut VecDeque<Arc<Ticket>>) {
        self.with(|queue| {
            self.any.store(false, Ordering::Release);
            if let Some(queue) = queue {
                std::mem::swap(queue, empty);
            }
        });
    }
}

/// A waker's handle on its task. Only wakers hold tickets: a task without a waker has no ticket.
struct Ticket {
    id: TaskId,
    place: usize,
    queued: AtomicBool,
    /// Holds tickets in turn, until the executor is gone.
    ready: Arc<ReadyQueue>,
}

impl Wake for Ticket {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            let ready = Arc::clone(&self.ready);
            ready.push(self);
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.load(Ordering::Acquire) {
            Arc::clone(self).wake();
        }
    }
}

impl ExecutorState {
    fn spawn(
        &self,
        label: Label,
        background: bool,
        future: Pin<Box<dyn Future<Output = ()>>>,
    ) -> TaskId {
        let mut tasks = self.tasks.borrow_mut();
        let id = TaskId(tasks.spawned);
        let place = tasks.free.pop().unwrap_or(tasks.places.len());
        if place == tasks.places.len() {
            tasks.places.push(None);
        }
        tasks.places[place] = Some(Task {
            id,
            label,
            background,
            future: Some(future),
        });
        tasks.spawned += 1;
        tasks.unfinished += usize::from(!background);
        let ready = Arc::clone(&self.ready);
        self.ready.push(Arc::new(Ticket {
            id,
            place,
            queued: AtomicBool::new(true),
            ready,
        }));
        id
    }

    /// Takes a task's future out of its place, unless the task has finished since.
    fn take(&self, id: TaskId, place: usize) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        let mut tasks = self.tasks.borrow_mut();
        let task = tasks.places[place].as_mut();
        task.filter(|task| task.id == id)?.future.take()
    }

    fn put_back(&self, place: usize, future: Pin<Box<dyn Future<Output = ()>>>) {
        let mut tasks = self.tasks.borrow_mut();
        let task = tasks.places[place].as_mut();
        task.expect("it has not finished").future = Some(future);
    }

    /// The turn bound in one call.
    fn most_turns(&self) -> u64 {
        let tasks = self.tasks.borrow().places.len() as u64;
        TURNS + TURNS_OF_A_TASK * tasks
    }

    /// The livelock for an unfinished task.
    fn livelock(&self, place: usize) -> Livelock {
        let tasks = self.tasks.borrow();
        let task = tasks.places[place].as_ref();
        let task = task.expect("it has not finished").label.text();
        Livelock { task }
    }

    fn finish(&self, place: usize) {
        let mut tasks = self.tasks.borrow_mut();
        let task = tasks.places[place].take().expect("it finishes once");
        tasks.free.push(place);
        tasks.unfinished -= usize::from(!task.background);
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // Tickets hold the queue, and the queue tickets.
        let tickets = self.shared.ready.with(Option::take);
        drop(tickets);
    }
}

impl Executor {
    /// An executor without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle with which tasks spawn tasks.
    #[must_use]
    pub fn spawner(&self) -> Spawner {
        Spawner {
            shared: Rc::downgrade(&self.shared),
        }
    }

    /// Adds a task, ready to run. The label is for [`unfinished`](Self::unfinished).
    pub fn spawn(
        &self,
        label: impl Into<Label>,
        future: impl Future<Output = ()> + 'static,
    ) -> TaskId {
        self.shared.spawn(label.into(), false, Box::pin(future))
    }

    /// Whether a task is ready.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.shared.ready.any.load(Ordering::Acquire) || !self.first.is_empty()
    }

    /// Polls ready tasks, also tasks that become ready meanwhile, until no task is ready.
    ///
    /// # Errors
    /// If tasks run without end.
    #[inline]
    pub fn run_ready(&mut self) -> Result<(), Livelock> {
        let mut turns = 0;
        while self.is_ready() {
            self.run_some(&mut turns)?;
        }
        Ok(())
    }

    /// Polls the tasks that are ready now.
    fn run_some(&mut self, turns: &mut u64) -> Result<(), Livelock> {
        if self.first.is_empty() {
            self.shared.ready.take_all(&mut self.first);
        }
        while let Some(ticket) = self.first.pop_front() {
            let (id, place) = (ticket.id, ticket.place);
            let Some(mut future) = self.shared.take(id, place) else {
                ticket.queued.store(false, Ordering::Release);
                continue;
            };
            if *turns > TURNS && *turns > self.shared.most_turns() {
                self.shared.put_back(place, future);
                self.first.push_front(ticket);
                return Err(self.shared.livelock(place));
            }
            *turns += 1;
            ticket.queued.store(false, Ordering::Release);
            let waker = Waker::from(ticket);
            let context = &mut Context::from_waker(&waker);
            match turn::take(|| future.as_mut().poll(context)) {
                (Poll::Pending, spent) => {
                    self.shared.put_back(place, future);
                    if spent {
                        return Err(self.shared.livelock(place));
                    }
                }
                (Poll::Ready(()), _) => {
                    self.shared.finish(place);
                    // Values that the future held may wake or spawn as they drop, so there is no
                    // borrow here.
                    drop(future);
                }
            }
        }
        Ok(())
    }

    /// The labels of the tasks that have not finished, without background tasks, in spawn order.
    #[must_use]
    pub fn unfinished(&self) -> Vec<String> {
        let tasks = self.shared.tasks.borrow();
        let all = tasks.places.iter().flatten();
        let mut unfinished: Vec<_> = all.filter(|task| !task.background).collect();
        unfinished.sort_by_key(|task| task.id);
        unfinished.iter().map(|task| task.label.text()).collect()
    }

    /// How many tasks have not finished, without background tasks.
    #[must_use]
    pub fn unfinished_count(&self) -> usize {
        self.shared.tasks.borrow().unfinished
    }
}

impl Spawner {
    /// Adds a task, ready to run after all tasks that are ready now.
    ///
    /// # Panics
    /// If the executor is gone, as it is while its unfinished tasks are dropped.
    pub fn spawn(
        &self,
        label: impl Into<Label>,
        future: impl Future<Output = ()> + 'static,
    ) -> TaskId {
        self.add(label.into(), false, Box::pin(future))
    }

    /// Adds a background task, ready to run after all tasks that are ready now.
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    pub fn spawn_background(
        &self,
        label: impl Into<Label>,
        future: impl Future<Output = ()> + 'static,
    ) -> TaskId {
        self.add(label.into(), true, Box::pin(future))
    }

    fn add(
        &self,
        label: Label,
        background: bool,
        future: Pin<Box<dyn Future<Output = ()>>>,
    ) -> TaskId {
        let shared = self
            .shared
            .upgrade()
            .expect("the executor outlives its tasks");
        shared.spawn(label, background, future)
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("unfinished", &self.unfinished())
            .finish()
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").finish_non_exhaustive()
    }
}
