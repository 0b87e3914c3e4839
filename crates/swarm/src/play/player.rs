//! A program's process: its memory, the operations that it starts, and its findings.

use super::{FinalState, Observation, Stage, StepPlace, me, pid, words};
use crate::bytes::bytes;
use crate::collective::{SPANS, area};
use crate::program::{
    BOARDS, CallLibrary, MessageLabel, ProcessOperation, ProcessStep, ProgramPhase, Range, SLOT,
    WORDS, exactly, queued,
};
use elan::{Dma, ElanAddr, EventId, ProcessId, Transfer};
use libelan::Pe;
use libelan::elan::group::Group;
use libelan::elan::putget::Remote;
use libelan::elan::queue::RxQueue;
use libelan::elan::tport::{Mode, Room, Rx, Tx};
use libelan::mpi::MpiRequest;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// Pending operations.
enum PendingOperation {
    /// A Tports or MPI message, and its buffer.
    Send(Tx, ElanAddr),
    MpiSend(MpiRequest, ElanAddr),
    Receive(Rx, Option<ElanAddr>),
    MpiReceive(MpiRequest, ElanAddr),
    /// A put into a range, and its source.
    Put(Remote, ElanAddr, Range),
    Transfer(Transfer, ElanAddr, Range),
    /// A broadcast, and its source.
    Spread(Transfer, ElanAddr),
    /// Shmem reports all its puts together.
    Quiet(ElanAddr, Range),
    /// A get, and where the bytes come.
    Get(Remote, ElanAddr, u64),
    GetTransfer(Transfer, ElanAddr, u64),
    Notified(EventId, Range),
    Enqueue(Remote, ElanAddr),
    Dequeue,
    /// It is over already.
    Over(Observation),
}

impl PendingOperation {
    /// The order of waits: first operations without another process; then its own queue, since
    /// others may wait for its slots.
    fn rank(&self) -> u32 {
        match self {
            PendingOperation::Put(..)
            | PendingOperation::Transfer(..)
            | PendingOperation::Spread(..)
            | PendingOperation::Get(..)
            | PendingOperation::GetTransfer(..)
            | PendingOperation::Over(_) => 0,
            PendingOperation::Dequeue => 1,
            PendingOperation::Enqueue(..) | PendingOperation::Quiet(..) => 2,
            _ => 3,
        }
    }
}

pub(super) struct Player {
    pub pe: Pe,
    boards: [ElanAddr; 2],
    /// Where collective calls have their places.
    area: [ElanAddr; 2],
    /// Where others add.
    words: ElanAddr,
    /// The first place of events, the same in all processes.
    first_event: ElanAddr,
    /// This process's events.
    events: BTreeMap<u32, EventId>,
    queue: RxQueue,
    /// The groups that the process is in.
    groups: Vec<Option<Group>>,
    used: Bytes,
}

impl Player {
    pub async fn new(pe: &Pe, stage: &Stage) -> Result<Self, String> {
        let (elan, program) = (pe.elan(), &stage.program);
        let main = |length| elan.galloc_main(64, Bytes::new(length)).map_err(words);
        let adapter = |length| elan.galloc_elan(64, Bytes::new(length)).map_err(words);
        let boards = [main(BOARDS[0])?, adapter(BOARDS[1])?];
        let area = [
            main(area(SPANS[0]).as_u64())?,
            adapter(area(SPANS[1]).as_u64())?,
        ];
        let atomics = adapter(8 * u64::from(WORDS))?;
        let block = elan::memory::EVENT_BLOCK;
        let first_event = adapter(block.as_u64() * (stage.events.len() as u64 + 1))?;
        let mut events = BTreeMap::new();
        for ((_, process, _), step) in program.steps() {
            if matches!(step.act, ProcessOperation::Notified { .. }) && process == me(pe) as usize {
                let at = first_event.offset(block * stage.events[&step.op]);
                let event = pe.elan3().init_event(at, 1).map_err(words)?;
                events.insert(step.op, event);
            }
        }
        let queue = elan
            .queue_rx(program.slots, Bytes::new(SLOT))
            .map_err(words)?;
        let mut groups = vec![Some(elan.all_group().clone())];
        for round in &program.rounds {
            // A process outside the round's groups takes any of them.
            let mine = round.iter().find(|members| members.contains(&me(pe)));
            let members = mine.unwrap_or(&round[0]).iter().copied().map(pid);
            let members: Vec<ProcessId> = members.collect();
            let made = elan.group(elan.all_group(), &members).await;
            let made = made.map_err(words)?;
            let own = |members| made.clone().filter(|_| Some(members) == mine);
            groups.extend(round.iter().map(own));
        }
        Ok(Player {
            boards,
            area,
            words: atomics,
            first_event,
            events,
            queue,
            groups,
            used: pe.elan3().used(),
            pe: pe.clone(),
        })
    }

    /// The final state.
    pub fn left(&self) -> FinalState {
        let word = |place: u32| {
            let bytes = self.load(self.word(place), 8);
            u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
        };
        let node = self.pe.node();
        let events = self.events.iter();
        FinalState {
            boards: [0, 1].map(|board| self.load(self.boards[board], BOARDS[board])),
            words: (0..WORDS).map(word).collect(),
            events: events
                .map(|(&op, &event)| (op, node.occurrences(event)))
                .collect(),
            queued: self.queue.len(),
            full: self.queue.is_full(),
            used: (self.used, self.pe.elan3().used()),
        }
    }

    fn word(&self, place: u32) -> ElanAddr {
        self.words.offset(Bytes::new(8 * u64::from(place)))
    }

    fn load(&self, at: ElanAddr, length: u64) -> Vec<u8> {
        let bytes = self.pe.elan3().load(at, Bytes::new(length));
        bytes.expect("it is the process's own").into_vec()
    }

    fn place(&self, range: Range) -> ElanAddr {
        self.boards[range.board].offset(Bytes::new(range.at))
    }

    pub fn board(&self, range: Range) -> Vec<u8> {
        self.load(self.place(range), range.length)
    }

    fn buffer(&self, length: u64, adapter: bool) -> ElanAddr {
        let (elan3, length) = (self.pe.elan3(), Bytes::new(length));
        let at = if adapter {
            elan3.alloc_elan(8, length)
        } else {
            elan3.alloc_main(8, length)
        };
        at.expect("a program needs less memory than there is")
    }

    fn free(&self, at: ElanAddr) {
        self.pe.elan3().free(at).expect("it was allocated");
    }

    /// A buffer with bytes in it.
    fn filled(&self, bytes: &[u8], adapter: bool) -> ElanAddr {
        let at = self.buffer(bytes.len() as u64, adapter);
        let stored = self.pe.elan3().store(at, bytes);
        stored.expect("it was allocated");
        at
    }

    pub async fn play(
        &self,
        stage: &Stage,
        number: usize,
        phase: &ProgramPhase,
    ) -> Result<(), String> {
        let mut begun = Vec::new();
        for (place, step) in phase.steps[me(&self.pe) as usize].iter().enumerate() {
            let at = (number, place);
            stage.waits(me(&self.pe), Some(at));
            if let ProcessOperation::Collective(call) = step.act {
                let group = self.groups[call.group].as_ref();
                let group = group.expect("it is in the group");
                match call.call(&self.pe, group, self.area).await {
                    Ok(outcome) => stage.note(&self.pe, at, Observation::Collective(outcome)),
                    Err(why) => {
                        stage.note(&self.pe, at, Observation::Failed(why.clone(), None));
                        return Err(why);
                    }
                }
                continue;
            }
            let one = self.begin(stage, number as u32, step).await;
            let from = step.act.partner();
            if phase.blocking {
                stage.waits_for(me(&self.pe), from);
                self.end(stage, at, one).await;
            } else {
                begun.push((at, from, one));
            }
        }
        begun.sort_by_key(|(_, _, one)| one.rank());
        for (at, from, one) in begun {
            stage.waits(me(&self.pe), Some(at));
            stage.waits_for(me(&self.pe), from);
            self.end(stage, at, one).await;
        }
        Ok(())
    }

    async fn begin(&self, stage: &Stage, phase: u32, step: &ProcessStep) -> PendingOperation {
        let (elan, elan3, op) = (self.pe.elan(), self.pe.elan3(), step.op);
        match step.act {
            ProcessOperation::Send { .. } | ProcessOperation::Receive { .. } => {
                self.begin_message(phase, step)
            }
            ProcessOperation::Put { to, by } => {
                let from = self.filled(&bytes(op, to.length), false);
                let (vp, place, size) = (pid(to.process), self.place(to), Bytes::new(to.length));
                match by {
                    CallLibrary::Elan => {
                        PendingOperation::Put(elan.put(vp, from, place, size), from, to)
                    }
                    CallLibrary::Elan3 => {
                        PendingOperation::Transfer(elan3.put(vp, from, place, size), from, to)
                    }
                    CallLibrary::Shmem => {
                        let put = self.pe.shmem().put(place, from, size, to.process).await;
                        match put {
                            Ok(()) => PendingOperation::Quiet(from, to),
                            Err(error) => {
                                self.free(from);
                                PendingOperation::Over(
                                    self.failed_put(stage, words(error), to).await,
                                )
                            }
                        }
                    }
                }
            }
            ProcessOperation::Get { from, by } => {
                let to = self.buffer(from.length, false);
                let place = self.place(from);
                let (vp, size) = (pid(from.process), Bytes::new(from.length));
                match by {
                    CallLibrary::Elan => {
                        PendingOperation::Get(elan.get(vp, place, to, size), to, from.length)
                    }
                    CallLibrary::Elan3 => PendingOperation::GetTransfer(
                        elan3.get(vp, place, to, size),
                        to,
                        from.length,
                    ),
                    CallLibrary::Shmem => {
                        let got = self.pe.shmem().get(to, place, size, from.process).await;
                        PendingOperation::Over(self.got(got.map_err(words), to, from.length))
                    }
                }
            }
            ProcessOperation::Notify { to, by } => {
                let from = self.filled(&bytes(op, to.length), false);
                let (vp, place, size) = (pid(to.process), self.place(to), Bytes::new(to.length));
                let block = elan::memory::EVENT_BLOCK;
                let event = self.first_event.offset(block * stage.events[&op]);
                if by == CallLibrary::Elan3 {
                    let put = elan3.put_notify(vp, from, place, size, event);
                    PendingOperation::Transfer(put, from, to)
                } else {
                    let put = elan.put_notify(vp, from, place, size, event);
                    PendingOperation::Put(put, from, to)
                }
            }
            ProcessOperation::Spread { to, last } => {
                let from = self.filled(&bytes(op, to.length), false);
                let (node, place) = (self.pe.node(), self.place(to));
                let block = elan::memory::EVENT_BLOCK;
                let event = self.first_event.offset(block * stage.events[&op]);
                let there = |vp, at| elan3.address(pid(vp), at).expect("it is of the job");
                let last = there(last, place).node;
                let size = Bytes::new(to.length);
                let dma = Dma::broadcast(node.at(from), there(to.process, place), last, size);
                let sent = node.dma(dma.notify_at(there(to.process, event)));
                PendingOperation::Spread(sent, from)
            }
            ProcessOperation::Notified { at } => PendingOperation::Notified(self.events[&op], at),
            ProcessOperation::Enqueue { to, length } => {
                let from = self.filled(&queued(me(&self.pe), op, length), true);
                let size = Bytes::new(length);
                PendingOperation::Enqueue(elan.queue_tx(pid(to), self.queue.at(), from, size), from)
            }
            ProcessOperation::Dequeue => PendingOperation::Dequeue,
            ProcessOperation::Add { to, word, bit } => {
                let added = self.pe.shmem().fadd(self.word(word), 1 << bit, to).await;
                PendingOperation::Over(match added {
                    Ok(word) => Observation::Word(word),
                    Err(error) => Observation::Failed(words(error), None),
                })
            }
            ProcessOperation::Compute(time) => {
                self.pe.compute(Time::from_ns(time)).await;
                PendingOperation::Over(Observation::Done)
            }
            ProcessOperation::Collective(_) => unreachable!("it is made at once"),
        }
    }

    fn begin_message(&self, phase: u32, step: &ProcessStep) -> PendingOperation {
        let tport = self.pe.elan().tport();
        match step.act {
            ProcessOperation::Send {
                to,
                label,
                length,
                synchronous,
                adapter,
                mpi,
            } => {
                let from = self.filled(&bytes(step.op, length), adapter);
                let (tag, size) = (label.tag(phase), Bytes::new(length));
                if mpi {
                    let (mpi, tag) = (self.pe.mpi(), tag as u32);
                    let request = if synchronous {
                        mpi.issend(to, tag, from, size)
                    } else {
                        mpi.isend(to, tag, from, size)
                    };
                    return PendingOperation::MpiSend(request, from);
                }
                let mode = if synchronous {
                    Mode::Synchronous
                } else {
                    Mode::Standard
                };
                let tx = tport.tx_start(mode, pid(to), (me(&self.pe), tag), from, size);
                PendingOperation::Send(tx, from)
            }
            ProcessOperation::Receive {
                from,
                label,
                room,
                adapter,
                mpi,
            } => {
                let buffer = room.map(|room| self.buffer(room, adapter));
                if let (true, Some(at), Some(room)) = (mpi, buffer, room) {
                    let source = (label.class == 0).then_some(from);
                    let tag = label.tag(phase) as u32;
                    let request = self.pe.mpi().irecv(source, tag, at, Bytes::new(room));
                    return PendingOperation::MpiReceive(request, at);
                }
                let room = match (buffer, room) {
                    (Some(at), Some(length)) => Room::Buffer(at, Bytes::new(length)),
                    _ => Room::System,
                };
                PendingOperation::Receive(tport.rx_start(label.select(phase, from), room), buffer)
            }
            _ => unreachable!("it is no message"),
        }
    }

    /// A put has failed: reads the range once all bytes that its packets have brought are in
    /// memory.
    async fn failed_put(&self, stage: &Stage, why: String, to: Range) -> Observation {
        self.pe.node().sleep(Time::from_us(50)).await;
        Observation::Failed(why, stage.seen(to))
    }

    /// A get's bytes.
    fn got(&self, result: Result<(), String>, to: ElanAddr, length: u64) -> Observation {
        let bytes = self.load(to, length);
        self.free(to);
        match result {
            Ok(()) => Observation::Bytes(bytes),
            Err(why) => Observation::Failed(why, None),
        }
    }

    /// Waits for a pending operation's end, and notes it.
    async fn end(&self, stage: &Stage, at: StepPlace, begun: PendingOperation) {
        let (elan, elan3) = (self.pe.elan(), self.pe.elan3());
        let done = |result: Result<(), String>| match result {
            Ok(()) => Observation::Done,
            Err(why) => Observation::Failed(why, None),
        };
        let put = async |result: Result<(), String>, to| match result {
            Ok(()) => Observation::Done,
            Err(why) => self.failed_put(stage, why, to).await,
        };
        let found = match begun {
            PendingOperation::Over(found) => found,
            PendingOperation::Send(tx, from) => {
                let sent = elan.tport().tx_wait(tx).await;
                self.free(from);
                done(sent.map_err(words))
            }
            PendingOperation::MpiSend(request, from) => {
                let sent = self.pe.mpi().wait(request).await;
                self.free(from);
                done(sent.map(drop).map_err(words))
            }
            PendingOperation::Receive(rx, buffer) => self.received(rx, buffer).await,
            PendingOperation::MpiReceive(request, buffer) => {
                let received = self.pe.mpi().wait(request).await;
                let found = match received {
                    Ok(status) => Observation::Message {
                        sender: status.source,
                        tag: status.tag.into(),
                        bytes: self.load(buffer, status.size.as_u64()),
                    },
                    Err(error) => Observation::Failed(words(error), None),
                };
                self.free(buffer);
                found
            }
            PendingOperation::Put(remote, from, to) => {
                let over = elan.wait(remote).await;
                self.free(from);
                put(over.map_err(words), to).await
            }
            PendingOperation::Transfer(transfer, from, to) => {
                let over = transfer.await;
                self.free(from);
                put(over.map_err(words), to).await
            }
            PendingOperation::Spread(sent, from) => {
                let over = sent.await;
                self.free(from);
                done(over.map_err(words))
            }
            PendingOperation::Quiet(from, to) => {
                let over = self.pe.shmem().quiet().await;
                self.free(from);
                put(over.map_err(words), to).await
            }
            PendingOperation::Get(remote, to, length) => {
                let over = elan.wait(remote).await;
                self.got(over.map_err(words), to, length)
            }
            PendingOperation::GetTransfer(transfer, to, length) => {
                let over = transfer.await;
                self.got(over.map_err(words), to, length)
            }
            PendingOperation::Notified(event, range) => {
                elan3.wait_event(event).await;
                Observation::Bytes(self.board(range))
            }
            PendingOperation::Enqueue(remote, from) => {
                let over = elan.wait(remote).await;
                self.free(from);
                done(over.map_err(words))
            }
            PendingOperation::Dequeue => Observation::Bytes(self.queue.wait().await.into_vec()),
        };
        stage.note(&self.pe, at, found);
    }

    async fn received(&self, rx: Rx, buffer: Option<ElanAddr>) -> Observation {
        let tport = self.pe.elan().tport();
        let received = match tport.rx_wait(rx).await {
            Ok(received) => received,
            Err(error) => {
                if let Some(buffer) = buffer {
                    self.free(buffer);
                }
                return Observation::Failed(words(error), None);
            }
        };
        assert_eq!(received.process, pid(received.sender));
        let at = received.at.expect("it is there");
        let bytes = self.load(at, received.size.as_u64());
        match buffer {
            Some(buffer) => self.free(buffer),
            None => tport.buf_free(at).expect("it is a buffer of the system"),
        }
        Observation::Message {
            sender: received.sender,
            tag: received.tag,
            bytes,
        }
    }

    /// Waits for all others: in each round for one twice as far away.
    pub async fn meet(&self, stage: &Stage, phase: u32) -> Result<(), String> {
        let (tport, me, all) = (self.pe.elan().tport(), me(&self.pe), self.pe.nvps());
        let nowhere = self.boards[0];
        for round in (0..32_u32).take_while(|&round| 1 << round < all) {
            let (far, tag) = (1 << round, MessageLabel::meeting(phase, round));
            let (from, to) = ((me + all - far) % all, (me + far) % all);
            let select = exactly(from, tag);
            let rx = tport.rx_start(select, Room::Buffer(nowhere, Bytes::ZERO));
            let tx = tport.tx_start(Mode::Standard, pid(to), (me, tag), nowhere, Bytes::ZERO);
            // An error is noted here first: others may wait forever then.
            tport.tx_wait(tx).await.map_err(words)?;
            stage.waits_for(me, Some(from));
            tport.rx_wait(rx).await.map_err(words)?;
            stage.waits_for(me, None);
        }
        Ok(())
    }
}
