//! A process's processor: it does the work of the process's calls in call order.
//!
//! A call that starts an operation, such as a send, returns immediately to the program, in
//! simulated time as well. The call's instructions come before everything else that the process
//! does next. Waiting takes no processor. Noise ([`elan::noise`]) delays the work into which it
//! falls.
//!
//! A program outside the simulation may make its calls late ([`crate::Pe::given`]), when the
//! cluster has passed the moment at which the program gave them. The first work of such a turn
//! begins at that moment, or at the previous turn's end if that is later. If this work's end is not
//! past, everything else happens as if the call had been in time.

use elan::{HostCpu, Node};
use kernel::Signal;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use units::Time;

/// One process's processor; clones stand for the same processor.
#[derive(Clone)]
pub(crate) struct Cpu {
    state: Rc<State>,
}

struct State {
    node: Node,
    host: RefCell<HostCpu>,
    /// The end of the last turn taken.
    last: RefCell<Option<Rc<TurnEnd>>>,
    /// When the last ended turn ended.
    free: Cell<Time>,
    /// When the program gave the calls that it is making now, if it makes them late.
    given: Cell<Option<Time>>,
}

/// A turn's end.
#[derive(Default)]
struct TurnEnd {
    signal: Signal,
    /// The turn before, if that turn had not ended: if this turn is dropped early, the next one
    /// waits for that turn instead.
    before: RefCell<Option<Rc<TurnEnd>>>,
}

impl TurnEnd {
    /// Whether the turn and all turns before it have ended.
    fn is_over(&self) -> bool {
        self.signal.is_set()
            && self
                .before
                .borrow()
                .as_ref()
                .is_none_or(|before| before.is_over())
    }
}

/// A place in call order. The processor is free again when the turn is dropped.
pub(crate) struct Turn {
    state: Rc<State>,
    before: RefCell<Option<Rc<TurnEnd>>>,
    /// When the program gave the turn's call, until the turn has worked.
    given: Cell<Option<Time>>,
    /// The end of the turn's work, if that was in the past.
    past: Cell<Option<Time>>,
    end: Rc<TurnEnd>,
}

impl Cpu {
    /// A process on this processor at a node.
    pub fn new(node: &Node, host: HostCpu) -> Self {
        Cpu {
            state: Rc::new(State {
                node: node.clone(),
                host: RefCell::new(host),
                last: RefCell::default(),
                free: Cell::new(Time::ZERO),
                given: Cell::new(None),
            }),
        }
    }

    /// Takes the next place.
    pub fn turn(&self) -> Turn {
        self.turn_since(self.given())
    }

    /// Takes the next place for a call that was given at a moment, or is given now.
    pub fn turn_since(&self, given: Option<Time>) -> Turn {
        let end = Rc::<TurnEnd>::default();
        let before = self.state.last.replace(Some(Rc::clone(&end)));
        Turn {
            state: Rc::clone(&self.state),
            before: RefCell::new(before),
            given: Cell::new(given),
            past: Cell::new(None),
            end,
        }
    }

    /// When the program gave the calls that it is making now; `None` if it makes them in time.
    pub fn given(&self) -> Option<Time> {
        self.state.given.get()
    }

    /// Makes calls that the program gave at a moment.
    pub fn giving<R>(&self, at: Time, calls: impl FnOnce() -> R) -> R {
        let before = self.state.given.replace(Some(at));
        let result = calls();
        self.state.given.set(before);
        result
    }

    /// Works for a while, after all earlier work.
    pub async fn work(&self, node: &Node, time: Time) {
        self.turn().work(node, time).await;
    }
}

impl Turn {
    /// Waits for the turn and works for a while; the turn continues. Returns when the work ended,
    /// which may be past if given late.
    pub async fn work(&self, node: &Node, time: Time) -> Time {
        loop {
            let Some(before) = self.before.borrow().clone() else {
                break;
            };
            before.signal.wait().await;
            self.before.replace(before.before.take());
        }
        let now = node.now();
        let given = self.given.take();
        let begin = given.map_or(now, |at| at.min(now).max(self.state.free.get()));
        let end = self.state.host.borrow_mut().work(begin, time);
        self.past.set((end < now).then_some(end));
        node.sleep_until(end).await;
        end
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let before = self.before.take();
        if before.as_ref().is_some_and(|before| !before.is_over()) {
            // The turn has not worked, as for a call that fails immediately.
            self.end.before.replace(before);
            return self.end.signal.fire();
        }
        let free = self.past.get().unwrap_or_else(|| self.state.node.now());
        self.state.free.set(free);
        self.end.signal.fire();
    }
}
