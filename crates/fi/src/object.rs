//! The common parts of all objects that a program opens: they begin with a [`Fid`], are given away
//! and taken back, and answer with 0 or a negative error number.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::objects::{FiOps, Fid};
use crate::abi::{FI_ENOSYS, FI_EOPBADSTATE, UNUSED};
use rank::session::{self, Session};
use std::ffi::{c_int, c_void};

/// A function's result: a value, or an error number.
pub fn answer<R: TryFrom<c_int>>(result: Result<R, c_int>) -> R {
    let number = |error| R::try_from(error).ok().expect("an error fits every answer");
    result.unwrap_or_else(number)
}

/// The session, or the error number to return without one.
pub fn session() -> Result<&'static Session, c_int> {
    session::get().ok_or(-FI_EOPBADSTATE)
}

/// Calls a function with the session and returns its answer; without a session the answer is an
/// error.
pub fn in_session<R: TryFrom<c_int>>(act: impl FnOnce(&'static Session) -> Result<R, c_int>) -> R {
    answer(session().and_then(act))
}

/// An object's header.
pub fn fid(class: usize, context: *mut c_void, ops: &'static FiOps) -> Fid {
    let ops = std::ptr::from_ref(ops);
    Fid {
        class,
        context,
        ops,
    }
}

/// The functions of an object without bindings and controls.
pub const fn fid_ops(close: unsafe extern "C" fn(*mut Fid) -> c_int) -> FiOps {
    FiOps {
        size: size_of::<FiOps>(),
        close,
        bind: no_bind,
        control: no_control,
        others: [UNUSED; 3],
    }
}

unsafe extern "C" fn no_bind(_fid: *mut Fid, _other: *mut Fid, _flags: u64) -> c_int {
    -FI_ENOSYS
}

unsafe extern "C" fn no_control(_fid: *mut Fid, _command: c_int, _arg: *mut c_void) -> c_int {
    -FI_ENOSYS
}

/// Gives an object to the program.
///
/// # Safety
/// The object must begin with its [`Fid`], and the place must be one for a pointer.
pub unsafe fn give<T>(place: *mut *mut Fid, object: T) {
    // SAFETY: the caller's word.
    unsafe { *place = Box::into_raw(Box::new(object)).cast() };
}

/// Takes back an object that was given to the program.
///
/// # Safety
/// The object must be of this type, and must not be used afterwards.
pub unsafe extern "C" fn close<T>(fid: *mut Fid) -> c_int {
    // SAFETY: the caller's word.
    drop(unsafe { Box::from_raw(fid.cast::<T>()) });
    0
}
