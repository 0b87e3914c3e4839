//! How points are run and measured: the section `[run]` in an experiment file, and a series'
//! changes to it.

use crate::check::{Check, LONGEST, MOST};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Time};
use workload::Precision;
use workload::precision::FEWEST_BATCHES;

/// Shortest batch, and shortest slice.
const SHORTEST: Time = Time::from_ns(1);

/// Most slices: more than a picture has room for.
const MOST_SLICES: u32 = 1000;

/// Widest precision: a load with a wider interval is of little use.
const WIDEST: f64 = 0.5;

/// A window's most doublings.
const MOST_DOUBLINGS: u32 = 10;

/// How points are run and measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Simulated time that is discarded when steady traffic starts.
    pub warm_up: Time,
    /// Simulated time that is measured after it; with a precision, the least.
    pub window: Time,
    /// The required precision of a saturated job's accepted load: half of its 95% confidence
    /// interval, as a fraction of the load. The window doubles until every saturated job's load is
    /// known this well. 0: the window is as given.
    pub precision: f64,
    /// How often the window may double to reach the precision.
    pub doublings: u32,
    /// Number of equal parts in the window; their means are the sample for the confidence interval.
    pub batches: u32,
    /// Number of equal parts in the whole run, warm-up included, with per-link delays for each, to
    /// show how congestion builds up; 0 keeps no slices.
    pub slices: u32,
    /// Time after the warm-up for which circuits are kept, for a picture of the packets
    /// (`elanite watch`); 0 keeps no circuits.
    pub watch: Time,
    /// Runs per point, with different random numbers.
    pub seeds: u32,
    /// A point that needs more events ends with an error.
    pub max_events: u64,
    /// A point that needs more memory ends with an error.
    pub max_memory: Bytes,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            warm_up: Time::ZERO,
            window: Time::from_ms(10),
            precision: 0.0,
            doublings: 3,
            batches: 10,
            slices: 0,
            watch: Time::ZERO,
            seeds: 1,
            max_events: 10_000_000_000,
            max_memory: Bytes::from_kb(4 << 20),
        }
    }
}

/// A series' changes to the defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunChanges {
    /// See [`Run`].
    pub warm_up: Option<Time>,
    /// See [`Run`].
    pub window: Option<Time>,
    /// See [`Run`].
    pub precision: Option<f64>,
    /// See [`Run`].
    pub doublings: Option<u32>,
    /// See [`Run`].
    pub batches: Option<u32>,
    /// See [`Run`].
    pub slices: Option<u32>,
    /// See [`Run`].
    pub watch: Option<Time>,
    /// See [`Run`].
    pub seeds: Option<u32>,
}

impl Run {
    /// A series' settings.
    pub(crate) fn with(&self, changes: &RunChanges) -> Run {
        Run {
            warm_up: changes.warm_up.unwrap_or(self.warm_up),
            window: changes.window.unwrap_or(self.window),
            precision: changes.precision.unwrap_or(self.precision),
            doublings: changes.doublings.unwrap_or(self.doublings),
            batches: changes.batches.unwrap_or(self.batches),
            slices: changes.slices.unwrap_or(self.slices),
            watch: changes.watch.unwrap_or(self.watch),
            seeds: changes.seeds.unwrap_or(self.seeds),
            ..self.clone()
        }
    }

    /// The required precision of loads, where this decides the run length.
    pub(crate) fn precision(&self) -> Option<Precision> {
        (self.precision > 0.0).then_some(Precision {
            enough: self.precision,
            doublings: self.doublings,
        })
    }

    /// Finds problems with the defaults for all series.
    pub(crate) fn check(&self, check: &mut Check<'_>) {
        let all = RunChanges {
            warm_up: Some(self.warm_up),
            window: Some(self.window),
            precision: Some(self.precision),
            doublings: Some(self.doublings),
            batches: Some(self.batches),
            slices: Some(self.slices),
            watch: Some(self.watch),
            seeds: Some(self.seeds),
        };
        all.check_bounds("run", check);
        self.check_batches("run.window", check);
        self.check_slices("run.slices", check);
        self.check_watch("run.watch", check);
        self.check_precision("run.precision", check);
        if self.max_events == 0 {
            let found = check.problem("run.max_events", "no point ends within 0 events");
            found.allowed("at least 1");
        }
        if self.max_memory.is_zero() {
            let found = check.problem("run.max_memory", "no point ends within 0 B");
            found.allowed("at least 1 B");
        }
    }

    /// Checks the batch length: window and batches may come from different places. `path` is the
    /// place to blame.
    fn check_batches(&self, path: &str, check: &mut Check<'_>) {
        let batches = (self.batches, MOST, "batches");
        self.check_parts(path, ("window", self.window), batches, check);
    }

    /// Checks the slice length.
    fn check_slices(&self, path: &str, check: &mut Check<'_>) {
        let length = self.warm_up.saturating_add(self.window);
        let slices = (self.slices, MOST_SLICES, "slices");
        self.check_parts(path, ("run", length), slices, check);
    }

    /// Checks that the watched time lies within the window.
    fn check_watch(&self, path: &str, check: &mut Check<'_>) {
        if self.watch > self.window {
            let (watch, window) = (self.watch, self.window);
            let message = format!("a run with a window of {window} cannot be watched for {watch}");
            let found = check.problem(path, message);
            found.allowed(format!("at most the window, {window}"));
        }
    }

    /// Checks that the precision can be measured, and that a run ends.
    fn check_precision(&self, path: &str, check: &mut Check<'_>) {
        let Some(Precision { doublings, .. }) = self.precision() else {
            return;
        };
        let batches = self.batches;
        if (1..FEWEST_BATCHES).contains(&batches) {
            let message = format!("{batches} batches are too few to tell the precision");
            let found = check.problem(path, message);
            found.allowed(format!("at least {FEWEST_BATCHES} batches"));
        }
        if self.slices > 0 {
            let message = "a run with slices has a window that is known beforehand";
            let found = check.problem(path, message);
            found.hint("leave out `slices`, or set precision = 0");
        }
        let most = self.window.checked_mul(1 << doublings.min(MOST_DOUBLINGS));
        if self.window <= LONGEST && most.is_none_or(|most| most > LONGEST) {
            let message = format!("a window of {} is too long to double so often", self.window);
            let found = check.problem(path, message);
            found.allowed(format!("at most {LONGEST} after {doublings} doublings"));
        }
    }

    fn check_parts(
        &self,
        path: &str,
        (whole, length): (&str, Time),
        (count, most, parts): (u32, u32, &str),
        check: &mut Check<'_>,
    ) {
        let least = SHORTEST * u64::from(count.min(most));
        if !self.window.is_zero() && length < least {
            let message = format!("a {whole} of {length} is too short for {count} {parts}");
            let found = check.problem(path, message);
            found.allowed(format!("at least {least} for so many"));
        }
    }
}

impl RunChanges {
    /// Finds problems with a series' changes; `series` is its path.
    pub(crate) fn check(&self, series: &str, defaults: &Run, check: &mut Check<'_>) {
        let path = format!("{series}.run");
        self.check_bounds(&path, check);
        let run = defaults.with(self);
        let first = |keys: &[(&str, bool)]| {
            let given = keys.iter().find(|(_, given)| *given);
            given.map(|(key, _)| format!("{path}.{key}"))
        };
        let window = ("window", self.window.is_some());
        if let Some(path) = first(&[window, ("batches", self.batches.is_some())]) {
            run.check_batches(&path, check);
        }
        let warm_up = ("warm_up", self.warm_up.is_some());
        if let Some(path) = first(&[("slices", self.slices.is_some()), window, warm_up]) {
            run.check_slices(&path, check);
        }
        if let Some(path) = first(&[("watch", self.watch.is_some()), window]) {
            run.check_watch(&path, check);
        }
        let slices = ("slices", self.slices.is_some());
        let batches = ("batches", self.batches.is_some());
        let precision = ("precision", self.precision.is_some());
        let doublings = ("doublings", self.doublings.is_some());
        if let Some(path) = first(&[precision, doublings, slices, batches, window]) {
            run.check_precision(&path, check);
        }
    }

    fn check_bounds(&self, path: &str, check: &mut Check<'_>) {
        if self.window.is_some_and(Time::is_zero) {
            let allowed = format!("more than 0 s, at most {LONGEST}");
            let message = "nothing can be measured in no time";
            let found = check.problem(&format!("{path}.window"), message);
            found.allowed(allowed);
        }
        for (key, time) in [("window", self.window), ("warm_up", self.warm_up)] {
            if let Some(time) = time {
                check.longest(&format!("{path}.{key}"), time, LONGEST);
            }
        }
        if let Some(precision) = self.precision {
            check.range(&format!("{path}.precision"), precision, 0.0..=WIDEST);
        }
        for (key, count, range) in [
            ("doublings", self.doublings, 0..=MOST_DOUBLINGS),
            ("batches", self.batches, 1..=MOST),
            ("seeds", self.seeds, 1..=MOST),
            ("slices", self.slices, 0..=MOST_SLICES),
        ] {
            if let Some(count) = count {
                check.range(&format!("{path}.{key}"), count, range);
            }
        }
    }
}
