//! The endpoint's bindings, which determine where its operations' ends are reported: queues by
//! direction, counters by operation kind. With `FI_SELECTIVE_COMPLETION` only operations with the
//! flag `FI_COMPLETION` show in the queue; failures always do.

use super::completions::Binding;
use crate::abi::{FI_COMPLETION, FI_READ, FI_RECV, FI_SELECTIVE_COMPLETION, FI_SEND, FI_WRITE};

/// The operation kinds' flags; each kind may have its own counter.
const KINDS: [u64; 4] = [FI_SEND, FI_RECV, FI_READ, FI_WRITE];

/// One direction's queue.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    queue: Option<usize>,
    selective: bool,
    /// Flags for operations without their own.
    flags: u64,
}

/// All that is bound to the endpoint.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// The address vector.
    pub vector: Option<usize>,
    transmit: Direction,
    receive: Direction,
    /// The counter for each operation kind.
    counters: [Option<usize>; 4],
    /// A buffer for several messages with less room than this goes back to the program.
    pub least_room: usize,
}

impl Bindings {
    /// The bindings for a newly opened endpoint, with the flags for operations without their own.
    pub fn new(transmit: u64, receive: u64) -> Self {
        let mut bindings = Bindings::default();
        bindings.transmit.flags = transmit;
        bindings.receive.flags = receive;
        bindings
    }

    /// Binds a completion queue, by the flags.
    pub fn bind_queue(&mut self, queue: usize, flags: u64) {
        let directions = [(FI_SEND, &mut self.transmit), (FI_RECV, &mut self.receive)];
        for (_, direction) in directions.into_iter().filter(|(flag, _)| flags & flag != 0) {
            direction.queue = Some(queue);
            direction.selective = flags & FI_SELECTIVE_COMPLETION != 0;
        }
    }

    /// Binds a counter, by the flags.
    pub fn bind_counter(&mut self, counter: usize, flags: u64) {
        for (flag, place) in KINDS.into_iter().zip(&mut self.counters) {
            if flags & flag != 0 {
                *place = Some(counter);
            }
        }
    }

    /// Where the end of an operation is reported, with its kind among the flags `shown`: by the
    /// flags of its call or, without these, by the endpoint's.
    pub fn of(&self, shown: u64, flags: Option<u64>) -> Binding {
        let direction = if shown & FI_RECV != 0 {
            self.receive
        } else {
            self.transmit
        };
        let mut counters = KINDS.into_iter().zip(self.counters);
        let counter = counters.find(|(kind, _)| shown & kind != 0);
        let flags = flags.unwrap_or(direction.flags);
        Binding {
            queue: direction.queue,
            quiet: direction.selective && flags & FI_COMPLETION == 0,
            counter: counter.and_then(|(_, counter)| counter),
        }
    }

    /// Where an injected operation's end is reported: in the queue only if it fails.
    pub fn of_injected(&self, shown: u64) -> Binding {
        Binding {
            quiet: true,
            ..self.of(shown, None)
        }
    }
}
