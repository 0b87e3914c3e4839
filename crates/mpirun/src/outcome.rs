//! A run's end and its results.

use crate::groups::CarrierCounts;
use crate::sampling::ExtendedTable;
use crate::trace::{CallRow, MessageRow, RankRow};
use elan::series::SeriesRow;
use goal::{Schedule, TraceNotes};
use link::StrayReason;
use units::Time;
use workload::{FaultRow, LinkRow};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All ranks have left MPI.
    Finished,
    /// A rank died before it had left MPI; if the others continued, they have ended, too.
    Died,
    /// A rank's host stopped.
    Stopped,
    /// All ranks wait, and no event is left.
    Deadlock,
    /// The program that started the ranks has gone, after some had attached.
    LauncherGone,
    /// The program that started the ranks has gone before any had attached.
    NoMpi,
    /// Somebody asked for the end.
    Cancelled,
    /// A bound was passed.
    Limit,
    /// A rank has stored other bytes than were sent: the simulator is wrong.
    Corrupted,
    /// A rank has broken the rules of the shared memory.
    Foul,
    /// A process has initialised an MPI that has no part in the run.
    Stray,
    /// A rank ended without having attached, while others had attached or continued.
    Absent,
}

impl RunEnd {
    /// This end's name.
    pub fn name(self) -> &'static str {
        match self {
            RunEnd::Finished => "finished",
            RunEnd::Died => "died",
            RunEnd::Stopped => "stopped",
            RunEnd::Deadlock => "deadlock",
            RunEnd::LauncherGone => "launcher gone",
            RunEnd::NoMpi => "no mpi",
            RunEnd::Cancelled => "cancelled",
            RunEnd::Limit => "limit",
            RunEnd::Corrupted => "corrupted",
            RunEnd::Foul => "foul",
            RunEnd::Stray => "stray",
            RunEnd::Absent => "absent",
        }
    }
}

/// A rank that waits at a run's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRank {
    /// The rank.
    pub rank: u32,
    /// The rank's process.
    pub pid: Option<u32>,
    /// The MPI call that the rank is in, by its number in [`link::calls`]; 0 if it is unknown.
    pub call: u32,
    /// The rank's latest call, which may have ended; 0 without a call.
    pub last: u32,
    /// The stack pointer at the latest call's entry point.
    pub frame: u64,
    /// The operation under way, or the last look.
    pub what: Vec<String>,
    /// Whether the rank has the turn, so that it does not wait for the simulator.
    pub runs: bool,
}

/// A rank that ended without having left MPI, while the other ranks continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadRank {
    /// The rank.
    pub rank: u32,
    /// The MPI call that the rank was in.
    pub call: u32,
    /// The rank's latest call, which may have ended; 0 without a call.
    pub last: u32,
    /// When the rank was last seen.
    pub time: Time,
    /// Whether its host stopped.
    pub stopped: bool,
}

/// How a run ended, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How the run ended.
    pub end: RunEnd,
    /// The explanation for people.
    pub message: String,
    /// Ranks that wait.
    pub waiting: Vec<WaitingRank>,
    /// The rank that died, or that broke the link's rules.
    pub rank: Option<u32>,
    /// Ranks that died while others continued, the first one first.
    pub dead: Vec<DeadRank>,
    /// The first rank operation that was lost in failed parts of the machine, and why.
    pub lost: Option<String>,
    /// Simulated time.
    pub time: Time,
    /// Ranks that attached.
    pub attached: u32,
    /// Ranks that did not attach, though their processes had been started: those that have ended if
    /// the run ends as [`RunEnd::Absent`], else all.
    pub absent: Vec<u32>,
    /// Whether a rank that did not attach has written to the process manager, as MPI libraries do.
    pub managed: bool,
    /// The first process that has initialised an MPI without a part in the run.
    pub stray: Option<(u32, Option<u32>, StrayReason)>,
    /// Ranks that attached without a hooked call.
    pub unseen: Vec<u32>,
}

/// A run's results.
#[derive(Clone, Debug)]
pub struct Results {
    /// All messages.
    pub messages: Vec<MessageRow>,
    /// All calls, if they were kept.
    pub calls: Vec<CallRow>,
    /// Each rank's figures.
    pub ranks: Vec<RankRow>,
    /// The ways in which collective calls were carried out.
    pub ways: CarrierCounts,
    /// Each rank's node.
    pub nodes: Vec<u32>,
    /// Each link's figures.
    pub links: Vec<LinkRow>,
    /// The failures.
    pub faults: Vec<FaultRow>,
    /// Packets that adapters sent again since faults had kept them from their destinations.
    pub resent: u64,
    /// How busy links, buses and thread processors were over time, if that was kept.
    pub series: Vec<SeriesRow>,
    /// The run's recording in GOAL with its notes, or the reason why it cannot be recorded; only
    /// if a recording was requested.
    pub recording: Option<Result<(Vec<Schedule>, TraceNotes), String>>,
    /// The program's computation table, if computation was sampled.
    pub computed: Option<ExtendedTable>,
    /// Simulated time.
    pub time: Time,
    /// Fabric packets.
    pub packets: u64,
    /// Cluster events.
    pub events: u64,
    /// A digest over all packets, messages, ranks and calls.
    pub digest: String,
    /// Whether another run with the same program gives the same result.
    pub repeatable: bool,
}
