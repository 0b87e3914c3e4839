//! Elanlib call times: the calls in `benchmarks/elan`, where C programs print the same table.
//!
//! | rows | |
//! |---|---|
//! | `tport`, `put-ping` | half the round trip between the first node and the last one: a Tport message, and a put that is answered when its last word is there |
//! | `put`, `get` | between these nodes, each waited for; `puts`, `gets`: 20 in flight at a time |
//! | `hgsync`, `gsync`, `reduce`, `hbcast`, `bcast` | with 64 processes; with 16 processes among 64 KB puts; and again in adapter memory, where the message is there |

use elan::{Comparison, ElanAddr, NodeId, Placement, ProcessId};
use examples::{Outcome, job, run};
use libelan::elan::reduce::{Receivers, Reduction, of_words};
use libelan::elan::tport::{Mode, Room, Select};
use libelan::{Pe, ProcessJob};
use std::process::ExitCode;
use units::{Bytes, Time};

const REPEATS: u64 = 20;
/// Repetitions that are not measured.
const FIRST: u64 = 2;
const WORD: Bytes = Bytes::new(8);

fn line(what: &str, size: Bytes, time: Time) {
    let (bytes, us) = (size.as_u64(), time.as_us_f64());
    println!("{what},{bytes},{us:.3},{:.1}", bytes as f64 / us);
}

async fn tport(pe: &Pe, size: Bytes) -> Outcome {
    let (elan, port) = (pe.elan(), pe.elan().tport());
    let (me, other) = (pe.vp().get(), ProcessId::new(1 - pe.vp().get()));
    let at = elan.galloc_main(64, size.max(WORD))?;
    elan.all_group().gsync().await?;
    let mut begin = pe.now();
    for round in 0..REPEATS + FIRST {
        if round == FIRST {
            begin = pe.now();
        }
        for sender in 0..2 {
            if me == sender {
                let tx = port.tx_start(Mode::Standard, other, (me, 1), at, size);
                port.tx_wait(tx).await?;
            } else {
                let rx = port.rx_start(Select::exactly(None, Some(1)), Room::Buffer(at, size));
                port.rx_wait(rx).await?;
            }
        }
    }
    if me == 0 {
        line("tport", size, (pe.now() - begin) / (2 * REPEATS));
    }
    Ok(elan.all_group().gsync().await?)
}

async fn put_ping(pe: &Pe, size: Bytes) -> Outcome {
    let (elan, shmem) = (pe.elan(), pe.shmem());
    let (me, other) = (pe.vp().get(), ProcessId::new(1 - pe.vp().get()));
    let (out, into) = (elan.galloc_main(64, size)?, elan.galloc_main(64, size)?);
    let last = size - WORD;
    shmem.set_word(out.offset(last), 1)?;
    elan.all_group().gsync().await?;
    let mut begin = pe.now();
    for round in 0..REPEATS + FIRST {
        if round == FIRST {
            begin = pe.now();
        }
        let arrived = into.offset(last);
        let first = (me == 0).then(|| elan.put(other, out, into, size));
        shmem.wait_until(arrived, Comparison::NotEqual, 0).await?;
        shmem.set_word(arrived, 0)?;
        let put = first.unwrap_or_else(|| elan.put(other, out, into, size));
        elan.wait(put).await?;
    }
    if me == 0 {
        line("put-ping", size, (pe.now() - begin) / (2 * REPEATS));
    }
    Ok(elan.all_group().gsync().await?)
}

async fn transfer(pe: &Pe, size: Bytes) -> Outcome {
    let (elan, other) = (pe.elan(), ProcessId::new(1));
    let (here, there) = (elan.galloc_main(64, size)?, elan.galloc_main(64, size)?);
    for names in [["put", "puts"], ["get", "gets"]] {
        elan.all_group().gsync().await?;
        if pe.vp().get() > 0 {
            continue;
        }
        let call = || match names[0] {
            "put" => elan.put(other, here, there, size),
            _ => elan.get(other, there, here, size),
        };
        let mut begin = pe.now();
        for round in 0..REPEATS + FIRST {
            if round == FIRST {
                begin = pe.now();
            }
            elan.wait(call()).await?;
        }
        line(names[0], size, (pe.now() - begin) / REPEATS);
        let begin = pe.now();
        let all: Vec<_> = (0..REPEATS).map(|_| call()).collect();
        for one in all {
            elan.wait(one).await?;
        }
        line(names[1], size, (pe.now() - begin) / REPEATS);
    }
    Ok(elan.all_group().gsync().await?)
}

/// One call, with a byte count and an address.
async fn call(pe: &Pe, what: &str, at: ElanAddr, size: Bytes) -> Outcome {
    let group = pe.elan().all_group();
    let add = of_words(u64::wrapping_add);
    let sum = Reduction {
        size: WORD,
        combine: &add,
    };
    match what {
        "hgsync" => group.hgsync().await?,
        "gsync" => group.gsync().await?,
        "hbcast" => group.hbcast(at, size, 0).await?,
        "bcast" => group.bcast(at, size, 0).await?,
        _ => {
            group
                .reduce(at, at.offset(WORD), 1, &sum, Receivers::All)
                .await?;
        }
    }
    Ok(())
}

async fn collective(
    pe: &Pe,
    what: &str,
    memory: Placement,
    size: Bytes,
    background: Bytes,
) -> Outcome {
    let (elan, all) = (pe.elan(), pe.nvps());
    let partner = ProcessId::new((pe.vp().get() + all / 2) % all);
    let most = size.max(WORD * 2);
    let at = match memory {
        Placement::Main => elan.galloc_main(64, most)?,
        Placement::Adapter => elan.galloc_elan(64, most)?,
    };
    let source = elan.galloc_main(64, background.max(WORD))?;
    let target = elan.galloc_main(64, background.max(WORD))?;
    let mut begin = pe.now();
    for round in 0..REPEATS + FIRST {
        if round == FIRST {
            begin = pe.now();
        }
        if !background.is_zero() {
            drop(elan.put(partner, source, target, background));
        }
        call(pe, what, at, size).await?;
    }
    if pe.vp().get() == 0 {
        line(what, size, (pe.now() - begin) / REPEATS);
    }
    elan.put_wait_all().await?;
    elan.all_group().gsync().await?;
    elan.galloc_free(at)?;
    Ok(())
}

/// The `benchmarks/elan/collective` calls with these words.
async fn collectives(pe: &Pe, memory: Placement, background: Bytes, sizes: &[u64]) -> Outcome {
    pe.elan().all_group().gsync().await?;
    for (what, size) in [("hgsync", 0), ("gsync", 0), ("reduce", 8)] {
        collective(pe, what, memory, Bytes::new(size), background).await?;
    }
    for &size in sizes {
        for what in ["hbcast", "bcast"] {
            collective(pe, what, memory, Bytes::new(size), background).await?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    examples::main(|machine| {
        println!("what,bytes,us,MBps");
        let last = machine.cluster_config().fabric.topology.nodes() - 1;
        let two = ProcessJob::new("two", [0, last].map(NodeId::new), 1)?;
        run(machine, &two, async |pe| {
            for size in [0, 8, 1024, 65_536] {
                tport(&pe, Bytes::new(size)).await?;
                if size > 0 {
                    put_ping(&pe, Bytes::new(size)).await?;
                }
            }
            Ok(())
        })?;
        run(machine, &two, async |pe| {
            for size in [8, 4096, 262_144] {
                transfer(&pe, Bytes::new(size)).await?;
            }
            Ok(())
        })?;
        let none = Bytes::ZERO;
        run(machine, &job(machine, "main", 64)?, async move |pe| {
            collectives(&pe, Placement::Main, none, &[8, 4096, 524_288]).await
        })?;
        run(machine, &job(machine, "loaded", 16)?, async move |pe| {
            let background = Bytes::from_kb(64);
            collectives(&pe, Placement::Main, background, &[8, 4096, 65_536]).await
        })?;
        run(machine, &job(machine, "adapter", 64)?, async move |pe| {
            collectives(&pe, Placement::Adapter, none, &[8, 4096, 524_288]).await
        })
    })
}
