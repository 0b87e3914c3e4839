//! Puts and gets between two nodes, by Elan3lib: time per transfer, and bandwidth of transfers one
//! after another.
//!
//! A put ends when its acknowledgement is back. A get requests a put in the opposite direction from
//! the other node's adapter, and so takes longer. The other process takes no part in either.

use elan::ProcessId;
use examples::{Outcome, job, run};
use libelan::Pe;
use std::process::ExitCode;
use units::{Bytes, Rate};

const LARGEST: Bytes = Bytes::from_kb(256);

async fn program(pe: Pe) -> Outcome {
    // Both processes make the same allocations in the same order, and so have the same addresses.
    let elan3 = pe.elan3();
    let (own, from_other) = (
        elan3.alloc_main(64, LARGEST)?,
        elan3.alloc_main(64, LARGEST)?,
    );
    let (me, other) = (pe.vp().get(), ProcessId::new(1 - pe.vp().get()));
    let bytes = vec![me as u8 + 1; LARGEST.as_u64() as usize];
    elan3.store(own, &bytes)?;
    if me == 1 {
        return Ok(());
    }
    println!(
        "{:>8}  {:>8}  {:>8}  {:>8}",
        "bytes", "put, us", "get, us", "put, MB/s"
    );
    for size in (3..=18).step_by(3).map(|power| Bytes::new(1 << power)) {
        let begin = pe.now();
        elan3.put(other, own, from_other, size).await?;
        let put = pe.now() - begin;
        let begin = pe.now();
        elan3.get(other, own, from_other, size).await?;
        let get = pe.now() - begin;
        assert!(elan3.load(from_other, size)?.iter().all(|&byte| byte == 2));
        println!(
            "{:>8}  {:>8.2}  {:>8.2}  {:>8.1}",
            size.as_u64(),
            put.as_us_f64(),
            get.as_us_f64(),
            Rate::of(size, put)
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    examples::main(|machine| run(machine, &job(machine, "pair", 2)?, program))
}
