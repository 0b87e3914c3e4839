//! What the mover keeps for channels, links and adapters.

use super::line::Line;
use crate::motion::{Carried, HORIZON, Worm};
use crate::{ChannelId, Cycle, LinkId, Place};

/// No channel.
pub(super) const NONE: ChannelId = ChannelId::new(u32::MAX);

/// No adapter.
pub(super) const NO_ADAPTER: Place = Place::new(u32::MAX);

/// A count that no worm reaches and no buffer holds.
const BOUNDLESS: u32 = 1 << 31;

/// Channels of no link, which stand for the ends of paths: code that asks a neighbour needs no case for an end.
#[derive(Clone, Copy)]
pub(super) struct Specials {
    /// Upstream of an adapter's channel: all flits have arrived.
    pub source: ChannelId,
    /// Downstream of a channel into a node: takes everything.
    pub sink: ChannelId,
    /// Downstream of a header that waits: takes nothing.
    pub nowhere: ChannelId,
}

impl Specials {
    /// The special channels, numbered after the channels of the links.
    pub fn after(count: u32) -> Self {
        Specials {
            source: ChannelId::new(count),
            sink: ChannelId::new(count + 1),
            nowhere: ChannelId::new(count + 2),
        }
    }
}

/// One virtual channel of one link and its present worm; half a cache line. The rank of the worm is kept elsewhere: only two
/// worms that compete need it.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Channel {
    /// `S`: flits sent over the link before a cycle. It may grow beyond the worm's length until the end is looked for. No
    /// comparison shows this: a channel that is compared with the line has then sent all flits, too.
    pub sent: Line,
    /// `R`: flits arrived at the far end by a cycle, that cycle's included. Not kept where the link ends in a node; and not
    /// stopped after a tail, since no one asks for later counts.
    pub arrived: Line,
    /// Length of the worm; 0 if the channel is free.
    pub flits: u32,
    /// The channel by which the worm arrives, or the source.
    pub up: ChannelId,
    /// The channel by which the worm leaves (the first of them if it branches), or the sink, or nowhere.
    pub down: ChannelId,
    /// The next channel with the same channel upstream, or [`NONE`].
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

    /// The special channels: source, sink, nowhere.
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
    /// The channel whose flits the link sends, or [`NONE`]: the link rests. The mover's worm may have ended in cycle `next`
    /// without a look at the link since.
    pub mover: ChannelId,
    /// While the link moves flits: the slots that it owes to tokens.
    pub owed: u32,
    /// While the link moves flits: the first cycle in which it moved them. While the link rests: the first cycle in which it
    /// owes nothing; till then it pays one slot a cycle.
    pub since: Cycle,
    /// The prediction: the earliest cycle in which the mover cannot go on; in the past if there is none.
    pub next: Cycle,
    /// The cycle of the [`Event::Due`](crate::motion::Event::Due) that was entered last.
    pub entered: Cycle,
    /// Flits sent before the link began to move flits, or to rest.
    flits: u64,
    /// Tokens charged so far, paid or not.
    charged: u64,
    /// Channels whose worm has flits to send, as bits.
    pub unsent: u32,
    /// Whether the link is to be looked at in this cycle.
    pub marked: bool,
    /// Cycles from one end to the other. This field and those that follow never change.
    pub delay: u16,
    /// Whether the link starts in a node, and whether it ends in one.
    pub injects: bool,
    pub ejects: bool,
    /// Whether the end of a worm concerns only other worms of the same link.
    pub quiet: bool,
    /// The adapter whose memory port the link shares, or [`NO_ADAPTER`].
    pub adapter: Place,
}

const _: () = assert!(
    size_of::<Channel>() == 32 && size_of::<Link>() == 64,
    "cache lines"
);

impl Link {
    /// A link at rest; `injects` and `ejects` say whether it starts, and whether it ends, at an adapter.
    pub fn new(delay: u16, injects: bool, ejects: bool) -> Self {
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

    /// Whether the link has a mover whose prediction is in the past or in this cycle, so that its worm may have ended.
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "either is hard to foresee, both together less"
    )]
    #[inline]
    pub fn may_have_ended(&self, now: Cycle) -> bool {
        (self.mover != NONE) & (self.next <= now)
    }

    /// Has the link cease to move flits. Returns since when it moved them.
    pub fn rest(&mut self, now: Cycle) -> Cycle {
        self.mover = NONE;
        self.flits += now - self.since;
        std::mem::replace(
            &mut self.since,
            now + u64::from(std::mem::take(&mut self.owed)),
        )
    }

    /// Has the link owe one more token from cycle `now` on.
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

    /// What the link has carried before cycle `now`, if the worm of its mover has not ended by then.
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
    /// The cycle in which a period of each link began, modulo 2^64.
    begins: [Cycle; 2],
    /// Whether each link is in a pause, if both want to move; valid before cycle `turn`.
    pub pauses: [bool; 2],
    /// The next cycle in which a pause begins or ends; entered as an event while both links have flits that can move.
    pub turn: Cycle,
}

impl Adapter {
    /// An adapter in cycle 0: each link is as far in its period as its phase says.
    pub fn new(links: [LinkId; 2], phases: [u64; 2]) -> Self {
        Adapter {
            links,
            begins: phases.map(u64::wrapping_neg),
            pauses: [false; 2],
            turn: 0,
        }
    }

    /// Finds which links pause now, and until when this holds.
    pub fn find_windows(&mut self, now: Cycle, period: u64, burst: u64) {
        let mut lasts = HORIZON;
        for (pauses, begin) in self.pauses.iter_mut().zip(&mut self.begins) {
            let mut place = now.wrapping_sub(*begin);
            if place >= period {
                // Mostly the next period has begun: no division is needed.
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
