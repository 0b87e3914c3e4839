//! A machine's file system: a latency, a node's rate, and the rate of all nodes or of I/O nodes.
//!
//! An operation on a file reaches the file system when the processor is done with the calls before
//! it. Without bytes (open, close, names, attributes, force to disk) it takes the latency. Bytes
//! then pass two queues, the one of the rank's node and the one of the whole file system, each at a
//! rate from the section `[files]`:
//!
//! | queue | serves | rate |
//! |---|---|---|
//! | a node's | its ranks' operations | `rate` |
//! | all nodes' | all ranks' operations | `total`; no limit if that is not given |
//! | an I/O node's, in place of the queue for all nodes | stripes, see `agent/files.rs` | an equal share of `total` |
//!
//! A queue serves whole operations in call order, then by rank. The second queue begins with an
//! operation when the first does and it is free, and ends no sooner than the first: bytes flow
//! through both. So one rank writes S bytes in latency + S / min(rate, total); of N ranks on a node
//! that begin together the last one ends after latency + N S / rate, and of N ranks on N nodes
//! after latency + max(S / rate, N S / total).
//!
//! No cache is modelled, neither on the node nor in the file system: each call is an operation.

use crate::horizon::HORIZON;
use machine::Files;
use std::cell::RefCell;
use std::collections::BTreeMap;
use units::{Bytes, Rate, Time};

/// A run's file system.
pub(crate) struct FileSystem {
    latency: Time,
    rate: Rate,
    total: Option<Rate>,
    /// I/O nodes.
    pub servers: Option<Servers>,
    /// The time of a library call: a rank may run ahead by that much, so that an operation is
    /// served that much after its begin, when all earlier ones are known.
    pub call: Time,
    queues: RefCell<Queues>,
}

/// I/O nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Servers {
    /// The first one's number among the run's processes, behind the ranks.
    pub first: u32,
    pub count: u32,
    pub stripe: Bytes,
}

/// Until when the queues are at work.
#[derive(Default)]
struct Queues {
    nodes: BTreeMap<u32, Time>,
    all: Time,
    disks: BTreeMap<u32, Time>,
    /// Operations that wait to be served, by their begin and rank: node and bytes.
    coming: BTreeMap<(Time, u32), (u32, Bytes)>,
    /// The ends of served operations, by rank.
    served: BTreeMap<u32, Time>,
}

impl FileSystem {
    /// A machine's file system; ranks with numbers from `ranks` on are its I/O nodes.
    pub fn new(files: &Files, ranks: u32, call: Time) -> Self {
        let servers = files.servers.as_ref().map(|servers| Servers {
            first: ranks,
            count: servers.value,
            stripe: files.stripe(),
        });
        FileSystem {
            latency: files.latency.value,
            rate: files.rate.value,
            total: files.total.as_ref().map(|total| total.value),
            servers,
            call,
            queues: RefCell::default(),
        }
    }

    /// When an operation reaches the file system.
    pub fn arrival(&self, begin: Time) -> Time {
        begin + self.latency
    }

    /// A rank has called for bytes; [`FileSystem::served`] returns when they are there.
    pub fn comes(&self, begin: Time, rank: u32, node: u32, bytes: Bytes) {
        let mut queues = self.queues.borrow_mut();
        queues.coming.insert((begin, rank), (node, bytes));
    }

    /// The end of the operation that a rank has called for, and of all earlier ones. With I/O
    /// nodes, it is the end at the rank's node.
    pub fn served(&self, begin: Time, rank: u32) -> Time {
        let queues = &mut *self.queues.borrow_mut();
        while let Some(first) = queues.coming.first_entry()
            && *first.key() <= (begin, rank)
        {
            let ((begin, by), (node, bytes)) = first.remove_entry();
            let arrival = self.arrival(begin);
            let free = queues.nodes.entry(node).or_default();
            let start = pass(free, arrival, time(self.rate, bytes));
            let mut end = *free;
            if let (Some(total), None) = (self.total, self.servers) {
                pass(&mut queues.all, start, time(total, bytes));
                end = end.max(queues.all);
            }
            queues.served.insert(by, end);
        }
        let end = queues.served.remove(&rank);
        end.expect("the rank has called for it")
    }

    /// An I/O node has these bytes at a moment, or is asked for them; returns when they are stored
    /// or read.
    pub fn stored(&self, server: u32, at: Time, bytes: Bytes) -> Time {
        let (Some(total), Some(servers)) = (self.total, self.servers) else {
            return at;
        };
        let share = total.as_bytes_per_second() / u64::from(servers.count);
        let share = Rate::from_bytes_per_second(share.max(1));
        let mut queues = self.queues.borrow_mut();
        let free = queues.disks.entry(server).or_default();
        pass(free, at, time(share, bytes));
        *free
    }
}

/// Lets a queue that is free from a moment on serve something for a while; returns when that
/// begins.
fn pass(free: &mut Time, arrival: Time, time: Time) -> Time {
    let start = arrival.max(*free);
    *free = (start + time).min(HORIZON);
    start.min(HORIZON)
}

/// The time for bytes at a rate, at most all simulated time.
fn time(rate: Rate, bytes: Bytes) -> Time {
    let time = rate.checked_time(bytes);
    time.map_or(HORIZON, |time| time.min(HORIZON))
}
