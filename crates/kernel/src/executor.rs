//! The executor: simulated processes as async functions, on one thread.
//!
//! A task is a future with a name. It is in one of three states:
//!
//! | state | in the ready queue | leaves by |
//! |---|---|---|
//! | ready | once | being polled, in the order in which tasks became ready |
//! | waiting | no | its waker, which puts it at the end of the ready queue |
//! | finished | no | (its place is reused; a late waker of it has no effect) |
//!
//! A task that is woken any number of times before it is polled is polled once. A task that is
//! woken while it is polled goes to the end of the queue.
//!
//! The executor knows no time. A process sleeps by waiting for a [`Signal`](crate::Signal) that
//! the layer above scheduled in its event queue. Wakers are those of the standard library, so the
//! combinators of any futures library work. A task spawns others through a [`Spawner`].
//!
//! A *background* task serves others and may never end: it is no unfinished one, and nobody waits for it.
//!
//! Bounds: a task that wakes itself without end never lets [`Executor::run_ready`] return. A
//! panic in a task propagates to the caller of `run_ready`.

use crate::Label;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::rc::{self, Rc};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{self, Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Identifies a task of one executor; ids ascend in the order of spawning and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u64);

/// Runs tasks; see the table of states in the source of this module.
#[derive(Default)]
pub struct Executor {
    shared: Rc<Shared>,
}

/// Spawns tasks from within tasks. Does not keep the executor alive.
#[derive(Clone)]
pub struct Spawner {
    shared: rc::Weak<Shared>,
}

#[derive(Default)]
struct Shared {
    tasks: RefCell<Tasks>,
    ready: Arc<ReadyQueue>,
}

#[derive(Default)]
struct Tasks {
    /// `None` where a task is being polled or a place is free.
    places: Vec<Option<Task>>,
    free: Vec<usize>,
    spawned: u64,
    unfinished: usize,
}

struct Task {
    id: TaskId,
    label: Label,
    background: bool,
    future: Pin<Box<dyn Future<Output = ()>>>,
    ticket: Arc<Ticket>,
    waker: Waker,
}

/// Tickets of ready tasks, in the order in which they became ready. Locked for a push or a pop
/// only, and never contended: wakers must be `Sync`, although all is one thread.
#[derive(Default)]
struct ReadyQueue(Mutex<VecDeque<Arc<Ticket>>>);

impl ReadyQueue {
    fn with<R>(&self, act: impl FnOnce(&mut VecDeque<Arc<Ticket>>) -> R) -> R {
        act(&mut self
            .0
            .lock()
            .expect("nothing panics while it holds the lock"))
    }
}

/// What a waker holds of its task.
struct Ticket {
    id: TaskId,
    place: usize,
    queued: AtomicBool,
    /// Weak, since the queue holds tickets, and wakers may outlive the executor.
    ready: sync::Weak<ReadyQueue>,
}

impl Wake for Ticket {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel)
            && let Some(ready) = self.ready.upgrade()
        {
            ready.with(|queue| queue.push_back(self));
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.load(Ordering::Acquire) {
            Arc::clone(self).wake();
        }
    }
}

impl Shared {
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
        let ticket = Arc::new(Ticket {
            id,
            place,
            queued: AtomicBool::new(false),
            ready: Arc::downgrade(&self.ready),
        });
        let waker = Waker::from(Arc::clone(&ticket));
        waker.wake_by_ref();
        tasks.places[place] = Some(Task {
            id,
            label,
            background,
            future,
            ticket,
            waker,
        });
        tasks.spawned += 1;
        tasks.unfinished += usize::from(!background);
        id
    }

    /// Takes the task of a ticket out of its place, unless it has finished since.
    fn take(&self, ticket: &Ticket) -> Option<Task> {
        let place = &mut self.tasks.borrow_mut().places[ticket.place];
        place.take_if(|task| task.id == ticket.id)
    }

    fn put_back(&self, task: Task) {
        let place = task.ticket.place;
        self.tasks.borrow_mut().places[place] = Some(task);
    }

    fn finish(&self, task: Task) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.free.push(task.ticket.place);
        tasks.unfinished -= usize::from(!task.background);
        drop(tasks);
        // What the future held may wake or spawn as it is dropped, so nothing is borrowed here.
        drop(task);
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

    /// Polls ready tasks, also those that become ready meanwhile, until none is.
    pub fn run_ready(&mut self) {
        while let Some(ticket) = self.shared.ready.with(VecDeque::pop_front) {
            ticket.queued.store(false, Ordering::Release);
            let Some(mut task) = self.shared.take(&ticket) else {
                continue;
            };
            match task
                .future
                .as_mut()
                .poll(&mut Context::from_waker(&task.waker))
            {
                Poll::Pending => self.shared.put_back(task),
                Poll::Ready(()) => self.shared.finish(task),
            }
        }
    }

    /// The labels of the tasks that have not finished, in the order of spawning; background tasks left out.
    #[must_use]
    pub fn unfinished(&self) -> Vec<String> {
        let tasks = self.shared.tasks.borrow();
        let all = tasks.places.iter().flatten();
        let mut unfinished: Vec<_> = all.filter(|task| !task.background).collect();
        unfinished.sort_by_key(|task| task.id);
        unfinished.iter().map(|task| task.label.text()).collect()
    }

    /// How many tasks have not finished, background tasks left out.
    #[must_use]
    pub fn unfinished_count(&self) -> usize {
        self.shared.tasks.borrow().unfinished
    }
}

impl Spawner {
    /// Adds a task, ready to run after all that are ready now.
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

    /// The same for a background task.
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
