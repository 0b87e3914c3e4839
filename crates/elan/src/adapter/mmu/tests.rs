//! The MMU against a map of every byte.

use super::context::StoreWaiters;
use super::*;
use kernel::Signal;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An operation of a process.
#[derive(Clone, Debug)]
enum Step {
    /// From so many pages above the heap's start on.
    Map(u64, u64, Permissions),
    Unmap(usize),
    Protect(usize, u64, u64, Permissions),
    Access(usize, u64, u64, Access),
    Store(usize, u64, Vec<u8>),
}

const RIGHTS: [Permissions; 5] = [
    Permissions::LOCAL_READ,
    Permissions::LOCAL_WRITE,
    Permissions::REMOTE_READ,
    Permissions::REMOTE_WRITE,
    Permissions::REMOTE_EVENT,
];

const ACCESSES: [Access; 6] = [
    Access::Host,
    Access::LocalRead,
    Access::LocalWrite,
    Access::RemoteRead,
    Access::RemoteWrite,
    Access::RemoteEvent,
];

fn permissions() -> impl Strategy<Value = Permissions> {
    (0_u8..32).prop_map(Permissions::from_bits_truncate)
}

/// Offsets and lengths around the ends of pages and ranges.
fn near() -> impl Strategy<Value = u64> {
    let edges = prop::sample::select(vec![0, 1, 8191, 8192, 8193, 16_384, 24_576]);
    prop_oneof![edges, 0_u64..20_000]
}

/// Pages above the heap's start: mostly 0.
fn from() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 1 => 0_u64..12]
}

fn step() -> impl Strategy<Value = Step> {
    let access = prop::sample::select(&ACCESSES[..]);
    let bytes = prop::collection::vec(any::<u8>(), 1..50);
    prop_oneof![
        2 => (from(), near(), permissions()).prop_map(
            |(from, length, rights)| Step::Map(from, length, rights)
        ),
        1 => (0_usize..8).prop_map(Step::Unmap),
        3 => (0_usize..8, near(), near(), permissions())
            .prop_map(|(range, at, length, rights)| Step::Protect(range, at, length, rights)),
        6 => (0_usize..8, near(), near(), access)
            .prop_map(|(range, at, length, access)| Step::Access(range, at, length, access)),
        2 => (0_usize..8, near(), bytes).prop_map(
            |(range, at, bytes)| Step::Store(range, at, bytes)
        ),
    ]
}

/// For every mapped byte: the range it belongs to, its rights, its value.
type Naive = BTreeMap<u64, (usize, Permissions, u8)>;

/// Whether an access to at least one byte is valid, judged byte by byte.
fn expected(naive: &Naive, at: u64, length: u64, access: Access) -> Result<(), Reason> {
    let bytes: Vec<_> = naive.range(at..at + length).map(|(_, byte)| byte).collect();
    if bytes.len() as u64 != length || bytes.iter().any(|byte| byte.0 != bytes[0].0) {
        return Err(Reason::Unmapped);
    }
    let right = match access {
        Access::Host => return Ok(()),
        _ => RIGHTS[ACCESSES.iter().position(|&other| other == access).unwrap() - 1],
    };
    let held = bytes.iter().all(|byte| byte.1.contains(right));
    held.then_some(()).ok_or(Reason::Forbidden)
}

/// The lowest page from an address on at which a range of so many bytes has a free page before the
/// next range and behind the last.
fn lowest(mmu: &AddressSpace, from: u64, bytes: u64) -> u64 {
    let free = |start: &u64| {
        let apart = |range: &Range| {
            let behind = range.start + range.pages().as_u64();
            start + bytes + PAGE.as_u64() <= range.start || behind + PAGE.as_u64() <= *start
        };
        mmu.ranges().iter().all(apart)
    };
    let mut pages = (from..u64::MAX).step_by(PAGE.as_u64() as usize);
    pages.find(free).expect("most of the space is free")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A store notifies all waiters for one of its bytes, and no others.
    #[test]
    fn who_waits_for_bytes_is_told(
        steps in prop::collection::vec((any::<bool>(), 0_u32..40, 0_u64..12), 1..60),
    ) {
        let mut awaited = StoreWaiters::default();
        let mut naive: Vec<(u64, u64, Signal)> = Vec::new();
        for (waits, at, length) in steps {
            let (start, end) = (u64::from(at), u64::from(at) + length);
            let (at, bytes) = (ElanAddr::new(at), Bytes::new(length));
            if waits {
                naive.push((start, end, awaited.add(at, bytes)));
                continue;
            }
            awaited.stored(at, bytes);
            let told = |one: &(u64, u64, Signal)| one.0 < end && start < one.1;
            for one in &naive {
                prop_assert_eq!(one.2.is_set(), told(one));
            }
            naive.retain(|one| !told(one));
        }
    }

    #[test]
    fn the_mmu_is_a_map_of_bytes(steps in prop::collection::vec(step(), 1..40)) {
        let mut mmu = AddressSpace::default();
        let mut naive = Naive::new();
        // Start and length of every range ever mapped.
        let mut ranges: Vec<(ElanAddr, u64)> = Vec::new();
        for step in steps {
            let place = |range: usize, at: u64| -> Option<ElanAddr> {
                let (start, _) = *ranges.get(range % ranges.len().max(1))?;
                Some(start.offset(Bytes::new(at)))
            };
            match step {
                Step::Map(from, length, rights) => {
                    let contents = Some(Contents::default());
                    let from = u64::from(HEAP.as_u32()) + from * PAGE.as_u64();
                    let right = lowest(&mmu, from, pages(Bytes::new(length)).as_u64());
                    let from = ElanAddr::new(from as u32);
                    let at = mmu.map(
                        from, Bytes::new(length), Placement::Main, rights, contents
                    ).unwrap();
                    let number = u64::from(at.as_u32());
                    prop_assert_eq!(number, right);
                    for byte in number..number + length {
                        naive.insert(byte, (ranges.len(), rights, 0));
                    }
                    ranges.push((at, length));
                }
                Step::Unmap(range) => {
                    let Some(&(at, length)) = ranges.get(
                        range % ranges.len().max(1)
                    ) else { continue };
                    let start = u64::from(at.as_u32());
                    let there = mmu.ranges()
                        .iter()
                        .any(|other| other.start == start && other.length == length);
                    prop_assert_eq!(mmu.unmap(at, Bytes::new(length)).is_some(), there);
                    if there {
                        naive.retain(|byte, _| !(start..start + length).contains(byte));
                    }
                }
                Step::Protect(range, at, length, rights) => {
                    let Some(at) = place(range, at) else { continue };
                    let number = u64::from(at.as_u32());
                    let done = mmu.protect(at, Bytes::new(length), rights);
                    if length > 0 {
                        prop_assert_eq!(done, expected(&naive, number, length, Access::Host));
                        if done.is_ok() {
                            for (_, byte) in naive.range_mut(number..number + length) {
                                byte.1 = rights;
                            }
                        }
                    }
                }
                Step::Access(range, at, length, access) => {
                    let (Some(at), length) = (place(range, at), length.max(1)) else { continue };
                    let found = mmu.translate(at, Bytes::new(length), access);
                    let number = u64::from(at.as_u32());
                    prop_assert_eq!(
                        found.as_ref().map(|_| ()).map_err(|&reason| reason),
                        expected(&naive, number, length, access)
                    );
                    if let Ok((range, offset)) = found {
                        let bytes = range.contents.as_ref()
                            .unwrap()
                            .load(offset, Bytes::new(length));
                        let same = bytes.iter()
                            .enumerate()
                            .all(|(index, &byte)| byte == naive[&(number + index as u64)].2);
                        prop_assert!(same);
                    }
                }
                Step::Store(range, at, bytes) => {
                    let Some(at) = place(range, at) else { continue };
                    let (number, length) = (u64::from(at.as_u32()), Bytes::new(bytes.len() as u64));
                    let found = mmu.translate_mut(at, length, Access::LocalWrite);
                    let right = expected(&naive, number, length.as_u64(), Access::LocalWrite);
                    prop_assert_eq!(found.as_ref().map(|_| ()).map_err(|&reason| reason), right);
                    if let Ok((range, offset)) = found {
                        range.contents.as_mut().unwrap().store(offset, &bytes);
                        for (index, byte) in bytes.into_iter().enumerate() {
                            naive.get_mut(&(number + index as u64)).unwrap().2 = byte;
                        }
                    }
                }
            }
        }
    }
}

/// Addresses beyond the 32 bits are never mapped.
#[test]
fn beyond_the_addresses() {
    let mut mmu = AddressSpace::default();
    let all = Bytes::new(u64::from(HEAP_END.as_u32() - HEAP.as_u32()));
    let start = mmu
        .map(HEAP, all, Placement::Main, Permissions::ALL, None)
        .unwrap();
    assert_eq!(start, HEAP);
    assert_eq!(
        mmu.map(HEAP, Bytes::ZERO, Placement::Main, Permissions::ALL, None),
        Err(Bytes::ZERO)
    );
    let access = |at: ElanAddr, length| {
        mmu.translate(at, Bytes::new(length), Access::Host)
            .map(|_| ())
    };
    let last = ElanAddr::new(HEAP_END.as_u32() - 1);
    assert_eq!(access(last, 1), Ok(()));
    for (at, length) in [
        (last, 2),
        (HEAP_END, 1),
        (ElanAddr::NOWHERE, 1),
        (last.offset(Bytes::new(u64::MAX)), 1),
        (HEAP, u64::MAX),
        (ElanAddr::new(0), 1),
    ] {
        assert_eq!(
            access(at, length),
            Err(Reason::Unmapped),
            "{length} at {at}"
        );
    }
}

/// Also those that whole pages would take beyond the largest number.
#[test]
fn a_range_longer_than_the_heap_has_no_room() {
    let all = Bytes::new(u64::from(HEAP_END.as_u32() - HEAP.as_u32()));
    for beyond in [
        all.as_u64() + 1,
        1 << 63,
        u64::MAX - 8192,
        u64::MAX - 1,
        u64::MAX,
    ] {
        let mut mmu = AddressSpace::default();
        let length = Bytes::new(beyond);
        let mapped = mmu.map(HEAP, length, Placement::Main, Permissions::ALL, None);
        assert_eq!(mapped, Err(all), "{beyond}");
    }
}
