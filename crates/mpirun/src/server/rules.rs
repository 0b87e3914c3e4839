//! A turn's parser: the rules that a turn's records keep, for any bytes that a rank has written.
//!
//! | rule | without it |
//! |---|---|
//! | the last record, and no other, is a wait, or leaves MPI | the rank would continue twice, or never |
//! | a rank that was asked answers, and continues waiting; a rank that was not asked does neither | the same |
//! | times begin where the rank continued, and do not go back | the simulation would have to |
//! | times end at the [`HORIZON`] | times would overflow |
//!
//! The link has parsed the records themselves before: lengths, parts, kinds, and ranks that are
//! named. The remaining mistakes are harmless: operation names that the rank does not know are its
//! own affair, tags may be anything, a length is refused where there is no room for it.

use crate::agent::{Content, GivenOrder, Turn, TurnEnd};
use crate::horizon::HORIZON;
use link::{Body, NEVER, Patience, RankWait, Record, Violation};
use units::Time;

/// A turn's records, each with its payload.
pub(super) type Records = Vec<(Record, Vec<u8>)>;

/// A rank's answer: bytes and their checksum.
pub(super) type Reply = (Vec<u8>, u64);

/// Why a turn's orders are not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Foul(Violation),
    /// A time is at the horizon.
    Horizon,
}

impl From<Violation> for Refusal {
    fn from(foul: Violation) -> Self {
        Refusal::Foul(foul)
    }
}

/// The turn of a rank that continued at a moment.
pub(super) fn turn(mut records: Records, now: Time) -> Result<Turn, Refusal> {
    let (end, time) = match records.pop() {
        Some((record, _)) => (end_of(&record.body)?, record.time),
        None => return Err(Violation::NoWait.into()),
    };
    let mut least = now;
    let orders: Result<Vec<GivenOrder>, Refusal> = records
        .into_iter()
        .map(|(record, bytes)| {
            let Body::Order(id, order) = record.body else {
                return Err(misplaced(&record.body).into());
            };
            least = check_time(record.time, least)?;
            Ok(GivenOrder {
                time: least,
                id,
                order,
                content: Content {
                    checksum: record.checksum,
                    bytes,
                },
            })
        })
        .collect();
    Ok(Turn {
        orders: orders?,
        end: Some((check_time(time, least)?, end)),
    })
}

/// The answer from a rank that continued waiting at a moment, and had its turn only to answer;
/// `None` if it does not.
pub(super) fn answer(mut records: Records, now: Time) -> Result<Option<Reply>, Refusal> {
    let Some((last, _)) = records.pop() else {
        return Err(Violation::NoWait.into());
    };
    match last.body {
        Body::Wait(_, true) => {}
        Body::Wait(_, false) => return Err(Violation::Answer.into()),
        _ => return Err(Violation::NoWait.into()),
    }
    let (mut least, mut first) = (now, None);
    for (record, bytes) in records {
        if record.body != Body::Reply {
            return Err(misplaced(&record.body).into());
        }
        least = check_time(record.time, least)?;
        first.get_or_insert((bytes, record.checksum));
    }
    check_time(last.time, least)?;
    Ok(first)
}

/// The foul for a misplaced record.
fn misplaced(body: &Body) -> Violation {
    match body {
        Body::Wait(..) | Body::Finish => Violation::NoWait,
        Body::Order(..) | Body::Reply | Body::Complaint(_) => Violation::Answer,
    }
}

/// A turn's end in its last record. A wait that ends beyond the horizon ends there.
fn end_of(last: &Body) -> Result<TurnEnd, Violation> {
    let horizon = HORIZON.as_ps();
    match *last {
        Body::Wait(_, true) => Err(Violation::Answer),
        Body::Wait(RankWait::Sleep { until }, _) => Ok(TurnEnd::Waits(RankWait::Sleep {
            until: until.min(horizon),
        })),
        // A rank may wait for ever, and not sleep for ever.
        Body::Wait(RankWait::Report(patience), _) if patience.until != NEVER => {
            Ok(TurnEnd::Waits(RankWait::Report(Patience {
                until: patience.until.min(horizon),
                ..patience
            })))
        }
        Body::Wait(wait, _) => Ok(TurnEnd::Waits(wait)),
        Body::Finish => Ok(TurnEnd::Leaves),
        Body::Order(..) | Body::Reply | Body::Complaint(_) => Err(Violation::NoWait),
    }
}

/// A record's time, which no later one may precede.
fn check_time(time: u64, least: Time) -> Result<Time, Refusal> {
    let now = least.as_ps();
    if time < now {
        return Err(Violation::Past { time, now }.into());
    }
    if time >= HORIZON.as_ps() {
        return Err(Refusal::Horizon);
    }
    Ok(Time::from_ps(time))
}

#[cfg(test)]
mod tests;
