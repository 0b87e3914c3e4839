//! What is bound to the endpoint, which says where the ends of its operations are told: queues by direction, counters by kind
//! of operation. With `FI_SELECTIVE_COMPLETION` only operations with the flag `FI_COMPLETION` show in the queue; failures
//! always do.

use super::completions::Binding;
use crate::abi::{FI_COMPLETION, FI_READ, FI_RECV, FI_SELECTIVE_COMPLETION, FI_SEND, FI_WRITE};

/// Kinds of operations; each kind may have its own counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    Send,
    Receive,
    Read,
    Write,
}

/// The queue of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    queue: Option<usize>,
    selective: bool,
    /// Flags of operations that name none.
    flags: u64,
}

/// All that is bound to the endpoint.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// The address vector.
    pub vector: Option<usize>,
    transmit: Direction,
    receive: Direction,
    /// The counter of each kind of operation.
    counters: [Option<usize>; 4],
    /// A buffer for several messages with less room than this goes back to the program.
    pub least_room: usize,
}

impl Bindings {
    /// The bindings of an endpoint that has just been opened, with the flags of operations that name none.
    pub fn new(transmit: u64, receive: u64) -> Self {
        let mut bindings = Bindings::default();
        bindings.transmit.flags = transmit;
        bindings.receive.flags = receive;
        bindings
    }

    /// Binds a completion queue, as the flags say.
    pub fn bind_queue(&mut self, queue: usize, flags: u64) {
        let directions = [(FI_SEND, &mut self.transmit), (FI_RECV, &mut self.receive)];
        for (_, direction) in directions.into_iter().filter(|(flag, _)| flags & flag != 0) {
            direction.queue = Some(queue);
            direction.selective = flags & FI_SELECTIVE_COMPLETION != 0;
        }
    }

    /// Binds a counter, as the flags say.
    pub fn bind_counter(&mut self, counter: usize, flags: u64) {
        let kinds = [FI_SEND, FI_RECV, FI_READ, FI_WRITE].into_iter();
        for (flag, place) in kinds.zip(&mut self.counters) {
            if flags & flag != 0 {
                *place = Some(counter);
            }
        }
    }

    /// Where an operation's end is told, by the flags of its call or, if the call has none, by those of the endpoint.
    pub fn of(&self, kind: OpKind, flags: Option<u64>) -> Binding {
        let direction = match kind {
            OpKind::Receive => self.receive,
            OpKind::Send | OpKind::Read | OpKind::Write => self.transmit,
        };
        let flags = flags.unwrap_or(direction.flags);
        Binding {
            queue: direction.queue,
            quiet: direction.selective && flags & FI_COMPLETION == 0,
            counter: self.counters[kind as usize],
        }
    }

    /// Where the end of an injected operation is told: the queue hears of it only if it fails.
    pub fn of_injected(&self, kind: OpKind) -> Binding {
        Binding {
            quiet: true,
            ..self.of(kind, None)
        }
    }
}
