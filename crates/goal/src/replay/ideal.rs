//! The replay on an ideal network: a program's additional time on a machine is the machine's cost.
//!
//! The network is that of `mpirun --network ideal`. A call takes the processor for [`CALL`]. A
//! message arrives [`LATENCY`] after its send has started, for any length and any other traffic. A
//! send ends with its call; a receive, when its call is over and its message is there. A put, a get
//! and an atomic end the latency after their start. An active message is sent as any other, and its
//! handler takes no time. Computation takes its time, without noise. The processor of stream 0 makes
//! all calls.

use super::{Record, ReplayFailure, ReplayResult, check_sizes};
use crate::ledger;
use crate::operation::Arrival;
use crate::progress::{RankProgress, ReadyOperation};
use crate::{ANY, Kind, Operation, Trace};
use elan::Stop;
use foldhash::HashMap;
use kernel::{EventQueue, Limits};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Time};

/// A call's processor time: that of the ES40's libraries.
pub const CALL: Time = Time::from_ns(250);

/// The time from a send's start to its message's arrival.
pub const LATENCY: Time = Time::from_us(1);

/// How many events pass between two looks at the bounds.
const INTERVAL: u64 = 1 << 12;

/// An event at a rank, for one of its operations.
enum Event {
    /// The operation starts, and others wait for that.
    Starts(u32),
    /// The operation ends, if it does not wait for a message; otherwise its call is over.
    Over(u32, Operation, Time),
    /// A probe's second call is over, which waits.
    Waits(PostedOperation),
    /// A message is there, or a put's bytes are.
    Arrives(Message, Arrival),
}

#[derive(Clone, Copy)]
struct Message {
    from: u32,
    tag: u32,
    size: u64,
}

/// A receive or probe after its call.
#[derive(Clone, Copy)]
struct PostedOperation {
    number: u32,
    operation: Operation,
    free: Time,
}

/// A rank's arrivals, and the operations that wait for them. Each entry has its place in the order
/// of all entries.
#[derive(Default)]
struct Inbox {
    entries: u64,
    /// By peer and tag; either may be [`ANY`].
    posted: HashMap<(u32, u32), VecDeque<(u64, PostedOperation)>>,
    /// Messages that no receive has taken, by peer and tag.
    unexpected: HashMap<(u32, u32), VecDeque<(u64, Message)>>,
    /// Probes that wait for a message.
    probes: Vec<PostedOperation>,
}

/// Takes a list's first entry out of its map.
fn take<T>(lists: &mut HashMap<(u32, u32), VecDeque<(u64, T)>>, key: (u32, u32)) -> Option<T> {
    let list = lists.get_mut(&key)?;
    let (_, first) = list.pop_front()?;
    if list.is_empty() {
        lists.remove(&key);
    }
    Some(first)
}

fn fits(operation: Operation, (from, tag): (u32, u32)) -> bool {
    (operation.peer == ANY || operation.peer == from)
        && (operation.tag == ANY || operation.tag == tag)
}

impl Inbox {
    /// Whether there is a message that a probe or poll means.
    fn has(&self, operation: Operation) -> bool {
        self.unexpected.keys().any(|&key| fits(operation, key))
    }

    /// The probes that have waited for a message, which comes.
    fn found(&mut self, message: Message) -> Vec<PostedOperation> {
        let key = (message.from, message.tag);
        let found = |probe: &mut PostedOperation| fits(probe.operation, key);
        self.probes.extract_if(.., found).collect()
    }

    /// The receive that takes a message, if there is one; otherwise the message stays.
    fn arrive(&mut self, message: Message) -> Option<PostedOperation> {
        let Message { from, tag, .. } = message;
        let keys = [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)].into_iter();
        let entry = |key| {
            let (entry, _) = self.posted.get(&key)?.front()?;
            Some((*entry, key))
        };
        let Some((_, key)) = keys.filter_map(entry).min() else {
            self.entries += 1;
            let list = self.unexpected.entry((from, tag)).or_default();
            list.push_back((self.entries, message));
            return None;
        };
        take(&mut self.posted, key)
    }

    /// The message that a receive takes, if there is one; otherwise the receive waits.
    fn post(&mut self, peer: u32, tag: u32, posted: PostedOperation) -> Option<Message> {
        let key = if peer == ANY || tag == ANY {
            let fits = |&(&(from, of), _): &(&(u32, u32), &VecDeque<(u64, Message)>)| {
                (peer == ANY || peer == from) && (tag == ANY || tag == of)
            };
            // Places in the order are unique, so that the map's order does not matter.
            let lists = self.unexpected.iter().filter(fits);
            let first = lists.min_by_key(|(_, list)| list.front().map(|&(entry, _)| entry));
            first.map_or((peer, tag), |(&key, _)| key)
        } else {
            (peer, tag)
        };
        let message = take(&mut self.unexpected, key);
        if message.is_none() {
            self.entries += 1;
            let list = self.posted.entry((peer, tag)).or_default();
            list.push_back((self.entries, posted));
        }
        message
    }
}

struct Ideal {
    record: Record,
    queue: EventQueue<(u32, Event)>,
    /// For each kind of arrival.
    inboxes: Vec<[Inbox; 3]>,
    /// When each of a rank's streams becomes idle.
    streams: Vec<Vec<Time>>,
    /// Polls that found no message and have their next call scheduled, by rank and number.
    looks: BTreeMap<(u32, u32), Operation>,
}

impl Ideal {
    /// Gives free operations to their rank's processors.
    fn give(&mut self, rank: u32, free: &[ReadyOperation]) -> Result<(), ReplayFailure> {
        let now = self.queue.now();
        let key = u64::from(rank);
        for one in free {
            self.record.progress[rank as usize].under_way(one, now);
            let operation = one.operation;
            self.record.calls(rank, (one.number, operation));
            let (stream, takes) = match operation.kind {
                Kind::Calc => (operation.cpu, Time::from_ns(operation.size)),
                Kind::Handle | Kind::Await => {
                    if one.tells_start {
                        let event = Event::Starts(one.number);
                        self.queue.schedule(now, key, (rank, event));
                    }
                    let event = Event::Over(one.number, operation, now);
                    self.queue.schedule(now, key, (rank, event));
                    continue;
                }
                _ => (0, CALL),
            };
            let streams = &mut self.streams[rank as usize];
            if streams.len() <= usize::from(stream) {
                streams.resize(usize::from(stream) + 1, Time::ZERO);
            }
            let begin = now.max(streams[usize::from(stream)]);
            let end = self.after((rank, one.number), begin, takes)?;
            let arrival = self.after((rank, one.number), begin, LATENCY)?;
            self.streams[rank as usize][usize::from(stream)] = end;
            if one.tells_start {
                self.queue
                    .schedule(begin, key, (rank, Event::Starts(one.number)));
            }
            let awaited = operation.kind == Kind::Put && operation.tag > 0;
            if awaited || matches!(operation.kind, Kind::Send | Kind::Active) {
                let message = Message {
                    from: rank,
                    tag: operation.tag,
                    size: operation.size,
                };
                let to = operation.peer;
                let event = (to, Event::Arrives(message, operation.kind.arrival()));
                self.queue.schedule(arrival, to.into(), event);
            }
            let over = if operation.kind.is_remote() {
                arrival
            } else {
                end
            };
            self.queue
                .schedule(over, key, (rank, Event::Over(one.number, operation, now)));
        }
        Ok(())
    }

    /// The moment a while after another one, for an operation that lasts until then.
    fn after(
        &mut self,
        (rank, number): (u32, u32),
        begin: Time,
        takes: Time,
    ) -> Result<Time, ReplayFailure> {
        begin.checked_add(takes).ok_or_else(|| {
            let what =
                "it would end after 213 days, which simulated time does not hold; compute less";
            self.record.trace.problem(rank, number, what).into()
        })
    }

    /// A look for a message is over, and has found one or not. If not, the next call begins.
    fn looked(&mut self, rank: u32, posted: PostedOperation) -> Result<(), ReplayFailure> {
        let PostedOperation {
            number,
            operation,
            free,
        } = posted;
        self.looks.remove(&(rank, number));
        if self.inbox(rank, Arrival::Message).has(operation) {
            return self.end(rank, (number, operation), free);
        }
        let step = match operation.kind {
            Kind::Poll => self.record.trace.notes().poll,
            _ => Time::ZERO,
        };
        let next = self.after((rank, number), self.queue.now(), step)?;
        let begin = next.max(self.streams[rank as usize][0]);
        let end = self.after((rank, number), begin, CALL)?;
        self.streams[rank as usize][0] = end;
        let event = if operation.kind == Kind::Probe {
            Event::Waits(posted)
        } else {
            self.looks.insert((rank, number), operation);
            Event::Over(number, operation, free)
        };
        self.queue.schedule(end, rank.into(), (rank, event));
        Ok(())
    }

    /// Whether the next calls of polls are all that is scheduled, and find no message: then no
    /// later calls do.
    fn stands_still(&self) -> bool {
        let found = |(&(rank, _), &look): (&(u32, u32), &Operation)| {
            self.inboxes[rank as usize][0].has(look)
        };
        !self.looks.is_empty()
            && self.looks.len() == self.queue.len()
            && !self.looks.iter().any(found)
    }

    /// A receive and its message have found each other.
    fn matched(
        &mut self,
        rank: u32,
        posted: PostedOperation,
        message: Message,
    ) -> Result<(), ReplayFailure> {
        if message.size > posted.operation.size {
            let what = format!(
                "a message of {} bytes from rank {} with tag {} does not fit; make the receive \
                longer",
                message.size, message.from, message.tag
            );
            return Err(self.record.trace.problem(rank, posted.number, &what).into());
        }
        let size = Bytes::new(message.size);
        let arrival = posted.operation.kind.arrival();
        if arrival != Arrival::Put {
            let way = (message.from, rank, ledger::tag(message.tag, arrival));
            self.record.received(way, size, posted.number);
        }
        self.end(rank, (posted.number, posted.operation), posted.free)
    }

    fn end(&mut self, rank: u32, which: (u32, Operation), free: Time) -> Result<(), ReplayFailure> {
        let record = &mut self.record;
        record.ended(rank, which, [free, self.queue.now()])?;
        let mut next = Vec::new();
        record.progress[rank as usize].ended(&mut record.trace, rank, which.0, &mut next)?;
        self.give(rank, &next)
    }

    fn inbox(&mut self, rank: u32, arrival: Arrival) -> &mut Inbox {
        &mut self.inboxes[rank as usize][arrival as usize]
    }

    fn happens(&mut self, rank: u32, event: &Event) -> Result<(), ReplayFailure> {
        match *event {
            Event::Starts(number) => {
                let (record, mut next) = (&mut self.record, Vec::new());
                let progress = &mut record.progress[rank as usize];
                progress.started(&mut record.trace, rank, number, &mut next)?;
                self.give(rank, &next)
            }
            Event::Over(number, operation, free) => {
                let posted = PostedOperation {
                    number,
                    operation,
                    free,
                };
                match operation.kind {
                    Kind::Probe | Kind::Poll => return self.looked(rank, posted),
                    Kind::Recv | Kind::Handle | Kind::Await => {}
                    _ => return self.end(rank, (number, operation), free),
                }
                let inbox = self.inbox(rank, operation.kind.arrival());
                match inbox.post(operation.peer, operation.tag, posted) {
                    Some(message) => self.matched(rank, posted, message),
                    None => Ok(()),
                }
            }
            Event::Waits(posted) => {
                let inbox = self.inbox(rank, Arrival::Message);
                if inbox.has(posted.operation) {
                    return self.end(rank, (posted.number, posted.operation), posted.free);
                }
                inbox.probes.push(posted);
                Ok(())
            }
            Event::Arrives(message, arrival) => {
                let inbox = self.inbox(rank, arrival);
                let (probes, receive) = (inbox.found(message), inbox.arrive(message));
                for probe in probes {
                    self.end(rank, (probe.number, probe.operation), probe.free)?;
                }
                match receive {
                    Some(posted) => self.matched(rank, posted, message),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Replays a trace on the ideal network; with `keep`, the records hold the operations. Setting
/// `cancel` ends the replay soon.
///
/// # Errors
/// A mistake in the trace; an exceeded bound; a cancelled run.
pub fn on_ideal(
    mut trace: Trace,
    keep: bool,
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<ReplayResult, ReplayFailure> {
    check_sizes(&mut trace)?;
    let ranks = trace.ranks();
    let mut ideal = Ideal {
        record: Record::new(trace, keep),
        queue: EventQueue::new(),
        inboxes: (0..ranks).map(|_| <[Inbox; 3]>::default()).collect(),
        streams: vec![Vec::new(); ranks as usize],
        looks: BTreeMap::new(),
    };
    for rank in 0..ranks {
        let record = &mut ideal.record;
        let free = RankProgress::begin(&mut record.trace, rank)?;
        ideal.give(rank, &free)?;
    }
    let bound = limits.time.unwrap_or(Time::MAX);
    while let Some((time, (rank, event))) = ideal.queue.pop() {
        let events = ideal.queue.events();
        if events.is_multiple_of(INTERVAL) || time > bound {
            if cancel.load(Ordering::Relaxed) {
                return Err(ideal.record.stopped(Stop::Cancelled, time, Vec::new()));
            }
            let memory = kernel::memory::current();
            let progress = kernel::Progress {
                time,
                events,
                memory,
            };
            if let Err(exceeded) = limits.check(progress) {
                return Err(ideal.record.stopped(exceeded.into(), time, Vec::new()));
            }
        }
        ideal.happens(rank, &event)?;
        if ideal.stands_still() {
            break;
        }
    }
    let at = ideal.queue.now();
    ideal.record.finish(at, Vec::new(), &[])
}
