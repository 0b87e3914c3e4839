//! `elanite-mpiexec RANKS ROOM SPACE REPORT KEEP KINDS [NAME=VALUE ...] -- PROGRAM [ARGUMENT ...]`:
//! starts an MPI program's ranks, and answers them. `elanite mpirun` calls it. `ROOM` is how many
//! ranks there may be in all, with those that ranks start (`MPI_Comm_spawn`), `SPACE` is the name
//! of the key-value space, `REPORT` the descriptor for events, `KEEP` is `1` if ranks continue when
//! one ends early, `KINDS` the memory kinds that are requested of MPI, or `-`; ranks get the
//! variables in addition to this process's.

#![expect(unsafe_code, reason = "a descriptor comes as a number")]

use launch::process::LaunchProgram;
use launch::report::Reporter;
use launch::serve::serve;
use launch::stall::PATIENCE;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

/// The exit code for a wrong call.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match call(&words) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("elanite-mpiexec: {why}");
            ExitCode::from(USAGE)
        }
    }
}

fn call(words: &[OsString]) -> Result<u8, String> {
    let [ranks, room, space, report, keep, kinds, rest @ ..] = words else {
        return Err("elanite mpirun calls this program".into());
    };
    let number = |word: &OsStr| -> Result<u32, String> {
        let number = word.to_str().and_then(|word| word.parse().ok());
        number.ok_or_else(|| format!("{} is no number", word.display()))
    };
    let (ranks, room, report) = (number(ranks)?, number(room)?, number(report)?);
    let dashes = rest.iter().position(|word| word == "--");
    let dashes = dashes.ok_or("there is no --")?;
    let variables = rest[..dashes].iter().map(|word| {
        let bytes = word.as_bytes();
        let at = bytes
            .iter()
            .position(|&byte| byte == b'=')
            .unwrap_or(bytes.len());
        let (name, value) = (&bytes[..at], bytes.get(at + 1..).unwrap_or_default());
        (
            OsStr::from_bytes(name).into(),
            OsStr::from_bytes(value).into(),
        )
    });
    let words = rest[dashes + 1..].to_vec();
    // SAFETY: the caller has opened the descriptor for this process, which uses it here alone.
    let report = unsafe { File::from_raw_fd(report.cast_signed()) };
    rustix::io::fcntl_setfd(&report, rustix::io::FdFlags::CLOEXEC)
        .map_err(|error| error.to_string())?;
    let program = LaunchProgram::new(words, variables.collect(), (ranks, room));
    let mut program = program.map_err(|error| error.to_string())?;
    program.kinds = kinds
        .to_str()
        .filter(|&kinds| kinds != "-")
        .map(String::from);
    let space = space.to_string_lossy().into_owned();
    let code = serve(program, space, keep == "1", PATIENCE, Reporter::new(report));
    code.map(|code| code as u8)
        .map_err(|error| error.to_string())
}
