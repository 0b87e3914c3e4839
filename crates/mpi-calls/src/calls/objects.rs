//! The objects that the dynamic linker has loaded: this library, and those at an address.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

/// This library's handle.
pub(super) fn own() -> Option<*mut c_void> {
    static OWN: AtomicUsize = AtomicUsize::new(0);
    if OWN.load(Ordering::Relaxed) == 0 {
        let info = info(own as *const () as usize)?;
        // SAFETY: the path of this library, which is loaded; no code of it runs.
        let handle = unsafe { libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        OWN.store(handle.expose_provenance(), Ordering::Relaxed);
    }
    let handle = OWN.load(Ordering::Relaxed);
    (handle != 0).then(|| std::ptr::with_exposed_provenance_mut(handle))
}

/// Where this library begins.
pub(super) fn this() -> Option<usize> {
    base(own as *const () as usize)
}

/// Where the object begins that has this address.
pub(super) fn base(address: usize) -> Option<usize> {
    info(address).map(|info| info.dli_fbase as usize)
}

/// The linker's description of the object that has this address.
pub(super) fn info(address: usize) -> Option<libc::Dl_info> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: a place for the answer, which is whole if there is one.
    unsafe {
        (libc::dladdr(address as *const c_void, found.as_mut_ptr()) != 0)
            .then(|| found.assume_init())
    }
}
