//! A rank's operations on files, by the machine's [file system](crate::files).
//!
//! With I/O nodes, the bytes cross the network. A file is cut into stripes, and stripe k in each
//! file belongs to I/O node k, modulo their number. A rank has at most one stripe under way with
//! each I/O node; when all these have ended, it begins the next ones. A stripe that is written is
//! put into the I/O node's memory, and its disk then stores it; a stripe that is read is got from
//! there when the disk has read it. Names and attributes are not on the I/O nodes.

use super::Agent;
use crate::endpoint::OperationResult;
use crate::files::Servers;
use crate::horizon::HORIZON;
use kernel::Signal;
use link::{EndStatus, FileAccess};
use std::cell::Cell;
use std::rc::Rc;
use units::{Bytes, Time};

/// An operation's part on one I/O node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stripe {
    server: u32,
    bytes: u64,
    writes: bool,
}

/// An operation's stripes, in order.
fn stripes(access: FileAccess, servers: Servers) -> impl Iterator<Item = Stripe> {
    let stripe = servers.stripe.as_u64().max(1);
    let writes = access.written > 0;
    let mut at = access.offset;
    let mut left = access.read.saturating_add(access.written);
    std::iter::from_fn(move || {
        let bytes = left.min(stripe - at % stripe);
        let server = (at / stripe % u64::from(servers.count.max(1))) as u32;
        (at, left) = (at.wrapping_add(bytes), left - bytes);
        (bytes > 0).then_some(Stripe {
            server,
            bytes,
            writes,
        })
    })
}

impl Agent {
    /// Whether the rank waits for the file system.
    pub fn is_in_file(&self) -> bool {
        self.state.borrow().file.is_some()
    }

    /// Carries out an operation on a file; returns when it is over.
    pub(super) async fn access(self: &Rc<Self>, at: Time, access: FileAccess) -> Time {
        let Some(files) = self.shared.files.as_ref() else {
            return at;
        };
        self.state.borrow_mut().file = Some(access);
        let begin = self.endpoint.compute(at, Time::ZERO).await;
        let bytes = Bytes::new(access.read.saturating_add(access.written));
        let least = begin + files.call;
        let arrival = files.arrival(begin);
        let end = if bytes.is_zero() {
            arrival
        } else {
            let node = self.node.place().get();
            files.comes(begin, self.rank, node, bytes);
            self.node.sleep_until(least).await;
            let end = files.served(begin, self.rank);
            match files.servers {
                Some(servers) => end.max(self.striped(servers, arrival, access).await),
                None => end,
            }
        };
        let end = end.max(least).min(HORIZON);
        self.node.sleep_until(end).await;
        self.state.borrow_mut().file = None;
        let time = end.saturating_sub(begin);
        self.shared
            .record(|recorder| recorder.sleeps(self.rank, at, time));
        let mut trace = self.shared.trace.borrow_mut();
        trace.accessed(self.rank, access, time);
        end
    }

    /// Moves an operation's stripes; returns when the last one is there.
    async fn striped(self: &Rc<Self>, servers: Servers, arrival: Time, access: FileAccess) -> Time {
        self.node.sleep_until(arrival).await;
        let mut at = arrival;
        let mut all = stripes(access, servers).peekable();
        while all.peek().is_some() && at < HORIZON {
            let round: Vec<_> = all
                .by_ref()
                .take(servers.count as usize)
                .map(|stripe| {
                    let (agent, done) =
                        (Rc::clone(self), Rc::new((Signal::new(), Cell::default())));
                    let moved = Rc::clone(&done);
                    self.node.serve("file", async move {
                        moved.1.set(agent.moved(servers, at, stripe).await);
                        moved.0.fire();
                    });
                    done
                })
                .collect();
            for done in round {
                done.0.wait().await;
                at = at.max(done.1.get());
            }
        }
        at
    }

    /// Moves a stripe between the node and an I/O node; returns when it is there.
    async fn moved(&self, servers: Servers, at: Time, stripe: Stripe) -> Time {
        let files = self.shared.files.as_ref().expect("there are I/O nodes");
        let (size, server) = (Bytes::new(stripe.bytes), servers.first + stripe.server);
        let bytes = Rc::new(vec![0; stripe.bytes as usize]);
        if stripe.writes {
            let network = self.endpoint.put(at, server, bytes);
            let there = network.ended().await;
            self.loses(network.finish(there).await);
            let end = files.stored(stripe.server, there, size);
            self.node.sleep_until(end).await;
            end
        } else {
            let ready = files.stored(stripe.server, at, size);
            self.node.sleep_until(ready).await;
            let network = self.endpoint.get(ready, server, bytes);
            let end = network.ended().await;
            self.loses(network.finish(end).await);
            end
        }
    }

    /// Records a stripe that was lost in failed parts of the machine, or for which a node has no
    /// room.
    fn loses(&self, mut incoming: OperationResult) {
        let about = format!("rank {} moves a stripe of a file", self.rank);
        if let Some(loss) = incoming.loss.take() {
            let mut lost = self.shared.lost.borrow_mut();
            lost.get_or_insert(format!("{about}: {loss}"));
        } else if incoming.status == EndStatus::Refused {
            self.shared.no_room.borrow_mut().get_or_insert(about);
        }
    }
}

/// An operation on a file, for people.
pub(super) fn in_words(access: FileAccess) -> String {
    let FileAccess { read, written, .. } = access;
    match (read, written) {
        (0, 0) => "waits for the file system".into(),
        (read, 0) => format!("reads {} of a file", Bytes::new(read)),
        (_, written) => format!("writes {} to a file", Bytes::new(written)),
    }
}
