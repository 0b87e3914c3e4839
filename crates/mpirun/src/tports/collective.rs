//! Rank groups on the machine: Elanlib groups; the ranks' simulated processes make the calls.
//!
//! | call | by hardware | by software |
//! |---|---|---|
//! | barrier | `elan_hgsync` | `elan_gsync` |
//! | broadcast | `elan_hbcast` | `elan_bcast` |
//! | reduction | `elan_reduce` | `elan_reduce` |
//!
//! Nonblocking barriers and broadcasts are posted ([`libelan::elan::posted`]), where each member
//! has its own node.
//!
//! Broadcasts want a buffer at the same address in all members, as in programs for Elanlib. All
//! processes in the run have a memory *window* at one address, which is mapped with the first
//! group. A call takes a part of the window that is unused by its members' other calls; a
//! nonblocking call takes it when the calls before have ended. More than [`PART`] bytes go in
//! parts, one after the other.

use super::operations::is_loss_of;
use crate::endpoint::{EndFuture, Finish, GroupCall, NetworkGroup, NetworkOp, OperationResult};
use elan::{DmaError, ElanAddr, MemoryError, Permissions, Placement, Region};
use kernel::Signal;
use libelan::Pe;
use libelan::elan::Elan;
use libelan::elan::group::Group;
use libelan::elan::posted::PostedCall;
use libelan::elan::reduce::{self, Receivers};
use link::EndStatus;
use link::collective::CollectiveKind;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use units::{Bytes, Time};

/// The most bytes that an Elanlib call carries.
const PART: Bytes = Bytes::from_mb(2);

/// The length of the window in main memory: room for a process's 32 calls at a time, as only
/// threads make them.
const MAIN_WINDOW: Bytes = Bytes::from_mb(64);

/// The window's length in the adapter's memory, which is small.
const ADAPTER_WINDOW: Bytes = Bytes::from_mb(4);

/// The memory for all groups' calls.
pub(super) struct Window {
    placement: Placement,
    /// Where the window begins in all processes, once a group has needed it.
    start: Cell<Option<ElanAddr>>,
    used: RefCell<Vec<WindowPart>>,
    /// Whether a group uses the group of all processes, which each job has from its start.
    has_all: Cell<bool>,
}

/// A window part in use.
struct WindowPart {
    at: u64,
    length: u64,
    /// The ranks that use it.
    ranks: Rc<[u32]>,
}

impl Window {
    pub fn new(placement: Placement) -> Self {
        Window {
            placement,
            start: Cell::new(None),
            used: RefCell::default(),
            has_all: Cell::new(false),
        }
    }

    fn length(&self) -> Bytes {
        match self.placement {
            Placement::Main => MAIN_WINDOW,
            Placement::Adapter => ADAPTER_WINDOW,
        }
    }

    /// Maps the window in all processes, at the lowest address that is free in all.
    fn map(&self, pes: &[&Pe]) -> Result<(), MemoryError> {
        if self.start.get().is_some() {
            return Ok(());
        }
        let mut from = elan::memory::HEAP;
        loop {
            let map = |pe: &&Pe| {
                let all = Permissions::ALL;
                pe.node()
                    .map_from(from, self.placement, self.length(), all, true)
            };
            let mapped: Vec<Result<Region, MemoryError>> = pes.iter().map(map).collect();
            let regions = || mapped.iter().flatten().map(|region| region.start().elan);
            let greatest = regions().max().unwrap_or(from);
            let failed = mapped.iter().find_map(|one| one.as_ref().err().copied());
            if failed.is_none() && regions().all(|start| start == greatest) {
                self.start.set(Some(greatest));
                return Ok(());
            }
            for (pe, region) in pes.iter().zip(&mapped) {
                if let Ok(region) = region {
                    pe.node().free(*region).expect("it has just been mapped");
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
            from = greatest;
        }
    }

    /// Takes the window's lowest part that these ranks do not use.
    fn take(&self, size: Bytes, ranks: &Rc<[u32]>) -> Option<u64> {
        let length = (elan::memory::PAGE * size.div_ceil(elan::memory::PAGE).max(1)).as_u64();
        let mut used = self.used.borrow_mut();
        let shares = |others: &[u32]| others.iter().any(|other| ranks.contains(other));
        let conflicts = used.iter().filter(|part| shares(&part.ranks));
        let mut taken: Vec<(u64, u64)> = conflicts.map(|part| (part.at, part.length)).collect();
        taken.sort_unstable();
        let mut at = 0;
        for (start, other) in taken {
            if at + length <= start {
                break;
            }
            at = at.max(start + other);
        }
        if at + length > self.length().as_u64() {
            return None;
        }
        let ranks = Rc::clone(ranks);
        used.push(WindowPart { at, length, ranks });
        Some(at)
    }

    fn give_back(&self, at: u64, ranks: &Rc<[u32]>) {
        let mut used = self.used.borrow_mut();
        used.retain(|part| part.at != at || !Rc::ptr_eq(&part.ranks, ranks));
    }
}

/// An Elanlib group.
pub(super) struct MachineGroup {
    /// The members' processes, each with its view of the group.
    members: Vec<(Group, Pe)>,
    leases: Leases,
}

/// The window parts that a group's calls use.
#[derive(Clone)]
struct Leases {
    window: Rc<Window>,
    ranks: Rc<[u32]>,
    start: ElanAddr,
    /// By the call's number: where it lies, and how many members have not ended the call.
    under_way: Rc<RefCell<BTreeMap<u64, (u64, usize)>>>,
}

impl Leases {
    /// A call's buffer; `None` if the window is full.
    fn take(&self, number: u64, size: Bytes) -> Option<ElanAddr> {
        let mut under_way = self.under_way.borrow_mut();
        let at = if let Some(&(at, _)) = under_way.get(&number) {
            at
        } else {
            let at = self.window.take(size.min(PART), &self.ranks)?;
            under_way.insert(number, (at, self.ranks.len()));
            at
        };
        Some(self.start.offset(Bytes::new(at)))
    }

    /// A member has ended a call.
    fn end(&self, number: u64) {
        let mut under_way = self.under_way.borrow_mut();
        if let Some((at, members)) = under_way.get_mut(&number) {
            *members -= 1;
            if *members == 0 {
                self.window.give_back(*at, &self.ranks);
                under_way.remove(&number);
            }
        }
    }
}

impl MachineGroup {
    /// Makes a group from some ranks; `None` if there is no room for it.
    pub fn new<'a>(
        window: &Rc<Window>,
        all: impl Iterator<Item = &'a Pe>,
        ranks: &[u32],
    ) -> Option<Self> {
        let all: Vec<&Pe> = all.collect();
        window.map(&all).ok()?;
        let pes = || ranks.iter().map(|&rank| all[rank as usize]);
        let everybody = ranks.len() == all.len() && ranks.is_sorted();
        let groups = if everybody && !window.has_all.replace(true) {
            pes().map(|pe| pe.elan().all_group().clone()).collect()
        } else {
            let elans: Vec<&Elan> = pes().map(Pe::elan).collect();
            Elan::together(&elans).ok()?
        };
        Some(MachineGroup {
            members: groups.into_iter().zip(pes().cloned()).collect(),
            leases: Leases {
                window: Rc::clone(window),
                ranks: ranks.into(),
                start: window.start.get()?,
                under_way: Rc::default(),
            },
        })
    }
}

impl NetworkGroup for MachineGroup {
    fn has_hardware(&self) -> bool {
        self.members[0].0.has_hardware()
    }

    fn may_post(&self, kind: CollectiveKind) -> bool {
        !kind.combines() && self.members[0].0.may_post()
    }

    fn call(&self, at: Time, place: u32, number: u64, call: GroupCall) -> Rc<dyn NetworkOp> {
        let (group, pe) = self.members[place as usize].clone();
        let operation = Rc::new(Collective {
            pe: pe.clone(),
            ended: Signal::new(),
            incoming: RefCell::new(None),
        });
        // A posted call is the processor's next work.
        let post = || {
            pe.mpi().request();
            group.post_call()
        };
        let posting = call.posted.then(|| pe.given(at, post));
        let (ended, leases) = (Rc::clone(&operation), self.leases.clone());
        pe.node().clone().serve("collective", async move {
            let by = match posting {
                Some(posting) => CollectiveMethod::Adapter(posting.await),
                None => CollectiveMethod::Host,
            };
            let buffer = leases.take(number, call.size);
            let acted = async {
                let act = act(&by, &group, &pe, buffer?, &call);
                Some(match by {
                    CollectiveMethod::Host => given(&pe, at, act).await,
                    CollectiveMethod::Adapter(_) => act.await,
                })
            };
            ended.incoming.replace(Some(match acted.await {
                Some(Ok(bytes)) => OperationResult {
                    size: Bytes::new(bytes.len() as u64),
                    bytes: bytes.into(),
                    ..OperationResult::of(EndStatus::Done)
                },
                Some(Err(error)) => OperationResult::failed(&error, is_loss_of(&error)),
                None => OperationResult::of(EndStatus::Refused),
            }));
            leases.end(number);
            ended.ended.fire();
        });
        operation
    }
}

/// A call as the process gave it at a moment, which may lie a little before the present.
async fn given<T>(pe: &Pe, at: Time, call: impl Future<Output = T>) -> T {
    let mut call = Box::pin(call);
    let mut begun = false;
    poll_fn(|context| {
        if begun {
            return call.as_mut().poll(context);
        }
        begun = true;
        pe.given(at, || call.as_mut().poll(context))
    })
    .await
}

/// The way in which a call is carried out.
enum CollectiveMethod {
    Host,
    Adapter(PostedCall),
}

/// A process's part in a call; returns the bytes that are due to it.
async fn act(
    by: &CollectiveMethod,
    group: &Group,
    pe: &Pe,
    at: ElanAddr,
    call: &GroupCall,
) -> Result<Vec<u8>, DmaError> {
    if call.kind == CollectiveKind::Barrier {
        match (by, call.hardware) {
            (CollectiveMethod::Host, true) => group.hgsync().await?,
            (CollectiveMethod::Host, false) => group.gsync().await?,
            (CollectiveMethod::Adapter(posted), true) => posted.hgsync().await?,
            (CollectiveMethod::Adapter(posted), false) => posted.gsync().await?,
        }
        return Ok(Vec::new());
    }
    let mut result = Vec::new();
    let parts = call.size.as_u64().div_ceil(PART.as_u64());
    for part in 0..parts {
        let from = PART * part;
        let length = PART.min(call.size - from);
        let end = (from + length).as_u64() as usize;
        if let Some(bytes) = call.bytes.get(from.as_u64() as usize..end) {
            pe.elan3().store(at, bytes)?;
        }
        if act_on_part(by, group, at, length, call).await? {
            result.extend(pe.elan3().load(at, length)?);
        }
    }
    Ok(result)
}

/// A part of a call, in the process's buffer; returns whether the buffer then holds the bytes due
/// to the process.
async fn act_on_part(
    by: &CollectiveMethod,
    group: &Group,
    at: ElanAddr,
    length: Bytes,
    call: &GroupCall,
) -> Result<bool, DmaError> {
    let is_root = group.rank() == call.root;
    let Some(reduction) = &call.reduction else {
        match (by, call.hardware) {
            (CollectiveMethod::Host, true) => group.hbcast(at, length, call.root).await?,
            (CollectiveMethod::Host, false) => group.bcast(at, length, call.root).await?,
            (CollectiveMethod::Adapter(posted), true) => {
                posted.hbcast(at, length, call.root).await?;
            }
            (CollectiveMethod::Adapter(posted), false) => {
                posted.bcast(at, length, call.root).await?;
            }
        }
        return Ok(!is_root);
    };
    let (to, due) = if call.kind == CollectiveKind::AllReduce {
        (Receivers::All, true)
    } else {
        (Receivers::Root(call.root), is_root)
    };
    let element = Bytes::new(reduction.combiner.element());
    let operation = reduce::Reduction {
        size: element,
        combine: &*reduction.combine,
    };
    let count = length / element;
    group.reduce(at, at, count, &operation, to).await?;
    Ok(due)
}

/// A call under way.
struct Collective {
    pe: Pe,
    ended: Signal,
    incoming: RefCell<Option<OperationResult>>,
}

impl NetworkOp for Collective {
    fn ended(&self) -> EndFuture {
        let (pe, ended) = (self.pe.clone(), self.ended.clone());
        Box::pin(async move {
            ended.wait().await;
            pe.now()
        })
    }

    fn finish(&self, _at: Time) -> Finish {
        let incoming = self.incoming.take().expect("it has ended");
        Box::pin(async move { incoming })
    }
}
