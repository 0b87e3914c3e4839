//! The error bridge: every error becomes one of two Python exceptions, and no panic crosses.
//!
//! The exceptions are classes in `elanite.errors`, so that they have the same base as all of the
//! package's errors.
//!
//! | error | exception |
//! |---|---|
//! | a wrong file or override | `ConfigError(rendered text, diagnostics as JSON)` |
//! | a bound was passed, or the machine has no room | `RunError(message, 1)` |
//! | this host does not allow the measurement | `RunError(message, 2)` |
//! | a simulated deadlock | `RunError(message, 3)` |
//! | a panic: a broken invariant in Elanite | `RunError(message with its place, 4)` |
//! | cancelled | `RunError(message, 130)` |

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use experiment::calls::{CANCELLED, USAGE};
use pyo3::prelude::*;

pub use experiment::calls::CallFailure;

const BROKEN_INVARIANT: i32 = 4;

thread_local! {
    /// Whether this bridge will catch a panic in this thread, and the panic's message.
    static GUARDED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A measurement's error.
pub fn of_noise(error: &noise::Error) -> CallFailure {
    let exit_code = match error {
        noise::Error::Cancelled => CANCELLED,
        _ => USAGE,
    };
    CallFailure::Run(error.to_string(), exit_code)
}

/// A failure's Python exception.
fn into_python(failure: CallFailure, py: Python<'_>) -> PyErr {
    let error = || {
        let errors = py.import("elanite.errors")?;
        match failure {
            CallFailure::Config(text, json) => errors.call_method1("ConfigError", (text, json)),
            CallFailure::Run(message, exit_code) => {
                errors.call_method1("RunError", (message, exit_code))
            }
        }
    };
    error().map_or_else(|other| other, PyErr::from_value)
}

/// Runs `work` without the interpreter; its failure or panic becomes a Python exception.
pub fn guarded<R: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<R, CallFailure> + Send,
) -> PyResult<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !keep(info) {
                previous(info);
            }
        }));
    });
    let outcome = py.detach(|| {
        GUARDED.set(Some(String::new()));
        let outcome = panic::catch_unwind(AssertUnwindSafe(work));
        let said = GUARDED.take().unwrap_or_default();
        outcome.unwrap_or_else(|_| {
            let message = format!("broken invariant of the simulator, a bug of Elanite: {said}");
            Err(CallFailure::Run(message, BROKEN_INVARIANT))
        })
    });
    outcome.map_err(|failure| into_python(failure, py))
}

/// Keeps a panic's message for the exception that will carry it; false if no bridge catches the
/// panic.
fn keep(info: &PanicHookInfo<'_>) -> bool {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let said = text
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let place = info
        .location()
        .map(|at| format!(" ({}:{})", at.file(), at.line()));
    GUARDED.with_borrow_mut(|guarded| match guarded {
        Some(message) => {
            *message = format!("{said}{}", place.unwrap_or_default());
            true
        }
        None => false,
    })
}
