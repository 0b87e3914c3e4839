//! The ranks' turns: giving them, waiting for their end, and the reports and requests that go with
//! them.

use super::rules::{self, Records, Refusal, Reply};
use crate::agent::{Agent, MemoryRange, Reader, Turn, TurnEnd};
use crate::endpoint::MessageNumber;
use crate::sent::PayloadDifference;
use crate::watch::cores::Cores;
use crate::watch::processes::is_locked_up;
use crate::watch::{PATIENCE, WaitEnd, Watch, is_dead};
use link::{Body, Complaint, Delivery, Payload, RankPhase, Report, Simulator, Violation};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Bytes, Time};

/// The link, which the server and queries about its ranks share.
#[derive(Clone)]
pub(crate) struct Link(Arc<Mutex<Simulator>>);

impl Link {
    pub fn new(simulator: Simulator) -> Self {
        Link(Arc::new(Mutex::new(simulator)))
    }

    pub fn lock(&self) -> MutexGuard<'_, Simulator> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ranks' turns, given and awaited.
pub(super) struct Turns {
    pub link: Link,
    watch: RefCell<Watch>,
    cores: RefCell<Cores>,
    pub trouble: RefCell<Option<WaitEnd>>,
    /// The bytes that differ from those that were sent, if [`WaitEnd::Corrupted`] is the trouble.
    pub wrong: RefCell<Option<PayloadDifference>>,
    /// The rank that has broken the rules, and how, if [`WaitEnd::Foul`] is the trouble.
    pub foul: RefCell<Option<(u32, Violation)>>,
    /// The moment from which each rank continued last.
    since: RefCell<Vec<Time>>,
    /// Ranks that the simulation must not leave behind, each with a moment.
    out: RefCell<BTreeMap<(Time, u32), TurnDelay>>,
    /// Ranks with processes that have ended, where that is no trouble; and those that the server
    /// has not yet noted.
    dead: RefCell<BTreeSet<u32>>,
    pub new_dead: RefCell<Vec<u32>>,
}

/// Why simulated time may not pass a rank's moment.
enum TurnDelay {
    /// The rank continues from it. Holds the rank's turn, if that has been taken before its time.
    Runs(Option<Turn>),
    /// The rank has left MPI a while before, and may come back at this moment.
    Away,
}

/// The least time that a rank is away from MPI, whenever it comes back: the process manager needs
/// it to let the rank in. If it were too long, only ranks that come back immediately would wait; if
/// it were short, ranks would exit one after the other.
const AWAY: Time = Time::from_ms(1);

/// The watch looks after which a rank that does not give its turn away is examined more closely,
/// and the consecutive findings that are needed that it waits for its own lock.
const LOCK_LOOKS: u32 = 5;
const LOCKED: u32 = 4;

impl Turns {
    /// All ranks' turns; the ranks are about to attach and to run from the start.
    pub fn new(link: Link, watch: Watch) -> Self {
        let ranks = link.lock().ranks();
        let all = 0..ranks;
        Turns {
            link,
            cores: RefCell::new(Cores::new(watch.launcher)),
            watch: RefCell::new(watch),
            trouble: RefCell::new(None),
            wrong: RefCell::new(None),
            foul: RefCell::new(None),
            since: RefCell::new(vec![Time::ZERO; ranks as usize]),
            dead: RefCell::default(),
            new_dead: RefCell::default(),
            out: RefCell::new(
                all.map(|rank| ((Time::ZERO, rank), TurnDelay::Runs(None)))
                    .collect(),
            ),
        }
    }

    /// Starts a world with this many ranks at a moment; returns its first rank, or `None` if there
    /// is no room.
    pub fn start(&self, count: u32, moment: Time) -> Option<u32> {
        let first = self.link.lock().start(count, moment.as_ps())?;
        let ranks = first..first + count;
        self.since
            .borrow_mut()
            .extend(ranks.clone().map(|_| moment));
        let runs = ranks.map(|rank| ((moment, rank), TurnDelay::Runs(None)));
        self.out.borrow_mut().extend(runs);
        Some(first)
    }

    /// Lets ranks go on, each from its moment.
    pub fn let_go(&self, ready: &[(Time, u32)]) {
        let mut link = self.link.lock();
        for &(moment, rank) in ready {
            link.give_turn(rank, Some(moment.as_ps()));
            self.since.borrow_mut()[rank as usize] = moment;
            let runs = TurnDelay::Runs(None);
            self.out.borrow_mut().insert((moment, rank), runs);
        }
        link.release();
    }

    /// The first moment at which a rank continues with orders not yet taken, or at which a rank may
    /// come back.
    pub fn first_out(&self) -> Option<Time> {
        let out = self.out.borrow();
        out.first_key_value().map(|(&(moment, _), _)| moment)
    }

    /// The rank that may come back at the first moment, and the moment.
    fn gate(&self) -> Option<(Time, u32)> {
        let out = self.out.borrow();
        let (&place, first) = out.first_key_value()?;
        matches!(first, TurnDelay::Away).then_some(place)
    }

    /// Whether a rank may come back at the first moment.
    pub fn is_gate(&self) -> bool {
        self.gate().is_some()
    }

    /// Waits until the first rank that may come back has come back, or its process exits. A rank
    /// that comes back continues.
    pub fn open_gate(&self) -> Result<Option<u32>, WaitEnd> {
        let Some((moment, rank)) = self.gate() else {
            return Ok(None);
        };
        self.out.borrow_mut().remove(&(moment, rank));
        loop {
            let link = self.link.lock();
            let dead = is_dead(&link, rank);
            match link.phase(rank) {
                RankPhase::Returning => break,
                RankPhase::Finished if !dead => {
                    let mut watch = self.watch.borrow_mut();
                    watch.look(&link)?;
                    if !watch.launcher_lives() {
                        // The rank's process is no longer awaited, regardless of the process number
                        // that the rank has written.
                        return Ok(None);
                    }
                    link.wait_for_return(rank, PATIENCE);
                }
                _ => return Ok(None),
            }
        }
        self.link.lock().comes_back(rank);
        self.let_go(&[(moment, rank)]);
        Ok(Some(rank))
    }

    /// Takes orders from the ranks that continue at a moment, as soon as these have given their
    /// turns away: ordered by the moments of their first orders, then by rank.
    pub fn take_orders(&self, moment: Time) -> Result<Vec<(u32, Turn)>, WaitEnd> {
        let mut out = Vec::new();
        while self.first_out() == Some(moment) && !self.is_gate() {
            let first = self.out.borrow_mut().pop_first();
            if let Some(((_, rank), TurnDelay::Runs(early))) = first {
                out.push((rank, early));
            }
        }
        // The last rank was the last to be woken: when it has given its turn away, there is mostly
        // no wait for the others.
        let mut turns = Vec::new();
        for (rank, early) in out.into_iter().rev() {
            turns.push((rank, early.map_or_else(|| self.turn(rank), Ok)?));
        }
        turns.reverse();
        for (rank, turn) in &turns {
            if let Some((time, TurnEnd::Leaves)) = turn.end {
                self.out
                    .borrow_mut()
                    .insert((time + AWAY, *rank), TurnDelay::Away);
            }
        }
        turns.sort_by_key(|(_, turn)| turn.begin());
        Ok(turns)
    }

    /// A rank's turn, as soon as it has given the turn away; empty if the rank has died before.
    fn turn(&self, rank: u32) -> Result<Turn, WaitEnd> {
        let Some(records) = self.records(rank)? else {
            return Ok(Turn::default());
        };
        let now = self.since.borrow()[rank as usize];
        rules::turn(records, now).map_err(|refusal| self.refuse(rank, refusal))
    }

    /// The answer from a rank that has its turn only to answer; `None` if the rank has died before,
    /// or does not answer.
    fn answer(&self, rank: u32) -> Result<Option<Reply>, WaitEnd> {
        let Some(records) = self.records(rank)? else {
            return Ok(None);
        };
        let now = self.since.borrow()[rank as usize];
        rules::answer(records, now).map_err(|refusal| self.refuse(rank, refusal))
    }

    fn refuse(&self, rank: u32, refusal: Refusal) -> WaitEnd {
        match refusal {
            Refusal::Foul(foul) => self.blame(rank, foul),
            Refusal::Horizon => WaitEnd::Horizon,
        }
    }

    /// A rank's records, as soon as it has given its turn away and all of them have come; `None` if
    /// the rank has died before. Complaints end the run, and so do payloads that have changed on
    /// their way.
    fn records(&self, rank: u32) -> Result<Option<Records>, WaitEnd> {
        let mut records = Records::new();
        loop {
            if !self.until_given(rank)? {
                return Ok(None);
            }
            let mut link = self.link.lock();
            let taken = link.take_records(rank, &mut records);
            if taken.map_err(|foul| self.blame(rank, foul))? {
                break;
            }
            // A rank may have more orders without end.
            self.watch.borrow_mut().look_sometimes(&link)?;
            link.give_turn(rank, None);
            link.release();
        }
        for (record, bytes) in &mut records {
            let size = Bytes::new(bytes.len() as u64);
            let wrong = match record.body {
                Body::Complaint(Complaint::Refuses { by, offset, size }) => {
                    let foul = Violation::Address {
                        peer: rank,
                        at: offset,
                        size,
                    };
                    // A rank that names a rank that does not exist is to blame.
                    let ranks = self.link.lock().ranks();
                    return Err(self.blame(if by < ranks { by } else { rank }, foul));
                }
                Body::Complaint(Complaint::Differs { message }) => {
                    PayloadDifference::Stored(MessageNumber(message as u32), std::mem::take(bytes))
                }
                _ if record.checksum == 0 || link::checksum([&bytes[..]]) == record.checksum => {
                    continue;
                }
                _ => PayloadDifference::Given(rank, size),
            };
            self.wrong.replace(Some(wrong));
            return Err(WaitEnd::Corrupted);
        }
        Ok(Some(records))
    }

    /// Keeps a rank's breach of the rules. The first rank counts.
    fn blame(&self, rank: u32, foul: Violation) -> WaitEnd {
        self.foul.borrow_mut().get_or_insert((rank, foul));
        WaitEnd::Foul
    }

    /// Takes a rank's orders aside, once it has given its turn away, if it has one: then it can be
    /// asked.
    fn take_early(&self, rank: u32) -> Result<(), WaitEnd> {
        let mut out = self.out.borrow_mut();
        let early = out.iter_mut().find(|((_, number), _)| *number == rank);
        if let Some((_, TurnDelay::Runs(early @ None))) = early {
            *early = Some(self.turn(rank)?);
        }
        Ok(())
    }

    /// Waits until a rank has given its turn away; false if the rank has died before, where that is
    /// no trouble.
    fn until_given(&self, rank: u32) -> Result<bool, WaitEnd> {
        let (mut looks, mut locked) = (0, 0);
        // The lock is not held for the whole wait: others may ask about the ranks.
        loop {
            let short = self.cores.borrow().patience();
            if self.link.lock().wait(rank, short.unwrap_or(PATIENCE)) {
                break;
            }
            if short.is_some() {
                self.cores.borrow_mut().late();
                continue;
            }
            let link = self.link.lock();
            let mut watch = self.watch.borrow_mut();
            watch.look(&link)?;
            // The phase and process that the rank has written do not count here: it has its turn,
            // and must give it away.
            let (dead, gone) = (is_dead(&link, rank), !watch.launcher_lives());
            looks += 1;
            if looks % LOCK_LOOKS == 0 && !dead {
                let is_locked = link.pid(rank).is_some_and(is_locked_up);
                locked = if is_locked { locked + 1 } else { 0 };
                if locked == LOCKED && !link.has_turn(rank) {
                    return Err(WaitEnd::Locked(rank));
                }
            }
            // The rank may have given its turn away before.
            if !(dead || gone) || link.has_turn(rank) {
                continue;
            }
            if dead && watch.keep_going {
                self.note_dead(rank);
                return Ok(false);
            }
            return Err(if dead {
                WaitEnd::Died(rank)
            } else {
                WaitEnd::LauncherGone
            });
        }
        self.cores.borrow_mut().turn(&self.link.lock());
        Ok(true)
    }

    fn note_dead(&self, rank: u32) {
        if self.dead.borrow_mut().insert(rank) {
            self.new_dead.borrow_mut().push(rank);
        }
    }

    /// The simulation has removed a rank: it gets no more reports or requests.
    pub fn give_up(&self, rank: u32) {
        self.dead.borrow_mut().insert(rank);
    }

    /// Looks for ranks that have died without having left MPI, where that is no trouble.
    pub fn look_for_dead(&self) {
        let link = self.link.lock();
        if self.watch.borrow().keep_going {
            let all = 0..link.ranks();
            let dead = all.filter(|&rank| is_dead(&link, rank) && !link.phase(rank).is_out());
            dead.for_each(|rank| self.note_dead(rank));
        }
    }

    pub fn look_sometimes(&self) -> Result<(), WaitEnd> {
        let link = self.link.lock();
        self.watch.borrow_mut().look_sometimes(&link)
    }

    pub fn trouble(&self) -> Result<(), WaitEnd> {
        self.trouble.borrow().map_or(Ok(()), Err)
    }

    /// Reports to a rank all writes into its memory up to a moment.
    pub fn tell_writes(&self, agent: &Agent, moment: Time) -> Result<(), WaitEnd> {
        while let Some((write, bytes)) = agent.next_write(moment) {
            self.tell(agent.rank, &write, &bytes)?;
        }
        Ok(())
    }

    /// Reports ended operations to a rank that continues.
    pub fn tell_reports(&self, agent: &Agent) -> Result<(), WaitEnd> {
        while let Some((report, bytes)) = agent.next_report() {
            self.tell(agent.rank, &report, &bytes)?;
        }
        Ok(())
    }

    /// Gives a rank a report. The part that does not fit travels in separate turns. Dead ranks get
    /// no reports.
    fn tell(&self, rank: u32, report: &Delivery, bytes: &[u8]) -> Result<(), WaitEnd> {
        let bytes = [bytes];
        let mut payload = Payload::new(&bytes);
        while !self.is_dead(rank) && !self.link.lock().tell(rank, report, &mut payload) {
            self.serve_turn(rank)?;
        }
        Ok(())
    }

    fn is_dead(&self, rank: u32) -> bool {
        self.dead.borrow().contains(&rank)
    }

    /// Gives a rank the turn to take in its reports, and to answer; returns the answer.
    fn serve_turn(&self, rank: u32) -> Result<Option<Reply>, WaitEnd> {
        let mut link = self.link.lock();
        link.give_turn(rank, None);
        link.release();
        drop(link);
        self.answer(rank)
    }

    fn try_read(
        &self,
        agent: &Agent,
        at: Time,
        MemoryRange { key, offset, size }: MemoryRange,
    ) -> Result<Option<(Vec<u8>, u64)>, WaitEnd> {
        self.take_early(agent.rank)?;
        if self.link.lock().phase(agent.rank).is_out() || agent.is_finished() {
            return Ok(None);
        }
        self.tell_writes(agent, at)?;
        let read = Report::Read { key, offset, size };
        self.tell(agent.rank, &read.into(), &[])?;
        if self.is_dead(agent.rank) {
            return Ok(None);
        }
        let reply = self.serve_turn(agent.rank)?;
        // A reply with another length means that there is no such memory.
        Ok(reply.filter(|(bytes, _)| bytes.len() as u64 == size))
    }
}

impl Turns {
    fn try_combine(&self, agent: &Agent, one: &[u8], other: &mut [u8]) -> Result<(), WaitEnd> {
        self.take_early(agent.rank)?;
        if self.link.lock().phase(agent.rank).is_out() || agent.is_finished() {
            return Ok(());
        }
        let vectors = [one, other].concat();
        self.tell(agent.rank, &Report::Combine.into(), &vectors)?;
        if self.is_dead(agent.rank) {
            return Ok(());
        }
        let reply = self.serve_turn(agent.rank)?;
        if let Some((bytes, _)) = reply.filter(|(bytes, _)| bytes.len() == other.len()) {
            other.copy_from_slice(&bytes);
        }
        Ok(())
    }
}

impl Reader for Turns {
    fn combine(&self, agent: &Agent, one: &[u8], other: &mut [u8]) {
        if let Err(trouble) = self.try_combine(agent, one, other) {
            self.trouble.replace(Some(trouble));
        }
    }

    fn blame(&self, rank: u32, foul: Violation) {
        self.trouble.replace(Some(Turns::blame(self, rank, foul)));
    }

    fn read(&self, agent: &Agent, at: Time, range: MemoryRange) -> Option<(Vec<u8>, u64)> {
        match self.try_read(agent, at, range) {
            Ok(bytes) => bytes,
            Err(trouble) => {
                self.trouble.replace(Some(trouble));
                None
            }
        }
    }
}
