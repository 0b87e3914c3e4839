//! A text is refused with its problems, or is an experiment.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    drop(experiment::calls::load_experiment(text, "fuzz.toml", &[]));
});
