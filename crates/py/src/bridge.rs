//! The bridge of errors: every error becomes one of two Python exceptions, and no panic crosses.
//!
//! The exceptions are classes of `elanite.errors`, so that they have the same base as all other errors of the package.
//!
//! | what | exception |
//! |---|---|
//! | a wrong file or override | `ConfigError(rendered text, diagnostics as JSON)` |
//! | a bound was passed, or the machine has no room | `RunError(message, 1)` |
//! | this host does not allow the measurement | `RunError(message, 2)` |
//! | a simulated deadlock | `RunError(message, 3)` |
//! | a panic: a broken invariant of ours | `RunError(message with its place, 4)` |
//! | cancelled | `RunError(message, 130)` |

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use experiment::calls::{CANCELLED, USAGE};
use pyo3::prelude::*;

pub use experiment::calls::Failure;

const BROKEN_INVARIANT: i32 = 4;

thread_local! {
    /// Whether this bridge will catch a panic of this thread, and what the panic said.
    static GUARDED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The error of a measurement.
pub fn of_noise(error: &noise::Error) -> Failure {
    let exit_code = match error {
        noise::Error::Cancelled => CANCELLED,
        _ => USAGE,
    };
    Failure::Run(error.to_string(), exit_code)
}

/// The Python exception of a failure.
fn into_python(failure: Failure, py: Python<'_>) -> PyErr {
    let error = || {
        let errors = py.import("elanite.errors")?;
        match failure {
            Failure::Config(text, json) => errors.call_method1("ConfigError", (text, json)),
            Failure::Run(message, exit_code) => {
                errors.call_method1("RunError", (message, exit_code))
            }
        }
    };
    error().map_or_else(|other| other, PyErr::from_value)
}

/// Runs `work` without the interpreter; a failure or panic of `work` becomes a Python exception.
pub fn guarded<R: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
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
            Err(Failure::Run(message, BROKEN_INVARIANT))
        })
    });
    outcome.map_err(|failure| into_python(failure, py))
}

/// Keeps the message of a panic for the exception that will carry it; false if no bridge catches the panic.
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
