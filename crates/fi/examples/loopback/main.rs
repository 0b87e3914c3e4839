//! Runs a real MPI program over a network that is not worth the name: every message takes the same time, whatever its
//! length and whatever else goes on.
//!
//! ```text
//! loopback --provider /path/to/libelanite-fi.so [-n RANKS] [--latency NANOSECONDS] [--mpiexec PATH] PROGRAM [ARGUMENT…]
//! ```
//!
//! It is what the provider's tests run on, and shows what the link and the provider cost without a simulator. The program's
//! output is its own; the last line on stderr tells what was simulated. The exit code is the program's, 2 for a wrong
//! command line, 3 for a deadlock.

#![expect(
    clippy::disallowed_methods,
    reason = "how long real processes may take"
)]

mod rank;
mod server;

use server::{End, Server};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

struct Options {
    ranks: u32,
    latency: u64,
    provider: PathBuf,
    mpiexec: PathBuf,
    program: Vec<String>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        ranks: 2,
        latency: 1_000_000,
        provider: PathBuf::new(),
        mpiexec: "mpiexec".into(),
        program: Vec::new(),
    };
    let mut all = std::env::args().skip(1);
    while let Some(word) = all.next() {
        let mut value = || all.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "-n" => options.ranks = number(&value()?)?,
            "--latency" => options.latency = 1000 * u64::from(number(&value()?)?),
            "--provider" => options.provider = value()?.into(),
            "--mpiexec" => options.mpiexec = value()?.into(),
            _ => {
                options.program = std::iter::once(word).chain(all).collect();
                break;
            }
        }
    }
    if options.program.is_empty() || !options.provider.is_absolute() || options.latency == 0 {
        return Err("a program, an absolute path --provider and a latency are needed".to_owned());
    }
    Ok(options)
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("loopback: {error}");
            return ExitCode::from(2);
        }
    };
    let began = Instant::now();
    let mut server = Server::new(options.ranks, options.latency);
    let folder = options.provider.parent().unwrap_or(Path::new("/"));
    let mut child = Command::new(&options.mpiexec)
        .arg("-n")
        .arg(options.ranks.to_string())
        .args(&options.program)
        .env(link::PATH_VARIABLE, server.path())
        .env("LD_PRELOAD", &options.provider)
        .env("FI_PROVIDER", "elanite")
        .env("FI_PROVIDER_PATH", folder)
        .env("MPIR_CVAR_CH4_NETMOD", "ofi")
        .env("MPIR_CVAR_NOLOCAL", "1")
        .env("UCX_MEM_MMAP_HOOK_MODE", "none")
        .env("UCX_MEM_EVENTS", "no")
        .spawn()
        .expect("mpiexec starts");
    let end = server.run(|| child.try_wait().expect("it is our child").is_some());
    let status = child.wait().expect("it is our child");
    eprintln!(
        "loopback: {} messages, {} rounds, {:.3} us, digest {:016x}, {:.3} s of the host",
        server.messages,
        server.rounds,
        server.now as f64 / 1e6,
        server.digest,
        began.elapsed().as_secs_f64(),
    );
    match end {
        End::Deadlock => ExitCode::from(3),
        End::Finished | End::Gone => ExitCode::from(status.code().unwrap_or(1) as u8),
    }
}
