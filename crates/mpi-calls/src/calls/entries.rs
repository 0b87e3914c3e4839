//! The entry points themselves, by argument count; see the head of [`super`].

use super::interface::Interface;
use super::{around, nodes, windows, world};
use crate::collective;
use crate::functions::profiled;
use fi::mpi::{definition, find, is_standard};
use link::Departure;
use rank::{compute, regions, session, thread};
use std::ffi::{c_double, c_int};
use std::sync::atomic::AtomicUsize;

/// Calls an MPI library's definition with words for arguments; notes the call if it is the thread's
/// outermost.
macro_rules! pass {
    ($name:ident($($word:ident)*)) => {
        pass!($name($($word)*) unless None)
    };
    ($name:ident($($word:ident)*) unless $done:expr) => {{
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        const NUMBER: u32 = link::calls::number(stringify!($name));
        const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
            concat!(stringify!($name), "\0").as_bytes()
        ) {
            Ok(name) => name,
            Err(_) => panic!("a name"),
        };
        let next = find(&NEXT, NAME);
        // SAFETY: it is the function of this name, which takes this many arguments of a word each
        // and returns an integer.
        let next = unsafe {
            std::mem::transmute::<usize, extern "C" fn($($word: usize),*) -> c_int>(next)
        };
        around(NUMBER, || {
            let done: Option<c_int> = $done;
            done.unwrap_or_else(|| next($($word),*))
        })
    }};
}

/// Entry points: each passes its words on. `unless` carries out the call in the library's place, as
/// the same call; `instead` ends the call first.
macro_rules! entry {
    ($($name:ident($($word:ident)*) $(unless $done:expr)? $(, instead $ended:expr)?;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($word: usize),*) -> c_int {
            $(if let Some(result) = $ended {
                return result;
            })?
            pass!($name($($word)*) $(unless $done)?)
        }
        profiled! { $name as $name($($word)*); }
    )*};
}

macro_rules! entries {
    ($($kind:ident { $($count:tt => $($name:ident)*;)* })*) => {
        $($($(entries!($count $name);)*)*)*
    };
    (0 $name:ident) => { entry!($name();); };
    (1 $name:ident) => { entry!($name(a);); };
    (2 $name:ident) => { entry!($name(a b);); };
    (3 $name:ident) => { entry!($name(a b c);); };
    (4 $name:ident) => { entry!($name(a b c d);); };
    (5 $name:ident) => { entry!($name(a b c d e);); };
    (6 $name:ident) => { entry!($name(a b c d e f);); };
    (7 $name:ident) => { entry!($name(a b c d e f g);); };
    (8 $name:ident) => { entry!($name(a b c d e f g h);); };
    (9 $name:ident) => { entry!($name(a b c d e f g h i);); };
    (10 $name:ident) => { entry!($name(a b c d e f g h i j);); };
    (12 $name:ident) => { entry!($name(a b c d e f g h i j k l);); };
    (13 $name:ident) => { entry!($name(a b c d e f g h i j k l m);); };
    // The calls under `own` are defined below: they do more.
    (own $name:ident) => {};
}

link::each_call!(entries);

/// An `int` in a 64-bit register, with an arbitrary upper half.
fn int(word: usize) -> i64 {
    (word as u32).cast_signed().into()
}

/// An `MPI_Count`.
fn large(word: usize) -> i64 {
    word.cast_signed() as i64
}

// The collective calls that Elanlib may carry out.
entry! {
    MPI_Barrier(comm) unless collective::barrier(comm);
    MPI_Bcast(buffer count datatype root comm) unless
        collective::broadcast(buffer, int(count), datatype, root, comm);
    MPI_Bcast_c(buffer count datatype root comm) unless
        collective::broadcast(buffer, large(count), datatype, root, comm);
    MPI_Ibarrier(comm request) unless collective::start_barrier(comm, request);
    MPI_Ibcast(buffer count datatype root comm request) unless
        collective::start_broadcast(buffer, int(count), datatype, root, (comm, request));
    MPI_Ibcast_c(buffer count datatype root comm request) unless
        collective::start_broadcast(buffer, large(count), datatype, root, (comm, request));
    MPI_Reduce(send receive count datatype operation root comm) unless
        collective::reduce((send, receive), int(count), (datatype, operation), Some(root), comm);
    MPI_Reduce_c(send receive count datatype operation root comm) unless
        collective::reduce((send, receive), large(count), (datatype, operation), Some(root), comm);
    MPI_Allreduce(send receive count datatype operation comm) unless
        collective::reduce((send, receive), int(count), (datatype, operation), None, comm);
    MPI_Allreduce_c(send receive count datatype operation comm) unless
        collective::reduce((send, receive), large(count), (datatype, operation), None, comm);
}

// The calls that concern simulated nodes, where the library sees one host.
entry! {
    MPI_Comm_split_type(comm kind key info place) unless
        nodes::split(comm, int(kind) as c_int, int(key) as c_int, info, place);
    MPI_Win_allocate_shared(size unit info comm base place) unless
        windows::allocate((large(size) as isize, int(unit) as isize), info, comm, (base, place));
    MPI_Win_allocate_shared_c(size unit info comm base place) unless
        windows::allocate((large(size) as isize, large(unit) as isize), info, comm, (base, place));
    MPI_Win_allocate(size unit info comm base place) unless
        windows::allocate_apart(
            (large(size) as isize, int(unit) as c_int), info, comm, (base, place)
        );
    MPI_Win_free(place) unless windows::free(place);
}

/// Records the rank that ends the run, and how: afterwards only many dead processes are visible.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Abort(comm: usize, code: usize) -> c_int {
    if let Some(session) = session::get() {
        // An `int` in a 64-bit register, with an arbitrary upper half.
        session.leaves(Departure::Abort((code as u32).cast_signed()));
    }
    pass!(MPI_Abort(comm code))
}

/// Notes how many requests the call starts.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Startall(count: usize, requests: usize) -> c_int {
    let result = pass!(MPI_Startall(count requests));
    // An `int` in a 64-bit register, with an arbitrary upper half.
    super::started_all(count as u32);
    result
}

/// Names a program part for sampled computation ([`rank::regions`]). The call's further arguments,
/// which MPI leaves to tools, stay here.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Pcontrol(level: c_int) -> c_int {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if let Some(session) = session::get() {
        compute::settle(session);
    }
    regions::control(level);
    let next = find(&NEXT, c"MPI_Pcontrol");
    // SAFETY: it is the function of this name, of which this argument is the only one that it must
    // have.
    let next = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int) -> c_int>(next) };
    next(level)
}

/// Initialises MPI; see [`thread::meets_outside`].
fn starting(init: impl FnOnce() -> c_int) -> c_int {
    thread::meets_outside(Interface::of_library() == Some(Interface::OpenMpi));
    let result = init();
    thread::meets_outside(false);
    result
}

/// Checks that the process has become a rank in the run.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Init(count: usize, words: usize) -> c_int {
    let result = starting(|| pass!(MPI_Init(count words)));
    world::check(result);
    result
}

/// Notes whether several threads will call MPI, and checks that the process has become a rank in
/// the run.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Init_thread(
    count: usize,
    words: usize,
    required: usize,
    provided: usize,
) -> c_int {
    // `MPI_THREAD_MULTIPLE` in MPICH's own binary interface and in the standard one; each number is
    // unused for levels in the other.
    const MULTIPLE: [c_int; 2] = [3, 4096];
    let result = starting(|| pass!(MPI_Init_thread(count words required provided)));
    world::check(result);
    // SAFETY: MPI wants a place for the provided level, and has written to it.
    let granted = unsafe { (provided as *const c_int).as_ref() };
    if granted.is_some_and(|granted| MULTIPLE.contains(granted)) {
        thread::may_be_several();
    }
    result
}

/// The thread level lies in `info`; without one, the highest level holds.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Session_init(info: usize, handler: usize, place: usize) -> c_int {
    thread::may_be_several();
    pass!(MPI_Session_init(info handler place))
}

// Calls that start processes: they fail if the run has no room for more ranks than those with which
// it began.
entry! {
    MPI_Comm_spawn(command arguments processes info root comm children errors),
        instead refuse_to_spawn("MPI_Comm_spawn", root, comm);
    MPI_Comm_spawn_multiple(count commands arguments processes infos root comm children errors),
        instead refuse_to_spawn("MPI_Comm_spawn_multiple", root, comm);
}

/// Prints the reason once, and fails by the communicator's error handler, as MPI does: by default
/// that ends the program.
fn refuse_to_spawn(call: &str, root: usize, comm: usize) -> Option<c_int> {
    let session = session::get()?;
    if session.rank().1 > session.world().size {
        return None;
    }
    let (Some(rank), Some(barrier), Some(handler)) = (
        definition(c"MPI_Comm_rank"),
        definition(c"MPI_Barrier"),
        definition(c"MPI_Comm_call_errhandler"),
    ) else {
        std::process::abort();
    };
    // `MPI_ERR_SPAWN` in the standard binary interface and in MPICH's own.
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
            "elanite: {call}: the run has room for the ranks of its start only; room for N ranks \
            in all: elanite mpirun --universe N"
        );
    }
    // The first rank that fails ends the others, so no rank may fail before the reason is printed.
    // All these ranks make the call.
    around(link::calls::number("MPI_Barrier"), || barrier(comm));
    handler(comm, error);
    Some(error)
}

/// The session's clock, with all digits of its seconds.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Wtime() -> c_double {
    match clock::reading() {
        Some(now) => clock::START as f64 + now as f64 / 1e12,
        None => ask(c"MPI_Wtime"),
    }
}

/// A picosecond.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Wtick() -> c_double {
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
