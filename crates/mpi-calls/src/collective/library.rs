//! The MPI library's functions that collective calls need, by their profiling names: no other tool
//! counts these calls.

#![allow(unsafe_code)] // C functions

use super::handles::Abi;
use crate::functions::functions;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// A copy callback for attributes that are not copied.
type Copy = extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
/// A delete callback for attributes.
pub type Delete = extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

type Query = extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Free = extern "C" fn(*mut c_void) -> c_int;
type Cancel = extern "C" fn(*mut c_void, c_int) -> c_int;

// An `MPI_Count` is a word, and never negative here.
functions! {
    test_inter is c"PMPI_Comm_test_inter"(comm: usize, flag: *mut c_int);
    comm_size is c"PMPI_Comm_size"(comm: usize, size: *mut c_int);
    comm_rank is c"PMPI_Comm_rank"(comm: usize, rank: *mut c_int);
    allgather is c"PMPI_Allgather"(
        from: *const u8, count: c_int, kind: usize,
        to: *mut u8, counts: c_int, kinds: usize, comm: usize
    );
    bcast is c"PMPI_Bcast"(bytes: *mut u8, count: c_int, kind: usize, root: c_int, comm: usize);
    create_keyval is c"PMPI_Comm_create_keyval"(
        copy: Copy, delete: Delete, key: *mut c_int, extra: *mut c_void
    );
    set_attr is c"PMPI_Comm_set_attr"(comm: usize, key: c_int, value: usize);
    call_errhandler is c"PMPI_Comm_call_errhandler"(comm: usize, error: c_int);
    type_size is c"PMPI_Type_size_x"(datatype: usize, size: *mut i64);
    pack_c is c"PMPI_Pack_c"(
        from: usize, count: usize, kind: usize,
        to: *mut u8, room: usize, place: *mut usize, comm: usize
    );
    unpack_c is c"PMPI_Unpack_c"(
        from: *const u8, size: usize, place: *mut usize,
        to: usize, count: usize, kind: usize, comm: usize
    );
    irecv is c"PMPI_Irecv_c"(
        to: usize, count: usize, kind: usize, from: c_int, tag: c_int, comm: usize, request: usize
    );
    grequest_start is c"PMPI_Grequest_start"(
        query: Query, free: Free, cancel: Cancel, extra: *mut c_void, request: *mut usize
    );
    get_status is c"PMPI_Request_get_status"(
        request: usize, flag: *mut c_int, status: *mut [u64; 16]
    );
}

/// A communicator's rank count, and this rank's place in it; `None` if it is an intercommunicator,
/// or not a communicator.
pub fn shape(comm: usize) -> Option<(u32, u32)> {
    let (mut inter, mut size, mut rank) = (1, 0, 0);
    // SAFETY: questions about a communicator, with places for the answers.
    let failed = unsafe {
        test_inter(comm, &raw mut inter) != 0
            || inter != 0
            || comm_size(comm, &raw mut size) != 0
            || comm_rank(comm, &raw mut rank) != 0
    };
    (!failed).then_some((size.cast_unsigned(), rank.cast_unsigned()))
}

/// Gathers a word from each member at all members; MPI's error if that fails.
pub fn gather(abi: Abi, comm: usize, own: u32, members: u32) -> Result<Vec<u32>, c_int> {
    let own = own.to_ne_bytes();
    let mut all = vec![0; own.len() * members as usize];
    let byte = abi.byte();
    // SAFETY: bytes of this length, and room for as many of each member.
    let error = unsafe { allgather(own.as_ptr(), 4, byte, all.as_mut_ptr(), 4, byte, comm) };
    let (words, _) = all.as_chunks();
    let words = words.iter().map(|&word| u32::from_ne_bytes(word)).collect();
    if error == 0 { Ok(words) } else { Err(error) }
}

/// The first member's word, at all members; MPI's error if that fails.
pub fn share(abi: Abi, comm: usize, word: u64) -> Result<u64, c_int> {
    let mut bytes = word.to_ne_bytes();
    // SAFETY: bytes of this length.
    let error = unsafe { bcast(bytes.as_mut_ptr(), 8, abi.byte(), 0, comm) };
    if error == 0 {
        Ok(u64::from_ne_bytes(bytes))
    } else {
        Err(error)
    }
}

extern "C" fn copy_nothing(
    _comm: usize,
    _key: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _copy: *mut c_void,
    copied: *mut c_int,
) -> c_int {
    // SAFETY: MPI gives a place for the answer.
    unsafe { copied.write(0) };
    0
}

/// A key for communicator attributes; MPI reports when a communicator is freed.
pub fn key(delete: Delete) -> Option<c_int> {
    let mut key = 0;
    // SAFETY: both functions are those of an attribute.
    let error = unsafe { create_keyval(copy_nothing, delete, &raw mut key, std::ptr::null_mut()) };
    (error == 0).then_some(key)
}

/// Gives a communicator an attribute; returns whether it has it.
pub fn attach(comm: usize, key: c_int, value: usize) -> bool {
    // SAFETY: the value is a number that is never taken for an address.
    unsafe { set_attr(comm, key, value) == 0 }
}

/// Ends a call by its communicator's error handler.
pub fn fail(comm: usize, error: c_int) -> c_int {
    // SAFETY: the communicator is that of the call.
    unsafe { call_errhandler(comm, error) };
    error
}

/// The bytes of a type; `None` if it has no size.
pub fn size(datatype: usize) -> Option<usize> {
    let mut size = 0;
    // SAFETY: a place for the answer.
    let error = unsafe { type_size(datatype, &raw mut size) };
    (error == 0).then(|| usize::try_from(size).ok())?
}

/// Starts to receive elements from a member, into the program's buffer; MPI's answer.
pub fn receive(
    (to, count, datatype): (usize, usize, usize),
    from: u32,
    comm: usize,
    request: usize,
) -> c_int {
    // SAFETY: the buffer, and the place for the request, of a call that has them.
    unsafe { irecv(to, count, datatype, from.cast_signed(), 0, comm, request) }
}

/// Packs elements from the program's buffer into as many bytes as they have.
pub fn pack(
    from: usize,
    count: usize,
    datatype: usize,
    to: &mut [u8],
    comm: usize,
) -> Result<(), c_int> {
    let mut place = 0;
    // SAFETY: the buffer of a call that has this many elements, and the room of the other.
    let error = unsafe {
        pack_c(
            from,
            count,
            datatype,
            to.as_mut_ptr(),
            to.len(),
            &raw mut place,
            comm,
        )
    };
    if error == 0 { Ok(()) } else { Err(error) }
}

/// Unpacks bytes into elements in the program's buffer.
pub fn unpack(bytes: &[u8], to: usize, count: usize, datatype: usize, comm: usize) -> c_int {
    let mut place = 0;
    // SAFETY: as for `pack`.
    unsafe {
        unpack_c(
            bytes.as_ptr(),
            bytes.len(),
            &raw mut place,
            to,
            count,
            datatype,
            comm,
        )
    }
}

extern "C" fn query(_extra: *mut c_void, _status: *mut c_void) -> c_int {
    0
}

extern "C" fn free(_extra: *mut c_void) -> c_int {
    0
}

extern "C" fn cancel(_extra: *mut c_void, _over: c_int) -> c_int {
    0
}

/// The request that never ends, and the MPI initialisation in which it was made.
static REQUEST: Mutex<Option<(u32, usize)>> = Mutex::new(None);

/// Lets the library make progress. No MPI call has just this purpose; but a status query for a
/// pending request makes the library advance all others. So the query is for a request that never
/// ends.
pub fn progress() {
    let visit = rank::session::visit();
    let known = *REQUEST.lock().unwrap_or_else(PoisonError::into_inner);
    let request = match known {
        Some((when, request)) if when == visit => request,
        _ => {
            let mut request = 0;
            // SAFETY: the functions of a request that is never ended.
            unsafe {
                grequest_start(query, free, cancel, std::ptr::null_mut(), &raw mut request);
            }
            *REQUEST.lock().unwrap_or_else(PoisonError::into_inner) = Some((visit, request));
            request
        }
    };
    let (mut flag, mut status) = (0, [0; 16]);
    // SAFETY: places for the answers; a status is shorter in either interface.
    unsafe { get_status(request, &raw mut flag, &raw mut status) };
}
