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
//! full or the node does not accept, and then sent again as any packet; *error* if the bytes do not lie within one of
//! the node's regions.

use crate::cluster::{Happening, World};
use crate::dma::{DmaId, Progress, Token};
use crate::event::News;
use fabric::{Ack, NodeId, PacketId};
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
        let dma = self.dmas[get as usize].dma;
        let adapter = &mut self.adapters[node as usize];
        if !dma.from.covers(dma.length) {
            self.answer(packet, Ack::Error);
        } else if adapter.inputter.refusing || adapter.engine.waiting() >= self.config.adapter.queue
        {
            self.answer(packet, Ack::Discarded);
        } else {
            adapter.engine.announced += 1;
            self.answer(packet, Ack::Accepted);
            self.packets[token as usize].stored = true;
            self.drop_packet_if_done(token);
            self.dmas[get as usize].unstored -= 1;
            let serving = Progress::new(dma, node, Some(Get::Serving(get)));
            let serving = self.dmas.insert(serving) as DmaId;
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
        if progress.complete() {
            self.schedule(at, node, Happening::Occurred(News::Completed(node, get)));
        }
    }
}
