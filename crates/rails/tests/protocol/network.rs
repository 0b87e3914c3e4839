//! A network of adapters and processes with delays: one rail, one process a list of requests, which
//! it makes one after another and repeats until granted (coll2003, algorithm 4 with one rail). Time
//! is in ticks.

use elan::NodeId;
use kernel::random::Stream;
use rails::protocol::{ControlMessage, Nic, NicAnswer, NicStatus, Request};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use typed_index_collections::TiVec;

/// Delays in ticks, each drawn whenever it is needed.
#[derive(Clone, Debug)]
pub struct Delays {
    /// Between a process and its adapter; also between two looks at its status.
    pub local: RangeInclusive<u64>,
    /// Between two adapters.
    pub wire: RangeInclusive<u64>,
    /// A message's time beyond the wire's delay.
    pub transfer: RangeInclusive<u64>,
    /// Whether packets between two adapters stay in order.
    pub ordered: bool,
}

impl Delays {
    /// All equal by kind, all adapters in step.
    pub fn in_step(local: u64, wire: u64, transfer: u64) -> Self {
        Self {
            local: local..=local,
            wire: wire..=wire,
            transfer: transfer..=transfer,
            ordered: true,
        }
    }

    /// The most that an attempt takes, from a look at the status to the answer.
    pub fn round_trip(&self) -> u64 {
        3 * self.local.end() + 2 * self.wire.end()
    }

    /// The most that a message takes.
    pub fn message(&self) -> u64 {
        self.wire.end() + self.transfer.end()
    }
}

/// A process and its messages.
#[derive(Clone, Debug)]
pub struct Process {
    pub node: NodeId,
    /// Where its messages go, one after another.
    pub to: Vec<NodeId>,
    /// Whether the process begins again after its last message.
    pub forever: bool,
    /// How many messages have been sent.
    pub granted: u64,
    /// How often the process has asked for the present message.
    pub attempts: u64,
    /// The most attempts that a message has taken.
    pub most_attempts: u64,
}

impl Process {
    pub fn new(node: NodeId, to: Vec<NodeId>, forever: bool) -> Self {
        Self {
            node,
            to,
            forever,
            granted: 0,
            attempts: 0,
            most_attempts: 0,
        }
    }

    fn target(&self) -> Option<NodeId> {
        let next = self.granted as usize;
        let of_list = if self.forever {
            next % self.to.len()
        } else {
            next
        };
        self.to.get(of_list).copied()
    }
}

/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A process looks at its adapter's status.
    Look(usize),
    ToAdapter(NodeId, ControlMessage),
    ToProcess(NicAnswer, Request),
    /// A message's last byte.
    Data(Request),
}

pub struct Network {
    pub now: u64,
    pub nics: TiVec<NodeId, Nic>,
    pub processes: Vec<Process>,
    /// The process of every granted request, in order.
    pub grants: Vec<usize>,
    /// How many messages are being sent.
    pub transfers: usize,
    /// Whether an adapter judges its request by its present counter, not by the counter that the
    /// RTS carries.
    pub by_present_counter: bool,
    /// The longest time that processes waited and no message was being sent, until one was granted.
    pub longest_quiet: u64,
    quiet_since: u64,
    delays: Delays,
    stream: Stream,
    /// The events due, by time, then in the order in which they were entered.
    due: BTreeMap<(u64, u64), Due>,
    /// The number of events entered, which orders those in a tick.
    sequence: u64,
    /// When the last packet from a node to another arrives.
    last: BTreeMap<(NodeId, NodeId), u64>,
    /// Every request's process; the request's number is its place here.
    owners: Vec<usize>,
}

impl Network {
    pub fn new(
        nodes: u32,
        avoidance: bool,
        processes: Vec<Process>,
        delays: Delays,
        seed: u64,
    ) -> Self {
        let mut network = Self {
            now: 0,
            nics: NodeId::all(nodes)
                .map(|node| Nic::new(node, avoidance))
                .collect(),
            grants: Vec::new(),
            transfers: 0,
            by_present_counter: false,
            longest_quiet: 0,
            quiet_since: 0,
            delays,
            stream: Stream::new(seed, "delays"),
            due: BTreeMap::new(),
            sequence: 0,
            last: BTreeMap::new(),
            owners: Vec::new(),
            processes,
        };
        for process in 0..network.processes.len() {
            let local = network.local();
            network.put(local, Due::Look(process));
        }
        network
    }

    /// The time since a message was last being sent.
    pub fn quiet(&self) -> u64 {
        match self.transfers {
            0 => self.now - self.quiet_since,
            _ => 0,
        }
    }

    /// How many messages each process has sent.
    pub fn granted(&self) -> Vec<u64> {
        self.processes
            .iter()
            .map(|process| process.granted)
            .collect()
    }

    /// Handles all events of the next tick that has some. Returns whether there is one.
    pub fn tick(&mut self) -> bool {
        let Some((&(time, _), _)) = self.due.first_key_value() else {
            return false;
        };
        self.now = time;
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 == time
        {
            let due = entry.remove();
            self.handle(due);
        }
        true
    }

    fn handle(&mut self, due: Due) {
        match due {
            Due::Look(process) => self.look(process),
            Due::ToAdapter(node, mut message) => {
                let nic = &mut self.nics[node];
                if let (true, ControlMessage::Remote { packet, .. }, Some(own)) =
                    (self.by_present_counter, &mut message, nic.outgoing())
                {
                    // Only the counters' difference matters.
                    packet.counter += own.counter - nic.counter();
                }
                let replies = nic.handle(message);
                if let Some((answer, request)) = replies.local {
                    let delay = self.local();
                    self.put(delay, Due::ToProcess(answer, request));
                }
                if let Some((to, packet)) = replies.remote {
                    let message = ControlMessage::Remote { from: node, packet };
                    let delay = self.wire(node, to);
                    self.put(delay, Due::ToAdapter(to, message));
                }
            }
            Due::ToProcess(NicAnswer::Nack, request) => {
                self.look(self.owners[request.number as usize]);
            }
            Due::ToProcess(NicAnswer::Cts, request) => {
                self.longest_quiet = self.longest_quiet.max(self.quiet());
                self.transfers += 1;
                let owner = self.owners[request.number as usize];
                self.grants.push(owner);
                let process = &mut self.processes[owner];
                process.most_attempts = process.most_attempts.max(process.attempts);
                let length = draw(&mut self.stream, &self.delays.transfer);
                let delay = length + draw(&mut self.stream, &self.delays.wire);
                self.put(delay, Due::Data(request));
            }
            Due::Data(request) => {
                self.transfers -= 1;
                self.quiet_since = self.now;
                let process = self.owners[request.number as usize];
                let to = self.processes[process].target().expect("it sends");
                let delay = self.local();
                self.put(delay, Due::ToAdapter(to, ControlMessage::LocalAck(request)));
                let state = &mut self.processes[process];
                state.granted += 1;
                state.attempts = 0;
                self.look(process);
            }
        }
    }

    /// A process looks whether its adapter is free, and asks, or looks again.
    fn look(&mut self, process: usize) {
        let state = &mut self.processes[process];
        let Some(to) = state.target() else {
            return;
        };
        let node = state.node;
        let delay = draw(&mut self.stream, &self.delays.local);
        if self.nics[node].status() == NicStatus::Free {
            state.attempts += 1;
            let number = self.owners.len() as u64;
            self.owners.push(process);
            let request = Request { node, number };
            let message = ControlMessage::LocalRts { request, to };
            self.put(delay, Due::ToAdapter(node, message));
        } else {
            self.put(delay, Due::Look(process));
        }
    }

    fn local(&mut self) -> u64 {
        draw(&mut self.stream, &self.delays.local)
    }

    fn wire(&mut self, from: NodeId, to: NodeId) -> u64 {
        let delay = draw(&mut self.stream, &self.delays.wire);
        let last = self.last.entry((from, to)).or_default();
        if self.delays.ordered {
            *last = (self.now + delay).max(*last);
            return *last - self.now;
        }
        delay
    }

    fn put(&mut self, delay: u64, due: Due) {
        self.sequence += 1;
        self.due.insert((self.now + delay, self.sequence), due);
    }

    /// Everything that decides the next step, without random draws: adapters and due events.
    /// Requests are distinguished by their process, as each process has one at a time.
    pub fn state(&self) -> Vec<String> {
        let name = |request: Request| Request {
            number: self.owners[request.number as usize] as u64,
            ..request
        };
        let nics = self.nics.iter().map(|nic| {
            let outgoing = nic.outgoing().map(|own| (name(own.request), own.counter));
            let incoming = nic.incoming().map(name);
            format!("{:?}", (nic.status(), nic.counter(), outgoing, incoming))
        });
        let due = self.due.iter().map(|((time, _), due)| {
            let due = match *due {
                Due::ToAdapter(node, message) => {
                    let message = message.about(name(message.request()));
                    Due::ToAdapter(node, message)
                }
                Due::ToProcess(answer, request) => Due::ToProcess(answer, name(request)),
                Due::Data(request) => Due::Data(name(request)),
                Due::Look(process) => Due::Look(process),
            };
            format!("{:?}", (time - self.now, due))
        });
        nics.chain(due).collect()
    }
}

fn draw(stream: &mut Stream, range: &RangeInclusive<u64>) -> u64 {
    stream.uniform_u64(*range.start()..range.end() + 1)
}
