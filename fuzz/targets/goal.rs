//! A GOAL trace, text or binary, is refused or read; a trace that is read is written as the same
//! bytes as the trace that is read from these.
#![no_main]

use goal::Trace;
use libfuzzer_sys::fuzz_target;
use std::io::Write;

/// The binary form of the trace in a file, if it is one.
fn written(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = tempfile::NamedTempFile::new().expect("the temporary folder has room");
    file.write_all(bytes).expect("the temporary folder has room");
    let mut trace = Trace::open(file.path()).ok()?;
    let mut binary = Vec::new();
    trace.write_binary(&mut binary).expect("memory has room");
    Some(binary)
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(binary) = written(bytes) {
        let again = written(&binary).expect("a written trace can be read");
        assert!(binary == again, "another trace has been read");
    }
});
