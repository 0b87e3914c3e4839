//! A run's recording as schedules in GOAL, which a replay carries out on any machine ([`goal`]).
//!
//! The ranks' orders to the network are recorded, after matching:
//!
//! | in the run | in the rank's schedule |
//! |---|---|
//! | a send | a send. Its tag counts the messages from its rank to the receiver, so that all messages between two ranks have different tags |
//! | a receive | a receive of the one message that it took, without its wild cards |
//! | a look for a message that found one | a poll or a probe: a look that waits is a probe |
//! | unsuccessful looks before a successful one | no operation: the probe or poll looks as often as its own machine needs, a poll at the run's pace |
//! | a request's cost (for a nonblocking call) | a processor computation, before the call |
//! | a put, a get, an atomic | the same operation, on the other rank's memory |
//! | a message of the MPI library without matching | an active message, and its handler where the rank sees it |
//! | such a message that its rank never sees | a put |
//! | looks at a word in memory until a put has come | an await of this put |
//! | a sleep, or a look at a clock | a processor computation |
//! | the program's computation | a computation in stream 1 with its region, beside the calls, as in the run |
//! | other local time that passes: polls without a later end of an operation | a computation in stream 1, beside the calls |
//! | polls, until a wait or a look sees something | no operation: the replay waits for the end that the rank saw |
//! | a receive without a message | a computation that takes 0 ns |
//!
//! An operation starts when the call before it has started (`irequires`) and when all operations
//! that the rank had seen end in an earlier wait have ended (`requires`). So the costs of the
//! library's calls are not in the trace: the replay pays those of its own machine, and no cost is
//! paid twice. Times are rounded to nanoseconds, and the rest counts for the next one.
//!
//! GOAL has no words for looks and for others' memory; these operations are ours ([`goal::Kind`]).
//! Traces of programs without them do not contain them.
//!
//! Limits: a replay matches as the recorded run did. A rank that waits for any of several
//! operations waits, in the replay, for those that ended first in the recorded run. A rank that
//! computed between its polls computes first and then polls. In the run, the processor works for a
//! message when the rank waits; in the replay, when the message comes. A schedule is in memory
//! until the run is over.
//!
//! Operations that GOAL cannot express are refused, with the first one and their counts by the
//! call: queues, Elanlib's collective operations, synchronous sends, adapters' compare-and-swaps that
//! find another word, looks at words that other ranks write by atomics or in shared memory, and
//! messages without a receiver.

use goal::{Kind, Operation, RegionLimit, Schedule, TraceNotes, TraceProcessor, TraceRegion};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use units::{Bytes, Time};

/// The stream for the programs' computation, which runs beside the calls.
const PROGRAM: u8 = 1;

/// The time that a loop around `MPI_Iprobe` lets pass after a look.
const POLL: Time = Time::from_ps(link::Settings::DEFAULT.tick);

/// The plural for looks that a recording cannot express.
const WORDS: &str = "looks at words in memory";

/// The next operation's dependency: on an operation's start, if set, or on its end.
type Dependency = (u32, bool);

/// The recording of all ranks.
pub(crate) struct Recorder {
    tapes: Vec<Tape>,
    /// The additional processor time of a call that makes a request.
    request: Time,
    /// How many messages each rank has sent to each rank.
    counts: HashMap<(u32, u32), u32>,
    /// Messages that have not been received: sender, receiver and tag, by their numbers in the
    /// run's trace.
    sent: HashMap<usize, (u32, u32, u32)>,
    /// How many active messages each rank has sent to each rank.
    actives: HashMap<(u32, u32), u32>,
    /// Active messages that have not been seen: sender, operation and tag, by their numbers.
    active: BTreeMap<usize, (u32, u32, u32)>,
    /// Puts by their numbers in the run's trace: rank and operation. And how many are awaited.
    puts: HashMap<usize, (u32, u32)>,
    awaited: u32,
    /// Receives that looks have posted for the messages that they found, by the messages' numbers.
    kept: HashMap<usize, u32>,
    /// The names of the program's regions, and their numbers in the trace, from 1 on.
    regions: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The first operation that cannot be recorded, and the count of such operations by call and
    /// kind.
    refused: Option<String>,
    missing: BTreeMap<(u32, &'static str), u64>,
}

/// A rank's recording.
#[derive(Default)]
struct Tape {
    schedule: Schedule,
    /// The trace's numbers for the rank's regions, by the rank's own.
    regions: BTreeMap<u64, u32>,
    /// The rank's local time, at which `base` is met.
    time: Time,
    base: Vec<Dependency>,
    /// The last call since then.
    last: Option<u32>,
    /// Whether the base is a computation that ended after the last call.
    computed: bool,
    /// Time in waits without a seen end, since the last seen end.
    polled: Time,
    /// Operations that have not ended, by their names in the agent.
    under_way: HashMap<u64, u32>,
    /// Operations that the rank has seen end in its present wait.
    seen: Vec<u32>,
    /// Whether its present wait looks at words in its memory, and whether its last such wait saw no
    /// write.
    watches: bool,
    unseen: bool,
    /// The present wait's sleep.
    sleep: Option<u32>,
    /// The remainder of roundings.
    rest: Time,
    /// The present call's operations that cannot be recorded.
    missing: Vec<&'static str>,
}

impl Recorder {
    pub fn new(ranks: u32, request: Time) -> Self {
        Recorder {
            tapes: (0..ranks).map(|_| Tape::default()).collect(),
            request,
            counts: HashMap::new(),
            sent: HashMap::new(),
            actives: HashMap::new(),
            active: BTreeMap::new(),
            puts: HashMap::new(),
            awaited: 0,
            kept: HashMap::new(),
            regions: Vec::new(),
            numbers: HashMap::new(),
            refused: None,
            missing: BTreeMap::new(),
        }
    }

    /// A rank makes an operation of a kind that cannot be recorded.
    pub fn refuse(&mut self, rank: u32, kind: &'static str, what: &dyn Display) {
        self.refused
            .get_or_insert_with(|| format!("rank {rank} {what}"));
        self.tapes[rank as usize].missing.push(kind);
    }

    /// A rank has looked at words in its memory, in a loop around `MPI_Win_sync`, and what has
    /// ended the loop cannot be recorded.
    fn refuse_looks(&mut self, rank: u32, ends: &str) {
        self.refused.get_or_insert_with(|| {
            format!("rank {rank} waits for a word in its memory that {ends}")
        });
        let call = (link::calls::number("MPI_Win_sync"), WORDS);
        *self.missing.entry(call).or_default() += 1;
    }

    /// A rank's call has ended, which made the operations before.
    pub fn called(&mut self, rank: u32, call: u32) {
        for kind in self.tapes[rank as usize].missing.drain(..) {
            *self.missing.entry((call, kind)).or_default() += 1;
        }
    }

    /// The operations that cannot be recorded, by call: `MPI_Put: puts (20); MPI_Win_lock: atomics
    /// (2)`.
    fn missing(&self) -> String {
        let mut all = self.missing.clone();
        for kind in self.tapes.iter().flat_map(|tape| &tape.missing) {
            *all.entry((0, kind)).or_default() += 1;
        }
        let parts = all.iter().map(|(&(call, kind), count)| match call {
            0 => format!("outside of calls: {kind} ({count})"),
            call => format!("{}: {kind} ({count})", link::calls::name(call)),
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    fn call(&mut self, rank: u32, at: Time, request: Option<Time>, operation: Operation) -> u32 {
        self.looks_away(rank);
        self.tapes[rank as usize].call(at, request, operation)
    }

    /// A rank no longer looks at words in its memory. If its last look saw no write, another rank
    /// has stored a word without a message, as in a shared window.
    fn looks_away(&mut self, rank: u32) {
        if std::mem::take(&mut self.tapes[rank as usize].unseen) {
            self.refuse_looks(rank, "another rank writes");
        }
    }

    /// A rank sends a message with this number in the trace; returns the operation.
    pub fn sends(
        &mut self,
        rank: u32,
        at: Time,
        (to, size): (u32, Bytes),
        number: usize,
        request: bool,
    ) -> u32 {
        let count = self.counts.entry((rank, to)).or_default();
        let tag = *count;
        *count += 1;
        self.sent.insert(number, (rank, to, tag));
        let request = request.then_some(self.request);
        let operation = Operation::send(size.as_u64(), to, tag);
        self.call(rank, at, request, operation)
    }

    /// A rank starts to receive; returns the operation, which is a computation of 0 ns until its
    /// message is known.
    pub fn receives(&mut self, rank: u32, at: Time, request: bool) -> u32 {
        let request = request.then_some(self.request);
        self.call(rank, at, request, Operation::calc(0))
    }

    /// A rank reaches into another one's memory; returns the operation.
    pub fn reaches(&mut self, rank: u32, at: Time, (kind, peer, size): (Kind, u32, Bytes)) -> u32 {
        let operation = Operation::remote(kind, size.as_u64(), peer);
        self.call(rank, at, None, operation)
    }

    /// A rank puts bytes with this number in the trace; returns the operation.
    pub fn puts(&mut self, rank: u32, at: Time, to: (u32, Bytes), number: usize) -> u32 {
        let operation = self.reaches(rank, at, (Kind::Put, to.0, to.1));
        self.puts.insert(number, (rank, operation));
        operation
    }

    /// A rank that looks at words in its memory sees a write: that of the put with this number, or
    /// another one.
    pub fn sees_write(&mut self, rank: u32, number: Option<usize>) {
        let put = number.and_then(|number| self.puts.get(&number));
        let Some(&(from, put)) = put else {
            return self.refuse_looks(rank, "an atomic changes");
        };
        let put = &mut self.tapes[from as usize].schedule.operations[put as usize];
        if put.tag == 0 {
            self.awaited += 1;
            put.tag = self.awaited;
        }
        let awaits = Operation::active(Kind::Await, put.size, from, put.tag);
        let tape = &mut self.tapes[rank as usize];
        let after = tape.after();
        let awaits = tape.add(awaits, &after);
        tape.seen.push(awaits);
    }

    /// A rank sends an active message with this number in the trace; returns the operation.
    pub fn activates(
        &mut self,
        rank: u32,
        at: Time,
        (to, size): (u32, Bytes),
        number: usize,
    ) -> u32 {
        let count = self.actives.entry((rank, to)).or_default();
        let tag = *count;
        *count += 1;
        let operation = Operation::active(Kind::Active, size.as_u64(), to, tag);
        let operation = self.call(rank, at, None, operation);
        self.active.insert(number, (rank, operation, tag));
        operation
    }

    /// The agent's name for an operation.
    pub fn started(&mut self, rank: u32, key: u64, operation: u32) {
        let tape = &mut self.tapes[rank as usize];
        tape.under_way.insert(key, operation);
    }

    /// A rank sees that a send has ended, or an operation on another one's memory.
    pub fn sees_ended(&mut self, rank: u32, key: u64) {
        let tape = &mut self.tapes[rank as usize];
        tape.seen.extend(tape.under_way.remove(&key));
    }

    /// A rank sees the active message with this number.
    pub fn sees_active(&mut self, rank: u32, number: usize, size: Bytes) {
        let Some((from, _, tag)) = self.active.remove(&number) else {
            return;
        };
        let tape = &mut self.tapes[rank as usize];
        let after = tape.after();
        let handle = Operation::active(Kind::Handle, size.as_u64(), from, tag);
        let handle = tape.add(handle, &after);
        tape.seen.push(handle);
    }

    /// A rank sees that a receive has ended, which has taken the message with this number.
    pub fn sees_received(&mut self, rank: u32, key: u64, number: usize, size: Bytes) {
        let tape = &mut self.tapes[rank as usize];
        let posted = tape.under_way.remove(&key);
        if let Some(operation) = self.kept.remove(&number) {
            tape.seen.push(operation);
        } else if let (Some(operation), Some((from, _, tag))) = (posted, self.sent.remove(&number))
        {
            tape.schedule.operations[operation as usize] =
                Operation::recv(size.as_u64(), from, tag);
            tape.seen.push(operation);
        }
    }

    /// A rank has found the message with this number by a look that waited for it (`Kind::Probe`)
    /// or did not (`Kind::Poll`). It leaves the message where it is, or `keeps` it for a receive
    /// that is posted with this.
    pub fn sees_found(
        &mut self,
        rank: u32,
        number: usize,
        size: Bytes,
        (kind, keeps): (Kind, bool),
    ) {
        let Some(&(from, _, tag)) = self.sent.get(&number) else {
            return;
        };
        let (tape, size) = (&mut self.tapes[rank as usize], size.as_u64());
        let after = tape.after();
        let look = tape.add(Operation::look(kind, size, from, tag), &after);
        if keeps {
            self.sent.remove(&number);
            let receive = tape.add(Operation::recv(size, from, tag), &[(look, false)]);
            self.kept.insert(number, receive);
        }
        tape.seen.push(look);
    }

    /// A rank has executed a region up to a moment: by its own number for it, and the name the
    /// first time.
    pub fn computes(&mut self, rank: u32, at: Time, (region, name): (u64, &[u8]), time: Time) {
        let tape = &mut self.tapes[rank as usize];
        if !name.is_empty() {
            let name = link::plan::name(String::from_utf8_lossy(name).into_owned());
            let number = self.numbers.entry(name).or_insert_with_key(|name| {
                self.regions.push(name.clone());
                self.regions.len() as u32
            });
            tape.regions.entry(region).or_insert(*number);
        }
        let number = tape.regions.get(&region).copied().unwrap_or_default();
        tape.advance(at.saturating_sub(time), 0);
        tape.advance(at, number);
    }

    /// A rank waits from a moment on; it may look at `words` in its memory.
    pub fn waits(&mut self, rank: u32, at: Time, words: bool) {
        if !words {
            self.looks_away(rank);
        }
        let tape = &mut self.tapes[rank as usize];
        tape.advance(at, 0);
        tape.watches = words;
    }

    /// A rank sleeps, or waits until its processor is done with the calls before.
    pub fn sleeps(&mut self, rank: u32, at: Time, time: Time) {
        self.looks_away(rank);
        let tape = &mut self.tapes[rank as usize];
        tape.goes_by();
        tape.advance(at, 0);
        let ns = tape.round(time);
        let after = tape.after();
        tape.sleep = Some(tape.add(Operation::calc(ns), &after));
    }

    /// A rank continues after a wait. Time that no ended operation explains may pass like a
    /// computation.
    pub fn goes_on(&mut self, rank: u32, moment: Time) {
        let tape = &mut self.tapes[rank as usize];
        let waited = moment.saturating_sub(tape.time);
        tape.time = moment;
        tape.unseen = std::mem::take(&mut tape.watches) && tape.seen.is_empty();
        if let Some(sleep) = tape.sleep.take() {
            tape.base = vec![(sleep, false)];
        } else if tape.seen.is_empty() {
            tape.polled += waited;
            return;
        } else {
            let mut base = match tape.last {
                Some(last) if tape.computed => {
                    tape.base.push((last, true));
                    std::mem::take(&mut tape.base)
                }
                Some(last) => vec![(last, true)],
                None => std::mem::take(&mut tape.base),
            };
            base.retain(|(operation, _)| !tape.seen.contains(operation));
            tape.seen.sort_unstable();
            tape.seen.dedup();
            base.extend(tape.seen.drain(..).map(|operation| (operation, false)));
            tape.base = base;
        }
        (tape.last, tape.computed) = (None, false);
        tape.polled = Time::ZERO;
    }

    /// A rank leaves MPI.
    pub fn finishes(&mut self, rank: u32, at: Time) {
        self.looks_away(rank);
        let tape = &mut self.tapes[rank as usize];
        tape.goes_by();
        tape.advance(at, 0);
    }

    /// The trace's notes: the regions, with the limit of each one's speed and the processor that
    /// their times belong to, and the pace of polls.
    pub fn notes(
        &self,
        bound: impl Fn(&str) -> RegionLimit,
        processor: Option<TraceProcessor>,
    ) -> TraceNotes {
        let region = |name: &String| TraceRegion {
            name: name.clone(),
            bound: bound(name),
        };
        let polls = |tape: &Tape| {
            let mut operations = tape.schedule.operations.iter();
            operations.any(|operation| operation.kind == Kind::Poll)
        };
        TraceNotes {
            poll: if self.tapes.iter().any(polls) {
                POLL
            } else {
                Time::ZERO
            },
            regions: self.regions.iter().map(region).collect(),
            processor: processor.filter(|_| !self.regions.is_empty()),
        }
    }

    /// The schedules of all ranks, or the reason why the run cannot be recorded.
    pub fn schedules(&self) -> Result<Vec<Schedule>, String> {
        if let Some(refused) = &self.refused {
            let missing = self.missing();
            return Err(format!("{refused}; in all, by call: {missing}"));
        }
        if let Some(&(from, to, _)) = self.sent.values().min() {
            return Err(format!(
                "rank {from} sends a message to rank {to} that nobody receives"
            ));
        }
        let tapes = self.tapes.iter();
        let mut schedules: Vec<Schedule> = tapes.map(|tape| tape.schedule.clone()).collect();
        for &(rank, number, _) in self.active.values() {
            let active = &mut schedules[rank as usize].operations[number as usize];
            *active = Operation::remote(Kind::Put, active.size, active.peer);
        }
        Ok(schedules)
    }
}

impl Tape {
    /// Whole nanoseconds; the rest is kept for the next time.
    fn round(&mut self, time: Time) -> u64 {
        let ps = (time + self.rest).as_ps();
        self.rest = Time::from_ps(ps % 1000);
        ps / 1000
    }

    fn add(&mut self, operation: Operation, after: &[Dependency]) -> u32 {
        let number = self.schedule.add(operation);
        for &(earlier, start) in after {
            if start {
                self.schedule.irequires(number, earlier);
            } else {
                self.schedule.requires(number, earlier);
            }
        }
        number
    }

    /// The next call's dependencies.
    fn after(&self) -> Vec<Dependency> {
        let last = self.last.map(|last| (last, true));
        self.base.iter().copied().chain(last).collect()
    }

    /// The rank's polls were unsuccessful: the time passes like a computation.
    fn goes_by(&mut self) {
        self.time = self.time.saturating_sub(std::mem::take(&mut self.polled));
    }

    /// Local time advances to a moment, without the calls' processor, in a region of the program or
    /// (0) in none.
    fn advance(&mut self, at: Time, region: u32) {
        let ns = self.round(at.saturating_sub(self.time));
        if ns > 0 {
            self.computed = true;
            let program = Operation {
                cpu: PROGRAM,
                region,
                ..Operation::calc(ns)
            };
            let base = std::mem::take(&mut self.base);
            let computation = self.add(program, &base);
            self.base = vec![(computation, false)];
        }
        self.time = self.time.max(at);
    }

    fn call(&mut self, at: Time, request: Option<Time>, operation: Operation) -> u32 {
        self.goes_by();
        self.advance(at, 0);
        let mut after = self.after();
        let request = request.map_or(0, |request| self.round(request));
        if request > 0 {
            let makes = self.add(Operation::calc(request), &after);
            after = vec![(makes, false)];
        }
        let number = self.add(operation, &after);
        (self.last, self.computed) = (Some(number), false);
        number
    }
}

#[cfg(test)]
mod tests;
