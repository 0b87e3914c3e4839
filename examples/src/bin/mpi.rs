//! The heat equation on a 4,096-cell rod, by MPI on up to 16 nodes.
//!
//! Each rank has an equal part of the rod. In each step it exchanges the cells at its ends with its
//! neighbours, computes the inner cells meanwhile, and then its two outer ones. Every 10 steps a
//! reduction distributes the largest change to all ranks. The final temperatures are compared with
//! a single process's result.

use elan::ElanAddr;
use examples::{Outcome, job, run};
use libelan::Pe;
use libelan::elan::reduce::Reduction;
use std::process::ExitCode;
use units::{Bytes, Time};

const CELLS: usize = 4096;
const STEPS: usize = 50;
const WORD: Bytes = Bytes::new(8);
/// The host's compute time per cell.
const CELL: Time = Time::from_ns(50);

/// The temperatures before the first step: one hot cell in the middle.
fn start() -> Vec<f64> {
    let mut rod = vec![0.0; CELLS];
    rod[CELLS / 2] = 1000.0;
    rod
}

/// One step for all cells between the two outer ones.
fn step(rod: &[f64]) -> Vec<f64> {
    let mut next = rod.to_vec();
    for cell in 1..rod.len() - 1 {
        next[cell] += 0.25 * (rod[cell - 1] - 2.0 * rod[cell] + rod[cell + 1]);
    }
    next
}

fn store(pe: &Pe, at: ElanAddr, value: f64) -> Outcome {
    Ok(pe.elan3().store(at, &value.to_le_bytes())?)
}

fn load(pe: &Pe, at: ElanAddr) -> Outcome<f64> {
    Ok(f64::from_le_bytes(
        pe.elan3().load(at, WORD)?[..].try_into()?,
    ))
}

async fn program(pe: Pe) -> Outcome {
    let mpi = pe.mpi();
    let (rank, ranks) = (mpi.rank() as usize, mpi.size() as usize);
    if !CELLS.is_multiple_of(ranks) {
        return Err(format!("{CELLS} cells are not {ranks} equal parts").into());
    }
    let (cells, first) = (CELLS / ranks, CELLS / ranks * rank);
    // This rank's part, with one cell from each neighbour at its ends; outside the rod it is cold.
    let mut part = vec![0.0; cells + 2];
    part[1..=cells].copy_from_slice(&start()[first..first + cells]);
    let buffers = pe.elan().galloc_main(8, WORD * 5)?;
    let buffer = |number| buffers.offset(WORD * number);
    let (out, into, change) = ([buffer(0), buffer(1)], [buffer(2), buffer(3)], buffer(4));
    let neighbours = [
        rank.checked_sub(1),
        Some(rank + 1).filter(|&right| right < ranks),
    ];

    mpi.barrier().await?;
    let begin = pe.now();
    for number in 1..=STEPS {
        let mut requests = Vec::new();
        for (side, neighbour) in neighbours.into_iter().enumerate() {
            let Some(neighbour) = neighbour.map(|rank| rank as u32) else {
                continue;
            };
            store(
                &pe,
                out[side],
                if side == 0 { part[1] } else { part[cells] },
            )?;
            requests.push(mpi.irecv(neighbour, 0, into[side], WORD));
            requests.push(mpi.isend(neighbour, 0, out[side], WORD));
        }
        pe.compute(CELL * (cells as u64 - 2)).await;
        mpi.waitall(requests).await?;
        for (side, ghost) in [0, cells + 1].into_iter().enumerate() {
            if neighbours[side].is_some() {
                part[ghost] = load(&pe, into[side])?;
            }
        }
        pe.compute(CELL * 2).await;
        let next = step(&part);
        if number % 10 == 0 {
            let changes = next.iter().zip(&part).map(|(new, old)| (new - old).abs());
            store(&pe, change, changes.fold(0.0, f64::max))?;
            let value = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, f64::from_le_bytes);
            let largest = |one: &[u8], other: &mut [u8]| {
                let larger = value(one).max(value(other));
                other.copy_from_slice(&larger.to_le_bytes());
            };
            let operation = Reduction {
                size: WORD,
                combine: &largest,
            };
            mpi.allreduce(change, change, 1, &operation).await?;
            if rank == 0 {
                println!(
                    "step {number}: the largest change is {:.4}",
                    load(&pe, change)?
                );
            }
        }
        part = next;
    }
    let took = pe.now() - begin;

    let mut alone = [vec![0.0], start(), vec![0.0]].concat();
    for _ in 0..STEPS {
        alone = step(&alone);
    }
    assert_eq!(part[1..=cells], alone[first + 1..=first + cells]);
    if rank == 0 {
        let computing = CELL * (cells * STEPS) as u64;
        println!(
            "{:.2} us a step, of which {:.0}% computing",
            took.as_us_f64() / STEPS as f64,
            100.0 * computing.as_us_f64() / took.as_us_f64()
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    examples::main(|machine| run(machine, &job(machine, "rod", 16)?, program))
}
