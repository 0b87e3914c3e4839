//! Shmem call times: the calls in `benchmarks/shmem`, where C programs print the same table.
//!
//! | rows | |
//! |---|---|
//! | `ping` | half a put's round trip between the first node and the last one; the other process answers when it sees the last word of the put |
//! | `put`, `get` | one after the other between these nodes, until all are over |
//! | `barrier`, `broadcast` | with 16 processes, alone and then among 64 KB puts |

use elan::{Comparison, NodeId};
use examples::{Outcome, job, run};
use libelan::{Pe, ProcessJob};
use std::process::ExitCode;
use units::{Bytes, Time};

const REPEATS: u64 = 20;
/// Repetitions that are not measured.
const FIRST: u64 = 2;

fn line(what: &str, size: Bytes, time: Time) {
    let (bytes, us) = (size.as_u64(), time.as_us_f64());
    println!("{what},{bytes},{us:.3},{:.1}", bytes as f64 / us);
}

async fn ping(pe: &Pe, size: Bytes) -> Outcome {
    let shmem = pe.shmem();
    let (me, other) = (shmem.my_pe(), 1 - shmem.my_pe());
    let (out, into) = (shmem.malloc(size)?, shmem.malloc(size)?);
    let last = size - Bytes::new(8);
    shmem.barrier(pe.elan().all_group()).await?;
    let mut begin = pe.now();
    for round in 1..=REPEATS + FIRST {
        if round == FIRST + 1 {
            begin = pe.now();
        }
        shmem.set_word(out.offset(last), round)?;
        if me == 0 {
            shmem.put(into, out, size, other).await?;
        }
        let arrived = into.offset(last);
        shmem.wait_until(arrived, Comparison::Equal, round).await?;
        if me == 1 {
            shmem.put(into, out, size, other).await?;
        }
    }
    if me == 0 {
        line("ping", size, (pe.now() - begin) / (2 * REPEATS));
    }
    Ok(shmem.barrier(pe.elan().all_group()).await?)
}

async fn transfer(pe: &Pe, size: Bytes) -> Outcome {
    let shmem = pe.shmem();
    let (here, there) = (shmem.malloc(size)?, shmem.malloc(size)?);
    shmem.barrier(pe.elan().all_group()).await?;
    if shmem.my_pe() == 0 {
        for _ in 0..FIRST {
            shmem.put(there, here, size, 1).await?;
        }
        shmem.quiet().await?;
        let begin = pe.now();
        for _ in 0..REPEATS {
            shmem.put(there, here, size, 1).await?;
        }
        shmem.quiet().await?;
        line("put", size, (pe.now() - begin) / REPEATS);
        for _ in 0..FIRST {
            shmem.get(here, there, size, 1).await?;
        }
        let begin = pe.now();
        for _ in 0..REPEATS {
            shmem.get(here, there, size, 1).await?;
        }
        line("get", size, (pe.now() - begin) / REPEATS);
    }
    Ok(shmem.barrier(pe.elan().all_group()).await?)
}

/// Barriers if there is no size, or broadcasts.
async fn collective(pe: &Pe, size: Bytes, background: Bytes) -> Outcome {
    let (shmem, elan, all) = (pe.shmem(), pe.elan(), pe.elan().all_group());
    let (me, half) = (shmem.my_pe(), shmem.n_pes() / 2);
    let partner = elan::ProcessId::new((me + half) % shmem.n_pes());
    let [from, to, source, target] =
        [size, size, background, background].map(|size| shmem.malloc(size.max(Bytes::new(8))));
    let (from, to, source, target) = (from?, to?, source?, target?);
    shmem.barrier(all).await?;
    let mut sum = Time::ZERO;
    for repeat in 0..REPEATS + FIRST {
        if !background.is_zero() {
            drop(elan.put(partner, source, target, background));
        }
        if !size.is_zero() {
            all.hgsync().await?;
        }
        // A C program's clock shows no time before the processor is done with the put.
        pe.compute(Time::ZERO).await;
        let begin = pe.now();
        if size.is_zero() {
            all.hgsync().await?;
        } else {
            shmem.broadcast(to, from, size, 0, all).await?;
        }
        if repeat >= FIRST {
            sum += pe.now() - begin;
        }
    }
    shmem.quiet().await?;
    if me == 0 {
        let what = if size.is_zero() {
            "barrier"
        } else {
            "broadcast"
        };
        line(what, size, sum / REPEATS);
    }
    Ok(())
}

fn main() -> ExitCode {
    examples::main(|machine| {
        println!("what,bytes,us,MBps");
        let last = machine.cluster_config().fabric.topology.nodes() - 1;
        let two = ProcessJob::new("two", [0, last].map(NodeId::new), 1)?;
        run(machine, &two, async |pe| {
            for size in [8, 64, 72, 1024, 65_536] {
                ping(&pe, Bytes::new(size)).await?;
            }
            for size in [8, 64, 72, 4096, 262_144] {
                transfer(&pe, Bytes::new(size)).await?;
            }
            Ok(())
        })?;
        for background in [Bytes::ZERO, Bytes::from_kb(64)] {
            run(machine, &job(machine, "all", 16)?, async move |pe| {
                for size in [0, 64, 4096, 65_536] {
                    collective(&pe, Bytes::new(size), background).await?;
                }
                Ok(())
            })?;
        }
        Ok(())
    })
}
