//! The mover's state for channels, links and adapters.

use super::WormMover;
use super::line::Line;
use crate::config::{MAX_CHANNELS, MAX_FLITS};
use crate::motion::{HORIZON, Worm};
use crate::records::{self, Hop, Moment, State};
use crate::{ChannelId, Cycle, LinkId};
use bytemuck::Zeroable;

impl State for WormMover {
    type Link = Link;
    type Channel = Channel;

    fn at_rest(&self, link: LinkId, hop: &Hop) -> Link {
        let shares = self.share_burst > 0 && (hop.injects() || hop.ejects());
        let is_slow = self.slow.has(link);
        Link::new(!shares && !hop.ejects() && !self.unlinks, shares, is_slow)
    }

    fn closed(&self) -> Channel {
        Channel::closed(self.specials)
    }

    fn ends(&self) -> Vec<Channel> {
        Channel::specials(self.mirrors.count())
    }
}

/// No channel.
pub(super) const NONE: ChannelId = ChannelId::new(u32::MAX);

/// In place of a channel's number: the link rests.
pub(super) const RESTS: u8 = u8::MAX;

/// A count that no worm reaches and no buffer holds.
const BOUNDLESS: u32 = 1 << 31;

/// Channels without a link, which stand for the ends of paths: code that reads a neighbour needs no
/// case for an end.
#[derive(Clone, Copy)]
pub(super) struct EndChannels {
    /// Upstream from an adapter's channel: all flits have arrived.
    pub source: ChannelId,
    /// Downstream from a channel into a node: takes every flit.
    pub sink: ChannelId,
    /// Downstream from a header that waits: takes no flit.
    pub nowhere: ChannelId,
    /// Downstream from a sunk worm, until its sender gets the credits: takes no flit.
    pub drain: ChannelId,
}

impl EndChannels {
    /// The special channels, numbered after the channels of the links.
    pub fn after(count: u32) -> Self {
        EndChannels {
            source: ChannelId::new(count),
            sink: ChannelId::new(count + 1),
            nowhere: ChannelId::new(count + 2),
            drain: ChannelId::new(count + 3),
        }
    }

    /// A mirror, numbered after these.
    pub fn mirror(&self, number: u32) -> ChannelId {
        ChannelId::new(self.drain.get() + 1 + number)
    }

    /// Whether the worm with this channel downstream, which is not a worm into a node, is sunk, or
    /// has passed on entirely.
    pub fn sinks(&self, down: ChannelId) -> bool {
        down == self.sink || down == self.drain
    }
}

/// A virtual channel and its present worm. The worm's rank is kept elsewhere: only two worms that
/// compete need it.
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct Channel {
    /// `S`: flits sent over the link before a cycle. It may grow beyond the worm's length until the
    /// end is looked for. No comparison shows this: a channel that is compared with the line has
    /// then sent all flits, too.
    pub(super) sent: Line,
    /// `R`: flits arrived at the far end by a cycle, that cycle's included. Not kept where the link
    /// ends in a node; and not stopped after a tail, since later counts are never read.
    pub(super) arrived: Line,
    /// The worm's length, 0 if the channel is free; with [`COMPLEX`].
    length: u32,
    /// The channel by which the worm arrives, or the source.
    pub(super) up: ChannelId,
    /// The channel by which the worm leaves (the first one if it branches), or the sink, or
    /// nowhere.
    pub(super) down: ChannelId,
}

/// A bit in a length: the room behind the channel upstream does not follow from line `sent` alone.
/// There is another channel with the same one upstream, or credits return late.
const COMPLEX: u32 = 1 << 31;

const _: () = assert!(MAX_FLITS < COMPLEX, "a length leaves the bit free");

impl Channel {
    /// The worm's length in flits; 0 if the channel is free.
    #[inline]
    pub(super) fn flits(&self) -> u32 {
        self.length & !COMPLEX
    }

    /// Whether the room behind the channel upstream may be less than line `sent` leaves: see
    /// [`COMPLEX`].
    #[inline]
    pub(super) fn is_complex(&self) -> bool {
        self.length & COMPLEX != 0
    }

    /// Whether it is so is news.
    pub(super) fn set_complex(&mut self, is: bool) {
        self.length = self.flits() | if is { COMPLEX } else { 0 };
    }

    fn standing(sent: u32, arrived: u32) -> Self {
        Channel {
            sent: Line::standing(sent),
            arrived: Line::standing(arrived),
            length: 0,
            up: ChannelId::new(0),
            down: ChannelId::new(0),
        }
    }

    pub(super) fn closed(specials: EndChannels) -> Self {
        let mut channel = Channel::standing(0, 0);
        channel.close(specials);
        channel
    }

    /// The special channels, source, sink, nowhere and drain, and some mirrors.
    pub(super) fn specials(mirrors: usize) -> Vec<Self> {
        let mut all = vec![Channel::standing(0, 0); 4 + mirrors];
        all[0] = Channel::standing(0, BOUNDLESS);
        all[1] = Channel::standing(BOUNDLESS, 0);
        all
    }

    pub(super) fn open(&mut self, worm: &Worm, ejects: bool, specials: EndChannels) {
        *self = Channel {
            sent: Line::standing(0),
            arrived: Line::standing(0),
            length: worm.flits,
            up: worm.upstream.unwrap_or(specials.source),
            down: if ejects {
                specials.sink
            } else {
                specials.nowhere
            },
        };
    }

    /// Another region's channel: its worm comes. The worm's fate before the border is not known
    /// here.
    pub(super) fn expect(&mut self, flits: u32, specials: EndChannels) {
        self.arrived = Line::standing(0);
        self.length = flits;
        self.down = specials.nowhere;
    }

    pub(super) fn close(&mut self, specials: EndChannels) {
        self.length = 0;
        self.sent = Line::standing(0);
        self.up = specials.source;
        self.down = specials.sink;
    }
}

/// One directed link, as far as it moves.
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct Link {
    /// While the link moves flits: the first cycle in which it moved them. While the link rests:
    /// the first cycle without debt; till then it pays one slot a cycle.
    pub(super) since: Moment,
    /// The prediction: the earliest cycle in which the mover cannot go on; in the past if there is
    /// none.
    pub(super) next: Moment,
    /// The cycle of the last entered [`Event::Due`](crate::motion::Event::Due).
    pub(super) entered: Moment,
    /// While the link moves flits: the slots that it owes to tokens.
    pub(super) owed: u32,
    /// Channels with flits to send, as bits.
    pub(super) unsent: u32,
    /// The place of the channel that the link serves, its *mover*, or [`RESTS`]. The mover's worm
    /// may have ended in cycle `next` without a look at the link since.
    pub(super) mover: u8,
    /// Whether the link is to be looked at in this cycle.
    pub(super) marked: bool,
    /// Whether a worm's end concerns only other worms on the same link.
    pub(super) quiet: bool,
    /// The link's special features, as bits [`SHARES`] and [`SLOW`]. Never changes.
    pub(super) special: u8,
}

const _: () = assert!(
    size_of::<records::Link<Link>>() == 64 && size_of::<records::Channel<Channel>>() == 32,
    "a line of the cache, and half a line"
);

const _: () = assert!(MAX_CHANNELS < RESTS as u32, "a channel's place fits");

/// The link shares its adapter's memory port.
const SHARES: u8 = 1;

/// The link is slow.
const SLOW: u8 = 2;

impl Link {
    /// A link at rest.
    pub(super) fn new(quiet: bool, shares: bool, is_slow: bool) -> Self {
        Link {
            since: Moment::new(0),
            next: Moment::new(0),
            entered: Moment::new(0),
            owed: 0,
            unsent: 0,
            mover: RESTS,
            marked: false,
            quiet,
            special: if shares { SHARES } else { 0 } | if is_slow { SLOW } else { 0 },
        }
    }

    /// Whether the link shares its adapter's memory port.
    #[inline]
    pub(super) fn shares(&self) -> bool {
        self.special & SHARES != 0
    }

    /// Whether the link is slow.
    #[inline]
    pub(super) fn is_slow(&self) -> bool {
        self.special & SLOW != 0
    }

    /// Whether the link has no mover.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.mover == RESTS
    }

    /// Whether the link's mover has a prediction in the past or in this cycle, so that its worm may
    /// have ended.
    #[inline]
    pub(super) fn may_have_ended(&self, now: Cycle) -> bool {
        // Either is hard to foresee, both together less.
        !self.rests() & self.next.has_come(now)
    }

    /// Whether the link's mover is the channel at a place.
    #[inline]
    pub(super) fn serves(&self, lane: u32) -> bool {
        u32::from(self.mover) == lane
    }

    /// Has the link cease to move flits from cycle `end` on. Returns since when it moved them.
    pub(super) fn rest(&mut self, end: Cycle) -> Cycle {
        self.mover = RESTS;
        let clear = end + u64::from(std::mem::take(&mut self.owed));
        std::mem::replace(&mut self.since, Moment::new(clear)).by(end)
    }

    /// Has the link owe one more token from cycle `now` on.
    pub(super) fn charge(&mut self, now: Cycle) {
        // No branch, since it would be unpredictable.
        let rests = self.rests();
        self.owed += u32::from(!rests);
        self.since = if rests {
            Moment::new(self.since.by(now).max(now) + 1)
        } else {
            self.since
        };
    }

    /// Moves moments before cycle `now` to the cycle before it, which makes no difference. `last`
    /// is the last executed cycle.
    pub(super) fn settle(&mut self, last: Cycle, now: Cycle) {
        let clear = if self.rests() {
            Some(&mut self.since)
        } else {
            None
        };
        for moment in [&mut self.next, &mut self.entered].into_iter().chain(clear) {
            if moment.by(last) < now {
                *moment = Moment::new(now - 1);
            }
        }
    }
}

/// An adapter's two links that share a memory port: injection, ejection.
#[derive(Clone, Zeroable)]
pub(super) struct Adapter {
    pub links: [LinkId; 2],
    /// The cycle in which each link's period began, modulo 2^64.
    begins: [Cycle; 2],
    /// Whether each link is in a pause, if both want to move; valid before cycle `turn`.
    pub pauses: [bool; 2],
    /// The next cycle in which a pause begins or ends; entered as an event while both links have
    /// flits that can move.
    pub turn: Cycle,
}

impl Adapter {
    /// An adapter in cycle 0: each link is at its phase within its period.
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
