//! A run's progress, for JavaScript.

use elan::Observer;
use experiment::{Point, Workload};
use kernel::Progress;
use units::Time;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// A function that receives the simulated time in ps, the events so far, and the time in ps at
    /// which the run will end, if this is known.
    #[wasm_bindgen(typescript_type = "(time: number, events: number, end?: number) => void")]
    pub type ProgressFn;

    #[wasm_bindgen(method, catch, js_name = call)]
    fn call(
        this: &ProgressFn,
        receiver: &JsValue,
        time: f64,
        events: f64,
        end: Option<f64>,
    ) -> Result<(), JsValue>;
}

/// A point's observer.
pub fn observer(point: &Point, seen: ProgressFn) -> Observer {
    let end = end(point).map(|time| number(time.as_ps()));
    Observer::new(move |progress: Progress| {
        let (time, events) = (number(progress.time.as_ps()), number(progress.events));
        // An error in the function does not end the run.
        let _ = seen.call(&JsValue::NULL, time, events, end);
    })
}

/// When a run with steady traffic ends, unless its precision asks for more; `None` for a search,
/// and for programs that end by themselves.
fn end(point: &Point) -> Option<Time> {
    let steady = matches!(&point.workload, Workload::Jobs(traffic) if traffic.saturation.is_none());
    steady.then(|| point.run.warm_up.saturating_add(point.run.window))
}

/// A count as a JavaScript number, which is exact up to 2^53.
fn number(count: u64) -> f64 {
    count as f64
}
