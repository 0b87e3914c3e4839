//! All interleavings with two and three adapters and a bounded number of requests by their
//! processes, breadth first.
//!
//! A process may ask whenever it has requests left, even while another request is out; give up
//! before it is answered; and use or give back its grants. Between process and adapter, messages
//! stay in order. Between two adapters order is an option: the protocol does not need it. A state
//! is remembered by a 128-bit hash.

use elan::NodeId;
use rails::protocol::tables::Transition;
use rails::protocol::tables::{TABLE_1, late};
use rails::protocol::{
    Control, ControlMessage, ControlPacket, Nic, NicAnswer, NicEvent, NicStatus, Outgoing, Replies,
    Request,
};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use typed_index_collections::{TiVec, ti_vec};

/// An item under way between two adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Item {
    Control(ControlPacket),
    Data(Request),
}

impl Item {
    fn request(self) -> Request {
        match self {
            Item::Control(packet) => packet.request,
            Item::Data(request) => request,
        }
    }

    fn is(self, control: Control, of: Request) -> bool {
        matches!(self, Item::Control(packet) if packet.control == control && packet.request == of)
    }
}

/// A node's processes. Request `n` is the `n`th.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Processes {
    /// The destinations of the processes' requests.
    to: Vec<NodeId>,
    /// Requests that are not answered.
    waiting: Vec<u64>,
    /// Unanswered requests that the processes have given up.
    given_up: Vec<u64>,
    /// Messages on their way to the adapter.
    orders: Vec<ControlMessage>,
    /// Answers on their way from the adapter.
    answers: Vec<(NicAnswer, Request)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    nics: TiVec<NodeId, Nic>,
    processes: TiVec<NodeId, Processes>,
    /// The items under way from a node to another: sorted by these, and then in sending order. If
    /// the wires keep no order, simply sorted.
    wires: Vec<(NodeId, NodeId, Item)>,
}

/// A possible next step.
#[derive(Clone, Copy, Debug)]
enum Step {
    Ask { node: NodeId, to: NodeId },
    GiveUp { node: NodeId, number: u64 },
    Order { node: NodeId },
    Answer { node: NodeId, send: bool },
    Arrive { index: usize },
}

/// A network to be explored.
#[derive(Debug)]
struct Network {
    /// How many requests each node's processes make.
    requests: &'static [usize],
    /// Whether packets between two adapters stay in order.
    ordered: bool,
    /// Whether processes give up.
    give_up: bool,
    handle: fn(&mut Nic, ControlMessage) -> Replies,
}

/// A row and a column in table 1, and whether [`late`] replaces it.
type Place = (NicEvent, NicStatus, bool);

/// The findings.
#[derive(Debug, Default)]
struct Found {
    states: usize,
    /// States without an item under way.
    quiescent: usize,
    places: BTreeSet<Place>,
    /// The winners where requests met: the local one, the remote one.
    met: [bool; 2],
}

impl State {
    fn new(nodes: u32) -> Self {
        Self {
            nics: NodeId::all(nodes)
                .map(|node| Nic::new(node, true))
                .collect(),
            processes: ti_vec![Processes::default(); nodes as usize],
            wires: Vec::new(),
        }
    }

    fn fingerprint(&self) -> u128 {
        let mut hasher = Fingerprint(0);
        self.hash(&mut hasher);
        hasher.0
    }

    fn steps(&self, network: &Network) -> Vec<Step> {
        let mut steps = Vec::new();
        for (node, processes) in self.processes.iter_enumerated() {
            if processes.to.len() < network.requests[usize::from(node)] {
                let others = self.nics.keys().filter(|&to| to != node);
                steps.extend(others.map(|to| Step::Ask { node, to }));
            }
            if network.give_up {
                let waiting = processes.waiting.iter();
                let patient = waiting.filter(|number| !processes.given_up.contains(number));
                steps.extend(patient.map(|&number| Step::GiveUp { node, number }));
            }
            if !processes.orders.is_empty() {
                steps.push(Step::Order { node });
            }
            if let Some((answer, request)) = processes.answers.first() {
                steps.push(Step::Answer { node, send: false });
                let wanted = !processes.given_up.contains(&request.number);
                if *answer == NicAnswer::Cts && wanted {
                    steps.push(Step::Answer { node, send: true });
                }
            }
        }
        for (index, &(from, to, item)) in self.wires.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| self.wires[before]);
            let first = before.is_none_or(|(f, t, _)| (f, t) != (from, to));
            debug_assert!(before.is_none_or(|before| before != (from, to, item)));
            if first || !network.ordered {
                steps.push(Step::Arrive { index });
            }
        }
        steps
    }

    fn take(&mut self, step: Step, network: &Network, found: &mut Found) -> Result<(), String> {
        match step {
            Step::Ask { node, to } => {
                let processes = &mut self.processes[node];
                let number = processes.to.len() as u64;
                let request = Request { node, number };
                processes.to.push(to);
                processes.waiting.push(number);
                processes
                    .orders
                    .push(ControlMessage::LocalRts { request, to });
            }
            Step::GiveUp { node, number } => {
                let processes = &mut self.processes[node];
                processes.given_up.push(number);
                let order = ControlMessage::LocalAbort(Request { node, number });
                processes.orders.push(order);
            }
            Step::Order { node } => {
                let order = self.processes[node].orders.remove(0);
                self.handle(node, order, network, found)?;
            }
            Step::Answer { node, send } => {
                let processes = &mut self.processes[node];
                let (answer, request) = processes.answers.remove(0);
                let Some(at) = processes.waiting.iter().position(|n| *n == request.number) else {
                    return Err(format!("{request:?} is answered again"));
                };
                processes.waiting.remove(at);
                processes.given_up.retain(|n| *n != request.number);
                if send {
                    let to = processes.to[request.number as usize];
                    self.send(node, to, Item::Data(request), network);
                } else if answer == NicAnswer::Cts {
                    processes.orders.push(ControlMessage::LocalAbort(request));
                }
            }
            Step::Arrive { index } => {
                let (from, to, item) = self.wires.remove(index);
                match item {
                    Item::Control(packet) => {
                        self.handle(to, ControlMessage::Remote { from, packet }, network, found)?;
                    }
                    Item::Data(request) => {
                        let ack = ControlMessage::LocalAck(request);
                        self.processes[to].orders.push(ack);
                    }
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, from: NodeId, to: NodeId, item: Item, network: &Network) {
        // In order, behind all items on the same wire.
        let before = |other: &(NodeId, NodeId, Item)| {
            let wires = (other.0, other.1).cmp(&(from, to));
            let packets = if network.ordered {
                Ordering::Less
            } else {
                other.2.cmp(&item)
            };
            wires.then(packets).is_lt()
        };
        let place = self.wires.partition_point(before);
        self.wires.insert(place, (from, to, item));
    }

    fn handle(
        &mut self,
        node: NodeId,
        message: ControlMessage,
        network: &Network,
        found: &mut Found,
    ) -> Result<(), String> {
        let nic = &mut self.nics[node];
        let (event, status) = (message.event(), nic.status());
        let own = nic
            .outgoing()
            .is_some_and(|own| own.request == message.request());
        let answer = matches!(event, NicEvent::RemoteCts | NicEvent::RemoteNack);
        let other = answer && status.is_asking() && !own;
        found.places.insert((event, status, other));
        let counter = nic.counter();
        let handled = catch_unwind(AssertUnwindSafe(|| (network.handle)(nic, message)));
        let Ok(replies) = handled else {
            return Err(format!("{message:?} in {status:?} is an assertion"));
        };
        match nic.counter() - counter {
            -1 => found.met[0] = true,
            1 => found.met[1] = true,
            _ => {}
        }
        if let Some(answer) = replies.local {
            self.processes[node].answers.push(answer);
        }
        if let Some((to, packet)) = replies.remote {
            self.send(node, to, Item::Control(packet), network);
        }
        Ok(())
    }

    /// The invariants of every state.
    fn check(&self) -> Result<(), String> {
        for (node, nic) in self.nics.iter_enumerated() {
            let held = (nic.outgoing().is_some(), nic.incoming().is_some());
            let expected = match nic.status() {
                NicStatus::Free => (false, false),
                NicStatus::Receiving => (false, true),
                NicStatus::Sending | NicStatus::Reserved => (true, false),
                NicStatus::ReceivingOutRts => (true, true),
            };
            ensure(held == expected, "what is held is not what the status says")?;
            if let Some(request) = nic.incoming() {
                // A grant is on its way, in use, or on its way back.
                let from = request.node;
                let sender = &self.nics[from];
                let to_here = |own: Outgoing| (own.request, own.to) == (request, node);
                let sends =
                    sender.status() == NicStatus::Sending && sender.outgoing().is_some_and(to_here);
                let granted = self.on_the_way(node, from, Control::Cts, request);
                let aborted = self.on_the_way(from, node, Control::Abort, request);
                let count: usize = [sends, granted, aborted].map(usize::from).iter().sum();
                ensure(count == 1, "a grant that its requester does not know")?;
            }
            if let (NicStatus::Sending, Some(own)) = (nic.status(), nic.outgoing()) {
                let (request, to) = (own.request, own.to);
                let receives = self.nics[to].incoming() == Some(request);
                let done = self.on_the_way(to, node, Control::Ack, request);
                ensure(receives != done, "it sends to who does not receive")?;
            }
        }
        let mut under_way = Vec::new();
        for &(from, to, item) in &self.wires {
            let alone = !under_way.contains(&item.request());
            ensure(alone, "two packets of a request at once")?;
            under_way.push(item.request());
            if let Item::Data(request) = item {
                let sends = self.nics[from].status() == NicStatus::Sending;
                let receives = self.nics[to].incoming() == Some(request);
                ensure(sends && receives, "data without a reservation")?;
            }
        }
        if self.is_quiescent() {
            let free = |nic: &Nic| nic.status() == NicStatus::Free;
            ensure(
                self.nics.iter().all(free),
                "a reservation is never released",
            )?;
            let answered = |processes: &Processes| processes.waiting.is_empty();
            ensure(self.processes.iter().all(answered), "no answer ever comes")?;
        }
        Ok(())
    }

    fn on_the_way(&self, from: NodeId, to: NodeId, control: Control, of: Request) -> bool {
        let mut wires = self.wires.iter();
        wires.any(|&(f, t, item)| (f, t) == (from, to) && item.is(control, of))
    }

    /// Whether the network is empty.
    fn is_quiescent(&self) -> bool {
        let idle = |p: &Processes| p.orders.is_empty() && p.answers.is_empty();
        self.processes.iter().all(idle) && self.wires.is_empty()
    }
}

/// A 128-bit hash: a multiplication a word, by an odd constant, and the upper half folded on the
/// lower.
struct Fingerprint(u128);

impl Fingerprint {
    fn word(&mut self, word: u64) {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        self.0 = (self.0 ^ u128::from(word))
            .wrapping_add(1)
            .wrapping_mul(ODD);
        self.0 ^= self.0 >> 64;
    }
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.word(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.word(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 as u64
    }
}

fn ensure(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(otherwise.to_string())
    }
}

/// Explores all states; returns the shortest way to a wrong state, if there is one.
fn explore(network: &Network) -> Result<Found, String> {
    let start = State::new(network.requests.len() as u32);
    let mut found = Found::default();
    let mut known = HashSet::from([start.fingerprint()]);
    // The origin of each state: the state before, and the step.
    let mut ways: Vec<Option<(usize, Step)>> = vec![None];
    let mut level = vec![(0, start)];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (index, state) in level {
            found.states += 1;
            found.quiescent += usize::from(state.is_quiescent());
            for step in state.steps(network) {
                let mut after = state.clone();
                let taken = after.take(step, network, &mut found);
                if taken.is_ok() && !known.insert(after.fingerprint()) {
                    continue;
                }
                if let Err(wrong) = taken.and_then(|()| after.check()) {
                    let mut way = vec![step];
                    let mut at = index;
                    while let Some((from, step)) = ways[at] {
                        way.push(step);
                        at = from;
                    }
                    way.reverse();
                    return Err(format!("{wrong}, after {way:#?}\nthen {after:#?}"));
                }
                ways.push(Some((index, step)));
                next.push((ways.len() - 1, after));
            }
        }
        level = next;
    }
    Ok(found)
}

/// Adapters, each one's requests, whether packets stay in order, whether processes give up.
fn network(requests: &'static [usize], ordered: bool, give_up: bool) -> Network {
    Network {
        requests,
        ordered,
        give_up,
        handle: Nic::handle,
    }
}

/// Explores networks that must be free of errors, and finds in use every table cell that is not an
/// assertion.
fn all_is_right(networks: &[Network]) {
    let (mut places, mut met) = (BTreeSet::new(), [false; 2]);
    for network in networks {
        let found = explore(network).unwrap_or_else(|wrong| panic!("{wrong}"));
        let (states, quiescent) = (found.states, found.quiescent);
        println!("{network:?}: {states} states, {quiescent} of them with nothing under way");
        places.extend(found.places);
        met = [met[0] || found.met[0], met[1] || found.met[1]];
    }
    assert_eq!(met, [true, true]);
    for event in NicEvent::ALL {
        for status in NicStatus::ALL {
            let never = |cell| matches!(cell, Transition::Never(_));
            let cell = TABLE_1[event as usize][status as usize];
            let seen = [false, true].map(|late| places.contains(&(event, status, late)));
            let expected = [!never(cell), !never(late(event, status))];
            assert_eq!(seen, expected, "{event:?}, {status:?}: itself, and late");
        }
    }
}

#[test]
fn every_interleaving_releases_what_it_reserves() {
    all_is_right(&[
        network(&[2, 2], true, true),
        network(&[2, 1], false, true),
        network(&[1, 1, 1], true, true),
    ]);
}

#[test]
#[ignore = "minutes"]
fn every_interleaving_of_more_requests_does_so() {
    all_is_right(&[
        network(&[3, 2], true, true),
        network(&[2, 2], false, true),
        network(&[1, 1, 1], false, true),
        network(&[2, 1, 1], false, false),
        network(&[2, 1, 1], true, true),
        network(&[2, 2, 1], true, false),
    ]);
}

/// The exploration finds the planted errors: machines with one error each.
#[test]
fn wrong_machines_are_found() {
    /// Takes an answer for the answer to the request in hand, as the tables alone would.
    fn blind(nic: &mut Nic, mut message: ControlMessage) -> Replies {
        if let (ControlMessage::Remote { packet, .. }, Some(own)) = (&mut message, nic.outgoing())
            && matches!(packet.control, Control::Cts | Control::Nack)
        {
            packet.request = own.request;
        }
        nic.handle(message)
    }
    /// Refuses its process after a late CTS, and lets the other end wait.
    fn forgetful(nic: &mut Nic, message: ControlMessage) -> Replies {
        let replies = nic.handle(message);
        let remote = replies
            .remote
            .filter(|_| message.event() != NicEvent::RemoteCts);
        Replies { remote, ..replies }
    }
    /// Leaves a CTS in "Receiving & `Out_RTS`" unanswered, as the empty cell in table 1 might be
    /// read.
    fn literal(nic: &mut Nic, message: ControlMessage) -> Replies {
        let (event, status) = (message.event(), nic.status());
        if (event, status) == (NicEvent::RemoteCts, NicStatus::ReceivingOutRts) {
            return Replies::default();
        }
        nic.handle(message)
    }
    // If processes are patient, `literal` needs three adapters: two that ask each other in order
    // never reach this cell.
    let (unknown, alone) = (
        "a grant that its requester does not know",
        "it sends to who does not receive",
    );
    for (requests, give_up, handle, found) in [
        (
            &[2, 2][..],
            true,
            blind as fn(&mut Nic, ControlMessage) -> Replies,
            alone,
        ),
        (&[2, 2], true, forgetful, unknown),
        (&[1, 1, 1], false, literal, unknown),
    ] {
        let mut network = network(requests, true, give_up);
        network.handle = handle;
        let wrong = explore(&network).expect_err("it is wrong");
        assert!(wrong.starts_with(found), "{wrong}");
    }
}
