//! A histogram on Shmem: every process draws numbers and counts them in bins that lie on all
//! processes.
//!
//! A bin is one word in one adapter's memory. The adapter that has the word executes an atomic
//! addition; that process's host takes no part. An addition takes as long as a packet and its
//! acknowledgement, and longer when all want the same bin.

use examples::{Outcome, job, run};
use libelan::Pe;
use std::process::ExitCode;
use units::Bytes;

const NUMBERS: u64 = 64;

async fn program(pe: Pe, same: bool) -> Outcome {
    let (shmem, all) = (pe.shmem(), pe.elan().all_group().clone());
    let (me, processes) = (u64::from(shmem.my_pe()), shmem.n_pes());
    let bin = shmem.malloc_elan(Bytes::new(8))?;
    shmem.set_word(bin, 0)?;
    shmem.barrier(&all).await?;

    let begin = pe.now();
    for number in 0..NUMBERS {
        // Every process draws each bin equally often, each in its own order.
        let owner = if same {
            0
        } else {
            (me + number) as u32 % processes
        };
        shmem.fadd(bin, 1, owner).await?;
    }
    let each = (pe.now() - begin) / NUMBERS;
    shmem.barrier(&all).await?;

    let total = NUMBERS * u64::from(processes);
    let expected = match (same, me) {
        (true, 0) => total,
        (true, _) => 0,
        (false, _) => NUMBERS,
    };
    assert_eq!(shmem.word(bin)?, expected);
    if me == 0 {
        let bins = if same { "one bin" } else { "all bins" };
        println!(
            "{total} additions to {bins}: {:.2} us each",
            each.as_us_f64()
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    examples::main(|machine| {
        let job = job(machine, "histogram", 16)?;
        run(machine, &job, |pe| program(pe, false))?;
        run(machine, &job, |pe| program(pe, true))
    })
}
