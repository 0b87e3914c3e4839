//! The command port: what a process can ask of its adapter with one store (000 s2.1; public Elan3 headers).
//!
//! Every command crosses the bus in a transaction of [`COMMAND`] bytes; the command processor works on it for `command`.
//! Threads on the adapter need no command port.

use crate::NodeId;
use crate::bus::Direction;
use crate::cluster::{Happening, World};
use crate::dma::DmaId;
use crate::event::EventId;
use units::Bytes;

/// A command is one word through the command port.
pub const COMMAND: Bytes = Bytes::new(8);

/// What the process wants.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    /// Execute a DMA.
    Dma(DmaId),
    /// Let an event of the node occur, by its number there.
    Set(u32),
    /// Run the thread that was posted first: the port works in order.
    Run,
    /// Put the message that was posted first into its queue.
    Insert,
}

impl World {
    /// The host stores a command: it crosses the bus, then the command processor works on it.
    pub(crate) fn post(&mut self, node: NodeId, command: Command) {
        self.transfer(
            node,
            Direction::ToAdapter,
            COMMAND,
            Happening::Commanded(node, command),
        );
    }

    /// The command processor is done with a command.
    pub(crate) fn command(&mut self, node: NodeId, command: Command) {
        match command {
            Command::Dma(dma) => self.enqueue(node, dma),
            Command::Set(index) => self.occur_soon(EventId { node, index }),
            Command::Insert => {
                let posted = &mut self.adapters[node as usize].posted;
                let (queue, message) = posted.pop_front().expect("it was posted with the command");
                let state = &self.adapters[node as usize].queues[queue as usize];
                assert!(state.has_room(), "the queue was made with too few slots");
                self.queued(node, queue, message);
            }
            Command::Run => {
                let threads = &mut self.adapters[node as usize].processor.posted;
                let thread = threads
                    .pop_front()
                    .expect("a thread was posted with the command");
                thread.fire();
            }
        }
    }
}
