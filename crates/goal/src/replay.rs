//! The replay of a trace: every operation when its dependencies allow it, on a simulated machine or
//! on an ideal network.
//!
//! ## When an operation starts and ends
//!
//! An operation is *free* when the operations that it `requires` have ended and those that it
//! `irequires` have started. A rank gives free operations to its processor in the order in which
//! they become free; if several become free at the same time, sends first, then receives, then
//! computations, each in trace order. The processor works them off one after the other.
//!
//! | operation | starts | ends |
//! |---|---|---|
//! | send | when its call is made | when the buffer is free again, as the machine has it: small messages immediately, long ones on arrival |
//! | recv | when its call is made | when the message is in its buffer and the process has been notified |
//! | probe | when its call is made | when the process has found a message: it looks for one and, if there is no message, waits for one by a second call, as MPI libraries do |
//! | poll | when its call is made | when the process has found a message: it looks for one by call after call, at the [pace](crate::TraceNotes::poll) of the recorded program |
//! | put | when its call is made | when the bytes are in the peer's memory, as the machine's adapters acknowledge them |
//! | get | when its call is made | when the bytes are here |
//! | atomic, swap | when its call is made | when the peer's adapter has executed it and its answer is here |
//! | active | when its call is made | as a put; on the ideal network, with its call |
//! | handle | when it is free | when its active message has come and the processor has taken it |
//! | await | when it is free | when a put's bytes are in memory and the process, which looks at them again and again, has seen them |
//! | calc | when the processor begins it | when the processor is done with it, the machine's noise included |
//!
//! Probes and polls leave their message to a receive. `LogGOPSim` has neither these nor the
//! operations on others' memory.
//!
//! A receive takes the first message that fits its peer and its tag, as in MPI. A message that is
//! longer than the receive is an error. The calls are Tports calls, without the request of
//! non-blocking calls.
//!
//! `cpu`: each number is a separate computation stream, and a rank's streams run in parallel. All
//! calls are made by the first processor. Noise concerns stream 0 only. `nic`: refused except 0, as
//! the machine's policy chooses the adapter.
//!
//! *Bounds.* A message has at most [`LONGEST`] bytes on every network. With at most 2^32 operations
//! in a rank, a rank's bytes then fit into 64 bits. Times are checked: an operation that would end
//! beyond the range of simulated time is an error with its line, and so is a rank with computations
//! that sum to more than that range.

mod cluster;
mod ideal;

pub use cluster::{Buffers, ClusterReplay, on_cluster};
pub use ideal::{CALL, LATENCY, on_ideal};

use crate::ledger::{self, Ledger, MessageKey};
use crate::pairs::Pairs;
use crate::progress::RankProgress;
use crate::standstill::{RankOperation, Standstill};
use crate::{ANY, Kind, Operation, Trace, TraceProblem};
use elan::Stop;
use elan::series::SeriesRow;
use foldhash::{HashMap, HashSet};
use kernel::Digest;
use libelan::JobError;
use thiserror::Error;
use units::{Bytes, Time};

/// The longest message: two such messages fit into the 4 GB that an adapter reaches per process.
pub const LONGEST: Bytes = Bytes::new((1 << 31) - 1);

/// How many operations an error names.
const NAMED: usize = 8;

/// A rank's totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayRankRow {
    /// Operations.
    pub operations: u64,
    /// Messages that it sent, and others' gets from its memory.
    pub sent: u64,
    /// Bytes in these messages.
    pub bytes_sent: Bytes,
    /// Messages that it received, and others' puts and atomics on its memory.
    pub received: u64,
    /// Bytes in these messages.
    pub bytes_received: Bytes,
    /// Its computation time in the trace, without noise.
    pub computed: Time,
    /// When its last operation ended.
    pub end: Time,
}

impl ReplayRankRow {
    /// A message leaves the rank's memory.
    fn sends(&mut self, size: Bytes) {
        self.sent += 1;
        self.bytes_sent += size;
    }

    /// A message comes into the rank's memory.
    fn receives(&mut self, size: Bytes) {
        self.received += 1;
        self.bytes_received += size;
    }
}

/// A region's computations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayRegionRow {
    /// The region, from 1 on ([`crate::TraceNotes`]); 0 for computations without a region.
    pub region: u32,
    /// Computations.
    pub executions: u64,
    /// Their time in all ranks, without noise.
    pub computed: Time,
    /// The rank that computes longest there, and its time.
    pub longest: (u32, Time),
}

/// When an operation was free, and when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationRow {
    /// The rank.
    pub rank: u32,
    /// The operation's number in its rank, from 0.
    pub number: u32,
    /// The operation.
    pub operation: Operation,
    /// When all its dependencies were met.
    pub free: Time,
    /// When it ended.
    pub end: Time,
    /// The send whose message a receive has taken, as its rank and its number there.
    pub taken: Option<(u32, u32)>,
}

/// An operation that was free, and had not ended when the replay did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingRow {
    /// The rank.
    pub rank: u32,
    /// The operation's number in its rank, from 0.
    pub number: u32,
    /// The operation.
    pub operation: Operation,
    /// When all its dependencies were met.
    pub free: Time,
}

/// A replay's records, also without reaching its end.
#[derive(Clone, Debug)]
pub struct ReplayResult {
    /// Each rank's totals.
    pub ranks: Vec<ReplayRankRow>,
    /// Each region's totals, if the trace has regions; only regions with computations.
    pub regions: Vec<ReplayRegionRow>,
    /// When operations were free and ended, in the order of their ends; only on request.
    pub operations: Vec<OperationRow>,
    /// Link, bus and thread processor utilisation over time; only on a machine, and with
    /// operations.
    pub series: Vec<SeriesRow>,
    /// By rank and number: the operations that had not ended; empty after a complete replay.
    pub waiting: Vec<WaitingRow>,
    /// When the last operation ended; or when the replay stopped before that.
    pub time: Time,
    /// Digest over each operation, its message's size, and when it was free and ended.
    pub digest: String,
}

/// Why a trace was not replayed to its end. A replay that began leaves its records.
#[derive(Debug, Error)]
pub enum ReplayFailure {
    /// Something is wrong with the trace.
    #[error(transparent)]
    Trace(#[from] TraceProblem),
    /// At the end, receives wait or messages are left.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Partners(Vec<TraceProblem>, Box<ReplayResult>),
    /// The run stopped before its end.
    #[error("{0}")]
    Stop(Stop, Box<ReplayResult>),
    /// The machine has no room for the ranks.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The machine has no room for a rank's buffers.
    #[error("{0}")]
    Memory(#[from] elan::MemoryError),
}

/// Refuses messages longer than [`LONGEST`].
fn check_sizes(trace: &mut Trace) -> Result<(), TraceProblem> {
    for rank in 0..trace.ranks() {
        if trace.longest(rank) <= LONGEST.as_u64() {
            continue;
        }
        for number in 0..trace.count(rank) {
            let operation = trace.operation(rank, number)?;
            if operation.kind != Kind::Calc && operation.size > LONGEST.as_u64() {
                let most = LONGEST.as_u64();
                let what = format!("a message has at most {most} bytes; cut it into several");
                return Err(trace.problem(rank, number, &what));
            }
        }
    }
    Ok(())
}

/// The state that all replays keep: the trace, the ranks' progress, and their totals.
struct Record {
    trace: Trace,
    progress: Vec<RankProgress>,
    ledger: Ledger,
    ranks: Vec<ReplayRankRow>,
    /// Executions and time by region and rank, if the trace has regions.
    computed: HashMap<(u32, u32), (u64, Time)>,
    operations: Vec<OperationRow>,
    /// Only if operations are kept.
    pairs: Option<Pairs>,
    digest: Digest,
}

impl Record {
    fn new(trace: Trace, keep: bool) -> Self {
        let ranks = trace.ranks() as usize;
        Record {
            trace,
            progress: (0..ranks).map(|_| RankProgress::default()).collect(),
            ledger: Ledger::default(),
            ranks: vec![ReplayRankRow::default(); ranks],
            computed: HashMap::default(),
            operations: Vec::new(),
            pairs: keep.then(Pairs::default),
            digest: Digest::new(),
        }
    }

    /// The call of an operation is the next that a rank makes.
    fn calls(&mut self, rank: u32, (number, operation): (u32, Operation)) {
        if let Some(way) = ledger::way(rank, &operation) {
            self.ledger.sent(way);
            if let Some(pairs) = &mut self.pairs {
                pairs.sends(way, number);
            }
        }
        if let (Kind::Recv | Kind::Handle, Some(pairs)) = (operation.kind, &mut self.pairs) {
            pairs.receives(rank, number);
        }
    }

    /// An operation has ended that was free at a moment.
    ///
    /// # Errors
    /// The rank's computations sum to more than simulated time holds.
    fn ended(
        &mut self,
        rank: u32,
        (number, operation): (u32, Operation),
        [free, end]: [Time; 2],
    ) -> Result<(), TraceProblem> {
        let row = &mut self.ranks[rank as usize];
        row.operations += 1;
        row.end = row.end.max(end);
        let size = Bytes::new(operation.size);
        match operation.kind {
            Kind::Send | Kind::Active => row.sends(size),
            Kind::Recv | Kind::Handle | Kind::Await | Kind::Probe | Kind::Poll => {}
            Kind::Put | Kind::Atomic | Kind::Swap => {
                row.sends(size);
                self.ranks[operation.peer as usize].receives(size);
            }
            Kind::Get => {
                row.receives(size);
                self.ranks[operation.peer as usize].sends(size);
            }
            Kind::Calc => {
                let sum = row.computed.checked_add(Time::from_ns(operation.size));
                let Some(computed) = sum else {
                    let what = "with it, the computations of the rank sum to more than 213 days, \
                        which simulated time does not hold; compute less";
                    return Err(self.trace.problem(rank, number, what));
                };
                row.computed = computed;
                if !self.trace.notes().regions.is_empty() {
                    let entry = self.computed.entry((operation.region, rank));
                    let (executions, time) = entry.or_default();
                    *executions += 1;
                    *time += Time::from_ns(operation.size);
                }
            }
        }
        let which = u64::from(rank) << 32 | u64::from(number);
        let message = u64::from(operation.peer) << 32 | u64::from(operation.tag);
        let (kind, size) = (operation.kind as u64, operation.size);
        let times = [free.as_ps(), end.as_ps()];
        self.digest.u64s([which, kind, message, size]).u64s(times);
        if self.pairs.is_some() {
            self.operations.push(OperationRow {
                rank,
                number,
                operation,
                free,
                end,
                taken: None,
            });
        }
        Ok(())
    }

    /// A rank's receive or handler has taken a message.
    fn received(&mut self, way: MessageKey, size: Bytes, number: u32) {
        self.ranks[way.1 as usize].receives(size);
        self.ledger.received(way);
        if let Some(pairs) = &mut self.pairs {
            pairs.received(way, number);
        }
    }

    /// The results after the last event. They are an error's if a message has no partner. `failed`
    /// names the failed parts in the machine.
    fn finish(
        &mut self,
        at: Time,
        series: Vec<SeriesRow>,
        failed: &[String],
    ) -> Result<ReplayResult, ReplayFailure> {
        let problems = self.partners(at, failed)?;
        if problems.is_empty() {
            let last = self.ranks.iter().map(|row| row.end).max();
            return Ok(self.leave(last.unwrap_or_default(), series, false));
        }
        let left = self.leave(at, series, false);
        Err(ReplayFailure::Partners(problems, Box::new(left)))
    }

    /// The results for a run that stopped before its last event.
    fn stopped(&mut self, stop: Stop, at: Time, series: Vec<SeriesRow>) -> ReplayFailure {
        ReplayFailure::Stop(stop, Box::new(self.leave(at, series, true)))
    }

    /// The replay's records; `flying`: whether messages may be under way.
    fn leave(&mut self, time: Time, series: Vec<SeriesRow>, flying: bool) -> ReplayResult {
        let mut waiting = Vec::new();
        for (rank, progress) in (0..).zip(&self.progress) {
            waiting.extend(progress.unfinished().into_iter().map(|number| {
                let (operation, free) = progress.operation(number);
                WaitingRow {
                    rank,
                    number,
                    operation,
                    free,
                }
            }));
        }
        if let Some(pairs) = self.pairs.take() {
            let sends = pairs.matched(|(rank, number), (source, _, tag)| {
                let (operation, _) = self.progress[rank as usize].operation(number);
                let own = ledger::tag(operation.tag, operation.kind.arrival());
                let tags = own == tag || operation.tag == ANY && tag <= ANY.into();
                flying && tags && (operation.peer == ANY || operation.peer == source)
            });
            for row in &mut self.operations {
                row.taken = sends.get(&(row.rank, row.number)).copied();
            }
        }
        ReplayResult {
            ranks: std::mem::take(&mut self.ranks),
            regions: self.regions(),
            operations: std::mem::take(&mut self.operations),
            series,
            waiting,
            time,
            digest: self.digest.hex(),
        }
    }

    /// Each region's totals, in order.
    fn regions(&self) -> Vec<ReplayRegionRow> {
        let mut cells: Vec<_> = self.computed.iter().collect();
        cells.sort_unstable_by_key(|&(&key, _)| key);
        let mut rows: Vec<ReplayRegionRow> = Vec::new();
        for (&(region, rank), &(executions, time)) in cells {
            if rows.last().is_none_or(|row| row.region != region) {
                let longest = (rank, Time::ZERO);
                rows.push(ReplayRegionRow {
                    region,
                    longest,
                    ..ReplayRegionRow::default()
                });
            }
            let row = rows.last_mut().expect("it is there");
            row.executions += executions;
            row.computed = row.computed.saturating_add(time);
            if time > row.longest.1 {
                row.longest = (rank, time);
            }
        }
        rows
    }

    /// Operations that wait forever, and messages without a receive.
    fn partners(&mut self, at: Time, failed: &[String]) -> Result<Vec<TraceProblem>, TraceProblem> {
        let mut problems = Vec::new();
        let still = Standstill::of(&mut self.trace, &self.progress)?;
        let circle = still.circle(&mut self.trace, &self.progress)?;
        let circle = circle.unwrap_or_default();
        let unfinished: Vec<Vec<u32>> =
            self.progress.iter().map(RankProgress::unfinished).collect();
        let waiting: u64 = unfinished.iter().map(|numbers| numbers.len() as u64).sum();
        // Those in the circle come first.
        let all = (0..).zip(&unfinished);
        let all = all.flat_map(|(rank, numbers)| numbers.iter().map(move |&number| (rank, number)));
        let named: HashSet<RankOperation> = circle.iter().copied().collect();
        let others = all.filter(|which| !named.contains(which));
        for which in circle.iter().copied().chain(others).take(NAMED) {
            problems.push(self.waits(&still, which, failed)?);
        }
        let unlisted = waiting - problems.len() as u64;
        let (sends, left) = self.ledger.unreceived(&mut self.trace, NAMED)?;
        let mut listed = 0;
        for (rank, number) in sends {
            listed += 1;
            let operation = self.trace.operation(rank, number)?;
            let later = still.partner(&mut self.trace, rank, operation)?;
            if later.is_none() && unfinished[rank as usize].binary_search(&number).is_err() {
                let partner = match operation.kind {
                    Kind::Active => "handler",
                    _ => "receive",
                };
                let what = format!("nobody receives its message{}", remedy(failed, partner));
                problems.push(self.trace.problem(rank, number, &what));
            }
        }
        let unreceived = left - listed;
        if !problems.is_empty() {
            let ended: u64 = self.progress.iter().map(|one| u64::from(one.ended)).sum();
            let behind = self.trace.operations() - ended - waiting;
            let why = match circle.len() as u64 {
                _ if !failed.is_empty() => {
                    let failed = failed.join(", ");
                    format!("operations wait for ever; before that, there failed {failed}")
                }
                0 => "operations have no partner: see the lines before".to_owned(),
                1 => "an operation waits for itself (a deadlock): see the first line".to_owned(),
                count => format!(
                    "{count} operations wait for each other in a circle (a deadlock): see the \
                    first lines"
                ),
            };
            let mut what = format!("the replay ends at {at}, and {why}");
            for (count, one, several) in [
                (
                    unlisted,
                    "waiting operation is not listed",
                    "waiting operations are not listed",
                ),
                (
                    unreceived,
                    "unreceived message is not listed",
                    "unreceived messages are not listed",
                ),
                (
                    behind,
                    "operation behind these has not started",
                    "operations behind these have not started",
                ),
            ] {
                let noun = if count == 1 { one } else { several };
                if count > 0 {
                    what.extend(["; ", &count.to_string(), " ", noun]);
                }
            }
            if failed.is_empty() && self.sends(&circle) {
                what.push_str(
                    "; such long sends wait for their receives: receive first, or buffer the sends \
                    (`--buffered`)",
                );
            }
            let file = self.trace.file().to_owned();
            problems.push(TraceProblem::new(&file, crate::TracePlace::File, what));
        }
        Ok(problems)
    }

    /// Whether one of the operations is a send.
    fn sends(&self, circle: &[RankOperation]) -> bool {
        circle.iter().any(|&(rank, number)| {
            let (operation, _) = self.progress[rank as usize].operation(number);
            operation.kind == Kind::Send
        })
    }

    /// An operation that waits at the end: for a partner that is not there, or for one that waits
    /// behind another operation.
    fn waits(
        &mut self,
        still: &Standstill,
        (rank, number): RankOperation,
        failed: &[String],
    ) -> Result<TraceProblem, TraceProblem> {
        let (operation, _) = self.progress[rank as usize].operation(number);
        if let Some(partner) = still.partner(&mut self.trace, rank, operation)? {
            let front = still.in_front(partner);
            let (partner, front) = (self.named(partner)?, self.named(front)?);
            let what = format!("it waits for {partner}, which waits behind {front}");
            return Ok(self.trace.problem(rank, number, &what));
        }
        let what = match operation.kind {
            Kind::Send => {
                let remedy = remedy(failed, "receive");
                format!("it waits at the end for a receive that never comes{remedy}")
            }
            Kind::Recv | Kind::Probe | Kind::Poll => {
                let remedy = remedy(failed, "send");
                format!("it waits at the end for a message that never comes{remedy}")
            }
            Kind::Handle => {
                let remedy = remedy(failed, "active message");
                format!("it waits at the end for a message that never comes{remedy}")
            }
            Kind::Await => {
                let remedy = remedy(failed, "put");
                format!("it waits at the end for a put that never comes{remedy}")
            }
            _ => "it has not ended".to_owned(),
        };
        Ok(self.trace.problem(rank, number, &what))
    }

    /// An operation in words.
    fn named(&mut self, (rank, number): RankOperation) -> Result<String, TraceProblem> {
        let operation = self.trace.operation(rank, number)?;
        let place = match self.trace.place(rank, number) {
            crate::TracePlace::Line(line) => format!(" on line {line}"),
            _ => String::new(),
        };
        Ok(format!(
            "operation {number} of rank {rank} (`{operation}`{place})"
        ))
    }
}

/// The remedy for a missing partner; with failed machine parts, the trace may be right.
fn remedy(failed: &[String], partner: &str) -> String {
    if failed.is_empty() {
        format!("; add the {partner}, or correct its peer and tag")
    } else {
        String::new()
    }
}
