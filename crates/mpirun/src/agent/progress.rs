//! The operations that a rank has under way: how each ends, when the rank sees its end, and what the rank is told.

use super::about::About;
use super::{Agent, Entry, Role, State};
use crate::endpoint::{Finish, Incoming, Manner, NetworkOp, Wanted};
use goal::Kind;
use kernel::Signal;
use link::{Flags, NEVER, Order, Report, Status};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use units::Time;

impl Agent {
    /// Keeps an operation that has been started, until its end has been seen.
    pub(super) fn start(
        self: &Rc<Self>,
        id: u64,
        role: Role,
        operation: Rc<dyn NetworkOp>,
        about: About,
    ) -> u64 {
        if !about.is_recorded() {
            self.shared
                .record(|recorder| recorder.refuse(self.rank, &about));
        }
        let ended = operation.ended();
        let mut state = self.state.borrow_mut();
        let key = state.started;
        state.started += 1;
        state.looks += u32::from(role.looks());
        let entry = Entry {
            id,
            role,
            operation,
            about,
            found: None,
        };
        state.entries.insert(key, entry);
        drop(state);
        let agent = Rc::clone(self);
        self.node.serve("operation", async move {
            let at = ended.await;
            // If nobody waits for a send, the processor takes its end when it comes.
            if let Some((finish, about)) = agent.ended(key, at) {
                let mut incoming = finish.await;
                agent.takes_loss(&mut incoming, &about);
            }
        });
        key
    }

    pub(super) fn operation(&self, key: u64) -> Rc<dyn NetworkOp> {
        Rc::clone(&self.state.borrow().entries[&key].operation)
    }

    /// Takes what an operation says of its loss: the first loss of the run is kept.
    fn takes_loss(&self, incoming: &mut Incoming, about: &About) -> Option<String> {
        let loss = incoming.loss.take()?;
        let about = format!("rank {} {about}: {loss}", self.rank);
        self.shared.lost.borrow_mut().get_or_insert(about);
        Some(loss)
    }

    /// An operation has ended, and the rank could see its end. Returns what is left to do if the rank never will.
    fn ended(&self, key: u64, now: Time) -> Option<(Finish, About)> {
        let mut state = self.state.borrow_mut();
        let entry = &state.entries[&key];
        if let Role::Send(number) = entry.role {
            self.shared.trace.borrow_mut().sent(number, now);
            if entry.id == 0 {
                let entry = state.entries.remove(&key).expect("it is under way");
                return Some((entry.operation.finish(now), entry.about));
            }
        }
        if let Role::Untagged(from, number, _) = entry.role {
            // A message that has overtaken others is seen after them.
            state.early.insert((from, number), (now, key));
            let mut expected = state.expected.get(&from).copied().unwrap_or_default();
            while let Some((_, key)) = state.early.remove(&(from, expected)) {
                state.has_ended(now, key);
                expected += 1;
            }
            state.expected.insert(from, expected);
        } else {
            state.has_ended(now, key);
        }
        if !state.ended.is_empty() {
            state.bell.fire();
        }
        None
    }

    /// The rank waits.
    pub(super) async fn wait(self: &Rc<Self>, order: &Order) {
        if order.has(Flags::MEETING) {
            return self.meet(order);
        }
        if order.has(Flags::GUESSED) {
            self.shared.guessed.set(true);
        }
        let (begin, until) = (Time::from_ps(order.time), Time::from_ps(order.key));
        let moment = if order.has(Flags::SLEEP) {
            let time = until.saturating_sub(begin);
            self.shared
                .record(|recorder| recorder.sleeps(self.rank, begin, time));
            self.endpoint.compute(begin, time).await
        } else {
            self.shared
                .record(|recorder| recorder.waits(self.rank, begin));
            // A claimed message or a refused operation has ended before its order; its end shows now.
            yield_now().await;
            let writes = order.has(Flags::WRITES);
            let first = {
                let state = self.state.borrow();
                if state.reports.is_empty() {
                    state.first(writes)
                } else {
                    Some(begin)
                }
            };
            let first = match first {
                None if begin < until => {
                    {
                        let mut state = self.state.borrow_mut();
                        state.waits = Some(order.has(Flags::THREADS));
                        state.hears_writes = writes;
                    }
                    self.something(order.key).await;
                    let mut state = self.state.borrow_mut();
                    state.waits = None;
                    state.hears_writes = false;
                    state.first(writes)
                }
                first => first,
            };
            let nudged = self.state.borrow_mut().nudged.take();
            match first.or(nudged) {
                Some(at) if at <= begin => self.see(begin).await,
                Some(at) if at < until => {
                    // A process that polls a word sees it a while after it has been stored.
                    let polls = writes && self.state.borrow().written.front() == Some(&at);
                    let lag = if polls {
                        self.endpoint.poll()
                    } else {
                        Time::ZERO
                    };
                    self.see(at + lag).await
                }
                // Operations that end in that moment, or have ended since, before these orders were taken, are for the next time.
                _ => begin.max(until),
            }
        };
        self.shared.ready.borrow_mut().push((moment, self.rank));
    }

    /// The rank waits for others outside the simulation. All go on when the last one has come.
    fn meet(&self, order: &Order) {
        let mut meetings = self.shared.meetings.borrow_mut();
        let there = meetings.entry(order.id).or_default();
        there.push((Time::from_ps(order.time), self.rank));
        if there.len() as u64 >= order.size {
            let all = meetings.remove(&order.id).unwrap_or_default();
            let last = all.iter().map(|&(at, _)| at).max().unwrap_or_default();
            let all = all.into_iter().map(|(_, rank)| (last, rank));
            self.shared.ready.borrow_mut().extend(all);
        }
    }

    /// Waits until something has ended, or a moment has come.
    async fn something(&self, until: u64) {
        let bell = {
            let mut state = self.state.borrow_mut();
            state.bell = Signal::new();
            state.bell.clone()
        };
        let mut bell = pin!(bell.wait());
        if until == NEVER {
            bell.await;
        } else {
            let mut alarm = pin!(self.node.sleep_until(Time::from_ps(until)));
            poll_fn(|context| match bell.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => alarm.as_mut().poll(context),
            })
            .await;
        }
    }

    /// The rank sees, one after the other, all that had ended by a moment. Returns when the rank is done with it.
    async fn see(self: &Rc<Self>, moment: Time) -> Time {
        let mut now = moment;
        loop {
            let key = {
                let mut state = self.state.borrow_mut();
                match state.ended.front() {
                    Some(&(at, key)) if at <= moment => {
                        state.ended.pop_front();
                        key
                    }
                    _ => return now,
                }
            };
            let before = self.node.now();
            let incoming = self.operation(key).finish(now).await;
            // An end that took no time of the processor was seen in the same moment.
            let after = self.node.now();
            if after > before {
                now = after;
            }
            self.tell(key, incoming, now);
        }
    }

    /// Tells the rank of an end.
    fn tell(self: &Rc<Self>, key: u64, mut incoming: Incoming, at: Time) {
        let mut state = self.state.borrow_mut();
        let entry = state.entries.remove(&key).expect("it is under way");
        state.looks -= u32::from(entry.role.looks());
        let mut trace = self.shared.trace.borrow_mut();
        let number = match entry.role {
            Role::Get(_, number) | Role::Untagged(.., number) => Some(number),
            _ => incoming.number,
        };
        let in_flight = &self.shared.in_flight;
        let sent = number
            .map(|number| in_flight.get(number, |sent| (sent.record, sent.data, sent.checksum)));
        if let Role::Claim(room) = entry.role
            && incoming.status == Status::Done
            && incoming.size > room
        {
            (incoming.status, incoming.bytes) = (Status::Truncated, Box::default());
        }
        match entry.role {
            Role::Put(record)
            | Role::Get(record, _)
            | Role::Atomic(record)
            | Role::Enqueue(record) => trace.copied(record, at),
            Role::Peek(true) if incoming.status == Status::Done => {
                // No other receive may take the message from now on.
                let wanted = Wanted {
                    from: Some(incoming.from),
                    tag: incoming.tag,
                    mask: u64::MAX,
                    room: incoming.size,
                    request: false,
                };
                let operation = self.endpoint.receive(at, wanted, Manner::Takes);
                state.kept.insert(entry.id, (operation, wanted));
            }
            // A message that is too long for its receive counts as received.
            Role::Receive | Role::Claim(_) | Role::Untagged(..)
                if matches!(incoming.status, Status::Done | Status::Truncated) =>
            {
                let (record, ..) = sent.expect("it came with its number");
                incoming.from = trace.messages[record].source;
                trace.received(record, at);
            }
            _ => {}
        }
        let whole = matches!(incoming.status, Status::Done | Status::Truncated);
        self.shared.record(|recorder| match (entry.role, sent) {
            (Role::Send(_), _) => recorder.sees_sent(self.rank, key),
            (Role::Receive | Role::Claim(_), Some((record, ..))) if whole => {
                let size = trace.messages[record].bytes;
                recorder.sees_received(self.rank, key, record, size);
            }
            (role, Some((record, ..))) if whole && role.looks() => {
                let size = trace.messages[record].bytes;
                let how = match role {
                    Role::Peek(keeps) => (Kind::Poll, keeps),
                    _ => (Kind::Probe, false),
                };
                recorder.sees_found(self.rank, record, size, how);
            }
            _ => {}
        });
        if incoming.status == Status::Refused {
            let about = format!("rank {} {}", self.rank, entry.about);
            self.shared.no_room.borrow_mut().get_or_insert(about);
        }
        if let Some(loss) = self.takes_loss(&mut incoming, &entry.about) {
            incoming.bytes = loss.into_bytes().into();
            incoming.from = entry.about.peer().unwrap_or(Order::ANYBODY);
        }
        let found = entry.found.map(|found| found.get()).unwrap_or_default();
        if found.refused {
            incoming.status = Status::Refused;
        }
        incoming.tag |= found.word;
        let queue = match entry.role {
            Role::Arrival(name) => name,
            _ => 0,
        };
        if let Some(queue) = state.queues.get_mut(&queue) {
            queue.told += u64::from(matches!(entry.role, Role::Arrival(_)));
        }
        let (_, data, checksum) = sent.unwrap_or_default();
        // Receives that only look leave the message where it is.
        if !entry.role.looks() {
            state.told.extend(number);
        }
        let report = Report {
            tag: incoming.tag,
            key: queue,
            size: incoming.size.as_u64(),
            peer: incoming.from,
            data,
            checksum,
            message: number.map_or(0, |number| number.0.into()),
            ..Report::new(entry.role.report(), incoming.status, at.as_ps(), entry.id)
        };
        state.reports.push_back((report, incoming.bytes));
    }
}

impl State {
    /// The first moment at which something ended that the rank has not seen, or at which something was written into its memory.
    fn first(&self, writes: bool) -> Option<Time> {
        let ended = self.ended.front().map(|&(at, _)| at);
        let written = self.written.front().copied().filter(|_| writes);
        ended.into_iter().chain(written).min()
    }

    /// Something has ended, which the rank may see from a moment on.
    fn has_ended(&mut self, at: Time, key: u64) {
        let place = self.ended.partition_point(|&(before, _)| before <= at);
        self.ended.insert(place, (at, key));
    }
}

/// Lets the other tasks run that are ready.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
