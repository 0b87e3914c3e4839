//! Finds the rank group for a communicator.
//!
//! The members agree on a name for the group by two calls of the MPI library, when they make the
//! communicator's first collective call: all exchange their ranks, and the first member chooses the
//! name. These calls take simulated time, once. The initial ranks' `MPI_COMM_WORLD` is a group that
//! has its name from the beginning. Two communicators with the same ranks are two groups, since
//! threads may call both at a time.
//!
//! MPI reports when a communicator is freed (by an attribute), and then the rank leaves the group.

use super::handles::Abi;
use super::{finish, library};
use fi::engine;
use link::collective::ALL_RANKS;
use link::{EndStatus, Order};
use rank::memory::Buffer;
use rank::session::{self, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The name that stands for a group without room in the machine.
const NO_ROOM: u64 = u64::MAX;

/// A rank group, as a member knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommGroup {
    /// Its name in orders.
    pub key: u64,
    /// How many ranks it has.
    pub size: u32,
    /// This rank's place in it.
    pub place: u32,
    /// Whether each rank has its own node.
    pub apart: bool,
}

/// The known communicators.
struct KnownCommunicators {
    /// The MPI initialisation in which they were learnt.
    visit: u32,
    /// The attribute's key.
    key: Option<c_int>,
    /// Groups by their communicators' handles; `None` for those without a group.
    groups: BTreeMap<usize, Option<CommGroup>>,
    /// How many names this rank has chosen.
    chosen: u32,
}

static KNOWN: Mutex<KnownCommunicators> = Mutex::new(KnownCommunicators {
    visit: 0,
    key: None,
    groups: BTreeMap::new(),
    chosen: 0,
});

fn known() -> MutexGuard<'static, KnownCommunicators> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let visit = session::visit();
    if known.visit != visit {
        // Handles and keys from a former initialisation may now have other meanings.
        known.visit = visit;
        known.key = None;
        known.groups.clear();
    }
    known
}

/// A communicator's group, if it has one.
pub fn group(session: &'static Session, abi: Abi, comm: usize) -> Option<CommGroup> {
    if let Some(&found) = known().groups.get(&comm) {
        return found;
    }
    if abi.is_no_comm(comm) {
        return None;
    }
    let (size, place) = library::shape(comm)?;
    let group = learn(session, abi, comm, size, place).ok()?;
    let key = known().key;
    let key = key.or_else(|| library::key(freed))?;
    known().key = Some(key);
    if library::attach(comm, key, comm) {
        known().groups.insert(comm, group);
    }
    group
}

/// A communicator's group, if that is known without communication with the other members: from an
/// earlier blocking call, or since it is the group of the initial ranks. All members know it alike.
pub fn known_group(session: &'static Session, abi: Abi, comm: usize) -> Option<CommGroup> {
    if let Some(&found) = known().groups.get(&comm) {
        return found;
    }
    if comm != abi.world() {
        return None;
    }
    let (size, place) = library::shape(comm)?;
    whole(session, size, place)
}

/// The initial ranks' group, for a world with this many ranks in which this rank has a place, if it
/// is that group.
fn whole(session: &Session, size: u32, place: u32) -> Option<CommGroup> {
    let (own, world) = (session.rank().0, session.world());
    let ranks: Vec<u32> = (0..size).collect();
    let is_whole = world.first == 0 && (size, place) == (world.size, own);
    (is_whole && size > 1).then(|| CommGroup {
        key: ALL_RANKS,
        size,
        place,
        apart: apart(session, &ranks),
    })
}

/// Whether each rank has its own node.
fn apart(session: &Session, ranks: &[u32]) -> bool {
    let nodes = ranks.iter().map(|&rank| session.nodes()[rank as usize]);
    nodes.collect::<BTreeSet<_>>().len() == ranks.len()
}

/// Learns, together with the other members, a communicator's group.
fn learn(
    session: &'static Session,
    abi: Abi,
    comm: usize,
    size: u32,
    place: u32,
) -> Result<Option<CommGroup>, c_int> {
    let (own, all) = session.rank();
    // A communicator over threads has more ranks than there are processes.
    if size < 2 || size > all {
        return Ok(None);
    }
    if comm == abi.world()
        && let Some(group) = whole(session, size, place)
    {
        return Ok(Some(group));
    }
    let ranks = library::gather(abi, comm, own, size)?;
    if ranks.iter().collect::<BTreeSet<_>>().len() < ranks.len() {
        return Ok(None);
    }
    let name = if place == 0 {
        choose(session, &ranks)
    } else {
        0
    };
    let key = library::share(abi, comm, name)?;
    if key == NO_ROOM {
        return Ok(None);
    }
    if place > 0 {
        say(session, key, 0, &ranks);
    }
    Ok(Some(CommGroup {
        key,
        size,
        place,
        apart: apart(session, &ranks),
    }))
}

/// Chooses a group's name that is unique in the run, if there is room for the group.
fn choose(session: &'static Session, ranks: &[u32]) -> u64 {
    let number = {
        let mut known = known();
        known.chosen += 1;
        known.chosen
    };
    let key = u64::from(session.rank().0 + 1) << 32 | u64::from(number);
    let id = engine::begin(&mut session.lock(), Buffer::default());
    say(session, key, id, ranks);
    if finish(session, id) == EndStatus::Done {
        key
    } else {
        NO_ROOM
    }
}

/// Names a group, or leaves it.
fn say(session: &Session, key: u64, id: u64, ranks: &[u32]) {
    let ranks = ranks.to_vec();
    session.order(&mut session.lock(), id, Order::Group { key, ranks }, &[]);
}

/// A communicator is freed.
extern "C" fn freed(_comm: usize, _key: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    let group = known().groups.remove(&value.addr());
    if let (Some(Some(group)), Some(session)) = (group, session::get())
        && group.key != ALL_RANKS
    {
        say(session, group.key, 0, &[]);
    }
    0
}
