//! Panics as results: a broken invariant is a difference, too.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread keeps a panic message instead of printing it.
    static KEEPS: Cell<bool> = const { Cell::new(false) };
    static KEPT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The result, or the panic message if there was one.
pub fn guarded<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if KEEPS.get() {
                KEPT.set(info.to_string().replace('\n', " "));
            } else {
                usual(info);
            }
        }));
    });
    KEEPS.set(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    KEEPS.set(false);
    result.map_err(|_| KEPT.take())
}
