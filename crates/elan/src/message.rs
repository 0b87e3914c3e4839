//! # Transactions, and the packets that threads make of them
//!
//! A packet is a list of transactions with one answer (000 s2.2.1; public Elan3 headers). Those of DMAs are blocks of
//! payload and their notification ([`crate::dma`], [`crate::get`]). The thread processor makes others, with instructions
//! of its own (000 s2.1): a *message* is such a packet, up to [`MOST_TRANSACTIONS`] long, to one process. The inputter
//! takes it as a whole:
//!
//! 1. it translates every address; one that faults, and the packet is refused for good and changes nothing;
//! 2. it tests the conditions; if one fails, the answer is *test failed* and nothing changes;
//! 3. it answers *accepted* and executes the rest, in order.
//!
//! One that finds no room in a queue is *discarded* before it is tested, and sent again as any refused packet.
//!
//! A message to a range of nodes has its answers between 2 and 3, see [`crate::broadcast`].
//!
//! Words have 8 bytes, lie in adapter memory, and are little-endian.

use crate::NodeId;
use crate::cluster::{Happening, World};
use crate::context::Capability;
use crate::dma::{DmaError, Token};
use crate::event::News;
use crate::memory::{Address, ElanAddr, Placement};
use crate::mmu::{Access, Fault, Reason};
use fabric::{Ack, Destination, PacketId, PacketSpec, Priority};
use kernel::Signal;
use units::Bytes;

/// Most transactions of a message: as many as a full packet of a DMA has.
pub const MOST_TRANSACTIONS: usize = 5;

/// A word of a transaction.
pub const WORD: Bytes = Bytes::new(8);

/// Words that a transaction puts into a queue.
pub const INSERTED: usize = 3;

/// One transaction of a message. Addresses are those of the process that the message goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// Stores a word.
    Write {
        /// Where.
        to: ElanAddr,
        /// What.
        word: u64,
    },
    /// Adds to a word, modulo 2^64.
    Add {
        /// Where.
        to: ElanAddr,
        /// How much.
        word: u64,
    },
    /// Lets an event occur.
    SetEvent {
        /// Where the event lies.
        at: ElanAddr,
    },
    /// Puts a small message into a queue (public Elan3 headers); not in messages to a range of nodes.
    Insert {
        /// Where the queue's slots begin.
        queue: ElanAddr,
        /// The message.
        words: [u64; INSERTED],
    },
    /// The condition of the whole packet: whether a word compares so to a value.
    Test {
        /// Where the word lies.
        at: ElanAddr,
        /// How it is compared.
        comparison: Comparison,
        /// With what.
        word: u64,
    },
}

/// The conditions that the inputter can test (public Elan3 headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The word is equal to the value.
    Equal,
    /// It is another.
    NotEqual,
    /// It is less, as an unsigned number.
    Less,
    /// It is not less, as an unsigned number.
    NotLess,
}

impl Comparison {
    /// Whether a word satisfies the condition.
    pub fn holds(self, word: u64, value: u64) -> bool {
        match self {
            Comparison::Equal => word == value,
            Comparison::NotEqual => word != value,
            Comparison::Less => word < value,
            Comparison::NotLess => word >= value,
        }
    }
}

impl Transaction {
    /// Bytes that it carries besides its header.
    pub fn data(self) -> Bytes {
        match self {
            Transaction::SetEvent { .. } => Bytes::ZERO,
            Transaction::Insert { .. } => WORD * INSERTED as u64,
            _ => WORD,
        }
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether all its conditions held; if not, it changed nothing.
    pub passed: bool,
    /// The word that its last [`Transaction::Write`] or [`Transaction::Add`] found, which the acknowledgement brings back
    /// (000 s2.2.1: "return the result of the remote operation to the source").
    pub found: Option<u64>,
}

/// A message under way.
pub(crate) struct Message {
    pub source: NodeId,
    pub to: Address,
    /// Of a broadcast, the last of its nodes.
    pub last: Option<NodeId>,
    pub capability: Capability,
    pub transactions: Box<[Transaction]>,
    pub priority: Priority,
    refusals: u32,
    /// Whether a thread waits for its answer.
    pub awaited: bool,
    /// Destinations of a broadcast that have still to hear of its end.
    pub ends: u32,
    /// Whether its thread has the answer.
    pub taken: bool,
    pub result: Option<Result<Answer, DmaError>>,
    /// What its thread waits for.
    pub done: Signal,
}

/// Tokens of messages are those of packets of DMAs with this bit.
pub(crate) const MESSAGE: Token = 1 << 63;

impl World {
    /// Sends a message; `to` names the process, or that of the first node if there is a `last`.
    pub(crate) fn send_message(
        &mut self,
        source: NodeId,
        (to, last): (Address, Option<NodeId>),
        capability: Capability,
        transactions: Box<[Transaction]>,
        priority: Priority,
    ) -> Token {
        let message = Message {
            source,
            to,
            last,
            capability,
            transactions,
            priority,
            refusals: 0,
            awaited: true,
            ends: 0,
            taken: false,
            result: None,
            done: Signal::new(),
        };
        let token = self.messages.insert(message) as Token | MESSAGE;
        self.offer_message(token);
        token
    }

    pub(crate) fn message(&mut self, token: Token) -> &mut Message {
        &mut self.messages[(token & !MESSAGE) as usize]
    }

    /// Hands a message to the fabric.
    pub(crate) fn offer_message(&mut self, token: Token) {
        let format = self.config.packet;
        let message = self.message(token);
        let data = message.transactions.iter().map(|one| one.data());
        let first = message.to.node;
        let destination = match message.last {
            Some(last) => Destination::range(first, last),
            None => first.into(),
        };
        let spec = PacketSpec {
            source: message.source.into(),
            destination,
            flits: format.flits_of(data),
            priority: message.priority,
            awaits_end: destination.is_broadcast(),
            token,
        };
        if spec.awaits_end {
            message.ends += destination.count();
            message.result = None;
        }
        let cycle = self.cycle_from(self.now());
        self.fabric.offer(cycle, spec);
    }

    /// A message has arrived.
    pub(crate) fn message_arrived(&mut self, node: NodeId, packet: PacketId, token: Token) {
        let refusing = self.adapters[node as usize].inputter.refusing;
        let message = self.message(token);
        let (to, capability) = (message.to, message.capability);
        if refusing {
            return self.answer(packet, Ack::Discarded);
        }
        if message.last.is_some() {
            return self.examine_broadcast(node, packet, token);
        }
        let transactions = std::mem::take(&mut message.transactions);
        if self.is_full(to, capability, &transactions) {
            self.message(token).transactions = transactions;
            return self.answer(packet, Ack::Discarded);
        }
        let (ack, result) = match self.examine(to, capability, &transactions) {
            Err(fault) => (Ack::Error, Err(fault.into())),
            Ok(false) => (
                Ack::TestFailed,
                Ok(Answer {
                    passed: false,
                    found: None,
                }),
            ),
            Ok(true) => {
                let found = self.execute(to, &transactions);
                let passed = true;
                (Ack::Accepted, Ok(Answer { passed, found }))
            }
        };
        self.message(token).result = Some(result);
        self.answer(packet, ack);
    }

    /// Whether a queue that some transactions need is full.
    fn is_full(
        &self,
        process: Address,
        capability: Capability,
        transactions: &[Transaction],
    ) -> bool {
        transactions.iter().any(|transaction| match *transaction {
            Transaction::Insert { queue, .. } => {
                let at = Address {
                    elan: queue,
                    ..process
                };
                let found = self.queue_at(at, transaction.data(), capability);
                found.is_ok_and(|(_, room)| !room)
            }
            _ => false,
        })
    }

    /// Whether a process's memory has all that some transactions need, and then whether their conditions hold.
    pub(crate) fn examine(
        &self,
        process: Address,
        capability: Capability,
        transactions: &[Transaction],
    ) -> Result<bool, Fault> {
        let word = |elan, access| -> Result<(), Fault> {
            let at = Address { elan, ..process };
            match self.translate(at, WORD, access, capability)? {
                Placement::Adapter => Ok(()),
                Placement::Main => Err(Fault::new(at, WORD, access, Reason::NotAdapter)),
            }
        };
        let mut holds = true;
        for &transaction in transactions {
            match transaction {
                Transaction::Write { to, .. } | Transaction::Add { to, .. } => {
                    word(to, Access::RemoteWrite)?;
                }
                Transaction::SetEvent { at } => {
                    let at = Address {
                        elan: at,
                        ..process
                    };
                    self.event_at(at, Access::RemoteEvent, capability)?;
                }
                Transaction::Insert { queue, .. } => {
                    let at = Address {
                        elan: queue,
                        ..process
                    };
                    self.queue_at(at, transaction.data(), capability)?;
                }
                Transaction::Test {
                    at,
                    comparison,
                    word: value,
                } => {
                    word(at, Access::RemoteRead)?;
                    let at = Address {
                        elan: at,
                        ..process
                    };
                    holds &= comparison.holds(self.load_word(at), value);
                }
            }
        }
        Ok(holds)
    }

    /// Executes transactions that have been examined; returns the word that the last one that stores has found.
    pub(crate) fn execute(
        &mut self,
        process: Address,
        transactions: &[Transaction],
    ) -> Option<u64> {
        let mut found = None;
        for &transaction in transactions {
            match transaction {
                Transaction::Write { to, word } => {
                    let at = Address {
                        elan: to,
                        ..process
                    };
                    found = Some(self.load_word(at));
                    self.store_word(at, word);
                }
                Transaction::Add { to, word } => {
                    let at = Address {
                        elan: to,
                        ..process
                    };
                    let before = self.load_word(at);
                    found = Some(before);
                    self.store_word(at, before.wrapping_add(word));
                }
                Transaction::SetEvent { at } => {
                    let context = self.adapters[process.node as usize].contexts
                        [process.context.0 as usize]
                        .as_ref();
                    let events = &context.expect("it has been examined").events;
                    let event = crate::EventId {
                        node: process.node,
                        index: events[&at],
                    };
                    let adapter = &self.config.adapter;
                    let at = self.now() + adapter.input + adapter.event;
                    self.schedule(at, process.node, Happening::Occurred(News::Event(event)));
                }
                Transaction::Insert { queue, words } => {
                    let context = self.adapters[process.node as usize].contexts
                        [process.context.0 as usize]
                        .as_ref();
                    let index = context.expect("it has been examined").queues[&queue];
                    let message = words.iter().flat_map(|word| word.to_le_bytes());
                    self.queued(process.node, index, message.collect());
                }
                Transaction::Test { .. } => {}
            }
        }
        found
    }

    /// The answer to a message has arrived.
    pub(crate) fn message_answered(&mut self, token: Token, ack: Ack) {
        let source = self.message(token).source;
        if ack == Ack::Discarded {
            let message = self.message(token);
            let refusals = message.refusals;
            message.refusals += 1;
            let at = self.now() + self.config.adapter.retry_after(refusals);
            self.schedule(at, source, Happening::Retried(token));
        } else {
            let message = self.message(token);
            // Of a broadcast, those who object have said why.
            message.result.get_or_insert(Ok(Answer {
                passed: true,
                found: None,
            }));
            message.done.fire();
            if !message.awaited {
                message.taken = true;
                self.drop_message_if_done(token);
            }
        }
        self.run_engine(source);
    }

    /// The answer to a message, for its thread.
    pub(crate) fn take_answer(&mut self, token: Token) -> Result<Answer, DmaError> {
        let message = self.message(token);
        message.taken = true;
        let result = message.result.expect("it has been answered");
        self.drop_message_if_done(token);
        result
    }

    /// Forgets a message that neither end needs.
    pub(crate) fn drop_message_if_done(&mut self, token: Token) {
        let message = self.message(token);
        if message.taken && message.ends == 0 {
            self.messages.remove((token & !MESSAGE) as usize);
        }
    }
}
