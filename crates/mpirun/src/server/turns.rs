//! The turns of the ranks: giving them, waiting for their end, and what is told and asked with them.

use crate::agent::{Agent, Part, Reader};
use crate::run::Link;
use crate::watch::{PATIENCE, Trouble, Watch};
use link::{Kind, News, Order, Phase, Report, Status};
use std::cell::RefCell;
use std::collections::BTreeMap;
use units::Time;

/// Longest part of a rank's memory that it is asked for at a time, or that is told in one piece.
const PART: u64 = link::BATCH as u64 / 2;

/// The turns of the ranks: who gives them and waits for their end.
pub(super) struct Turns {
    pub link: Link,
    watch: RefCell<Watch>,
    pub trouble: RefCell<Option<Trouble>>,
    /// Ranks that go on, each from its moment, and their orders if these have been taken before their time.
    out: RefCell<BTreeMap<(Time, u32), Option<Batch>>>,
}

/// What a rank ordered in a turn.
pub(super) type Batch = Vec<(Order, Box<[u8]>)>;

impl Turns {
    /// All ranks are about to attach, and to go on from the start.
    pub fn new(link: Link, watch: Watch) -> Self {
        let all = 0..link.lock().ranks();
        Turns {
            link,
            watch: RefCell::new(watch),
            trouble: RefCell::new(None),
            out: RefCell::new(all.map(|rank| ((Time::ZERO, rank), None)).collect()),
        }
    }

    /// Lets ranks go on, each from its moment.
    pub fn let_go(&self, ready: &[(Time, u32)]) {
        let mut link = self.link.lock();
        for &(moment, rank) in ready {
            link.give_turn(rank, Some(moment.as_ps()));
            self.out.borrow_mut().insert((moment, rank), None);
        }
        link.release();
    }

    /// The first moment from which a rank goes on whose orders have not been taken.
    pub fn first_out(&self) -> Option<Time> {
        let out = self.out.borrow();
        out.first_key_value().map(|(&(moment, _), _)| moment)
    }

    /// Takes the orders of the ranks that go on from a moment, as soon as these have given their turns away: in the order
    /// of the moments of their first orders, then of the ranks.
    pub fn take_orders(&self, moment: Time) -> Result<Vec<(u32, Batch)>, Trouble> {
        let mut out = Vec::new();
        while self.first_out() == Some(moment) {
            let ((_, rank), early) = self.out.borrow_mut().pop_first().expect("there is one");
            out.push((rank, early));
        }
        // The last one was the last to be woken: when it has given its turn away, there is mostly no wait for the others.
        let mut batches = Vec::new();
        for (rank, early) in out.into_iter().rev() {
            batches.push((rank, early.map_or_else(|| self.orders(rank), Ok)?));
        }
        batches.reverse();
        batches.sort_by_key(|(_, batch)| batch.first().map(|(order, _)| order.time));
        Ok(batches)
    }

    /// The orders of a rank, as soon as it has given its turn away.
    fn orders(&self, rank: u32) -> Result<Batch, Trouble> {
        self.until_given(rank)?;
        let link = self.link.lock();
        let orders = link.orders(rank);
        Ok(orders.map(|(order, bytes)| (order, bytes.into())).collect())
    }

    /// Takes the orders of a rank aside, once it has given its turn away, if it has one: then it can be asked.
    fn take_early(&self, rank: u32) -> Result<(), Trouble> {
        let mut out = self.out.borrow_mut();
        let early = out.iter_mut().find(|((_, number), _)| *number == rank);
        if let Some((_, early @ None)) = early {
            *early = Some(self.orders(rank)?);
        }
        Ok(())
    }

    /// Waits until a rank has given its turn away.
    fn until_given(&self, rank: u32) -> Result<(), Trouble> {
        // The lock is not held for the whole wait: others may ask about the ranks.
        while !self.link.lock().wait(rank, PATIENCE) {
            self.watch.borrow_mut().look(&self.link.lock())?;
        }
        Ok(())
    }

    pub fn look_sometimes(&self) -> Result<(), Trouble> {
        let link = self.link.lock();
        self.watch.borrow_mut().look_sometimes(&link)
    }

    pub fn trouble(&self) -> Result<(), Trouble> {
        self.trouble.borrow().map_or(Ok(()), Err)
    }

    /// Tells a rank what was written into its memory by a moment.
    pub fn tell_writes(&self, agent: &Agent, moment: Time) -> Result<(), Trouble> {
        while let Some((write, bytes)) = agent.next_write(moment) {
            let mut offset = write.offset;
            // Each part is a write of its own.
            for part in bytes.chunks(PART as usize) {
                let size = part.len() as u64;
                let write = News {
                    offset,
                    size,
                    payload: size,
                    ..write
                };
                self.tell(agent.rank, &write, part)?;
                offset += size;
            }
        }
        Ok(())
    }

    /// Tells a rank that goes on what has ended. What does not fit is told in turns of its own.
    pub fn tell_news(&self, agent: &Agent) -> Result<(), Trouble> {
        while let Some((news, bytes)) = agent.next_news() {
            let mut rest = &bytes[..];
            let mut offset = 0;
            while rest.len() as u64 > PART {
                let (part, after) = rest.split_at(PART as usize);
                let piece = News {
                    size: PART,
                    offset,
                    payload: PART,
                    report: Report::Piece as u32,
                    ..news
                };
                self.tell(agent.rank, &piece, part)?;
                rest = after;
                offset += PART;
            }
            let last = News {
                payload: rest.len() as u64,
                offset,
                ..news
            };
            self.tell(agent.rank, &last, rest)?;
        }
        Ok(())
    }

    fn tell(&self, rank: u32, news: &News, bytes: &[u8]) -> Result<(), Trouble> {
        while !self.link.lock().tell(rank, news, bytes) {
            self.serve_turn(rank)?;
        }
        Ok(())
    }

    /// Gives a rank the turn to take in what it has been told, and to answer.
    fn serve_turn(&self, rank: u32) -> Result<(), Trouble> {
        let mut link = self.link.lock();
        link.give_turn(rank, None);
        link.release();
        drop(link);
        self.until_given(rank)
    }

    /// The bytes that a rank answers with.
    fn answer(&self, rank: u32) -> Option<Box<[u8]>> {
        let link = self.link.lock();
        let mut orders = link.orders(rank);
        let reply = orders.find(|(order, _)| order.kind() == Some(Kind::Reply));
        reply.map(|(_, bytes)| bytes.into())
    }

    fn try_read(
        &self,
        agent: &Agent,
        at: Time,
        Part { key, offset, size }: Part,
    ) -> Result<Option<Box<[u8]>>, Trouble> {
        self.take_early(agent.rank)?;
        if self.link.lock().phase(agent.rank) == Phase::Finished {
            return Ok(None);
        }
        self.tell_writes(agent, at)?;
        let mut bytes = Vec::new();
        let mut done = 0;
        while done < size || (size == 0 && done == 0) {
            let part = (size - done).min(PART);
            let read = News {
                key,
                offset: offset + done,
                size: part,
                ..News::new(Report::Read, Status::Done, 0, 1)
            };
            self.tell(agent.rank, &read, &[])?;
            self.serve_turn(agent.rank)?;
            match self.answer(agent.rank) {
                Some(answer) if answer.len() as u64 == part => bytes.extend(&answer[..]),
                _ => return Ok(None),
            }
            if size == 0 {
                break;
            }
            done += part;
        }
        Ok(Some(bytes.into()))
    }
}

impl Reader for Turns {
    fn read(&self, agent: &Agent, at: Time, part: Part) -> Option<Box<[u8]>> {
        match self.try_read(agent, at, part) {
            Ok(bytes) => bytes,
            Err(trouble) => {
                self.trouble.replace(Some(trouble));
                None
            }
        }
    }
}
