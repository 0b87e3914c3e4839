//! Rank groups and their collective calls, which Elanlib's groups carry out in the simulator.

use super::{Buffer, Ticket, begin, life, session, wait};
use link::collective::{ALL_RANKS, VectorReduction};
use link::{CollectiveCall, CollectiveKind, Combiner, Order};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A rank group, by the number that all its members compute alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupNumber(u64);

/// The group numbers of our own libraries have this bit.
const OWN_GROUPS: u64 = 1 << 63;

/// Groups that the simulator knows.
static NAMED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// The group with these ranks in this order; the first time, it is announced to the simulator.
pub fn group(ranks: &[u32]) -> GroupNumber {
    let all = session().rank().1;
    if ranks.iter().copied().eq(0..all) {
        return GroupNumber(ALL_RANKS);
    }
    // FNV-1a: well-known, and the same everywhere.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let bytes = ranks.iter().flat_map(|rank| rank.to_ne_bytes());
    let key = bytes.fold(0xcbf2_9ce4_8422_2325, mix) | OWN_GROUPS;
    if NAMED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(key)
    {
        let members = ranks.len();
        let ranks = ranks.to_vec();
        if wait(begin(Buffer::default(), Order::Group { key, ranks }, &[])).is_err() {
            life::stop(&format!(
                "the adapters have no room for another group, of {members} ranks: every set of \
                ranks that calls together is a group"
            ));
        }
    }
    GroupNumber(key)
}

/// A collective call, with this member's input.
#[derive(Clone, Copy, Debug)]
pub enum CollectiveInput<'a> {
    /// All members wait for all.
    Barrier,
    /// The root's bytes, by its place in the group, go to all others, which give no bytes.
    Broadcast {
        /// The root.
        root: u32,
        /// How many bytes it gives.
        size: usize,
        /// The bytes, at the root.
        bytes: &'a [u8],
    },
    /// All members' vectors are combined at all, or only at one member, by its place.
    Reduce {
        /// The only member that gets the result.
        root: Option<u32>,
        /// How elements are combined.
        reduction: VectorReduction,
        /// This member's vector.
        bytes: &'a [u8],
    },
    /// As `Reduce`, by this process's function: the simulator sends each pair of vectors that this
    /// rank's host combines ([`combine_by`]).
    Combine {
        /// The only member that gets the result.
        root: Option<u32>,
        /// Bytes per element.
        element: usize,
        /// This member's vector.
        bytes: &'a [u8],
    },
}

/// Combines two equally long vectors, one behind the other.
pub type CombinerFn = fn(Vec<u8>) -> Vec<u8>;

static COMBINER: Mutex<Option<CombinerFn>> = Mutex::new(None);

/// Names the function that combines vectors for [`CollectiveInput::Combine`].
pub fn combine_by(combiner: CombinerFn) {
    *COMBINER.lock().unwrap_or_else(PoisonError::into_inner) = Some(combiner);
}

/// The simulator asks for two vectors, one behind the other, to be combined. Returns the reply.
pub fn combined(vectors: Vec<u8>) -> Vec<u8> {
    let combiner = *COMBINER.lock().unwrap_or_else(PoisonError::into_inner);
    combiner.map_or(Vec::new(), |combine| combine(vectors))
}

/// Begins a collective call, by the hardware where that serves the group or by software trees. Its
/// result comes into the buffer, which is empty at a broadcast's root, and where a reduction has no
/// result.
pub fn collective(
    group: GroupNumber,
    call: CollectiveInput<'_>,
    by_hardware: bool,
    into: Buffer,
) -> Ticket {
    let (kind, root, size, bytes) = match call {
        CollectiveInput::Barrier => (CollectiveKind::Barrier, 0, 0, &[][..]),
        CollectiveInput::Broadcast { root, size, bytes } => {
            (CollectiveKind::Broadcast, root, size, bytes)
        }
        CollectiveInput::Reduce { root, bytes, .. }
        | CollectiveInput::Combine { root, bytes, .. } => {
            let kind = match root {
                Some(_) => CollectiveKind::Reduce,
                None => CollectiveKind::AllReduce,
            };
            (kind, root.unwrap_or(0), bytes.len(), bytes)
        }
    };
    let combiner = match call {
        CollectiveInput::Reduce { reduction, .. } => Some(Combiner::Known(reduction)),
        CollectiveInput::Combine { element, .. } => {
            let element = element as u64;
            Some(Combiner::Own { element })
        }
        CollectiveInput::Barrier | CollectiveInput::Broadcast { .. } => None,
    };
    let order = Order::Collective(CollectiveCall {
        group: group.0,
        kind,
        root,
        size: size as u64,
        combiner,
        hardware: by_hardware,
        posted: false,
    });
    begin(into, order, &[bytes])
}
