//! Put bytes on their way into a process's main memory.
//!
//! A put has ended for its sender when the other adapter has accepted the bytes. They cross that
//! adapter's bus after that, in order. The sender's next operations must not overtake them: an
//! atomic on a word in main memory crosses the same bus behind them. The words that stand for the
//! program's words lie in the adapter's own memory, so atomics wait here.

use super::operations::Copy;
use crate::endpoint::NetworkOp;
use kernel::Signal;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The puts to one process with bytes not yet in its memory.
#[derive(Default)]
pub struct Landing(RefCell<VecDeque<(Rc<Copy>, Signal)>>);

impl Landing {
    /// A put has begun, and a signal marks when its bytes are there.
    pub fn begins(&self, put: &Rc<Copy>, stored: &Signal) {
        let mut puts = self.0.borrow_mut();
        let over = |(put, stored): &(Rc<Copy>, Signal)| stored.is_set() || put.is_lost();
        while puts.front().is_some_and(over) {
            puts.pop_front();
        }
        puts.push_back((Rc::clone(put), stored.clone()));
    }

    /// Waits until all puts that have ended for their senders have their bytes there.
    pub async fn settle(&self) {
        let has_ended = |put: &Copy| matches!(put.remote.result(), Some(Ok(())));
        let accepted: Vec<Signal> = {
            let puts = self.0.borrow();
            let open = puts
                .iter()
                .filter(|(put, stored)| !stored.is_set() && has_ended(put));
            open.map(|(_, stored)| stored.clone()).collect()
        };
        for stored in accepted {
            stored.wait().await;
        }
    }
}
