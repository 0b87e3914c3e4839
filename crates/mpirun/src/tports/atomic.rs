//! Atomics: a packet of transactions on a word in the other adapter's memory, as Shmem sends them.
//!
//! The word that the program means lies in a real process's memory. A word in the simulated adapter
//! stands for it, which belongs to this atomic while it is under way. The adapter's store there is
//! the atomic's moment, or else the landing of puts that had ended before
//! ([`Landing`](super::landing::Landing)). Atomics on one word happen in the order in which the
//! adapter executes them.
//!
//! A packet that tests does not return the word that it has found. If the test fails, a get fetches
//! that word, as Shmem does.

use super::TportsProcess;
use super::operations::{is_loss_of, refused};
use crate::endpoint::{EndFuture, Finish, NetworkOp, OperationResult};
use elan::transaction::WORD;
use elan::{Comparison, Transaction};
use kernel::Signal;
use libelan::Pe;
use libelan::shmem::ShmemError;
use link::EndStatus;
use std::cell::Cell;
use std::rc::Rc;
use units::Time;

/// Begins an atomic on a rank; see [`Endpoint::atomic`](crate::endpoint::Endpoint::atomic).
pub fn begin(
    process: &TportsProcess,
    at: Time,
    to: u32,
    tests: bool,
    execute: Box<dyn FnOnce() -> bool>,
) -> Rc<dyn NetworkOp> {
    let (words, target) = (&process.words[to as usize], &process.all[to as usize].1);
    let Ok(word) = words.take(WORD) else {
        return refused(at);
    };
    let place = word.at();
    words.store(word, &[0; 8]);
    let write = Transaction::Write { to: place, word: 1 };
    let test = Transaction::Test {
        at: place,
        comparison: Comparison::Equal,
        word: 0,
    };
    let transactions = if tests {
        vec![test, write]
    } else {
        vec![write]
    };
    let executed = target.node().next_store(place, WORD);
    let (passed, done) = (Rc::new(Cell::new(true)), Signal::new());
    let (says, happened) = (Rc::clone(&passed), done.clone());
    let node = process.pe.node();
    let landing = Rc::clone(&process.landing);
    node.serve("atomic", async move {
        executed.wait().await;
        landing[to as usize].settle().await;
        says.set(execute());
        happened.fire();
    });
    let answer = process.call(at, false, |pe| pe.shmem().execute(to, transactions));
    let atomic = Rc::new(Atomic {
        pe: process.pe.clone(),
        ended: Signal::new(),
        result: Cell::new(None),
    });
    let (ends, words) = (Rc::clone(&atomic), Rc::clone(words));
    node.serve("atomic", async move {
        let mut result = answer.await.map(|_| ());
        if result.is_ok() {
            done.wait().await;
        }
        if result.is_ok() && !passed.get() {
            result = ends.pe.shmem().g(place, to).await.map(|_| ());
        }
        if result.is_ok() {
            words.give_back(word);
        }
        ends.result.set(Some(result));
        ends.ended.fire();
    });
    atomic
}

struct Atomic {
    pe: Pe,
    ended: Signal,
    /// How it has ended, once it has.
    result: Cell<Option<Result<(), ShmemError>>>,
}

impl NetworkOp for Atomic {
    fn ended(&self) -> EndFuture {
        let (pe, ended) = (self.pe.clone(), self.ended.clone());
        Box::pin(async move {
            ended.wait().await;
            pe.now()
        })
    }

    fn finish(&self, _at: Time) -> Finish {
        let incoming = match self.result.get() {
            Some(Ok(())) => OperationResult::of(EndStatus::Done),
            Some(Err(error)) => {
                let lost = matches!(&error, ShmemError::Dma(error) if is_loss_of(error));
                OperationResult::failed(&error, lost)
            }
            None => OperationResult::of(EndStatus::Refused),
        };
        Box::pin(async move { incoming })
    }
}
