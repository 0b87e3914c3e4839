//! What ranks order and what they are told: records of one length, each with its bytes behind it.
//!
//! One form serves all kinds. A table says which fields have a meaning in which kind; all other fields are 0.
//!
//! | order | `id` | `peer` | `tag`, `mask` | `data` | `key`, `offset` | `size` | payload, and its `checksum` |
//! |---|---|---|---|---|---|---|---|
//! | `Send` | of the send; 0: nobody waits | to whom | tag | completion data | | bytes | all bytes |
//! | `Receive` | of the receive | from whom, or [`ANYBODY`](Order::ANYBODY) | tag, bits that count | | | room | |
//! | `Peek` | of the peek | as `Receive` | as `Receive` | | | | |
//! | `Claim` | of the peek that claimed it | | | | | room | |
//! | `Cancel` | of the receive or probe | | | | | | |
//! | `Put` | of the put | to whom | a number that the other rank is told, or 0 | | which memory, where in it | bytes | all bytes |
//! | `Get` | of the get | from whom | | | the same | bytes | |
//! | `Reply` | of the `Read` | | | | | bytes | all bytes |
//! | `Called` | which call | | | | `key`: when it began | | |
//! | `Wait` | with [`Flags::MEETING`]: which meeting | | | | `key`: until when at most | ranks that meet | |
//! | `More` | | | | | | | |
//! | `Differs` | the report's `message` | | | | | bytes | what was stored |
//! | `Finish` | | | | | | | |
//! | `Group` | 0: nobody waits | | | | `key`: the group | | the ranks of its members, as words of 32 bits; nothing: the rank leaves it |
//! | `Collective` | of the call | the root, by its place in the group | which call, 1 for by hardware | the reduction | the group, bytes of an element | bytes | this member's bytes |
//! | `Atomic` | of the atomic | on whom | `tag`: which ([`Atomic`](crate::Atomic)); `mask`: the operand | | which memory, where in it | bytes of the word: 4 or 8 | the word to compare with, in 8 bytes |
//! | `Queue` | | | | slots | `key`: the queue's name | bytes of a slot | |
//! | `Enqueue` | of the insertion | to whom | | | `key`: the queue's name | bytes | all bytes |
//! | `Dequeued` | | | | | `key`: the queue's name | | |
//! | `Refuses` | the report's `message` | who wrote | | | which memory, where in it | bytes | |
//!
//! | report | `id` | `peer` | `tag` | `data` | `key`, `offset` | `size` | payload |
//! |---|---|---|---|---|---|---|---|
//! | `Sent` | of the send | | | | | | |
//! | `Received` | of the receive | who sent it | tag | completion data | | of the message | its bytes |
//! | `Untagged` | | who sent it | | completion data | | of the message | its bytes |
//! | `Found` | of the peek | who sent it | tag | completion data | | of the message | |
//! | `Stored` | of the put | | | | | | |
//! | `Got` | of the get | | | | | of the get | its bytes |
//! | `Write` | | | the put's number | | which memory, where in it | bytes | all bytes |
//! | `Read` | of the request | | | | which memory, where in it | bytes | |
//! | `Collected` | of the call or group | | | | | of the result | the result, to whom it is due |
//! | `Fetched` | of the atomic | | the old word | | | | |
//! | `Enqueued` | of the insertion | | | | | | |
//! | `Combine` | of the request | | | | | bytes of both | two vectors, one behind the other |
//! | `Arrived` | | | | | `key`: the queue's name | bytes | its bytes |
//!
//! An operation that ends as [`Status::Lost`] brings no message. Its report names the `peer`, and the payload says why, in
//! words.
//!
//! Reports with payload also say which `message` of the run it is, and the `checksum` ([`crate::checksum`]) that its sender gave.
//! A payload that does not fit into an area comes in [parts](crate::Part), each with its record.
//!
//! A `Peek` with [`Flags::BLOCKING`] is a *probe*: it ends when there is such a message, and claims none.
//!
//! *Completion data* are 32 bits that the MPI library sends beside a message (`FI_REMOTE_CQ_DATA`); all ones stand for none.

use bytemuck::{CheckedBitPattern, Pod, Zeroable, checked::try_cast};

/// Bytes of a slot's area in each direction; pages that nobody uses take no memory.
pub const BATCH: usize = 1 << 20;

/// What a rank orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum OrderKind {
    /// Send a message.
    Send = 1,
    /// Post a receive.
    Receive = 2,
    /// Look for a message that has come. With [`Flags::CLAIM`], keep it for an [`OrderKind::Claim`]; with [`Flags::BLOCKING`],
    /// wait for one.
    Peek = 3,
    /// Receive the message that a peek claimed.
    Claim = 4,
    /// Take back a receive or probe that has no message yet; it ends as [`Status::Cancelled`], or as without this order.
    Cancel = 5,
    /// Store bytes in the memory of another rank.
    Put = 6,
    /// Fetch bytes from the memory of another rank.
    Get = 7,
    /// The bytes that the simulator wanted to read.
    Reply = 8,
    /// An MPI call has ended: for the record.
    Called = 9,
    /// The area is full, and the rank has more orders: it wants the turn back at once.
    More = 10,
    /// The turn is over: go on when there is a report, or at a moment at the latest; with [`Flags::SLEEP`] not before it.
    Wait = 11,
    /// The rank has left MPI: it gives no more orders, unless it comes back.
    Finish = 12,
    /// The bytes that were stored, since their checksum is not that of the bytes that were sent.
    Differs = 13,
    /// A group of ranks ([`crate::collective`]): each member names the group once, before its first call of the group, and says
    /// at last that it will not call it any more. With an `id` the rank wants to hear whether there is room for the group.
    Group = 14,
    /// A collective call of a group.
    Collective = 15,
    /// Change a word in the memory of another rank, in one step, and fetch the old word.
    Atomic = 16,
    /// Make a queue for messages of other ranks.
    Queue = 17,
    /// Put a message into a queue of another rank.
    Enqueue = 18,
    /// The program has taken one message out of a queue: its slot is free.
    Dequeued = 19,
    /// Another rank has put bytes where this rank has no memory for others. The run ends, and that rank is to blame.
    Refuses = 20,
}

/// What a rank is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum ReportKind {
    /// A send has ended: its buffer may be used again.
    Sent = 1,
    /// A receive has ended.
    Received = 2,
    /// An untagged message has come.
    Untagged = 3,
    /// A peek has ended; [`Status::Nothing`] if there was no such message.
    Found = 4,
    /// A put has ended.
    Stored = 5,
    /// A get has ended.
    Got = 6,
    /// Store these bytes in memory of this rank: another rank has put them there.
    Write = 7,
    /// Reply with bytes of this rank's memory: another rank gets them.
    Read = 8,
    /// A collective call has ended, or a group is made; [`Status::Nothing`] if there is no room for it.
    Collected = 9,
    /// An atomic has ended.
    Fetched = 10,
    /// An insertion into a queue has ended for its sender.
    Enqueued = 11,
    /// A message is the first one in a queue of this rank.
    Arrived = 12,
    /// Reply with the second of two vectors, into which the function of the rank's reduction has combined both.
    Combine = 13,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum Status {
    /// It ended well.
    Done = 0,
    /// The message was longer than its room, and nothing of it was stored.
    Truncated = 1,
    /// The operation was taken back.
    Cancelled = 2,
    /// There is no such message.
    Nothing = 3,
    /// The simulated adapter, or the rank at the other end, refused it.
    Refused = 4,
    /// Parts of the simulated machine have failed.
    Lost = 5,
}

/// Flags of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// The send ends when it is matched.
    pub const SYNCHRONOUS: Flags = Flags(1);
    /// The message is untagged.
    pub const UNTAGGED: Flags = Flags(2);
    /// The program gave the order in a call that does not block, and that makes a request.
    pub const REQUEST: Flags = Flags(4);
    /// Keep the message that is found.
    pub const CLAIM: Flags = Flags(8);
    /// The rank does not go on before the moment.
    pub const SLEEP: Flags = Flags(16);
    /// The rank waits in a blocking call of MPI. With a peek: the peek ends only when there is such a message.
    pub const BLOCKING: Flags = Flags(32);
    /// The wait before still goes on: the turn only came for the rank to do what the simulator wanted.
    pub const STILL: Flags = Flags(64);
    /// The rank waits until other ranks wait for the same: they meet outside the simulation.
    pub const MEETING: Flags = Flags(128);
    /// Other threads of the rank's process run, and one of them may do what the rank waits for.
    pub const THREADS: Flags = Flags(256);
    /// The rank goes on also when others have written into its memory since it was last told so ([`ReportKind::Write`]).
    pub const WRITES: Flags = Flags(512);
    /// The rank only seems to wait, by what its program does in the host's time: the run cannot be repeated for certain.
    pub const GUESSED: Flags = Flags(1024);

    /// Whether all flags of another set are here.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags of both sets.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// An order as it lies in memory; see the head of the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs)] // the table above
pub struct Order {
    pub kind: u32,
    pub flags: u32,
    /// The local time at which the order was given.
    pub time: u64,
    pub id: u64,
    pub tag: u64,
    pub mask: u64,
    pub key: u64,
    pub offset: u64,
    pub size: u64,
    pub peer: u32,
    pub data: u32,
    pub checksum: u64,
}

impl Order {
    /// No rank in particular.
    pub const ANYBODY: u32 = u32::MAX;

    /// An order with nothing but its kind and time.
    pub fn new(kind: OrderKind, time: u64) -> Self {
        Order {
            kind: kind as u32,
            time,
            ..Order::default()
        }
    }

    /// The order's kind; nothing if there is no such kind.
    pub fn kind(&self) -> Option<OrderKind> {
        try_cast(self.kind).ok()
    }

    /// Whether the order has these flags.
    pub fn has(&self, flags: Flags) -> bool {
        Flags(self.flags).has(flags)
    }
}

/// A report as it lies in memory; see the head of the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs)] // the table above
pub struct Report {
    pub kind: u32,
    pub status: u32,
    /// When the reported thing happened.
    pub time: u64,
    pub id: u64,
    pub tag: u64,
    pub key: u64,
    pub offset: u64,
    pub size: u64,
    pub peer: u32,
    pub data: u32,
    pub checksum: u64,
    pub message: u64,
}

impl Report {
    /// The report that an operation has ended.
    pub fn new(kind: ReportKind, status: Status, time: u64, id: u64) -> Self {
        Report {
            kind: kind as u32,
            status: status as u32,
            time,
            id,
            ..Report::default()
        }
    }

    /// What the report says.
    pub fn kind(&self) -> Option<ReportKind> {
        try_cast(self.kind).ok()
    }

    /// How the operation ended.
    pub fn status(&self) -> Status {
        try_cast(self.status).unwrap_or(Status::Refused)
    }
}
