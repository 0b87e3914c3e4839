//! A text is refused with its problems, or is a machine.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    drop(experiment::calls::load_machine(text, "fuzz.toml", &[]));
});
