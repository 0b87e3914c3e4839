//! Helpers that the process tests share.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A record of events, in order.
#[derive(Clone, Default)]
pub struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub fn add(&self, entry: impl Into<String>) {
        self.0.borrow_mut().push(entry.into());
    }

    pub fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

/// Lets all other ready tasks run once.
#[derive(Default)]
pub struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        // Once more: a task is queued once, after any number of wakes.
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
