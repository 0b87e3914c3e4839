//! Descriptions of operations for people.

use crate::endpoint::Wanted;
use crate::trace::{PROGRAM, tagged};
use link::CollectiveKind;
use std::fmt;
use units::Bytes;

/// An operation as people read of it.
#[derive(Clone, Copy)]
pub(super) enum About {
    Sends(Bytes, u32, u64),
    Receives(Wanted),
    LooksFor(Wanted),
    Messages(Bytes, u32),
    Puts(Bytes, u32),
    Gets(Bytes, u32),
    Atomic(u32),
    Enqueues(Bytes, u32),
    Dequeues,
    Collective {
        kind: CollectiveKind,
        size: Bytes,
        root: u32,
        ranks: u32,
        hardware: bool,
        /// Whether the rank has gone on since.
        posted: bool,
    },
}

impl About {
    /// Whether a recording of the run in GOAL has words for it.
    pub fn is_recorded(&self) -> bool {
        matches!(
            self,
            About::Sends(..) | About::Receives(_) | About::LooksFor(_)
        )
    }

    /// The other rank, if it is known.
    pub fn peer(&self) -> Option<u32> {
        match *self {
            About::Receives(wanted) | About::LooksFor(wanted) => wanted.from,
            About::Sends(_, peer, _)
            | About::Messages(_, peer)
            | About::Puts(_, peer)
            | About::Gets(_, peer)
            | About::Enqueues(_, peer)
            | About::Atomic(peer) => Some(peer),
            About::Dequeues | About::Collective { .. } => None,
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            About::Sends(size, to, tag) => write!(f, "sends {size} to rank {to}{}", tagged(*tag)),
            About::Receives(wanted) => write!(f, "receives {wanted}"),
            About::LooksFor(wanted) => write!(f, "looks for {wanted}"),
            About::Messages(size, to) => write!(f, "sends {size} of its own to rank {to}"),
            About::Puts(size, to) => write!(f, "puts {size} into the memory of rank {to}"),
            About::Gets(size, from) => write!(f, "gets {size} from the memory of rank {from}"),
            About::Atomic(on) => write!(f, "changes a word of rank {on}"),
            About::Enqueues(size, to) => write!(f, "sends {size} to a queue of rank {to}"),
            About::Dequeues => write!(f, "receives a message of a queue"),
            About::Collective {
                kind,
                size,
                root,
                ranks,
                hardware,
                posted,
            } => {
                let way = if *hardware {
                    "hardware"
                } else {
                    "Elanlib's tree"
                };
                let calls = if *posted { "has begun" } else { "calls" };
                write!(f, "{calls} a {} ", kind.name())?;
                match kind {
                    CollectiveKind::Barrier => {}
                    CollectiveKind::Broadcast => write!(f, "of {size} from rank {root} ")?,
                    CollectiveKind::Reduce => write!(f, "of {size} at rank {root} ")?,
                    CollectiveKind::AllReduce => write!(f, "of {size} ")?,
                }
                write!(f, "among {ranks} ranks by {way}")
            }
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from {
            None => f.write_str("a message of any rank")?,
            Some(rank) => write!(f, "a message of rank {rank}")?,
        }
        if self.mask & PROGRAM == 0 {
            return f.write_str(", any tag");
        }
        f.write_str(&tagged(self.tag))
    }
}
