//! A farm on Tports: process 0 has 100 tasks with unequal lengths and gives the next one to each
//! requesting worker.
//!
//! A worker's request and its last task's result are one message. Process 0 receives from any
//! sender; the adapter matches messages and receives, so that a worker computes while its next
//! request is matched.

use elan::{ElanAddr, ProcessId};
use examples::{Outcome, job, run};
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select, Tport, TportError};
use std::process::ExitCode;
use units::{Bytes, Time};

const TASKS: u64 = 100;
const WORD: Bytes = Bytes::new(8);
const MASTER: ProcessId = ProcessId::new(0);
const REQUEST: u64 = 1;
const TASK: u64 = 2;
/// The task that stops a worker, and the result of a worker without a task so far.
const NONE: u64 = u64::MAX;

/// How long a task takes: 20 to 140 us.
fn length(task: u64) -> Time {
    Time::from_us(20 + 20 * (task * 5 % 7))
}

/// A task's result.
fn result(task: u64) -> u64 {
    task * task
}

async fn send(pe: &Pe, to: ProcessId, tag: u64, word: u64, at: ElanAddr) -> Outcome {
    pe.elan3().store(at, &word.to_le_bytes())?;
    let tport = pe.elan().tport();
    let send = tport.tx_start(Mode::Standard, to, (pe.vp().get(), tag), at, WORD);
    Ok(tport.tx_wait(send).await?)
}

async fn receive(tport: &Tport, tag: u64, at: ElanAddr) -> Result<ProcessId, TportError> {
    let room = Room::Buffer(at, WORD);
    let receive = tport.rx_start(Select::exactly(None, Some(tag)), room);
    Ok(tport.rx_wait(receive).await?.sender.into())
}

fn word(pe: &Pe, at: ElanAddr) -> Outcome<u64> {
    let bytes = pe.elan3().load(at, WORD)?;
    Ok(u64::from_le_bytes(bytes[..].try_into()?))
}

async fn master(pe: Pe, out: ElanAddr, into: ElanAddr) -> Outcome {
    let tport = pe.elan().tport();
    let mut done = vec![0; pe.nvps() as usize];
    let (mut next, mut sum, mut working) = (0, 0, pe.nvps() - 1);
    let begin = pe.now();
    while working > 0 {
        let worker = receive(&tport, REQUEST, into).await?;
        let answer = word(&pe, into)?;
        if answer != NONE {
            sum += answer;
            done[usize::from(worker)] += 1;
        }
        let task = if next < TASKS { next } else { NONE };
        if task == NONE {
            working -= 1;
        }
        next += 1;
        send(&pe, worker, TASK, task, out).await?;
    }
    let took = pe.now() - begin;
    assert_eq!(sum, (0..TASKS).map(result).sum::<u64>());
    let alone: Time = (0..TASKS).map(length).sum();
    println!("tasks of each worker: {:?}", &done[1..]);
    println!(
        "{:.1} us; one processor needs {:.1} us, {:.2} times as long",
        took.as_us_f64(),
        alone.as_us_f64(),
        alone.as_us_f64() / took.as_us_f64()
    );
    Ok(())
}

async fn program(pe: Pe) -> Outcome {
    let (out, into) = (
        pe.elan().galloc_main(8, WORD)?,
        pe.elan().galloc_main(8, WORD)?,
    );
    if pe.vp() == MASTER {
        return master(pe, out, into).await;
    }
    let tport = pe.elan().tport();
    let mut last = NONE;
    loop {
        send(&pe, MASTER, REQUEST, last, out).await?;
        receive(&tport, TASK, into).await?;
        let task = word(&pe, into)?;
        if task == NONE {
            return Ok(());
        }
        pe.compute(length(task)).await;
        last = result(task);
    }
}

fn main() -> ExitCode {
    examples::main(|machine| run(machine, &job(machine, "farm", 9)?, program))
}
