//! # The Elan4's short transaction engine (STEN)
//!
//! An Elan3 sends even an empty message by DMA: the host stores its bytes in adapter memory, then a
//! command; the descriptor goes through the DMA queue and is taken up for `dma_start`. On an Elan4
//! short messages have their own engine, "closely integrated with the command processor"
//! (garcia2005 s2.1):
//!
//! | step | where | cost |
//! |---|---|---|
//! | the process stores command and bytes in its command queue, in one go | bus | one transfer of both |
//! | the command processor works on the command | command processor | `command` |
//! | the STEN turns the command into a packet; no descriptor, no memory read | STEN | `sten_start` |
//! | the packet travels, and is answered, as any packet | fabric, inputter | as a DMA's |
//!
//! Threads hand over commands without bus and command processor. The bytes are in the command, so
//! the process may use its buffer again as soon as it has stored the command, and is not notified
//! of the acknowledgement. An error is a trap, unless a thread awaits the message.
//!
//! The STEN takes up one command at a time, in order. Messages to one queue go one after the other,
//! as the DMA engine's do ([`super::queue`]), while the Elan4's public headers allow two in flight:
//! a simplification. The STEN's users bound its queue: Tports by their slots for messages and
//! answers and their threads' pending notices, groups by their signals. The STEN's packets share
//! the adapter's injection channels with the DMA engines' packets.
//!
//! An adapter without a STEN sends such messages by its DMA engine.

use super::{AdapterEvent, Wires};
use crate::config::AdapterPart;
use crate::in_flight::DmaId;
use crate::memory::Address;
use std::collections::VecDeque;
use units::Time;

/// One adapter's short transaction engine.
pub(crate) struct Sten {
    start: Time,
    queue: VecDeque<DmaId>,
    /// The command that is being turned into a packet.
    issuing: Option<DmaId>,
}

impl Sten {
    /// A short transaction engine, if the machine has one.
    pub fn new(parts: &[AdapterPart]) -> Option<Self> {
        parts.iter().find_map(|part| match *part {
            AdapterPart::Sten { start } => Some(Sten {
                start,
                queue: VecDeque::new(),
                issuing: None,
            }),
            _ => None,
        })
    }

    /// Queues a command.
    pub fn push(&mut self, id: DmaId) {
        self.queue.push_back(id);
    }

    /// The adapter has died: no command waits any more. Returns the command that is being turned
    /// into a packet.
    pub fn clear(&mut self) -> Option<DmaId> {
        self.queue.clear();
        self.issuing
    }

    /// Takes up the next command, if the engine is idle.
    pub fn run(&mut self, wires: &mut Wires) {
        if self.issuing.is_none()
            && let Some(id) = self.queue.pop_front()
        {
            self.issuing = Some(id);
            let issued = AdapterEvent::Issued(wires.node, id);
            wires.schedule(wires.now + self.start, issued);
        }
    }

    /// Turns a command into a packet; returns as [`Wires::complete`] does.
    pub fn issue(&mut self, wires: &mut Wires, id: DmaId) -> Option<Address> {
        self.issuing = None;
        if wires.cut(id) {
            None
        } else {
            wires.complete(id)
        }
    }
}
