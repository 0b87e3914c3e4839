//! Slots in adapter memory, each with one use at a time.

use crate::elan3::{AllocError, Heap};
use elan::ElanAddr;
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use units::Bytes;

/// Slots with equal length. A task that finds no free slot waits in line.
pub(super) struct Pool {
    free: RefCell<Vec<ElanAddr>>,
    line: RefCell<VecDeque<(Signal, Rc<Cell<ElanAddr>>)>>,
}

impl Pool {
    /// So many slots in a heap.
    pub fn new(heap: &mut Heap, count: u32, slot: Bytes) -> Result<Self, AllocError> {
        let slots: Result<Vec<_>, _> = (0..count).map(|_| heap.alloc(64, slot)).collect();
        Ok(Pool {
            free: RefCell::new(slots?),
            line: RefCell::default(),
        })
    }

    /// Takes a slot if one is free.
    pub fn try_take(&self) -> Option<ElanAddr> {
        self.free.borrow_mut().pop()
    }

    /// Waits for a slot and takes it.
    pub async fn take(&self) -> ElanAddr {
        if let Some(slot) = self.try_take() {
            return slot;
        }
        let (turn, slot) = (Signal::new(), Rc::new(Cell::new(ElanAddr::NOWHERE)));
        let place = (turn.clone(), Rc::clone(&slot));
        self.line.borrow_mut().push_back(place);
        turn.wait().await;
        slot.get()
    }

    /// Gives a slot back, to the first in line.
    pub fn give_back(&self, slot: ElanAddr) {
        match self.line.borrow_mut().pop_front() {
            Some((turn, place)) => {
                place.set(slot);
                turn.fire();
            }
            None => self.free.borrow_mut().push(slot),
        }
    }
}
