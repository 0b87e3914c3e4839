//! # The short transaction engine (STEN) of an Elan4
//!
//! An Elan3 sends even an empty message by a DMA: the host stores its bytes in adapter memory, then a command; the
//! descriptor goes through the DMA queue and is taken up for `dma_start`. On an Elan4 short messages have an engine of
//! their own, "closely integrated with the command processor" (003 s2.1):
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
//! engine do ([`crate::queue`]), while public headers of the Elan4 speak of two in flight: a simplification. Its queue is
//! bounded by those who use it: the slots of Tports for messages and answers, the notices that their threads have pending, the
//! signals of groups. The packets share the injection channels of the adapter with those of the DMA engines.
//!
//! An adapter without the part sends such messages by its DMA engine.

use crate::NodeId;
use crate::bus::Direction;
use crate::cluster::{Happening, Node, World};
use crate::command::{COMMAND, Command};
use crate::dma::{Dma, DmaId, Report, Transfer};
use std::collections::VecDeque;

/// The short transaction engine of one adapter.
#[derive(Default)]
pub(crate) struct Sten {
    pub queue: VecDeque<DmaId>,
    busy: bool,
}

impl Dma {
    /// Makes it one for the short transaction engine, where the adapter has one: it must fit in one packet, and lie in
    /// adapter memory, which command queues do.
    #[must_use]
    pub fn short(self) -> Self {
        Dma {
            short: true,
            ..self
        }
    }
}

impl Node {
    /// Whether the adapter has a short transaction engine.
    pub fn has_sten(&self) -> bool {
        self.world.borrow().config.elan4.is_some()
    }

    /// Stores a command for the short transaction engine, with its bytes. The process need not await it, and pays nothing
    /// if it does; then it hears of an error.
    ///
    /// # Panics
    /// If the adapter has none.
    pub fn send_short(&self, dma: Dma) -> Transfer {
        assert!(self.has_sten(), "the adapter has no STEN");
        let (dma, node) = (dma.short(), self.id());
        let progress = self.progress(dma, Report::Nobody);
        let transfer = progress.transfer();
        let mut world = self.world.borrow_mut();
        let command = Command::Dma(world.new_dma(progress));
        let commanded = Happening::Commanded(node, command);
        world.transfer(node, Direction::ToAdapter, COMMAND + dma.length, commanded);
        transfer
    }
}

impl World {
    /// Whether the STEN sends it.
    pub(crate) fn is_short(&self, id: DmaId) -> bool {
        self.dmas[id as usize].dma.short && self.config.elan4.is_some()
    }

    /// Lets the STEN take up the next command.
    pub(crate) fn run_sten(&mut self, node: NodeId) {
        let elan4 = self.config.elan4.expect("only an Elan4 has a STEN");
        let sten = &mut self.adapters[node as usize].sten;
        if !sten.busy
            && let Some(id) = sten.queue.pop_front()
        {
            sten.busy = true;
            let issued = Happening::Issued(node, id);
            self.schedule(self.now() + elan4.sten_start, node, issued);
        }
    }

    /// The STEN has made a command a packet.
    pub(crate) fn issued(&mut self, node: NodeId, id: DmaId) {
        self.cut_packet(node, id);
        self.adapters[node as usize].sten.busy = false;
        self.run_sten(node);
    }
}
