//! Messages that get their rails when they arrive, and wait with these rails for the messages
//! before them (coll2003 s5.2).
//!
//! A program sends one message at a time. On a machine whose policy picks rails in advance
//! ([`rails::Generator`]) a second simulated process runs beside it: it draws each message at its
//! arrival, and keeps the rails that were picked for it.

use super::Program;
use crate::source::Message;
use elan::Rail;
use kernel::Signal;
use rails::Generator;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// A program's messages that have arrived and wait.
pub(crate) struct MessageBacklog {
    waiting: Rc<WaitingRails>,
}

/// Rails for the messages that wait in the program's source.
#[derive(Default)]
struct WaitingRails {
    rails: RefCell<VecDeque<Vec<Rail>>>,
    arrived: Signal,
}

impl MessageBacklog {
    /// Starts to generate a program's messages.
    pub fn start(program: &Program, generator: Generator) -> Self {
        let waiting = Rc::<WaitingRails>::default();
        let (node, index) = (program.node.clone(), program.index);
        let (progress, kept) = (Rc::clone(&program.progress), Rc::clone(&waiting));
        let label = format!("messages of process {index}");
        program.node.clone().serve(label, async move {
            loop {
                let next = kept.rails.borrow().len();
                let message = progress.borrow_mut().sources[index].behind(next);
                node.sleep_until(message.arrival).await;
                let rails = generator.pick(message.size);
                kept.rails.borrow_mut().push_back(rails);
                kept.arrived.fire();
            }
        });
        MessageBacklog { waiting }
    }

    /// The program's next message and its rails, when it has arrived; without rails if all were
    /// busy then.
    pub async fn next(&self, program: &Program) -> (Message, Vec<Rail>) {
        loop {
            let rails = self.waiting.rails.borrow_mut().pop_front();
            if let Some(rails) = rails {
                let message = program.progress.borrow_mut().sources[program.index].take();
                return (message, rails);
            }
            self.waiting.arrived.reset();
            self.waiting.arrived.wait().await;
        }
    }
}
