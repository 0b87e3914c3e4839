//! The machine's network: a rank is a process in the simulated libraries.
//!
//! | order | is |
//! |---|---|
//! | send, receive | a Tport message, short or long, matched by the receiver's adapter (or as `tport.matching` demands) |
//! | peek | a Tport probe that does not wait |
//! | probe | a Tport probe that waits |
//! | sleep | computation: it begins when the processor is done with the calls before, and host noise delays it |
//! | put, get | Elanlib's put and get, between main memories |
//! | atomic | a packet of transactions, as in Shmem, on a word in the other adapter's memory |
//! | queue, insertion | an Elanlib queue, and a message for it |
//! | collective call | a call in an Elanlib group (`collective`) |
//! | untagged message | a put into the receiver's buffer, and an event there, without matching. The receiver's processor takes the message out by a call |
//!
//! The costs equal those in [`libelan::mpi`]; a call that makes a request has its cost, too.

mod atomic;
mod collective;
mod landing;
mod operations;
mod queue;

use crate::endpoint::{
    EndFuture, Endpoint, NetworkGroup, NetworkOp, NetworkQueue, OutgoingMessage,
};
use crate::memory::{Buffer, Buffers, Use};
use collective::{MachineGroup, Window};
use elan::{ElanAddr, Placement, ProcessId};
use landing::Landing;
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select};
use link::MessageFilter;
use operations::{Arrival, Copy, Receive, Send, refused};
use queue::Queue;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// One rank's process.
pub struct TportsProcess {
    pe: Pe,
    buffers: Rc<Buffers>,
    /// The processes of all ranks, and their shared parts.
    all: Rc<[(Rc<Buffers>, Pe)]>,
    /// Words in the adapters of all ranks, for atomics.
    words: Rc<[Rc<Buffers>]>,
    /// The puts to all ranks.
    landing: Rc<[Landing]>,
    window: Rc<Window>,
}

impl TportsProcess {
    /// A job's processes, in rank order, with buffers placed by `placement`.
    pub fn of(pes: Vec<Pe>, placement: Placement) -> Vec<TportsProcess> {
        let buffers = |pe: &Pe| {
            let buffers = Buffers::new(pe.node().clone(), placement);
            (Rc::new(buffers), pe.clone())
        };
        let all: Rc<[(Rc<Buffers>, Pe)]> = pes.iter().map(buffers).collect();
        let words = |pe: &Pe| Rc::new(Buffers::new(pe.node().clone(), Placement::Adapter));
        let words: Rc<[Rc<Buffers>]> = pes.iter().map(words).collect();
        let landing: Rc<[Landing]> = pes.iter().map(|_| Landing::default()).collect();
        let window = Rc::new(Window::new(placement));
        let process = |(index, pe): (usize, Pe)| TportsProcess {
            pe,
            words: Rc::clone(&words),
            landing: Rc::clone(&landing),
            window: Rc::clone(&window),
            buffers: Rc::clone(&all[index].0),
            all: Rc::clone(&all),
        };
        pes.into_iter().enumerate().map(process).collect()
    }

    /// Makes a call that was ordered at a moment.
    fn call<R>(&self, at: Time, request: bool, call: impl FnOnce(&Pe) -> R) -> R {
        self.pe.given(at, || {
            if request {
                self.pe.mpi().request();
            }
            call(&self.pe)
        })
    }
}

impl Endpoint for TportsProcess {
    fn compute(&self, at: Time, time: Time) -> EndFuture {
        // After the processor's work for the calls before, and with operating system noise.
        Box::pin(self.pe.given(at, || self.pe.compute(time)))
    }

    fn send(&self, at: Time, message: OutgoingMessage) -> Rc<dyn NetworkOp> {
        let size = Bytes::new(message.bytes.len() as u64);
        let Ok(buffer) = self.buffers.take(size) else {
            return refused(at);
        };
        self.buffers.store(buffer, &message.bytes);
        let mode = if message.synchronous {
            Mode::Synchronous
        } else {
            Mode::Standard
        };
        let label = (message.number.0, message.tag);
        let tx = self.call(at, message.request, |pe| {
            let tport = pe.elan().tport();
            tport.tx_start(mode, message.to.into(), label, buffer.at(), size)
        });
        Rc::new(Send {
            tx: RefCell::new(Some(Rc::new(tx))),
            pe: self.pe.clone(),
            buffer,
            buffers: Rc::clone(&self.buffers),
        })
    }

    fn receive(
        &self,
        at: Time,
        wanted: MessageFilter,
        room: Bytes,
        request: bool,
    ) -> Rc<dyn NetworkOp> {
        match self.buffers.take(room) {
            Ok(buffer) => {
                let into = Room::Buffer(buffer.at(), room);
                self.start(at, wanted, into, Some(buffer), request)
            }
            Err(_) => refused(at),
        }
    }

    fn look(&self, at: Time, wanted: MessageFilter, waits: bool) -> Rc<dyn NetworkOp> {
        let room = if waits { Room::Probe } else { Room::Peek };
        self.start(at, wanted, room, None, false)
    }

    fn message(&self, at: Time, to: u32, bytes: Rc<Vec<u8>>) -> [Rc<dyn NetworkOp>; 2] {
        let size = Bytes::new(bytes.len() as u64);
        let (theirs, pe) = (&self.all[to as usize].0, self.all[to as usize].1.clone());
        let (Ok(here), Ok(there)) = (self.buffers.take(size), theirs.take(size)) else {
            return [refused(at), refused(at)];
        };
        self.buffers.store(here, &bytes);
        let event = pe.node().event(1);
        let place = pe
            .node()
            .event_address(event)
            .expect("it has just been made");
        let remote = self.call(at, false, |own| {
            let (from, to_buffer) = (here.at(), there.at());
            own.elan()
                .put_notify(to.into(), from, to_buffer, size, place.elan)
        });
        let sent = Copy {
            remote,
            pe: self.pe.clone(),
            here,
            buffers: Rc::clone(&self.buffers),
            there: RefCell::new(None),
            brings: None,
        };
        let arrival = Arrival {
            pe,
            event,
            buffer: there,
            buffers: Rc::clone(theirs),
            size,
        };
        [Rc::new(sent), Rc::new(arrival)]
    }

    fn put(&self, at: Time, to: u32, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp> {
        self.copy(at, to, &bytes, false)
    }

    fn put_seen(&self, at: Time, to: u32, bytes: Rc<Vec<u8>>) -> (Rc<dyn NetworkOp>, EndFuture) {
        self.put_and_watch(at, to, &bytes)
    }

    fn get(&self, at: Time, from: u32, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp> {
        self.copy(at, from, &bytes, true)
    }

    fn atomic(
        &self,
        at: Time,
        to: u32,
        tests: bool,
        execute: Box<dyn FnOnce() -> bool>,
    ) -> Rc<dyn NetworkOp> {
        atomic::begin(self, at, to, tests, execute)
    }

    fn queue(&self, slots: u32, slot: Bytes) -> Option<Rc<dyn NetworkQueue>> {
        let queue = self.pe.elan().queue_rx(slots, slot).ok()?;
        Some(Rc::new(Queue::new(self.pe.clone(), queue)))
    }

    fn enqueue(&self, at: Time, to: u32, queue: u64, bytes: Rc<Vec<u8>>) -> Rc<dyn NetworkOp> {
        let size = Bytes::new(bytes.len() as u64);
        let Ok(here) = self.buffers.take(size) else {
            return refused(at);
        };
        self.buffers.store(here, &bytes);
        let remote = self.call(at, false, |pe| {
            let queue = ElanAddr::new(queue as u32);
            pe.elan().queue_tx(to.into(), queue, here.at(), size)
        });
        Rc::new(Copy {
            remote,
            pe: self.pe.clone(),
            here,
            buffers: Rc::clone(&self.buffers),
            there: RefCell::new(None),
            brings: None,
        })
    }

    fn poll(&self) -> Time {
        self.pe.node().config().adapter.poll
    }

    fn group(&self, ranks: &[u32]) -> Option<Rc<dyn NetworkGroup>> {
        let all = self.all.iter().map(|(_, pe)| pe);
        let group = MachineGroup::new(&self.window, all, ranks)?;
        Some(Rc::new(group))
    }
}

impl TportsProcess {
    /// Starts a receive, or a look.
    fn start(
        &self,
        at: Time,
        wanted: MessageFilter,
        room: Room,
        buffer: Option<Buffer>,
        request: bool,
    ) -> Rc<dyn NetworkOp> {
        let select = Select {
            process: wanted.from.map(ProcessId::new),
            tag_mask: wanted.mask,
            tag: wanted.tag,
            ..Select::ANY
        };
        let rx = self.call(at, request, |pe| pe.elan().tport().rx_start(select, room));
        Rc::new(Receive {
            rx: RefCell::new(Some(Rc::new(rx))),
            pe: self.pe.clone(),
            buffer,
            buffers: Rc::clone(&self.buffers),
        })
    }

    /// Puts bytes, and watches the other rank's memory for the last one. The buffer there is used
    /// again only when the bytes are in it: else the next watch would take these for its own.
    fn put_and_watch(&self, at: Time, to: u32, bytes: &[u8]) -> (Rc<dyn NetworkOp>, EndFuture) {
        let size = Bytes::new(bytes.len() as u64);
        let (theirs, there_pe) = (&self.all[to as usize].0, self.all[to as usize].1.clone());
        let (Ok(here), Ok(there)) = (self.buffers.take(size), theirs.take_for(Use::Sink, size))
        else {
            return (refused(at), Box::pin(std::future::pending()));
        };
        self.buffers.store(here, bytes);
        let last = there
            .at()
            .offset(Bytes::new((bytes.len() as u64).saturating_sub(1)));
        let stored = there_pe.node().next_store(last, Bytes::new(1));
        let remote = self.call(at, false, |pe| {
            pe.elan().put(to.into(), here.at(), there.at(), size)
        });
        // Each rail brings its own part, and the put is over when all parts are there.
        let by_end = bytes.is_empty() || there_pe.node().config().rails.is_some();
        let seen = if by_end { remote.ended() } else { stored };
        let put = Rc::new(Copy {
            remote,
            pe: self.pe.clone(),
            here,
            buffers: Rc::clone(&self.buffers),
            there: RefCell::new(None),
            brings: None,
        });
        self.landing[to as usize].begins(&put, &seen);
        let (watched, theirs) = (Rc::clone(&put), Rc::clone(theirs));
        let landed = Box::pin(async move {
            seen.wait().await;
            if by_end && watched.is_lost() {
                std::future::pending::<()>().await;
            }
            theirs.give_back(there);
            there_pe.now()
        });
        (put, landed)
    }

    fn copy(&self, at: Time, other: u32, bytes: &[u8], get: bool) -> Rc<dyn NetworkOp> {
        let size = Bytes::new(bytes.len() as u64);
        let theirs = &self.all[other as usize].0;
        let what = if get { Use::Message } else { Use::Sink };
        let (Ok(here), Ok(there)) = (self.buffers.take(size), theirs.take_for(what, size)) else {
            return refused(at);
        };
        let remote = if get {
            theirs.store(there, bytes);
            let to = here.at();
            self.call(at, false, |pe| {
                pe.elan().get(other.into(), there.at(), to, size)
            })
        } else {
            self.buffers.store(here, bytes);
            let from = here.at();
            self.call(at, false, |pe| {
                pe.elan().put(other.into(), from, there.at(), size)
            })
        };
        Rc::new(Copy {
            remote,
            pe: self.pe.clone(),
            here,
            buffers: Rc::clone(&self.buffers),
            there: RefCell::new(Some((there, Rc::clone(theirs)))),
            brings: get.then_some(size),
        })
    }
}
