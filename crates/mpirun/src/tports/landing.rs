//! Bytes of puts on their way into the main memory of a process.
//!
//! A put has ended for its sender when the other adapter has accepted the bytes. They cross that adapter's bus after that, in
//! order. What the sender does next must not overtake them: an atomic on a word of main memory crosses the same bus behind them.
//! The words that stand for the program's words lie in the adapter's own memory, so atomics wait here.

use super::operations::Copy;
use crate::endpoint::NetworkOp;
use kernel::Signal;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The puts to one process whose bytes are not all in its memory.
#[derive(Default)]
pub struct Landing(RefCell<VecDeque<(Rc<Copy>, Signal)>>);

impl Landing {
    /// A put has begun, and a signal says when its bytes are there.
    pub fn begins(&self, put: &Rc<Copy>, stored: &Signal) {
        let mut puts = self.0.borrow_mut();
        let over = |(put, stored): &(Rc<Copy>, Signal)| stored.is_set() || put.is_lost();
        while puts.front().is_some_and(over) {
            puts.pop_front();
        }
        puts.push_back((Rc::clone(put), stored.clone()));
    }

    /// Waits until the bytes of all puts that have ended for their senders are there.
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
