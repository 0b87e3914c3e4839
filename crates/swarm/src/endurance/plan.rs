//! A long run's messages: everything about them follows from their seed.

use super::{Course, NODES};
use kernel::random::Stream;

/// The longest message.
pub const LONGEST: u64 = 4096;

/// A message's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Put,
    Get,
    Queue,
    Tport,
    Add,
}

/// All messages, as numbers.
pub struct MessagePlan {
    /// Each round's kind, and its receivers' distance.
    pub rounds: Vec<(Kind, u32)>,
    seed: u64,
}

/// The finaliser of `SplitMix64`, behind its step.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl MessagePlan {
    pub fn new(course: &Course) -> Self {
        let mut random = Stream::new(course.seed, "endurance");
        let mut draw = |end| random.uniform_u64(0..end);
        let rounds = (0..course.rounds).map(|_| {
            let kind = match draw(100) {
                0..30 => Kind::Put,
                30..45 => Kind::Get,
                45..70 => Kind::Queue,
                70..92 => Kind::Tport,
                _ => Kind::Add,
            };
            (kind, 1 + draw(u64::from(NODES) - 1) as u32)
        });
        MessagePlan {
            rounds: rounds.collect(),
            seed: course.seed,
        }
    }

    pub fn kind(&self, round: u32) -> Kind {
        self.rounds[round as usize].0
    }

    /// The node to which a node sends in a round.
    pub fn to(&self, from: u32, round: u32) -> u32 {
        (from + self.rounds[round as usize].1) % NODES
    }

    /// The node that sends to a node in a round.
    pub fn from(&self, to: u32, round: u32) -> u32 {
        (to + NODES - self.rounds[round as usize].1) % NODES
    }

    /// A kind's rounds.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = u32> {
        (0..self.rounds.len() as u32).filter(move |&round| self.kind(round) == kind)
    }

    pub fn key(&self, from: u32, round: u32) -> u64 {
        mixed(mixed(self.seed) ^ name(from, round))
    }

    /// A message's bytes.
    pub fn bytes(&self, from: u32, round: u32) -> Vec<u8> {
        let key = self.key(from, round);
        let drawn = key >> 32;
        let length = match key % 100 {
            _ if self.kind(round) == Kind::Queue => 16 + drawn % 305,
            0..80 => 16 + drawn % 273,
            80..98 => 289 + drawn % 712,
            _ => 1001 + drawn % (LONGEST - 1000),
        };
        let mut bytes = Vec::with_capacity(length as usize + 8);
        bytes.extend(name(from, round).to_le_bytes());
        for word in 1..length.div_ceil(8) {
            bytes.extend(mixed(key ^ word).to_le_bytes());
        }
        bytes.truncate(length as usize);
        bytes
    }

    /// The message that has these bytes: its sender and its round.
    pub fn message(&self, to: u32, kind: Kind, bytes: &[u8]) -> Result<(u32, u32), String> {
        let altered = || {
            format!(
                "node {to} has a message of {} bytes that nobody has sent to it: {:?}",
                bytes.len(),
                kind
            )
        };
        let head = bytes.first_chunk().ok_or_else(altered)?;
        let head = u64::from_le_bytes(*head);
        let (from, round) = ((head >> 32) as u32, head as u32);
        let is_one = from < NODES
            && (round as usize) < self.rounds.len()
            && self.kind(round) == kind
            && self.to(from, round) == to
            && self.bytes(from, round) == bytes;
        is_one.then_some((from, round)).ok_or_else(altered)
    }
}

/// Sender and round in one number.
fn name(from: u32, round: u32) -> u64 {
    u64::from(from) << 32 | u64::from(round)
}
