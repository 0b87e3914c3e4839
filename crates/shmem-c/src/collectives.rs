//! Collective calls on active sets, as the simulator's own Shmem makes them from Elanlib groups.
//!
//! | call | is |
//! |---|---|
//! | `shmem_barrier` | quiet, then the group's barrier |
//! | `shmem_sync` | the group's barrier |
//! | `shmem_broadcast` | the group's broadcast; the root's own target stays as it is |
//! | reductions | the group's reduction; the program itself combines `long double` numbers |
//! | `shmem_collect` | a reduction passes all lengths to all; then as `shmem_fcollect` |
//! | `shmem_fcollect` | a barrier, each part's put to the first member, a barrier, a broadcast |
//! | `shmem_alltoall`, `shmem_alltoalls` | puts to all members, then a barrier |
//!
//! The hardware serves the calls that it can. The program's work arrays (`pSync`, `pWrk`) stay as
//! they are. A set with one member copies.

use super::active::Set;
use super::contexts::{self, DEFAULT, PendingOperation};
use super::transfer::{begin_put, place};
use super::{fail, members, own, product, symmetric};
use derive::call;
use link::calls::number;
use link::collective::{Element, ReductionOperator, VectorReduction};
use native::groups::{CollectiveInput, collective, combine_by};
use native::{Buffer, Span};
use std::ffi::{c_int, c_long, c_void};
use std::sync::{Mutex, PoisonError};

/// Makes a call in a set's group, and waits until it has ended.
fn together(set: &Set, what: CollectiveInput<'_>, into: Buffer) {
    let address = into.address();
    let ticket = collective(set.group(), what, true, into);
    PendingOperation::new(ticket, set.members[set.place], address).finish();
}

/// A group's barrier.
pub fn sync(set: &Set) {
    if set.size() > 1 {
        together(set, CollectiveInput::Barrier, Buffer::default());
    }
}

/// A group's barrier, after the caller's operations are over.
fn barrier(set: &Set) {
    contexts::quiet(DEFAULT);
    sync(set);
}

/// The barrier for all.
pub fn barrier_of_all() {
    barrier(&Set::all());
}

/// Sends bytes from the root, by its place, to all others; the root's bytes stay as they are.
fn broadcast(set: &Set, (to, from): (*mut c_void, *const c_void), size: usize, root: usize) {
    let own_pe = set.members[set.place];
    symmetric(to, size, own_pe);
    let Ok(root_place) = u32::try_from(root) else {
        fail(format_args!("the root cannot be {root}"));
    };
    if root >= set.size() {
        fail(format_args!(
            "the root is the member {root} of the set, which has {} members",
            set.size()
        ));
    }
    if size == 0 || set.size() == 1 {
        return;
    }
    let from = own(from, if set.place == root { size } else { 0 });
    let into = if set.place == root {
        Buffer::default()
    } else {
        Buffer::from(own(to, size))
    };
    let call = CollectiveInput::Broadcast {
        root: root_place,
        size,
        bytes: from.bytes(),
    };
    together(set, call, into);
}

/// Copies in this process. The two ranges may overlap.
fn copy(to: *mut c_void, from: Span) {
    let bytes = from.bytes().to_vec();
    own(to, bytes.len()).store(0, &bytes);
}

/// Puts all members' parts together at all: at the first one, which sends them to the others.
fn gather(set: &Set, (to, part): (*mut c_void, Span), offset: usize, total: usize) {
    let first = set.members[0];
    symmetric(to, total, first);
    if set.size() == 1 {
        copy(to, part);
        return;
    }
    // The first member's target belongs to that member until it calls.
    barrier(set);
    if let Some(put) = begin_put(to.wrapping_byte_add(offset), part, first) {
        put.finish();
    }
    barrier(set);
    broadcast(set, (to, to), total, 0);
}

fn fcollect(set: &Set, to: *mut c_void, from: *const c_void, size: usize) {
    let total = product(size, set.size());
    gather(set, (to, own(from, size)), size * set.place, total);
}

fn collect(set: &Set, to: *mut c_void, from: *const c_void, size: usize) {
    let mut lengths = vec![0_u64; set.size()];
    lengths[set.place] = size as u64;
    if set.size() > 1 {
        let mine: Vec<u8> = lengths
            .iter()
            .flat_map(|length| length.to_ne_bytes())
            .collect();
        let sum =
            VectorReduction::new(ReductionOperator::Sum, Element::U64).expect("words have a sum");
        let into = own(lengths.as_mut_ptr().cast(), mine.len());
        let call = CollectiveInput::Reduce {
            root: None,
            reduction: sum,
            bytes: &mine,
        };
        together(set, call, Buffer::from(into));
    }
    let offset = lengths[..set.place].iter().sum::<u64>() as usize;
    let total = lengths.iter().sum::<u64>() as usize;
    gather(set, (to, own(from, size)), offset, total);
}

/// Puts each member's block of `count` elements with `size` bytes, `strides` apart at the target
/// and at the source.
fn exchange(
    set: &Set,
    (to, from): (*mut c_void, *const c_void),
    strides: (isize, isize),
    (count, size): (usize, usize),
) {
    let mut puts = Vec::new();
    let mut put = |to, from, length, pe| puts.extend(begin_put(to, own(from, length), pe));
    for distance in 0..set.size() {
        let other = (set.place + distance) % set.size();
        let pe = set.members[other];
        if strides == (1, 1) {
            let length = product(count, size);
            let to = place(to, set.place, 1, length);
            put(to, place(from, other, 1, length), length, pe);
            continue;
        }
        for index in 0..count {
            let to = place(to, count * set.place + index, strides.0, size);
            let from = place(from, count * other + index, strides.1, size);
            put(to, from, size, pe);
        }
    }
    for put in puts {
        put.finish();
    }
    barrier(set);
}

/// The operations and types of reductions, by their numbers in the header.
fn reduction(operation: c_int, kind: c_int, size: usize) -> Option<VectorReduction> {
    const OPERATIONS: [ReductionOperator; 7] = [
        ReductionOperator::BitAnd,
        ReductionOperator::BitOr,
        ReductionOperator::BitXor,
        ReductionOperator::Min,
        ReductionOperator::Max,
        ReductionOperator::Sum,
        ReductionOperator::Product,
    ];
    let element = match (kind, size) {
        (0, 1) => Element::I8,
        (0, 2) => Element::I16,
        (0, 4) => Element::I32,
        (0, 8) => Element::I64,
        (1, 1) => Element::U8,
        (1, 2) => Element::U16,
        (1, 4) => Element::U32,
        (1, 8) => Element::U64,
        (2, 4) => Element::F32,
        (2, 8) => Element::F64,
        (3, 8) => Element::ComplexF32,
        (3, 16) => Element::ComplexF64,
        _ => return None,
    };
    let operation = OPERATIONS.get(usize::try_from(operation).ok()?)?;
    VectorReduction::new(*operation, element)
}

/// Reduces the members' vectors by a group call, which is made from the caller's vector.
fn reduce_with(
    set: &Set,
    (to, from): (*mut c_void, *const c_void),
    length: usize,
    call: impl FnOnce(&[u8]) -> CollectiveInput<'_>,
) {
    let mine = own(from, length);
    if length == 0 {
        sync(set);
    } else if set.size() == 1 {
        copy(to, mine);
    } else {
        together(set, call(mine.bytes()), Buffer::from(own(to, length)));
    }
}

/// Reduces by an operation that the library knows.
fn reduce(
    set: &Set,
    ends: (*mut c_void, *const c_void),
    length: usize,
    reduction: VectorReduction,
) {
    reduce_with(set, ends, length, |bytes| CollectiveInput::Reduce {
        root: None,
        reduction,
        bytes,
    });
}

/// A program function that combines the elements of two vectors into the second one.
type Combine = extern "C" fn(*const c_void, *mut c_void, usize);

/// The function of the pending reduction, and the bytes per element.
static COMBINE: Mutex<Option<(Combine, usize)>> = Mutex::new(None);

/// Combines two vectors, one behind the other, by the pending reduction's function.
fn combine(mut vectors: Vec<u8>) -> Vec<u8> {
    let combine = *COMBINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (combine, size) = combine.expect("a reduction is under way");
    let length = vectors.len() / 2;
    let after = vectors.split_off(length);
    // The program's elements begin at multiples of 16.
    let [one, mut other] = [vectors, after].map(|bytes| {
        let mut vector = vec![0_u128; length.div_ceil(16)];
        own(vector.as_mut_ptr().cast(), length).store(0, &bytes);
        vector
    });
    combine(
        one.as_ptr().cast(),
        other.as_mut_ptr().cast(),
        length / size,
    );
    own(other.as_ptr().cast(), length).bytes().to_vec()
}

/// Reduces by a program function; the simulator asks for it where this rank's processor combines
/// vectors.
fn reduce_by(
    set: &Set,
    ends: (*mut c_void, *const c_void),
    (count, size): (usize, usize),
    function: Combine,
) {
    reduce_with(set, ends, product(count, size), |bytes| {
        *COMBINE.lock().unwrap_or_else(PoisonError::into_inner) = Some((function, size));
        combine_by(combine);
        CollectiveInput::Combine {
            root: None,
            element: size,
            bytes,
        }
    });
}

/// The calls on active sets and elements with one size.
macro_rules! sized {
    (
        $size:literal: $broadcast:ident $collect:ident $fcollect:ident
            $alltoall:ident $alltoalls:ident
    ) => {
        #[call]
        extern "C" fn $broadcast(
            to: *mut c_void,
            from: *const c_void,
            count: usize,
            root: c_int,
            start: c_int,
            log_stride: c_int,
            size: c_int,
            _sync: *mut c_long,
        ) {
            let set = Set::active(start, log_stride, size);
            broadcast(&set, (to, from), product(count, $size), root as usize);
        }

        #[call]
        extern "C" fn $collect(
            to: *mut c_void,
            from: *const c_void,
            count: usize,
            start: c_int,
            log_stride: c_int,
            size: c_int,
            _sync: *mut c_long,
        ) {
            collect(
                &Set::active(start, log_stride, size),
                to,
                from,
                product(count, $size),
            );
        }

        #[call]
        extern "C" fn $fcollect(
            to: *mut c_void,
            from: *const c_void,
            count: usize,
            start: c_int,
            log_stride: c_int,
            size: c_int,
            _sync: *mut c_long,
        ) {
            fcollect(
                &Set::active(start, log_stride, size),
                to,
                from,
                product(count, $size),
            );
        }

        #[call]
        extern "C" fn $alltoall(
            to: *mut c_void,
            from: *const c_void,
            count: usize,
            start: c_int,
            log_stride: c_int,
            size: c_int,
            _sync: *mut c_long,
        ) {
            let set = Set::active(start, log_stride, size);
            exchange(&set, (to, from), (1, 1), (count, $size));
        }

        #[call]
        extern "C" fn $alltoalls(
            to: *mut c_void,
            from: *const c_void,
            to_stride: isize,
            from_stride: isize,
            count: usize,
            start: c_int,
            log_stride: c_int,
            size: c_int,
            _sync: *mut c_long,
        ) {
            let set = Set::active(start, log_stride, size);
            exchange(&set, (to, from), (to_stride, from_stride), (count, $size));
        }
    };
}

sized!(4: shmem_broadcast32 shmem_collect32 shmem_fcollect32 shmem_alltoall32 shmem_alltoalls32);
sized!(8: shmem_broadcast64 shmem_collect64 shmem_fcollect64 shmem_alltoall64 shmem_alltoalls64);

#[call]
extern "C" fn shmem_barrier_all() {
    barrier_of_all();
}

#[call]
extern "C" fn shmem_sync_all() {
    sync(&Set::all());
}

#[call]
extern "C" fn shmem_barrier(start: c_int, log_stride: c_int, size: c_int, _sync: *mut c_long) {
    barrier(&Set::active(start, log_stride, size));
}

#[call]
extern "C" fn shmem_sync(start: c_int, log_stride: c_int, size: c_int, _sync: *mut c_long) {
    sync(&Set::active(start, log_stride, size));
}

/// The numbers of reductions by operation, in header order.
const REDUCTIONS: [u32; 7] = [
    number("shmem_and_to_all"),
    number("shmem_or_to_all"),
    number("shmem_xor_to_all"),
    number("shmem_min_to_all"),
    number("shmem_max_to_all"),
    number("shmem_sum_to_all"),
    number("shmem_prod_to_all"),
];

/// A reduction on types that the library knows.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_reduce(
    to: *mut c_void,
    from: *const c_void,
    count: usize,
    operation: c_int,
    kind: c_int,
    bytes: usize,
    start: c_int,
    log_stride: c_int,
    size: c_int,
) {
    let _call = native::call(REDUCTIONS[operation as usize]);
    let set = Set::active(start, log_stride, size);
    let how = reduction(operation, kind, bytes);
    let how = how.unwrap_or_else(|| fail(format_args!("there is no such reduction")));
    reduce(&set, (to, from), product(count, bytes), how);
}

/// A reduction by a program function.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_reduce_by(
    to: *mut c_void,
    from: *const c_void,
    count: usize,
    bytes: usize,
    operation: c_int,
    combine: Combine,
    start: c_int,
    log_stride: c_int,
    size: c_int,
) {
    let _call = native::call(REDUCTIONS[operation as usize]);
    let set = Set::active(start, log_stride, size);
    reduce_by(&set, (to, from), (count, bytes), combine);
}

/// Team calls return 0, or -1 if there is no such team.
fn of_team(team: usize, call: impl FnOnce(&Set)) -> c_int {
    members::set(team).map_or(-1, |set| {
        call(&set);
        0
    })
}

#[call("shmem_broadcast")]
extern "C" fn elanite_shmem_team_broadcast(
    team: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    root: c_int,
) -> c_int {
    of_team(team, |set| {
        let root = root as usize;
        broadcast(set, (to, from), size, root);
        // A team's root has the bytes, too.
        if set.place == root && to.cast_const() != from {
            copy(to, own(from, size));
        }
    })
}

#[call("shmem_collect")]
extern "C" fn elanite_shmem_team_collect(
    team: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> c_int {
    of_team(team, |set| collect(set, to, from, size))
}

#[call("shmem_fcollect")]
extern "C" fn elanite_shmem_team_fcollect(
    team: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> c_int {
    of_team(team, |set| fcollect(set, to, from, size))
}

#[call("shmem_alltoall")]
extern "C" fn elanite_shmem_team_alltoall(
    team: usize,
    to: *mut c_void,
    from: *const c_void,
    to_stride: isize,
    from_stride: isize,
    count: usize,
    size: usize,
) -> c_int {
    of_team(team, |set| {
        exchange(set, (to, from), (to_stride, from_stride), (count, size));
    })
}

/// The numbers of team reductions, in header order.
const TEAM_REDUCTIONS: [u32; 7] = [
    number("shmem_and_reduce"),
    number("shmem_or_reduce"),
    number("shmem_xor_reduce"),
    number("shmem_min_reduce"),
    number("shmem_max_reduce"),
    number("shmem_sum_reduce"),
    number("shmem_prod_reduce"),
];

/// A team's reduction on types that the library knows.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_team_reduce(
    team: usize,
    to: *mut c_void,
    from: *const c_void,
    count: usize,
    operation: c_int,
    kind: c_int,
    bytes: usize,
) -> c_int {
    let _call = native::call(TEAM_REDUCTIONS[operation as usize]);
    of_team(team, |set| {
        let how = reduction(operation, kind, bytes);
        let how = how.unwrap_or_else(|| fail(format_args!("there is no such reduction")));
        reduce(set, (to, from), product(count, bytes), how);
    })
}

/// A team's reduction by a program function.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_team_reduce_by(
    team: usize,
    to: *mut c_void,
    from: *const c_void,
    count: usize,
    bytes: usize,
    operation: c_int,
    combine: Combine,
) -> c_int {
    let _call = native::call(TEAM_REDUCTIONS[operation as usize]);
    of_team(team, |set| {
        reduce_by(set, (to, from), (count, bytes), combine);
    })
}
