//! Who has the processor: one thread at a time, until it waits; the others take turns.

use super::Thread;
use kernel::Signal;
use std::collections::VecDeque;
use units::Time;

/// The thread processor of one adapter.
#[derive(Default)]
pub(crate) struct Processor {
    /// Whether a thread runs.
    taken: bool,
    /// Threads that are ready, in the order in which they became so.
    ready: VecDeque<Signal>,
    /// Threads whose command is on its way.
    pub posted: VecDeque<Signal>,
    /// Time in which it has worked.
    pub busy: Time,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.release();
    }
}

/// A thread's place among those that are ready.
struct Turn<'a> {
    thread: &'a Thread,
    signal: Signal,
    come: bool,
}

impl Drop for Turn<'_> {
    /// Who gives up waiting leaves its place, and the processor if that has just come.
    fn drop(&mut self) {
        if self.come {
            return;
        }
        if self.signal.is_set() {
            self.thread.running.set(true);
            self.thread.release();
        } else {
            let signal = &self.signal;
            let keep = |other: &Signal| !other.is(signal);
            self.thread
                .processor(|processor| processor.ready.retain(keep));
        }
    }
}

impl Thread {
    fn processor<R>(&self, act: impl FnOnce(&mut Processor) -> R) -> R {
        let mut world = self.node.world.borrow_mut();
        act(&mut world.adapters[self.node.id() as usize].processor)
    }

    /// Waits for the processor, unless the thread has it.
    pub(super) async fn hold(&self) {
        if self.running.get() {
            return;
        }
        let signal = Signal::new();
        let waits = self.processor(|processor| {
            if processor.taken {
                processor.ready.push_back(signal.clone());
            }
            std::mem::replace(&mut processor.taken, true)
        });
        if waits {
            let mut turn = Turn {
                thread: self,
                signal: signal.clone(),
                come: false,
            };
            signal.wait().await;
            turn.come = true;
        }
        self.running.set(true);
        let cycles = self.node.world.borrow().config.adapter.thread_switch;
        self.work(cycles.into()).await;
    }

    /// Gives the processor to the next thread that is ready.
    pub(super) fn release(&self) {
        if self.running.replace(false) {
            let next = self.processor(|processor| {
                let next = processor.ready.pop_front();
                processor.taken = next.is_some();
                next
            });
            if let Some(next) = next {
                next.fire();
            }
        }
    }

    pub(super) async fn work(&self, cycles: u64) {
        let time = self.node.world.borrow().config.adapter.thread_cycle * cycles;
        self.processor(|processor| processor.busy += time);
        self.node.sleep(time).await;
    }
}
