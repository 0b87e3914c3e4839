//! Error handlers: a program that sets one wants reports on single errors ([`fi::losses`]).

use fi::mpi::{definition, find, is_standard};
use fi::{engine, losses};
use rank::session;
use std::ffi::c_int;
use std::sync::atomic::AtomicUsize;

type Receive = extern "C" fn(usize, usize, usize, c_int, c_int, usize, *mut usize) -> c_int;
type Wait = extern "C" fn(*mut usize, *mut usize) -> c_int;

/// Passes the call on, and reports single losses to the program from now on.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Comm_set_errhandler(comm: usize, handler: usize) -> c_int {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = find(&NEXT, c"MPI_Comm_set_errhandler");
    // SAFETY: it is the function of this name.
    let next = unsafe { std::mem::transmute::<usize, extern "C" fn(usize, usize) -> c_int>(next) };
    let result = next(comm, handler);
    if result == 0 {
        learn(comm);
    }
    result
}

/// Posts a receive, by which the provider learns where requests have their errors. The receive ends
/// immediately, and takes no simulated time.
fn learn(comm: usize) {
    let Some(session) = session::get() else {
        return;
    };
    if !session.settings().faults || engine::reports_losses(&mut session.lock()) {
        return;
    }
    // Only MPICH has the first function.
    let all = [
        c"MPIR_Err_create_code",
        c"MPI_Comm_test_inter",
        c"MPI_Comm_rank",
        c"MPI_Comm_size",
        c"MPI_Irecv",
        c"MPI_Wait",
    ]
    .map(definition);
    let [
        Some(_),
        Some(inter),
        Some(rank),
        Some(size),
        Some(receive),
        Some(wait),
    ] = all
    else {
        return;
    };
    // `MPI_BYTE` in the standard binary interface and in MPICH's own.
    let byte = if is_standard(receive) {
        0x247
    } else {
        0x4c00_010d
    };
    let ask = |function: usize| {
        let mut answer: c_int = 0;
        // SAFETY: these functions of MPI ask for something about a communicator.
        let function = unsafe {
            std::mem::transmute::<usize, extern "C" fn(usize, *mut c_int) -> c_int>(function)
        };
        (function(comm, &raw mut answer) == 0).then_some(answer)
    };
    let (Some(0), Some(rank), Some(size)) = (ask(inter), ask(rank), ask(size)) else {
        return;
    };
    // A message from a rank to itself does not reach the provider.
    if size < 2 {
        return;
    }
    let (mut request, mut status) = (0_usize, [0_usize; 16]);
    // SAFETY: functions of MPI with such arguments; there is more room than for a request and a
    // status.
    let (receive, wait) = unsafe {
        (
            std::mem::transmute::<usize, Receive>(receive),
            std::mem::transmute::<usize, Wait>(wait),
        )
    };
    losses::about_to_learn();
    let posted = receive(0, 0, byte, (rank + 1) % size, 0, comm, &raw mut request);
    // A receive that has not reached the provider gets no answer.
    if !losses::learns() && posted == 0 {
        wait(&raw mut request, status.as_mut_ptr());
    }
}
