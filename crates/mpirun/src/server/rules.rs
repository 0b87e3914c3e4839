//! The rules that the orders of a turn keep, whatever a rank has written.
//!
//! | rule | without it |
//! |---|---|
//! | the last order, and no other, says what the rank waits for, or that it leaves MPI | the rank would go on twice, or never |
//! | a rank that was asked answers, and goes on waiting; a rank that was not asked does neither | the same |
//! | times begin where the rank went on, and do not go back | the simulation would have to |
//! | times end at the [`HORIZON`] | times would overflow |
//! | ranks that are named exist | there is nobody to send to |
//!
//! The link has checked lengths and parts before. What is left harms nobody: names of operations that the rank does not know
//! are its own affair, tags may be anything, a length is refused where there is no room for it.

use link::{Flags, Foul, NEVER, Order, OrderKind};
use units::Time;

/// Where the simulated time of programs ends. A processor with noise draws each detour on the way to a moment, so that a sleep
/// of years would take hours; and times near the end of the range of [`Time`] would overflow.
pub(crate) const HORIZON: Time = Time::from_secs(24 * 3600);

/// What a rank ordered in a turn.
pub(super) type Batch = Vec<(Order, Vec<u8>)>;

/// Why the orders of a turn are not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Foul(Foul),
    /// A time is at the horizon.
    Horizon,
}

impl From<Foul> for Refusal {
    fn from(foul: Foul) -> Self {
        Refusal::Foul(foul)
    }
}

/// Checks the orders that one of this many ranks, which went on at `now`, has given in a turn. `asked` says that the turn was
/// one to answer. A wait that ends beyond the horizon then ends there.
pub(super) fn check(batch: &mut Batch, ranks: u32, now: Time, asked: bool) -> Result<(), Refusal> {
    let Some(((last, _), before)) = batch.split_last_mut() else {
        return Err(Foul::NoWait.into());
    };
    let ends = match last.kind() {
        Some(OrderKind::Wait) => true,
        Some(OrderKind::Finish) => !asked,
        _ => false,
    };
    if !ends {
        return Err(Foul::NoWait.into());
    }
    if last.has(Flags::STILL) != asked {
        return Err(Foul::Answer.into());
    }
    let mut least = now.as_ps();
    for (order, _) in before.iter() {
        check_order(order, ranks, asked)?;
        least = check_time(order, least)?;
    }
    check_time(last, least)?;
    // A rank may wait for ever, and not sleep for ever.
    if last.key != NEVER || last.has(Flags::SLEEP) {
        last.key = last.key.min(HORIZON.as_ps());
    }
    Ok(())
}

fn check_order(order: &Order, ranks: u32, asked: bool) -> Result<(), Foul> {
    let (named, anybody) = match order.kind() {
        Some(OrderKind::Reply) if asked => return Ok(()),
        // What these name is looked up where they are carried out.
        Some(
            OrderKind::Claim
            | OrderKind::Cancel
            | OrderKind::Called
            | OrderKind::Queue
            | OrderKind::Dequeued
            | OrderKind::Group
            | OrderKind::Collective,
        ) if !asked => return Ok(()),
        Some(
            OrderKind::Send
            | OrderKind::Put
            | OrderKind::Get
            | OrderKind::Atomic
            | OrderKind::Enqueue,
        ) if !asked => (order.peer, false),
        Some(OrderKind::Receive | OrderKind::Peek) if !asked => (order.peer, true),
        Some(OrderKind::Reply) => return Err(Foul::Answer),
        Some(OrderKind::Wait | OrderKind::Finish) => return Err(Foul::NoWait),
        _ => return Err(Foul::of_kind(order)),
    };
    if named < ranks || anybody && named == Order::ANYBODY {
        Ok(())
    } else {
        Err(Foul::Peer { peer: named, ranks })
    }
}

/// The time of an order, which no later one may precede.
fn check_time(order: &Order, least: u64) -> Result<u64, Refusal> {
    let time = order.time;
    if time < least {
        return Err(Foul::Past { time, now: least }.into());
    }
    if time >= HORIZON.as_ps() {
        return Err(Refusal::Horizon);
    }
    Ok(time)
}

#[cfg(test)]
mod tests;
