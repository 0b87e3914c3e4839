//! Groups, and their collective calls.
//!
//! The network does them: they are the simulator's own Elanlib group operations, by hardware or by
//! software trees. In a reduction, each process's host combines the vectors that come up the tree;
//! the simulator asks the process that represents this host, and the process calls the program's
//! function. Hardware serves groups on adjacent nodes; for others, and where users forbid hardware,
//! the same calls use software.

use super::layout::{self, ElanBase, ElanGroup, HARDWARE};
use super::{complain, event, hold, stop, until};
use derive::call;
use link::collective::{Element, ReductionOperator, VectorReduction};
use native::groups::{self, CollectiveInput, collective};
use native::{Buffer, Span};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const RESULT_ALL: c_uint = 4;

/// The way in which a call is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallMethod {
    Software,
    Hardware,
}

/// A group's counts, in `ELAN_GROUPSTATS` order.
mod count {
    pub const BCAST_BYTES: usize = 0;
    pub const HBCAST_BYTES: usize = 1;
    pub const BCAST_BYTES_NET: usize = 2;
    pub const REDUCE_BYTES: usize = 4;
    pub const REDUCE_BYTES_NET: usize = 5;
    pub const REDUCE: usize = 7;
    pub const GSYNC: usize = 9;
    pub const HGSYNC: usize = 10;
    pub const BCAST: usize = 12;
    pub const HBCAST: usize = 13;
    pub const GATHER: usize = 15;
    pub const GATHER_BYTES: usize = 16;
    pub const ALL: usize = 17;
}

/// The library's data about a group.
pub struct GroupData {
    name: groups::GroupNumber,
    pub members: Vec<u32>,
    counts: [AtomicU64; count::ALL],
}

impl GroupData {
    fn add(&self, what: usize, more: usize) {
        self.counts[what].fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Counts a call to `elan_gather` or its like, and the bytes that this process sends.
    pub fn gathers(&self, bytes: usize) {
        self.add(count::GATHER, 1);
        self.add(count::GATHER_BYTES, bytes);
    }
}

/// Makes a process group that includes this process. Groups live until the process ends.
pub fn make(members: &[u32]) -> *mut ElanGroup {
    let own = members.iter().position(|&vp| vp == native::rank());
    let inside = GroupData {
        name: groups::group(members),
        members: members.to_vec(),
        counts: [const { AtomicU64::new(0) }; count::ALL],
    };
    let inside: *mut GroupData = Box::leak(Box::new(inside));
    Box::leak(Box::new(ElanGroup {
        own: own.unwrap_or(0) as c_uint,
        size: members.len() as c_uint,
        lookup,
        handle: inside.cast(),
        inside: inside.cast(),
        reserved: [std::ptr::null_mut(); 3],
    }))
}

/// `lookupFn`: a member's number; all ones if the group has no such place.
extern "C" fn lookup(handle: *mut c_void, index: c_uint) -> c_uint {
    // SAFETY: it is the handle that `make` has put beside this function.
    let members = unsafe { &(*handle.cast::<GroupData>()).members };
    members.get(index as usize).copied().unwrap_or(c_uint::MAX)
}

/// The library's data about a group.
///
/// # Safety
/// The group must be one that this library has made.
pub unsafe fn inside<'a>(call: &str, group: *mut ElanGroup) -> &'a GroupData {
    if group.is_null() {
        stop(call, "there is no group");
    }
    // SAFETY: the caller's word.
    unsafe { &*(*group).inside.cast() }
}

/// Whether a group is the one with all processes.
///
/// # Safety
/// The group must be one that this library has made.
pub unsafe fn is_all(group: *mut ElanGroup) -> bool {
    // SAFETY: the caller's word.
    let members = unsafe { &inside("elan_gallocMain", group).members };
    members.len() == native::ranks() as usize && members.is_sorted()
}

/// Whether hardware may serve collective calls: users can forbid it.
fn has_hardware() -> bool {
    let base = layout::BASE.load(Ordering::Acquire);
    // SAFETY: not null, so the base, which lives until the process ends. Programs may change its
    // flags.
    !base.is_null() && unsafe { (*base).group_flags & HARDWARE != 0 && (*base).group_hwbcast != 0 }
}

fn hardware(way: CallMethod) -> bool {
    way == CallMethod::Hardware && has_hardware()
}

/// A collective call, until its end.
fn together(
    call: &str,
    group: &GroupData,
    what: CollectiveInput<'_>,
    by_hardware: bool,
    into: Buffer,
) {
    let ticket = collective(group.name, what, by_hardware, into);
    let mut ended = false;
    until(|| {
        ended = ended || event::take_end(call, ticket).is_some();
        ended
    });
}

/// Waits for all members.
///
/// # Safety
/// The group must be one that this library has made.
pub unsafe fn barrier(group: *mut ElanGroup, way: CallMethod) {
    // SAFETY: the caller's word.
    let group = unsafe { inside("elan_gsync", group) };
    group.add(
        match way {
            CallMethod::Software => count::GSYNC,
            CallMethod::Hardware => count::HGSYNC,
        },
        1,
    );
    let way = hardware(way);
    together(
        "elan_gsync",
        group,
        CollectiveInput::Barrier,
        way,
        Buffer::default(),
    );
}

/// The greatest number among all members.
///
/// # Safety
/// The group must be one that this library has made.
pub unsafe fn most(group: *mut ElanGroup, number: u64) -> u64 {
    // SAFETY: the caller's word.
    let group = unsafe { inside("elan_gallocMain", group) };
    let mut most = 0_u64;
    // SAFETY: the word lives until the call ends.
    let into = unsafe { Span::new((&raw mut most).cast_const().cast(), size_of::<u64>()) };
    let reduction = VectorReduction {
        operation: ReductionOperator::Max,
        element: Element::U64,
    };
    let what = CollectiveInput::Reduce {
        root: None,
        reduction,
        bytes: &number.to_ne_bytes(),
    };
    together("elan_gallocMain", group, what, false, into.into());
    most
}

/// Broadcasts the root's bytes.
unsafe fn broadcast(
    call: &str,
    group: *mut ElanGroup,
    way: CallMethod,
    (buffer, size): (*mut c_void, usize),
    root: c_uint,
) {
    // SAFETY: the callers' word.
    let (own, group) = unsafe { ((*group).own, inside(call, group)) };
    if root as usize >= group.members.len() {
        stop(call, &format!("the group has no place {root}"));
    }
    if size == 0 {
        return;
    }
    let (calls, bytes) = match way {
        CallMethod::Software => (count::BCAST, count::BCAST_BYTES),
        CallMethod::Hardware => (count::HBCAST, count::HBCAST_BYTES),
    };
    group.add(calls, 1);
    if own == root {
        group.add(bytes, size);
        group.add(count::BCAST_BYTES_NET, size);
    }
    // SAFETY: the callers' word.
    let memory = unsafe { Span::new(buffer.cast_const().cast(), size) };
    let is_root = own == root;
    let what = CollectiveInput::Broadcast {
        root,
        size,
        bytes: if is_root { memory.bytes() } else { &[] },
    };
    let into = if is_root {
        Buffer::default()
    } else {
        memory.into()
    };
    together(call, group, what, hardware(way), into);
}

/// A program function that combines vectors: the first vector, the vector that becomes the result,
/// the element count, a handle.
type Combine = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut c_void);

/// The reduction that this process is in: the function, its handle, and the bytes per element.
static REDUCTION: Mutex<Option<(Combine, usize, usize)>> = Mutex::new(None);

/// Combines two vectors, one behind the other, by the current reduction's function.
pub fn combine(mut vectors: Vec<u8>) -> Vec<u8> {
    let Some((function, handle, element)) = *hold(&REDUCTION) else {
        return Vec::new();
    };
    let half = vectors.len() / 2;
    let mut count = half.checked_div(element).unwrap_or(0) as c_int;
    // Elements may be numbers, which lie at multiples of their length.
    let mut result: Vec<u128> = vec![0; half.div_ceil(size_of::<u128>())];
    let mut before = result.clone();
    let handle = std::ptr::with_exposed_provenance_mut(handle);
    // SAFETY: both buffers have room; the program has given the function for such vectors.
    unsafe {
        let (one, other) = (
            before.as_mut_ptr().cast::<u8>(),
            result.as_mut_ptr().cast::<u8>(),
        );
        one.copy_from_nonoverlapping(vectors.as_ptr(), half);
        other.copy_from_nonoverlapping(vectors.as_ptr().add(half), half);
        function(one.cast(), other.cast(), &raw mut count, handle);
        vectors.as_mut_ptr().copy_from_nonoverlapping(other, half);
    }
    vectors.truncate(half);
    vectors
}

// The callers of the functions below keep to the headers.

#[call]
unsafe extern "C" fn elan_group(
    _base: *mut ElanBase,
    vps: *const c_uint,
    count: c_uint,
) -> *mut ElanGroup {
    // SAFETY: the program has this many numbers there.
    let members = unsafe { super::slice(vps, count as usize) };
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    if twice || !members.contains(&native::rank()) || sorted.last() >= Some(&native::ranks()) {
        complain(
            "elan_group",
            "the list must have this process, and no process twice",
        );
        return std::ptr::null_mut();
    }
    make(members)
}

#[call]
unsafe extern "C" fn elan_gsync(group: *mut ElanGroup) {
    // SAFETY: a group of this library, which are never freed.
    unsafe { barrier(group, CallMethod::Software) };
}

#[call]
unsafe extern "C" fn elan_hgsync(group: *mut ElanGroup) {
    // SAFETY: a group of this library, which are never freed.
    unsafe { barrier(group, CallMethod::Hardware) };
}

#[call]
unsafe extern "C" fn elan_hgsyncevent(group: *mut ElanGroup) {
    // SAFETY: a group of this library, which are never freed.
    unsafe { barrier(group, CallMethod::Hardware) };
}

#[call]
unsafe extern "C" fn elan_bcast(
    group: *mut ElanGroup,
    buffer: *mut c_void,
    size: usize,
    root: c_uint,
    _flags: c_uint,
) {
    // SAFETY: a group of this library, which are never freed, and a buffer with this many bytes.
    unsafe {
        broadcast(
            "elan_bcast",
            group,
            CallMethod::Software,
            (buffer, size),
            root,
        );
    }
}

#[call]
unsafe extern "C" fn elan_hbcast(
    group: *mut ElanGroup,
    buffer: *mut c_void,
    size: usize,
    root: c_uint,
    _flags: c_uint,
) {
    // SAFETY: a group of this library, which are never freed, and a buffer with this many bytes.
    unsafe {
        broadcast(
            "elan_hbcast",
            group,
            CallMethod::Hardware,
            (buffer, size),
            root,
        );
    }
}

#[call]
unsafe extern "C" fn elan_reduce(
    group: *mut ElanGroup,
    from: *const c_void,
    to: *mut c_void,
    element: usize,
    count: c_int,
    function: Combine,
    handle: *mut c_void,
    _unused: c_int,
    _reserved: c_int,
    flags: c_uint,
    root: c_uint,
) {
    // SAFETY: a group of this library, which are never freed.
    let (own, group) = unsafe { ((*group).own, inside("elan_reduce", group)) };
    if root as usize >= group.members.len() {
        stop("elan_reduce", &format!("the group has no place {root}"));
    }
    let size = element * usize::try_from(count).unwrap_or(0);
    if size == 0 {
        return;
    }
    group.add(count::REDUCE, 1);
    group.add(count::REDUCE_BYTES, size);
    group.add(count::REDUCE_BYTES_NET, size);
    let all = flags & RESULT_ALL != 0;
    let gets = all || own == root;
    // SAFETY: vectors of `size` bytes, which the program leaves alone until the call returns; a
    // result is stored only where one is due.
    let (vector, result) = unsafe {
        let result = Span::new(to.cast_const().cast(), if gets { size } else { 0 });
        (Span::new(from.cast(), size), result)
    };
    let what = CollectiveInput::Combine {
        root: (!all).then_some(root),
        element,
        bytes: vector.bytes(),
    };
    let reduction = (function, handle.expose_provenance(), element);
    hold(&REDUCTION).replace(reduction);
    groups::combine_by(combine);
    together("elan_reduce", group, what, false, result.into());
    hold(&REDUCTION).take();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_groupGetStats(group: *mut ElanGroup, place: *mut [u64; count::ALL]) {
    // SAFETY: a group of this library, which are never freed.
    let counts = unsafe { &inside("elan_groupGetStats", group).counts };
    let now = std::array::from_fn(|index| counts[index].load(Ordering::Relaxed));
    // SAFETY: the program has a place for the numbers.
    unsafe { place.write(now) };
}
