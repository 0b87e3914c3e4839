//! The MPI calls that communicate or wait, by number: a rank may be found in one of them, and the
//! trace records them.
//!
//! The list follows MPI 5, with the forms for large counts (`_c`). It omits calls that neither
//! communicate nor wait: queries for ranks and sizes, packing, and making types, groups and
//! persistent requests. A call's number is its place in name order, from 1 on; 0 is no call. The
//! numbers belong to the link's [`ABI`](crate::ABI), not to MPI's.
//!
//! The list ([`each_call`](crate::each_call)) is the only one: it generates the numbers here and
//! the entry points in the ranks' library.
//!
//! Behind the MPI calls come those in the libraries that Elanite itself gives to programs:
//! OpenSHMEM ([`shmem`]) from [`SHMEM`] on, Elanlib and Elan3lib ([`elan`]) from [`ELAN`] on, each
//! in list order.

mod elan;
mod shmem;

/// No call: the rank waits in a loop for a word in its memory.
pub const LOOP: u32 = 999;

/// The number of OpenSHMEM's first call.
pub const SHMEM: u32 = 1000;

/// The number of Elanlib's first call.
pub const ELAN: u32 = 3000;

/// A call's meaning for its rank's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// The call ends when other ranks have acted: while MPI has no work in it, the program cannot
    /// continue.
    Blocks,
    /// The call starts something and makes a request for it.
    Request,
    /// The call ends when other ranks have done something, but MPI gives up after a time by the
    /// clock.
    TimesOut,
    /// The call only looks whether something has happened; programs repeat it again and again.
    Looks,
    /// The call does something and ends immediately, even where MPI looks after other things in it.
    Other,
}

use CallKind::{Blocks, Looks, Other, Request, TimesOut};

/// Hands all MPI calls on the list to a macro: by kind, and by argument count. The ranks' library
/// itself defines those under `own`, since they do more than pass their arguments on.
#[macro_export]
macro_rules! each_call {
    ($with:ident) => {
        $with! {
            Blocks {
                0 => MPI_Buffer_flush MPI_Finalize;
                1 => MPI_Comm_disconnect MPI_Comm_flush_buffer MPI_File_close MPI_File_sync
                    MPI_Session_finalize MPI_Session_flush_buffer MPI_Win_complete MPI_Win_flush_all
                    MPI_Win_flush_local_all MPI_Win_unlock_all MPI_Win_wait;
                2 => MPI_Buffer_detach MPI_Buffer_detach_c MPI_Comm_dup MPI_File_preallocate
                    MPI_File_set_atomicity MPI_File_set_info MPI_File_set_size MPI_Wait
                    MPI_Win_fence MPI_Win_flush MPI_Win_flush_local MPI_Win_lock_all
                    MPI_Win_set_info MPI_Win_unlock;
                3 => MPI_Cart_sub MPI_Comm_create MPI_Comm_detach_buffer MPI_Comm_detach_buffer_c
                    MPI_Comm_dup_with_info MPI_File_read_all_end MPI_File_read_at_all_end
                    MPI_File_read_ordered_end MPI_File_seek_shared MPI_File_write_all_end
                    MPI_File_write_at_all_end MPI_File_write_ordered_end MPI_Intercomm_merge
                    MPI_Session_detach_buffer MPI_Session_detach_buffer_c MPI_Waitall
                    MPI_Win_create_dynamic MPI_Win_start;
                4 => MPI_Comm_create_group MPI_Comm_split MPI_File_read_all_begin
                    MPI_File_read_all_begin_c MPI_File_read_ordered_begin
                    MPI_File_read_ordered_begin_c MPI_File_write_all_begin
                    MPI_File_write_all_begin_c MPI_File_write_ordered_begin
                    MPI_File_write_ordered_begin_c MPI_Probe MPI_Waitany MPI_Win_lock;
                5 => MPI_Comm_accept MPI_Comm_create_from_group MPI_File_open MPI_File_read_all
                    MPI_File_read_all_c MPI_File_read_at_all_begin MPI_File_read_at_all_begin_c
                    MPI_File_read_ordered MPI_File_read_ordered_c MPI_File_write_all
                    MPI_File_write_all_c MPI_File_write_at_all_begin MPI_File_write_at_all_begin_c
                    MPI_File_write_ordered MPI_File_write_ordered_c MPI_Mprobe MPI_Mrecv MPI_Mrecv_c
                    MPI_Waitsome;
                6 => MPI_Cart_create MPI_Exscan MPI_Exscan_c MPI_File_read_at_all
                    MPI_File_read_at_all_c MPI_File_set_view MPI_File_write_at_all
                    MPI_File_write_at_all_c MPI_Graph_create MPI_Intercomm_create MPI_Reduce_scatter
                    MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c MPI_Reduce_scatter_c
                    MPI_Rsend MPI_Rsend_c MPI_Scan MPI_Scan_c MPI_Send MPI_Send_c MPI_Ssend
                    MPI_Ssend_c MPI_Win_allocate_c MPI_Win_create MPI_Win_create_c;
                7 => MPI_Allgather MPI_Allgather_c MPI_Alltoall MPI_Alltoall_c
                    MPI_Neighbor_allgather MPI_Neighbor_allgather_c MPI_Neighbor_alltoall
                    MPI_Neighbor_alltoall_c MPI_Recv MPI_Recv_c;
                8 => MPI_Allgatherv MPI_Allgatherv_c MPI_Gather MPI_Gather_c
                    MPI_Intercomm_create_from_groups MPI_Neighbor_allgatherv
                    MPI_Neighbor_allgatherv_c MPI_Scatter MPI_Scatter_c;
                9 => MPI_Alltoallv MPI_Alltoallv_c MPI_Alltoallw MPI_Alltoallw_c
                    MPI_Dist_graph_create MPI_Gatherv MPI_Gatherv_c MPI_Neighbor_alltoallv
                    MPI_Neighbor_alltoallv_c MPI_Neighbor_alltoallw MPI_Neighbor_alltoallw_c
                    MPI_Scatterv MPI_Scatterv_c MPI_Sendrecv_replace MPI_Sendrecv_replace_c;
                10 => MPI_Dist_graph_create_adjacent;
                12 => MPI_Sendrecv MPI_Sendrecv_c;
                own => MPI_Allreduce MPI_Allreduce_c MPI_Barrier MPI_Bcast MPI_Bcast_c
                    MPI_Comm_split_type MPI_Init MPI_Init_thread MPI_Reduce MPI_Reduce_c
                    MPI_Session_init MPI_Win_allocate MPI_Win_allocate_shared
                    MPI_Win_allocate_shared_c MPI_Win_free;
            }
            Request {
                1 => MPI_Buffer_iflush MPI_Start;
                2 => MPI_Comm_iflush_buffer MPI_Session_iflush_buffer;
                3 => MPI_Comm_idup;
                4 => MPI_Comm_idup_with_info;
                5 => MPI_File_iread MPI_File_iread_all MPI_File_iread_all_c MPI_File_iread_c
                    MPI_File_iread_shared MPI_File_iread_shared_c MPI_File_iwrite
                    MPI_File_iwrite_all MPI_File_iwrite_all_c MPI_File_iwrite_c
                    MPI_File_iwrite_shared MPI_File_iwrite_shared_c MPI_Imrecv MPI_Imrecv_c;
                6 => MPI_File_iread_at MPI_File_iread_at_all MPI_File_iread_at_all_c
                    MPI_File_iread_at_c MPI_File_iwrite_at MPI_File_iwrite_at_all
                    MPI_File_iwrite_at_all_c MPI_File_iwrite_at_c;
                7 => MPI_Iallreduce MPI_Iallreduce_c MPI_Ibsend MPI_Ibsend_c MPI_Iexscan
                    MPI_Iexscan_c MPI_Irecv MPI_Irecv_c MPI_Ireduce_scatter
                    MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c MPI_Ireduce_scatter_c
                    MPI_Irsend MPI_Irsend_c MPI_Iscan MPI_Iscan_c MPI_Isend MPI_Isend_c MPI_Issend
                    MPI_Issend_c;
                8 => MPI_Iallgather MPI_Iallgather_c MPI_Ialltoall MPI_Ialltoall_c
                    MPI_Ineighbor_allgather MPI_Ineighbor_allgather_c MPI_Ineighbor_alltoall
                    MPI_Ineighbor_alltoall_c MPI_Ireduce MPI_Ireduce_c;
                9 => MPI_Iallgatherv MPI_Iallgatherv_c MPI_Igather MPI_Igather_c
                    MPI_Ineighbor_allgatherv MPI_Ineighbor_allgatherv_c MPI_Iscatter MPI_Iscatter_c
                    MPI_Isendrecv_replace MPI_Isendrecv_replace_c MPI_Rget MPI_Rget_c MPI_Rput
                    MPI_Rput_c;
                10 => MPI_Ialltoallv MPI_Ialltoallv_c MPI_Ialltoallw MPI_Ialltoallw_c MPI_Igatherv
                    MPI_Igatherv_c MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallv_c
                    MPI_Ineighbor_alltoallw MPI_Ineighbor_alltoallw_c MPI_Iscatterv MPI_Iscatterv_c
                    MPI_Raccumulate MPI_Raccumulate_c;
                12 => MPI_Isendrecv MPI_Isendrecv_c;
                13 => MPI_Rget_accumulate MPI_Rget_accumulate_c;
                own => MPI_Ibarrier MPI_Ibcast MPI_Ibcast_c MPI_Startall;
            }
            TimesOut {
                5 => MPI_Comm_connect;
            }
            Looks {
                2 => MPI_Win_test;
                3 => MPI_Parrived MPI_Request_get_status MPI_Test;
                4 => MPI_Request_get_status_all MPI_Testall;
                5 => MPI_Iprobe MPI_Request_get_status_any MPI_Request_get_status_some MPI_Testany
                    MPI_Testsome;
                6 => MPI_Improbe;
            }
            Other {
                1 => MPI_Cancel MPI_Comm_free MPI_Request_free MPI_Win_sync;
                // `MPI_Comm_join` mostly uses the program's socket, which no message wakes.
                2 => MPI_Comm_join MPI_Pready;
                3 => MPI_Pready_list MPI_Pready_range MPI_Win_post;
                5 => MPI_File_read MPI_File_read_c MPI_File_read_shared MPI_File_read_shared_c
                    MPI_File_write MPI_File_write_c MPI_File_write_shared MPI_File_write_shared_c;
                6 => MPI_Bsend MPI_Bsend_c MPI_File_read_at MPI_File_read_at_c MPI_File_write_at
                    MPI_File_write_at_c;
                7 => MPI_Compare_and_swap MPI_Fetch_and_op;
                8 => MPI_Get MPI_Get_c MPI_Put MPI_Put_c;
                9 => MPI_Accumulate MPI_Accumulate_c MPI_Precv_init MPI_Psend_init;
                12 => MPI_Get_accumulate MPI_Get_accumulate_c;
                own => MPI_Abort MPI_Comm_spawn MPI_Comm_spawn_multiple;
            }
        }
    };
}

macro_rules! list {
    ($($kind:ident { $($arguments:tt => $($name:ident)*;)* })*) => {
        [$($($((stringify!($name), $kind),)*)*)*]
    };
}

/// The calls in the order of their letters' codes.
const CALLS: [(&str, CallKind); 299] = {
    let mut calls = each_call!(list);
    let mut sorted = 1;
    while sorted < calls.len() {
        let mut place = sorted;
        while place > 0 && precedes(calls[place].0, calls[place - 1].0) {
            calls.swap(place, place - 1);
            place -= 1;
        }
        sorted += 1;
    }
    calls
};

/// How many calls there are.
pub const COUNT: usize = CALLS.len();

/// A call's name.
pub fn name(number: u32) -> &'static str {
    if number == LOOP {
        return "no call, a loop on a word";
    }
    entry(number).map_or("no call of MPI", |&(name, _)| name)
}

/// A call's kind; `None` for number 0.
pub fn kind(number: u32) -> Option<CallKind> {
    entry(number).map(|&(_, kind)| kind)
}

fn entry(number: u32) -> Option<&'static (&'static str, CallKind)> {
    let (list, first): (&'static [_], _) = match number {
        ELAN.. => (elan::CALLS, ELAN),
        SHMEM.. => (shmem::CALLS, SHMEM),
        _ => (&CALLS, 1),
    };
    list.get(number.checked_sub(first)? as usize)
}

/// The number of the call with a name that is on the list.
pub const fn number(name: &str) -> u32 {
    let mut place = 0;
    while place < COUNT && precedes(CALLS[place].0, name) {
        place += 1;
    }
    if place < COUNT && !precedes(name, CALLS[place].0) {
        return place as u32 + 1;
    }
    let place = find(name, shmem::CALLS);
    if place < shmem::CALLS.len() {
        return SHMEM + place as u32;
    }
    let place = find(name, elan::CALLS);
    assert!(place < elan::CALLS.len(), "no such call");
    ELAN + place as u32
}

/// A name's place in a list in any order; the list's length if it is not there.
const fn find(name: &str, list: &[(&str, CallKind)]) -> usize {
    let mut place = 0;
    while place < list.len() && (precedes(name, list[place].0) || precedes(list[place].0, name)) {
        place += 1;
    }
    place
}

/// Whether a name comes before another one.
const fn precedes(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < name.len() && place < other.len() {
        if name[place] != other[place] {
            return name[place] < other[place];
        }
        place += 1;
    }
    name.len() < other.len()
}
