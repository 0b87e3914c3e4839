//! Functions of the C library whose names are defined in this library, too: they are the next ones of their names.

#![allow(unsafe_code)] // functions of C

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first version of the C library's symbols on this kind of processor.
pub const FIRST: &CStr = if cfg!(target_arch = "x86_64") {
    c"GLIBC_2.2.5"
} else {
    c"GLIBC_2.17"
};

/// A function of the C library whose name is defined here, too.
pub struct Next {
    name: &'static CStr,
    /// The present version of the function, where there is an older one, too.
    version: &'static CStr,
    /// Whether a function of another version serves, too.
    any: bool,
    found: AtomicUsize,
}

impl Next {
    /// The function of this version, or of another one.
    pub const fn new(name: &'static CStr, version: &'static CStr) -> Next {
        Next {
            name,
            version,
            any: true,
            found: AtomicUsize::new(0),
        }
    }

    /// A function of this version only.
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Next {
        Next {
            any: false,
            ..Next::new(name, version)
        }
    }

    /// The address of the function, if there is one.
    pub fn get(&self) -> Option<*const c_void> {
        let mut found = self.found.load(Ordering::Relaxed);
        if found == 0 {
            let (name, version) = (self.name.as_ptr(), self.version.as_ptr());
            // SAFETY: these are strings of C.
            found = unsafe {
                let versioned = libc::dlvsym(libc::RTLD_NEXT, name, version);
                if versioned.is_null() && self.any {
                    libc::dlsym(libc::RTLD_NEXT, name) as usize
                } else {
                    versioned as usize
                }
            };
            self.found.store(found, Ordering::Relaxed);
        }
        (found != 0).then_some(found as *const c_void)
    }
}

/// Calls a function of the C library; without one, the result is an error number, or the given one.
macro_rules! next {
    ($next:expr, fn($($argument:expr => $type:ty),*)) => {
        next!($next, fn($($argument => $type),*) -> std::ffi::c_int, libc::ENOSYS)
    };
    ($next:expr, fn($($argument:expr => $type:ty),*) -> $result:ty, $without:expr) => {
        match $next.get() {
            Some(found) => {
                // SAFETY: it is the function of this name, whose arguments are these.
                let next = unsafe {
                    std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C-unwind" fn($($type),*) -> $result>(found)
                };
                // SAFETY: the arguments that the caller of our function of this name has given.
                unsafe { next($($argument),*) }
            }
            None => $without,
        }
    };
}
pub(crate) use next;
