//! The entry points themselves, by the number of their arguments; see the head of [`super`].

use super::around;
use super::next::{definition, find, is_standard};
use crate::{clock, session, thread};
use link::Leaving;
use std::ffi::{c_double, c_int};
use std::sync::atomic::AtomicUsize;

/// Calls an MPI library's definition with words for arguments, as the outermost call if it is that.
macro_rules! pass {
    ($name:ident($($word:ident)*)) => {{
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        const NUMBER: u32 = link::calls::number(stringify!($name));
        const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("a name"),
        };
        let next = find(&NEXT, NAME);
        // SAFETY: it is the function of this name, which takes so many arguments of a word each and returns an integer.
        let next = unsafe { std::mem::transmute::<usize, extern "C" fn($(words!($word)),*) -> c_int>(next) };
        around(NUMBER, || next($($word),*))
    }};
}

macro_rules! words {
    ($word:ident) => {
        usize
    };
}

macro_rules! entry {
    ($name:ident $($word:ident)*) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name($($word: usize),*) -> c_int {
            pass!($name($($word)*))
        }
    };
}

macro_rules! entries {
    ($($count:tt => $($name:ident)*;)*) => {
        $($(with_words!($count $name);)*)*

        /// How many there are.
        const ENTRIES: usize = [$($(stringify!($name)),*),*].len();
    };
}

macro_rules! with_words {
    (0 $name:ident) => { entry!($name); };
    (1 $name:ident) => { entry!($name a); };
    (2 $name:ident) => { entry!($name a b); };
    (3 $name:ident) => { entry!($name a b c); };
    (4 $name:ident) => { entry!($name a b c d); };
    (5 $name:ident) => { entry!($name a b c d e); };
    (6 $name:ident) => { entry!($name a b c d e f); };
    (7 $name:ident) => { entry!($name a b c d e f g); };
    (8 $name:ident) => { entry!($name a b c d e f g h); };
    (9 $name:ident) => { entry!($name a b c d e f g h i); };
    (10 $name:ident) => { entry!($name a b c d e f g h i j); };
    (12 $name:ident) => { entry!($name a b c d e f g h i j k l); };
    (13 $name:ident) => { entry!($name a b c d e f g h i j k l m); };
}

entries! {
    0 =>
        MPI_Buffer_flush MPI_Finalize;
    1 =>
        MPI_Barrier MPI_Buffer_iflush MPI_Cancel MPI_Comm_disconnect MPI_Comm_flush_buffer MPI_Comm_free MPI_File_close
        MPI_File_sync MPI_Request_free MPI_Session_finalize MPI_Session_flush_buffer MPI_Start MPI_Win_complete
        MPI_Win_flush_all MPI_Win_flush_local_all MPI_Win_free MPI_Win_sync MPI_Win_unlock_all MPI_Win_wait;
    2 =>
        MPI_Buffer_detach MPI_Buffer_detach_c MPI_Comm_dup MPI_Comm_iflush_buffer MPI_Comm_join MPI_File_preallocate
        MPI_File_set_atomicity MPI_File_set_info MPI_File_set_size MPI_Ibarrier MPI_Init MPI_Pready MPI_Session_iflush_buffer
        MPI_Wait MPI_Win_fence MPI_Win_flush MPI_Win_flush_local MPI_Win_lock_all MPI_Win_set_info MPI_Win_test
        MPI_Win_unlock;
    3 =>
        MPI_Cart_sub MPI_Comm_create MPI_Comm_detach_buffer MPI_Comm_detach_buffer_c MPI_Comm_dup_with_info MPI_Comm_idup
        MPI_File_read_all_end MPI_File_read_at_all_end MPI_File_read_ordered_end MPI_File_seek_shared MPI_File_write_all_end
        MPI_File_write_at_all_end MPI_File_write_ordered_end MPI_Intercomm_merge MPI_Parrived MPI_Pready_list MPI_Pready_range
        MPI_Request_get_status MPI_Session_detach_buffer MPI_Session_detach_buffer_c MPI_Test MPI_Waitall
        MPI_Win_create_dynamic MPI_Win_post MPI_Win_start;
    4 =>
        MPI_Comm_create_group MPI_Comm_idup_with_info MPI_Comm_split MPI_File_read_all_begin MPI_File_read_all_begin_c
        MPI_File_read_ordered_begin MPI_File_read_ordered_begin_c MPI_File_write_all_begin MPI_File_write_all_begin_c
        MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c MPI_Probe MPI_Request_get_status_all MPI_Testall
        MPI_Waitany MPI_Win_lock;
    5 =>
        MPI_Bcast MPI_Bcast_c MPI_Comm_accept MPI_Comm_connect MPI_Comm_create_from_group MPI_Comm_split_type MPI_File_iread
        MPI_File_iread_all MPI_File_iread_all_c MPI_File_iread_c MPI_File_iread_shared MPI_File_iread_shared_c MPI_File_iwrite
        MPI_File_iwrite_all MPI_File_iwrite_all_c MPI_File_iwrite_c MPI_File_iwrite_shared MPI_File_iwrite_shared_c
        MPI_File_open MPI_File_read MPI_File_read_all MPI_File_read_all_c MPI_File_read_at_all_begin
        MPI_File_read_at_all_begin_c MPI_File_read_c MPI_File_read_ordered MPI_File_read_ordered_c MPI_File_read_shared
        MPI_File_read_shared_c MPI_File_write MPI_File_write_all MPI_File_write_all_c MPI_File_write_at_all_begin
        MPI_File_write_at_all_begin_c MPI_File_write_c MPI_File_write_ordered MPI_File_write_ordered_c MPI_File_write_shared
        MPI_File_write_shared_c MPI_Imrecv MPI_Imrecv_c MPI_Iprobe MPI_Mprobe MPI_Mrecv MPI_Mrecv_c MPI_Request_get_status_any
        MPI_Request_get_status_some MPI_Testany MPI_Testsome MPI_Waitsome;
    6 =>
        MPI_Allreduce MPI_Allreduce_c MPI_Bsend MPI_Bsend_c MPI_Cart_create MPI_Exscan MPI_Exscan_c MPI_File_iread_at
        MPI_File_iread_at_all MPI_File_iread_at_all_c MPI_File_iread_at_c MPI_File_iwrite_at MPI_File_iwrite_at_all
        MPI_File_iwrite_at_all_c MPI_File_iwrite_at_c MPI_File_read_at MPI_File_read_at_all MPI_File_read_at_all_c
        MPI_File_read_at_c MPI_File_set_view MPI_File_write_at MPI_File_write_at_all MPI_File_write_at_all_c
        MPI_File_write_at_c MPI_Graph_create MPI_Ibcast MPI_Ibcast_c MPI_Improbe MPI_Intercomm_create MPI_Reduce_scatter
        MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c MPI_Reduce_scatter_c MPI_Rsend MPI_Rsend_c MPI_Scan MPI_Scan_c
        MPI_Send MPI_Send_c MPI_Ssend MPI_Ssend_c MPI_Win_allocate MPI_Win_allocate_c MPI_Win_allocate_shared
        MPI_Win_allocate_shared_c MPI_Win_create MPI_Win_create_c;
    7 =>
        MPI_Allgather MPI_Allgather_c MPI_Alltoall MPI_Alltoall_c MPI_Compare_and_swap MPI_Fetch_and_op MPI_Iallreduce
        MPI_Iallreduce_c MPI_Ibsend MPI_Ibsend_c MPI_Iexscan MPI_Iexscan_c MPI_Irecv MPI_Irecv_c MPI_Ireduce_scatter
        MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c MPI_Ireduce_scatter_c MPI_Irsend MPI_Irsend_c MPI_Iscan
        MPI_Iscan_c MPI_Isend MPI_Isend_c MPI_Issend MPI_Issend_c MPI_Neighbor_allgather MPI_Neighbor_allgather_c
        MPI_Neighbor_alltoall MPI_Neighbor_alltoall_c MPI_Recv MPI_Recv_c MPI_Reduce MPI_Reduce_c;
    8 =>
        MPI_Allgatherv MPI_Allgatherv_c MPI_Gather MPI_Gather_c MPI_Get MPI_Get_c MPI_Iallgather MPI_Iallgather_c MPI_Ialltoall
        MPI_Ialltoall_c MPI_Ineighbor_allgather MPI_Ineighbor_allgather_c MPI_Ineighbor_alltoall MPI_Ineighbor_alltoall_c
        MPI_Intercomm_create_from_groups MPI_Ireduce MPI_Ireduce_c MPI_Neighbor_allgatherv MPI_Neighbor_allgatherv_c MPI_Put
        MPI_Put_c MPI_Scatter MPI_Scatter_c;
    9 =>
        MPI_Accumulate MPI_Accumulate_c MPI_Alltoallv MPI_Alltoallv_c MPI_Alltoallw MPI_Alltoallw_c MPI_Dist_graph_create
        MPI_Gatherv MPI_Gatherv_c MPI_Iallgatherv MPI_Iallgatherv_c MPI_Igather MPI_Igather_c MPI_Ineighbor_allgatherv
        MPI_Ineighbor_allgatherv_c MPI_Iscatter MPI_Iscatter_c MPI_Isendrecv_replace MPI_Isendrecv_replace_c
        MPI_Neighbor_alltoallv MPI_Neighbor_alltoallv_c MPI_Neighbor_alltoallw MPI_Neighbor_alltoallw_c MPI_Precv_init
        MPI_Psend_init MPI_Rget MPI_Rget_c MPI_Rput MPI_Rput_c MPI_Scatterv MPI_Scatterv_c MPI_Sendrecv_replace
        MPI_Sendrecv_replace_c;
    10 =>
        MPI_Dist_graph_create_adjacent MPI_Ialltoallv MPI_Ialltoallv_c MPI_Ialltoallw MPI_Ialltoallw_c MPI_Igatherv
        MPI_Igatherv_c MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallv_c MPI_Ineighbor_alltoallw MPI_Ineighbor_alltoallw_c
        MPI_Iscatterv MPI_Iscatterv_c MPI_Raccumulate MPI_Raccumulate_c;
    12 =>
        MPI_Get_accumulate MPI_Get_accumulate_c MPI_Isendrecv MPI_Isendrecv_c MPI_Sendrecv MPI_Sendrecv_c;
    13 =>
        MPI_Rget_accumulate MPI_Rget_accumulate_c;
}

// All calls of the list, with the six that do more.
const _: () = assert!(ENTRIES + 6 == link::calls::COUNT);

/// Notes who ends the run, and how: afterwards, all that is left to see are many dead processes.
#[unsafe(no_mangle)]
extern "C" fn MPI_Abort(comm: usize, code: usize) -> c_int {
    if let Some(session) = session::get() {
        // An `int` in a register of 64 bits; the upper half is anything.
        session.leaves(Leaving::Abort((code as u32).cast_signed()));
    }
    pass!(MPI_Abort(comm code))
}

/// Notes how many requests it starts.
#[unsafe(no_mangle)]
extern "C" fn MPI_Startall(count: usize, requests: usize) -> c_int {
    let result = pass!(MPI_Startall(count requests));
    // An `int` in a register of 64 bits; the upper half is anything.
    super::started_all(count as u32);
    result
}

/// Notes whether several threads will call MPI.
#[unsafe(no_mangle)]
extern "C" fn MPI_Init_thread(
    count: usize,
    words: usize,
    required: usize,
    provided: usize,
) -> c_int {
    // `MPI_THREAD_MULTIPLE` of MPICH's own binary interface and of the standard one; neither is another level of the other.
    const MULTIPLE: [c_int; 2] = [3, 4096];
    let result = pass!(MPI_Init_thread(count words required provided));
    // SAFETY: MPI wants a place for what it provides, and has written to it.
    let granted = unsafe { (provided as *const c_int).as_ref() };
    if granted.is_some_and(|granted| MULTIPLE.contains(granted)) {
        thread::may_be_several();
    }
    result
}

/// The level of threads lies in `info`, and is the highest for who does not ask.
#[unsafe(no_mangle)]
extern "C" fn MPI_Session_init(info: usize, handler: usize, place: usize) -> c_int {
    thread::may_be_several();
    pass!(MPI_Session_init(info handler place))
}

/// The ranks are fixed when the run starts.
#[unsafe(no_mangle)]
extern "C" fn MPI_Comm_spawn(
    command: usize,
    arguments: usize,
    processes: usize,
    info: usize,
    root: usize,
    comm: usize,
    children: usize,
    errors: usize,
) -> c_int {
    if session::get().is_some() {
        return refuse_to_spawn("MPI_Comm_spawn", root, comm);
    }
    pass!(MPI_Comm_spawn(command arguments processes info root comm children errors))
}

/// As `MPI_Comm_spawn`.
#[unsafe(no_mangle)]
extern "C" fn MPI_Comm_spawn_multiple(
    count: usize,
    commands: usize,
    arguments: usize,
    processes: usize,
    infos: usize,
    root: usize,
    comm: usize,
    children: usize,
    errors: usize,
) -> c_int {
    if session::get().is_some() {
        return refuse_to_spawn("MPI_Comm_spawn_multiple", root, comm);
    }
    pass!(MPI_Comm_spawn_multiple(count commands arguments processes infos root comm children errors))
}

/// Says so, once, and fails by the error handler of the communicator, as MPI does: by default that ends the program.
fn refuse_to_spawn(call: &str, root: usize, comm: usize) -> c_int {
    let (Some(rank), Some(barrier), Some(handler)) = (
        definition(c"MPI_Comm_rank"),
        definition(c"MPI_Barrier"),
        definition(c"MPI_Comm_call_errhandler"),
    ) else {
        std::process::abort();
    };
    // `MPI_ERR_SPAWN` of the standard binary interface and of MPICH's own.
    let error = if is_standard(handler) { 53 } else { 42 };
    // SAFETY: these are functions of MPI with such arguments.
    let (rank, barrier, handler) = unsafe {
        (
            std::mem::transmute::<usize, extern "C" fn(usize, *mut c_int) -> c_int>(rank),
            std::mem::transmute::<usize, extern "C" fn(usize) -> c_int>(barrier),
            std::mem::transmute::<usize, extern "C" fn(usize, c_int) -> c_int>(handler),
        )
    };
    let mut own = 0;
    rank(comm, &raw mut own);
    if own.cast_unsigned() == root as u32 {
        eprintln!(
            "elanite: {call} is not supported on the simulated cluster: its ranks are fixed when the run starts"
        );
    }
    // The first that fails ends the others: not before the reason has been said. The call is one of all these ranks.
    around(link::calls::number("MPI_Barrier"), || barrier(comm));
    handler(comm, error);
    error
}

/// The clock of the session, from which it takes its seconds with all their digits.
#[unsafe(no_mangle)]
extern "C" fn MPI_Wtime() -> c_double {
    match clock::reading() {
        Some(now) => clock::START as f64 + now as f64 / 1e12,
        None => ask(c"MPI_Wtime"),
    }
}

/// A picosecond.
#[unsafe(no_mangle)]
extern "C" fn MPI_Wtick() -> c_double {
    match session::shown() {
        Some(_) => 1e-12,
        None => ask(c"MPI_Wtick"),
    }
}

fn ask(name: &std::ffi::CStr) -> c_double {
    static PLACES: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let place = &PLACES[usize::from(name == c"MPI_Wtick")];
    // SAFETY: both are functions of MPI without arguments.
    let next =
        unsafe { std::mem::transmute::<usize, extern "C" fn() -> c_double>(find(place, name)) };
    next()
}
