//! Losses: operations that failed parts of the machine could not carry out, as errors of single MPI
//! requests.
//!
//! A provider reports a failed operation by an error in the completion queue. MPICH treats such an
//! error as fatal for the whole library, unless it means a message too long for its receive, and
//! ends all ranks, regardless of the program's error handler. The failed request stays pending for
//! ever. That suits programs that handle no errors.
//!
//! A program that sets an error handler shall get the error from the call that ends the request,
//! and continue. MPICH keeps a request's error in the request's status, and all its calls look
//! there: single ones, those for several requests, those for persistent requests, and collective
//! operations. So this module writes the error there, and reports the operation as done to MPICH.
//! MPICH makes the error's message, in its own format.
//!
//! | lost | the program's error |
//! |---|---|
//! | a send or receive with a tag, a nonblocking collective call that Elanlib carries out | `MPI_ERR_OTHER` from the call that ends the request |
//! | a short message from `MPI_Send`, which is injected | `MPI_ERR_OTHER` from the call: the provider's call fails |
//! | the message that a probe waits for | `MPI_ERR_OTHER` from the call: the next look fails |
//! | all else: one-sided operations, untagged messages | all ranks end |
//!
//! *Where the status lies* depends on the MPICH version. libfabric's operation context lies in the
//! request, behind the status, and so it does in the other structures with contexts that MPICH
//! gives to operations with tags: these begin with as much unused memory. The distance is measured
//! once, when the program sets its first error handler and parts of the machine may fail (crate
//! `mpi-calls`): a receive that has just been posted has `MPI_UNDEFINED` for its source. That
//! receive never reaches the simulator. If the search fails, errors stay in the queue.

#![allow(unsafe_code)] // the MPI library's memory and functions

use crate::abi::Pointer;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};

/// The source in the status while a receive has no message, in both of MPICH's interfaces.
const UNDEFINED: i32 = -32766;

/// `MPI_ERR_OTHER` in MPICH's own binary interface, and in the standard one.
const OTHERS: [c_int; 2] = [15, 16];

/// A status is this far before a context at most, in 4-byte words.
const REACH: usize = 256;

/// Makes an MPI error code with a message.
pub type ErrorCodeFn = fn(&CStr) -> c_int;

/// MPICH's function that makes an error code with a message: the error that led to this one,
/// whether it is fatal, the function and the line that have found it, the class, the general
/// message, the message's format and values.
type CreateCode = unsafe extern "C" fn(
    c_int,
    c_int,
    *const c_char,
    c_int,
    c_int,
    *const c_char,
    *const c_char,
    ...
) -> c_int;

/// The known layout of the MPI library's requests, and losses without a request.
#[derive(Debug, Default)]
pub struct Losses {
    /// How many words before a context its request's error lies, and the error maker; `None` unless
    /// single losses are reported to the program.
    error: Option<(usize, ErrorCodeFn)>,
    /// Why the latest injected operation is lost, for which a call waits.
    injected: Option<String>,
    /// The rank from which a probe has awaited a message in vain, and why.
    probed: Option<(Option<u32>, String)>,
}

impl Losses {
    /// Finds the error's place in the request for a receive that MPICH has just posted with this
    /// context.
    pub fn learn(&mut self, context: Pointer, maker: ErrorCodeFn) {
        let context = std::ptr::with_exposed_provenance::<i32>(context);
        if context.is_null() || !context.is_aligned() {
            return;
        }
        // In a status, source, tag and error follow each other.
        let word = |back: usize| {
            // SAFETY: the search goes away from the context and ends at the status, in front of
            // which it reads no memory. It leaves the request only if MPICH's request has no status
            // with this source in front of the context.
            unsafe { context.sub(back).read_volatile() }
        };
        let found = (3..REACH).find(|&source| word(source) == UNDEFINED);
        let has_no_error = |source: &usize| word(source - 2) == 0;
        self.error = found.filter(has_no_error).map(|source| (source - 2, maker));
    }

    /// Whether single losses are reported to the program.
    pub fn are_told(&self) -> bool {
        self.error.is_some()
    }

    /// The operation with this context is lost. Returns whether the request, or the call that waits
    /// for it, reports this to the program.
    pub fn tell(&mut self, context: Pointer, why: &str) -> bool {
        let Some((back, maker)) = self.error else {
            return false;
        };
        if context == 0 {
            self.injected = Some(why.to_owned());
            return true;
        }
        let error = std::ptr::with_exposed_provenance_mut::<i32>(context).wrapping_sub(back);
        // SAFETY: the context belongs to a pending operation with a tag, so the error lies in its
        // request, or in unused memory.
        unsafe { error.write_volatile(maker(&text(why))) };
        true
    }

    /// The message that a probe waited for will not come.
    pub fn probed(&mut self, peer: Option<u32>, why: String) {
        self.probed = Some((peer, why));
    }

    /// Whether the operation is lost that was injected last. The calling thread asks for the reason
    /// by [`fi_strerror`].
    pub fn take_injected(&mut self) -> bool {
        self.injected.take().is_some_and(|why| say(&why))
    }

    /// Whether a probe for a message from this rank has waited in vain; as
    /// [`Losses::take_injected`].
    pub fn take_probed(&mut self, peer: Option<u32>) -> bool {
        let probed = self.probed.take_if(|probed| probed.0 == peer);
        probed.is_some_and(|(_, why)| say(&why))
    }
}

/// The reason for a loss, in words.
pub fn reason(peer: Option<u32>, why: &[u8]) -> String {
    let why = String::from_utf8_lossy(why);
    match peer {
        None => format!("the collective operation is lost: {why}"),
        Some(peer) => format!("rank {peer} of the run cannot be reached: {why}"),
    }
}

thread_local! {
    /// Whether the thread's next receive is the one by which [`Losses::learn`] learns.
    static LEARNS: Cell<bool> = const { Cell::new(false) };
    /// Why the thread's latest provider call failed with [`libc::EHOSTUNREACH`].
    static WHY: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// The thread's next receive is only for learning.
pub fn about_to_learn() {
    LEARNS.set(true);
}

/// Whether this receive is only for learning.
pub fn learns() -> bool {
    LEARNS.take()
}

fn say(why: &str) -> bool {
    WHY.set(Some(text(why)));
    true
}

fn text(why: &str) -> CString {
    CString::new(why.replace('\0', " ")).unwrap_or_default()
}

/// MPICH's communication errors. Without MPICH's function they are plain ones.
pub fn error_of_mpich(why: &CStr) -> c_int {
    let Some(found) = crate::mpi::definition(c"MPIR_Err_create_code") else {
        return OTHERS[0];
    };
    let class = OTHERS[usize::from(crate::mpi::is_standard(found))];
    // SAFETY: it is MPICH's function of this name, which takes a format and its values.
    unsafe {
        let create = std::mem::transmute::<usize, CreateCode>(found);
        let (general, format) = (c"**comm_fail".as_ptr(), c"%s".as_ptr());
        create(
            0,
            0,
            std::ptr::null(),
            0,
            class,
            general,
            format,
            why.as_ptr(),
        )
    }
}

/// libfabric's words for an error, with which MPICH explains a failed provider call.
#[unsafe(no_mangle)]
extern "C" fn fi_strerror(error: c_int) -> *const c_char {
    if error == libc::EHOSTUNREACH
        && let Some(why) = WHY.with_borrow(|why| why.as_deref().map(CStr::as_ptr))
    {
        return why;
    }
    // SAFETY: a string of C, and the loader's function; it is libfabric's function of this name.
    unsafe {
        let next = libc::dlsym(libc::RTLD_NEXT, c"fi_strerror".as_ptr());
        if next.is_null() {
            return libc::strerror(error.saturating_abs());
        }
        std::mem::transmute::<*mut libc::c_void, extern "C" fn(c_int) -> *const c_char>(next)(error)
    }
}
