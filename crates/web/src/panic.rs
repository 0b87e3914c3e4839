//! Panics as JavaScript errors.
//!
//! A WebAssembly panic is a trap without a message. The hook throws the message first; the stack is
//! not unwound, and the module must not be called again.

use std::panic::set_hook;
use wasm_bindgen::throw_str;

/// From here on a panic throws an error with its message and place.
pub fn to_javascript() {
    set_hook(Box::new(|info| {
        throw_str(&format!(
            "broken invariant of the simulator, a bug of Elanite: {info}"
        ));
    }));
}
