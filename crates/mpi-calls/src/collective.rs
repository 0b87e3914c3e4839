//! MPI's collective calls that Elanlib carries out in the simulator: `MPI_Barrier`, `MPI_Bcast`,
//! `MPI_Reduce`, `MPI_Allreduce`, `MPI_Ibarrier`, `MPI_Ibcast`, and their forms for large counts.
//!
//! The run's settings decide whether Elanlib carries them out ([`link::Collectives`]). A call
//! becomes one order ([`link::Order::Collective`]) with this rank's bytes; the report brings the
//! bytes that are due to the rank. A call that Elanlib does not support goes to the MPI library,
//! and all the communicator's members decide this alike: by values that MPI wants to be equal at
//! all members.
//!
//! | goes to the MPI library | since |
//! |---|---|
//! | communicators with one rank, intercommunicators, ranks that are threads; communicators for which the machine has no room | Elanlib has no group for them |
//! | no bytes at all | MPI does not wait then |
//! | the program's operations; those on pairs; types and operations without a function ([`VectorReduction::new`]) | Elanlib has only the functions for MPI's own types |
//! | arguments that are wrong | their errors are the library's |
//! | an MPI library other than MPICH | its handles are others |
//!
//! Nonblocking calls go to Elanlib if the adapters carry them out (`libelan::elan::posted`). Their
//! requests are receives in the MPI library ([`stand_in`]). These, too, go to the MPI library:
//!
//! | goes to the MPI library | since |
//! |---|---|
//! | `MPI_Ireduce`, `MPI_Iallreduce` | the hosts combine |
//! | calls by several ranks on one node | these meet in shared memory, where the hosts copy |
//! | calls on a communicator, but `MPI_COMM_WORLD`, without an earlier blocking call | its members have not agreed on the group, and would block for that |
//! | more bytes than the provider's longest message | the MPI library receives them in several pieces |
//!
//! While a rank waits here, its MPI library must continue to serve others: one-sided communication
//! that needs its processor, nonblocking collective operations. So the rank waits in the library's
//! own loop ([`library::progress`]), which looks for network completions, and so lets simulated
//! time pass to the next report.

#![allow(unsafe_code)] // the program's buffers

mod comm;
mod handles;
mod library;

use comm::CommGroup;
use fi::mpi::datum;
use fi::{engine, longest, stand_in};
use handles::Abi;
use link::collective::VectorReduction;
use link::{CollectiveCall, CollectiveKind, Collectives, Combiner, EndStatus, Order};
use rank::memory::{Buffer, Span};
use rank::session::{self, Session};
use rank::thread;
use std::ffi::c_int;

/// How often a rank lets the MPI library look, without the library having looked for completions,
/// before it looks itself.
const SILENT_LOOKS: u32 = 64;

/// `MPI_COMM_WORLD` of the program's MPI library, as a word; `None` if the library is neither MPICH
/// nor Open MPI.
pub fn world() -> Option<usize> {
    let own = Abi::of_library().map(Abi::world);
    own.or_else(|| datum(c"ompi_mpi_comm_world"))
}

/// A call on one communicator.
struct Call {
    session: &'static Session,
    abi: Abi,
    comm: usize,
    group: CommGroup,
    hardware: bool,
}

/// The call, if Elanlib can carry it out; `find` looks for the communicator's group.
fn call_by(
    comm: usize,
    find: fn(&'static Session, Abi, usize) -> Option<CommGroup>,
) -> Option<Call> {
    let session = session::get()?;
    let hardware = match session.settings().collectives {
        Collectives::Mpi => return None,
        Collectives::Elan => false,
        Collectives::Hardware => true,
    };
    // The library's inner calls are its own.
    if thread::current().depth.get() > 1 {
        return None;
    }
    let abi = Abi::of_library()?;
    let comm = abi.handle(comm);
    Some(Call {
        session,
        abi,
        comm,
        group: find(session, abi, comm)?,
        hardware,
    })
}

/// A call that blocks.
fn call(comm: usize) -> Option<Call> {
    call_by(comm, comm::group)
}

/// A nonblocking call with a place for its request.
fn posted(comm: usize, request: usize) -> Option<Call> {
    if request == 0 {
        return None;
    }
    call_by(comm, comm::known_group).filter(|call| call.group.apart)
}

impl Call {
    fn order(
        &self,
        (kind, root, size): (CollectiveKind, u32, usize),
        reduction: Option<VectorReduction>,
        posted: bool,
    ) -> Order {
        Order::Collective(CollectiveCall {
            group: self.group.key,
            kind,
            root,
            size: size as u64,
            combiner: reduction.map(Combiner::Known),
            hardware: self.hardware,
            posted,
        })
    }

    /// Starts the nonblocking call: with this rank's bytes, and with the buffer, count and type of
    /// the elements that are due to it.
    fn start(
        &self,
        what: (CollectiveKind, u32, usize),
        bytes: Span,
        due: (usize, usize, usize),
        request: usize,
    ) -> c_int {
        thread::current().served.set(true);
        stand_in::announce(self.order(what, None, true), bytes);
        // A message from the rank itself would not reach the provider.
        let other = (self.group.place + 1) % self.group.size;
        let result = library::receive(due, other, self.comm, request);
        let left = stand_in::take();
        assert!(
            result != 0 || left.is_none(),
            "the MPI library has not given the receive to the network"
        );
        result
    }

    /// Makes the call: with this rank's bytes, and with room for those that are due to it.
    fn make(
        &self,
        kind: CollectiveKind,
        root: u32,
        (reduction, size): (Option<VectorReduction>, usize),
        bytes: &[u8],
        due: Buffer,
    ) -> c_int {
        thread::current().served.set(true);
        let mut state = self.session.lock();
        let id = engine::begin(&mut state, due);
        let order = self.order((kind, root, size), reduction, false);
        self.session.order(&mut state, id, order, &[bytes]);
        drop(state);
        match finish(self.session, id) {
            EndStatus::Done => 0,
            EndStatus::Truncated => library::fail(self.comm, self.abi.truncated()),
            _ => library::fail(self.comm, self.abi.other()),
        }
    }
}

/// Waits until a call has ended.
fn finish(session: &'static Session, id: u64) -> EndStatus {
    let mut silent = 0;
    loop {
        if let Some(status) = engine::take(&mut session.lock(), id) {
            return status;
        }
        session.ring();
        let looks = session.looks_in_all();
        library::progress();
        silent = if session.looks_in_all() == looks {
            silent + 1
        } else {
            0
        };
        if silent >= SILENT_LOOKS {
            let mut state = session.lock();
            if !engine::has_ended(&mut state, id) {
                session.look(&mut state);
            }
        }
    }
}

/// `MPI_Barrier`; `None` if it is for the MPI library.
pub fn barrier(comm: usize) -> Option<c_int> {
    let call = call(comm)?;
    let kind = CollectiveKind::Barrier;
    Some(call.make(kind, 0, (None, 0), &[], Buffer::default()))
}

/// `MPI_Ibarrier`; `None` if it is for the MPI library.
pub fn start_barrier(comm: usize, request: usize) -> Option<c_int> {
    let call = posted(comm, request)?;
    let what = (CollectiveKind::Barrier, 0, 0);
    let nothing = (0, 0, call.abi.byte());
    Some(call.start(what, Span::default(), nothing, request))
}

/// A broadcast's buffer.
struct Data {
    buffer: usize,
    count: usize,
    datatype: usize,
    root: u32,
    /// The bytes of all elements.
    size: usize,
}

impl Call {
    /// A broadcast's data, unless it is for the MPI library.
    fn data(&self, buffer: usize, count: i64, datatype: usize, root: usize) -> Option<Data> {
        let datatype = self.abi.handle(datatype);
        let count = usize::try_from(count).ok().filter(|&count| count > 0)?;
        // An `int` in a 64-bit register, with an arbitrary upper half.
        let root = root as u32;
        if root >= self.group.size || self.abi.is_no_type(datatype) || buffer == self.abi.in_place()
        {
            return None;
        }
        let size = library::size(datatype)?.checked_mul(count)?;
        let lacks_memory = self.abi.is_contiguous(datatype) && buffer == 0;
        (size > 0 && !lacks_memory).then_some(Data {
            buffer,
            count,
            datatype,
            root,
            size,
        })
    }

    fn is_root(&self, data: &Data) -> bool {
        data.root == self.group.place
    }

    /// The data's memory, if they lie in one piece.
    fn span(&self, data: &Data) -> Option<Span> {
        self.abi.is_contiguous(data.datatype).then(|| {
            let buffer = std::ptr::with_exposed_provenance(data.buffer);
            // SAFETY: the call's buffer, which by the program's promise has this length.
            unsafe { Span::new(buffer, data.size) }
        })
    }

    /// The bytes from data that do not lie in one piece, or MPI's error.
    fn pack(&self, data: &Data) -> Result<Vec<u8>, c_int> {
        let mut packed = vec![0; data.size];
        let Data {
            buffer,
            count,
            datatype,
            ..
        } = *data;
        library::pack(buffer, count, datatype, &mut packed, self.comm)?;
        Ok(packed)
    }
}

/// `MPI_Bcast`; `None` if it is for the MPI library.
pub fn broadcast(
    buffer: usize,
    count: i64,
    datatype: usize,
    root: usize,
    comm: usize,
) -> Option<c_int> {
    let call = call(comm)?;
    let data = call.data(buffer, count, datatype, root)?;
    let make = |bytes: &[u8], due: Buffer| {
        let kind = CollectiveKind::Broadcast;
        call.make(kind, data.root, (None, data.size), bytes, due)
    };
    let is_root = call.is_root(&data);
    if let Some(span) = call.span(&data) {
        return Some(if is_root {
            make(span.bytes(), Buffer::default())
        } else {
            make(&[], span.into())
        });
    }
    if is_root {
        return Some(match call.pack(&data) {
            Ok(packed) => make(&packed, Buffer::default()),
            Err(error) => error,
        });
    }
    let mut packed = vec![0; data.size];
    // SAFETY: it lives until the call has ended.
    let span = unsafe { Span::new(packed.as_mut_ptr(), data.size) };
    let ended = make(&[], span.into());
    if ended != 0 {
        return Some(ended);
    }
    let (count, datatype) = (data.count, data.datatype);
    Some(library::unpack(&packed, buffer, count, datatype, call.comm))
}

/// `MPI_Ibcast`; `None` if it is for the MPI library.
pub fn start_broadcast(
    buffer: usize,
    count: i64,
    datatype: usize,
    root: usize,
    (comm, request): (usize, usize),
) -> Option<c_int> {
    let call = posted(comm, request)?;
    let data = call.data(buffer, count, datatype, root)?;
    if data.size > longest() {
        return None;
    }
    let what = (CollectiveKind::Broadcast, data.root, data.size);
    if !call.is_root(&data) {
        let due = (buffer, data.count, data.datatype);
        return Some(call.start(what, Span::default(), due, request));
    }
    let nothing = (0, 0, call.abi.byte());
    if let Some(span) = call.span(&data) {
        return Some(call.start(what, span, nothing, request));
    }
    Some(match call.pack(&data) {
        Ok(packed) => {
            // SAFETY: it lives until the call has been started.
            let span = unsafe { Span::new(packed.as_ptr(), data.size) };
            call.start(what, span, nothing, request)
        }
        Err(error) => error,
    })
}

/// `MPI_Reduce`, or without a root `MPI_Allreduce`; `None` if it is for the MPI library.
pub fn reduce(
    (send, receive): (usize, usize),
    count: i64,
    (datatype, operation): (usize, usize),
    root: Option<usize>,
    comm: usize,
) -> Option<c_int> {
    let call = call(comm)?;
    let (abi, group) = (call.abi, call.group);
    let count = usize::try_from(count).ok().filter(|&count| count > 0)?;
    let root = root.map(|root| root as u32);
    if root.is_some_and(|root| root >= group.size) {
        return None;
    }
    let reduction = abi.reduction(abi.handle(datatype), abi.handle(operation))?;
    let size = count.checked_mul(reduction.element.size() as usize)?;
    let is_due = root.is_none_or(|root| root == group.place);
    let in_place = abi.in_place();
    let from = if send == in_place && is_due {
        receive
    } else {
        send
    };
    // All wrong: no place for the sent or due bytes, or the same place for both.
    let wrong = |place: usize| place == 0 || place == in_place;
    if wrong(from) || is_due && (wrong(receive) || send == receive) {
        return None;
    }
    // SAFETY: the call's buffers, which by the program's promise have this length.
    let (from, due) = unsafe {
        (
            Span::new(std::ptr::with_exposed_provenance(from), size),
            Span::new(std::ptr::with_exposed_provenance(receive), size),
        )
    };
    let due = if is_due {
        due.into()
    } else {
        Buffer::default()
    };
    let kind = if root.is_some() {
        CollectiveKind::Reduce
    } else {
        CollectiveKind::AllReduce
    };
    let what = (Some(reduction), size);
    Some(call.make(kind, root.unwrap_or(0), what, from.bytes(), due))
}
