//! # Gets: DMAs that another adapter executes
//!
//! A process that wants bytes of another node posts a DMA whose source lies there. Its own adapter cannot read them:
//! it sends the descriptor in one packet, as a remote-DMA transaction, and the other adapter executes it as a DMA back
//! to the asker (public Elan3 headers; 000 s4.6 calls these reads). No process of the other node has a part in it.
//!
//! | step | where | cost |
//! |---|---|---|
//! | the descriptor is posted, waits and is taken up as any other | asker | as a put |
//! | the engine sends it in a packet of 32 bytes; that is all that this engine has to do | fabric | cycles |
//! | the inputter puts it into the DMA queue of its adapter | owner of the bytes | `input` |
//! | the engine works on it, among its other DMAs | owner of the bytes | `dma_start`, time slices |
//! | packets of payload travel to the asker, are stored and acknowledged | fabric | as those of a put |
//! | with the last byte stored, the asker's event is set | asker | `input`, `event` |
//!
//! A request is answered at once, so the inputter never waits for the engine: *accepted*; *discarded* while the queue is
//! full or the node does not accept, and then sent again as any packet; *error* if the owner's MMU refuses the bytes to the
//! asker. If the owner unmaps or protects them while the get is under way, its adapter sends a packet that says so; if the
//! asker does that to its own room, its inputter knows: either way the get ends with the fault.

use crate::NodeId;
use crate::cluster::{Happening, World};
use crate::dma::{DmaId, Progress, Report, Stage, Token};
use crate::event::News;
use crate::mmu::{Access, Fault};
use fabric::{Ack, PacketId};
use units::{Bytes, Time};

/// A DMA descriptor (public Elan3 headers: 32 bytes).
pub const DESCRIPTOR: Bytes = Bytes::new(32);

/// The part that a DMA has in a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Get {
    /// The asker's; `stored` once all bytes are there.
    Asking { stored: bool },
    /// What the owner of the bytes executes for the asker's.
    Serving(DmaId),
}

impl World {
    /// The request of a get has arrived at the node that holds the bytes.
    pub(crate) fn requested(&mut self, node: NodeId, packet: PacketId, token: Token) {
        let get = self.packets[token as usize].dma;
        let progress = &self.dmas[get as usize];
        let (dma, capability) = (progress.dma, progress.capability);
        let readable = self.translate(dma.from, dma.length, Access::RemoteRead, capability);
        let adapter = &mut self.adapters[node as usize];
        if let Err(fault) = readable {
            self.packets[token as usize].fault = Some(Box::new(fault));
            self.answer(packet, Ack::Error);
        } else if adapter.inputter.refusing || adapter.engine.waiting() >= self.config.adapter.queue
        {
            self.answer(packet, Ack::Discarded);
        } else {
            adapter.engine.announced += 1;
            self.answer(packet, Ack::Accepted);
            self.packets[token as usize].pending -= 1;
            self.drop_packet_if_done(token);
            let asking = &mut self.dmas[get as usize];
            asking.unstored -= 1;
            asking.served = true;
            let owner = (node, dma.from.context);
            let mut serving = Progress::new(dma, owner, capability, Report::Nobody);
            serving.get = Some(Get::Serving(get));
            let serving = self.new_dma(serving);
            let at = self.now() + self.config.adapter.input;
            self.schedule(at, node, Happening::Announced(node, serving));
        }
    }

    /// The inputter is done with a request.
    pub(crate) fn announced(&mut self, node: NodeId, serving: DmaId) {
        self.adapters[node as usize].engine.announced -= 1;
        self.enter_queue(node, serving);
    }

    /// All bytes of a get are stored; its process is told at a given time, unless its request is still unacknowledged.
    pub(crate) fn got(&mut self, node: NodeId, get: DmaId, at: Time) {
        let progress = &mut self.dmas[get as usize];
        progress.get = Some(Get::Asking { stored: true });
        if progress.complete() && progress.stage < Stage::Completed {
            progress.stage = Stage::Completed;
            self.schedule(at, node, Happening::Occurred(News::Completed(node, get)));
        }
    }

    /// The owner of the bytes says that it cannot read them.
    pub(crate) fn trapped(&mut self, packet: PacketId, token: Token) {
        self.answer(packet, Ack::Accepted);
        let packet = &mut self.packets[token as usize];
        packet.pending -= 1;
        let (id, fault) = (packet.dma, packet.fault.take());
        self.drop_packet_if_done(token);
        let progress = &mut self.dmas[id as usize];
        progress.unstored -= 1;
        if let (Some(Get::Serving(get)), Some(fault)) = (progress.get, fault) {
            self.get_failed(get, *fault);
        }
        self.drop_dma_if_over(id);
    }

    /// A get ends with a fault at one of its ends.
    pub(crate) fn get_failed(&mut self, get: DmaId, fault: Fault) {
        self.dmas[get as usize].fail(fault.into());
        self.complete_if_done(get);
    }
}
