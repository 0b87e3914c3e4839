//! The lock of Python's interpreter.
//!
//! One thread at a time runs Python. A thread that wants the lock waits for it on a condition, and
//! asks the holder to give way after 5 ms (`sys.setswitchinterval`). That is how the interpreter
//! shares this computer's time among threads that compute: the program does not see it, and it
//! takes no simulated time. The condition lies in the interpreter's state, which has a public name.

use rank::system;
use std::ffi::c_void;
use std::sync::OnceLock;

/// The request for a symbol's entry in its table.
const SYMBOL: libc::c_int = 1;

/// Whether an object belongs to the interpreter's state.
pub fn has(object: *const c_void) -> bool {
    static STATE: OnceLock<Option<(usize, usize)>> = OnceLock::new();
    let state = STATE.get_or_init(find);
    state.is_some_and(|(from, to)| (from..to).contains(&object.addr()))
}

/// Where the interpreter's state lies, if the program has an interpreter.
fn find() -> Option<(usize, usize)> {
    // SAFETY: the handle of all libraries, and a string; then the found symbol, places for its
    // description and its entry, and the entry, which the loader keeps.
    unsafe {
        let state = system::symbol(libc::RTLD_DEFAULT, c"_PyRuntime");
        if state.is_null() {
            return None;
        }
        let mut about: libc::Dl_info = std::mem::zeroed();
        let mut entry = std::ptr::null_mut();
        if libc::dladdr1(state, &raw mut about, &raw mut entry, SYMBOL) == 0 || entry.is_null() {
            return None;
        }
        let size = (*entry.cast::<libc::Elf64_Sym>()).st_size as usize;
        Some((state.addr(), state.addr() + size))
    }
}
