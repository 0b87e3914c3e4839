//! Threads that the program starts. The host decides when a new thread begins to run. Simulated
//! time stands still until it does, and has acted ([`pending`]), but for MPI calls where no other
//! thread may call MPI.

use super::system::SystemFunction;
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use rank::pending::{self, ThreadStart};
use rank::{next, session, thread};

static CREATE: SystemFunction = SystemFunction::new(c"pthread_create", c"");

pub type Function = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// A thread's function in C11.
pub type C11Function = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
pub type Attributes = *const pthread_attr_t;

/// A function for a new thread.
#[derive(Clone, Copy)]
pub enum ThreadBody {
    Posix(Function),
    C11(C11Function),
}

/// What a new thread gets.
struct Begin {
    body: ThreadBody,
    argument: *mut c_void,
    start: Option<ThreadStart>,
}

/// The beginning of a new thread. The thread may end within the program's function, by unwinding.
unsafe extern "C-unwind" fn begin(given: *mut c_void) -> *mut c_void {
    let (body, argument) = {
        // SAFETY: made for this thread alone by `create`.
        let begin = unsafe { Box::from_raw(given.cast::<Begin>()) };
        let begin = *begin;
        if let Some(start) = begin.start {
            start.begins();
        }
        (begin.body, begin.argument)
    };
    match body {
        // SAFETY: the program's function and its argument.
        ThreadBody::Posix(function) => unsafe { function(argument) },
        ThreadBody::C11(function) => {
            // SAFETY: the program's function and its argument.
            let code = unsafe { function(argument) };
            std::ptr::without_provenance_mut(code as isize as usize)
        }
    }
}

/// Starts a detached thread that calls a function with a value.
///
/// # Safety
/// The function must take the value.
pub unsafe fn start_detached(function: usize, value: usize) {
    // SAFETY: the caller's function; its argument is as large as an address. Attributes that
    // are initialised before they are used.
    unsafe {
        let function = std::mem::transmute::<usize, Function>(function);
        let mut attributes: pthread_attr_t = std::mem::zeroed();
        let mut thread: pthread_t = 0;
        libc::pthread_attr_init(&raw mut attributes);
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
        let argument = std::ptr::with_exposed_provenance_mut(value);
        let body = ThreadBody::Posix(function);
        create(&raw mut thread, &raw const attributes, body, argument, true);
        libc::pthread_attr_destroy(&raw mut attributes);
    }
}

/// Starts a thread. Simulated time stands still for it, if it `is_awaited`.
///
/// # Safety
/// The arguments of `pthread_create`, and the function's own.
pub unsafe fn create(
    thread: *mut pthread_t,
    attributes: Attributes,
    body: ThreadBody,
    argument: *mut c_void,
    is_awaited: bool,
) -> c_int {
    if is_awaited && thread::allows_several() && thread::drives_time() {
        pending::goes_on();
    }
    let start = is_awaited.then(ThreadStart::announced);
    let given = Box::into_raw(Box::new(Begin {
        body,
        argument,
        start,
    }));
    let (function, argument): (Function, *mut c_void) = (begin, given.cast());
    let error = next!(
        CREATE,
        fn(thread => *mut pthread_t, attributes => Attributes, function => Function,
           argument => *mut c_void)
    );
    if error != 0 {
        // SAFETY: no thread has got it.
        let begin = unsafe { Box::from_raw(given) };
        if let Some(start) = begin.start {
            start.fails();
        }
    }
    error
}

/// Whether a new thread is the program's, and may act in simulated time.
pub fn may_act() -> bool {
    thread::outside() && session::get().is_some()
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_create(
    thread: *mut pthread_t,
    attributes: Attributes,
    function: Function,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        create(
            thread,
            attributes,
            ThreadBody::Posix(function),
            argument,
            may_act(),
        )
    }
}
