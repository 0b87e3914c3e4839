//! # The link between the ranks of a real MPI program and the simulator
//!
//! A rank is an operating-system process with a real MPI library in it; the simulator is another process. They share one
//! file in memory, which has no name and goes with the last of them. It holds a head for all and a *slot* for each
//! rank: whose turn it is, the rank's local time, and two areas of [`BATCH`] bytes, one in each direction.
//!
//! *Turns.* A rank and the simulator never touch a slot at the same time. While it is the rank's turn, the rank runs on in
//! real time, reads what came down and fills the area up with [`Order`]s: sends, receives, puts and gets, each with the
//! local time at which the program gave it. It gives the turn to the simulator when it has nothing to do before something
//! happens in simulated time; the last order says what it waits for ([`OrderKind::Wait`]). The simulator gives the turn back with
//! the [`Report`]s that are due by then. So the two words that both sides write, the turn of a slot and the rank that the
//! simulator sleeps for, are all the synchronisation there is.
//!
//! | who | does | wakes |
//! |---|---|---|
//! | a rank | writes orders, gives its turn | the simulator, if that sleeps for this rank |
//! | the simulator | reads orders, simulates, writes reports, gives ranks their turns | the first of these ranks, which wakes others in turn |
//!
//! A rank that has not attached yet has its turn, so that time stands while processes are started and find each other.
//!
//! A rank that leaves MPI ([`Rank::finish`]) leaves its turn with the simulator. Its process may initialise MPI once more: then
//! it says so, and waits for its turn ([`Rank::come_back`]). A process that exits says that its rank will not come back
//! ([`OutOfBand::exits`]), or shows it by its end.
//!
//! *Payload* follows its record in the area. What does not fit goes in [parts](Part), each of which says where it belongs.
//! A rank whose area is full gives its turn away and wants it back at once ([`OrderKind::More`]).
//!
//! *Checksums.* The sender of bytes gives their [`checksum`], which travels beside them; the receiver compares it with what it
//! has stored.
//!
//! Times are picoseconds of simulated time. Both sides are of one build: [`ABI`] is checked when a rank attaches.

mod area;
pub mod calls;
mod checksum;
mod part;
mod rank;
mod record;
mod settings;
mod simulator;
pub mod turn;

pub use area::{BATCH, Leaving, LinkError, Phase};
pub use checksum::{Checksum, checksum};
pub use part::{Part, Payload};
pub use rank::{OutOfBand, Rank};
pub use record::{Flags, Order, OrderKind, Report, ReportKind, Status};
pub use settings::{Compute, Settings};
pub use simulator::Simulator;

/// Version of the layout; it changes with whatever lies in the shared memory.
pub const ABI: u32 = 4;

/// The variable of the environment that names the shared memory to ranks, as a path.
pub const PATH_VARIABLE: &str = "ELANITE_LINK";

/// The variable of the environment that tells ranks the longest message that crosses the network as one, in bytes.
pub const LONGEST_VARIABLE: &str = "ELANITE_LONGEST";

/// A moment that never comes.
pub const NEVER: u64 = u64::MAX;
