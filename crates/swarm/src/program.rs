//! Programs: the operations of a job's processes, as data.
//!
//! A program runs in phases. Within a phase, processes exchange messages, access each other's
//! memory and make collective calls, with all processes or in groups, while messages are under way;
//! between two phases, all wait for all.
//!
//! Each [`ProcessStep`] belongs to an *operation*: a message is two steps, its send and its
//! receive; a collective call is one step per member. If all steps of an operation are taken out,
//! the rest is a program that still ends: any receive for a message class takes any message in the
//! class, collective calls are made in the order of their operations, and every other operation is
//! independent.

use crate::bytes::bytes;
use crate::collective::GroupCollective;
use elan::ProcessId;
use libelan::elan::tport::Select;
use serde::{Deserialize, Serialize};

/// A process's board length in main memory, and in adapter memory.
pub const BOARDS: [u64; 2] = [16_384, 4096];

/// A process's words that others add to.
pub const WORDS: u32 = 2;

/// Slot length in a process's queue.
pub const SLOT: u64 = 64;

/// Bytes in a queued message for its sender and its operation.
pub const HEAD: u64 = 8;

/// A program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwarmProgram {
    /// Each process's node.
    pub places: Vec<u32>,
    /// Groups by their members. A round's groups are made together and have no common members.
    pub rounds: Vec<Vec<Vec<u32>>>,
    /// Slots in each process's queue.
    pub slots: u32,
    /// The phases.
    pub phases: Vec<ProgramPhase>,
}

impl SwarmProgram {
    /// Process count.
    pub fn processes(&self) -> u32 {
        self.places.len() as u32
    }

    /// All groups; the first has all processes.
    pub fn groups(&self) -> Vec<Vec<u32>> {
        let all = (0..self.processes()).collect();
        let made = self.rounds.iter().flatten().cloned();
        std::iter::once(all).chain(made).collect()
    }

    /// Whether the program may use hardware broadcasts.
    pub fn broadcasts(&self) -> bool {
        let is = |act: &ProcessOperation| {
            matches!(
                act,
                ProcessOperation::Collective(_) | ProcessOperation::Spread { .. }
            )
        };
        self.steps().any(|(_, step)| is(&step.act))
    }

    /// Whether a process posts a broadcast DMA, which a software tree cannot replace.
    pub fn spreads(&self) -> bool {
        self.steps()
            .any(|(_, step)| matches!(step.act, ProcessOperation::Spread { .. }))
    }

    /// The longest transfer in bytes.
    pub fn longest(&self) -> u64 {
        let processes = self.places.len() as u64;
        let lengths = self.steps().map(|(_, step)| match step.act {
            ProcessOperation::Send { length, .. } | ProcessOperation::Enqueue { length, .. } => {
                length
            }
            ProcessOperation::Put { to: range, .. }
            | ProcessOperation::Notify { to: range, .. }
            | ProcessOperation::Spread { to: range, .. } => range.length,
            ProcessOperation::Get { from, .. } => from.length,
            ProcessOperation::Collective(call) => call.longest(processes),
            _ => 0,
        });
        lengths.max().unwrap_or(0)
    }

    /// All steps, each with phase, process and place.
    pub fn steps(&self) -> impl Iterator<Item = ((usize, usize, usize), &ProcessStep)> {
        let phases = self.phases.iter().enumerate();
        phases.flat_map(|(number, phase)| {
            let processes = phase.steps.iter().enumerate();
            processes.flat_map(move |(process, steps)| {
                let steps = steps.iter().enumerate();
                steps.map(move |(place, step)| ((number, process, place), step))
            })
        })
    }
}

/// The operations between two waits of all for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramPhase {
    /// Whether each process ends a step before it begins the next; otherwise it starts all steps,
    /// and then waits for them.
    pub blocking: bool,
    /// Each process's operations, in order.
    pub steps: Vec<Vec<ProcessStep>>,
}

/// A process's part in an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessStep {
    /// The operation, by its number in the program.
    pub op: u32,
    /// The process's operation.
    pub act: ProcessOperation,
}

/// A range on a process's board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The board's process.
    pub process: u32,
    /// 0 is the board in main memory, 1 the board in adapter memory.
    pub board: usize,
    /// The first byte.
    pub at: u64,
    /// How many.
    pub length: u64,
}

/// Which library makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallLibrary {
    /// Elan3lib.
    Elan3,
    /// Elanlib.
    Elan,
    /// Shmem.
    Shmem,
}

/// A process's operation in a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProcessOperation {
    /// Sends a tagged message.
    Send {
        /// The receiver.
        to: u32,
        /// The message's class and tag.
        label: MessageLabel,
        /// Its length.
        length: u64,
        /// Whether the send waits until the message is matched.
        synchronous: bool,
        /// Whether the bytes lie in adapter memory.
        adapter: bool,
        /// Whether MPI sends, not Elanlib.
        mpi: bool,
    },
    /// Receives a tagged message.
    Receive {
        /// The operation's sender.
        from: u32,
        /// The operation's message class and tag.
        label: MessageLabel,
        /// The receive's buffer length; `None` for a system buffer.
        room: Option<u64>,
        /// Whether the buffer is in adapter memory.
        adapter: bool,
        /// Whether MPI receives, not Elanlib.
        mpi: bool,
    },
    /// Puts bytes on a board.
    Put {
        /// Where.
        to: Range,
        /// Which library.
        by: CallLibrary,
    },
    /// Gets bytes from a board.
    Get {
        /// From where.
        from: Range,
        /// Which library.
        by: CallLibrary,
    },
    /// Puts bytes on a board, and sets an event at the board's process.
    Notify {
        /// Where.
        to: Range,
        /// Which library.
        by: CallLibrary,
    },
    /// Puts the same bytes on the boards of all processes on a range of nodes by one broadcast, and
    /// sets an event at each.
    Spread {
        /// Where, at the first node's process.
        to: Range,
        /// The last node's process.
        last: u32,
    },
    /// Waits for the event from an [`ProcessOperation::Notify`] or [`ProcessOperation::Spread`],
    /// and looks at the bytes.
    Notified {
        /// Where.
        at: Range,
    },
    /// Sends a message to a queue.
    Enqueue {
        /// The queue's process.
        to: u32,
        /// The message's length, at least [`HEAD`], at most [`SLOT`].
        length: u64,
    },
    /// Takes a message from the process's queue.
    Dequeue,
    /// Sets a bit in a process's word by an atomic addition. Each operation on a word has its own
    /// bit.
    Add {
        /// The word's process.
        to: u32,
        /// The word's place, below [`WORDS`].
        word: u32,
        /// The bit's place.
        bit: u32,
    },
    /// Makes a collective call with others.
    Collective(GroupCollective),
    /// Computes for a time in nanoseconds.
    Compute(u64),
}

impl ProcessOperation {
    /// The only process whose message a receive takes; `None` if it takes others' messages, or the
    /// act is not a receive.
    pub fn partner(&self) -> Option<u32> {
        match *self {
            ProcessOperation::Receive { from, label, .. } if label.class == 0 => Some(from),
            _ => None,
        }
    }
}

/// The fields that distinguish a message from its sender's others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageLabel {
    /// How receives select messages: 0 by process, sender and tag, 1 by tag, 2 by sender and tag
    /// parity, 3 by sender.
    pub class: u32,
    /// Distinguishes messages within the class, below 4.
    pub tag: u32,
}

/// The places of class and phase in a tag. MPI has classes 0 and 1, and 32-bit tags.
const CLASS: u32 = 6;
const PHASE: u32 = 8;
const LONG: u64 = 1 << 50;

/// The bits for phase and class.
const MASK: u64 = !0x3f;

impl MessageLabel {
    /// The tag on the wire, in a phase.
    pub fn tag(self, phase: u32) -> u64 {
        let long = if self.class > 1 { LONG } else { 0 };
        long | u64::from(phase << PHASE | self.class << CLASS | self.tag)
    }

    /// A receive that takes a sender's message, and only of its class: with any assignment of
    /// messages to receives, all are taken.
    pub fn select(self, phase: u32, from: u32) -> Select {
        let tag = self.tag(phase);
        match self.class {
            0 => exactly(from, tag),
            1 => Select::exactly(None, Some(tag)),
            // Even or odd, for both.
            2 => Select {
                sender_mask: 1,
                sender: from,
                tag_mask: MASK | 1,
                tag,
                ..Select::ANY
            },
            _ => Select {
                tag_mask: MASK,
                ..Select::exactly(Some(from), Some(tag))
            },
        }
    }

    /// The tag for messages by which processes wait for each other.
    pub fn meeting(phase: u32, round: u32) -> u64 {
        u64::from((phase | 1 << 20) << PHASE | round)
    }
}

/// A receive for messages from one process with one tag.
pub fn exactly(from: u32, tag: u64) -> Select {
    Select {
        process: Some(ProcessId::new(from)),
        ..Select::exactly(Some(from), Some(tag))
    }
}

/// A queued message: its sender, its operation, and more bytes.
pub fn queued(from: u32, op: u32, length: u64) -> Vec<u8> {
    let mut message = [from.to_le_bytes(), op.to_le_bytes()].concat();
    message.extend(bytes(op, length - HEAD));
    message
}
