//! The engine as a WebAssembly module, for a page in a browser.
//!
//! The module takes texts and returns JSON: it answers the calls of [`experiment::program`], and
//! some for pages. `make web` compiles it for `wasm32-unknown-unknown`. `web/engine` has the worker
//! that runs the module, and the calls with their types.
//!
//! A point has the same digest as in the native engine: a run is independent of pointer size,
//! threads and the host's arithmetic. A page has no files, so an experiment that names pair, flow
//! or trace files is an error. The module has at most 4 GB of memory, and a run 2 GB.
//!
//! A run occupies its worker until it ends, and calls an observer with its progress. To cancel a
//! run, end its worker. A worker is unusable after a panic.
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `calls` | the calls, as functions on texts |
//! | `observer` | a run's progress, for JavaScript |
//! | `shipped` | the shipped machine files |
//! | `panic` | panics as JavaScript errors |
//!
//! ## The main path
//!
//! A point, from the page to the page:
//!
//! 1. `lib.rs`: `answer` receives a call, its arguments as JSON, and the worker's observer.
//! 2. `calls.rs`: `simulate` runs the point, and adds the latency histograms to the records.
//! 3. `observer.rs`: the worker receives the progress.
//! 4. `panic.rs`: a broken invariant becomes an error with its place.

mod calls;
mod observer;
mod panic;
mod shipped;

use kernel::memory::CountingAllocator;
use observer::ProgressFn;
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

/// Counts every allocation, for a run's bound.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// Prepares the module.
#[wasm_bindgen(start)]
fn start() {
    panic::to_javascript();
}

/// Answers a call: `{"ok": RESULT}`, `{"config": [TEXT, DIAGNOSTICS]}` or
/// `{"run": [MESSAGE, EXIT CODE]}`.
///
/// `observer` is called during a simulation, some thousand times a second.
#[wasm_bindgen]
#[allow(clippy::needless_pass_by_value)] // JavaScript hands the function over
pub fn answer(call: &str, arguments: &str, observer: ProgressFn) -> String {
    let answer = calls::answer(call, arguments, observer);
    answer
        .map_or_else(|failure| json!(failure), |result| json!({"ok": result}))
        .to_string()
}
