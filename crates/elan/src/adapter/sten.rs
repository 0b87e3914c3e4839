//! # The short transaction engine (STEN) of an Elan4
//!
//! An Elan3 sends even an empty message by a DMA: the host stores its bytes in adapter memory, then a command; the
//! descriptor goes through the DMA queue and is taken up for `dma_start`. On an Elan4 short messages have an engine of
//! their own, "closely integrated with the command processor" (garcia2005 s2.1):
//!
//! | step | where | cost |
//! |---|---|---|
//! | the process stores command and bytes in its command queue, in one go | bus | one transfer of both |
//! | the command processor works on it | command processor | `command` |
//! | the STEN makes it a packet; no descriptor, no read of memory | STEN | `sten_start` |
//! | it travels, and is answered, as any packet | fabric, inputter | as a DMA's |
//!
//! Threads hand over commands without bus and command processor. The bytes are in the command, so that the process may
//! use its buffer again as soon as it has stored them, and hears nothing of the acknowledgement. An error is a trap, unless a
//! thread awaits it.
//!
//! The STEN takes up one command at a time, in order. Messages to one queue go one after the other, as those of the DMA
//! engine do ([`super::queue`]), while public headers of the Elan4 speak of two in flight: a simplification. Its queue is
//! bounded by those who use it: the slots of Tports for messages and answers, the notices that their threads have pending, the
//! signals of groups. The packets share the injection channels of the adapter with those of the DMA engines.
//!
//! An adapter without the part sends such messages by its DMA engine.

use super::{Due, Part, Wires};
use crate::in_flight::DmaId;
use crate::memory::Address;
use std::collections::VecDeque;
use units::Time;

/// The short transaction engine of one adapter.
pub(crate) struct Sten {
    start: Time,
    queue: VecDeque<DmaId>,
    busy: bool,
}

impl Sten {
    /// One, if the machine says so.
    pub fn new(parts: &[Part]) -> Option<Self> {
        parts.iter().find_map(|part| match *part {
            Part::Sten { start } => Some(Sten {
                start,
                queue: VecDeque::new(),
                busy: false,
            }),
            _ => None,
        })
    }

    /// A command for it.
    pub fn push(&mut self, id: DmaId) {
        self.queue.push_back(id);
    }

    /// Takes up the next command, if it works on none.
    pub fn run(&mut self, wires: &mut Wires) {
        if !self.busy
            && let Some(id) = self.queue.pop_front()
        {
            self.busy = true;
            let issued = Due::Issued(wires.node, id);
            wires.schedule(wires.now + self.start, issued);
        }
    }

    /// It makes a command a packet; as [`Wires::complete`].
    pub fn issue(&mut self, wires: &mut Wires, id: DmaId) -> Option<Address> {
        self.busy = false;
        match wires.cut(id) {
            Some(_) => None,
            None => wires.complete(id),
        }
    }
}
