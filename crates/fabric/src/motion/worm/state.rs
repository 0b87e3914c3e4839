//! What the mover keeps of channels, links and adapters.

use super::line::Line;
use crate::motion::{Carried, HORIZON, Worm};
use crate::{ChannelId, Cycle, LinkId, Place};

/// No channel.
pub(super) const NONE: ChannelId = ChannelId::new(u32::MAX);

/// No adapter.
pub(super) const NO_ADAPTER: Place = Place::new(u32::MAX);

/// A count that no worm reaches and no buffer holds.
const BOUNDLESS: u32 = 1 << 31;

/// Channels of no link, which stand for the ends of paths and save a case wherever a neighbour is asked.
#[derive(Clone, Copy)]
pub(super) struct Specials {
    /// Upstream of an adapter: all flits have arrived.
    pub source: ChannelId,
    /// Downstream of a node: takes everything.
    pub sink: ChannelId,
    /// Downstream of a header that waits: takes nothing.
    pub nowhere: ChannelId,
}

impl Specials {
    /// The special channels have the numbers after those of the links.
    pub fn after(count: u32) -> Self {
        Specials {
            source: ChannelId::new(count),
            sink: ChannelId::new(count + 1),
            nowhere: ChannelId::new(count + 2),
        }
    }
}

/// One virtual channel of one link and its present worm; half a cache line. The rank of the worm is kept elsewhere: it
/// is asked for only where two worms compete.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Channel {
    /// `S`: flits sent over the link before a cycle. It may grow beyond the length of the worm until somebody looks, which
    /// nobody can tell: who compares with it has then sent all flits, too.
    pub sent: Line,
    /// `R`: flits arrived at the far end by a cycle, that cycle's included. Not kept where the link ends in a node; and
    /// not stopped after a tail, since nobody asks beyond.
    pub arrived: Line,
    /// Length of the worm; 0 if the channel is free.
    pub flits: u32,
    /// The channel that the worm arrives by, or the source.
    pub up: ChannelId,
    /// The channel that the worm leaves by, or the sink, or nowhere. The first of them if it branches.
    pub down: ChannelId,
    /// Another channel with the same one upstream, or [`NONE`].
    pub sibling: ChannelId,
}

impl Channel {
    fn standing(sent: u32, arrived: u32) -> Self {
        Channel {
            sent: Line::standing(sent),
            arrived: Line::standing(arrived),
            flits: 0,
            up: ChannelId::new(0),
            down: ChannelId::new(0),
            sibling: NONE,
        }
    }

    pub fn closed(specials: Specials) -> Self {
        let mut channel = Channel::standing(0, 0);
        channel.close(specials);
        channel
    }

    /// Source, sink, nowhere.
    pub fn specials() -> [Self; 3] {
        [
            Channel::standing(0, BOUNDLESS),
            Channel::standing(BOUNDLESS, 0),
            Channel::standing(0, 0),
        ]
    }

    pub fn open(&mut self, worm: &Worm, ejects: bool, specials: Specials) {
        *self = Channel {
            sent: Line::standing(0),
            arrived: Line::standing(0),
            flits: worm.flits,
            up: worm.upstream.unwrap_or(specials.source),
            down: if ejects {
                specials.sink
            } else {
                specials.nowhere
            },
            sibling: NONE,
        };
    }

    pub fn close(&mut self, specials: Specials) {
        self.flits = 0;
        self.sent = Line::standing(0);
        self.up = specials.source;
        self.down = specials.sink;
    }
}

/// One directed link; a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Link {
    /// The channel whose flits it sends, or [`NONE`]: it rests. Its worm may have ended in cycle `next`, and nobody has
    /// looked yet.
    pub mover: ChannelId,
    /// While it moves: the slots that it owes to tokens.
    pub owed: u32,
    /// While it moves: since when. While it rests: from when on it owes nothing; till then it pays a slot a cycle.
    pub since: Cycle,
    /// The prediction: the earliest cycle in which the mover cannot go on. One in the past if there is none.
    pub next: Cycle,
    /// The cycle for which a look was entered last.
    pub entered: Cycle,
    /// Flits sent before it began to move or to rest.
    flits: u64,
    /// Tokens charged so far, paid or not.
    charged: u64,
    /// Channels whose worm has flits to send, as bits.
    pub unsent: u8,
    /// Whether it is to be looked at in this cycle.
    pub marked: bool,
    /// Cycles from one end to the other. This and what follows never changes.
    pub delay: u8,
    /// Whether it starts in a node, and whether it ends in one.
    pub injects: bool,
    pub ejects: bool,
    /// Whether the end of a worm concerns nobody but another worm of the same link.
    pub quiet: bool,
    /// The adapter whose memory port it shares, or [`NO_ADAPTER`].
    pub adapter: Place,
}

const _: () = assert!(
    size_of::<Channel>() == 32 && size_of::<Link>() == 64,
    "cache lines"
);

impl Link {
    /// A link at rest between two ends, either of which may be an adapter.
    pub fn new(delay: u8, injects: bool, ejects: bool) -> Self {
        Link {
            mover: NONE,
            owed: 0,
            since: 0,
            next: 0,
            entered: 0,
            flits: 0,
            charged: 0,
            unsent: 0,
            marked: false,
            delay,
            injects,
            ejects,
            quiet: false,
            adapter: NO_ADAPTER,
        }
    }

    /// Whether its mover is no longer, or in this cycle for the last time, known to go on.
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "either is hard to foresee, both together less"
    )]
    #[inline]
    pub fn may_have_ended(&self, now: Cycle) -> bool {
        (self.mover != NONE) & (self.next <= now)
    }

    /// Ceases to move. Returns since when it moved.
    pub fn rest(&mut self, now: Cycle) -> Cycle {
        self.mover = NONE;
        self.flits += now - self.since;
        std::mem::replace(
            &mut self.since,
            now + u64::from(std::mem::take(&mut self.owed)),
        )
    }

    /// Owes one more token from cycle `now` on.
    pub fn charge(&mut self, now: Cycle) {
        self.charged += 1;
        // No branch, since nobody could foresee it.
        let rests = self.mover == NONE;
        self.owed += u32::from(!rests);
        self.since = if rests {
            self.since.max(now) + 1
        } else {
            self.since
        };
    }

    /// What it has carried before cycle `now`, in which the worm of its mover has not ended.
    pub fn carried(&self, now: Cycle) -> Carried {
        if self.mover == NONE {
            return Carried {
                flits: self.flits,
                tokens: self.charged - self.since.saturating_sub(now),
            };
        }
        Carried {
            flits: self.flits + (now - self.since),
            tokens: self.charged - u64::from(self.owed),
        }
    }
}

/// The two links of an adapter that share a memory port: injection, ejection.
#[derive(Clone)]
pub(super) struct Adapter {
    pub links: [LinkId; 2],
    /// The cycle in which a period of each began, modulo 2^64.
    begins: [Cycle; 2],
    /// Whether each is in a pause, if both want to move; valid before cycle `turn`.
    pub pauses: [bool; 2],
    /// The next cycle in which a pause begins or ends. A look is entered for it while both have flits that can move.
    pub turn: Cycle,
}

impl Adapter {
    /// In cycle 0 each link is as far in its period as its phase says.
    pub fn new(links: [LinkId; 2], phases: [u64; 2]) -> Self {
        Adapter {
            links,
            begins: phases.map(u64::wrapping_neg),
            pauses: [false; 2],
            turn: 0,
        }
    }

    /// Finds who pauses now, and until when that holds.
    pub fn find_windows(&mut self, now: Cycle, period: u64, burst: u64) {
        let mut lasts = HORIZON;
        for (pauses, begin) in self.pauses.iter_mut().zip(&mut self.begins) {
            let mut place = now.wrapping_sub(*begin);
            if place >= period {
                // Mostly it is the next period: without a division.
                place = if place < 2 * period {
                    place - period
                } else {
                    place % period
                };
                *begin = now.wrapping_sub(place);
            }
            *pauses = place < burst;
            lasts = lasts.min(if *pauses { burst } else { period } - place);
        }
        self.turn = now + lasts;
    }
}
