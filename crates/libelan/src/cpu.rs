//! The processor of a process: what its calls ask of it is done in the order of the calls.
//!
//! A call that starts something, such as a send, returns at once to the program, in simulated time as well; the
//! instructions that it takes come first of all that the process does next. Waiting takes no processor. What the operating
//! system takes of the processor ([`elan::noise`]) delays the work that it falls into.

use elan::{HostCpu, Node};
use kernel::Signal;
use std::cell::RefCell;
use std::rc::Rc;
use units::Time;

/// One process's processor; clones are the same one.
#[derive(Clone, Default)]
pub(crate) struct Cpu {
    host: Rc<RefCell<HostCpu>>,
    /// The end of what was asked for last.
    last: Rc<RefCell<Option<Signal>>>,
}

/// A place in the order. The processor is free again when it is dropped.
pub(crate) struct Turn {
    host: Rc<RefCell<HostCpu>>,
    before: Option<Signal>,
    end: Signal,
}

impl Cpu {
    /// A process on this processor.
    pub fn new(host: HostCpu) -> Self {
        Cpu {
            host: Rc::new(RefCell::new(host)),
            last: Rc::default(),
        }
    }

    /// Takes the next place.
    pub fn turn(&self) -> Turn {
        let end = Signal::new();
        let before = self.last.replace(Some(end.clone()));
        Turn {
            host: Rc::clone(&self.host),
            before,
            end,
        }
    }

    /// Works for a while, after all that was asked for before.
    pub async fn work(&self, node: &Node, time: Time) {
        self.turn().work(node, time).await;
    }
}

impl Turn {
    /// Waits for the turn and works for a while; the turn goes on.
    pub async fn work(&self, node: &Node, time: Time) {
        if let Some(before) = &self.before {
            before.wait().await;
        }
        let end = self.host.borrow_mut().work(node.now(), time);
        node.sleep_until(end).await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.end.fire();
    }
}
