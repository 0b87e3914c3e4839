//! The profiling names (`PMPI_…`), by which some libraries call MPI for the program: Open MPI's for
//! Fortran, and MPICH's for `mpi_f08`.
//!
//! Outside an MPI call, such a call is the program's own, and takes the path of the same call with
//! the usual name. Within a call, it comes from a library that measures the program, or from the
//! MPI library, and is passed to the MPI library.

use super::{entries, handlers, nodes, windows};
use crate::functions::profiled;
use std::ffi::c_double;

profiled! {
    entries::MPI_Abort as MPI_Abort(comm code);
    entries::MPI_Startall as MPI_Startall(count requests);
    entries::MPI_Init as MPI_Init(count words);
    entries::MPI_Init_thread as MPI_Init_thread(count words required provided);
    entries::MPI_Session_init as MPI_Session_init(info handler place);
    handlers::MPI_Comm_set_errhandler as MPI_Comm_set_errhandler(comm handler);
    nodes::MPI_Get_processor_name as MPI_Get_processor_name(name length);
    nodes::MPI_Get_hw_resource_info as MPI_Get_hw_resource_info(place);
    windows::MPI_Win_shared_query as MPI_Win_shared_query(window rank size unit base);
    windows::MPI_Win_shared_query_c as MPI_Win_shared_query_c(window rank size unit base);
    windows::MPI_Win_get_attr as MPI_Win_get_attr(window key value flag);
}

/// See [`entries::MPI_Wtime`].
#[unsafe(no_mangle)]
extern "C" fn PMPI_Wtime() -> c_double {
    entries::MPI_Wtime()
}

/// See [`entries::MPI_Wtick`].
#[unsafe(no_mangle)]
extern "C" fn PMPI_Wtick() -> c_double {
    entries::MPI_Wtick()
}
