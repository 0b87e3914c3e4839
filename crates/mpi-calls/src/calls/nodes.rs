//! Calls by which a program asks MPI for its node: the processor name, and communicators for ranks
//! that share a resource.
//!
//! The library sees one host, or one rank on each node; the simulated machine has the placement's
//! nodes. So these calls are answered here, and divide communicators by `MPI_Comm_split`. A node is
//! one package with one memory; ranks are not bound to single processors. Resources in `info`
//! (`mpi_hw_resource_type`, MPI-4.1 section 7.4.2):
//!
//! | resource | ranks together |
//! |---|---|
//! | `mpi_shared_memory`, `hwloc://Machine`, `hwloc://Package`, `hwloc://NUMANode` | on a node |
//! | `hwloc://Core`, `hwloc://PU` | each alone if nodes have one processor |
//! | `mpi_pset_name`: `mpi://WORLD`, `mpi://SELF` | all, each alone |
//! | others | no communicator: `MPI_COMM_NULL` |

use super::interface::{Interface, Split, UNDEFINED};
use crate::functions::functions;
use node::RankNode;
use rank::session;
use std::ffi::{CStr, c_char, c_int};

functions! {
    comm_split is c"PMPI_Comm_split"(comm: usize, colour: c_int, key: c_int, place: usize);
    comm_size is c"PMPI_Comm_size"(comm: usize, size: *mut c_int);
    allgather is c"PMPI_Allgather"(
        from: *const u8, count: c_int, kind: usize,
        to: *mut u8, counts: c_int, kinds: usize, comm: usize
    );
    info_get is c"PMPI_Info_get"(
        info: usize, key: *const c_char, length: c_int, value: *mut c_char, flag: *mut c_int
    );
    info_set is c"PMPI_Info_set"(info: usize, key: *const c_char, value: *const c_char);
    info_create is c"PMPI_Info_create"(place: usize);
}

const TYPE: &CStr = c"mpi_hw_resource_type";
const SET: &CStr = c"mpi_pset_name";
const SHARED: &CStr = c"mpi_shared_memory";

/// Resources of which a rank uses one.
const OF_NODE: [&CStr; 4] = [
    SHARED,
    c"hwloc://Machine",
    c"hwloc://Package",
    c"hwloc://NUMANode",
];

/// Resources of which a rank uses as many as the node has processors.
const OF_PROCESSOR: [&CStr; 2] = [c"hwloc://Core", c"hwloc://PU"];

/// The longest value for a key with a meaning here.
const LONGEST: u8 = 64;

/// A key's value, if the object has one.
fn value(library: Interface, info: usize, key: &CStr) -> Option<Vec<u8>> {
    let info = library.handle(info);
    if library.is_no_info(info) {
        return None;
    }
    let (mut value, mut flag) = ([0_u8; LONGEST as usize + 1], 0);
    // SAFETY: an object of a call that has one, and room for a value of this length and a zero.
    let error = unsafe {
        let to = value.as_mut_ptr().cast();
        info_get(info, key.as_ptr(), LONGEST.into(), to, &raw mut flag)
    };
    let value = CStr::from_bytes_until_nul(&value).ok()?.to_bytes();
    (error == 0 && flag != 0).then(|| value.to_vec())
}

/// A rank's colour for an object's resource.
fn guided(library: Interface, info: usize, node: &RankNode, rank: u32) -> c_int {
    let is = |names: &[&CStr], value: &[u8]| {
        names.iter().any(|name| {
            let short = name.to_bytes();
            // An hwloc type may also be named without its scheme.
            short == value || short.strip_prefix(b"hwloc://") == Some(value)
        })
    };
    if let Some(kind) = value(library, info, TYPE) {
        if is(&OF_NODE, &kind) {
            return node.number.cast_signed();
        }
        if is(&OF_PROCESSOR, &kind) && node.processors == 1 {
            return rank.cast_signed();
        }
    }
    match value(library, info, SET).as_deref() {
        Some(b"mpi://WORLD") => 0,
        Some(b"mpi://SELF") => rank.cast_signed(),
        _ => UNDEFINED,
    }
}

/// The handle at the program's place.
///
/// # Safety
/// The place must have a library handle.
pub unsafe fn handle_at(library: Interface, place: usize) -> usize {
    // SAFETY: handles of MPICH's own interface are `int`s, and others pointers.
    unsafe {
        match library {
            Interface::Mpich => (place as *const u32).read() as usize,
            Interface::Standard | Interface::OpenMpi => (place as *const usize).read(),
        }
    }
}

/// The words of all members in a communicator, in place order; MPI's error if the library has one.
pub fn gather<const N: usize>(
    library: Interface,
    comm: usize,
    own: [u64; N],
) -> Result<Vec<[u64; N]>, c_int> {
    let (comm, byte, mut size) = (library.handle(comm), library.byte(), 0);
    // SAFETY: a question about the communicator of a call.
    let error = unsafe { comm_size(comm, &raw mut size) };
    if error != 0 {
        return Err(error);
    }
    let mut all = vec![[0; N]; size.max(0) as usize];
    let bytes = (size_of_val(&own) as u32).cast_signed();
    // SAFETY: bytes of this length, and room for as many of each member.
    let error = unsafe {
        let (from, to) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
        allgather(from, bytes, byte, to, bytes, byte, comm)
    };
    if error == 0 { Ok(all) } else { Err(error) }
}

/// Divides a communicator by the simulated nodes; `None` leaves the call to the library.
pub fn split(comm: usize, kind: c_int, key: c_int, info: usize, place: usize) -> Option<c_int> {
    let (session, node, library) = (session::get()?, node::own()?, Interface::of_library()?);
    let (rank, _) = session.rank();
    let colour = if kind == UNDEFINED {
        UNDEFINED
    } else {
        match library.split(kind)? {
            Split::Node => node.number.cast_signed(),
            Split::Guided => guided(library, info, node, rank),
            Split::Beyond => 0,
            Split::Within => UNDEFINED,
            Split::Unguided => match gather(library, comm, [u64::from(node.number)]) {
                Ok(nodes) if nodes.iter().any(|of| of != &nodes[0]) => {
                    let info = library.handle(info);
                    if !library.is_no_info(info) {
                        // SAFETY: an object of the call, and strings.
                        unsafe { info_set(info, TYPE.as_ptr(), SHARED.as_ptr()) };
                    }
                    node.number.cast_signed()
                }
                Ok(_) => UNDEFINED,
                Err(error) => return Some(error),
            },
        }
    };
    // SAFETY: the communicator and the place for the new one of a call.
    Some(unsafe { comm_split(library.handle(comm), colour, key, place) })
}

/// The processor name: the node's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Get_processor_name(name: *mut c_char, length: *mut c_int) -> c_int {
    if let Some(node) = node::own() {
        let own = node.name();
        // SAFETY: MPI wants room for `MPI_MAX_PROCESSOR_NAME`, 128 bytes at least, and for a
        // number.
        unsafe {
            std::ptr::copy_nonoverlapping(own.as_ptr(), name.cast(), own.len());
            name.add(own.len()).write(0);
            length.write((own.len() as u32).cast_signed());
        }
        return 0;
    }
    functions! {
        ask is c"MPI_Get_processor_name"(name: *mut c_char, length: *mut c_int);
    }
    // SAFETY: the arguments of the call.
    unsafe { ask(name, length) }
}

/// The rank's resources, each with whether the rank uses only one of its kind (MPI-4.1 section
/// 11.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Get_hw_resource_info(place: usize) -> c_int {
    functions! {
        ask is c"MPI_Get_hw_resource_info"(place: usize);
    }
    let (Some(node), Some(library)) = (node::own(), Interface::of_library()) else {
        // SAFETY: the argument of the call.
        return unsafe { ask(place) };
    };
    // SAFETY: MPI wants a place for the object; the strings end with a zero.
    unsafe {
        let error = info_create(place);
        if error != 0 {
            return error;
        }
        let info = handle_at(library, place);
        let alone = if node.processors == 1 {
            c"true"
        } else {
            c"false"
        };
        let of_node = OF_NODE.map(|name| (name, c"true"));
        for (name, one) in of_node
            .into_iter()
            .chain(OF_PROCESSOR.map(|name| (name, alone)))
        {
            info_set(info, name.as_ptr(), one.as_ptr());
        }
    }
    0
}
