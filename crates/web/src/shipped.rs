//! The shipped machine files.

use experiment::calls::{self, Failure};
use serde_json::{Value, json};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../machines/", $name, ".toml")))),+]
    };
}

/// The names and texts of the machine files.
const MACHINES: [(&str, &str); 6] = files![
    "es40-qsnet",
    "infiniband-ndr",
    "opteron-qsnet2",
    "rail-optimised",
    "slingshot-dragonfly",
    "smart-multirail",
];

/// All machine files: name, title and text of each.
pub fn machines() -> Result<Value, Failure> {
    let listed = MACHINES.iter().map(|&(name, text)| {
        let title = calls::load_machine(text, name, &[])?["title"].take();
        Ok(json!({"name": name, "title": title, "text": text}))
    });
    listed.collect()
}
