//! # Faults: cables that die, bits that arrive wrong
//!
//! A fault changes the control plane's decisions and the adapters' notices. Flit motion stays as it
//! is, with one more operation: a worm may be *sunk*
//! ([`Motion::sink`](crate::motion::Motion::sink)), so that its flits are discarded as they come
//! in. A switch that dies is all its cables, an adapter its one cable: the caller cuts them.
//! Behaviour that the papers and the public headers do not describe is assumed; this essay marks
//! it.
//!
//! ## Bit errors
//!
//! A bit that crosses a link with bit error rate `r` arrives wrong with probability `r`, so that at
//! least one among `b` bits is wrong with probability `1 - (1 - r)^b`. The outcome is a hash over
//! seed, link, source, packet number and packet part: event order does not matter, and a packet
//! that is sent again, with a new number, has new luck. The hardware checks a CRC over the route at
//! each switch, and one over each transaction at the destination (public Elan3 headers).
//!
//! * *Header wrong* (`header_bits`, at the header's arrival at a switch): the switch sinks the
//!   worm. When the tail is in, the switch answers `Ack::Corrupted` along the path so far
//!   (assumed).
//! * *Body wrong* (the other bits, on all links along the path; on the last link all bits): the
//!   destination receives `Notice::Damaged` in place of `Notice::Delivered`, and answers
//!   `Ack::Corrupted`.
//! * *Acknowledgement wrong* (`token_bits`, on all links back): the source has no notice until the
//!   `timeout`, counted from the injection, and then `Ack::TimedOut`. The destination may have
//!   accepted the packet.
//! * *EOPs* are assumed to be protected by the link code (petrini2003 s2.2): simplified.
//!
//! ## Dead cables
//!
//! A cable that dies in cycle `c` is dead before any event in `c`: flits and answers that would
//! come in at an end in `c` or later are lost.
//!
//! *Grants.* A dead cable has no free channels. Channels that fall free meanwhile are kept for the
//! repair. Adaptive ascent therefore avoids the cable immediately. A header that has only dead
//! links to go on by, now or since it waits, is *refused*: the switch sinks the worm, and answers
//! `Ack::Unreachable` when the tail is in (assumed). An adapter with a dead cable refuses the
//! packet itself: the packet never enters, and is answered in the next cycle.
//!
//! *Headers.* A header on its way over the cable is lost. The worm is sunk at the far end when the
//! header would have arrived.
//!
//! *Packets that are crossing* go on as garbage: the far end fills in the flits that do not come.
//! So the motion stays as it is. At the end there is no notice. One cycle later the channels beyond
//! the dead cable are free, by the EOP that reports an error, which the switch behind the break
//! inserts (assumed; public headers have such an EOP). The source receives `Ack::TimedOut` at its
//! timeout, or when the worm has ended if that is later; its EOP then frees the channels up to the
//! break.
//!
//! *Packets that have crossed* arrive. An answer is lost if any cable on its way that it has yet to
//! pass is dead between its departure and its passage (simplified: also if the cable is repaired
//! before the answer comes to it). The source receives `Ack::TimedOut`; the channels beyond the
//! break are free one cycle after the answer would have been back, and a destination that waits for
//! the EOP receives a bad one. Switch answers are lost in the same ways.
//!
//! A timeout strikes only packets that can never end otherwise: a packet that merely waits is not
//! given up, and an answer that comes after the timeout counts (simplified). An EOP that has
//! started has passed, even if its cables die (simplified). In the circuit modes without
//! acknowledgement the channels are free as always, a sunk worm's last channel as if the switch
//! were the destination.
//!
//! ## Broadcasts
//!
//! A switch that sinks a part of a broadcast, or has no living link for a branch, answers for all
//! destinations below, in the time that these would need from there. A branch leads into the void
//! if its cable dies between the claim of its channel and the opening. A broadcast is *all or
//! nothing*: if any cable in it is dead at any time from the opening of its channel there until the
//! combined answer is back, or an answer comes wrong over a link, the source receives
//! `Ack::TimedOut`, and the EOP is bad everywhere. All channels stay until then (simplified: also
//! those beyond a dead cable).
//!
//! ## Known tables
//!
//! The routing tables of the sources list the cables that were dead at the last
//! [`Network::learn`](crate::Network::learn). A packet is routed as always if, by these tables, all
//! its ways are alive. For others see `tables`.

mod cables;
mod endings;
mod refusals;
mod tables;

pub use tables::NoRoute;

use super::Control;
use crate::motion::Lanes;
use crate::topology::DeadLinks;
use crate::{ChannelId, Config, Cycle, LinkId, Place, config, table};
use kernel::random;
use typed_index_collections::TiVec;

/// A cycle that never comes.
const NEVER: Cycle = Cycle::MAX;

/// A link's failures.
#[derive(Clone, Debug, Default)]
struct Cable {
    /// Cuts that have not been taken back.
    cuts: u32,
    /// The channels that are free once the cable lives again, as bits; 0 while it lives.
    kept: u32,
    /// From when to when the cable was dead; the last time may last.
    deaths: Vec<(Cycle, Cycle)>,
    /// Whether the sources' tables list the cable as dead.
    known: bool,
    /// The probability that a bit arrives wrong.
    rate: f64,
    /// Packets and acknowledgements that have arrived wrong.
    errors: u64,
}

/// The fault state for a channel's worm.
#[derive(Clone, Copy, Debug)]
struct WormFaults {
    /// Whether the header has arrived at the link's end, and whether it is lost on the way.
    header: bool,
    gone: bool,
    /// The cycle in which the tail was sent, as far as reported.
    tail: Cycle,
    /// The cycle in which the worm was sunk.
    sunk: Cycle,
}

const UNSEEN: WormFaults = WormFaults {
    header: false,
    gone: false,
    tail: NEVER,
    sunk: NEVER,
};

/// The packet part that a bit error strikes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Draw {
    /// The part that switches check.
    Header,
    /// This many bits that the destination checks.
    Body(u64),
    /// The acknowledgement.
    Token,
}

/// All fault state; see the module essay.
pub(super) struct Faults {
    config: config::FaultConfig,
    mixed_seed: u64,
    cables: TiVec<LinkId, Cable>,
    seen: TiVec<ChannelId, WormFaults>,
    /// Dead links: two for each dead cable.
    dead: u32,
    /// Links that the sources' tables list as dead.
    known: DeadLinks,
    /// Whether a cable has died or has been repaired since the sources learned.
    news: bool,
    /// Whether any cable has died so far, or has bit errors. Until then the machine behaves as
    /// without faults; only worm observations are noted.
    troubled: bool,
    /// Channels with worms to be sunk in this cycle, since the header is wrong or lost.
    sinking: Vec<ChannelId>,
}

impl Faults {
    /// State without failures so far; `None` if faults are impossible.
    pub fn new(config: &Config) -> Option<Self> {
        let faults = config.faults.clone()?;
        let links = config.topology.links() as usize;
        let mut cables: TiVec<LinkId, Cable> = table::equal(Cable::default(), links);
        for &(link, rate) in &faults.bit_error_rates {
            cables[link].rate = rate;
        }
        Some(Faults {
            cables,
            seen: table::equal(UNSEEN, Lanes::new(config.channels).bound(links)),
            dead: 0,
            known: DeadLinks::default(),
            news: false,
            troubled: !faults.bit_error_rates.is_empty(),
            sinking: Vec::new(),
            mixed_seed: mixed(faults.seed),
            config: faults,
        })
    }

    /// Whether anything has gone wrong so far, or may go wrong at any time.
    #[inline]
    pub fn is_troubled(&self) -> bool {
        self.troubled
    }

    /// Whether worms are to be sunk in this cycle.
    #[inline]
    pub fn sinks(&self) -> bool {
        !self.sinking.is_empty()
    }

    /// Whether a cable is dead, or the sources take one for dead.
    #[inline]
    pub fn cuts(&self) -> bool {
        self.dead > 0 || !self.known.is_empty()
    }

    /// A header has arrived over a channel at its link's end.
    #[inline]
    pub fn note_header(&mut self, channel: ChannelId) {
        self.seen[channel].header = true;
    }

    /// A channel has fallen free.
    #[inline]
    pub fn forget(&mut self, channel: ChannelId) {
        self.seen[channel] = UNSEEN;
    }

    /// A dead link's channels that will be free.
    pub fn kept(&self, link: LinkId) -> u32 {
        self.cables[link].kept
    }

    pub fn errors(&self, link: LinkId) -> u64 {
        self.cables[link].errors
    }

    /// Cycles before cycle `now` in which a link was dead.
    pub fn down(&self, link: LinkId, now: Cycle) -> u64 {
        let deaths = self.cables[link].deaths.iter();
        deaths.map(|&(from, to)| to.min(now) - from).sum()
    }

    /// Whether a link was dead in any cycle from `first` to `last`.
    pub fn was_dead(&self, link: LinkId, first: Cycle, last: Cycle) -> bool {
        let deaths = self.cables[link].deaths.iter().rev();
        deaths
            .take_while(|&&(_, to)| to > first)
            .any(|&(from, _)| from <= last)
    }

    /// Whether a bit error strikes a packet part on a link: the same answer in every call.
    pub fn draws(&self, link: LinkId, source: Place, sequence: u32, part: Draw) -> bool {
        let rate = self.cables[link].rate;
        if rate == 0.0 {
            return false;
        }
        random::note_draw();
        let (kind, bits) = match part {
            Draw::Header => (0, u64::from(self.config.header_bits)),
            Draw::Body(bits) => (1, bits),
            Draw::Token => (2, u64::from(self.config.token_bits)),
        };
        let place = u64::from(link.get()) << 2 | kind;
        let packet = u64::from(source.get()) << 32 | u64::from(sequence);
        // 53 bits: as many as a double holds.
        let drawn = (mixed(mixed(self.mixed_seed ^ place) ^ packet) >> 11) as f64;
        let certain = (1_u64 << 53) as f64;
        // Nearly all draws are above the sum of the probabilities of all bits. The margin is far
        // above the sum's rounding error.
        let most = rate * bits as f64 * (1.0 + 1e-9);
        drawn < most * certain && drawn < wrong(rate, bits) * certain
    }

    /// Counts that something has arrived wrong over a link.
    fn count_error(&mut self, link: LinkId) {
        self.cables[link].errors += 1;
    }
}

/// The probability that at least one bit is wrong. By squaring: the same on every computer, and
/// exact where it is small.
fn wrong(rate: f64, bits: u64) -> f64 {
    let both = |a: f64, b: f64| a + b - a * b;
    let (mut sum, mut power, mut rest) = (0.0, rate, bits);
    while rest > 0 {
        if rest & 1 == 1 {
            sum = both(sum, power);
        }
        power = both(power, power);
        rest >>= 1;
    }
    sum
}

/// `SplitMix64`'s finaliser, behind its step.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
