//! # The command processor: a process's requests to its adapter, one store each
//!
//! Sources: petrini2003 s2.1 and the public Elan3 headers.
//!
//! Every command crosses the bus in a [`COMMAND`]-byte transaction. The command processor works on
//! the command for `command`, then hands the command to its unit. Threads on the adapter need no
//! command port.

use crate::in_flight::DmaId;
use crate::memory::{EventNumber, QueueNumber};
use kernel::Signal;
use std::collections::VecDeque;
use units::Bytes;

/// A command is one word through the command port.
pub const COMMAND: Bytes = Bytes::new(8);

/// A command on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    /// Execute a DMA.
    Dma(DmaId),
    /// Let one of the node's events occur.
    Set(EventNumber),
    /// Run the thread that was posted first: the port works in order.
    Run,
    /// Put the message that was posted first into its queue.
    Insert,
}

/// One adapter's command processor.
#[derive(Default)]
pub(crate) struct CommandProcessor {
    /// The host's messages for queues; the command of each message is on its way.
    messages: VecDeque<(QueueNumber, Box<[u8]>)>,
    /// Threads that the host starts; each thread's command is on its way.
    threads: VecDeque<Signal>,
}

impl CommandProcessor {
    /// The host stores a message for a queue; the command follows.
    pub fn message(&mut self, queue: QueueNumber, message: Box<[u8]>) -> Command {
        self.messages.push_back((queue, message));
        Command::Insert
    }

    /// The host lets a thread run that waits for this signal; the command follows.
    pub fn thread(&mut self, thread: Signal) -> Command {
        self.threads.push_back(thread);
        Command::Run
    }

    /// Works on [`Command::Insert`]: returns the message and its queue.
    pub fn insert(&mut self) -> (QueueNumber, Box<[u8]>) {
        let posted = self.messages.pop_front();
        posted.expect("it was posted with the command")
    }

    /// Works on [`Command::Run`]: returns the signal that the thread waits for.
    pub fn run(&mut self) -> Signal {
        let thread = self.threads.pop_front();
        thread.expect("a thread was posted with the command")
    }
}
