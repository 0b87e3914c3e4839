//! The shared memory: its layout, and which side may touch which part when. Only this module in the
//! crate needs `unsafe`.

#![allow(unsafe_code)] // memory that other processes write to
#![allow(clippy::cast_ptr_alignment)] // slots begin at pages

use crate::ABI;
use crate::foul::Violation;
use crate::part::{Payload, PayloadPart};
use crate::raw::{BATCH, Raw};
use crate::settings::Settings;
use crate::turn::{NOBODY, SharedWord};
use bytemuck::{CheckedBitPattern, Pod, checked::try_cast};
use memmap2::{MmapOptions, MmapRaw};
use rustix::thread::futex;
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64, fence};
use std::time::Duration;
use thiserror::Error;

const PAGE: usize = 4096;

const MAGIC: u64 = u64::from_le_bytes(*b"elanite\0");

/// No payload part is shorter than this, except the last one.
const LEAST: usize = 1 << 16;

// Many records must fit, and one with a long payload.
const _: () =
    assert!(BATCH > 1000 * frame::<Raw>() && BATCH > 4 * LEAST && BATCH.is_multiple_of(PAGE));

/// Why a rank cannot attach.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The shared memory cannot be opened or mapped.
    #[error("the simulator's shared memory {path} cannot be used: {source}")]
    Memory {
        /// The file's path.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file is not a run's shared memory, or belongs to another build.
    #[error("{path} is no shared memory of this version of the simulator")]
    Foreign {
        /// The file's path.
        path: String,
    },
    /// The run has fewer ranks, or this one has not been started.
    #[error(
        "this is rank {rank}, and the simulation is one of {ranks} ranks, some of which may start \
        later"
    )]
    NoSlot {
        /// The rank.
        rank: u32,
        /// For how many ranks the run has room.
        ranks: u32,
    },
    /// Another process has attached as this rank.
    #[error("another process has attached as rank {rank}")]
    Taken {
        /// The rank.
        rank: u32,
    },
    /// The rank left MPI in a process that was about to exit, and initialises MPI again after the
    /// simulation has ended.
    #[error("the simulation has ended: rank {rank} cannot initialise MPI while its process exits")]
    Over {
        /// The rank.
        rank: u32,
    },
}

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum RankPhase {
    /// The rank has not attached.
    Absent = 0,
    /// The rank has attached.
    Attached = 1,
    /// The rank has left MPI. Its process continues, and the rank may come back.
    Finished = 2,
    /// The rank comes back to MPI, and waits for its turn.
    Returning = 3,
    /// The rank has left MPI, and its process exits.
    Gone = 4,
}

impl RankPhase {
    /// The phase that a word in a slot stands for.
    pub(crate) fn of_word(word: u32) -> RankPhase {
        try_cast(word).unwrap_or(RankPhase::Gone)
    }

    /// Whether the rank has left MPI and is not back.
    pub fn is_out(self) -> bool {
        matches!(
            self,
            RankPhase::Finished | RankPhase::Returning | RankPhase::Gone
        )
    }
}

/// A rank's notice before its process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// The rank calls `MPI_Abort` with this code.
    Abort(i32),
    /// The rank makes the process manager end all ranks, because of an MPI error.
    Error,
    /// The process exits.
    Exit,
}

impl Departure {
    /// The two words in a slot: the way of leaving, and the code.
    pub(crate) fn words(self) -> (u32, u32) {
        match self {
            Departure::Abort(code) => (0, code.cast_unsigned()),
            Departure::Error => (1, 0),
            Departure::Exit => (2, 0),
        }
    }

    /// The way of leaving that these [`Departure::words`] stand for.
    pub(crate) fn of_words(how: u32, code: u32) -> Departure {
        match how {
            0 => Departure::Abort(code.cast_signed()),
            1 => Departure::Error,
            _ => Departure::Exit,
        }
    }
}

/// Why a process that has initialised MPI has no part in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayReason {
    /// Its MPI library has not opened the simulated network.
    Unreached,
    /// Its `MPI_COMM_WORLD` has this many ranks, which differs from the run's rank count.
    World(u32),
}

impl StrayReason {
    /// The word in a slot; 0 is no stray.
    pub(crate) fn word(self) -> u32 {
        match self {
            StrayReason::Unreached => 1,
            StrayReason::World(size) => size.saturating_add(2),
        }
    }

    /// The stray that a [`StrayReason::word`] stands for.
    pub(crate) fn of_word(word: u32) -> Option<StrayReason> {
        match word {
            0 => None,
            1 => Some(StrayReason::Unreached),
            world => Some(StrayReason::World(world - 2)),
        }
    }
}

/// The shared memory's head, which the simulator and all ranks share.
#[repr(C)]
pub(crate) struct Head {
    pub magic: u64,
    pub abi: u32,
    pub ranks: u32,
    /// The simulator's process.
    pub simulator: u32,
    /// Set when the run is over before its end, so that ranks leave.
    pub over: AtomicU32,
    /// How many ranks have announced that they leave.
    pub leaving: AtomicU32,
    pub settings: Raw,
    pub awaited: AwaitedRank,
}

/// The rank with the turn for which the simulator sleeps, or [`NOBODY`]. This word changes all the
/// time, so it has its cache line for itself.
#[repr(C, align(128))]
pub(crate) struct AwaitedRank(pub AtomicU32);

/// The value of [`Slot::leaves`] while a rank writes how it leaves.
pub(crate) const BUSY: u32 = u32::MAX;

/// The words that the simulator and one rank share besides the two areas.
#[repr(C)]
pub(crate) struct Slot {
    /// The side that has the turn.
    pub turn: AtomicU32,
    pub phase: AtomicU32,
    pub pid: AtomicU32,
    /// The MPI call that the rank is in, by its number, or 0. Messages to people read it at any
    /// time.
    pub call: AtomicU32,
    /// This rank's place, from 1 on, among the ranks that announced how they leave. 0: it has not
    /// done so; [`BUSY`]: it is writing `how` and `code`, which are complete before the place is.
    pub leaves: AtomicU32,
    /// How the rank leaves, and `MPI_Abort`'s code.
    pub how: AtomicU32,
    pub code: AtomicU32,
    /// Whether the rank has its turn to go on, or only to read and to answer.
    pub resume: AtomicU32,
    /// Ranks that this rank wakes as soon as it has got its turn, or [`NOBODY`].
    pub wakes: [AtomicU32; 2],
    /// The local time with which the rank continues.
    pub now: AtomicU64,
    /// The bytes of orders and reports in the areas.
    pub up: AtomicU64,
    pub down: AtomicU64,
    /// The process that was started as this rank, whether it attaches or not.
    pub started: AtomicU32,
    /// Whether a process in this rank has written to the process manager: an MPI library does that
    /// when it is initialised.
    pub managed: AtomicU32,
    /// Why a process in this rank has no part in the run ([`StrayReason::word`]), and the process,
    /// which is complete before.
    pub stray: AtomicU32,
    pub stray_pid: AtomicU32,
    /// How many MPI calls the rank has begun, and the number of the latest one.
    pub calls: AtomicU32,
    pub last: AtomicU32,
    /// The stack pointer at the latest call's entry point: the caller's frame lies above.
    pub frame: AtomicU64,
    /// How often the program has read a clock or waited with a time-out.
    pub readings: AtomicU32,
    /// The simulated time, in picoseconds, that has passed because the program read clocks in a
    /// row.
    pub read: AtomicU64,
    /// Operations on files that took no simulated time, and bytes that they read and wrote.
    pub untimed: [AtomicU64; 3],
    /// Whether the simulator observes if the program repeats itself, and how often the program has
    /// been in a state that is new since then.
    pub observed: AtomicU32,
    pub novel: AtomicU32,
    /// Threads that look in calls that block, and how often one has taken a place.
    pub lookers: [LookerWords; LOOKERS],
    pub places: AtomicU32,
    /// The rank's world: its first rank's number in the run, and how many ranks it has; 0 before
    /// the rank starts.
    pub first: AtomicU32,
    pub size: AtomicU32,
}

/// How many threads of a rank can be seen to look.
pub(crate) const LOOKERS: usize = 16;

/// A thread that looks, while the simulator observes; its number in the kernel is 0 without one.
#[repr(C)]
pub(crate) struct LookerWords {
    pub thread: AtomicU32,
    /// The MPI call that the thread is in.
    pub call: AtomicU32,
    /// The thread's number among all that have taken a place.
    pub number: AtomicU32,
    /// How often the thread has looked in this call, and found no change.
    pub looks: AtomicU32,
}

/// The ranks that start together, and are one `MPI_COMM_WORLD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// Its first rank's number in the run; the others have the next numbers.
    pub first: u32,
    /// How many ranks it has.
    pub size: u32,
}

const _: () = assert!(size_of::<Head>() <= PAGE && size_of::<Slot>() <= PAGE);

/// The bytes of a slot's words: tests overwrite all of them.
pub const SLOT_WORDS: usize = size_of::<Slot>();

/// Processes sleep on the word in the kernel.
impl SharedWord for AtomicU32 {
    fn take(&self) -> u32 {
        self.load(Acquire)
    }

    fn give(&self, value: u32) {
        self.store(value, Release);
    }

    fn fence() {
        fence(SeqCst);
    }

    fn sleep(&self, value: u32, at_most: Duration) -> bool {
        let time = rustix::time::Timespec::try_from(at_most).expect("a short time");
        let woken = futex::wait(self, futex::Flags::empty(), value, Some(&time));
        woken != Err(rustix::io::Errno::TIMEDOUT)
    }

    fn wake(&self) {
        let _ = futex::wake(self, futex::Flags::empty(), 1);
    }
}

/// One link direction.
#[derive(Clone, Copy)]
pub(crate) enum LinkDirection {
    Up,
    Down,
}

/// The mapped memory.
pub(crate) struct Area {
    map: MmapRaw,
    ranks: u32,
}

/// A record as it lies in an area, and a payload part.
type RecordView<'a, R> = (R, PayloadPart, &'a [u8]);

const SLOT: usize = PAGE + 2 * BATCH;

/// The bytes before the slots: the head, and all ranks' simulated nodes. Each rank reads these
/// nodes. In the slots they would cost each rank a page table page for each other rank.
const fn front(ranks: u32) -> usize {
    PAGE + (ranks as usize * size_of::<AtomicU32>()).next_multiple_of(PAGE)
}

const fn length(ranks: u32) -> usize {
    front(ranks) + ranks as usize * SLOT
}

impl Area {
    /// Maps a new file for this many ranks.
    pub fn create(file: &File, ranks: u32, settings: Settings) -> io::Result<Area> {
        let length = length(ranks);
        file.set_len(length as u64)?;
        let area = Area {
            map: MmapOptions::new().len(length).map_raw(file)?,
            ranks,
        };
        let head = Head {
            magic: MAGIC,
            abi: ABI,
            ranks,
            simulator: std::process::id(),
            over: AtomicU32::new(0),
            leaving: AtomicU32::new(0),
            settings: Raw::of(&settings),
            awaited: AwaitedRank(AtomicU32::new(NOBODY)),
        };
        // SAFETY: the mapping is longer than a head and aligned to a page, and no other code has it
        // yet.
        unsafe { area.map.as_mut_ptr().cast::<Head>().write(head) };
        Ok(area)
    }

    /// Maps a simulator's file.
    pub fn open(path: &str) -> Result<Area, LinkError> {
        let unusable = |source| LinkError::Memory {
            path: path.to_owned(),
            source,
        };
        let foreign = || LinkError::Foreign {
            path: path.to_owned(),
        };
        let options = File::options().read(true).write(true).open(path);
        let file = options.map_err(unusable)?;
        let length = file.metadata().map_err(unusable)?.len() as usize;
        if length < self::length(1) {
            return Err(foreign());
        }
        let map = MmapOptions::new().len(length).map_raw(&file);
        let mut area = Area {
            map: map.map_err(unusable)?,
            ranks: 0,
        };
        let head = area.head();
        let own = head.magic == MAGIC && head.abi == ABI;
        if !own || length != self::length(head.ranks) {
            return Err(foreign());
        }
        area.ranks = head.ranks;
        Ok(area)
    }

    /// For how many ranks there is room.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    pub fn head(&self) -> &Head {
        // SAFETY: it was written before the file could be opened; the changing parts are atomic.
        unsafe { &*self.map.as_ptr().cast::<Head>() }
    }

    /// A rank's simulated node.
    pub fn node(&self, rank: u32) -> &AtomicU32 {
        assert!(rank < self.ranks);
        let place = PAGE + rank as usize * size_of::<AtomicU32>();
        // SAFETY: the place is within the mapping and aligned, and all of it is atomic.
        unsafe { &*self.map.as_ptr().add(place).cast::<AtomicU32>() }
    }

    /// A rank's world, if the rank has been started.
    pub fn world(&self, rank: u32) -> Option<World> {
        let slot = (rank < self.ranks).then(|| self.slot(rank))?;
        let world = World {
            size: slot.size.load(Acquire),
            first: slot.first.load(Acquire),
        };
        (world.size > 0).then_some(world)
    }

    pub fn slot(&self, rank: u32) -> &Slot {
        // SAFETY: the place is within the mapping and aligned to a page; zeros are a valid slot,
        // and all of it is atomic.
        unsafe { &*self.map.as_ptr().add(self.place(rank)).cast::<Slot>() }
    }

    fn place(&self, rank: u32) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        front(self.ranks) + rank as usize * SLOT
    }

    fn start(&self, rank: u32, way: LinkDirection) -> usize {
        let skip = match way {
            LinkDirection::Up => 0,
            LinkDirection::Down => BATCH,
        };
        self.place(rank) + PAGE + skip
    }

    /// Writes bytes at a place in an area. Only for the side that has the turn, or is about to give
    /// it.
    pub fn write(&self, rank: u32, way: LinkDirection, at: usize, bytes: &[u8]) {
        assert!(
            at + bytes.len() <= BATCH,
            "bytes beyond the end of the area"
        );
        let place = self.start(rank, way) + at;
        // SAFETY: within the mapping; the other side does not touch the area before it has the
        // turn, whose passing on is a release and an acquire.
        unsafe {
            let to = self.map.as_mut_ptr().add(place);
            to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }

    /// An area's bytes at a place. Only for the side that has the turn: with the turn, the bytes
    /// pass to the other side.
    pub fn read(&self, rank: u32, way: LinkDirection, at: usize, length: usize) -> &[u8] {
        assert!(at + length <= BATCH, "bytes beyond the end of the area");
        let place = self.start(rank, way) + at;
        // SAFETY: within the mapping; as above.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(place), length) }
    }

    /// An area's records, which hold this many bytes, each with a payload part. The other side has
    /// written the lengths, so they are not trusted: the records end with the first one that does
    /// not lie within the area.
    ///
    /// # Errors
    /// [`Violation::Length`], [`Violation::Part`].
    pub fn records<R: Pod>(
        &self,
        rank: u32,
        way: LinkDirection,
        length: u64,
    ) -> Result<impl Iterator<Item = Result<RecordView<'_, R>, Violation>>, Violation> {
        if length > BATCH as u64 {
            return Err(Violation::Length { length });
        }
        let (mut at, length) = (0, length as usize);
        Ok(std::iter::from_fn(move || {
            if at + frame::<R>() > length {
                return None;
            }
            let head = self.read(rank, way, at, frame::<R>());
            let (part, record) = head.split_at(size_of::<PayloadPart>());
            let part: PayloadPart = bytemuck::pod_read_unaligned(part);
            let from = at + frame::<R>();
            if part.length() > length - from {
                at = length;
                return Some(Err(Violation::Part));
            }
            at = (from + part.length()).next_multiple_of(8);
            let bytes = self.read(rank, way, from, part.length());
            Some(Ok((bytemuck::pod_read_unaligned(record), part, bytes)))
        }))
    }

    /// Appends a record behind an area's present content, with as much payload as there is room
    /// for. The area's last `free` bytes stay free. Returns the area's new length, or `None` if
    /// there is no room for the record and at least [`LEAST`] bytes from the rest of its payload.
    pub fn append<R: Pod>(
        &self,
        (rank, way): (u32, LinkDirection),
        at: usize,
        record: &R,
        payload: &mut Payload,
        free: usize,
    ) -> Option<usize> {
        let room = (BATCH - free).checked_sub(at + frame::<R>())?;
        let part = payload.next(room);
        if !part.is_last() && room < LEAST {
            return None;
        }
        self.write(rank, way, at, bytemuck::bytes_of(&part));
        let record = bytemuck::bytes_of(record);
        self.write(rank, way, at + size_of::<PayloadPart>(), record);
        let mut place = at + frame::<R>();
        for bytes in payload.bytes(part) {
            self.write(rank, way, place, bytes);
            place += bytes.len();
        }
        payload.written(part);
        Some(place.next_multiple_of(8))
    }
}

/// Bytes that a record without payload takes.
pub(crate) const fn frame<R>() -> usize {
    size_of::<PayloadPart>() + size_of::<R>()
}
