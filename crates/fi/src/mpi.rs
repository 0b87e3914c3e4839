//! Finds the MPI library's own call definition.
//!
//! Usually the definition is the next one after this library's in the dynamic linker's search
//! order. A library that measures the program may come before the MPI library, and is reached by
//! the same search. Where a program has loaded MPI by itself, out of sight of others, as
//! interpreters load their modules, the definition is looked for in the loaded libraries called
//! `libmpi…`.

#![allow(unsafe_code)] // C functions

use rank::system;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A call's definition (`MPI_…`), in a place that keeps it.
#[inline]
pub fn find(place: &AtomicUsize, name: &CStr) -> usize {
    match place.load(Ordering::Relaxed) {
        0 => search(place, name),
        found => found,
    }
}

#[cold]
fn search(place: &AtomicUsize, name: &CStr) -> usize {
    let Some(found) = definition(name) else {
        let name = name.to_string_lossy();
        eprintln!("elanite: the MPI library of this program has no {name}");
        std::process::abort();
    };
    place.store(found, Ordering::Relaxed);
    found
}

/// Whether a name is one of MPI's, or of its profiling interface.
pub fn is_name(name: &CStr) -> bool {
    let bytes = name.to_bytes();
    let plain = bytes.strip_prefix(b"P").unwrap_or(bytes);
    plain.starts_with(b"MPI_")
}

/// Any function in the MPI library, by a name that may begin with `MPI_`.
pub fn definition(name: &CStr) -> Option<usize> {
    let profiling = CString::new([b"P", name.to_bytes()].concat()).expect("a string of C");
    let first = symbol(libc::RTLD_NEXT, name).or_else(|| symbol(libc::RTLD_NEXT, &profiling));
    first.or_else(|| {
        let library = library()?;
        symbol(library, name).or_else(|| symbol(library, &profiling))
    })
}

/// A function in the MPI library by its whole name.
pub fn named(name: &CStr) -> Option<usize> {
    symbol(libc::RTLD_NEXT, name).or_else(|| symbol(library()?, name))
}

/// A datum in the MPI library; a program that is linked with the library may have its only copy.
pub fn datum(name: &CStr) -> Option<usize> {
    symbol(libc::RTLD_DEFAULT, name).or_else(|| symbol(library()?, name))
}

fn symbol(library: *mut c_void, name: &CStr) -> Option<usize> {
    // Not by this library's `dlsym`, which would give its own entry points.
    // SAFETY: a special handle of the loader, or that of a library that stays loaded.
    let found = unsafe { system::symbol(library, name) } as usize;
    (found != 0).then_some(found)
}

/// The loaded MPI library.
fn library() -> Option<*mut c_void> {
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: the function is called with what it was given here, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut paths).cast()) };
    paths.iter().find_map(|path| {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: it is loaded; no code of it runs.
        let library = unsafe { libc::dlopen(path.as_ptr(), flags) };
        let has = |name| symbol(library, name).is_some();
        let found = !library.is_null() && (has(c"PMPI_Init") || has(c"MPI_Init"));
        found.then_some(library)
    })
}

unsafe extern "C" fn collect(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    paths: *mut c_void,
) -> c_int {
    // SAFETY: as `library` calls it.
    let (paths, path) = unsafe {
        let name = (*object).dlpi_name;
        if name.is_null() {
            return 0;
        }
        (&mut *paths.cast::<Vec<CString>>(), CStr::from_ptr(name))
    };
    let bytes = path.to_bytes();
    let file = bytes.rsplit(|&byte| byte == b'/').next();
    if file.is_some_and(|file| file.starts_with(b"libmpi")) {
        paths.push(path.to_owned());
    }
    0
}

/// Whether a function in the MPI library belongs to MPICH's own binary interface or to the standard
/// one.
pub fn is_standard(function: usize) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: a place for the answer, which is whole if there is one; its strings live as long as
    // the library.
    unsafe {
        if libc::dladdr(function as *const c_void, found.as_mut_ptr()) == 0 {
            return false;
        }
        let path = CStr::from_ptr(found.assume_init().dli_fname);
        let path = path.to_string_lossy();
        path.rsplit('/')
            .next()
            .is_some_and(|file| file.starts_with("libmpi_abi"))
    }
}
