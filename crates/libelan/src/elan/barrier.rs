//! # The software barrier
//!
//! "Each process waits for 'ready' signals from its children ... and sends its own signal up to the
//! parent process" (petrini2001).
//!
//! Each process's *ready* event waits for its children and for itself; a leaf, which has no
//! children, notifies its parent immediately. When the root's *ready* event is set, all have come,
//! and the *release* goes down the same way. Signals up and down are zero-byte DMAs. In the root
//! and in processes with a parent and children, a thread on the adapter takes the signals and sends
//! them on. So hosts and I/O buses take part only where a process enters the barrier and where it
//! leaves.
//!
//! No barrier is mistaken for the next. The thread primes *ready* again before any process can have
//! been released, and a process primes *release* before it signals that it is ready.

use super::block::Slot;
use super::courier::Delivery;
use super::group::Group;
use super::layout::TeamId;
use elan::{DmaError, ProcessId, WaitMode};

impl Group {
    /// Waits for all members, in software (`elan_gsync`).
    ///
    /// # Errors
    /// If network parts have failed, and the group is lost.
    pub async fn gsync(&self) -> Result<(), DmaError> {
        let _turn = self.enter().await;
        let sync = async {
            if self.leads() {
                self.gather().await;
                self.tree_barrier(self.inner.waits).await;
                self.release(Ok(()))
            } else {
                self.join().await
            }
        };
        self.during("gsync", sync).await
    }

    /// The delivery that lets an event in the group's block occur in another process.
    pub(super) fn signal(&self, vp: ProcessId, slot: Slot) -> Delivery {
        Delivery::signal(vp, self.inner.block.at(slot))
    }

    /// The leaders' barrier.
    pub(super) async fn tree_barrier(&self, how: WaitMode) {
        let leaders = &self.inner.layout.leaders;
        if leaders.len() == 1 {
            return;
        }
        let (ready, released) = (self.event(Slot::Ready), self.event(Slot::Release));
        self.node().prime(released, 1);
        let up = self.inner.spot.parent;
        let up = up.map(|(parent, _)| self.signal(leaders[TeamId::new(parent)], Slot::Ready));
        let children = self.inner.spot.children.iter();
        let down = children.map(|&child| self.signal(leaders[TeamId::new(child)], Slot::Release));
        let down: Vec<Delivery> = down.collect();
        match up {
            Some(up) if down.is_empty() => self.post(up),
            up => {
                let group = self.clone();
                let all = down.len() as u32 + 1;
                let stack = &self.inner.threads.barrier;
                self.thread(stack, "gsync", async move |thread| {
                    loop {
                        thread.wait(ready).await;
                        thread.prime(ready, all);
                        if let Some(up) = up {
                            group.hand(&thread, up).await;
                            thread.wait(released).await;
                        }
                        for &down in &down {
                            group.hand(&thread, down).await;
                        }
                        if up.is_none() {
                            thread.set(released).await;
                        }
                    }
                });
                self.node().set(ready);
            }
        }
        self.node().wait_by(released, how).await;
    }
}
