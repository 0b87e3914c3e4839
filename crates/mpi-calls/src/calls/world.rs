//! Whether `MPI_Init` has made this process a rank in the run: it must have opened the simulated
//! network, and the world must have as many ranks as were started together.
//!
//! A process that an interpreter or a plugin has given another MPI than that of mpiexec, for
//! example Open MPI under MPICH's, is a world with one rank. It would end well, and its messages
//! would never reach another process.

use crate::collective::world;
use fi::attach::strays;
use fi::mpi::named;
use link::StrayReason;
use rank::session;
use std::ffi::c_int;

/// Checks after `MPI_Init`, which has returned `result`. Does not return if the process has no part
/// in the run.
pub fn check(result: c_int) {
    if result != 0 || session::is_child() {
        return;
    }
    let Some(session) = session::get() else {
        return strays(StrayReason::Unreached);
    };
    let Some(function) = named(c"PMPI_Comm_size").or_else(|| named(c"MPI_Comm_size")) else {
        return;
    };
    // SAFETY: it is the function of this name.
    let comm_size = unsafe {
        std::mem::transmute::<usize, extern "C" fn(usize, *mut c_int) -> c_int>(function)
    };
    let mut size = 0;
    if let Some(world) = world()
        && comm_size(world, &raw mut size) == 0
        && size.cast_unsigned() != session.world().size
    {
        strays(StrayReason::World(size.cast_unsigned()));
    }
}
