//! The shipped machine files.

use experiment::calls::{self, CallFailure};
use serde_json::{Value, json};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../machines/", $name, ".toml")))),+]
    };
}

/// The machine files' names and texts.
const MACHINES: [(&str, &str); 6] = files![
    "es40-qsnet",
    "infiniband-ndr",
    "opteron-qsnet2",
    "rail-optimised",
    "slingshot-dragonfly",
    "smart-multirail",
];

/// All machine files: each one's name, title and text.
pub fn machines() -> Result<Value, CallFailure> {
    let listed = MACHINES.iter().map(|&(name, text)| {
        let title = calls::load_machine(text, name, &[])?["title"].take();
        Ok(json!({"name": name, "title": title, "text": text}))
    });
    listed.collect()
}
