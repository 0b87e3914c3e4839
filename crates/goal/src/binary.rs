//! The binary form, as `txt2bin` of `LogGOPSim` writes it on a little-endian machine. Numbers are
//! packed, without gaps.
//!
//! | part | content |
//! |---|---|
//! | head | the number 4223 (8 bytes), ranks (4), the largest cpu (1) and nic (1) |
//! | places | for each rank its block's begin and end (8 and 8), counted from behind the number 4223 |
//! | block | operations (4), *roots* (4), the number of each root (4 each), the operations (39 each), lists (4 each) |
//! | operation | dependencies that it waits for (4), kind (1: 1 send, 2 recv, 3 calc; which `LogGOPSim` does not have: 4 probe, 5 poll, 6 put, 7 get, 8 atomic, 9 swap, 10 active, 11 handle, 12 await), peer (4), size (8), tag (4; for a computation its region), cpu (1), nic (1); how many wait for its end (4) and where in the lists their numbers begin (4); how many wait for its start, and where (4 and 4) |
//!
//! A root has no dependencies. -1 as a peer or a tag is 2^32 - 1. Behind the blocks may stand the
//! [notes](crate::TraceNotes); without regions there, a computation's tag has no meaning.

use crate::notes::MARK;
use crate::{Kind, Operation, Schedule, TraceNotes};
use std::io::{self, Seek, SeekFrom, Write};

/// The number with which a file begins.
pub const MAGIC: u64 = 4223;

/// The number with which a file begins that `LogGOPSim` has used up, on request, to save memory.
pub const USED: u64 = 2342;

/// Bytes in the head.
pub const HEAD: u64 = 14;

/// From where places are counted.
pub const BASE: u64 = 8;

/// Bytes per operation.
pub const NODE: u64 = 39;

/// An operation as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub struct OperationRecord {
    /// The operation.
    pub operation: Operation,
    /// How many dependencies the operation has.
    pub waits: u32,
    /// Its dependents, on its end and on its start: their number, and their place in the lists.
    pub later: [(u32, u32); 2],
}

/// A kind's number in a file.
fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Send => 1,
        Kind::Recv => 2,
        Kind::Calc => 3,
        Kind::Probe => 4,
        Kind::Poll => 5,
        Kind::Put => 6,
        Kind::Get => 7,
        Kind::Atomic => 8,
        Kind::Swap => 9,
        Kind::Active => 10,
        Kind::Handle => 11,
        Kind::Await => 12,
    }
}

pub fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

impl OperationRecord {
    /// Reads an operation; the error is its kind's number, if there is no such kind.
    pub fn read(bytes: &[u8; NODE as usize]) -> Result<OperationRecord, u8> {
        let kind = match bytes[4] {
            1 => Kind::Send,
            2 => Kind::Recv,
            3 => Kind::Calc,
            4 => Kind::Probe,
            5 => Kind::Poll,
            6 => Kind::Put,
            7 => Kind::Get,
            8 => Kind::Atomic,
            9 => Kind::Swap,
            10 => Kind::Active,
            11 => Kind::Handle,
            12 => Kind::Await,
            other => return Err(other),
        };
        let (tag, region) = match (kind, word(bytes, 17)) {
            (Kind::Calc, region) => (0, region),
            (_, tag) => (tag, 0),
        };
        let operation = Operation {
            kind,
            peer: word(bytes, 5),
            size: long(bytes, 9),
            tag,
            cpu: bytes[21],
            nic: bytes[22],
            region,
        };
        Ok(OperationRecord {
            operation,
            waits: word(bytes, 0),
            later: [
                (word(bytes, 23), word(bytes, 27)),
                (word(bytes, 31), word(bytes, 35)),
            ],
        })
    }

    fn write(&self, to: &mut Vec<u8>) {
        let operation = &self.operation;
        to.extend(self.waits.to_le_bytes());
        to.push(code(operation.kind));
        to.extend(operation.peer.to_le_bytes());
        to.extend(operation.size.to_le_bytes());
        let tag = operation.tag | operation.region;
        to.extend(tag.to_le_bytes());
        to.extend([operation.cpu, operation.nic]);
        for (count, first) in self.later {
            to.extend(count.to_le_bytes());
            to.extend(first.to_le_bytes());
        }
    }
}

/// Writes the binary form, rank by rank in any order.
pub struct Writer<W> {
    to: W,
    /// Begin and end of each block, 0 for those that have not come.
    places: Vec<(u64, u64)>,
    end: u64,
    most: (u8, u8),
}

impl<W: Write + Seek> Writer<W> {
    pub fn new(mut to: W, ranks: u32) -> io::Result<Self> {
        let head = HEAD + 16 * u64::from(ranks);
        to.seek(SeekFrom::Start(head))?;
        Ok(Writer {
            to,
            places: vec![(0, 0); ranks as usize],
            end: head,
            most: (0, 0),
        })
    }

    /// Whether a rank's block has come.
    pub fn has(&self, rank: u32) -> bool {
        self.places[rank as usize] != (0, 0)
    }

    /// The first rank without its block.
    pub fn lacks(&self) -> Option<u32> {
        let place = self.places.iter().position(|&place| place == (0, 0));
        place.map(|rank| rank as u32)
    }

    /// Writes a rank's block.
    pub fn block(&mut self, rank: u32, schedule: &Schedule) -> io::Result<()> {
        let count = schedule.operations.len();
        let mut waits = vec![0_u32; count];
        // The starts of an operation's dependents in the lists, on its end and on its start.
        let mut firsts = vec![0_u32; 2 * count + 1];
        for &(later, earlier, started) in &schedule.dependencies {
            waits[later as usize] += 1;
            firsts[2 * earlier as usize + usize::from(started) + 1] += 1;
        }
        for place in 0..2 * count {
            firsts[place + 1] += firsts[place];
        }
        let mut lists = vec![0_u32; schedule.dependencies.len()];
        let mut next = firsts.clone();
        for &(later, earlier, started) in &schedule.dependencies {
            let place = &mut next[2 * earlier as usize + usize::from(started)];
            lists[*place as usize] = later;
            *place += 1;
        }
        let roots = (0..).zip(&waits).filter(|&(_, &waits)| waits == 0);
        let roots: Vec<u32> = roots.map(|(root, _)| root).collect();
        let mut bytes = Vec::with_capacity(8 + 4 * roots.len() + count * NODE as usize);
        bytes.extend((count as u32).to_le_bytes());
        bytes.extend((roots.len() as u32).to_le_bytes());
        bytes.extend(roots.into_iter().flat_map(u32::to_le_bytes));
        for (number, &operation) in schedule.operations.iter().enumerate() {
            let list = |place: usize| (firsts[place + 1] - firsts[place], firsts[place]);
            let later = [list(2 * number), list(2 * number + 1)];
            let waits = waits[number];
            OperationRecord {
                operation,
                waits,
                later,
            }
            .write(&mut bytes);
            self.most.0 = self.most.0.max(operation.cpu);
            self.most.1 = self.most.1.max(operation.nic);
        }
        bytes.extend(lists.into_iter().flat_map(u32::to_le_bytes));
        self.to.write_all(&bytes)?;
        let begin = self.end - BASE;
        self.end += bytes.len() as u64;
        self.places[rank as usize] = (begin, self.end - BASE);
        Ok(())
    }

    /// Writes the notes, and the head, when all blocks are there.
    pub fn finish(mut self, notes: &TraceNotes) -> io::Result<W> {
        if *notes != TraceNotes::default() {
            let notes = notes.to_string();
            self.to.write_all(MARK)?;
            self.to.write_all(&(notes.len() as u32).to_le_bytes())?;
            self.to.write_all(notes.as_bytes())?;
        }
        let mut head = Vec::new();
        head.extend(MAGIC.to_le_bytes());
        head.extend((self.places.len() as u32).to_le_bytes());
        head.extend([self.most.0, self.most.1]);
        for (begin, end) in self.places {
            head.extend(begin.to_le_bytes());
            head.extend(end.to_le_bytes());
        }
        self.to.seek(SeekFrom::Start(0))?;
        self.to.write_all(&head)?;
        self.to.flush()?;
        Ok(self.to)
    }
}
