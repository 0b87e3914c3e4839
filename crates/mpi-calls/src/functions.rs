//! The MPI library's functions under their own names, and the entry points' profiling names.

use fi::mpi::find;
use rank::thread;
use std::ffi::CStr;
use std::sync::atomic::AtomicUsize;

/// The MPI library's functions by their names here: their arguments, and an MPI error or 0 as the
/// result.
macro_rules! functions {
    ($($name:ident is $symbol:literal($($argument:ident: $type:ty),*);)*) => {$(
        #[allow(clippy::too_many_arguments)] // MPI's
        unsafe fn $name($($argument: $type),*) -> std::ffi::c_int {
            static PLACE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            type Function = unsafe extern "C" fn($($type),*) -> std::ffi::c_int;
            // SAFETY: it is the function with this name, with these arguments; the caller keeps to
            // MPI's rules for them.
            unsafe {
                let function = std::mem::transmute::<usize, Function>(
                    fi::mpi::find(&PLACE, $symbol)
                );
                function($($argument),*)
            }
        }
    )*};
}
pub(crate) use functions;

/// A C name that a macro has made.
pub const fn name(bytes: &'static [u8]) -> &'static CStr {
    match CStr::from_bytes_with_nul(bytes) {
        Ok(name) => name,
        Err(_) => panic!("a name"),
    }
}

/// The function that a call goes to: the entry point, or the MPI library's own definition under the
/// profiling name.
pub fn target(place: &AtomicUsize, name: &CStr, entry: usize) -> usize {
    if thread::outside() {
        entry
    } else {
        find(place, name)
    }
}

/// Defines an entry point's profiling name with words for arguments.
macro_rules! profiled {
    ($($entry:path as $name:ident($($word:ident)*);)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            extern "C" fn profiled($($word: usize),*) -> std::ffi::c_int {
                static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(
                    0
                );
                const NAME: &std::ffi::CStr =
                    $crate::functions::name(concat!("P", stringify!($name), "\0").as_bytes());
                let target = $crate::functions::target(&NEXT, NAME, $entry as *const () as usize);
                // SAFETY: both are the function of this name, which takes this many arguments of a
                // word each and returns an integer.
                let target = unsafe {
                    std::mem::transmute::<usize, extern "C" fn(
                        $($word: usize),*
                    ) -> std::ffi::c_int>(target)
                };
                target($($word),*)
            }
        };
    )*};
}
pub(crate) use profiled;
