//! How the inputter takes a transaction packet; see [`crate::adapter::thread_packets`].

use super::Inputter;
use crate::adapter::event_unit::Occurrence;
use crate::adapter::{AdapterEvent, Wires};
use crate::dma::DmaError;
use crate::in_flight::ThreadPacketNumber;
use crate::memory::{Access, AccessFault, Address, Capability, ElanAddr, Placement, Reason};
use crate::transaction::{Answer, Transaction, WORD};
use fabric::{Ack, PacketId};
use units::Bytes;

impl Inputter {
    /// A thread's packet has arrived.
    pub fn thread_packet_arrived(
        &mut self,
        wires: &mut Wires,
        packet: PacketId,
        token: ThreadPacketNumber,
    ) {
        let sent = wires.flight.thread_packet(token);
        if let Some(ack) = sent.answered {
            wires.recoveries().repeated += 1;
            return wires.answer(packet, ack);
        }
        if self.refusing {
            return wires.answer(packet, Ack::Discarded);
        }
        let sent = wires.flight.thread_packet(token);
        let (to, capability) = (sent.to, sent.capability);
        if sent.last.is_some() {
            return self.examine_broadcast(wires, packet, token);
        }
        let transactions = std::mem::take(&mut sent.transactions);
        let Some(result) = self.take(wires, to, capability, &transactions) else {
            wires.flight.thread_packet(token).transactions = transactions;
            return wires.answer(packet, Ack::Discarded);
        };
        let ack = match result {
            Err(_) => Ack::Error,
            Ok(Answer { passed: true, .. }) => Ack::Accepted,
            Ok(Answer { passed: false, .. }) => Ack::TestFailed,
        };
        let sent = wires.flight.thread_packet(token);
        sent.result = Some(result.map_err(DmaError::from));
        sent.answered = Some(ack);
        wires.answer(packet, ack);
    }

    /// Examines transactions, and executes them if their conditions hold; `None` if a queue that
    /// they need is full.
    pub fn take(
        &mut self,
        wires: &mut Wires,
        process: Address,
        capability: Capability,
        transactions: &[Transaction],
    ) -> Option<Result<Answer, AccessFault>> {
        if self.is_full(wires, process, capability, transactions) {
            return None;
        }
        let examined = self.examine(wires, process, capability, transactions);
        Some(examined.map(|passed| {
            let found = if passed {
                self.execute(wires, process, transactions)
            } else {
                None
            };
            Answer { passed, found }
        }))
    }

    /// Puts a message into the queue at an address; `None` if the queue is full.
    pub fn take_in(
        &mut self,
        wires: &mut Wires,
        at: Address,
        capability: Capability,
        message: &[u8],
    ) -> Option<Result<(), AccessFault>> {
        let length = Bytes::new(message.len() as u64);
        match self.queue_at(wires, at, length, capability) {
            Err(fault) => Some(Err(fault)),
            Ok(queue) if !self.queues[queue].has_room() => None,
            Ok(queue) => {
                self.enqueue(wires, queue, message.into());
                Some(Ok(()))
            }
        }
    }

    /// Whether a queue that some transactions need is full.
    fn is_full(
        &self,
        wires: &Wires,
        process: Address,
        capability: Capability,
        transactions: &[Transaction],
    ) -> bool {
        transactions.iter().any(|transaction| match *transaction {
            Transaction::Insert { queue, .. } => {
                let found =
                    self.queue_at(wires, at(process, queue), transaction.data(), capability);
                found.is_ok_and(|queue| !self.queues[queue].has_room())
            }
            _ => false,
        })
    }

    /// Checks that a process's memory has all that some transactions need; returns whether their
    /// conditions hold.
    pub(super) fn examine(
        &self,
        wires: &Wires,
        process: Address,
        capability: Capability,
        transactions: &[Transaction],
    ) -> Result<bool, AccessFault> {
        let memory = &wires.memory;
        let word = |elan, access| -> Result<Address, AccessFault> {
            let at = at(process, elan);
            match memory.translate(at, WORD, access, capability)? {
                Placement::Adapter => Ok(at),
                Placement::Main => Err(AccessFault::new(at, WORD, access, Reason::NotAdapter)),
            }
        };
        let mut holds = true;
        for &transaction in transactions {
            match transaction {
                Transaction::Write { to, .. } | Transaction::Add { to, .. } => {
                    word(to, Access::RemoteWrite)?;
                }
                Transaction::SetEvent { at: event } => {
                    memory.event_at(at(process, event), Access::RemoteEvent, capability)?;
                }
                Transaction::Insert { queue, .. } => {
                    self.queue_at(wires, at(process, queue), transaction.data(), capability)?;
                }
                Transaction::Test {
                    at,
                    comparison,
                    word: value,
                } => {
                    let at = word(at, Access::RemoteRead)?;
                    holds &= comparison.holds(memory.load_word(at), value);
                }
            }
        }
        Ok(holds)
    }

    /// Executes transactions that have been examined; returns the word that the last storing
    /// transaction has found.
    pub(super) fn execute(
        &mut self,
        wires: &mut Wires,
        process: Address,
        transactions: &[Transaction],
    ) -> Option<u64> {
        let mut found = None;
        for &transaction in transactions {
            match transaction {
                Transaction::Write { to, word } => {
                    let to = at(process, to);
                    found = Some(wires.memory.load_word(to));
                    wires.memory.store_word(to, word);
                }
                Transaction::Add { to, word } => {
                    let to = at(process, to);
                    let before = wires.memory.load_word(to);
                    found = Some(before);
                    wires.memory.store_word(to, before.wrapping_add(word));
                }
                Transaction::SetEvent { at: event } => {
                    let event = wires.memory.known_event(at(process, event));
                    let adapter = &wires.config.adapter;
                    let time = wires.now + adapter.input + adapter.event;
                    wires.schedule(time, AdapterEvent::Occurred(Occurrence::Event(event)));
                }
                Transaction::Insert { queue, words } => {
                    let queue = wires.memory.known_queue(at(process, queue));
                    let message = words.iter().flat_map(|word| word.to_le_bytes());
                    self.enqueue(wires, queue, message.collect());
                }
                Transaction::Test { .. } => {}
            }
        }
        found
    }
}

/// A place in a process's memory.
fn at(process: Address, elan: ElanAddr) -> Address {
    Address { elan, ..process }
}
