//! Threads that the program starts. The host decides when a new thread begins to run. Simulated
//! time stands still until it does, and has acted ([`pending`]), but for MPI calls where no other
//! thread may call MPI.

use super::c11::result;
use super::system::SystemFunction;
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use rank::pending::ThreadStart;
use rank::{next, session, thread};

static CREATE: SystemFunction = SystemFunction::new(c"pthread_create", c"");

type Function = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// A thread's function in C11.
type C11Function = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Attributes = *const pthread_attr_t;

/// A function for a new thread.
#[derive(Clone, Copy)]
enum Body {
    Posix(Function),
    C11(C11Function),
}

/// What a new thread gets.
struct Begin {
    body: Body,
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
        Body::Posix(function) => unsafe { function(argument) },
        Body::C11(function) => {
            // SAFETY: the program's function and its argument.
            let code = unsafe { function(argument) };
            std::ptr::without_provenance_mut(code as isize as usize)
        }
    }
}

/// Starts a thread.
unsafe fn create(
    thread: *mut pthread_t,
    attributes: Attributes,
    body: Body,
    argument: *mut c_void,
) -> c_int {
    let waited_for = thread::outside() && session::get().is_some();
    let start = waited_for.then(ThreadStart::announced);
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

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_create(
    thread: *mut pthread_t,
    attributes: Attributes,
    function: Function,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { create(thread, attributes, Body::Posix(function), argument) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_create(
    thread: *mut pthread_t,
    function: C11Function,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments; there are no attributes.
    result(unsafe { create(thread, std::ptr::null(), Body::C11(function), argument) })
}
