//! # The link between a real MPI program's ranks and the simulator
//!
//! A rank is an operating-system process with a real MPI library in it. The simulator is another
//! process. They share one file in memory, which has no name and vanishes with the last process
//! that maps it. The file holds a head for all and a *slot* for each rank: the turn, the rank's
//! local time, and two areas of [`BATCH`] bytes, one in each direction.
//!
//! *Turns.* A rank and the simulator never touch a slot at the same time. During its turn, the rank
//! runs on in real time, reads the reports and fills its area with [`Order`]s: sends, receives,
//! puts and gets, each with the local time at which the program gave it. The rank gives the turn to
//! the simulator when it has no work before the next event in simulated time; its last record names
//! the wait ([`RankWait`]). The simulator gives the turn back with the [`Report`]s that are due by
//! then. Only two words are written by both sides, and these are all the synchronisation: a slot's
//! turn, and the rank that the simulator sleeps for.
//!
//! | side | work | wakes |
//! |---|---|---|
//! | a rank | writes orders, gives its turn | the simulator, if the simulator sleeps for this rank |
//! | the simulator | reads orders, simulates, writes reports, gives ranks their turns | the first rank, which wakes others |
//!
//! A rank that has not attached yet has its turn, so simulated time stands while processes start
//! and find each other. Processes that do not attach report about themselves as well ([`Starter`]):
//! a run in which a rank ends without MPI, or initialises another MPI, would wait forever, or end
//! without a message.
//!
//! A rank that leaves MPI ([`Rank::finish`]) leaves its turn with the simulator. If its process
//! initialises MPI once more, the rank announces this and waits for its turn ([`Rank::come_back`]).
//! A process that exits announces that its rank will not come back ([`OutOfBand::exits`]), or shows
//! this by its end.
//!
//! *Payload* follows its record in the area. A payload that does not fit travels in
//! [parts](PayloadPart), each with the place of its bytes. A rank with a full area gives its turn
//! away and wants it back immediately.
//!
//! *Checksums.* The sender gives the [`checksum`] of its bytes, which travels beside them. The
//! receiver compares it with the checksum over the bytes that it has stored.
//!
//! *Trust.* Ranks trust the simulator. The simulator trusts no rank: data from a rank may be
//! anything ([`Violation`]). So records have two types: a raw one ([`raw`]), which lies in memory,
//! and the one that is read and checked ([`Record`], [`Delivery`]). Other code meets no record
//! without a meaning.
//!
//! Times are simulated picoseconds. Both sides come from one build: [`ABI`] is checked when a rank
//! attaches.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `area`, [`turn`] | the shared memory, and the words for a turn |
//! | [`record`], [`order`], [`report`], [`raw`] | rank records, orders and reports, and their bytes |
//! | `part`, `checksum` | payload in parts, checksums |
//! | `rank`, `simulator` | the two sides |
//! | `atomic`, [`collective`], [`calls`] | operations by number |
//! | `settings`, [`plan`] | the run's facts that ranks read; the times for their computation |
//! | `foul` | a rank's breaches of the rules |
//!
//! ## The main path
//!
//! A rank's message reaches the simulator, and a report comes back:
//!
//! 1. `rank.rs`: the rank writes an [`Order`] and gives its turn away.
//! 2. `part.rs`, `area.rs`: the payload is cut to the area and copied.
//! 3. `turn.rs`: the turn's word changes hands, and wakes the simulator.
//! 4. `simulator.rs`, `record.rs`: orders and payload are read once and parsed; the caller carries
//!    them out.
//! 5. `report.rs`: a [`Report`] in the other area has the operation's result.

mod area;
mod atomic;
pub mod calls;
mod checksum;
pub mod collective;
mod foul;
pub mod order;
mod part;
pub mod plan;
mod rank;
pub mod raw;
pub mod record;
pub mod report;
mod settings;
mod simulator;
pub mod turn;

pub use area::{Departure, LinkError, RankPhase, SLOT_WORDS, StrayReason, World};
pub use atomic::{Atomic, Width};
pub use checksum::{Checksum, checksum};
pub use collective::{CollectiveKind, Collectives, Combiner};
pub use foul::Violation;
pub use order::{CollectiveCall, MessageFilter, Order, RemoteMemory};
pub use part::{Payload, PayloadPart};
pub use rank::{OutOfBand, Rank, Starter};
pub use raw::BATCH;
pub use record::{Body, Complaint, FileAccess, Patience, RankWait, Record};
pub use report::{Delivery, EndKind, EndStatus, Envelope, OperationEnd, Report};
pub use settings::{Compute, Settings};
pub use simulator::{Looker, RankCalls, Simulator, UntimedFiles};

/// Layout version; every change in the shared memory's content changes it.
pub const ABI: u32 = 15;

/// The environment variable that gives ranks the shared memory's path.
pub const PATH_VARIABLE: &str = "ELANITE_LINK";

/// The environment variable that gives ranks the longest message, in bytes, that crosses the
/// network as one.
pub const LONGEST_VARIABLE: &str = "ELANITE_LONGEST";

/// The environment variable that gives ranks a queue's longest message, in bytes.
pub const SLOT_VARIABLE: &str = "ELANITE_SLOT";

/// The environment variable that gives ranks the [plan]'s path, if computation is sampled.
pub const PLAN_VARIABLE: &str = "ELANITE_PLAN";

/// The key for all memory in a rank's process that the rank lets others reach: an offset is an
/// address. MPI libraries choose the keys for other memory, from small numbers on.
pub const ADDRESS_SPACE: u64 = 1 << 63;

/// The key for a rank's memory by its Elan3 context's addresses.
pub const ELAN3_SPACE: u64 = ADDRESS_SPACE | 1;

/// A moment that never comes.
pub const NEVER: u64 = u64::MAX;
