//! # The adapter's process of the policies that reserve (coll2003 s4.2)
//!
//! A thread on each adapter takes control messages from one queue: processes of its node send them by a command, adapters
//! of other nodes by a packet. The thread works `handle` cycles on each ("a few hundreds of clock cycles", s5.1), asks the
//! [state machine](super::protocol) for the answer, and answers: another adapter by a packet into that adapter's queue, a
//! process by an event, whose block is copied across the bus.
//!
//! The bound of the queue. Each of the n - 1 other adapters has at most one request out, which waits here to be answered;
//! the ABORT of its last request may lie before it. The one request of this adapter gets one answer, and later one ACK, not
//! both at once. Each of the node's [`MOST_PROCESSES`] has at most one request out, one of them gives back its grant, and
//! one message is reported. The sum is 2 (n - 1) + 1 + processes + 2; [`SLOTS`] for each adapter and process exceed it.

use super::config::Config;
use super::protocol::{Answer, Control, ControlMessage, Nic, Packet, Request, Status};
use crate::adapter::mmu::MemoryError;
use crate::adapter::queue::QueueId;
use crate::cluster::Node;
use crate::memory::{Address, EventId};
use crate::thread::Thread;
use crate::transaction::{INSERTED, Transaction, WORD, word_of};
use crate::{NodeId, Rail};
use fabric::Priority;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use typed_index_collections::TiVec;

/// Slots of the queue for each adapter of the rail, and for this one.
const SLOTS: u32 = 4;

/// The most processes of a node that the queue has room for.
pub(super) const MOST_PROCESSES: u32 = 256;

/// What a process waits for: the answer to its request.
pub(super) struct Reply {
    /// Occurs with the answer.
    pub event: EventId,
    /// Whether the request was granted.
    pub granted: Cell<bool>,
}

/// An adapter's process, as its node sees it.
pub(super) struct Port {
    adapter: Node,
    nic: RefCell<Nic>,
    queue: QueueId,
    /// Requests of the node's processes that have not been answered: their numbers, and where to answer.
    waiting: RefCell<Vec<(u64, Rc<Reply>)>>,
}

/// Where the queues of a rail's adapters lie.
type Queues = TiVec<NodeId, Address>;

/// Starts the adapters of a rail.
pub(super) fn start(
    adapters: Vec<Node>,
    config: Config,
) -> Result<TiVec<NodeId, Rc<Port>>, MemoryError> {
    let slots = SLOTS * (adapters.len() as u32 + MOST_PROCESSES);
    let port = |adapter: Node| {
        let queue = adapter.queue(slots, WORD * INSERTED as u64, None)?;
        let (_, node) = adapter.rail_and_node();
        Ok(Rc::new(Port {
            adapter,
            nic: RefCell::new(Nic::new(node, config.avoidance)),
            queue,
            waiting: RefCell::default(),
        }))
    };
    let ports = adapters.into_iter().map(port);
    let ports: TiVec<NodeId, Rc<Port>> = ports.collect::<Result<_, MemoryError>>()?;
    let queues: Rc<Queues> = Rc::new(ports.iter().map(|port| port.queue.start()).collect());
    for port in &ports {
        let (rail, node) = port.adapter.rail_and_node();
        let (own, queues) = (Rc::clone(port), Rc::clone(&queues));
        let label = format!("rail {rail} of node {node}");
        port.adapter.run_resident(label, async move |thread| {
            own.serve(&thread, &queues, config.handle).await;
        })?;
    }
    Ok(ports)
}

impl Port {
    /// Whether the adapter is reserved for nobody.
    pub fn is_free(&self) -> bool {
        self.nic.borrow().status() == Status::Free
    }

    /// A process asks for a way to another node.
    pub fn request(&self, number: u64, to: NodeId, reply: &Rc<Reply>) {
        self.adapter.prime(reply.event, 1);
        self.waiting.borrow_mut().push((number, Rc::clone(reply)));
        let request = self.named(number);
        self.tell(ControlMessage::LocalRts { request, to });
    }

    /// A process gives back a reservation that it has been granted, or may yet be granted.
    pub fn abort(&self, number: u64) {
        self.take_reply(number);
        self.tell(ControlMessage::LocalAbort(self.named(number)));
    }

    fn take_reply(&self, number: u64) -> Option<Rc<Reply>> {
        let mut waiting = self.waiting.borrow_mut();
        let place = waiting.iter().position(|(other, _)| *other == number)?;
        Some(waiting.swap_remove(place).1)
    }

    fn named(&self, number: u64) -> Request {
        let node = self.nic.borrow().node();
        Request { node, number }
    }

    fn tell(&self, message: ControlMessage) {
        self.adapter.insert(self.queue, &encode(message));
    }

    /// Asserts that a message may go: at both ends its request is granted, and no other request is.
    pub fn assert_granted(&self, number: u64, there: &Port) {
        let request = self.named(number);
        let (own, other) = (self.nic.borrow(), there.nic.borrow());
        assert!(
            own.status() == Status::Sending
                && own
                    .outgoing()
                    .is_some_and(|out| out.request == request && out.to == other.node()),
            "{own:?} sends what it is not reserved for"
        );
        let receives = matches!(other.status(), Status::Receiving | Status::ReceivingOutRts);
        assert!(
            receives && other.incoming() == Some(request),
            "{other:?} does not expect {request:?}"
        );
    }

    /// Asserts that the adapter which this one sends to receives from this one.
    pub fn check<'a>(&self, port: impl Fn(NodeId, Rail) -> &'a Rc<Port>) {
        let nic = self.nic.borrow();
        if nic.status() != Status::Sending {
            return;
        }
        let out = nic.outgoing().expect("it sends something");
        let (rail, _) = self.adapter.rail_and_node();
        let there = port(out.to, rail);
        let other = there.nic.borrow();
        // The report of the message's end may be on its way here, and the next message begun there, in any direction.
        let incoming = other.incoming();
        assert!(
            incoming.is_none_or(|one| one == out.request || one.node != out.request.node),
            "{nic:?} sends to an adapter that receives {incoming:?}"
        );
    }

    /// The program of the thread.
    async fn serve(&self, thread: &Thread, queues: &Queues, handle: u32) {
        loop {
            let message = decode(&thread.receive(self.queue).await);
            thread.step(handle.into()).await;
            let replies = self.nic.borrow_mut().handle(message);
            if let Some((to, packet)) = replies.remote {
                let from = self.nic.borrow().node();
                let at = queues[to];
                let insert = Transaction::Insert {
                    queue: at.elan,
                    words: words(ControlMessage::Remote { from, packet }),
                };
                thread.post(at, &[insert], Priority::High).await;
            }
            if let Some((answer, request)) = replies.local {
                let reply = self.take_reply(request.number);
                // A process that has given up is not waiting any more.
                if let Some(reply) = reply {
                    reply.granted.set(answer == Answer::Cts);
                    thread.set(reply.event).await;
                }
            }
        }
    }
}

/// Starts a receiver for a process, which reports every message that arrives there to the adapter's process. Returns the event that
/// the last packet of such a message names.
pub(super) fn report_arrivals(port: &Rc<Port>, adapter: &Node) -> EventId {
    let arrival = adapter.event(1);
    let (port, adapter) = (Rc::clone(port), adapter.clone());
    let (rail, node) = adapter.rail_and_node();
    let label = format!("receiver of node {node} on rail {rail}");
    adapter.clone().serve(label, async move {
        loop {
            adapter.wait(arrival).await;
            adapter.prime(arrival, 1);
            let granted = port.nic.borrow().incoming();
            port.tell(ControlMessage::LocalAck(
                granted.expect("it is reserved until its message is reported"),
            ));
        }
    });
    arrival
}

/// The kinds of control messages, as their packets name them.
const CODES: [Option<Control>; 8] = [
    None, // local RTS
    None, // local ACK
    None, // local ABORT
    Some(Control::Rts),
    Some(Control::Cts),
    Some(Control::Nack),
    Some(Control::Ack),
    Some(Control::Abort),
];

/// A control message in words: its kind with the other end, the request's node with the counter, and its number.
fn words(message: ControlMessage) -> [u64; INSERTED] {
    let (code, other, counter) = match message {
        ControlMessage::LocalRts { to, .. } => (0, to.get(), 0),
        ControlMessage::LocalAck(_) => (1, 0, 0),
        ControlMessage::LocalAbort(_) => (2, 0, 0),
        ControlMessage::Remote { from, packet } => {
            let code = CODES.iter().position(|code| *code == Some(packet.control));
            let code = code.expect("every packet has a code");
            (code as u64, from.get(), packet.counter)
        }
    };
    let request = message.request();
    [
        code << 32 | u64::from(other),
        u64::from(request.node.get()) << 32 | u64::from(counter.cast_unsigned()),
        request.number,
    ]
}

fn encode(message: ControlMessage) -> [u8; 8 * INSERTED] {
    let mut bytes = [0; 8 * INSERTED];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words(message)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn decode(bytes: &[u8]) -> ControlMessage {
    let word = |index: usize| word_of(&bytes[8 * index..8 * (index + 1)]);
    let (other, counter) = (NodeId::new(word(0) as u32), (word(1) as u32).cast_signed());
    let request = Request {
        node: NodeId::new((word(1) >> 32) as u32),
        number: word(2),
    };
    match word(0) >> 32 {
        0 => ControlMessage::LocalRts { request, to: other },
        1 => ControlMessage::LocalAck(request),
        2 => ControlMessage::LocalAbort(request),
        code => {
            let control = CODES[code as usize].expect("a code of a packet");
            ControlMessage::Remote {
                from: other,
                packet: Packet {
                    control,
                    request,
                    counter,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests;
