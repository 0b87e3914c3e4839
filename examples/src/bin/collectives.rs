//! Elanlib barriers and broadcasts, by hardware and by software, on 2 nodes, 4, and so on up to the
//! whole machine.
//!
//! The hardware sends one packet to a node range; switches combine the answers. The software uses a
//! process tree. A group has the hardware if its nodes are contiguous.

use examples::{Outcome, job, run};
use libelan::Pe;
use std::process::ExitCode;
use units::{Bytes, Time};

const REPEATS: u64 = 10;
const SIZE: Bytes = Bytes::from_kb(4);

/// The mean time per call, repeated by all processes.
async fn mean<T, E>(pe: &Pe, call: impl AsyncFn() -> Result<T, E>) -> Result<Time, E> {
    let begin = pe.now();
    for _ in 0..REPEATS {
        call().await?;
    }
    Ok((pe.now() - begin) / REPEATS)
}

async fn program(pe: Pe) -> Outcome {
    let (elan, all) = (pe.elan(), pe.elan().all_group());
    assert!(all.has_hardware());
    let buffer = elan.galloc_main(64, SIZE)?;
    all.hgsync().await?;
    let by_hardware = mean(&pe, async || all.hgsync().await).await?;
    let by_software = mean(&pe, async || all.gsync().await).await?;

    let wanted = vec![42; SIZE.as_u64() as usize];
    if all.rank() == 0 {
        elan.elan3().store(buffer, &wanted)?;
    }
    let sent_by_hardware = mean(&pe, async || all.hbcast(buffer, SIZE, 0).await).await?;
    assert_eq!(elan.elan3().load(buffer, SIZE)?[..], wanted);
    all.hgsync().await?;
    let sent_by_software = mean(&pe, async || all.bcast(buffer, SIZE, 0).await).await?;
    all.hgsync().await?;
    if all.rank() == 0 {
        println!(
            "{:>5}  {:>9.2}  {:>9.2}  {:>9.2}  {:>9.2}",
            all.size(),
            by_hardware.as_us_f64(),
            by_software.as_us_f64(),
            sent_by_hardware.as_us_f64(),
            sent_by_software.as_us_f64()
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    examples::main(|machine| {
        println!("       barrier, us             broadcast of 4 KB, us");
        println!("nodes   hardware   software   hardware   software");
        let nodes = machine.cluster_config().fabric.topology.nodes();
        for size in (1..)
            .map(|power| 1 << power)
            .take_while(|&size| size <= nodes)
        {
            run(machine, &job(machine, "group", size)?, program)?;
        }
        Ok(())
    })
}
