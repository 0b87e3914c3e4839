//! A run's trace: every message, every MPI call, each rank's figures, and a digest over all these.

use crate::groups::CarrierCounts;
use kernel::Digest;
use link::calls::number;
use link::{FileAccess, UntimedFiles};
use units::{Bytes, Time};

/// The tag as a program knows it: the low bits are the program's own, the others the library's.
pub(crate) fn tagged(tag: u64) -> String {
    format!(", tag {}", tag & PROGRAM)
}

/// Tag bits that MPI leaves to programs.
pub(crate) const PROGRAM: u64 = 0x7fff_ffff;

/// A message's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A message with a tag.
    Tagged,
    /// An untagged message from the MPI library to itself, for one-sided calls that are not put or
    /// get, for example.
    Untagged,
    /// A put.
    Put,
    /// A get; its source is the rank that has the bytes.
    Get,
    /// An atomic.
    Atomic,
    /// A message for a queue.
    Queued,
}

impl MessageKind {
    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            MessageKind::Tagged => "tagged",
            MessageKind::Untagged => "untagged",
            MessageKind::Put => "put",
            MessageKind::Get => "get",
            MessageKind::Atomic => "atomic",
            MessageKind::Queued => "queued",
        }
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageRow {
    /// The message's kind.
    pub kind: MessageKind,
    /// The rank that has the bytes before.
    pub source: u32,
    /// The rank that has them afterwards.
    pub destination: u32,
    /// How many bytes.
    pub bytes: Bytes,
    /// The tag, with all that MPI puts into it.
    pub tag: u64,
    /// When the message was ordered.
    pub posted: Time,
    /// When the sender's buffer was free again.
    pub sent: Option<Time>,
    /// When the rank at the other end had the message.
    pub arrived: Option<Time>,
}

/// An MPI call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The rank.
    pub rank: u32,
    /// The call's number in [`link::calls`].
    pub call: u32,
    /// When the call began.
    pub begin: Time,
    /// When the call ended.
    pub end: Time,
}

/// A rank's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankRow {
    /// Messages that it sent, and others' gets from its memory.
    pub sent: u64,
    /// The bytes in the messages that it sent.
    pub bytes_sent: Bytes,
    /// Messages that it received, and others' puts and atomics on its memory.
    pub received: u64,
    /// The bytes in the messages that it received.
    pub bytes_received: Bytes,
    /// Calls to MPI, or to the simulated libraries.
    pub calls: u64,
    /// Time in MPI calls.
    pub in_mpi: Time,
    /// Time that passed because the program read clocks in a row, as loops do that wait; by the
    /// rank's own word.
    pub at_clocks: Time,
    /// Operations on files.
    pub files: FilesRow,
    /// When the rank finished.
    pub end: Time,
}

/// A rank's operations on files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilesRow {
    /// Operations that took simulated time.
    pub operations: u64,
    /// Bytes that they read.
    pub read: u64,
    /// Bytes that they wrote.
    pub written: u64,
    /// The time that they took.
    pub time: Time,
    /// Operations that took no time, and their bytes, by the rank's own word.
    pub untimed: UntimedFiles,
}

/// The calls that Elanlib can carry out, and nonblocking reductions.
const COLLECTIVES: [u32; 14] = [
    number("MPI_Barrier"),
    number("MPI_Bcast"),
    number("MPI_Bcast_c"),
    number("MPI_Reduce"),
    number("MPI_Reduce_c"),
    number("MPI_Allreduce"),
    number("MPI_Allreduce_c"),
    number("MPI_Ibarrier"),
    number("MPI_Ibcast"),
    number("MPI_Ibcast_c"),
    number("MPI_Ireduce"),
    number("MPI_Ireduce_c"),
    number("MPI_Iallreduce"),
    number("MPI_Iallreduce_c"),
];

/// The trace.
pub(crate) struct Trace {
    pub messages: Vec<MessageRow>,
    pub calls: Vec<CallRow>,
    pub ranks: Vec<RankRow>,
    /// When each rank's latest call ended, and its place among the kept calls.
    latest: Vec<(Time, Option<usize>)>,
    /// The ways in which collective calls were carried out.
    pub ways: CarrierCounts,
    /// Whether calls are kept, and not only counted.
    pub keep_calls: bool,
}

impl Trace {
    pub fn new(ranks: u32) -> Self {
        Trace {
            messages: Vec::new(),
            calls: Vec::new(),
            ranks: vec![RankRow::default(); ranks as usize],
            latest: vec![(Time::ZERO, None); ranks as usize],
            ways: CarrierCounts::default(),
            keep_calls: false,
        }
    }

    /// So many more ranks have started.
    pub fn grow(&mut self, count: u32) {
        let ranks = self.ranks.len() + count as usize;
        self.ranks.resize(ranks, RankRow::default());
        self.latest.resize(ranks, (Time::ZERO, None));
    }

    /// A message was ordered; returns its number.
    pub fn posted(&mut self, message: MessageRow) -> usize {
        let number = self.messages.len();
        let row = &mut self.ranks[message.source as usize];
        row.sent += 1;
        // A get demands a length before it is known whether there is so much.
        row.bytes_sent = row.bytes_sent.saturating_add(message.bytes);
        self.messages.push(message);
        number
    }

    pub fn sent(&mut self, number: usize, at: Time) {
        self.messages[number].sent = Some(at);
    }

    /// A put or get is over.
    pub fn copied(&mut self, number: usize, at: Time) {
        self.messages[number].sent = Some(at);
        self.received(number, at);
    }

    /// A message has been received.
    pub fn received(&mut self, number: usize, at: Time) {
        let message = &mut self.messages[number];
        message.arrived = Some(at);
        let row = &mut self.ranks[message.destination as usize];
        row.received += 1;
        row.bytes_received += message.bytes;
    }

    /// A collective call has begun that Elanlib carries out.
    pub fn collected(&mut self, hardware: bool) {
        let way = if hardware {
            &mut self.ways.hardware
        } else {
            &mut self.ways.elan
        };
        *way += 1;
    }

    /// An MPI call has ended; `served` if Elanlib has carried it out.
    pub fn called(&mut self, call: CallRow, served: bool) {
        self.ways.mpi += u64::from(!served && COLLECTIVES.contains(&call.call));
        let row = &mut self.ranks[call.rank as usize];
        row.calls += 1;
        row.in_mpi += call.end.saturating_sub(call.begin);
        let place = self.keep_calls.then_some(self.calls.len());
        self.latest[call.rank as usize] = (call.end, place);
        if self.keep_calls {
            self.calls.push(call);
        }
    }

    /// The program reads a clock, which shows the time at which the processor is done with the
    /// calls before: if the latest call ends here, it takes that time.
    pub fn settled(&mut self, rank: u32, from: Time, to: Time) {
        let (end, place) = &mut self.latest[rank as usize];
        let row = &mut self.ranks[rank as usize];
        if row.calls == 0 || *end != from {
            return;
        }
        *end = to;
        row.in_mpi += to.saturating_sub(from);
        if let Some(place) = *place {
            self.calls[place].end = to;
        }
    }

    /// An operation on a file has ended.
    pub fn accessed(&mut self, rank: u32, access: FileAccess, time: Time) {
        let files = &mut self.ranks[rank as usize].files;
        files.operations += 1;
        files.read = files.read.saturating_add(access.read);
        files.written = files.written.saturating_add(access.written);
        files.time += time;
    }

    /// A digest over the trace, and over the cluster's own.
    pub fn digest(&self, cluster: &str) -> String {
        let mut digest = Digest::new();
        digest.str(cluster);
        let time = |time: Option<Time>| time.map_or(u64::MAX, Time::as_ps);
        for message in &self.messages {
            let path = u64::from(message.source) << 32 | u64::from(message.destination);
            digest.str(message.kind.name()).u64(path).u64(message.tag);
            digest
                .u64(message.bytes.as_u64())
                .u64(message.posted.as_ps());
            digest.u64(time(message.sent)).u64(time(message.arrived));
        }
        for row in &self.ranks {
            digest.u64(row.sent).u64(row.received);
            digest.u64(row.in_mpi.as_ps()).u64(row.end.as_ps());
            if row.files.operations > 0 {
                let FilesRow {
                    operations,
                    read,
                    written,
                    time,
                    ..
                } = row.files;
                digest
                    .u64(operations)
                    .u64(read)
                    .u64(written)
                    .u64(time.as_ps());
            }
        }
        for call in &self.calls {
            let which = u64::from(call.rank) << 32 | u64::from(call.call);
            digest
                .u64(which)
                .u64(call.begin.as_ps())
                .u64(call.end.as_ps());
        }
        if self.ways.hardware + self.ways.elan > 0 {
            digest.u64(self.ways.hardware).u64(self.ways.elan);
        }
        digest.hex()
    }
}
