//! A thread's turn on the thread processor.

use super::Thread;
use crate::adapter::thread_processor::ThreadProcessor;
use kernel::Signal;

impl Drop for Thread {
    fn drop(&mut self) {
        self.release();
    }
}

/// A thread's place among the ready threads.
struct Turn<'a> {
    thread: &'a Thread,
    signal: Signal,
    come: bool,
}

impl Drop for Turn<'_> {
    /// A thread that gives up waiting leaves its place, and gives back the processor if its turn
    /// has just come.
    fn drop(&mut self) {
        if self.come {
            return;
        }
        if self.signal.is_set() {
            self.thread.running.set(true);
            self.thread.release();
        } else {
            let signal = &self.signal;
            self.thread.processor(|processor| processor.leave(signal));
        }
    }
}

impl Thread {
    fn processor<R>(&self, act: impl FnOnce(&mut ThreadProcessor) -> R) -> R {
        let mut world = self.node.world.borrow_mut();
        act(&mut world.adapter_mut(self.node.place()).processor)
    }

    /// Waits for the processor, unless the thread has it.
    pub(super) async fn hold(&self) {
        if self.running.get() {
            return;
        }
        if let Some(signal) = self.processor(ThreadProcessor::take) {
            let mut turn = Turn {
                thread: self,
                signal: signal.clone(),
                come: false,
            };
            signal.wait().await;
            turn.come = true;
        }
        self.running.set(true);
        let cycles = self.node.world.borrow().config().adapter.thread_switch;
        self.work(cycles.into()).await;
    }

    /// Gives the processor to the next thread that is ready.
    pub(super) fn release(&self) {
        if self.running.replace(false)
            && let Some(next) = self.processor(ThreadProcessor::release)
        {
            next.fire();
        }
    }

    pub(super) async fn work(&self, cycles: u64) {
        let time = self.node.world.borrow().config().adapter.thread_cycle * cycles;
        self.processor(|processor| processor.work(time));
        self.node.sleep(time).await;
    }
}
