//! Collective calls of MPI that Elanlib carries out in the simulator: `MPI_Barrier`, `MPI_Bcast`, `MPI_Reduce`,
//! `MPI_Allreduce`, and their forms for large counts.
//!
//! The run says whether Elanlib carries them out ([`link::Collectives`]). A call becomes one order
//! ([`link::OrderKind::Collective`]) with this rank's bytes; the report brings the bytes that are due to the rank. A call of
//! which Elanlib does nothing goes to the MPI library, and all members of the communicator decide this alike: by what MPI wants
//! to be the same at all of them.
//!
//! | goes to the MPI library | since |
//! |---|---|
//! | communicators of one rank, intercommunicators, ranks that are threads; communicators for which the machine has no room | Elanlib has no group of them |
//! | no bytes at all | MPI waits for nobody then |
//! | operations of the program; those on pairs; types and operations without a function ([`Reduction::new`]) | Elanlib has only the functions of MPI's own types |
//! | arguments that are wrong | their errors are the library's |
//! | an MPI library other than MPICH | its handles are others |
//!
//! While a rank waits here, its MPI library must go on with what others want of it: one-sided communication that needs its
//! processor, collective operations that do not block. So the rank waits in the library's own loop ([`library::progress`]), which
//! looks for completions of the network, and so lets simulated time go on to the next report.

#![allow(unsafe_code)] // buffers of the program

mod comm;
mod handles;
mod library;

use crate::memory::{Buffer, Span};
use crate::session::{self, Session};
use crate::thread;
use comm::Group;
use handles::Abi;
use link::collective::Reduction;
use link::{CollectiveKind, Collectives, Order, OrderKind, Status};
use std::ffi::c_int;

/// How often a rank lets the MPI library look, without the library having looked for completions, before it looks itself.
const SILENT_LOOKS: u32 = 64;

/// A call of one communicator.
struct Call {
    session: &'static Session,
    abi: Abi,
    comm: usize,
    group: Group,
    hardware: bool,
}

/// The call, if Elanlib can carry it out.
fn call(comm: usize) -> Option<Call> {
    let session = session::get()?;
    let hardware = match session.settings().collectives {
        Collectives::Mpi => return None,
        Collectives::Elan => false,
        Collectives::Hardware => true,
    };
    // What the library calls for itself is its own.
    if thread::current().depth.get() > 1 {
        return None;
    }
    let abi = Abi::of_library()?;
    let comm = abi.handle(comm);
    Some(Call {
        session,
        abi,
        comm,
        group: comm::group(session, abi, comm)?,
        hardware,
    })
}

impl Call {
    /// Makes the call: with this rank's bytes, and with room for those that are due to it.
    fn make(
        &self,
        kind: CollectiveKind,
        root: u32,
        (reduction, size): (Option<Reduction>, usize),
        bytes: &[u8],
        due: Buffer,
    ) -> c_int {
        thread::current().served.set(true);
        let mut state = self.session.lock();
        let id = state.engine.collected.begin(due);
        let order = Order {
            id,
            key: self.group.key,
            tag: kind as u64,
            mask: self.hardware.into(),
            peer: root,
            data: reduction.map_or(0, Reduction::word),
            offset: reduction.map_or(0, |reduction| reduction.element.size()),
            size: size as u64,
            ..Order::new(OrderKind::Collective, 0)
        };
        self.session.order(&mut state, order, &[bytes]);
        drop(state);
        match finish(self.session, id) {
            Status::Done => 0,
            Status::Truncated => library::fail(self.comm, self.abi.truncated()),
            _ => library::fail(self.comm, self.abi.other()),
        }
    }
}

/// Waits until a call has ended.
fn finish(session: &'static Session, id: u64) -> Status {
    let mut silent = 0;
    loop {
        if let Some(status) = session.lock().engine.collected.take(id) {
            return status;
        }
        let looks = session.looks_in_all();
        library::progress();
        silent = if session.looks_in_all() == looks {
            silent + 1
        } else {
            0
        };
        if silent >= SILENT_LOOKS {
            let mut state = session.lock();
            if !state.engine.collected.has_ended(id) {
                session.look(&mut state);
            }
        }
    }
}

/// `MPI_Barrier`; nothing if it is for the MPI library.
pub fn barrier(comm: usize) -> Option<c_int> {
    let call = call(comm)?;
    let kind = CollectiveKind::Barrier;
    Some(call.make(kind, 0, (None, 0), &[], Buffer::default()))
}

/// `MPI_Bcast`; nothing if it is for the MPI library.
pub fn broadcast(
    buffer: usize,
    count: i64,
    datatype: usize,
    root: usize,
    comm: usize,
) -> Option<c_int> {
    let call = call(comm)?;
    let datatype = call.abi.handle(datatype);
    let count = usize::try_from(count).ok().filter(|&count| count > 0)?;
    // An `int` in a register of 64 bits; the upper half is anything.
    let root = root as u32;
    if root >= call.group.size || call.abi.is_no_type(datatype) || buffer == call.abi.in_place() {
        return None;
    }
    let is_root = root == call.group.place;
    let kind = CollectiveKind::Broadcast;
    let size = library::size(datatype)?.checked_mul(count)?;
    if size == 0 {
        return None;
    }
    if call.abi.is_contiguous(datatype) {
        if buffer == 0 {
            return None;
        }
        // SAFETY: the buffer of the call, of which the program says that it has this length.
        let span = unsafe { Span::new(std::ptr::with_exposed_provenance(buffer), size) };
        return Some(if is_root {
            call.make(kind, root, (None, size), span.bytes(), Buffer::default())
        } else {
            call.make(kind, root, (None, size), &[], span.into())
        });
    }
    let mut packed = vec![0; size];
    if is_root {
        if let Err(error) = library::pack(buffer, count, datatype, &mut packed, call.comm) {
            return Some(error);
        }
        return Some(call.make(kind, root, (None, size), &packed, Buffer::default()));
    }
    // SAFETY: it lives until the call has ended.
    let span = unsafe { Span::new(packed.as_mut_ptr(), size) };
    let ended = call.make(kind, root, (None, size), &[], span.into());
    if ended != 0 {
        return Some(ended);
    }
    Some(library::unpack(&packed, buffer, count, datatype, call.comm))
}

/// `MPI_Reduce`, or without a root `MPI_Allreduce`; nothing if it is for the MPI library.
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
    // All wrong: no place for what is sent or due, or the same place for both.
    let wrong = |place: usize| place == 0 || place == in_place;
    if wrong(from) || is_due && (wrong(receive) || send == receive) {
        return None;
    }
    // SAFETY: the buffers of the call, of which the program says that they have this length.
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
