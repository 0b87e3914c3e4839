//! The fence at Open MPI's process manager in which ranks wait for each other in `MPI_Finalize`.
//!
//! Open MPI's library looks for messages until the process manager has answered, and the answer
//! comes in real time. So the ranks meet in the simulation first, and continue at the moment at
//! which the last one has come; the looks after that take no simulated time.

#![allow(unsafe_code)] // a C function

use libc::{c_int, c_void, size_t};
use rank::system::{self, FIRST, SystemFunction};
use rank::{session, thread};

/// The meeting's name. MPICH's barriers, the only other meetings, do not occur in such a run.
const NAME: u64 = 0;

/// `PMIX_ERR_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = -47;

type Fence = unsafe extern "C" fn(
    *const c_void,
    size_t,
    *const c_void,
    size_t,
    *const c_void,
    *mut c_void,
) -> c_int;

static FENCE: SystemFunction = SystemFunction::new(c"PMIx_Fence_nb", FIRST);

/// The function in the process manager's library, which a program may have loaded out of sight of
/// others.
fn next() -> Option<*const c_void> {
    FENCE.get().or_else(|| {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: it is loaded, if its caller is Open MPI; no code of it runs.
        let found = unsafe {
            let library = libc::dlopen(c"libpmix.so.2".as_ptr(), flags);
            if library.is_null() {
                return None;
            }
            system::symbol(library, c"PMIx_Fence_nb")
        };
        (!found.is_null()).then_some(found.cast_const())
    })
}

/// Enters a fence.
#[unsafe(no_mangle)]
unsafe extern "C" fn PMIx_Fence_nb(
    processes: *const c_void,
    count: size_t,
    infos: *const c_void,
    information: size_t,
    done: *const c_void,
    data: *mut c_void,
) -> c_int {
    if thread::finalises()
        && let Some(session) = session::get()
    {
        session.meet(NAME, session.world().size);
        thread::meets_outside(true);
    }
    let Some(next) = next() else {
        return NOT_SUPPORTED;
    };
    // SAFETY: it is the function of this name, with the caller's own arguments.
    unsafe {
        let next = std::mem::transmute::<*const c_void, Fence>(next);
        next(processes, count, infos, information, done, data)
    }
}
