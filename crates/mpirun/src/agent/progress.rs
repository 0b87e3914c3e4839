//! A rank's pending operations: how each ends, when the rank sees its end, and the reports to the
//! rank.

use super::operation::Operation;
use super::{Agent, Entry, State};
use crate::endpoint::{Finish, NetworkOp, OperationResult};
use kernel::Signal;
use link::{
    Delivery, EndStatus, Envelope, MessageFilter, NEVER, OperationEnd, Patience, RankWait, Report,
};
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
        operation: Operation,
        network: Rc<dyn NetworkOp>,
    ) -> u64 {
        if let Some(kind) = operation.unrecorded() {
            self.shared
                .record(|recorder| recorder.refuse(self.rank, kind, &operation));
        }
        let ended = network.ended();
        let mut state = self.state.borrow_mut();
        let key = state.started;
        state.started += 1;
        state.looks += u32::from(operation.looks());
        let entry = Entry {
            id,
            operation,
            network,
        };
        state.entries.insert(key, entry);
        drop(state);
        let agent = Rc::clone(self);
        self.node.serve("operation", async move {
            let at = ended.await;
            // If a send has no waiter, the processor takes its end when it comes.
            if let Some((finish, operation)) = agent.ended(key, at) {
                let mut incoming = finish.await;
                agent.takes_loss(&mut incoming, &operation);
            }
        });
        key
    }

    fn network(&self, key: u64) -> Rc<dyn NetworkOp> {
        Rc::clone(&self.state.borrow().entries[&key].network)
    }

    /// Takes an operation's loss message: the run's first loss is kept.
    fn takes_loss(&self, incoming: &mut OperationResult, operation: &Operation) -> Option<String> {
        let loss = incoming.loss.take()?;
        let about = format!("rank {} {operation}: {loss}", self.rank);
        self.shared.lost.borrow_mut().get_or_insert(about);
        Some(loss)
    }

    /// An operation has ended, and the rank could see its end. Returns the remaining work if the
    /// rank never will.
    fn ended(&self, key: u64, now: Time) -> Option<(Finish, Operation)> {
        let mut state = self.state.borrow_mut();
        let entry = &state.entries[&key];
        if let Some(record) = entry.operation.sends() {
            self.shared.trace.borrow_mut().sent(record, now);
            if entry.id == 0 {
                let entry = state.entries.remove(&key).expect("it is under way");
                return Some((entry.network.finish(now), entry.operation));
            }
        }
        if let Some((from, sequence)) = entry.operation.place() {
            // A message that has overtaken others is seen after them.
            state.early.insert((from, sequence), (now, key));
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
    pub(super) async fn wait(self: &Rc<Self>, begin: Time, wait: RankWait) {
        let moment = match wait {
            RankWait::Meeting { which, ranks } => return self.meet(begin, which, ranks),
            RankWait::Sleep { until } => {
                let time = Time::from_ps(until).saturating_sub(begin);
                self.shared
                    .record(|recorder| recorder.sleeps(self.rank, begin, time));
                self.state.borrow_mut().sleeps = true;
                let end = self.endpoint.compute(begin, time).await;
                self.state.borrow_mut().sleeps = false;
                if time.is_zero() {
                    let mut trace = self.shared.trace.borrow_mut();
                    trace.settled(self.rank, begin, end);
                }
                end
            }
            RankWait::Report(patience) => self.wait_for_report(begin, patience).await,
            RankWait::File(access) => self.access(begin, access).await,
        };
        self.shared.ready.borrow_mut().push((moment, self.rank));
    }

    /// The rank waits for a report; returns from when on it continues.
    async fn wait_for_report(self: &Rc<Self>, begin: Time, patience: Patience) -> Time {
        if patience.guessed {
            self.shared.guessed.set(true);
        }
        self.shared.record(|recorder| {
            recorder.waits(self.rank, begin, patience.writes);
        });
        // A claimed message or a refused operation has ended before its order; its end shows now.
        yield_now().await;
        let (until, writes) = (Time::from_ps(patience.until), patience.writes);
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
                    state.waits = Some(patience.threads);
                    state.until = patience.until;
                    state.hears_writes = writes;
                }
                self.something(patience.until).await;
                let mut state = self.state.borrow_mut();
                state.waits = None;
                state.until = 0;
                state.hears_writes = false;
                // Ranks have been started for this one.
                let told = (!state.reports.is_empty()).then(|| self.node.now());
                state.first(writes).or(told)
            }
            first => first,
        };
        let nudged = self.state.borrow_mut().nudged.take();
        match first.or(nudged) {
            Some(at) if at <= begin || at < until => {
                let written = self.state.borrow().written.front().copied();
                let polled = written.filter(|&(moment, _)| writes && moment == at);
                if let Some((_, put)) = polled {
                    self.shared
                        .record(|recorder| recorder.sees_write(self.rank, put));
                }
                // A process that polls a word sees it a while after it has been stored.
                let lag = match polled {
                    Some(_) if at > begin => self.endpoint.poll(),
                    _ => Time::ZERO,
                };
                self.see(at.max(begin) + lag).await
            }
            // Operations that end in that moment, or have ended since, before these orders were
            // taken, are for the next time.
            _ => begin.max(until),
        }
    }

    /// The rank waits for others outside the simulation. All go on when the last one has come.
    fn meet(&self, at: Time, which: u64, ranks: u64) {
        let mut meetings = self.shared.meetings.borrow_mut();
        let there = meetings.entry(which).or_default();
        there.push((at, self.rank));
        if there.len() as u64 >= ranks {
            let all = meetings.remove(&which).unwrap_or_default();
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

    /// The rank sees, one after the other, all that had ended by a moment. Returns when the rank is
    /// done with it.
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
            let incoming = self.network(key).finish(now).await;
            // An end that took no processor time was seen in the same moment.
            let after = self.node.now();
            if after > before {
                now = after;
            }
            self.tell(key, incoming, now);
        }
    }

    /// Reports an end to the rank.
    fn tell(self: &Rc<Self>, key: u64, mut incoming: OperationResult, at: Time) {
        let mut state = self.state.borrow_mut();
        let entry = state.entries.remove(&key).expect("it is under way");
        let (id, operation) = (entry.id, entry.operation);
        state.looks -= u32::from(operation.looks());
        if operation.is_move() {
            self.shared.moves.update(|count| count + 1);
        }
        let number = operation.number().or(incoming.number);
        let in_flight = &self.shared.in_flight;
        let sent = number
            .map(|number| in_flight.get(number, |sent| (sent.record, sent.data, sent.checksum)));
        let record = sent.map(|(record, ..)| record);
        if incoming.status == EndStatus::Done
            && operation.room().is_some_and(|room| incoming.size > room)
        {
            (incoming.status, incoming.bytes) = (EndStatus::Truncated, Box::default());
        }
        let whole = matches!(incoming.status, EndStatus::Done | EndStatus::Truncated);
        if let Some(record) = operation.copies().filter(|_| whole) {
            self.shared.trace.borrow_mut().copied(record, at);
        }
        if operation.claims() && incoming.status == EndStatus::Done {
            // No other receive may take the message from now on.
            let wanted = MessageFilter {
                from: Some(incoming.from),
                tag: incoming.tag,
                mask: u64::MAX,
            };
            let network = self.endpoint.receive(at, wanted, incoming.size, false);
            state.kept.insert(id, (network, wanted));
        }
        // A message that is too long for its receive counts as received.
        if operation.receives() && whole {
            let record = record.expect("it came with its number");
            let mut trace = self.shared.trace.borrow_mut();
            incoming.from = trace.messages[record].source;
            trace.received(record, at);
        }
        let found = record.filter(|_| whole).map(|record| {
            let size = self.shared.trace.borrow().messages[record].bytes;
            (record, size)
        });
        self.shared
            .record(|recorder| operation.record_end(recorder, self.rank, key, found));
        if incoming.status == EndStatus::Refused {
            let about = format!("rank {} {operation}", self.rank);
            self.shared.no_room.borrow_mut().get_or_insert(about);
        }
        if let Some(loss) = self.takes_loss(&mut incoming, &operation) {
            incoming.bytes = loss.into_bytes().into();
            let peer = operation.peer();
            incoming.status = EndStatus::Lost { peer };
        }
        if operation.is_refused() {
            incoming.status = EndStatus::Refused;
        }
        let queue = operation.queue();
        if let Some(queue) = queue.and_then(|name| state.queues.get_mut(&name)) {
            queue.told += 1;
        }
        let (_, data, checksum) = sent.unwrap_or_default();
        // Receives that only look leave the message where it is.
        if !operation.looks() {
            state.told.extend(number);
        }
        let message = Envelope {
            from: incoming.from,
            tag: incoming.tag,
            data,
            size: incoming.size.as_u64(),
        };
        let status = incoming.status;
        let report = operation.report(message, |end| {
            Report::Ended(OperationEnd { id, status, end })
        });
        let delivery = Delivery {
            report,
            checksum,
            message: number.map_or(0, |number| number.0.into()),
        };
        state.reports.push_back((delivery, incoming.bytes));
    }
}

impl State {
    /// The first moment at which something ended that the rank has not seen, or at which something
    /// was written into its memory.
    fn first(&self, writes: bool) -> Option<Time> {
        let ended = self.ended.front().map(|&(at, _)| at);
        let written = self.written.front().map(|&(at, _)| at);
        let written = written.filter(|_| writes);
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
